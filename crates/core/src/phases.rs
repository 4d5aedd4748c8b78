//! The phases of an instrument: which commands each accepts, and how one follows another.

use crate::instruments::Market;
use crate::limits::ORDERS_PER_COMMAND;
use crate::{Core, EventSink};
use rialto_model::{
    Event, InstrumentId, InstrumentState, NewOrder, OrderKind, Outcome, PostOnly, Quantity,
    RejectReason, TimeInForce, Timestamp,
};

/// The first version of the rules with auctions.
pub(crate) const WITH_AUCTIONS: u32 = 4;

impl Market {
    #[inline]
    pub(crate) fn state(&self) -> InstrumentState {
        self.instrument.state
    }

    /// Refuses a new order or an amendment in a phase that accepts none.
    #[inline]
    pub(crate) fn check_state(&self) -> Result<(), RejectReason> {
        match self.state() {
            InstrumentState::Open
            | InstrumentState::PreOpen
            | InstrumentState::Call
            | InstrumentState::ClosingCall => Ok(()),
            InstrumentState::Halted => Err(RejectReason::InstrumentHalted),
            InstrumentState::Uncrossing => Err(RejectReason::InstrumentUncrossing),
            InstrumentState::Withdrawn
            | InstrumentState::Listed
            | InstrumentState::Closed
            | InstrumentState::Delisted => Err(RejectReason::InstrumentClosed),
        }
    }

    /// Refuses a new order that does not fit the phase, which must be one that accepts orders. Says whether
    /// orders are being collected.
    #[inline]
    pub(crate) fn check_phase(
        &self,
        is_open: bool,
        terms: &NewOrder,
    ) -> Result<bool, RejectReason> {
        match (is_open, terms.time_in_force.is_for_auction()) {
            (true, false) => Ok(false),
            (true, true) => Err(RejectReason::WrongPhase),
            (false, _) => self.check_collecting(terms).map(|()| true),
        }
    }

    /// Refuses a new order that does not fit a phase in which orders are collected.
    #[cold]
    #[inline(never)]
    fn check_collecting(&self, terms: &NewOrder) -> Result<(), RejectReason> {
        let time_in_force = terms.time_in_force;
        let other = match self.state() {
            InstrumentState::ClosingCall => TimeInForce::AtOpen,
            _ => TimeInForce::AtClose,
        };
        let trades_at_once = time_in_force.trades_at_once()
            || (terms.kind != OrderKind::Limit && !time_in_force.is_for_auction());
        let trades_at_once = trades_at_once || terms.minimum_quantity != Quantity::ZERO;
        if trades_at_once || time_in_force == other || terms.post_only != PostOnly::Off {
            return Err(RejectReason::WrongPhase);
        }
        Ok(())
    }

    /// Refuses the cancel or the amendment of an order in a phase, or part of one, that accepts none.
    #[inline]
    pub(crate) fn check_cancel(&self, time: Timestamp) -> Result<(), RejectReason> {
        match self.state() {
            InstrumentState::Open => Ok(()),
            InstrumentState::Uncrossing => Err(RejectReason::InstrumentUncrossing),
            InstrumentState::Call | InstrumentState::ClosingCall if self.forbids_cancels(time) => {
                Err(RejectReason::NoCancelPeriod)
            }
            _ => Ok(()),
        }
    }

    /// Refuses a command while the orders of an auction trade.
    #[inline]
    pub(crate) fn check_not_uncrossing(&self) -> Result<(), RejectReason> {
        match self.state() {
            InstrumentState::Uncrossing => Err(RejectReason::InstrumentUncrossing),
            _ => Ok(()),
        }
    }

    /// Whether its orders can trade with each other, or some are for an auction.
    pub(crate) fn waits_for_auction(&self) -> bool {
        self.book.is_crossed() || !self.auction_orders.is_empty()
    }
}

impl Core {
    pub(crate) fn set_instrument_state<S: EventSink>(
        &mut self,
        id: InstrumentId,
        state: InstrumentState,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let at = self.market(id)?;
        self.check_state_change(&self.markets[usize::from(at)], state)?;
        let market = &mut self.markets[usize::from(at)];
        let trades = matches!(state, InstrumentState::Open | InstrumentState::Closed);
        if trades && market.state() != InstrumentState::Open && market.waits_for_auction() {
            let mut auction = self.begin_uncrossing(at, state, self.time, sink);
            let mut budget = ORDERS_PER_COMMAND;
            if !self.uncross_some(&mut auction, &mut budget, sink) {
                self.background.wait_uncrossing(auction);
            }
            return Ok(Outcome::Done);
        }
        self.enter_phase(at, state, sink);
        let market = &self.markets[usize::from(at)];
        if state != InstrumentState::Withdrawn || market.closing {
            return Ok(Outcome::Done);
        }
        let mut budget = ORDERS_PER_COMMAND;
        Ok(self.close_and_queue(at, &mut budget, sink))
    }

    /// Sets the state of an instrument. The end of a call or a halt that would have ended by itself is
    /// forgotten, and so is its limit state.
    pub(crate) fn enter_phase<S: EventSink>(
        &mut self,
        at: u16,
        state: InstrumentState,
        sink: &mut S,
    ) {
        let market = &mut self.markets[usize::from(at)];
        (market.limit_state, market.halt) = (None, None);
        self.set_call(at, None);
        let market = &mut self.markets[usize::from(at)];
        market.instrument.state = state;
        market.settle_entry();
        if market.clearing {
            // While its auction trades, the orders of a restricted instrument stay.
            match state {
                InstrumentState::Uncrossing => self.background.end_closing(at),
                _ => self.background.begin_closing(at),
            }
        }
        let market = &self.markets[usize::from(at)];
        sink.event(&Event::InstrumentStateSet { instrument: market.instrument.id, state });
        if state == InstrumentState::Open && market.auction_rules.limit_state_ms > 0 {
            self.find_limit_state(at, sink);
        }
        self.begin_triggering(at);
    }

    fn check_state_change(
        &self,
        market: &Market,
        state: InstrumentState,
    ) -> Result<(), RejectReason> {
        if !self.rules_since(state.rules_version_min()) {
            return Err(RejectReason::StateUnknown);
        }
        market.check_not_uncrossing()?;
        if market.closing && state != InstrumentState::Withdrawn {
            return Err(RejectReason::HasOpenOrders);
        }
        let is_delisted = market.state() == InstrumentState::Delisted;
        if state == InstrumentState::Uncrossing
            || (is_delisted && state != InstrumentState::Delisted)
        {
            return Err(RejectReason::StateChangeInvalid);
        }
        let is_empty = market.open_orders() == 0 && !market.has_queued_lists();
        match state {
            InstrumentState::Listed | InstrumentState::Delisted if !is_empty => {
                Err(RejectReason::HasOpenOrders)
            }
            _ => Ok(()),
        }
    }
}
