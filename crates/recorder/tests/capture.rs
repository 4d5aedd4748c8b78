//! The fields that `#[derive(Capture)]` writes, and the fields that it never writes.

#![allow(clippy::unwrap_used)]

use rialto_clock::{ManualClock, Timestamp};
use rialto_recorder::{Capture, Recorder, RecorderBounds, Sampling, Subject};
use std::fmt;

/// The variables of a value, one `path = value` a line.
fn written(value: &impl Capture) -> Vec<String> {
    let clock = ManualClock::new(Timestamp(0));
    let recorder = Recorder::new(RecorderBounds::default(), Sampling::All, clock);
    let recording = recorder.begin("capture", Subject::default());
    recording.capture(value);
    recording.succeed();
    let record = &recorder.list()[0];
    assert_eq!(record.variables_lost(), 0);
    record.variables().iter().map(|told| format!("{} = {}", told.path, told.value)).collect()
}

#[derive(Capture)]
struct AccountId(u32);

#[derive(Capture)]
struct Price {
    units: i64,
    scale: u8,
}

#[derive(Capture)]
enum Kind {
    Market,
    Limit {
        price: Price,
        #[capture(rename = "gtd")]
        until: Option<u64>,
    },
    #[capture(rename = "peg")]
    PeggedTo(AccountId, #[capture(secret)] Opaque),
}

/// A type without `Capture` and `Debug`.
struct Opaque;

struct Symbol(&'static str);

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[derive(Debug)]
#[allow(dead_code, reason = "it is told by its text form")]
enum Side {
    Buy,
}

#[derive(Capture)]
struct Order<'a> {
    account: AccountId,
    #[capture(display)]
    symbol: Symbol,
    #[capture(debug)]
    side: Side,
    kind: Kind,
    note: &'a str,
    r#type: bool,
    #[capture(secret)]
    #[allow(dead_code, reason = "nobody looks at it")]
    signature: Opaque,
    #[capture(skip)]
    #[allow(dead_code, reason = "nobody looks at it")]
    scratch: Opaque,
    #[capture(rename = "ratio")]
    share: f64,
}

fn order(kind: Kind) -> Order<'static> {
    Order {
        account: AccountId(7),
        symbol: Symbol("BTC-USD"),
        side: Side::Buy,
        kind,
        note: "first",
        r#type: true,
        signature: Opaque,
        scratch: Opaque,
        share: 0.5,
    }
}

#[test]
fn fields_are_written_by_name_and_parts_under_their_whole() {
    let limit = Kind::Limit { price: Price { units: -5, scale: 2 }, until: None };
    assert_eq!(
        written(&order(limit)),
        [
            "account = 7",
            "symbol = BTC-USD",
            "side = Buy",
            "kind.variant = limit",
            "kind.price.units = -5",
            "kind.price.scale = 2",
            "note = first",
            "type = true",
            "signature = (hidden)",
            "ratio = 0.5",
        ]
    );
}

#[test]
fn a_variant_without_fields_is_a_text_under_the_name_of_the_field() {
    assert_eq!(written(&order(Kind::Market))[3], "kind = market");
    assert_eq!(written(&Kind::Market), ["variant = market"]);
}

#[test]
fn fields_of_variants_may_be_renamed_and_hidden_too() {
    let price = || Price { units: 1, scale: 0 };
    let limit = Kind::Limit { price: price(), until: Some(9) };
    assert_eq!(
        written(&limit),
        ["variant = limit", "price.units = 1", "price.scale = 0", "gtd = 9"]
    );
    let pegged = Kind::PeggedTo(AccountId(3), Opaque);
    assert_eq!(written(&pegged), ["variant = peg", "0 = 3", "1 = (hidden)"]);
}

#[derive(Capture)]
struct Both<T, U: ?Sized> {
    size: usize,
    first: Option<T>,
    second: Box<U>,
}

#[test]
fn generic_types_ask_of_their_parameters_what_they_need() {
    let both = Both::<AccountId, str> { size: 2, first: Some(AccountId(1)), second: "two".into() };
    assert_eq!(written(&both), ["size = 2", "first = 1", "second = two"]);
    let nested = Both::<_, u8> { size: 1, first: Some(&both), second: 4.into() };
    assert_eq!(
        written(&nested),
        ["size = 1", "first.size = 2", "first.first = 1", "first.second = two", "second = 4"]
    );
}

#[derive(Capture)]
#[capture(secret)]
struct Password {
    #[capture(secret)]
    #[allow(dead_code, reason = "nobody looks at it")]
    bytes: Opaque,
}

#[derive(Capture)]
struct Login {
    user: u128,
    password: Password,
    last: Option<Password>,
}

#[test]
fn a_secret_type_is_hidden_wherever_it_is() {
    let password = || Password { bytes: Opaque };
    let login = Login { user: u128::MAX, password: password(), last: Some(password()) };
    let user = format!("user = {}", u128::MAX);
    assert_eq!(written(&login), [user.as_str(), "password = (hidden)", "last = (hidden)"]);
}
