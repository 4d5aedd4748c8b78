//! Restrictions, and commands that show their effect.

use super::Chooser;
use rialto_model::{
    Amend, Command, InstrumentId, MemberId, OrderRef, Quantity, Restrict, Restriction,
    RestrictionTarget,
};

impl Chooser<'_> {
    pub(super) fn target(&mut self) -> RestrictionTarget {
        match self.dice.weighted(&[45, 30, 20, 5]) {
            0 => RestrictionTarget::Account(self.account()),
            1 => RestrictionTarget::Member(MemberId(self.dice.pick(&[1, 1, 2, 2, 3, 50]))),
            2 => RestrictionTarget::Instrument(self.instrument()),
            _ => RestrictionTarget::Venue,
        }
    }

    pub(super) fn restriction(&mut self) -> Command {
        if !self.now.restrictions.is_empty() && self.dice.chance(65) {
            // The other side restricts the same.
            let set = self.dice.pick(&self.now.restrictions);
            let by_member = !set.by_member;
            return Command::Restrict(Restrict { by_member, ..set });
        }
        let target = self.target();
        let restriction = Restriction::ALL[self.dice.weighted(&[10, 50, 40])];
        let is_own = matches!(target, RestrictionTarget::Account(_) | RestrictionTarget::Member(_));
        let by_member = self.dice.chance(if is_own { 40 } else { 2 });
        let most = if restriction == Restriction::None { 5 } else { 50 };
        let cancel = self.dice.chance(most);
        Command::Restrict(Restrict { target, restriction, by_member, cancel })
    }

    /// Cancels the orders of the instrument that has most.
    pub(super) fn clearing(&self) -> Command {
        let target = RestrictionTarget::Instrument(InstrumentId(1));
        let restriction = Restriction::CancelOnly;
        Command::Restrict(Restrict { target, restriction, by_member: false, cancel: true })
    }

    /// Makes an open order smaller.
    pub(super) fn shrinking(&mut self) -> Command {
        if self.now.orders.is_empty() {
            return Command::Tick;
        }
        let mut order = self.dice.pick(&self.now.orders);
        if self.now.rules_version >= 10 && self.dice.chance(30) {
            order = self.waiting_or_linked().unwrap_or(order);
        }
        let lot = self.now.of(&order).instrument.spec.rules.lot;
        let quantity = Some(Quantity(order.filled.0 + order.remaining.0 - lot.0));
        let (account, order) = (order.account, OrderRef::Id(order.id));
        Command::Amend(Amend { account, order, price: None, quantity })
    }

    /// Whether something is restricted, and nothing goes on in the background.
    pub(super) fn is_only_restricted(&self) -> bool {
        !self.now.restrictions.is_empty() && !self.now.has_background_work()
    }

    /// Lifts something that is restricted.
    pub(super) fn lifting(&mut self) -> Command {
        let set = self.dice.pick(&self.now.restrictions);
        Command::Restrict(Restrict { restriction: Restriction::None, ..set })
    }
}
