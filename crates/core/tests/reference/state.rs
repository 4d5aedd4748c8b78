//! Everything that the reference knows.

use super::Alteration;
use super::arithmetic::MILLION;
use super::auction::{Auction, Call, Span};
use super::conditional::Waits;
use super::halt::{AtLimit, Breaker, Halt, Halting};
use super::iceberg::Parts;
use super::linked::List;
use super::postings::Posting;
use super::restriction::Walk;
use super::sweep::{Sweep, Turn};
use super::timetable::Timetable;
use rialto_core::Limits;
use rialto_model::{
    AccountId, Amount, AuctionRules, ClientOrderId, Condition, ContractTerms, Currency, DoneReason,
    EngineId, Event, HaltCause, Handling, Instrument, InstrumentId, MemberId, Name, NewOrder,
    OrderId, OrderList, OrderRef, Outcome, PostOnly, Price, Quantity, RejectReason, Restrict,
    Scale, SelfTrade, Seq, Side, TimeInForce, Timestamp, Transfer,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// An order that was entered with a client order id, and its first answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    pub body: NewOrder,
    /// What it was to wait for.
    pub condition: Option<Condition>,
    /// The most that it was to display.
    pub displays: Option<Quantity>,
    /// The list whose first order it was.
    pub list: Option<OrderList>,
    pub answer: Outcome,
    /// Whether it is among the last ones entered.
    pub in_window: bool,
    /// How it ended, since rules version 2.
    pub finish: Option<Finish>,
}

/// How an order ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finish {
    pub seq: Seq,
    pub time: Timestamp,
    pub reason: Option<DoneReason>,
    pub price: Price,
    pub filled: Quantity,
    pub remaining: Quantity,
}

/// An account of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub member: MemberId,
    pub name: Name,
    pub dead_man: Option<Timestamp>,
    /// How many were opened before it.
    pub opened: usize,
    pub entered: Vec<Entered>,
}

/// A listed instrument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub instrument: Instrument,
    /// The scales of its currencies.
    pub base_scale: Scale,
    pub quote_scale: Scale,
    pub last_price: Option<Price>,
    pub auction_rules: AuctionRules,
    pub terms: ContractTerms,
    pub seed: u64,
    /// How many lengths of calls were drawn from it.
    pub calls: u64,
    pub auction_price: Option<Price>,
    pub call: Option<Call>,
    pub halt: Option<Halt>,
    /// The halt that begins when its auction has ended.
    pub halt_next: Option<(Timestamp, HaltCause)>,
    pub at_limit: Option<AtLimit>,
    /// Empty if it follows no timetable.
    pub calendar: Name,
    pub uncrossing_since: Timestamp,
    /// Whether it is restricted and its orders are still being cancelled.
    pub clearing: bool,
}

/// An accepted order. Its total quantity is always `filled + remaining`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    pub id: OrderId,
    pub account: AccountId,
    pub instrument: InstrumentId,
    pub side: Side,
    pub time_in_force: TimeInForce,
    pub post_only: PostOnly,
    pub self_trade: SelfTrade,
    pub handling: Handling,
    pub expire_at: Timestamp,
    pub client_order_id: ClientOrderId,
    pub price: Price,
    pub filled: Quantity,
    pub remaining: Quantity,
    /// What an order sized in quote currency may still trade for.
    pub quote_left: Option<Amount>,
    /// What a sell sized in quote currency may deliver in all.
    pub deliverable: Option<Quantity>,
    pub maker_fee_ppm: i32,
    pub taker_fee_ppm: i32,
    /// What all its trades owe, in millionths of the smallest unit, and what it was charged, in
    /// whole units. The first rules keep no such account.
    pub fees_owed: i128,
    pub fees_charged: i128,
    /// Of two orders of one price the one with the smaller number stands first.
    pub place: u64,
    /// Whether it is a market order that stands at its protection price.
    pub is_market: bool,
    /// Whether it is for five levels: then it rests at the last price that it traded at.
    pub five_levels: bool,
    /// The last price that it traded at as an incoming order.
    pub traded_at: Option<Price>,
    /// Where it might trade when it arrived.
    pub span: Option<Span>,
    /// What it waits for; it is on no book then.
    pub waits: Option<Waits>,
    /// What an iceberg displays.
    pub parts: Option<Parts>,
    /// What it need not hold, because the order that it is linked to holds it.
    pub covered: i128,
}

impl Order {
    /// Whether its time is over.
    pub fn is_over(&self, time: Timestamp) -> bool {
        self.expire_at > Timestamp::ZERO && self.expire_at <= time
    }

    /// Whether what does not trade at once goes to the book.
    pub fn can_rest(&self) -> bool {
        super::entry::can_rest(self.time_in_force)
    }

    /// Whether nothing is left of an order sized in base currency.
    pub fn is_filled(&self) -> bool {
        self.quote_left.is_none() && self.remaining == Quantity::ZERO
    }

    /// What its trades owe and was not charged, in millionths of the smallest unit.
    pub fn fee_not_charged(&self) -> i128 {
        self.fees_owed - self.fees_charged * MILLION
    }

    /// Drops what was not charged.
    pub fn owe_nothing(&mut self) {
        self.fees_owed = self.fees_charged * MILLION;
    }
}

/// What came of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Deposited,
    Withdrawn,
    Settled,
    Released,
}

/// A transfer that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RememberedTransfer {
    pub ended: Ended,
    pub transfer: Transfer,
}

/// A deposit under rules version 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownDeposit {
    pub transfer: Transfer,
    pub time: Timestamp,
}

/// Cancelling that is not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Orders of an account, by id.
    Account {
        account: AccountId,
        instrument: Option<InstrumentId>,
        side: Option<Side>,
        flagged_only: bool,
        reason: DoneReason,
        /// The last order that was visited.
        after: OrderId,
        /// The last order that had been entered when it began.
        last: OrderId,
    },
    /// All orders of a withdrawn or restricted instrument.
    Instrument(InstrumentId),
}

/// The naive core.
#[derive(Clone, Debug)]
pub struct Reference {
    pub altered: Option<Alteration>,
    pub engine: EngineId,
    pub bounds: Limits,
    pub seq: Seq,
    pub time: Timestamp,
    pub rules_version: u32,
    pub currencies: Vec<Currency>,
    pub instruments: Vec<Listed>,
    pub members: BTreeMap<MemberId, Name>,
    pub accounts: BTreeMap<AccountId, Account>,
    /// Everything that anybody ever gained or lost.
    pub postings: Vec<Posting>,
    /// What only a reference that gets releasing wrong binds.
    pub never_released: Vec<Posting>,
    /// Open orders, in no order that means anything.
    pub orders: Vec<Order>,
    /// How often an order has taken its place on a book.
    pub places_taken: u64,
    /// An incoming order that has touched as many makers as one command may.
    pub taking: Option<Order>,
    pub work: Vec<Work>,
    /// Mass cancels since rules version 2, in the order of their turns.
    pub sweeps: Vec<Sweep>,
    /// Mass cancels that stand at an order that may not leave while its auction trades.
    pub held_up: Vec<Sweep>,
    /// The auctions that trade, in the order of their turns.
    pub auctions: Vec<Auction>,
    /// What was restricted and not lifted.
    pub restrictions: Vec<Restrict>,
    /// The cancels of members and of the venue, in the order of their turns.
    pub walks: Vec<Walk>,
    pub turn: Turn,
    /// The instruments with a turn for orders that were triggered.
    pub triggering: Vec<InstrumentId>,
    /// The instrument whose triggered orders are being entered.
    pub entering: Option<InstrumentId>,
    /// All linked orders, in no order that means anything.
    pub lists: Vec<List>,
    /// The lists whose entries have traded, in the order in which they are read.
    pub lists_to_read: Vec<OrderId>,
    /// How often an order has begun to wait for a trigger price.
    pub arrivals: u64,
    /// How many prices have triggered orders.
    pub prices_that_triggered: u64,
    pub timetables: Vec<Timetable>,
    pub halting: Option<Halting>,
    pub breakers: Vec<Breaker>,
    /// What is remembered under rules version 1.
    pub transfers: Vec<RememberedTransfer>,
    /// Deposits of any age, and the withdrawals that are remembered, under rules version 2.
    pub deposits: Vec<KnownDeposit>,
    pub ended_withdrawals: Vec<RememberedTransfer>,
    /// Withdrawals that are held, in the order in which they were.
    pub held: Vec<Transfer>,
    pub orders_entered: u64,
    pub trades_made: u64,
    pub(super) events: Vec<Event>,
    /// Orders that the present command ended.
    pub(super) finished: Vec<(OrderId, Finish)>,
}

impl Reference {
    /// An engine without anything.
    pub fn new(engine: EngineId, rules_version: u32, mut bounds: Limits) -> Reference {
        if rules_version < 2 {
            // The first rules do not know these.
            bounds.account_transfers_max = 1_024;
            bounds.deposits_max = 1 << 20;
            bounds.client_ids_total_max = 1 << 20;
        }
        Reference {
            altered: None,
            engine,
            bounds,
            seq: Seq::ZERO,
            time: Timestamp::ZERO,
            rules_version,
            currencies: Vec::new(),
            instruments: Vec::new(),
            members: BTreeMap::new(),
            accounts: BTreeMap::new(),
            postings: Vec::new(),
            never_released: Vec::new(),
            orders: Vec::new(),
            places_taken: 0,
            taking: None,
            work: Vec::new(),
            sweeps: Vec::new(),
            held_up: Vec::new(),
            auctions: Vec::new(),
            restrictions: Vec::new(),
            walks: Vec::new(),
            turn: Turn::Cancels,
            triggering: Vec::new(),
            entering: None,
            lists: Vec::new(),
            lists_to_read: Vec::new(),
            arrivals: 0,
            prices_that_triggered: 0,
            timetables: Vec::new(),
            halting: None,
            breakers: Vec::new(),
            transfers: Vec::new(),
            deposits: Vec::new(),
            ended_withdrawals: Vec::new(),
            held: Vec::new(),
            orders_entered: 0,
            trades_made: 0,
            events: Vec::new(),
            finished: Vec::new(),
        }
    }

    pub fn listed(&self, id: InstrumentId) -> Result<&Listed, RejectReason> {
        let index = (id.0 as usize).checked_sub(1);
        index.and_then(|index| self.instruments.get(index)).ok_or(RejectReason::UnknownInstrument)
    }

    pub(super) fn listed_mut(&mut self, id: InstrumentId) -> Result<&mut Listed, RejectReason> {
        let index = (id.0 as usize).checked_sub(1);
        index
            .and_then(|index| self.instruments.get_mut(index))
            .ok_or(RejectReason::UnknownInstrument)
    }

    /// The listing of an order's instrument.
    pub fn of(&self, order: &Order) -> &Listed {
        self.listed(order.instrument).expect("an order's instrument stays listed")
    }

    pub(super) fn account(&self, id: AccountId) -> Result<&Account, RejectReason> {
        self.accounts.get(&id).ok_or(RejectReason::UnknownAccount)
    }

    pub(super) fn account_mut(&mut self, id: AccountId) -> Result<&mut Account, RejectReason> {
        self.accounts.get_mut(&id).ok_or(RejectReason::UnknownAccount)
    }

    /// The account's open order of this name. Nothing is done to one whose time is over.
    pub(super) fn open_order(
        &self,
        account: AccountId,
        named: &OrderRef,
    ) -> Result<Order, RejectReason> {
        let is_named = |order: &&Order| match named {
            OrderRef::Id(id) => order.id == *id,
            OrderRef::Client(name) => !name.is_empty() && order.client_order_id == *name,
        };
        let mut own = self.orders.iter().filter(|order| order.account == account);
        let order = *own.find(is_named).ok_or(RejectReason::UnknownOrder)?;
        if self.is_dead(&order) { Err(RejectReason::OrderExpired) } else { Ok(order) }
    }

    /// The orders of one side of a book, best price first and then by their places.
    pub fn queue(&self, instrument: InstrumentId, side: Side) -> Vec<Order> {
        let of_side = |order: &&Order| {
            order.instrument == instrument && order.side == side && order.waits.is_none()
        };
        let mut queue: Vec<Order> = self.orders.iter().filter(of_side).copied().collect();
        let reversed = self.gets_wrong(Alteration::PriorityReversed);
        queue.sort_by_key(|order| {
            let (price, place) = (i128::from(order.price.0), i128::from(order.place));
            let price = if side == Side::Buy { -price } else { price };
            (price, if reversed { -place } else { place })
        });
        queue
    }

    /// Whether an order has not ended, and is not the one that continues.
    pub(super) fn is_open_order(&self, id: OrderId) -> bool {
        self.orders.iter().any(|order| order.id == id)
    }

    pub(super) fn remove(&mut self, id: OrderId) -> Order {
        let at = self.orders.iter().position(|order| order.id == id);
        self.orders.remove(at.expect("only open orders are removed"))
    }

    pub(super) fn open_order_mut(&mut self, id: OrderId) -> &mut Order {
        let order = self.orders.iter_mut().find(|order| order.id == id);
        order.expect("only open orders are changed")
    }

    pub(super) fn same_member(&self, one: AccountId, other: AccountId) -> bool {
        if self.gets_wrong(Alteration::MembersConfused) {
            return one == other;
        }
        self.accounts[&one].member == self.accounts[&other].member
    }

    /// Forgets the client order ids that are neither among the last ones entered nor of open orders.
    /// `entered` tells whether the command was an order that is remembered.
    pub(super) fn forget_client_ids(&mut self, entered: bool) {
        let finished = std::mem::take(&mut self.finished);
        for (id, finish) in finished.into_iter().filter(|_| self.rules_version >= 2) {
            let of_order = |entered: &&mut Entered| matches!(entered.answer, Outcome::Order { order, .. } if order == id);
            let all = self.accounts.values_mut().flat_map(|account| &mut account.entered);
            if let Some(entered) = all.into_iter().find(of_order) {
                entered.finish = Some(finish);
            }
        }
        let most = self.bounds.client_ids_max as usize;
        for account in self.accounts.values_mut().filter(|account| account.window() > most) {
            account.leave_window();
        }
        if self.rules_version >= 2 && entered && !self.gets_wrong(Alteration::TotalIgnored) {
            for _ in 0..2 {
                let total: usize = self.accounts.values().map(Account::window).sum();
                if total > self.bounds.client_ids_total_max as usize {
                    let all = self.accounts.values_mut();
                    let fullest =
                        all.max_by_key(|account| (account.window(), Reverse(account.opened)));
                    fullest.expect("an account has entered an order").leave_window();
                }
            }
        }
        let orders = self.orders.iter().chain(&self.taking);
        let open: Vec<OrderId> = orders.map(|order| order.id).collect();
        for account in self.accounts.values_mut() {
            account.entered.retain(|entered| {
                entered.in_window
                    || matches!(entered.answer, Outcome::Order { order, .. } if open.contains(&order))
            });
        }
    }

    /// Notes how an order ended.
    pub(super) fn finish(&mut self, order: &Order, reason: Option<DoneReason>) {
        let finish = Finish {
            seq: self.seq,
            time: self.time,
            reason,
            price: order.price,
            filled: order.filled,
            remaining: order.remaining,
        };
        self.finished.push((order.id, finish));
    }

    /// The orders that ended and are remembered by their client order ids.
    pub fn finished_orders(&self) -> BTreeMap<OrderId, Finish> {
        let all = self.accounts.values().flat_map(|account| &account.entered);
        all.filter_map(|entered| match entered.answer {
            Outcome::Order { order, .. } => Some((order, entered.finish?)),
            _ => None,
        })
        .collect()
    }

    /// All that is remembered of transfers that have ended, in no order.
    pub fn ended_transfers(&self) -> impl Iterator<Item = RememberedTransfer> + '_ {
        let live = |deposit: &&KnownDeposit| !self.is_too_old(deposit.time);
        let deposits = self.deposits.iter().filter(live).map(|deposit| RememberedTransfer {
            ended: Ended::Deposited,
            transfer: deposit.transfer,
        });
        self.transfers.iter().chain(&self.ended_withdrawals).copied().chain(deposits)
    }

    /// Whether the reference of a deposit made then is not remembered any more.
    pub(super) fn is_too_old(&self, time: Timestamp) -> bool {
        let kept = 30 * Timestamp::DAY;
        let late = if self.gets_wrong(Alteration::ReferenceKeptLonger) { 1 } else { 0 };
        time.saturating_add(kept + late) < self.time
    }
}

impl Account {
    fn window(&self) -> usize {
        self.entered.iter().filter(|entered| entered.in_window).count()
    }

    fn leave_window(&mut self) {
        let oldest = self.entered.iter_mut().find(|entered| entered.in_window);
        oldest.expect("the window is not empty").in_window = false;
    }
}
