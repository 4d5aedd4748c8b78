//! `serialization`: a message into bytes and back.

mod filing;

use crate::calls::{Arm, Sums, Targets, measure};
use crate::error::{BenchError, broken, verify};
use crate::references::{CodecWork, Work};
use crate::report::{Case, Risk, Transport};
use crate::suite::{Context, Outcome, Suite};
use filing::{ArchivedFiling, Filing, FilingView};
use rkyv::rancor;
use rkyv::util::AlignedVec;
use std::hint::black_box;

/// The suite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Serialization;

/// What an encoding, and a decoding, must take at most; see the notes for which.
const ENCODE_NS: f64 = 30.0;
const DECODE_NS: f64 = 20.0;

const MESSAGE: &str = "The message has the size and shape of the seed's: texts of 8 and 16 \
    characters, a number, a time, 1,024 bytes (base64 in JSON). Of each message read, its number, the \
    lengths of its texts and one byte of its content, a different one each time, are added up.";
const OWN: &str = "Into memory of its own, as the seed does.";
const BUFFER: &str = "Into a buffer that is used again.";
const DECODED: &str = "Everything is checked and copied out into a message of its own.";
const BORROWED: &str = "Everything is checked; texts and bytes stay where they are.";
const ACCESS: &str = "The archive is checked and then read in place: nothing is decoded.";

impl Suite for Serialization {
    fn name(&self) -> &'static str {
        "serialization"
    }

    fn about(&self) -> &'static str {
        "a message of the seed's size as JSON, in a compact form, and in one that is read in place"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome, BenchError> {
        let filing = &Filing::new();
        let calls = context.sized(200_000, 1_000);
        let mut bench = Bench { filing, calls, arms: Vec::new(), kinds: Vec::new() };
        bench.json()?;
        bench.compact()?;
        bench.zero_copy()?;
        let Bench { arms, kinds, .. } = bench;
        let measured = measure(context, "codecs", arms)?;
        let mut outcome = Outcome::default();
        for (arm, (work, targets, note)) in kinds.into_iter().enumerate() {
            let rows = measured.rows(arm, Some(Work::Codec(work)), targets);
            outcome.rows.extend(rows.into_iter().map(|row| row.footnote(note)));
        }
        if let Some(first) = outcome.rows.first_mut() {
            *first = first.clone().footnote(MESSAGE);
        }
        Ok(outcome)
    }
}

/// Arms, and what is to be said of each.
struct Bench<'a> {
    filing: &'a Filing,
    calls: u64,
    arms: Vec<Arm<'a>>,
    kinds: Vec<(CodecWork, Targets, &'static str)>,
}

impl<'a> Bench<'a> {
    /// Adds an arm that encodes; `encode` is given the message and returns a byte of the encoding,
    /// which is that of `expected` at the position it is asked for, and the length.
    fn encodes(
        &mut self,
        name: &str,
        kind: (CodecWork, Targets, &'static str),
        expected: &[u8],
        mut encode: impl FnMut(&Filing, u64) -> Encoded + 'a,
    ) {
        let filing = self.filing;
        let expected = expected.to_vec();
        self.arms.push(Arm::new(
            case(name),
            self.calls,
            move |calls| {
                // The black box keeps the compiler from knowing what is encoded.
                sum(calls, |call| encode(black_box(filing), call).answer())
            },
            move |calls| sum(calls, |call| Encoded::of(&expected, call).answer()),
        ));
        self.kinds.push(kind);
    }

    /// Adds an arm that reads messages; `touch` returns what [`Filing::touch`] does.
    fn decodes(
        &mut self,
        name: &str,
        kind: (CodecWork, Targets, &'static str),
        mut touch: impl FnMut(u64) -> u64 + 'a,
    ) {
        let filing = self.filing;
        self.arms.push(Arm::new(
            case(name),
            self.calls,
            move |calls| sum(calls, &mut touch),
            move |calls| sum(calls, |call| filing.touch(call)),
        ));
        self.kinds.push(kind);
    }

    fn json(&mut self) -> Result<(), BenchError> {
        let name = "JSON (serde_json)";
        let failed = || broken(name, "encode the message");
        let bytes = serde_json::to_vec(self.filing).map_err(failed())?;
        let read: Filing = serde_json::from_slice(&bytes).map_err(broken(name, "decode"))?;
        verify(name, "what was read", &read, self.filing)?;
        let none = Targets::default();
        self.encodes(
            "JSON (serde_json), encode",
            (CodecWork::JsonEncode, none, OWN),
            &bytes,
            |filing, call| Encoded::of(&serde_json::to_vec(filing).unwrap_or_default(), call),
        );
        let mut buffer = Vec::with_capacity(bytes.len());
        self.encodes(
            "JSON (serde_json), encode into a buffer",
            (CodecWork::JsonEncodeBuffered, none, BUFFER),
            &bytes,
            move |filing, call| {
                buffer.clear();
                // What could not be written is missing from the buffer, which is verified.
                let _ = serde_json::to_writer(&mut buffer, filing);
                Encoded::of(&buffer, call)
            },
        );
        let filing = self.filing;
        self.decodes(
            "JSON (serde_json), decode",
            (CodecWork::JsonDecode, none, DECODED),
            move |call| {
                serde_json::from_slice::<Filing>(black_box(&bytes))
                    .map_or(0, |filing| black_box(&filing).touch(call))
            },
        );
        self.decodes(
            "JSON (serde_json), there and back",
            (CodecWork::JsonRoundTrip, none, DECODED),
            move |call| {
                let bytes = serde_json::to_vec(black_box(filing)).unwrap_or_default();
                serde_json::from_slice::<Filing>(black_box(&bytes))
                    .map_or(0, |filing| black_box(&filing).touch(call))
            },
        );
        Ok(())
    }

    fn compact(&mut self) -> Result<(), BenchError> {
        let name = "compact (postcard)";
        let bytes = postcard::to_allocvec(self.filing).map_err(broken(name, "encode"))?;
        let read: Filing = postcard::from_bytes(&bytes).map_err(broken(name, "decode"))?;
        verify(name, "what was read", &read, self.filing)?;
        let none = Targets::default();
        self.encodes(
            "compact (postcard), encode",
            (CodecWork::BinaryEncode, none, OWN),
            &bytes,
            |filing, call| Encoded::of(&postcard::to_allocvec(filing).unwrap_or_default(), call),
        );
        let mut buffer = vec![0; 2 * bytes.len()];
        self.encodes(
            "compact (postcard), encode into a buffer",
            (CodecWork::BinaryEncodeBuffered, Targets::without_allocation(ENCODE_NS), BUFFER),
            &bytes,
            move |filing, call| {
                let written = postcard::to_slice(filing, &mut buffer);
                written.map_or(Encoded::NOTHING, |bytes| Encoded::of(bytes, call))
            },
        );
        let view: FilingView<'_> = postcard::from_bytes(&bytes).map_err(broken(name, "read"))?;
        verify(name, "the content of a view", view.content, &*self.filing.content)?;
        let filing = self.filing;
        let in_place = bytes.clone();
        self.decodes(
            "compact (postcard), decode",
            (CodecWork::BinaryDecode, none, DECODED),
            move |call| {
                postcard::from_bytes::<Filing>(black_box(&bytes))
                    .map_or(0, |filing| black_box(&filing).touch(call))
            },
        );
        self.decodes(
            "compact (postcard), decode in place",
            (CodecWork::BinaryDecode, Targets::without_allocation(DECODE_NS), BORROWED),
            move |call| {
                postcard::from_bytes::<FilingView<'_>>(black_box(&in_place))
                    .map_or(0, |filing| black_box(&filing).touch(call))
            },
        );
        self.decodes(
            "compact (postcard), there and back",
            (CodecWork::BinaryRoundTrip, none, DECODED),
            move |call| {
                let bytes = postcard::to_allocvec(black_box(filing)).unwrap_or_default();
                postcard::from_bytes::<Filing>(black_box(&bytes))
                    .map_or(0, |filing| black_box(&filing).touch(call))
            },
        );
        Ok(())
    }

    fn zero_copy(&mut self) -> Result<(), BenchError> {
        let name = "zero-copy (rkyv)";
        let bytes = rkyv::to_bytes::<rancor::Error>(self.filing).map_err(broken(name, "encode"))?;
        let read = rkyv::from_bytes::<Filing, rancor::Error>(&bytes);
        verify(name, "what was read", &read.map_err(broken(name, "decode"))?, self.filing)?;
        let none = Targets::default();
        self.encodes(
            "zero-copy (rkyv), encode",
            (CodecWork::BinaryEncode, none, OWN),
            &bytes,
            |filing, call| {
                let written = rkyv::to_bytes::<rancor::Error>(filing);
                written.map_or(Encoded::NOTHING, |bytes| Encoded::of(&bytes, call))
            },
        );
        let mut buffer = AlignedVec::<16>::with_capacity(2 * bytes.len());
        self.encodes(
            "zero-copy (rkyv), encode into a buffer",
            (CodecWork::BinaryEncodeBuffered, Targets::without_allocation(ENCODE_NS), BUFFER),
            &bytes,
            move |filing, call| {
                buffer.clear();
                let written = rkyv::api::high::to_bytes_in::<_, rancor::Error>(
                    filing,
                    std::mem::take(&mut buffer),
                );
                let Ok(bytes) = written else { return Encoded::NOTHING };
                buffer = bytes;
                Encoded::of(&buffer, call)
            },
        );
        let filing = self.filing;
        let decoded = bytes.clone();
        self.decodes(
            "zero-copy (rkyv), validated access",
            (CodecWork::BinaryDecode, Targets::without_allocation(DECODE_NS), ACCESS),
            move |call| {
                rkyv::access::<ArchivedFiling, rancor::Error>(black_box(&bytes))
                    .map_or(0, |filing| filing.touch(call))
            },
        );
        self.decodes(
            "zero-copy (rkyv), decode",
            (CodecWork::BinaryDecode, none, DECODED),
            move |call| {
                rkyv::from_bytes::<Filing, rancor::Error>(black_box(&decoded))
                    .map_or(0, |filing| black_box(&filing).touch(call))
            },
        );
        self.decodes(
            "zero-copy (rkyv), there and back",
            (CodecWork::BinaryRoundTrip, none, DECODED),
            move |call| {
                rkyv::to_bytes::<rancor::Error>(black_box(filing))
                    .and_then(|bytes| rkyv::from_bytes::<Filing, rancor::Error>(black_box(&bytes)))
                    .map_or(0, |filing| black_box(&filing).touch(call))
            },
        );
        Ok(())
    }
}

/// What is checked of an encoding: its length, and a byte that differs from call to call.
#[derive(Clone, Copy)]
struct Encoded {
    bytes: usize,
    byte: u8,
}

impl Encoded {
    const NOTHING: Encoded = Encoded { bytes: 0, byte: 0 };

    #[inline]
    fn of(bytes: &[u8], call: u64) -> Encoded {
        // The black box has the whole encoding be written, and not only what is looked at.
        let bytes = black_box(bytes);
        let byte = bytes.get(call as usize % bytes.len().max(1)).copied().unwrap_or_default();
        Encoded { bytes: bytes.len(), byte }
    }

    fn answer(self) -> u64 {
        self.bytes as u64 + u64::from(self.byte)
    }
}

#[inline]
fn sum(calls: u64, mut call: impl FnMut(u64) -> u64) -> Sums {
    let mut answers = 0_u64;
    for number in 0..calls {
        answers = answers.wrapping_add(call(number));
    }
    Sums { answers, effects: 0 }
}

fn case(work: &str) -> Case {
    Case { work: work.to_string(), risk: Risk::NoOrders, transport: Transport::InProcess }
}
