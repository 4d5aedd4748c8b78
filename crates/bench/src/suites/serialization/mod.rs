//! `serialization`: encoding and decoding a message.

mod filing;

use crate::calls::{Arm, Sums, Targets, measure};
use crate::error::{BenchError, broken, verify};
use crate::references::{CodecWork, Work};
use crate::report::{Case, Risk, Transport};
use crate::suite::{Context, Outcome, Suite, SuitePart};
use filing::{Filing, FilingView};
use rialto_bus::codec::{Archive, Codec, Compact, Json};
use std::hint::black_box;

/// The targets of encoding and decoding in the binary forms. Each target is for the form that is
/// made for it: compact for writing, archives for reading.
const ENCODE_NS: f64 = 30.0;
const DECODE_NS: f64 = 20.0;

const MESSAGE: &str = "The message has the size and shape of Catga's: texts of 8 and 16 \
    characters, a number, a time, 1,024 bytes (base64 in JSON). Of each message read, its number, the \
    lengths of its texts and one byte of its content, a different one each time, are added up.";
const EITHER: &str = "Targets are for either binary form and stand at the form that is made for it: \
    compact for writing, zero-copy for reading.";
const OWN: &str = "Into memory of its own, as Catga does.";
const BUFFER: &str = "Into a buffer that is used again.";
const DECODED: &str = "Everything is checked and copied out into a message of its own.";
const BORROWED: &str = "Everything is checked; texts and bytes stay where they are.";
const ACCESS: &str = "The archive is checked and then read in place: nothing is decoded.";

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "serialization",
    about: "a message of the size of Catga's as JSON, in a compact form, and in one that is read in place",
    parts: &[
        SuitePart { name: "json", measure: |context, outcome| outcome.take(json(context)) },
        SuitePart { name: "compact", measure: |context, outcome| outcome.take(compact(context)) },
        SuitePart {
            name: "zero-copy",
            measure: |context, outcome| outcome.take(zero_copy(context)),
        },
    ],
};

fn json(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    codecs(context, |bench| bench.codec("JSON", Json, JSON, Targets::default()).map(drop))
}

fn compact(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    codecs(context, |bench| {
        let encode = Targets::without_allocation(ENCODE_NS);
        let bytes = bench.codec("compact", Compact, BINARY, encode)?;
        let view: FilingView<'_> = postcard::from_bytes(&bytes).map_err(broken("view", "read"))?;
        verify("view", "the content", view.content, &*bench.filing.content)?;
        bench.decodes(
            "compact, read in place by postcard",
            (CodecWork::BinaryDecode, Targets::default(), BORROWED),
            move |call| {
                postcard::from_bytes::<FilingView<'_>>(black_box(&bytes))
                    .map_or(0, |filing| black_box(&filing).touch(call))
            },
        );
        Ok(())
    })
}

fn zero_copy(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    codecs(context, |bench| {
        let bytes = bench.codec("zero-copy", Archive, BINARY, Targets::default())?;
        bench.decodes(
            "zero-copy, validated access",
            (CodecWork::BinaryDecode, Targets::without_allocation(DECODE_NS), ACCESS),
            move |call| {
                Archive.access::<Filing>(black_box(&bytes)).map_or(0, |filing| filing.touch(call))
            },
        );
        Ok(())
    })
}

/// The rows of the arms that `set_up` adds.
fn codecs(
    context: &mut Context<'_>,
    set_up: impl FnOnce(&mut Bench<'_>) -> Result<(), BenchError>,
) -> Result<Outcome, BenchError> {
    let filing = &Filing::new();
    let calls = context.sized(200_000, 1_000);
    let mut bench = Bench { filing, calls, arms: Vec::new(), kinds: Vec::new() };
    set_up(&mut bench)?;
    let Bench { arms, kinds, .. } = bench;
    let measured = measure(context, "codecs", arms)?;
    let mut outcome = Outcome::default();
    for (arm, (work, targets, note)) in kinds.into_iter().enumerate() {
        let rows = measured.rows(arm, Some(Work::Codec(work)), targets);
        outcome.rows.extend(rows.into_iter().map(|row| row.footnote(note)));
    }
    if let Some(first) = outcome.rows.first_mut() {
        *first = first.clone().footnote(MESSAGE).footnote(EITHER);
    }
    Ok(outcome)
}

/// Arms with their footnotes.
struct Bench<'a> {
    filing: &'a Filing,
    calls: u64,
    arms: Vec<Arm<'a>>,
    kinds: Vec<(CodecWork, Targets, &'static str)>,
}

impl<'a> Bench<'a> {
    /// Adds an arm that encodes. `encode` gets the message, and returns the length of the encoding
    /// and the byte at the requested position, which must equal that of `expected`.
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
                // The black box hides the message from the compiler.
                sum(calls, |call| encode(black_box(filing), call).answer())
            },
            move |calls| sum(calls, |call| Encoded::of(&expected, call).answer()),
        ));
        self.kinds.push(kind);
    }

    /// Adds an arm that decodes messages; `touch` returns the check of [`Filing::touch`].
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

    /// Adds the arms that every codec has.
    fn codec<C: Codec<Filing> + Copy + 'a>(
        &mut self,
        name: &str,
        codec: C,
        kinds: Kinds,
        encode_targets: Targets,
    ) -> Result<Vec<u8>, BenchError> {
        let filing = self.filing;
        let mut bytes = Vec::new();
        codec.encode(filing, &mut bytes).map_err(broken(name, "encode the message"))?;
        let read = codec.decode(&bytes).map_err(broken(name, "decode the message"))?;
        verify(name, "what was read", &read, filing)?;
        let none = Targets::default();
        let encode = move |filing: &Filing, bytes: &mut Vec<u8>| {
            // A failure shows as missing bytes, which are verified.
            let _ = codec.encode(filing, bytes);
        };
        self.encodes(
            &format!("{name}, encode"),
            (kinds.encode, none, OWN),
            &bytes,
            move |filing, call| {
                let mut own = Vec::new();
                encode(filing, &mut own);
                Encoded::of(&own, call)
            },
        );
        let mut buffer = Vec::with_capacity(2 * bytes.len());
        self.encodes(
            &format!("{name}, encode into a buffer"),
            (kinds.encode_buffered, encode_targets, BUFFER),
            &bytes,
            move |filing, call| {
                buffer.clear();
                encode(filing, &mut buffer);
                Encoded::of(&buffer, call)
            },
        );
        let encoded = bytes.clone();
        self.decodes(&format!("{name}, decode"), (kinds.decode, none, DECODED), move |call| {
            codec.decode(black_box(&encoded)).map_or(0, |filing| black_box(&filing).touch(call))
        });
        self.decodes(
            &format!("{name}, there and back"),
            (kinds.round_trip, none, DECODED),
            move |call| {
                let mut own = Vec::new();
                encode(black_box(filing), &mut own);
                codec.decode(black_box(&own)).map_or(0, |filing| black_box(&filing).touch(call))
            },
        );
        Ok(bytes)
    }
}

/// The references of a codec's arms.
#[derive(Clone, Copy)]
struct Kinds {
    encode: CodecWork,
    encode_buffered: CodecWork,
    decode: CodecWork,
    round_trip: CodecWork,
}

const JSON: Kinds = Kinds {
    encode: CodecWork::JsonEncode,
    encode_buffered: CodecWork::JsonEncodeBuffered,
    decode: CodecWork::JsonDecode,
    round_trip: CodecWork::JsonRoundTrip,
};
const BINARY: Kinds = Kinds {
    encode: CodecWork::BinaryEncode,
    encode_buffered: CodecWork::BinaryEncodeBuffered,
    decode: CodecWork::BinaryDecode,
    round_trip: CodecWork::BinaryRoundTrip,
};

/// The check of an encoding: its length, and a byte that differs from call to call.
#[derive(Clone, Copy)]
struct Encoded {
    bytes: usize,
    byte: u8,
}

impl Encoded {
    #[inline]
    fn of(bytes: &[u8], call: u64) -> Encoded {
        // The black box makes the compiler write the whole encoding.
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
