//! Mass cancels since rules version 2: one walk along each account's orders for all its requests;
//! and the turns of background work.

use super::{Listed, ORDERS_PER_COMMAND, Order, Reference, Work};
use rialto_model::{
    AccountId, DoneReason, Event, InstrumentId, MassCancel, OrderId, Outcome, Side,
};

/// The orders that a request selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meant {
    /// Those of one side, of one instrument or of all.
    Side(Option<InstrumentId>, Side),
    DeadMan,
    Disconnect,
    Restricted,
}

/// One request to cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub meant: Meant,
    /// The last order that had been entered.
    pub last: OrderId,
    /// The lap of the walk with which it has been asked about every order.
    pub until_lap: u64,
}

/// An account's walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    pub account: AccountId,
    /// The last order that was visited on this lap, if any was.
    pub after: Option<OrderId>,
    /// Whether an order was left on this lap that may not leave before its auction has traded.
    pub left_frozen: bool,
    /// How often the walk has come to its end.
    pub lap: u64,
    pub requests: Vec<Request>,
}

/// What takes turns, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Cancels,
    Closings,
    Expiries,
    Auctions,
    Walks,
    Triggers,
}

/// What is left of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    Nothing,
    More,
    /// Only orders that may not leave before their auctions have traded.
    HeldUp,
}

impl Reference {
    pub(super) fn sweep_for(&mut self, which: &MassCancel) -> Outcome {
        let sides = [Side::Buy, Side::Sell].into_iter();
        let sides = sides.filter(|side| which.side.is_none_or(|only| only == *side));
        let meant: Vec<Meant> = sides.map(|side| Meant::Side(which.instrument, side)).collect();
        self.sweep(which.account, &meant, which.instrument)
    }

    /// Adds to the account's walk and does its next part at once.
    pub(super) fn sweep(
        &mut self,
        account: AccountId,
        meant: &[Meant],
        told: Option<InstrumentId>,
    ) -> Outcome {
        let last = OrderId::from_parts(self.engine, self.orders_entered);
        let (cancelled, pending) = self.sweep_upto(account, meant, told, last, &mut 0);
        Outcome::Cancelling { cancelled, pending }
    }

    /// The same, of orders up to a last one; returns how many ended and whether some are left.
    pub(super) fn sweep_upto(
        &mut self,
        account: AccountId,
        meant: &[Meant],
        told: Option<InstrumentId>,
        last: OrderId,
        visited: &mut usize,
    ) -> (u32, bool) {
        let of_account = |sweep: &Sweep| sweep.account == account;
        let goes_on = self.sweeps.iter().position(of_account);
        let held_up = self.held_up.iter().position(of_account);
        self.request(account, meant, last);
        let at = goes_on.or(held_up).unwrap_or(self.sweeps.len().saturating_sub(1));
        let of = if held_up.is_some() { &mut self.held_up } else { &mut self.sweeps };
        let mut sweep = of.remove(at);
        let (cancelled, left) = self.walk(&mut sweep, visited);
        // One that was waiting for its turn continues waiting, though nothing is left of it.
        if held_up.is_some() && left == Left::More {
            self.sweeps.push(sweep);
        } else if held_up.is_some() {
            self.held_up.insert(at, sweep);
        } else if left == Left::More || goes_on.is_some() {
            self.sweeps.insert(at, sweep);
        } else if left == Left::HeldUp {
            self.held_up.push(sweep);
        }
        let pending = left != Left::Nothing;
        let instrument = told.unwrap_or_default();
        self.events.push(Event::CancelProgress { account, instrument, cancelled, pending });
        (cancelled, pending)
    }

    fn request(&mut self, account: AccountId, meant: &[Meant], last: OrderId) {
        let open: Vec<Order> =
            self.orders.iter().filter(|order| order.account == account).copied().collect();
        let mut known = self.sweeps.iter().chain(&self.held_up);
        if !known.any(|sweep| sweep.account == account) {
            self.sweeps.push(Sweep {
                account,
                after: None,
                left_frozen: false,
                lap: 0,
                requests: Vec::new(),
            });
        }
        let mut all = self.sweeps.iter_mut().chain(&mut self.held_up);
        let sweep = all.find(|sweep| sweep.account == account).expect("the account has one");
        for &meant in meant {
            let any = match meant {
                Meant::Side(Some(only), _) => open.iter().any(|order| order.instrument == only),
                _ => !open.is_empty(),
            };
            let covers = |request: &Request| {
                meant == Meant::Restricted && request.meant == meant && request.last >= last
            };
            if any && !sweep.requests.iter().any(covers) {
                sweep.requests.retain(|request| request.meant != meant);
                // What was visited on this lap has not been asked about this request.
                let until_lap = sweep.lap + u64::from(sweep.after.is_some());
                sweep.requests.push(Request { meant, last, until_lap });
            }
        }
    }

    /// Visits the account's orders by id, up to the newest that is asked for, and begins again for
    /// requests that came on the way.
    fn walk(&mut self, sweep: &mut Sweep, visited: &mut usize) -> (u32, Left) {
        let mut cancelled = 0;
        let extra = usize::from(self.gets_wrong(super::Alteration::OneVisitTooMany));
        loop {
            let Some(last) = sweep.requests.iter().map(|request| request.last).max() else {
                return (cancelled, Left::Nothing);
            };
            let ahead = self.orders.iter().filter(|order| {
                order.account == sweep.account
                    && order.id <= last
                    && sweep.after.is_none_or(|after| order.id > after)
            });
            let Some(order) = ahead.min_by_key(|order| order.id).copied() else {
                sweep.after = None;
                let left_frozen = std::mem::take(&mut sweep.left_frozen);
                for request in sweep.requests.iter_mut().filter(|_| left_frozen) {
                    request.until_lap = request.until_lap.max(sweep.lap + 1);
                }
                sweep.requests.retain(|request| request.until_lap > sweep.lap);
                sweep.lap += 1;
                if left_frozen && self.instruments.iter().any(Listed::is_uncrossing) {
                    return (cancelled, Left::HeldUp);
                }
                continue;
            };
            if *visited >= ORDERS_PER_COMMAND + extra {
                return (cancelled, Left::More);
            }
            let all = self.gets_wrong(super::Alteration::DisconnectTakesAll);
            let is_free = self.check_cancels(order.instrument).is_ok();
            let why = Self::why(&sweep.requests, &order, (all, is_free));
            let is_free = self.gets_wrong(super::Alteration::FrozenOrdersCancelled);
            let is_frozen = why.is_some() && self.of(&order).is_uncrossing() && !is_free;
            *visited += 1;
            sweep.after = Some(order.id);
            sweep.left_frozen |= is_frozen;
            if let Some(reason) = why.filter(|_| !is_frozen) {
                self.remove(order.id);
                self.end(&order, reason);
                cancelled += 1;
            }
        }
    }

    /// Why an order that is visited ends: of several reasons the first of these.
    fn why(
        requests: &[Request],
        order: &Order,
        (all, may_cancel): (bool, bool),
    ) -> Option<DoneReason> {
        let asks = |is_meant: &dyn Fn(Meant) -> bool| {
            requests.iter().any(|request| order.id <= request.last && is_meant(request.meant))
        };
        let of_side = |meant| match meant {
            Meant::Side(only, side) => {
                side == order.side && only.is_none_or(|only| only == order.instrument)
            }
            _ => false,
        };
        let leaves = order.handling.cancel_on_disconnect || all;
        let reasons = [
            (may_cancel && asks(&of_side), DoneReason::MassCancelled),
            (asks(&|meant| meant == Meant::DeadMan), DoneReason::DeadMan),
            (leaves && asks(&|meant| meant == Meant::Disconnect), DoneReason::Disconnected),
            (asks(&|meant| meant == Meant::Restricted), DoneReason::Restricted),
        ];
        reasons.into_iter().find(|(is_asked, _)| *is_asked).map(|(_, reason)| reason)
    }

    /// Fires a dead-man timer that has run out. The orders are cancelled in turns.
    pub(super) fn begin_dead_man(&mut self, account: AccountId, visited: &mut usize) {
        *visited += 1;
        self.account_mut(account).expect("it has a timer").dead_man = None;
        let pending = self.orders.iter().any(|order| order.account == account);
        if pending {
            let last = OrderId::from_parts(self.engine, self.orders_entered);
            self.request(account, &[Meant::DeadMan], last);
        }
        let (instrument, cancelled) = (InstrumentId(0), 0);
        self.events.push(Event::CancelProgress { account, instrument, cancelled, pending });
    }

    /// Lets everything that continues have its turn, as far as one command may.
    pub(super) fn take_turns(&mut self, visited: &mut usize) {
        let mut idle = 0;
        let kinds = match self.rules_version {
            ..4 => 3,
            4..6 => 5,
            6.. => 6,
        };
        while *visited < ORDERS_PER_COMMAND && idle < kinds {
            let (turn, before) = (self.turn, *visited);
            self.turn = match turn {
                Turn::Cancels => Turn::Closings,
                Turn::Closings => Turn::Expiries,
                Turn::Expiries if kinds >= 5 => Turn::Auctions,
                Turn::Auctions => Turn::Walks,
                Turn::Walks if kinds == 6 => Turn::Triggers,
                Turn::Expiries | Turn::Walks | Turn::Triggers => Turn::Cancels,
            };
            match turn {
                Turn::Cancels if !self.sweeps.is_empty() => {
                    *visited += 1;
                    let mut sweep = self.sweeps.remove(0);
                    if !sweep.requests.is_empty() {
                        let (cancelled, left) = self.walk(&mut sweep, visited);
                        let (account, instrument) = (sweep.account, InstrumentId(0));
                        match left {
                            Left::Nothing => {}
                            Left::More => self.sweeps.push(sweep),
                            Left::HeldUp => self.held_up.push(sweep),
                        }
                        let pending = left != Left::Nothing;
                        let progress =
                            Event::CancelProgress { account, instrument, cancelled, pending };
                        self.events.push(progress);
                    }
                }
                Turn::Closings if !self.work.is_empty() => {
                    *visited += 1;
                    let work = self.work.remove(0);
                    let (_, left) = self.work_on(work, visited);
                    self.work.extend(left);
                }
                Turn::Expiries => self.expire(visited),
                Turn::Auctions if !self.auctions.is_empty() => {
                    *visited += 1;
                    let auction = self.auctions.remove(0);
                    let left = self.uncross(auction, visited);
                    self.auctions.extend(left);
                }
                Turn::Walks if !self.walks.is_empty() => {
                    *visited += 1;
                    self.walk_on(visited);
                }
                Turn::Triggers if !self.triggering.is_empty() => {
                    *visited += 1;
                    let instrument = self.triggering.remove(0);
                    self.enter_all_triggered(instrument, visited);
                }
                _ => {}
            }
            idle = if *visited == before { idle + 1 } else { 0 };
        }
    }

    /// What went on under rules version 1 continues under version 2.
    pub(super) fn adopt_work(&mut self) {
        for work in std::mem::take(&mut self.work) {
            let Work::Account { account, instrument, side, reason, last, .. } = work else {
                self.work.push(work);
                continue;
            };
            let meant = match reason {
                DoneReason::DeadMan => vec![Meant::DeadMan],
                DoneReason::Disconnected => vec![Meant::Disconnect],
                _ => [Side::Buy, Side::Sell]
                    .into_iter()
                    .filter(|only| side.is_none_or(|side| side == *only))
                    .map(|side| Meant::Side(instrument, side))
                    .collect(),
            };
            let newest = OrderId::from_parts(self.engine, self.orders_entered);
            self.request(account, &meant, newest);
            let sweep = self.sweeps.iter_mut().find(|sweep| sweep.account == account);
            let requests = sweep.into_iter().flat_map(|sweep| &mut sweep.requests);
            let adopted = requests.filter(|request| meant.contains(&request.meant));
            adopted.for_each(|request| request.last = last);
        }
    }
}
