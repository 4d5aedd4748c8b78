//! Cancelling one order or many.

use super::sweep::Meant;
use super::{Alteration, ORDERS_PER_COMMAND, Order, Reference, Work};
use rialto_model::{
    AccountId, DoneReason, Event, InstrumentId, InstrumentState, MassCancel, OrderId, OrderRef,
    Outcome, RejectReason, Side, Timestamp,
};

impl Reference {
    pub(super) fn cancel(
        &mut self,
        account: AccountId,
        named: &OrderRef,
    ) -> Result<Outcome, RejectReason> {
        self.account(account)?;
        let order = self.open_order(account, named)?;
        if self.of(&order).is_uncrossing() {
            return Err(RejectReason::InstrumentUncrossing);
        }
        self.check_cancels(order.instrument)?;
        self.remove(order.id);
        Ok(self.end(&order, DoneReason::Cancelled))
    }

    pub(super) fn mass_cancel(&mut self, which: &MassCancel) -> Result<Outcome, RejectReason> {
        self.account(which.account)?;
        if let Some(instrument) = which.instrument {
            self.listed(instrument)?;
        }
        if self.rules_version >= 2 {
            return Ok(self.sweep_for(which));
        }
        let mut work = self.account_work(which.account, DoneReason::MassCancelled);
        if let Work::Account { instrument, side, .. } = &mut work {
            *instrument = which.instrument;
            *side = which.side;
        }
        self.begin_for_account(work)
    }

    pub(super) fn disconnect(&mut self, account: AccountId) -> Result<Outcome, RejectReason> {
        self.account(account)?;
        if self.rules_version >= 2 {
            return Ok(self.sweep(account, &[Meant::Disconnect], None));
        }
        let all = self.gets_wrong(Alteration::DisconnectTakesAll);
        let mut work = self.account_work(account, DoneReason::Disconnected);
        if let Work::Account { flagged_only, .. } = &mut work {
            *flagged_only = !all;
        }
        self.begin_for_account(work)
    }

    /// Refuses what might have to continue in Ticks where no more may continue.
    fn begin_for_account(&mut self, work: Work) -> Result<Outcome, RejectReason> {
        let Work::Account { account, .. } = work else {
            unreachable!("called for accounts only");
        };
        let open = self.orders.iter().filter(|order| order.account == account).count();
        if open > ORDERS_PER_COMMAND && self.cancels_are_full() {
            return Err(RejectReason::VenueFull);
        }
        Ok(self.begin(work, &mut 0))
    }

    /// Whether as many mass cancels continue as may.
    pub(super) fn cancels_are_full(&self) -> bool {
        let going_on = self.work.iter().filter(|work| matches!(work, Work::Account { .. }));
        going_on.count() >= self.bounds.pending_cancels_max as usize
    }

    pub(super) fn set_dead_man(
        &mut self,
        account: AccountId,
        timeout_ns: u64,
    ) -> Result<Outcome, RejectReason> {
        let time = self.time;
        self.account(account)?;
        if timeout_ns > Timestamp::DAY {
            return Err(RejectReason::TimerInvalid);
        }
        let due = (timeout_ns > 0).then(|| time.saturating_add(timeout_ns));
        self.account_mut(account)?.dead_man = due;
        self.events.push(Event::DeadManSet { account, due: due.unwrap_or(Timestamp::MAX) });
        Ok(Outcome::Done)
    }

    /// All orders that the account has entered so far.
    pub(super) fn account_work(&self, account: AccountId, reason: DoneReason) -> Work {
        Work::Account {
            account,
            instrument: None,
            side: None,
            flagged_only: false,
            reason,
            after: OrderId(0),
            last: OrderId::from_parts(self.engine, self.orders_entered),
        }
    }

    /// Does the first part of the work and leaves the rest for Ticks.
    pub(super) fn begin(&mut self, work: Work, visited: &mut usize) -> Outcome {
        let (cancelled, left) = self.work_on(work, visited);
        let pending = left.is_some();
        self.work.extend(left);
        Outcome::Cancelling { cancelled, pending }
    }

    /// Goes on with the work as far as one command may; returns how many orders it cancelled and
    /// the work that is left.
    pub(super) fn work_on(&mut self, work: Work, visited: &mut usize) -> (u32, Option<Work>) {
        let (cancelled, left) = match work {
            Work::Account { .. } => self.cancel_of_account(work, visited),
            Work::Instrument(instrument) => self.cancel_of_instrument(instrument, visited),
        };
        let (account, instrument) = match work {
            Work::Account { account, instrument, .. } => (account, instrument.unwrap_or_default()),
            Work::Instrument(instrument) => (AccountId(0), instrument),
        };
        let pending = left.is_some();
        self.events.push(Event::CancelProgress { account, instrument, cancelled, pending });
        (cancelled, left)
    }

    fn cancel_of_account(&mut self, work: Work, visited: &mut usize) -> (u32, Option<Work>) {
        let Work::Account { account, instrument, side, flagged_only, reason, after, last } = work
        else {
            unreachable!("called for accounts only");
        };
        let mut orders: Vec<Order> = self
            .orders
            .iter()
            .filter(|order| order.account == account && order.id > after && order.id <= last)
            .copied()
            .collect();
        orders.sort_by_key(|order| order.id);
        let mut cancelled = 0;
        let mut seen = after;
        let extra = usize::from(self.gets_wrong(Alteration::OneVisitTooMany));
        for order in orders {
            if *visited >= ORDERS_PER_COMMAND + extra {
                let left = Work::Account {
                    account,
                    instrument,
                    side,
                    flagged_only,
                    reason,
                    after: seen,
                    last,
                };
                return (cancelled, Some(left));
            }
            *visited += 1;
            seen = order.id;
            let meant = instrument.is_none_or(|instrument| order.instrument == instrument)
                && side.is_none_or(|side| order.side == side)
                && (order.handling.cancel_on_disconnect || !flagged_only);
            if meant {
                self.remove(order.id);
                self.end(&order, reason);
                cancelled += 1;
            }
        }
        (cancelled, None)
    }

    fn cancel_of_instrument(
        &mut self,
        instrument: InstrumentId,
        visited: &mut usize,
    ) -> (u32, Option<Work>) {
        let mut orders = self.queue(instrument, Side::Buy);
        orders.extend(self.queue(instrument, Side::Sell));
        orders.extend(self.waiting_queue(instrument));
        let reason = self.why_cleared(instrument);
        let mut cancelled = 0;
        for order in orders {
            if !self.is_open_order(order.id) {
                continue;
            }
            if *visited >= ORDERS_PER_COMMAND {
                self.note_clearing(instrument, true);
                return (cancelled, Some(Work::Instrument(instrument)));
            }
            *visited += 1;
            self.remove(order.id);
            self.end(&order, reason);
            cancelled += 1;
        }
        if self.listed(instrument).expect("it is listed").instrument.state
            == InstrumentState::Withdrawn
        {
            while let Some(list) = self.next_list(instrument) {
                if *visited >= ORDERS_PER_COMMAND {
                    self.note_clearing(instrument, true);
                    return (cancelled, Some(Work::Instrument(instrument)));
                }
                *visited += 1;
                self.refuse_exits(list, RejectReason::InstrumentClosed);
            }
        }
        self.note_clearing(instrument, false);
        (cancelled, None)
    }
}
