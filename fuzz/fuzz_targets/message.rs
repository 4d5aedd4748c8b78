//! What the codecs of the bus are tried with: a message with something of every kind.

use rialto_bus::codec::Codec;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Debug;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Message {
    number: u64,
    change: i32,
    large: Option<u128>,
    symbol: char,
    name: String,
    payload: Vec<u8>,
    legs: Vec<Leg>,
    notes: BTreeMap<String, u16>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub enum Leg {
    Empty,
    Cash(i64),
    Asset { name: String, quantity: u64, is_short: bool },
}

/// Bytes are refused, or stand for a message that survives being written and read again.
pub fn check(codec: &impl Codec<Message>, bytes: &[u8]) -> Option<Message> {
    let message = codec.decode(bytes).ok()?;
    let mut before = b"before".to_vec();
    codec.encode(&message, &mut before).expect("what was read can be written");
    let written = before.strip_prefix(b"before").expect("what was there before is kept");
    let again = codec.decode(written).expect("what was written can be read");
    assert_eq!(again, message, "{written:?}");
    Some(message)
}
