use crate::order::{Buy, Desk};
use rialto_bus::behaviour::{Authorisation, Policy};
use rialto_bus::{Bus, Context, Dispatch, Error, ErrorKind, Result, behaviours, bus};
use std::sync::Arc;

struct Member {
    quantity_max: u32,
}

struct WithinLimit;

impl Policy<Buy> for WithinLimit {
    fn permit(&self, buy: &Buy, cx: &Context<'_>) -> Result<()> {
        match cx.principal::<Member>() {
            None => Err(Error::new(ErrorKind::Unauthenticated, "no_member", "Say who asks.")),
            Some(member) if buy.quantity > member.quantity_max => {
                Err(Error::new(ErrorKind::Forbidden, "above_limit", "Ask for a higher limit."))
            }
            Some(_) => Ok(()),
        }
    }
}

bus! { struct Shop { all through [Authorisation<WithinLimit>] { desk: Desk => now Buy; } } }

#[test]
fn the_policy_sees_who_asks_and_what() {
    let shop = Shop { all: behaviours![Authorisation(WithinLimit)], desk: Desk::default() };
    let member = Member { quantity_max: 5 };
    let cx = Context::new().with_principal(&member);

    let unknown = shop.send_now(Buy { quantity: 1 }, &Context::new()).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::Unauthenticated);
    let greedy = shop.send_now(Buy { quantity: 6 }, &cx).unwrap_err();
    assert_eq!((greedy.kind(), shop.desk.asked()), (ErrorKind::Forbidden, 0));
    assert_eq!(shop.send_now(Buy { quantity: 5 }, &cx).unwrap(), 1);
}

#[test]
fn a_function_is_a_policy_on_a_dynamic_bus_too() {
    let desk = Arc::new(Desk::default());
    let closed = |_: &Buy, _: &Context<'_>| -> Result<()> {
        Err(Error::new(ErrorKind::Forbidden, "closed", "Come back tomorrow."))
    };
    let bus = Bus::builder()
        .handle_now::<Buy, _, _>(behaviours![Authorisation(closed)], desk.clone())
        .build()
        .unwrap();
    let error = bus.send_now(Buy { quantity: 1 }, &Context::new()).unwrap_err();
    assert_eq!((error.code(), desk.asked()), ("closed", 0));
}
