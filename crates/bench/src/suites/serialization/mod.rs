//! `serialization`: encoding and decoding a message.

mod filing;

use crate::calls::{Arm, Sums, measure};
use crate::error::{BenchError, broken, verify};
use crate::references::{CodecWork, Work};
use crate::suite::{Context, Outcome, Suite, part};
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
        part("json", |context, outcome| outcome.take(json(context))),
        part("compact", |context, outcome| outcome.take(compact(context))),
        part("zero-copy", |context, outcome| outcome.take(zero_copy(context))),
    ],
};

fn json(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    let bench = &Bench::new(context);
    codecs(context, bench.codec("JSON", Json, JSON)?.0.into())
}

fn compact(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    let bench = &Bench::new(context);
    let ([encode, buffered, decode, both], bytes) = bench.codec("compact", Compact, BINARY)?;
    let buffered = buffered.within(ENCODE_NS).without_allocation();
    let view: FilingView<'_> = postcard::from_bytes(&bytes).map_err(broken("view", "read"))?;
    verify("view", "the content", view.content, &*bench.filing.content)?;
    let read = |call| {
        postcard::from_bytes::<FilingView<'_>>(black_box(&bytes))
            .map_or(0, |filing| black_box(&filing).touch(call))
    };
    let in_place = bench.decodes("compact, read in place by postcard", BINARY.decode, read);
    codecs(context, vec![encode, buffered, decode, both, in_place.note(BORROWED)])
}

fn zero_copy(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    let bench = &Bench::new(context);
    let ([encode, buffered, decode, both], bytes) = bench.codec("zero-copy", Archive, BINARY)?;
    let read =
        |call| Archive.access::<Filing>(black_box(&bytes)).map_or(0, |filing| filing.touch(call));
    let access = bench.decodes("zero-copy, validated access", BINARY.decode, read);
    let access = access.within(DECODE_NS).without_allocation().note(ACCESS);
    codecs(context, vec![encode, buffered, decode, both, access])
}

fn codecs(context: &mut Context<'_>, arms: Vec<Arm<'_>>) -> Result<Outcome, BenchError> {
    let mut outcome = measure(context, "codecs", arms)?;
    if let Some(first) = outcome.rows.first_mut() {
        *first = first.clone().footnote(MESSAGE).footnote(EITHER);
    }
    Ok(outcome)
}

/// What all arms encode and decode.
struct Bench {
    filing: Filing,
    calls: u64,
}

impl Bench {
    fn new(context: &Context<'_>) -> Bench {
        Bench { filing: Filing::new(), calls: context.sized(200_000, 1_000) }
    }

    /// An arm that encodes; `encode` is given the message and returns a byte of the encoding,
    /// which is that of `expected` at the position it is asked for, and the length.
    fn encodes<'a>(
        &'a self,
        name: &str,
        work: CodecWork,
        expected: &[u8],
        mut encode: impl FnMut(&Filing, u64) -> Encoded + 'a,
    ) -> Arm<'a> {
        let expected = expected.to_vec();
        // The black box keeps the compiler from knowing what is encoded.
        let run = move |calls| sum(calls, |call| encode(black_box(&self.filing), call).answer());
        let expected = move |calls| sum(calls, |call| Encoded::of(&expected, call).answer());
        Arm::new(name, self.calls, run, expected).beside(Work::Codec(work))
    }

    /// An arm that reads messages; `touch` returns what [`Filing::touch`] does.
    fn decodes<'a>(
        &'a self,
        name: &str,
        work: CodecWork,
        mut touch: impl FnMut(u64) -> u64 + 'a,
    ) -> Arm<'a> {
        let run = move |calls| sum(calls, &mut touch);
        let expected = move |calls| sum(calls, |call| self.filing.touch(call));
        Arm::new(name, self.calls, run, expected).beside(Work::Codec(work))
    }

    /// The arms that every codec has, and the message as it encodes it.
    fn codec<'a, C: Codec<Filing> + Copy + 'a>(
        &'a self,
        name: &str,
        codec: C,
        kinds: Kinds,
    ) -> Result<([Arm<'a>; 4], Vec<u8>), BenchError> {
        let filing = &self.filing;
        let mut bytes = Vec::new();
        codec.encode(filing, &mut bytes).map_err(broken(name, "encode the message"))?;
        let read = codec.decode(&bytes).map_err(broken(name, "decode the message"))?;
        verify(name, "what was read", &read, filing)?;
        let encode = move |filing: &Filing, bytes: &mut Vec<u8>| {
            // A failure shows as missing bytes, which are verified.
            let _ = codec.encode(filing, bytes);
        };
        let into_own = move |filing: &Filing, call| {
            let mut own = Vec::new();
            encode(filing, &mut own);
            Encoded::of(&own, call)
        };
        let mut buffer = Vec::with_capacity(2 * bytes.len());
        let into_buffer = move |filing: &Filing, call| {
            buffer.clear();
            encode(filing, &mut buffer);
            Encoded::of(&buffer, call)
        };
        let touch = move |bytes: &[u8], call| {
            codec.decode(black_box(bytes)).map_or(0, |filing| black_box(&filing).touch(call))
        };
        let encoded = bytes.clone();
        let decode = move |call| touch(&encoded, call);
        let there_and_back = move |call| {
            let mut own = Vec::new();
            encode(black_box(filing), &mut own);
            touch(&own, call)
        };
        let named = |what: &str| format!("{name}, {what}");
        let buffered = named("encode into a buffer");
        let arms = [
            self.encodes(&named("encode"), kinds.encode, &bytes, into_own).note(OWN),
            self.encodes(&buffered, kinds.encode_buffered, &bytes, into_buffer).note(BUFFER),
            self.decodes(&named("decode"), kinds.decode, decode).note(DECODED),
            self.decodes(&named("there and back"), kinds.round_trip, there_and_back).note(DECODED),
        ];
        Ok((arms, bytes))
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
    Sums::of_answers(answers)
}
