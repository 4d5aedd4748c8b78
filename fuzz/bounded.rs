//! Runs fuzz targets inside ordinary tests, on a stable compiler, with a bounded number of inputs.
//!
//! A test includes this file and the targets by their paths, and says
//! `extern crate self as libfuzzer_sys;` at its root: the targets then find the macro below where
//! they look for that of libFuzzer, and compile unchanged.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestError, TestRunner};
use std::time::{Duration, Instant};

/// Inputs for a target; `PROPTEST_CASES` sets another number.
const CASES: u32 = 16_000;
/// A target that takes longer gets fewer inputs.
const TIME_MAX: Duration = Duration::from_secs(10);
/// The longest input that is drawn and not made from a valid one.
const RANDOM_BYTES_MAX: usize = 512;

/// Stands in for the macro of libFuzzer: makes a function of the target's body.
#[macro_export]
macro_rules! fuzz_target {
    (|$bytes:ident: &[u8]| $body:expr) => {
        pub(crate) fn target($bytes: &[u8]) {
            $body;
        }
    };
}

/// One change to a valid input.
#[derive(Clone, Debug)]
enum Edit {
    SetByte(Index, u8),
    AddToByte(Index, u8),
    FlipBit(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, u8),
    CutOff(Index),
    /// What follows is taken from another valid input.
    Splice(Index, Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    let index = any::<Index>;
    prop_oneof![
        3 => (index(), any::<u8>()).prop_map(|(at, to)| Edit::SetByte(at, to)),
        3 => (index(), prop_oneof![Just(1), Just(u8::MAX)])
            .prop_map(|(at, more)| Edit::AddToByte(at, more)),
        3 => (index(), 0..8_u8).prop_map(|(at, bit)| Edit::FlipBit(at, bit)),
        1 => (index(), prop::collection::vec(any::<u8>(), 1..9))
            .prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        1 => (index(), 1..9_u8).prop_map(|(at, count)| Edit::Remove(at, count)),
        1 => index().prop_map(Edit::CutOff),
        1 => (index(), index()).prop_map(|(at, other)| Edit::Splice(at, other)),
    ]
}

fn edited(mut bytes: Vec<u8>, edits: &[Edit], valid: &[Vec<u8>]) -> Vec<u8> {
    for edit in edits {
        let length = bytes.len();
        let place = |at: &Index| at.index(length + 1);
        let byte = |at: &Index| at.index(length.max(1));
        match edit {
            Edit::SetByte(at, to) => bytes.get_mut(byte(at)).into_iter().for_each(|it| *it = *to),
            Edit::AddToByte(at, more) => {
                bytes.get_mut(byte(at)).into_iter().for_each(|it| *it = it.wrapping_add(*more));
            }
            Edit::FlipBit(at, bit) => {
                bytes.get_mut(byte(at)).into_iter().for_each(|it| *it ^= 1 << bit);
            }
            Edit::Insert(at, more) => {
                let at = place(at);
                bytes.splice(at..at, more.iter().copied());
            }
            Edit::Remove(at, count) => {
                let at = place(at);
                bytes.drain(at..(at + usize::from(*count)).min(length));
            }
            Edit::CutOff(at) => bytes.truncate(place(at)),
            Edit::Splice(at, other) => {
                let (at, other) = (place(at), &valid[other.index(valid.len())]);
                bytes.truncate(at);
                bytes.extend_from_slice(other.get(at..).unwrap_or_default());
            }
        }
    }
    bytes
}

/// Calls a target with every valid input, with changed ones, and with random bytes. A panic is
/// shrunk to a short input, which is printed.
pub(crate) fn check(target: fn(&[u8]), valid: &[Vec<u8>]) {
    assert!(!valid.is_empty(), "there is nothing to begin with");
    valid.iter().for_each(|bytes| target(bytes));
    let from_valid = (select(valid.to_vec()), prop::collection::vec(edit(), 1..6));
    let valid = valid.to_vec();
    let inputs = prop_oneof![
        3 => from_valid.prop_map(move |(bytes, edits)| edited(bytes, &edits, &valid)),
        1 => prop::collection::vec(any::<u8>(), 0..RANDOM_BYTES_MAX),
    ];
    let defaults = Config::default();
    let given = std::env::var_os("PROPTEST_CASES").is_some();
    let config = Config {
        cases: if given { defaults.cases } else { CASES },
        failure_persistence: None,
        ..defaults
    };
    let began = Instant::now();
    let outcome = TestRunner::new(config).run(&inputs, |bytes| {
        if given || began.elapsed() < TIME_MAX {
            target(&bytes);
        }
        Ok(())
    });
    if let Err(TestError::Fail(reason, bytes)) = outcome {
        panic!("{reason} with the bytes {bytes:02x?}");
    }
}
