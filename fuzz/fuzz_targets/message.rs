//! What the codecs of the bus are tried with: a message with something of every kind.

use rialto_bus::codec::Codec;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Debug;

#[derive(
    Clone,
    Debug,
    PartialEq,
    Serialize,
    Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub(crate) struct Message {
    number: u64,
    change: i32,
    large: Option<u128>,
    symbol: char,
    name: String,
    payload: Vec<u8>,
    legs: Vec<Leg>,
    notes: BTreeMap<String, u16>,
}

#[derive(
    Clone,
    Debug,
    PartialEq,
    Serialize,
    Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub(crate) enum Leg {
    Empty,
    Cash(i64),
    Asset { name: String, quantity: u64, is_short: bool },
}

/// Bytes are refused, or stand for a message that survives being written and read again.
pub(crate) fn check(codec: &impl Codec<Message>, bytes: &[u8]) -> Option<Message> {
    let message = codec.decode(bytes).ok()?;
    let mut before = b"before".to_vec();
    codec.encode(&message, &mut before).expect("what was read can be written");
    let written = before.strip_prefix(b"before").expect("what was there before is kept");
    let again = codec.decode(written).expect("what was written can be read");
    assert_eq!(again, message, "{written:?}");
    Some(message)
}

/// Messages as the codec writes them, for runs that begin with valid bytes.
#[allow(dead_code, reason = "the fuzzer begins with its corpus instead")]
pub(crate) fn samples(codec: &impl Codec<Message>) -> Vec<Vec<u8>> {
    let empty = Message {
        number: 0,
        change: 0,
        large: None,
        symbol: 'a',
        name: String::new(),
        payload: Vec::new(),
        legs: Vec::new(),
        notes: BTreeMap::new(),
    };
    let full = Message {
        number: u64::MAX,
        change: i32::MIN,
        large: Some(u128::MAX),
        symbol: '€',
        name: "a \"quoted\" name".to_owned(),
        payload: vec![0, 0xff, 7],
        legs: vec![
            Leg::Empty,
            Leg::Cash(-5),
            Leg::Asset { name: "ore".to_owned(), quantity: 9, is_short: true },
        ],
        notes: [("first".to_owned(), 1), ("second".to_owned(), u16::MAX)].into(),
    };
    let encode = |message| {
        let mut bytes = Vec::new();
        codec.encode(message, &mut bytes).expect("a sample can be written");
        bytes
    };
    [empty, full].iter().map(encode).collect()
}
