//! The kinds of work of figures.

use serde::Deserialize;

/// The work that a figure measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Work {
    /// A book alone on the OBW1 stream of seed 1 at this depth, a million operations.
    Obw {
        /// The number of resting orders.
        depth: u64,
    },
    /// A book alone on the flow of exchange-core's generator, with 1,000 resting orders.
    MixBook,
    /// A core with ledger, risk and events on an OBW1 stream; there are no published figures.
    ObwCore,
    /// The same on the flow of exchange-core's generator.
    MixCore,
    /// An engine on that flow: risk, matching, results; no journal.
    MixPipeline,
    /// A durable engine on the orders of perpetual-exchange's report.
    RandomPrices,
    /// A book alone on those orders; there are no published figures.
    RandomPricesBook,
    /// HTTP order entry with keep-alive on 64 connections, and durable acknowledgements.
    HttpOrders,
    /// A bare HTTP route that only parses an order.
    HttpBareRoute,
    /// Recovery: applying a log at the start.
    Replay,
    /// A call over a command bus.
    Bus(BusWork),
    /// Encoding or decoding a message.
    Codec(CodecWork),
    /// Generating ids.
    Id(IdWork),
    /// Start, end and shutdown.
    Lifecycle(LifecycleWork),
    /// Flows of steps.
    Flow(FlowWork),
    /// Messages through a queue.
    Queue(QueueWork),
    /// Files of a pool.
    Depot(DepotWork),
    /// Orders on several instruments.
    Market(MarketWork),
}

/// Orders on several instruments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MarketWork {
    /// Two orders at one price, with this many levels in the book.
    Levels(u64),
    /// A million orders of 100 accounts on ten instruments.
    Million,
    /// This many submitters with one order outstanding each.
    Submitters(u64),
    /// From an order over HTTP to its fill on a stream.
    Fill,
    /// Ten million orders as fast as they are accepted.
    Sustained,
    /// A part of them, from 1.
    SustainedPart(u64),
}

/// A call over a command bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BusWork {
    /// One command to a statically known handler.
    SendStatic,
    /// One command to a dynamically found handler.
    SendDynamic,
    /// One command through five behaviours, handler and behaviours statically known.
    SendStaticThroughFive,
    /// One command through five behaviours to a dynamically found handler.
    SendDynamicThroughFive,
    /// One query to a statically known handler.
    Query,
    /// One event, to one handler.
    Publish,
    /// A hundred commands in sequence.
    SendHundred,
    /// A hundred events in sequence.
    PublishHundred,
    /// A thousand concurrent commands.
    SendThousandAtOnce,
    /// A thousand concurrent events.
    PublishThousandAtOnce,
    /// Registering one handler by hand.
    RegisterByHand,
    /// Registering one discovered handler.
    RegisterFound,
    /// Finding the handler of a request.
    Resolve,
    /// A handler called directly, which succeeds.
    DirectSuccess,
    /// A panic-safe handler, which succeeds.
    SafeSuccess,
    /// The same, which fails.
    SafeError,
}

/// Encoding or decoding a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CodecWork {
    /// Binary, into a new buffer.
    BinaryEncode,
    /// Binary, into an existing buffer.
    BinaryEncodeBuffered,
    /// Binary, decoding.
    BinaryDecode,
    /// Binary, encoding and decoding.
    BinaryRoundTrip,
    /// JSON, into a new buffer.
    JsonEncode,
    /// JSON, into an existing buffer.
    JsonEncodeBuffered,
    /// JSON, decoding.
    JsonDecode,
    /// JSON, encoding and decoding.
    JsonRoundTrip,
}

/// Generating 64-bit ids that are unique across processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum IdWork {
    /// One id at a time on one thread, with a layout of 2,048 ids per millisecond.
    Next,
    /// One id at a time on one thread, with a layout whose rate is not the limit.
    NextWide,
    /// A batch of this many, with a layout of 2,048 ids per millisecond.
    Batch(u64),
}

/// Start, end and shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LifecycleWork {
    /// Beginning an operation.
    Begin,
    /// Registering a component.
    Register,
    /// Restarting a failed component.
    Recover,
    /// Shutting down during an operation of 10 ms.
    Shutdown10Ms,
    /// Shutting down during an operation of 100 ms.
    Shutdown100Ms,
}

/// Flows of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FlowWork {
    /// A flow of three steps in memory.
    ThreeSteps,
    /// Beginning and ending the record of a flow.
    Record,
    /// Recording a step.
    RecordStep,
    /// Recording variables with generated code.
    RecordVariables,
    /// Printing a record.
    DrawRecord,
}

/// Messages through a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QueueWork {
    /// 1 KiB in memory, publishing.
    MemoryIn,
    /// 1 KiB in memory, receiving.
    MemoryOut,
    /// 4 KiB of repetitive text, compressed with gzip, publishing.
    CompressedIn,
    /// 1 KiB of noise, encrypted with AES-128, publishing.
    EncryptedIn,
    /// 512 bytes in memory, one at a time.
    Single,
    /// 512 bytes in memory, a hundred at a time.
    Batch,
    /// Keeping 2 KiB over copying them.
    KeepOverCopy,
    /// 2 KiB of text, compressed and encrypted, publishing.
    SealedIn,
    /// 2 KiB of text, compressed and encrypted, receiving.
    SealedOut,
    /// 1 KiB on disk at `buffered`, publishing.
    BufferedIn,
    /// 1 KiB on disk at `buffered`, receiving.
    BufferedOut,
    /// 1 KiB on disk, each confirmed when durable, many outstanding.
    SyncedMany,
    /// 1 KiB on disk, each confirmed when durable before the next is sent.
    SyncedOne,
}

/// Files of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DepotWork {
    /// Writing 100 KiB on one thread.
    Write100K,
    /// Writing 1 MiB on one thread.
    Write1M,
    /// Writing 10 MiB on one thread.
    Write10M,
    /// Writing this many files of 1 MiB at once.
    LargeAtOnce(u64),
    /// Writing this many files of 4 KiB at once.
    SmallAtOnce(u64),
    /// Ten files written at once, and then read at once.
    WriteThenRead,
    /// Ten writes and ten reads at once.
    Mixed,
    /// Asking whether a quota has room.
    QuotaCheck,
    /// Taking room in a quota.
    QuotaUp,
    /// Giving room back.
    QuotaDown,
    /// Reading how much is in use.
    QuotaRead,
    /// Setting the limit of a directory.
    QuotaSet,
    /// Finding the record of a file.
    MetadataHit,
    /// Not finding one.
    MetadataMiss,
    /// Claiming one of 100 waiting files.
    ClaimNext,
    /// Creating a tenant.
    TenantCreate,
    /// Creating a tenant with its first use.
    TenantFirstUse,
    /// Finding a tenant.
    TenantHit,
    /// Asking whether a tenant is enabled.
    TenantEnabled,
    /// Not finding a tenant.
    TenantMiss,
    /// Enabling a tenant.
    TenantEnable,
    /// Disabling a tenant.
    TenantDisable,
    /// Asking whether a volume is well.
    VolumeHealth,
    /// Asking for the free space of a volume.
    VolumeFree,
    /// Asking for the size of a volume.
    VolumeTotal,
    /// Opening a pool of 20,000 active files.
    ColdStart,
}
