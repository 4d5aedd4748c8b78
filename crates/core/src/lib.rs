//! Books, ledger and risk as one pure, deterministic state machine.
//!
//! A [`Core`] is one engine: one collateral pool with its members, accounts, balances, instruments
//! and order books. It knows neither clock, randomness, I/O nor threads: time comes with the
//! command, and the same commands give the same events and the same [`Core::state_hash`] everywhere.
//!
//! ```
//! use rialto_core::{Core, CoreConfig};
//! use rialto_model::{Command, EngineId, MemberId, Outcome, Seq, Timestamp};
//!
//! let mut core = Core::new(CoreConfig::new(EngineId(1)));
//! let mut events = Vec::new();
//! let admit = Command::CreateMember { member: MemberId(0), name: "acme".parse()? };
//! let outcome = core.apply(Seq(1), Timestamp(1_000), &admit, &mut events);
//! assert_eq!(outcome, Outcome::Created { number: 1 });
//! assert_eq!(events.len(), 1);
//! let restored = Core::restore(&core.snapshot(), 0)?;
//! assert_eq!(restored.state_hash(), core.state_hash());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to go next: [`Core::apply`] is the entry point; [`rules`] describes how the venue decides;
//! [`book`] is the order book alone; `docs/formats/snapshot.md` is the form of snapshots.
#![deny(unsafe_code)]

mod accounts;
mod amend;
mod amend_linked;
mod amend_waiting;
mod apply;
mod attribution;
mod auction;
mod auction_orders;
mod background;
pub mod book;
mod by_slot;
mod cancel;
mod client_ids;
mod conditional;
mod contract;
mod exits;
mod expiry;
mod extremes;
mod fees;
mod five_levels;
mod fok;
mod halts;
mod holders;
mod icebergs;
mod instruments;
mod invariants;
mod ledger;
mod limit_state;
mod limits;
mod links;
mod matching;
mod named;
mod open_counts;
mod order_lists;
mod orders;
mod phases;
mod place;
mod prefetch;
mod ranges;
mod references;
mod restrictions;
pub mod rules;
mod self_trade;
mod sink;
mod snapshot;
mod sweep;
mod table;
mod taker;
mod tick;
mod tick_v1;
mod timers;
mod timetable;
mod trailing;
mod transfers;
mod triggering;
mod triggers;
mod view;
mod withdrawals;
mod work;

use crate::accounts::Accounts;
use crate::auction_orders::AuctionLinks;
use crate::background::Background;
use crate::book::Orders;
use crate::client_ids::ClientIds;
use crate::halts::Halting;
use crate::icebergs::{Icebergs, NO_ICEBERG};
use crate::instruments::Market;
use crate::ledger::Ledger;
use crate::links::{LISTS_RESERVED, Lists, NO_LINK, SlotLinks};
use crate::open_counts::OpenCounts;
use crate::orders::OpenOrders;
use crate::references::{Deposits, EndedWithdrawals};
use crate::restrictions::Restrictions;
use crate::table::Hasher;
use crate::taker::Taker;
use crate::timers::Timers;
use crate::timetable::CalendarPlan;
use crate::trailing::WaitingSlots;
use crate::transfers::Transfers;
use crate::withdrawals::Withdrawals;
use crate::work::BackgroundQueue;
use rialto_model::{Currency, EngineId, OrderId, Seq, Timestamp};

pub use accounts::Member;
pub use extremes::Extremes;
pub use invariants::Violation;
pub use ledger::Balance;
pub use limits::{
    ACCOUNTS_PER_ORDER, CALENDARS_MAX, CoreConfig, DEAD_MAN_MAX_NS, EVENTS_BYTES_MAX,
    EVENTS_PER_COMMAND, FOK_DEPTH_MAX, HELD_MAX, LEVEL_QUANTITY_MAX, Limits, MEMBER_ID_MAX,
    ORDERS_PER_COMMAND, SEARCH_STEPS_PER_ORDER, TRANSITIONS_MAX,
};
pub use references::DEPOSIT_KNOWN_NS;
pub use rules::RULES_VERSIONS;
pub use sink::{EventCount, EventSink};
pub use snapshot::{FORMAT_VERSION, SnapshotError, StateHash};
pub use view::{AccountState, CalendarView, EndedOrder, InstrumentView, Links, OrderState};
pub use withdrawals::HeldWithdrawal;

/// One engine's state. All of it changes in [`Core::apply`] and nowhere else.
pub struct Core {
    engine: EngineId,
    rules_version: u32,
    limits: Limits,
    seq: Seq,
    time: Timestamp,
    /// Orders and trades numbered so far.
    order_count: u64,
    trade_count: u64,
    currencies: Vec<Currency>,
    markets: Vec<Market>,
    accounts: Accounts,
    restrictions: Restrictions,
    ledger: Ledger,
    /// The slab that all books share.
    orders: Orders,
    open: OpenOrders,
    open_counts: OpenCounts,
    waiting: WaitingSlots,
    icebergs: Icebergs,
    links: SlotLinks,
    lists: Lists,
    /// How many lists of each account in each instrument are queued.
    queued_counts: OpenCounts,
    /// Expiries by order slot.
    expiries: Timers,
    /// Dead-man timers by account slot.
    dead_men: Timers,
    /// The next transitions by calendar, a halt that goes on, and the ends of calls, halts and limit
    /// states by instrument: see [`timetable::change_item`].
    phase_changes: Timers,
    /// The calendars, in the order in which they became known.
    calendars: Vec<CalendarPlan>,
    /// A halt that has not been made for all its instruments.
    halting: Option<Halting>,
    /// When the first of these timers is due, or zero while a taker is suspended. It is kept because every
    /// command asks for it.
    due: Timestamp,
    /// The lists of the orders that are for an auction only.
    auction_links: AuctionLinks,
    client_ids: ClientIds,
    transfers: Transfers,
    deposits: Deposits,
    ended_withdrawals: EndedWithdrawals,
    withdrawals: Withdrawals,
    /// A taker that was suspended because one command may not match more.
    urgent: Option<Taker>,
    /// Background work under rules version 1.
    works: BackgroundQueue,
    /// Background work since rules version 2.
    background: Background,
}

impl Core {
    /// An empty venue.
    ///
    /// # Panics
    /// If this build does not implement the version of the rules.
    #[must_use]
    pub fn new(config: CoreConfig) -> Core {
        let CoreConfig { engine, rules_version, limits, hash_key } = config;
        assert!(
            RULES_VERSIONS.contains(&rules_version),
            "this build implements rules versions {RULES_VERSIONS:?}, not {rules_version}"
        );
        let hasher = Hasher::new(hash_key);
        let limits = limits.under(rules_version);
        Core {
            engine,
            rules_version,
            limits,
            seq: Seq::ZERO,
            time: Timestamp::ZERO,
            order_count: 0,
            trade_count: 0,
            currencies: Vec::new(),
            markets: Vec::new(),
            accounts: Accounts::new(),
            restrictions: Restrictions::default(),
            ledger: Ledger::new(),
            orders: Orders::with_limit(limits.orders_max as usize),
            open: OpenOrders::new(),
            open_counts: OpenCounts::new(hasher),
            waiting: WaitingSlots::new(),
            icebergs: Icebergs::new(NO_ICEBERG),
            links: SlotLinks::new(NO_LINK),
            lists: Lists::new(),
            queued_counts: OpenCounts::new(hasher),
            expiries: Timers::new(),
            dead_men: Timers::new(),
            phase_changes: Timers::new(),
            calendars: Vec::new(),
            halting: None,
            due: Timestamp::MAX,
            auction_links: AuctionLinks::new(),
            client_ids: ClientIds::new(hasher, &limits),
            transfers: Transfers::new(hasher, limits.transfers_max),
            deposits: Deposits::new(limits.deposits_max),
            ended_withdrawals: EndedWithdrawals::new(hasher, &limits),
            withdrawals: Withdrawals::new(hasher),
            urgent: None,
            works: BackgroundQueue::new(),
            background: Background::new(),
        }
    }

    /// Makes room for `orders` open orders, so that none below that number allocates. It changes no
    /// result.
    pub fn reserve(&mut self, orders: usize) {
        self.orders.reserve(orders);
        self.open.cover(self.orders.slots());
        self.lists.reserve(orders.min(LISTS_RESERVED));
    }

    /// When a [`Tick`](rialto_model::Command::Tick) must come. [`Timestamp::ZERO`]: at once, before
    /// any other command. [`Timestamp::MAX`]: never.
    #[must_use]
    #[inline]
    pub fn next_due(&self) -> Timestamp {
        if self.rules_since(2) { self.due } else { self.expiries.due_first().min(self.due) }
    }

    /// Must follow every change of a timer, and of the suspended taker.
    pub(crate) fn settle_due(&mut self) {
        self.due = match &self.urgent {
            Some(_) => Timestamp::ZERO,
            None => self.dead_men.due_first().min(self.phase_changes.due_first()),
        };
    }

    /// When a tick has background work, which need not come before other commands.
    /// [`Timestamp::ZERO`]: now. [`Timestamp::MAX`]: never.
    #[must_use]
    #[inline]
    pub fn next_background_work(&self) -> Timestamp {
        if !self.works.is_empty() || !self.background.is_empty() {
            return Timestamp::ZERO;
        }
        if self.rules_since(2) { self.expiries.due_first() } else { Timestamp::MAX }
    }

    /// Whether there is background work, so that ticks should be issued between commands.
    #[must_use]
    #[inline]
    pub fn has_background_work(&self) -> bool {
        self.next_background_work() <= self.time
    }

    /// The sequence of the last command.
    #[must_use]
    #[inline]
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// The time of the last command.
    #[must_use]
    #[inline]
    pub fn time(&self) -> Timestamp {
        self.time
    }

    /// The version of the rules that decides the next command.
    #[must_use]
    #[inline]
    pub fn rules_version(&self) -> u32 {
        self.rules_version
    }

    /// The id of this engine.
    #[must_use]
    pub fn engine(&self) -> EngineId {
        self.engine
    }

    /// The bounds of this core.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether the rules in force are of this version or a later one. Every change between versions
    /// is decided by this function: see [`rules`].
    #[inline]
    pub(crate) fn rules_since(&self, version: u32) -> bool {
        self.rules_version >= version
    }

    /// The id that the next order gets.
    #[inline]
    fn following_order_id(&self) -> OrderId {
        OrderId::from_parts(self.engine, self.order_count + 1)
    }

    #[inline]
    fn next_order_id(&mut self) -> OrderId {
        self.order_count += 1;
        OrderId::from_parts(self.engine, self.order_count)
    }
}
