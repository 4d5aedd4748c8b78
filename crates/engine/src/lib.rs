//! The engine: accepts commands from many producers, sequences and journals them, applies them to
//! the core, and releases the results when the durability level allows.
//!
//! ```
//! use rialto_disk::SimDisk;
//! use rialto_engine::{Engine, EngineConfig, Producer};
//! use rialto_model::*;
//! use std::{sync::Arc, time::Duration};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // In production the disk is a `RealDisk`, and the rest of the settings fit as they are.
//! let config = EngineConfig { segment_bytes: 4 << 20, ..EngineConfig::default() };
//! let (engine, recovery) = Engine::start(config, Arc::new(SimDisk::new(1)))?;
//! println!("{recovery}");
//!
//! let mut producer = engine.producer();
//! let second = Duration::from_secs(1);
//! let mut send = |command: Command| -> Result<Outcome, Box<dyn std::error::Error>> {
//!     producer.submit(0, &command, None)?;
//!     Ok(producer.reply_timeout(60 * second).ok_or("no reply")?.outcome()?)
//! };
//!
//! let two = Scale::new(2).ok_or("2 is a scale")?;
//! send(Command::CreateCurrency { code: "BTC".parse()?, scale: two })?;
//! send(Command::CreateCurrency { code: "USD".parse()?, scale: two })?;
//! let whole = Scale::new(0).ok_or("0 is a scale")?;
//! send(Command::CreateInstrument(InstrumentSpec {
//!     symbol: "BTC-USD".parse()?, kind: InstrumentKind::Spot,
//!     base: CurrencyId(1), quote: CurrencyId(2),
//!     price_scale: whole, quantity_scale: two,
//!     rules: TradingRules::unrestrained(),
//! }))?;
//! for (currency, name) in [(1, "buyer"), (2, "seller")] {
//!     let id = MemberId(currency);
//!     send(Command::CreateMember { member: id, name: name.parse()? })?;
//!     let account = AccountId(currency);
//!     send(Command::CreateAccount { account, member: id, name: name.parse()? })?;
//! }
//! for (account, currency) in [(1, 2), (2, 1)] {
//!     send(Command::deposit(Transfer {
//!         account: AccountId(account), currency: CurrencyId(currency),
//!         amount: Amount(10_000_000), reference: "first".parse()?,
//!     }))?;
//! }
//! let order = |account, side| {
//!     let (account, instrument) = (AccountId(account), InstrumentId(1));
//!     Command::Place(NewOrder::limit(account, instrument, side, Quantity(100), Price(60_000)))
//! };
//! send(order(1, Side::Buy))?;
//! send(order(2, Side::Sell))?;
//!
//! // Everything that happened leaves as events.
//! let mut reader = engine.events(Seq(1));
//! let mut trades = Vec::new();
//! while trades.is_empty() {
//!     let batch = reader.next_timeout(60 * second)?.ok_or("no events")?;
//!     for record in batch.iter() {
//!         let (_time, events) = record.decode()?;
//!         for event in events {
//!             if let Event::Trade(trade) = event? {
//!                 trades.push(trade);
//!             }
//!         }
//!     }
//! }
//! assert_eq!((trades[0].price, trades[0].quantity), (Price(60_000), Quantity(100)));
//! println!("{}", engine.shutdown(60 * second));
//! # Ok(())
//! # }
//! ```
//!
//! The implementation: each [`Step`] is a struct with a step that never blocks. Threads drive the
//! steps; with [`Stepped`] the caller drives them, so that simulations control every interleaving.
//! A command is in the journal's buffer before the core sees it. Its reply stays in the producer's
//! ring, and its events in the batch, until the mark of the [`Level`] has passed them.
//! `docs/formats` describes the files; begin with `events.md`.

mod backup;
mod batch;
mod batch_builder;
mod config;
mod engine;
mod events;
mod health;
mod history;
mod ingress;
mod io_watch;
mod journal_writer;
mod lineage;
mod marks;
mod parts;
mod prepare;
mod recovery;
mod replay;
mod sabotage;
mod sequencer;
mod shutdown;
mod signal;
mod snapshot;
mod stamp;
mod state;
mod stats;
mod stepped;
mod storage;
mod threads;
mod time_share;
mod verify;
mod watcher;

pub use backup::{BACKUP_FILE, BackupError};
pub use config::EngineConfig;
pub use engine::Engine;
pub use events::{EventBatch, EventReader, EventRecord, ReadEventsError};
pub use health::{Fault, Health, Stall};
pub use ingress::{
    ATTRIBUTED_MAX, Answer, Execution, NoAnswer, PRODUCERS_MAX, Producer, Replies, Reply,
    Submission, SubmitError, Submitter,
};
pub use lineage::{Ancestor, LineageError};
pub use marks::Marks;
pub use parts::{Sources, Step};
pub use recovery::{RecoveryReport, SkippedSnapshot, StartError};
pub use replay::{At, ReplayError, has_journal, replay_to};
pub use rialto_clock::{Clock, ManualClock, SystemClock};
pub use rialto_core::{Core, OrderState};
pub use rialto_log::{Cipher, Compression, KeyError, KeyRing, Level, Sealing, UnknownLevel};
#[cfg(feature = "sabotage")]
pub use sabotage::Sabotage;
pub use shutdown::ShutdownReport;
pub use signal::{Progress, WaitStrategy};
pub use snapshot::{SnapshotFailed, SnapshotFileError, SnapshotTicket};
pub use stamp::ClockReport;
pub use stats::Stats;
pub use stepped::Stepped;
pub use storage::{Storage, StorageLevel, StorageLimits, StorageReading};
pub use verify::{VerifyError, VerifyReport, verify};
