use crate::order::{Buy, Desk, failure};
use crate::poll::at_once;
use rialto_bus::behaviour::{Compensate, Compensation, CompensationFailed};
use rialto_bus::{Bus, Context, Dispatch, Error, ErrorKind, Result, behaviours, bus};
use std::error::Error as _;
use std::sync::{Arc, Mutex};

/// Notes what it takes back, and fails to take back orders for 13.
#[derive(Clone, Default)]
struct Undo(Arc<Mutex<Vec<(u32, ErrorKind)>>>);

impl Compensate<Buy> for Undo {
    async fn compensate(&self, buy: Buy, failure: &Error, _: &Context<'_>) -> Result<()> {
        self.0.lock().unwrap().push((buy.quantity, failure.kind()));
        if buy.quantity == 13 {
            return Err(Error::new(ErrorKind::Unavailable, "no_undo", "Call the desk."));
        }
        Ok(())
    }
}

bus! { struct Shop { all through [Compensation<Undo>] { desk: Desk => later Buy; } } }

fn shop(failures: impl IntoIterator<Item = Error>) -> (Shop, Undo) {
    let undo = Undo::default();
    let all = behaviours![Compensation(undo.clone())];
    (Shop { all, desk: Desk::failing(failures) }, undo)
}

#[test]
fn a_failed_request_is_compensated_and_the_caller_gets_its_error() {
    let (shop, undo) = shop([failure(ErrorKind::Timeout)]);
    let error = at_once(shop.send(Buy { quantity: 7 }, &Context::new())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(*undo.0.lock().unwrap(), [(7, ErrorKind::Timeout)]);
}

#[test]
fn a_successful_request_is_not_compensated() {
    let (shop, undo) = shop([]);
    at_once(shop.send(Buy { quantity: 7 }, &Context::new())).unwrap();
    assert!(undo.0.lock().unwrap().is_empty());
}

#[test]
fn a_failed_compensation_is_reported_with_both_reasons() {
    let cause = std::io::Error::other("the line is dead");
    let (Shop { all, desk }, _) = shop([failure(ErrorKind::Timeout).with_source(cause)]);
    let bus = Bus::builder().handle::<Buy, _, _>(all, desk).build().unwrap();
    let error = at_once(bus.send(Buy { quantity: 13 }, &Context::new())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let source: &CompensationFailed = error.source_as().unwrap();
    assert_eq!(source.failure().code(), "no_undo");
    assert_eq!(source.source().unwrap().to_string(), "the line is dead");
}
