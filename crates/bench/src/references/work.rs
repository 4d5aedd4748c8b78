//! What figures of other systems are of.

use serde::Deserialize;

/// The work that a figure was measured at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Work {
    /// A book alone on the OBW1 stream of seed 1 at this depth, a million operations.
    Obw {
        /// Orders that rest.
        depth: u64,
    },
    /// A book alone on the flow of exchange-core's own generator, 1,000 orders resting.
    MixBook,
    /// A core with ledger, risk and events on an OBW1 stream, which nobody published a figure of.
    ObwCore,
    /// The same on the flow of exchange-core's own generator.
    MixCore,
    /// A whole engine on that flow: risk, matching, results; no journal.
    MixPipeline,
    /// An engine that keeps what it does, on the orders of perpetual-exchange's report.
    RandomPrices,
    /// A book alone on those orders, which nobody published a figure of.
    RandomPricesBook,
    /// HTTP order entry with keep-alive on 64 connections, and durable acknowledgements.
    HttpOrders,
    /// A bare HTTP route that parses an order and does nothing with it.
    HttpBareRoute,
    /// Recovery: applying a recorded log at start.
    Replay,
    /// A call of a command bus.
    Bus(BusWork),
    /// A message made into bytes, or read from them.
    Codec(CodecWork),
    /// Making ids.
    Id(IdWork),
    /// Starting, ending and stopping.
    Lifecycle(LifecycleWork),
    /// Flows of steps.
    Flow(FlowWork),
    /// Messages through a queue.
    Queue(QueueWork),
}

/// A call of a command bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BusWork {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CodecWork {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum IdWork {
    /// One id at a time, on one thread, of a layout with 2,048 ids a millisecond.
    Next,
    /// One id at a time, on one thread, of a layout with so many ids that they are not the limit.
    NextWide,
    /// A batch of this many, of a layout with 2,048 ids a millisecond.
    Batch(u64),
}

/// Starting, ending and stopping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LifecycleWork {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FlowWork {
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

/// Messages through a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QueueWork {
    /// 1 KiB in memory, in.
    MemoryIn,
    /// 1 KiB in memory, out.
    MemoryOut,
    /// 4 KiB that repeat themselves, compressed with gzip, in.
    CompressedIn,
    /// 1 KiB of noise, encrypted with AES-128, in.
    EncryptedIn,
    /// 512 bytes in memory, one at a time.
    Single,
    /// 512 bytes in memory, a hundred at a time.
    Batch,
    /// Not copying 2 KiB over copying them.
    KeepOverCopy,
    /// 2 KiB of text, compressed and encrypted, in.
    SealedIn,
    /// 2 KiB of text, compressed and encrypted, out.
    SealedOut,
    /// 1 KiB on disk without waiting for it, in.
    BufferedIn,
    /// 1 KiB on disk without waiting for it, out.
    BufferedOut,
    /// 1 KiB on disk, each confirmed when it is durable, many under way.
    SyncedMany,
    /// 1 KiB on disk, each confirmed when it is durable before the next is sent.
    SyncedOne,
}
