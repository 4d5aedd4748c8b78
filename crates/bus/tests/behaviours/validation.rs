use crate::order::{Buy, Desk};
use crate::poll::at_once;
use rialto_bus::behaviour::Validation;
use rialto_bus::{Bus, Context, Dispatch, Ready, behaviours, bus};
use std::sync::Arc;

bus! { struct Shop { all through [Validation] { desk: Desk => now Buy; } } }
bus! { struct SlowShop { all through [Validation] { desk: Ready<Desk> => later Buy; } } }

#[test]
fn invalid_requests_do_not_reach_the_handler() {
    let shop = Shop { all: behaviours![Validation], desk: Desk::default() };
    let error = shop.send_now(Buy { quantity: 0 }, &Context::new()).unwrap_err();
    assert_eq!((error.code(), shop.desk.asked()), ("no_quantity", 0));
    assert_eq!(shop.send_now(Buy { quantity: 1 }, &Context::new()).unwrap(), 1);
}

#[test]
fn it_does_so_when_it_is_awaited() {
    let shop = SlowShop { all: behaviours![Validation], desk: Ready(Desk::default()) };
    let error = at_once(shop.send(Buy { quantity: 0 }, &Context::new())).unwrap_err();
    assert_eq!((error.code(), shop.desk.0.asked()), ("no_quantity", 0));
}

#[test]
fn it_does_so_on_a_dynamic_bus() {
    let desk = Arc::new(Desk::default());
    let bus = Bus::builder()
        .handle_now::<Buy, _, _>(behaviours![Validation], desk.clone())
        .build()
        .unwrap();
    let error = bus.send_now(Buy { quantity: 0 }, &Context::new()).unwrap_err();
    assert_eq!((error.code(), desk.asked()), ("no_quantity", 0));
}
