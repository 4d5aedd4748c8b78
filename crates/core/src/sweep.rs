//! Mass cancels under rules version 2, and the turns of background work.

use crate::background::{Kind, Scope};
use crate::limits::ORDERS_PER_COMMAND;
use crate::orders::NIL;
use crate::work::BackgroundTask;
use crate::{Core, EventSink};
use rialto_model::{
    DoneReason, Event, InstrumentId, InstrumentState, OrderId, Outcome, RejectReason,
};

/// What is left of a sweep for later commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// Nothing: every order that was selected has been visited.
    Nothing,
    More,
    /// Only orders of instruments that uncross.
    HeldUp,
}

impl Core {
    /// Adds mass cancels to the sweep of an account, or begins one, and does its next part.
    pub(crate) fn sweep<S: EventSink>(
        &mut self,
        account: u32,
        scopes: &[Option<Scope>],
        market: Option<u16>,
        sink: &mut S,
    ) -> Outcome {
        let mut budget = ORDERS_PER_COMMAND;
        let upto = self.newest_order();
        let (cancelled, pending) =
            self.sweep_upto(account, scopes, upto, market, &mut budget, sink);
        Outcome::Cancelling { cancelled, pending }
    }

    /// Does the same for orders up to an id and within a budget. Returns how many orders it ended,
    /// and whether some are left.
    pub(crate) fn sweep_upto<S: EventSink>(
        &mut self,
        account: u32,
        scopes: &[Option<Scope>],
        upto: OrderId,
        market: Option<u16>,
        budget: &mut u32,
        sink: &mut S,
    ) -> (u32, bool) {
        let began = self.accounts.get(account).under_way == 0;
        let at = self.claim_upto(account, scopes, upto);
        let (cancelled, left) = self.sweep_some(at, budget, sink);
        let pending = left != Left::Nothing;
        if began && left != Left::More {
            // It leaves the queue if this command finished it, or if only frozen orders are left.
            self.background.take_back_turn();
            match pending {
                true => self.background.hold_up(at),
                false => self.end_sweep(at),
            }
        } else if left == Left::More {
            self.background.resume(at);
        }
        self.report_progress(account, market, cancelled, pending, sink);
        (cancelled, pending)
    }

    /// Makes the account's sweep cancel the orders of these scopes up to an id. Begins a sweep if
    /// there is none.
    fn claim_upto(&mut self, account: u32, scopes: &[Option<Scope>], upto: OrderId) -> u32 {
        let owner = self.accounts.get_mut(account);
        if owner.under_way == 0 {
            owner.under_way = self.background.begin_sweep(account, owner.head) + 1;
        }
        let (at, head) = (owner.under_way - 1, owner.head);
        for &scope in scopes.iter().flatten() {
            let is_empty = match scope {
                Scope::Side(Some(market), _) => self.open_counts.get(account, market) == 0,
                _ => head == NIL,
            };
            if !is_empty {
                self.background.claim(at, scope, upto, head);
            }
        }
        at
    }

    fn end_sweep(&mut self, at: u32) {
        let account = self.background.sweep(at).account;
        self.accounts.get_mut(account).under_way = 0;
        self.background.end_sweep(at);
    }

    fn report_progress<S: EventSink>(
        &self,
        account: u32,
        market: Option<u16>,
        cancelled: u32,
        pending: bool,
        sink: &mut S,
    ) {
        let account = self.accounts.get(account).id;
        let instrument = market.map_or(InstrumentId(0), |at| InstrumentId(u32::from(at) + 1));
        sink.event(&Event::CancelProgress { account, instrument, cancelled, pending });
    }

    /// Visits up to `budget` orders; returns how many it ended, and what is left to do.
    fn sweep_some<S: EventSink>(&mut self, at: u32, budget: &mut u32, sink: &mut S) -> (u32, Left) {
        let mut ended = 0;
        loop {
            let sweep = self.background.sweep(at);
            let cursor = sweep.cursor;
            if cursor == NIL || self.order_at(cursor).id > sweep.upto {
                let (head, left_frozen) =
                    (self.accounts.get(sweep.account).head, sweep.left_frozen);
                if !self.background.end_lap(at, head) {
                    return (ended, Left::Nothing);
                }
                if left_frozen && self.background.has_uncrossings() {
                    return (ended, Left::HeldUp);
                }
                continue;
            }
            if *budget == 0 {
                return (ended, Left::More);
            }
            let id = self.order_at(cursor).id;
            let reason = self.reason_to_end(at, cursor, id);
            let is_frozen = reason.is_some() && self.is_uncrossing(cursor);
            *budget -= 1;
            let sweep = self.background.sweep_mut(at);
            sweep.cursor = self.open.next(cursor);
            sweep.under_way = true;
            sweep.left_frozen |= is_frozen;
            if let Some(reason) = reason.filter(|_| !is_frozen) {
                let slot = crate::book::Slot::new(cursor);
                self.end_order(slot.expect("only orders on the book are visited"), reason, sink);
                ended += 1;
            }
        }
    }

    /// Begins to cancel the orders of an account whose dead-man timer ran out.
    pub(crate) fn sweep_for_dead_man<S: EventSink>(&mut self, account: u32, sink: &mut S) {
        let pending = self.accounts.get(account).head != NIL;
        if pending {
            self.claim_upto(account, &[Some(Scope::DeadMan)], self.newest_order());
        }
        self.report_progress(account, None, 0, pending, sink);
    }

    /// Continues background work. The kinds take turns, and so do accounts and instruments within a
    /// kind. Every step uses up some of the budget, so that the events are bounded too.
    pub(crate) fn work_in_turns<S: EventSink>(&mut self, budget: &mut u32, sink: &mut S) -> bool {
        let mut worked = false;
        while *budget > 0
            && let Some(kind) = self.next_kind()
        {
            worked |= match kind {
                Kind::Cancels => self.sweep_next(budget, sink),
                Kind::Closings => self.close_next(budget, sink),
                Kind::Expiries => self.expire(budget, sink),
                Kind::Uncrossings => self.uncross_next(budget, sink),
                Kind::AccountWalks => self.walk_next(budget, sink),
                Kind::Triggers => self.trigger_next(budget, sink),
            };
        }
        worked
    }

    /// The kind of background work whose turn it is.
    fn next_kind(&mut self) -> Option<Kind> {
        let expires = self.can_expire();
        self.background.next_kind(expires, Kind::known(self.rules_version))
    }

    /// The reason for which a sweep ends the order that it stands at, if it does. A mass cancel leaves the
    /// orders of an instrument whose members may not cancel.
    fn reason_to_end(&self, at: u32, cursor: u32, id: OrderId) -> Option<DoneReason> {
        let order = self.open.get(cursor);
        let reason = self.background.reason(at, id, order)?;
        let market = &self.markets[usize::from(order.market)];
        if reason == DoneReason::MassCancelled
            && market.check_cancel(self.time) == Err(RejectReason::NoCancelPeriod)
        {
            return self.background.involuntary_reason(at, id, order);
        }
        Some(reason)
    }

    /// Whether an order is of an instrument whose auction trades.
    fn is_uncrossing(&self, slot: u32) -> bool {
        let market = &self.markets[usize::from(self.open.get(slot).market)];
        market.state() == InstrumentState::Uncrossing
    }

    fn sweep_next<S: EventSink>(&mut self, budget: &mut u32, sink: &mut S) -> bool {
        let at = self.background.take_turn().expect("a sweep waits for its turn");
        *budget -= 1;
        if self.background.sweep(at).is_done() {
            // A later mass cancel of the account has finished it.
            self.end_sweep(at);
            return false;
        }
        let account = self.background.sweep(at).account;
        let (cancelled, left) = self.sweep_some(at, budget, sink);
        match left {
            Left::More => self.background.wait_turn(at),
            Left::HeldUp => self.background.hold_up(at),
            Left::Nothing => self.end_sweep(at),
        }
        let pending = left != Left::Nothing;
        self.report_progress(account, None, cancelled, pending, sink);
        true
    }

    fn close_next<S: EventSink>(&mut self, budget: &mut u32, sink: &mut S) -> bool {
        let market = self.background.take_closing().expect("a closing waits for its turn");
        *budget -= 1;
        if self.close_some(market, budget, |_, _| true, sink).1 {
            self.background.begin_closing(market);
        }
        true
    }

    /// Takes over the background work of rules version 1. A mass cancel begins at the head of the
    /// list again; orders that it visited and left stay.
    pub(crate) fn adopt_works(&mut self) {
        let works: Vec<BackgroundTask> = std::iter::from_fn(|| self.works.pop()).collect();
        for cancel in works.iter().filter_map(BackgroundTask::cancel) {
            self.accounts.get_mut(cancel.account).under_way = 0;
        }
        for work in works {
            match work {
                BackgroundTask::Close(market) => self.background.begin_closing(market),
                // The last of one scope covers those before it.
                BackgroundTask::Cancel(cancel) => {
                    self.claim_upto(cancel.account, &cancel.scopes(), cancel.upto);
                }
            }
        }
    }
}
