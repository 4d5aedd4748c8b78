//! Figures of Catga, of its successor in Rust, and of other mediators.
//!
//! Catga's report is of 2024-10-16 (seed 000), on a Ryzen 7 5800H with .NET 9. Its later pages and
//! its sources were read beside it: where they show that a figure is of something else than its
//! name says, the figure carries that.

use super::{Figure, Metric, Work, figure};
use crate::report::Unit;

/// A call of a command bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusWork {
    /// One command, to a handler whose type is known where it is sent.
    SendStatic,
    /// One command, to a handler that is looked up.
    SendDynamic,
    /// One command through five behaviours, handler and behaviours known where it is sent.
    SendStaticThroughFive,
    /// One command through five behaviours, to a handler that is looked up.
    SendDynamicThroughFive,
    /// One query, to a handler whose type is known where it is asked.
    Query,
    /// One event, to one handler.
    Publish,
    /// A hundred commands one after the other.
    SendHundred,
    /// A hundred events one after the other.
    PublishHundred,
    /// A thousand commands at once.
    SendThousandAtOnce,
    /// A thousand events at once.
    PublishThousandAtOnce,
    /// Registering one handler by hand.
    RegisterByHand,
    /// Registering one handler that is found.
    RegisterFound,
    /// Finding the handler of a request.
    Resolve,
    /// A handler called without any protection, which succeeds.
    DirectSuccess,
    /// A handler protected from its own failures, which succeeds.
    SafeSuccess,
    /// The same, which fails.
    SafeError,
}

/// A message made into bytes, or read from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodecWork {
    /// Into bytes of its own, binary.
    BinaryEncode,
    /// Into a buffer that is there, binary.
    BinaryEncodeBuffered,
    /// From bytes, binary.
    BinaryDecode,
    /// There and back, binary.
    BinaryRoundTrip,
    /// Into bytes of its own, as JSON.
    JsonEncode,
    /// Into a buffer that is there, as JSON.
    JsonEncodeBuffered,
    /// From bytes, as JSON.
    JsonDecode,
    /// There and back, as JSON.
    JsonRoundTrip,
}

/// Making ids of 64 bits that many processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdWork {
    /// One id at a time, on one thread, of a layout with 2,048 ids a millisecond.
    Next,
    /// One id at a time, on one thread, of a layout with so many ids that they are not the limit.
    NextWide,
    /// A batch of this many, of a layout with 2,048 ids a millisecond.
    Batch(u64),
}

/// Starting, ending and stopping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifecycleWork {
    /// Beginning an operation.
    Begin,
    /// Registering a component.
    Register,
    /// Bringing back a component that failed.
    Recover,
    /// Shutting down while an operation goes on for 10 ms.
    Shutdown10Ms,
    /// Shutting down while an operation goes on for 100 ms.
    Shutdown100Ms,
}

/// Flows of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowWork {
    /// A flow of three steps, from its start to its end, in memory.
    ThreeSteps,
    /// Beginning and ending the record of a flow.
    Record,
    /// Recording a step.
    RecordStep,
    /// Recording variables by code that was written for them.
    RecordVariables,
    /// Drawing a record for people.
    DrawRecord,
}

const BEGIN_PLUS_END: &str = "156 ns to begin and 124 ns to end, added. Of both, the report has \
    97 % without a debugger: what remains is then not the recorder.";
const WITHOUT: &str = "of which the report has 85 ns without a debugger.";
const UNNAMED: &str = "how many variables is not said; by hand 15 ns, by reflection 2.34 us.";
const SEED: &str = "seed 000 Catga";
const HEAD: &str = "Catga, later pages";
const MEDIATR: &str = "MediatR, as Catga measured it";
const RUST: &str = "catga-rs";
const GENERATED: &str = "generated mediators (.NET), the slowest";
const MEDIATR_FIVE: &str = "MediatR";

const SEED_000: &str = "report of 2024-10-16: Ryzen 7 5800H, .NET 9.0.8, BenchmarkDotNet 0.14";
const CATGA_PAGES: &str = "pages of Catga 0.1.1: Ryzen 7 5800H";
const CATGA_RS: &str = "pages of catga-rs 0.2.0, hardware not stated";
const DOT_NET: &str = "pages of Immediate.Handlers and DSoft";

const OTHER_PAGES: &str = "other pages of the same project give 154 ns, 256 ns and 351 ns for such \
    a call; which build and which behaviours the report measured is not said.";
const SCOPE: &str = "its benchmark only opens and closes a scope of the service provider: it \
    registers and resolves nothing, and the provider \"by hand\" is empty.";
const TWO_TRUTHS: &str = "24 KB for 1,000 commands at once cannot stand beside 979 KB for 100 one \
    after the other; 16 cores.";
const ESTIMATE: &str = "an estimate of the report, not a measurement.";
const YIELDS: &str = "its handlers begin by yielding to the thread pool, which is most of the time; \
    other pages give 623 ns directly and 703 ns protected.";
const THROWS: &str = "its handler yields and throws; other pages give 11.2 us.";
const LOOP: &str = "its batch is a loop around the single call.";
const NO_PIPELINE: &str = "its typed mediator boxes a future and has neither pipeline, tracing nor \
    panic isolation.";
const ONE_KB: &str = "a message with 1,024 bytes of payload; every call makes a new array for the \
    result, as the buffered ones do too in the end.";

const fn ns(
    name: &'static str,
    work: BusWork,
    value: f64,
    source: &'static str,
    caveat: Option<&'static str>,
) -> Figure {
    figure(name, Work::Bus(work), Metric::Mean, value, Unit::Nanoseconds, source, caveat)
}

const fn bytes(
    name: &'static str,
    work: BusWork,
    value: f64,
    source: &'static str,
    caveat: Option<&'static str>,
) -> Figure {
    figure(name, Work::Bus(work), Metric::Allocated, value, Unit::BytesPerCall, source, caveat)
}

const CEILING: &str = "488 ns is all that its layout of 2,048 ids a millisecond allows: the figure \
    is of the layout, not of the code.";
const SLEEPS: &str =
    "the operation that it waits for sleeps for this long, so the figure is of the sleep.";
const NOT_SAID: &str = "what it measures is not said, and the code is gone from the project.";

const fn id_ns(
    name: &'static str,
    work: IdWork,
    value: f64,
    source: &'static str,
    caveat: Option<&'static str>,
) -> Figure {
    figure(name, Work::Id(work), Metric::Mean, value, Unit::Nanoseconds, source, caveat)
}

const fn life_ns(
    name: &'static str,
    work: LifecycleWork,
    value: f64,
    source: &'static str,
    caveat: Option<&'static str>,
) -> Figure {
    figure(name, Work::Lifecycle(work), Metric::Mean, value, Unit::Nanoseconds, source, caveat)
}

const fn flows_a_second(name: &'static str, value: f64) -> Figure {
    let (work, unit) = (Work::Flow(FlowWork::ThreeSteps), Unit::FlowsPerSecond);
    figure(name, work, Metric::Throughput, value, unit, CATGA_RS, None)
}

const fn record_ns(
    name: &'static str,
    work: FlowWork,
    value: f64,
    source: &'static str,
    caveat: Option<&'static str>,
) -> Figure {
    figure(name, Work::Flow(work), Metric::Mean, value, Unit::Nanoseconds, source, caveat)
}

const fn life_bytes(work: LifecycleWork, value: f64) -> Figure {
    let (work, unit) = (Work::Lifecycle(work), Unit::BytesPerCall);
    figure(SEED, work, Metric::Allocated, value, unit, SEED_000, None)
}

const fn codec_ns(work: CodecWork, value: f64) -> Figure {
    let unit = Unit::Nanoseconds;
    figure(SEED, Work::Codec(work), Metric::Mean, value, unit, SEED_000, Some(ONE_KB))
}

/// Memory of a codec, which the report gives in KB of 1,024 bytes.
const fn codec_kb(work: CodecWork, value: f64) -> Figure {
    let unit = Unit::BytesPerCall;
    figure(SEED, Work::Codec(work), Metric::Allocated, value * 1024.0, unit, SEED_000, Some(ONE_KB))
}

pub(super) static FIGURES: &[Figure] = &[
    record_ns(SEED, FlowWork::Record, 280.0, SEED_000, Some(BEGIN_PLUS_END)),
    record_ns(HEAD, FlowWork::Record, 506.0, CATGA_PAGES, None),
    record_ns(SEED, FlowWork::RecordStep, 89.0, SEED_000, Some(WITHOUT)),
    record_ns(HEAD, FlowWork::RecordStep, 19.0, CATGA_PAGES, None),
    record_ns(SEED, FlowWork::RecordVariables, 45.0, SEED_000, Some(UNNAMED)),
    record_ns(SEED, FlowWork::DrawRecord, 3_240.0, SEED_000, None),
    ns(SEED, BusWork::SendStatic, 17_645.0, SEED_000, Some(OTHER_PAGES)),
    ns(HEAD, BusWork::SendStatic, 154.0, CATGA_PAGES, None),
    ns(MEDIATR, BusWork::SendStatic, 122.0, CATGA_PAGES, None),
    ns(GENERATED, BusWork::SendStatic, 27.0, DOT_NET, None),
    ns("generated mediators (.NET), the fastest", BusWork::SendStatic, 12.0, DOT_NET, None),
    ns(RUST, BusWork::SendStatic, 18.0, CATGA_RS, Some(NO_PIPELINE)),
    bytes(SEED, BusWork::SendStatic, 9_896.0, SEED_000, Some(OTHER_PAGES)),
    bytes(HEAD, BusWork::SendStatic, 88.0, CATGA_PAGES, None),
    bytes(MEDIATR, BusWork::SendStatic, 352.0, CATGA_PAGES, None),
    ns(SEED, BusWork::SendDynamic, 17_645.0, SEED_000, Some(OTHER_PAGES)),
    ns(RUST, BusWork::SendDynamic, 283.0, CATGA_RS, None),
    bytes(SEED, BusWork::SendDynamic, 9_896.0, SEED_000, Some(OTHER_PAGES)),
    ns(GENERATED, BusWork::SendStaticThroughFive, 37.0, DOT_NET, None),
    ns(MEDIATR_FIVE, BusWork::SendDynamicThroughFive, 153.0, DOT_NET, None),
    ns(RUST, BusWork::SendDynamicThroughFive, 283.0, CATGA_RS, Some("without any behaviours.")),
    ns(SEED, BusWork::Query, 16_108.0, SEED_000, Some(OTHER_PAGES)),
    bytes(SEED, BusWork::Query, 9_899.0, SEED_000, Some(OTHER_PAGES)),
    ns(SEED, BusWork::Publish, 427.7, SEED_000, Some(OTHER_PAGES)),
    ns(HEAD, BusWork::Publish, 111.0, CATGA_PAGES, None),
    ns(MEDIATR, BusWork::Publish, 137.0, CATGA_PAGES, None),
    ns(RUST, BusWork::Publish, 21.0, CATGA_RS, Some(NO_PIPELINE)),
    bytes(SEED, BusWork::Publish, 224.0, SEED_000, Some(OTHER_PAGES)),
    bytes(HEAD, BusWork::Publish, 64.0, CATGA_PAGES, None),
    bytes(MEDIATR, BusWork::Publish, 288.0, CATGA_PAGES, None),
    ns(SEED, BusWork::SendHundred, 1_670_000.0, SEED_000, Some(LOOP)),
    ns(HEAD, BusWork::SendHundred, 15_800.0, CATGA_PAGES, None),
    ns(MEDIATR, BusWork::SendHundred, 12_200.0, CATGA_PAGES, None),
    bytes(SEED, BusWork::SendHundred, 979_226.0, SEED_000, Some(LOOP)),
    ns(SEED, BusWork::PublishHundred, 41_419.0, SEED_000, Some(LOOP)),
    bytes(SEED, BusWork::PublishHundred, 22_400.0, SEED_000, Some(LOOP)),
    ns(SEED, BusWork::SendThousandAtOnce, 8_150_000.0, SEED_000, Some(TWO_TRUTHS)),
    bytes(SEED, BusWork::SendThousandAtOnce, 24.0 * 1024.0, SEED_000, Some(TWO_TRUTHS)),
    ns(SEED, BusWork::PublishThousandAtOnce, 430_000.0, SEED_000, Some(ESTIMATE)),
    ns(SEED, BusWork::RegisterByHand, 247.1, SEED_000, Some(SCOPE)),
    bytes(SEED, BusWork::RegisterByHand, 128.0, SEED_000, Some(SCOPE)),
    ns(SEED, BusWork::RegisterFound, 245.3, SEED_000, Some(SCOPE)),
    bytes(SEED, BusWork::RegisterFound, 128.0, SEED_000, Some(SCOPE)),
    ns(SEED, BusWork::Resolve, 248.9, SEED_000, Some(SCOPE)),
    bytes(SEED, BusWork::Resolve, 128.0, SEED_000, Some(SCOPE)),
    ns(SEED, BusWork::DirectSuccess, 245.0, SEED_000, Some(YIELDS)),
    bytes(SEED, BusWork::DirectSuccess, 128.0, SEED_000, Some(YIELDS)),
    ns(SEED, BusWork::SafeSuccess, 248.0, SEED_000, Some(YIELDS)),
    bytes(SEED, BusWork::SafeSuccess, 128.0, SEED_000, Some(YIELDS)),
    ns(SEED, BusWork::SafeError, 2_100.0, SEED_000, Some(THROWS)),
    bytes(SEED, BusWork::SafeError, 856.0, SEED_000, Some(THROWS)),
    codec_ns(CodecWork::BinaryEncode, 125.6),
    codec_kb(CodecWork::BinaryEncode, 1.09),
    codec_ns(CodecWork::BinaryEncodeBuffered, 161.7),
    codec_kb(CodecWork::BinaryEncodeBuffered, 1.12),
    codec_ns(CodecWork::BinaryDecode, 109.0),
    codec_kb(CodecWork::BinaryDecode, 1.17),
    codec_ns(CodecWork::BinaryRoundTrip, 276.9),
    codec_kb(CodecWork::BinaryRoundTrip, 2.26),
    codec_ns(CodecWork::JsonEncode, 534.8),
    codec_kb(CodecWork::JsonEncode, 6.17),
    codec_ns(CodecWork::JsonEncodeBuffered, 433.2),
    codec_kb(CodecWork::JsonEncodeBuffered, 1.63),
    codec_ns(CodecWork::JsonDecode, 829.1),
    codec_kb(CodecWork::JsonDecode, 1.17),
    codec_ns(CodecWork::JsonRoundTrip, 1_615.6),
    codec_kb(CodecWork::JsonRoundTrip, 7.34),
    id_ns(SEED, IdWork::Next, 485.5, SEED_000, Some(CEILING)),
    id_ns(RUST, IdWork::Next, 476.0, CATGA_RS, Some(CEILING)),
    id_ns("Catga, HighConcurrency layout", IdWork::NextWide, 60.0, CATGA_PAGES, None),
    id_ns(SEED, IdWork::Batch(1_000), 487.9, SEED_000, Some(CEILING)),
    id_ns(SEED, IdWork::Batch(10_000), 487.7, SEED_000, Some(CEILING)),
    id_ns(SEED, IdWork::Batch(50_000), 487.8, SEED_000, Some(CEILING)),
    life_ns(SEED, LifecycleWork::Begin, 67.0, SEED_000, None),
    life_bytes(LifecycleWork::Begin, 32.0),
    life_ns(HEAD, LifecycleWork::Begin, 3.3, CATGA_PAGES, None),
    life_ns(SEED, LifecycleWork::Register, 125.0, SEED_000, None),
    life_bytes(LifecycleWork::Register, 128.0),
    life_ns(HEAD, LifecycleWork::Register, 223.0, CATGA_PAGES, None),
    life_ns(SEED, LifecycleWork::Recover, 3_400.0, SEED_000, Some(NOT_SAID)),
    life_bytes(LifecycleWork::Recover, 856.0),
    flows_a_second("catga-rs, DSL", 0.69e6),
    flows_a_second("catga-rs, flow", 2.48e6),
    life_ns(SEED, LifecycleWork::Shutdown10Ms, 10_200_000.0, SEED_000, Some(SLEEPS)),
    life_bytes(LifecycleWork::Shutdown10Ms, 2.1 * 1024.0),
    life_ns(SEED, LifecycleWork::Shutdown100Ms, 100_500_000.0, SEED_000, Some(SLEEPS)),
    life_bytes(LifecycleWork::Shutdown100Ms, 2.3 * 1024.0),
];
