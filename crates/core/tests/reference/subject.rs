//! The core as the comparison sees it.

use super::Finish;
use super::invariants::{Holdings, Standing};
use super::timetable::Timetable;
use rialto_core::{CalendarView, Core, CoreConfig, EndedOrder, Limits, StateHash};
use rialto_model::{
    AccountId, Attribution, Command, EngineId, Event, Instrument, InstrumentId, Name, OrderId,
    Outcome, Price, Restrict, Seq, Side, Timestamp, Transfer,
};
use std::collections::BTreeMap;

/// The core under test.
pub struct Subject(Core);

impl Subject {
    pub fn new(engine: EngineId, rules_version: u32, limits: Limits) -> Subject {
        Subject(Core::new(CoreConfig { limits, rules_version, ..CoreConfig::new(engine) }))
    }

    pub fn apply(
        &mut self,
        seq: Seq,
        time: Timestamp,
        command: &Command,
        attribution: Option<&Attribution>,
    ) -> (Vec<Event>, Outcome) {
        let mut events = Vec::new();
        let outcome = self.0.apply_attributed(seq, time, command, attribution, &mut events);
        (events, outcome)
    }

    pub fn next_due(&self) -> Timestamp {
        self.0.next_due()
    }

    pub fn next_background_work(&self) -> Timestamp {
        self.0.next_background_work()
    }

    pub fn has_background_work(&self) -> bool {
        self.0.has_background_work()
    }

    /// The core's own opinion of its state.
    pub fn check(&self) -> Result<(), String> {
        self.0.check().map_err(|violation| format!("the core says of itself: {violation:?}"))
    }

    pub fn instrument(&self, id: InstrumentId) -> (Instrument, Option<Price>) {
        let view = self.0.instrument(id).expect("the reference lists it");
        (*view.instrument, Some(view.last_price).filter(|price| *price != Price::ZERO))
    }

    /// When each account's dead-man timer runs out.
    pub fn dead_man_timers(&self) -> BTreeMap<AccountId, Timestamp> {
        let timers = self.0.accounts().map(|account| (account.id, account.dead_man_due));
        timers.filter(|(_, due)| *due != Timestamp::MAX).collect()
    }

    pub fn holdings(&self) -> Holdings {
        let house = [AccountId::FEES, AccountId::TRANSIT];
        let accounts: Vec<AccountId> =
            self.0.accounts().map(|account| account.id).chain(house).collect();
        let mut balances = BTreeMap::new();
        for account in accounts {
            for currency in self.0.currencies() {
                let balance = self.0.balance(account, currency.id).expect("both exist");
                let held = (balance.available.0, balance.reserved.0);
                if held != (0, 0) {
                    balances.insert((account, currency.id), held);
                }
            }
        }
        let mut orders = Vec::new();
        for listed in self.0.instruments() {
            let id = listed.instrument.id;
            let sides = [Side::Buy, Side::Sell].into_iter();
            let resting = sides.flat_map(|side| self.0.orders(id, side));
            let (mut trailing, waiting): (Vec<_>, Vec<_>) =
                self.0.waiting_orders(id).partition(|order| order.trail.is_some());
            trailing.sort_by_key(|order| order.id);
            for order in resting.chain(waiting).chain(trailing) {
                let never = order.expire_at == Timestamp::MAX;
                orders.push(Standing {
                    id: order.id,
                    account: order.account,
                    instrument: order.instrument,
                    side: order.side,
                    price: order.price,
                    quantity: order.quantity,
                    remaining: order.remaining,
                    reserved: order.reserved.0,
                    time_in_force: order.time_in_force,
                    expire_at: if never { Timestamp::ZERO } else { order.expire_at },
                    post_only: order.post_only,
                    self_trade: order.self_trade,
                    handling: order.handling,
                    maker_fee_ppm: order.maker_fee_ppm,
                    taker_fee_ppm: order.taker_fee_ppm,
                    client_order_id: order.client_order_id,
                    trigger: order.trigger,
                    trail: order.trail,
                    iceberg: order.iceberg.map(|it| (it.display_quantity, it.displayed)),
                    links: order.links,
                });
            }
        }
        Holdings { balances, orders }
    }

    /// All that is restricted, in the order of targets.
    pub fn restrictions(&self) -> Vec<Restrict> {
        let mut all: Vec<_> = self.0.restrictions().collect();
        all.sort_by_key(|set| (set.target, set.by_member));
        all
    }

    /// The calendar that each instrument follows, or an empty name.
    pub fn calendar_of(&self, id: InstrumentId) -> Name {
        self.0.instrument(id).expect("the reference lists it").calendar
    }

    /// Whether the calendars are these.
    pub fn has_timetables(&self, all: &[Timetable]) -> bool {
        let agree = |(view, other): (CalendarView<'_>, &Timetable)| {
            let digest = (view.name, view.digest) == (other.name, other.digest);
            let plans = view.draft == other.draft && view.ahead == &other.ahead();
            digest && plans && view.begun == other.last_begun()
        };
        self.0.calendars().len() == all.len() && self.0.calendars().zip(all).all(agree)
    }

    /// The withdrawals that are held, in the order in which they were.
    pub fn withdrawals(&self) -> Vec<Transfer> {
        self.0.withdrawals().iter().map(|held| held.transfer).collect()
    }

    /// The orders that ended and are remembered by their client order ids.
    pub fn ended_orders(&self) -> BTreeMap<OrderId, Finish> {
        let finish = |ended: EndedOrder| Finish {
            seq: ended.seq,
            time: ended.time,
            reason: ended.reason,
            price: ended.terms.price,
            filled: ended.filled,
            remaining: ended.remaining,
        };
        self.0.ended_orders().map(|ended| (ended.order, finish(ended))).collect()
    }

    pub fn snapshot(&self) -> Vec<u8> {
        self.0.snapshot()
    }

    /// A core from a snapshot, with other hash keys: they must not matter.
    pub fn restore(bytes: &[u8]) -> Result<Subject, String> {
        let restored = Core::restore(bytes, 0x0123_4567_89AB_CDEF);
        restored.map(Subject).map_err(|error| format!("the snapshot is refused: {error}"))
    }

    pub fn state_hash(&self) -> StateHash {
        self.0.state_hash()
    }
}
