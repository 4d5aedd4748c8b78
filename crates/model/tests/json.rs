//! JSON is exact: no value loses a digit in a reader that holds numbers as doubles.

use proptest::prelude::*;
use rialto_model::testing::wild;
use rialto_model::{
    AccountId, Amount, Command, Event, OrderId, OrderStatus, Outcome, Price, Quantity, Timestamp,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Whether every number in `value` fits 32 bits; larger ones have to be strings.
fn numbers_are_small(value: &Value) -> bool {
    match value {
        Value::Number(number) => number
            .as_i64()
            .is_some_and(|number| i32::try_from(number).is_ok() || u32::try_from(number).is_ok()),
        Value::Array(values) => values.iter().all(numbers_are_small),
        Value::Object(fields) => fields.values().all(numbers_are_small),
        _ => true,
    }
}

fn survives<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    value: &T,
) -> Result<(), TestCaseError> {
    let text = serde_json::to_string(value).expect("it has a JSON form");
    let read: T = serde_json::from_str(&text)
        .map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
    prop_assert_eq!(&read, value, "{}", text);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn every_command_survives_json(command in wild::command()) {
        survives(&command)?;
    }

    #[test]
    fn every_event_survives_json(event in wild::event()) {
        survives(&event)?;
    }

    #[test]
    fn wide_values_are_strings(command in wild::command(), event in wild::event()) {
        for value in [json!(command), json!(event)] {
            prop_assert!(numbers_are_small(&value), "{}", value);
        }
    }
}

#[test]
fn a_command_reads_as_people_write_it() {
    let command: Command = serde_json::from_value(json!({
        "command": "place",
        "account": 7,
        "instrument": 1,
        "side": "buy",
        "kind": "limit",
        "time_in_force": "gtc",
        "post_only": "off",
        "cancel_on_disconnect": false,
        "size": {"base": "9223372036854775807"},
        "price": "64123",
        "expire_at": "0",
        "client_order_id": "mine-1",
    }))
    .unwrap();
    let Command::Place(order) = command else { panic!("{command:?}") };
    assert_eq!(order.account, AccountId(7));
    assert_eq!(order.price, Price(64_123));
    assert_eq!(order.size, rialto_model::OrderSize::Base(Quantity::MAX));
    assert_eq!(order.self_trade, None, "left out means none");
}

#[test]
fn wide_values_are_refused_as_numbers() {
    let transfer = |amount: Value| {
        serde_json::from_value::<Command>(json!({
            "command": "deposit", "account": 7, "currency": 1, "amount": amount, "reference": "r",
        }))
    };
    assert!(transfer(json!("170141183460469231731687303715884105727")).is_ok());
    assert!(transfer(json!("170141183460469231731687303715884105728")).is_err());
    assert!(transfer(json!(5)).is_err());
    assert!(transfer(json!(5.0)).is_err());
    let timer = |timeout: Value| {
        serde_json::from_value::<Command>(json!({
            "command": "set_dead_man", "account": 7, "timeout_ns": timeout,
        }))
    };
    assert!(timer(json!("18446744073709551615")).is_ok());
    assert!(timer(json!(5)).is_err());
}

#[test]
fn an_event_shows_wide_values_as_strings_and_small_ids_as_numbers() {
    let event = Event::DeadManSet { account: AccountId(7), due: Timestamp::MAX };
    assert_eq!(
        json!(event),
        json!({"event": "dead_man_set", "account": 7, "due": "18446744073709551615"})
    );
    assert_eq!(json!(Amount(i128::MIN)), json!("-170141183460469231731687303715884105728"));
}

#[test]
fn an_outcome_shows_wide_values_as_strings() {
    let outcome = Outcome::Order {
        order: OrderId(u64::MAX),
        status: OrderStatus::PartiallyFilled,
        price: Price::MAX,
        filled: Quantity(1),
        remaining: Quantity(2),
        repeated: false,
    };
    assert_eq!(
        json!(outcome),
        json!({
            "outcome": "order",
            "order": "18446744073709551615",
            "status": "partially_filled",
            "price": "9223372036854775807",
            "filled": "1",
            "remaining": "2",
            "repeated": false,
        })
    );
}
