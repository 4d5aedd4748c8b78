//! Every setting of a venue.

use super::setting::{Kind, Setting};
use std::time::Duration;

/// The sections of the file with a description, in the order in which they are printed.
pub const SECTIONS: &[(&str, &str)] = &[
    ("venue", "The venue as a whole."),
    ("engine", "Sequencing, journal, event log and snapshots."),
    (
        "journal",
        "How journal, event log, snapshots and the flows of withdrawals are stored. What is \
         changed here counts for what is written from the next start on.",
    ),
    (
        "limits",
        "How much the venue can hold. These count when the data directory is made and stay with \
         it: to change them later, a new venue has to be begun.",
    ),
    (
        "storage",
        "Refusals when the disk fills up, so that cancels, withdrawals and operators keep the \
         rest of it (docs/configuration.md).",
    ),
    ("feed", "The read model that answers queries and streams."),
    ("desk", "The desk, through which all requests of members and operators pass."),
    ("gateway", "HTTP and WebSocket, and the limits of keys and addresses."),
    ("withdrawals", "Withdrawals, which the operator decides about."),
    ("queue", "Topics over HTTP (docs/queue.md)."),
    ("depot", "Files of tenants over HTTP (docs/depot-http.md)."),
    ("statements", "Statements of accounts, made daily (docs/statements.md)."),
    #[cfg(feature = "s3")]
    ("s3", "The depot over S3, with times and rates of [gateway] (docs/s3.md)."),
    ("order_files", "Files of orders that members drop into the depot (docs/order-files.md)."),
    ("recorder", "Records of requests that change something; `rialto flow` shows them."),
    ("stream", "The WebSocket stream: bounds of each connection, and of all."),
    ("logging", "Log lines on standard error."),
];

/// A whole number: its section and key, its range, its field and its meaning.
macro_rules! number {
    ($section:literal, $key:literal, $min:expr, $max:expr, $unit:literal,
     $($field:tt).+ as $type:ty, $meaning:expr) => {
        Setting {
            section: $section,
            key: $key,
            meaning: $meaning,
            kind: Kind::Number {
                min: $min,
                max: $max,
                unit: $unit,
                get: |config| config.$($field).+ as u64,
                // Every range here is within its field's type.
                set: |config, value| config.$($field).+ = value as $type,
            },
        }
    };
}

/// A length of time in seconds.
macro_rules! seconds {
    ($section:literal, $key:literal, $min:expr, $max:expr, $($field:tt).+, $meaning:expr) => {
        Setting {
            section: $section,
            key: $key,
            meaning: $meaning,
            kind: Kind::Number {
                min: $min,
                max: $max,
                unit: "seconds",
                get: |config| config.$($field).+.as_secs(),
                set: |config, value| config.$($field).+ = Duration::from_secs(value),
            },
        }
    };
}

/// A length of time in milliseconds.
macro_rules! millis {
    ($section:literal, $key:literal, $min:expr, $max:expr, $($field:tt).+, $meaning:expr) => {
        Setting {
            section: $section,
            key: $key,
            meaning: $meaning,
            kind: Kind::Number {
                min: $min,
                max: $max,
                unit: "milliseconds",
                get: |config| config.$($field).+.as_millis() as u64,
                set: |config, value| config.$($field).+ = Duration::from_millis(value),
            },
        }
    };
}

/// Any other kind of value.
macro_rules! other {
    ($section:literal, $key:literal, $kind:ident, $($field:tt).+, $meaning:expr) => {
        Setting {
            section: $section,
            key: $key,
            meaning: $meaning,
            kind: Kind::$kind {
                get: |config| config.$($field).+.clone(),
                set: |config, value| config.$($field).+ = value,
            },
        }
    };
}

/// All settings, as they are read, checked and printed. A table, not code: two or three lines for
/// each entry are easier to read than one for each argument.
#[rustfmt::skip]
pub const SETTINGS: &[Setting] = &[
    other!("venue", "data_dir", Path, engine.data_dir,
        "The data directory: journal, event log, snapshots, and the sealed API keys. It is created \
         if it does not exist. Only one process at a time can use it."),
    millis!("venue", "drain_ms", 100, 3_600_000, drain,
        "How long a shutdown (SIGTERM or SIGINT) may take: at most half of it to answer the \
         requests in flight, and the rest to close connections, to confirm the journal and to make \
         a last snapshot. What was acknowledged is on disk in any case; a snapshot only makes the \
         next start quicker."),
    other!("engine", "level", Level, engine.level,
        "The durability that an acknowledgement confirms. memory: the command was applied, and is \
         lost with the process. buffered: it was written, survives the end of the process, and a \
         power failure may lose the last flush_every_ms. synced: the disk has confirmed it and all \
         earlier commands. A request may ask for a higher level, not for a lower one."),
    number!("engine", "engine_id", 1, 65_535, "", engine.engine.0 as u16,
        "The engine's number, the high bits of its order and trade ids. It is fixed for the life \
         of a data directory."),
    number!("engine", "group_bytes_max", 262_144, 1_048_576, "bytes",
        engine.group_bytes_max as usize,
        "The most bytes of one write to the journal or the event log."),
    millis!("engine", "flush_every_ms", 1, 60_000, engine.flush_every,
        "The interval of flushes under buffered: a power failure loses at most this much time."),
    millis!("engine", "io_stalled_after_ms", 10, 600_000, engine.io_stalled_after,
        "How long the disk may take for one write or sync of the journal or the event log before \
         the venue is stalled: it is not ready, answers commands with `busy`, and releases nothing \
         until the disk responds."),
    millis!("engine", "io_failed_after_ms", 10, 3_600_000, engine.io_failed_after,
        "How long such a write or sync may take before the process ends with exit code 4; not less \
         than io_stalled_after_ms."),
    millis!("engine", "clock_step_max_ms", 1, 86_400_000, engine.clock_step_max,
        "The largest step of the wall clock, in either direction, that the venue follows. Commands \
         are stamped with the monotonic clock from its last agreement with the wall clock; a \
         larger step is logged and not followed until `rialto admin clock accept`."),
    number!("engine", "segment_bytes", 4_194_304, 1_073_741_824, "bytes",
        engine.segment_bytes as u64,
        "The length of the files of the journal and the event log. Each is written full of zeros \
         before it is used."),
    number!("storage", "entry_free_bytes_min", 0, 1_152_921_504_606_846_976, "bytes",
        storage.entry_bytes as u64,
        "With fewer free bytes on the disk of the data directory, orders and amendments are \
         refused (`storage_low`), until there are a twentieth more. Less than four \
         engine.segment_bytes counts as that; 0 refuses none."),
    number!("storage", "topics_free_bytes_min", 0, 1_152_921_504_606_846_976, "bytes",
        storage.topics_bytes as u64,
        "With fewer free bytes, messages and topics are also refused, and requests are recorded in \
         memory only. Below entry_free_bytes_min it counts as that."),
    number!("storage", "reserve_segments", 0, 16, "", engine.reserve_segments as usize,
        "How many files are allocated in advance for each of the journal, the event log and the \
         flows of withdrawals, so that the venue continues when other processes have filled the \
         disk."),
    number!("engine", "snapshot_every", 1_000, 10_000_000_000, "commands",
        engine.snapshot_every as u64,
        "A snapshot is made in the background each time this many commands were journaled. It \
         bounds the work of a restart."),
    number!("engine", "snapshots_kept", 1, 1_000, "", engine.snapshots_kept as usize,
        "How many snapshots are kept."),
    number!("engine", "producer_capacity", 1, 1_048_576, "commands",
        engine.producer_capacity as usize,
        "How many commands may be in flight on one lane into the engine (gateway.lanes is the \
         number of lanes); one more is answered `busy`."),
    number!("engine", "background_share", 1, 90, "percent", engine.background_share as u8,
        "The share of the sequencer's time for background work while commands wait: mass cancels, \
         the cancels of withdrawn or restricted instruments and of restricted members, expiry, \
         uncrossings, exits and triggered orders. While none wait, background work gets all of \
         it."),
    number!("engine", "spins", 0, 1_000_000, "", engine.wait.spins as u32,
        "How often a thread of the engine polls for work before it sleeps. More trades processor \
         time for latency, and helps only where every such thread has a core of its own."),
    number!("engine", "event_ring_blocks", 2, 65_536, "groups", engine.event_ring_blocks as usize,
        "How many groups of events are kept in memory for readers that keep up; the others read \
         the event log."),
    Setting {
        section: "journal",
        key: "compression",
        meaning: "How journal and event log are compressed, group by group; a group that would not \
                  save 4 KiB is stored as it is. A number after zstd or gzip is the level, as in \
                  \"zstd:9\"; without it, it is 3 and 6.",
        kind: Kind::Word {
            words: "\"none\", \"lz4\", \"zstd\", \"gzip\"",
            get: |config| config.engine.sealing.compression.to_string(),
            set: |config, word| {
                config.engine.sealing.compression = word.parse()?;
                Ok(())
            },
        },
    },
    Setting {
        section: "journal",
        key: "encryption",
        meaning: "The cipher of journal, event log, snapshots and flows. The key is the current \
                  one of keys_file, of --log-keys or of RIALTO_LOG_KEYS. The recorder then stores \
                  nothing.",
        kind: Kind::Word {
            words: "\"none\", \"aes-128-gcm\", \"aes-256-gcm\", \"chacha20-poly1305\"",
            get: |config| {
                let cipher = config.engine.sealing.encryption;
                cipher.map_or("none", rialto_engine::Cipher::name).to_string()
            },
            set: |config, word| {
                config.engine.sealing.encryption = match word {
                    "none" => None,
                    cipher => Some(cipher.parse()?),
                };
                Ok(())
            },
        },
    },
    other!("journal", "keys_file", OptionalPath, keys_file,
        "The file with the keys, readable by its owner only: lines `id: 64 hexadecimal digits`, \
         and a line `current: id` if there are several. It must hold every key under which stored \
         data is encrypted."),
    number!("limits", "members_max", 1, 1_048_575, "", engine.limits.members_max as u32,
        "Members."),
    number!("limits", "accounts_max", 1, 1_048_575, "", engine.limits.accounts_max as u32,
        "Accounts."),
    number!("limits", "currencies_max", 1, 65_535, "", engine.limits.currencies_max as u32,
        "Currencies."),
    number!("limits", "instruments_max", 1, 65_535, "", engine.limits.instruments_max as u32,
        "Instruments."),
    number!("limits", "orders_max", 1, 1_073_741_824, "", engine.limits.orders_max as u32,
        "Open orders, over all instruments."),
    number!("limits", "transfers_max", 1, 67_108_864, "", engine.limits.transfers_max as u32,
        "Withdrawals that have ended and are remembered by their references, so that none takes \
         effect twice, over all accounts; the account that has most loses its oldest. Under rules \
         version 1: deposits and withdrawals, and the oldest of all is forgotten."),
    number!("limits", "account_transfers_max", 1, 65_536, "",
        engine.limits.account_transfers_max as u32,
        "Withdrawals of one account that have ended and are remembered by their references; the \
         oldest is forgotten."),
    number!("limits", "deposits_max", 1, 67_108_864, "", engine.limits.deposits_max as u32,
        "Deposits of the last 30 days, which are remembered by their references; another is \
         refused (`venue_full`)."),
    number!("limits", "withdrawals_max", 1, 65_536, "", engine.limits.withdrawals_max as u32,
        "Withdrawals that are held, over all accounts."),
    number!("limits", "account_withdrawals_max", 1, 65_536, "",
        engine.limits.account_withdrawals_max as u32,
        "Withdrawals of one account that are held."),
    number!("limits", "client_ids_max", 1, 65_536, "", engine.limits.client_ids_max as u32,
        "Orders of one account that are remembered by their client order ids, beside the \
         open ones; the oldest is forgotten."),
    number!("limits", "client_ids_total_max", 1, 67_108_864, "",
        engine.limits.client_ids_total_max as u32,
        "The same over all accounts; the account that has most loses its oldest."),
    number!("limits", "pending_cancels_max", 1, 65_536, "",
        engine.limits.pending_cancels_max as u32,
        "Mass cancels that may be going on at once under rules version 1. Since version 2 each \
         account has room for its own."),
    number!("feed", "trades_per_instrument", 1, 1_000_000, "",
        live.feed.trades_per_instrument as usize,
        "Last trades remembered for each instrument."),
    number!("feed", "fills_per_account", 1, 1_000_000, "", live.feed.fills_per_account as usize,
        "Last fills remembered for each account."),
    number!("feed", "fills_total", 1, 100_000_000, "", live.feed.fills_total as usize,
        "Fills remembered over all accounts; about 160 bytes each."),
    number!("feed", "ended_orders", 1, 100_000_000, "", live.feed.ended_orders as usize,
        "Orders that ended and are still remembered, over all accounts; about 400 bytes each. \
         Beyond it the account that has most loses its oldest."),
    number!("feed", "history", 65_536, 1_000_000_000, "commands", live.history as u64,
        "How many commands before the end of the journal the feed reads again at a start, so that \
         fills and ended orders survive a restart."),
    number!("feed", "backfill", 0, 1_000_000_000, "commands", live.backfill as u64,
        "Commands before feed.history whose trades of the last 24 hours are read again for \
         tickers, last trades and fills."),
    number!("feed", "replay", 0, 1_000_000_000, "commands", live.replay as u64,
        "How many commands a private stream may be resumed behind the present; further back is \
         `too_far_back`."),
    number!("feed", "lag_max", 1, 1_000_000_000, "commands", feed_lag_max as u64,
        "How many commands the feed may be behind the engine; when it is further behind, the venue \
         is not ready (`/v1/ready`) until it is down to half of this."),
    number!("desk", "member_order_rate", 0, 10_000_000, "orders per second",
        member_order_rate as u32,
        "Orders and amendments of one member, over all its keys, rows of batches and of order files \
         included. One more is refused (`order_rate`), or waits if it is of a file. As many may come \
         at once after a pause. Cancels are exempt; 0 is no limit."),
    other!("gateway", "listen", Address, gateway.listen,
        "Where to listen for HTTP and WebSocket. Port 0 lets the system choose."),
    other!("gateway", "allow_remote", Switch, gateway.allow_remote,
        "Whether an address other than the loopback is allowed. There is no TLS yet: others on the \
         network can read requests and answers, but cannot alter or repeat signed requests."),
    other!("gateway", "operations_listen", OptionalAddress, gateway.operations_listen,
        "A second address for probes and operators (/v1/live, /v1/ready, /v1/health, /metrics and \
         /v1/admin), with its own thread and connections, so that load on `listen` does not delay \
         them. `listen` answers them as well."),
    number!("gateway", "operations_connections_max", 1, 10_000, "",
        gateway.operations_connections_max as usize,
        "Connections at a time on operations_listen; one more is refused with \
         `too_many_connections`."),
    number!("gateway", "worker_threads", 1, 1_024, "", gateway.worker_threads as usize,
        "Threads for order entry, amendments, cancels and operators."),
    number!("gateway", "shared_threads", 1, 1_024, "", gateway.shared_threads as usize,
        "Threads for streams, queues and queries."),
    number!("gateway", "shared_nice", 0, 19, "", gateway.shared_nice as u8,
        "The nice value, on Linux, of the shared threads, of the feed's thread, and of the threads of \
         the depot and of S3, so that orders come first when the processors are busy."),
    number!("gateway", "lanes", 1, 64, "", gateway.lanes as usize,
        "Lanes into the engine; each has its own bound on commands in flight."),
    number!("gateway", "worker", 0, 1_023, "", gateway.worker as u16,
        "The worker number in the ids of this venue's requests (`x-request-id`); give each venue \
         its own."),
    number!("gateway", "connections_max", 1, 1_000_000, "", gateway.connections_max as usize,
        "Connections at a time, streams included; one more is refused with `too_many_connections` \
         and closed. Each needs a descriptor, and the start is refused if there are too few."),
    number!("gateway", "address_connections_max", 1, 1_000_000, "",
        gateway.address_connections_max as usize,
        "Connections of one address (the /64 of an IPv6 address) on which no request has been \
         signed yet; one more is refused with `too_many_connections`."),
    number!("gateway", "key_connections_max", 1, 1_000_000, "",
        gateway.key_connections_max as usize,
        "Connections of one key: a connection belongs to the key of its first signed request. A \
         request that would be the first on one more is `too_many_connections`."),
    number!("gateway", "send_buffer_bytes", 0, 16_777_216, "bytes",
        gateway.send_buffer_bytes as usize,
        "The send buffer of one connection (SO_SNDBUF): answers and messages that its client has \
         not received yet. Linux doubles it, to count its own bookkeeping, and bounds it by \
         net.core.wmem_max. A client far away receives about this much in each round trip. 0 \
         leaves it to the system, which may buffer some megabytes for each stream whose client \
         does not read."),
    other!("gateway", "trusted_proxies", Networks, gateway.trusted_proxies,
        "Trusted proxies, which name the client of a connection or a request: with the PROXY \
         protocol (version 1 or 2), or the header Forwarded (RFC 7239), to which they must append \
         the client. Their own connections are bounded by connections_max alone."),
    number!("gateway", "body_bytes_max", 1_024, 16_777_216, "bytes",
        gateway.body_bytes_max as usize,
        "The longest request body; a longer one is `body_too_large`."),
    number!("gateway", "queue_body_bytes_max", 1_024, 16_777_216, "bytes",
        gateway.queue_body_bytes_max as usize,
        "The longest body of messages that are published on a topic."),
    number!("gateway", "bodies_bytes_max", 1_048_576, 1_099_511_627_776, "bytes",
        gateway.bodies_bytes_max as usize,
        "Memory for the bodies of all requests in progress; one more is `busy`. It is freed when a \
         request has been answered."),
    number!("gateway", "bodies_reserve_bytes", 0, 1_099_511_627_776, "bytes",
        gateway.bodies_reserve_bytes as usize,
        "The part of bodies_bytes_max for bodies of up to 64 KiB whose request heads are signed. \
         Half of the rest is for authenticated senders."),
    number!("gateway", "key_bodies_bytes_max", 65_536, 1_099_511_627_776, "bytes",
        gateway.key_bodies_bytes_max as usize,
        "The part of bodies_bytes_max for the requests of one key; one more is `too_many_bodies`."),
    number!("gateway", "address_bodies_bytes_max", 65_536, 1_099_511_627_776, "bytes",
        gateway.address_bodies_bytes_max as usize,
        "The part of bodies_bytes_max for the requests of one remote address (of IPv6, of one /64) \
         until their senders are authenticated; one more is `too_many_bodies`."),
    number!("gateway", "batch_rows_max", 1, 1_000, "rows", gateway.batch_rows_max as usize,
        "Most rows of one batch; more are `batch_size`."),
    number!("gateway", "depth_max", 1, 100_000, "", gateway.depth_max as usize,
        "Most price levels, or orders, of each side in one book."),
    number!("gateway", "page_max", 1, 100_000, "", gateway.page_max as usize,
        "Most entries of one page."),
    millis!("gateway", "head_timeout_ms", 100, 3_600_000, gateway.head_timeout,
        "How long a connection may take to send a request's head, and so how long it may idle."),
    millis!("gateway", "body_timeout_ms", 100, 3_600_000, gateway.body_timeout,
        "How long a connection may take to send a request's body; then `body_timeout`."),
    millis!("gateway", "answer_timeout_ms", 100, 3_600_000, gateway.answer_timeout,
        "How long a client may take for each 64 KiB of an answer, and for the rest of it; a slower \
         one is disconnected."),
    millis!("gateway", "signature_window_ms", 100, 60_000, gateway.signature_window,
        "How far a request's timestamp may be behind the venue's clock. It may be a second ahead."),
    number!("gateway", "signatures_max", 1_000, 100_000_000, "", gateway.signatures_max as usize,
        "Signatures remembered at a time, so that none is accepted twice. When this many have come \
         within two windows and two seconds, further signed requests are `busy`."),
    number!("gateway", "journal_bytes_per_key_per_day", 0, 1_000_000_000_000, "bytes",
        gateway.journal_bytes_per_key_per_day as u64,
        "How many bytes of records one key may add to the journal in a day by entering and \
         changing orders; one more is `journal_quota`. All of it may be used at once, and refills \
         evenly. Cancels and operators are exempt; 0 is no quota."),
    number!("gateway", "key_rate", 1, 10_000_000, "requests per second", gateway.key_rate as u32,
        "Requests of one key; above it `rate_limited`."),
    number!("gateway", "key_burst", 1, 10_000_000, "requests", gateway.key_burst as u32,
        "Requests that a key may make at once after a pause."),
    number!("gateway", "address_rate", 1, 10_000_000, "requests per second",
        gateway.address_rate as u32,
        "Requests of one remote address that carry no valid signature."),
    number!("gateway", "address_burst", 1, 10_000_000, "requests", gateway.address_burst as u32,
        "Requests without a valid signature that an address may make at once after a pause."),
    number!("gateway", "addresses_max", 1, 1_000_000, "", gateway.addresses_max as usize,
        "Remote addresses with their own allowance; all further ones share one."),
    millis!("gateway", "min_seq_wait_ms", 0, 60_000, gateway.min_seq_wait,
        "How long a request with `min_seq` waits for that sequence to become visible."),
    other!("gateway", "backup_dir", OptionalPath, gateway.backup_dir,
        "The directory in which `rialto backup NAME` creates a new directory NAME. It is created \
         if it does not exist. Empty refuses backups."),
    seconds!("withdrawals", "expires_after_s", 1, 31_536_000, withdrawals.expires_after,
        "How long a withdrawal may wait for a decision before its amount is released. A change \
         applies to new withdrawals."),
    number!("withdrawals", "ended_max", 1, 1_000_000, "", withdrawals.ended_max as usize,
        "Ended withdrawals that are still shown, and known by their references, for at most 90 \
         days; the oldest is forgotten. About 1 KB each."),
    other!("queue", "enabled", Switch, queue_enabled,
        "Whether the venue has topics, in the directory queue of the data directory. They cost \
         four threads; each priority of a topic that is being written takes at most 4 MiB of disk \
         and four times the bytes written to it."),
    number!("queue", "buffers_bytes", 0, 1_099_511_627_776, "bytes", queue_buffers_bytes as usize,
        "Memory for messages that is allocated when the venue starts and then kept. Bursts on \
         topics at the level memory are several times as fast as with memory allocated during the \
         burst; the start takes up to seconds longer for each gigabyte."),
    number!("queue", "topic_bytes_max", 0, 1_125_899_906_842_624, "bytes",
        gateway.queue.topic_bytes_max as u64,
        "The bytes_max, for each priority, of a topic that is created over HTTP without one: a \
         stream then drops its oldest messages, a work queue is full. It also bounds the dead \
         letters of a topic without a bound, such as venue.events. 0 for no bound."),
    number!("queue", "grant_topics_max", 1, 10_000, "topics",
        gateway.queue.grant_topics_max as u32,
        "The most topics with names in a key's grant, checked when the key creates a topic; the \
         grant may set its own. Above it grant_topics (503). Operators are exempt."),
    number!("queue", "grant_groups_max", 1, 1_000_000, "groups",
        gateway.queue.grant_groups_max as u32,
        "The most groups of all topics in a key's grant, checked when the key creates a group; the \
         grant may set its own. Above it grant_groups (503). Operators are exempt."),
    number!("queue", "grant_bytes_max", 1_048_576, 1_125_899_906_842_624, "bytes",
        gateway.queue.grant_bytes_max as u64,
        "The most bytes of all topics in a key's grant, dead letters included, checked when the \
         key publishes; the grant may set its own. Above it grant_full (503). Operators are \
         exempt."),
    number!("queue", "descriptors_max", 64, 1_048_576, "descriptors",
        queue_descriptors_max as usize,
        "How many descriptors the queue keeps open, over all topics. When the topics in use need \
         more, some close their files in turn, which costs each about a millisecond."),
    number!("queue", "spare_bytes", 0, 1_099_511_627_776, "bytes", queue_spare_bytes as u64,
        "The bytes of files dropped by retention that topics at the level synced reuse for their \
         next files: the disk then writes half as much. The space is used until the disk is full \
         or the venue stops, and old contents stay in a file until it is overwritten \
         (docs/log.md). 0 keeps none."),
    other!("depot", "enabled", Switch, depot.enabled,
        "Whether the venue has a pool of files. Its durability is that of the engine when the pool is \
         made."),
    other!("depot", "dir", OptionalPath, depot.dir,
        "The directory of the pool. Empty for the directory depot of the data directory."),
    number!("depot", "upload_bytes_max", 1, 1_125_899_906_842_624, "bytes",
        depot.upload_bytes_max as u64,
        "The longest file; a longer one gets file_too_large (413)."),
    number!("depot", "inline_bytes_max", 0, 524_288, "bytes", depot.inline_bytes_max as usize,
        "Files for workers of at most this length are stored in their messages, and not on a volume."),
    millis!("depot", "claim_duration_ms", 100, 86_400_000, depot.claim_duration,
        "How long a claim lasts, unless the worker says otherwise."),
    number!("depot", "attempts_max", 0, 65_535, "", depot.attempts_max as u16,
        "How often a file is claimed before it becomes a dead letter; 0 for no limit. A change applies \
         to new tenants."),
    number!("depot", "free_bytes_min", 0, 1_125_899_906_842_624, "bytes",
        depot.free_bytes_min as u64,
        "A volume with fewer free bytes takes no new files."),
    number!("depot", "unsynced_bytes", 1_048_576, 1_099_511_627_776, "bytes",
        depot.unsynced_bytes as u64,
        "The most bytes of all volumes together that are written and not durable; one volume may have \
         a quarter of them. Beyond, a writer makes its bytes durable before it goes on."),
    number!("depot", "bucket_bytes", 8_388_608, 1_099_511_627_776, "bytes",
        depot.bucket_bytes as u64,
        "The most bytes that uploads to buckets hold in memory, 8 MiB for each of 1 MiB or more. Beyond, \
         the file goes to a directory, or gets too_many_uploads (503). A key has key_uploads_max."),
    number!("depot", "bytes_per_second", 0, 1_099_511_627_776, "bytes per second",
        depot.rates.bytes_per_second as u64,
        "The most bytes that all tenants store in a second; 0 for no limit. A writer ahead of it waits, \
         and gets rate_reached (503) if it would wait longer than rate_wait_ms."),
    number!("depot", "tenant_bytes_per_second", 0, 1_099_511_627_776, "bytes per second",
        depot.rates.tenant_bytes_per_second as u64,
        "The most bytes that one tenant stores in a second; 0 for no limit."),
    millis!("depot", "rate_wait_ms", 0, 60_000, depot.rates.wait_max,
        "The longest wait for a piece of a content when these rates are reached. An upload that waits \
         holds its thread, of which there are uploads_max."),
    number!("depot", "uploads_max", 1, 512, "", gateway.depot.uploads_max as usize,
        "Uploads at a time; one more gets too_many_uploads (503). Each takes a thread and about 2 MiB \
         of memory, or up to 12 MiB if its volume is a bucket."),
    number!("depot", "key_uploads_max", 1, 512, "", gateway.depot.key_uploads_max as usize,
        "Uploads of one key at a time; one more gets too_many_uploads (503)."),
    number!("depot", "upload_rate_min", 1, 1_073_741_824, "bytes per second",
        gateway.depot.upload_rate_min as u64,
        "The fewest bytes per second of an upload, over gateway.body_timeout_ms; a slower one gets \
         upload_too_slow (408)."),
    number!("depot", "downloads_max", 1, 65_536, "", gateway.depot.downloads_max as usize,
        "Downloads at a time; one more gets too_many_downloads (503). Each takes about 2 MiB of \
         memory."),
    number!("depot", "key_downloads_max", 1, 65_536, "",
        gateway.depot.key_downloads_max as usize,
        "Downloads of one key at a time; one more gets too_many_downloads (503)."),
    number!("depot", "grant_tenants_max", 0, 65_536, "tenants",
        gateway.depot.grant_tenants_max as usize,
        "The most tenants with names in a key's grant, checked when the first file of a tenant would \
         create it. Above it grant_tenants (503). Operators are exempt."),
    other!("depot", "watch_roots", Paths, gateway.depot.watch_roots,
        "The directories of this machine below which operators may watch folders over HTTP, links \
         resolved. Without any, none is watched so."),
    number!("depot", "descriptors_max", 64, 1_048_576, "descriptors",
        depot.descriptors_max as usize,
        "How many descriptors the work queues of the pool keep open, over all tenants."),
    other!("statements", "enabled", Switch, statements.enabled,
        "Whether statements are made, and put into the outbox of each member: the shelf out/statements \
         of the tenant member-NUMBER. It needs depot.enabled."),
    Setting {
        section: "statements",
        key: "at",
        meaning: "The time of the day in UTC at which they are made. A run that came due while the \
                  venue was down is made at its start.",
        kind: Kind::Word {
            words: "a time of the day such as \"00:05\" or \"17:30\", in UTC",
            get: |config| config.statements.at.to_string(),
            set: |config, text| {
                config.statements.at = text.parse().map_err(|error| format!("{error}"))?;
                Ok(())
            },
        },
    },
    #[cfg(feature = "s3")]
    other!("s3", "enabled", Switch, s3.enabled,
        "Whether the depot is served over S3. It needs depot.enabled."),
    #[cfg(feature = "s3")]
    other!("s3", "listen", Address, s3.options.listen,
        "The address for S3. It is HTTP: a proxy may add TLS. Another address than a loopback one \
         needs gateway.allow_remote."),
    #[cfg(feature = "s3")]
    number!("s3", "worker_threads", 1, 64, "threads", s3.options.worker_threads as usize,
        "Threads that serve S3 connections."),
    #[cfg(feature = "s3")]
    number!("s3", "connections_max", 1, 65_536, "connections",
        s3.options.connections_max as usize,
        "The most S3 connections; one more is closed at once."),
    #[cfg(feature = "s3")]
    number!("s3", "address_connections_max", 1, 65_536, "connections",
        s3.options.address_connections_max as usize,
        "The most S3 connections of one address; one more is closed at once."),
    #[cfg(feature = "s3")]
    number!("s3", "key_requests_max", 1, 65_536, "requests",
        s3.options.key_requests_max as usize,
        "The most S3 requests of one key at a time; one more gets SlowDown (503)."),
    #[cfg(feature = "s3")]
    number!("s3", "key_open_uploads_max", 1, 1_000, "uploads",
        s3.options.key_open_uploads_max as usize,
        "The most multipart uploads of one key to a bucket that are neither completed nor aborted; \
         one more gets SlowDown (503)."),
    #[cfg(feature = "s3")]
    seconds!("s3", "upload_life_s", 60, 31_536_000, s3.options.upload_life,
        "How long a multipart upload may take. Then its parts are deleted."),
    other!("order_files", "enabled", Switch, order_files.enabled,
        "Whether members enter orders by files. It needs depot.enabled."),
    number!("order_files", "file_bytes_max", 1, 268_435_456, "bytes",
        order_files.limits.file_bytes_max as u64,
        "The largest file of orders; a larger one is refused. A file in work is in memory, with \
         about 300 bytes for each row."),
    number!("order_files", "rows_max", 1, 200_000, "rows", order_files.limits.rows_max as usize,
        "The most rows of a file; one with more is refused."),
    number!("order_files", "files_max", 1, 64, "files", order_files.limits.files_max as usize,
        "How many files are in work at a time, at most one of a member. Each has a thread."),
    number!("order_files", "orders_per_second", 1, 1_000_000, "orders per second",
        order_files.limits.orders_per_second as u32,
        "How many orders of files are sent in a second, over all files, so that orders of the \
         gateway come through."),
    number!("order_files", "remembered_max", 1, 1_000_000, "files",
        order_files.limits.remembered_max as usize,
        "How many of the last files of a member are remembered by their content. A file with the \
         content of one of them enters nothing, and gets its answer again."),
    number!("recorder", "per_second", 0, 1_000_000, "requests per second",
        recorder.per_second as u32,
        "The most requests recorded in one second, sampled at random, with their nested requests. \
         The default costs next to nothing; 0 records none."),
    other!("recorder", "only_failures", Switch, recorder.only_failures,
        "Whether every request is recorded, and only failed ones are kept, instead of a random \
         sample. It costs each request some microseconds."),
    number!("recorder", "records_max", 16, 1_000_000, "records", recorder.records_max as u32,
        "The most records in memory, each of up to 100 steps and 8 KiB of variables; a new one \
         replaces the oldest."),
    number!("recorder", "bytes_max", 0, 1_099_511_627_776, "bytes", recorder.bytes_max as u64,
        "The most bytes of records in the data directory. They are written a few times a second, \
         in the background; the oldest are removed. Values from 1 to 65_535 count as 65_536. 0 \
         stores none, so that `rialto flow` has nothing to show."),
    number!("stream", "connections_max", 1, 1_000_000, "", gateway.stream.connections_max as usize,
        "Streams at a time; one more is refused with `too_many_streams`."),
    number!("stream", "subscriptions_max", 1, 10_000, "", gateway.stream.subscriptions_max as usize,
        "Subscriptions of one connection; one more is `too_many_subscriptions`."),
    number!("stream", "address_subscriptions_max", 1, 1_000_000, "",
        gateway.stream.address_subscriptions_max as usize,
        "Subscriptions of one address on all its unauthenticated streams; one more is \
         `too_many_subscriptions`."),
    number!("stream", "message_bytes_max", 1_024, 16_777_216, "bytes",
        gateway.stream.message_bytes_max as usize,
        "The longest message from a client; a longer one closes the connection."),
    number!("stream", "message_rate", 1, 1_000_000, "messages per second",
        gateway.stream.message_rate as u32,
        "Messages from one client; above it the connection is closed."),
    number!("stream", "message_burst", 1, 1_000_000, "messages",
        gateway.stream.message_burst as u32,
        "Messages that a client may send at once after a pause."),
    number!("stream", "depth_max", 1, 100_000, "", gateway.stream.depth_max as usize,
        "The most levels of a subscription to the best levels of a book."),
    number!("stream", "queue_messages", 16, 1_000_000, "messages",
        gateway.stream.queue_messages as usize,
        "Messages that may wait for one client, books and tickers aside; when there are more, the \
         connection is closed with the sequence from which it can resume."),
    number!("stream", "queue_bytes", 65_536, 1_073_741_824, "bytes",
        gateway.stream.queue_bytes as usize,
        "The most bytes of messages that may wait for one client."),
    number!("stream", "queue_levels", 16, 1_000_000, "levels", gateway.stream.queue_levels as usize,
        "Changed levels of one book that may wait, merged; when there are more, the whole book is \
         sent anew."),
    millis!("stream", "send_timeout_ms", 100, 3_600_000, gateway.stream.send_timeout,
        "How long sending one message may take; then the connection is closed."),
    millis!("stream", "heartbeat_ms", 100, 3_600_000, gateway.stream.heartbeat,
        "The interval of pings, and of messages with the last complete sequence of each stream."),
    millis!("stream", "idle_timeout_ms", 100, 3_600_000, gateway.stream.idle_timeout,
        "How long a client may send nothing, not even answers to pings; then the connection is \
         closed."),
    number!("stream", "replays_max", 1, 1_000, "", gateway.stream.replays_max as usize,
        "Private streams replayed from the event log at a time; further ones wait."),
    Setting {
        section: "logging",
        key: "level",
        meaning: "The lowest level that is logged. The variable RIALTO_LOG overrides it with a \
                  level, levels of targets, or both, as in \"info,rialto_gateway=debug\".",
        kind: Kind::Word {
            words: crate::logging::WORDS,
            get: |config| crate::logging::word(config.log_level).to_string(),
            set: |config, word| {
                config.log_level = crate::logging::parse(word)?;
                Ok(())
            },
        },
    },
    millis!("logging", "slow_request_ms", 1, 3_600_000, gateway.slow_request,
        "A request that takes at least this long is logged. The time to receive its body counts."),
    Setting {
        section: "logging",
        key: "format",
        meaning: "The format of log lines: text or a JSON object.",
        kind: Kind::Word {
            words: "\"text\", \"json\"",
            get: |config| config.log_format.word().to_string(),
            set: |config, word| {
                config.log_format = word.parse()?;
                Ok(())
            },
        },
    },
];
