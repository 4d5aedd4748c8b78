//! Restrictions of the venue, of members, accounts and instruments, and the cancelling of orders
//! account by account where a restriction has many accounts.
//!
//! [`rules`](crate::rules) says what they refuse.

use crate::background::Scope;
use crate::instruments::Market;
use crate::limits::{ACCOUNTS_PER_ORDER, ORDERS_PER_COMMAND};
use crate::orders::NIL;
use crate::sink::Noticing;
use crate::{Core, EventSink};
use rialto_model::{
    Event, InstrumentState, MemberId, OrderId, Outcome, RejectReason, Restrict, Restriction,
    RestrictionTarget,
};

/// The first version of the rules with restrictions.
pub(crate) const WITH_RESTRICTIONS: u32 = 4;

/// An operator's restriction and the member's own, in one byte that is zero if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RestrictionPair(u8);

impl RestrictionPair {
    fn part(self, by_member: bool) -> Restriction {
        let number = if by_member { self.0 >> 4 } else { self.0 & 15 };
        Restriction::from_number(number).expect("each half is a restriction")
    }

    fn set(&mut self, by_member: bool, restriction: Restriction) {
        let (kept, shift) = if by_member { (15, 4) } else { (15 << 4, 0) };
        self.0 = (self.0 & kept) | (restriction.number() << shift);
    }

    /// The stricter of the two.
    fn in_force(self) -> Restriction {
        self.part(false).max(self.part(true))
    }

    #[inline]
    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    pub(crate) fn from_bits(bits: u8) -> Option<RestrictionPair> {
        let known = |number| Restriction::from_number(number).is_some();
        (known(bits & 15) && known(bits >> 4)).then_some(RestrictionPair(bits))
    }

    fn named(self, target: RestrictionTarget) -> impl Iterator<Item = Restrict> {
        let parts = [false, true].into_iter().map(move |by_member| {
            let restriction = self.part(by_member);
            Restrict { target, restriction, by_member, cancel: false }
        });
        parts.filter(|restrict| restrict.restriction != Restriction::None)
    }
}

/// The restrictions that an account does not have in an entry of its own.
#[derive(Default)]
pub(crate) struct Restrictions {
    venue: Restriction,
    /// By member id; members behind its end have none.
    members: Vec<RestrictionPair>,
    /// How many members have some.
    restricted: u32,
}

impl Restrictions {
    /// Zero if neither the venue nor a member is restricted.
    #[inline]
    fn bits(&self) -> u32 {
        self.restricted | u32::from(self.venue.number())
    }

    pub(crate) fn venue(&self) -> Restriction {
        self.venue
    }

    pub(crate) fn set_venue(&mut self, restriction: Restriction) {
        self.venue = restriction;
    }

    pub(crate) fn member(&self, member: MemberId) -> RestrictionPair {
        self.members.get(member.0 as usize).copied().unwrap_or_default()
    }

    pub(crate) fn set_member(&mut self, member: MemberId, pair: RestrictionPair) {
        let at = member.0 as usize;
        if self.members.len() <= at {
            self.members.resize(at + 1, RestrictionPair::default());
        }
        let before = std::mem::replace(&mut self.members[at], pair);
        self.restricted += u32::from(pair.bits() != 0);
        self.restricted -= u32::from(before.bits() != 0);
    }

    /// Whether the count of members fits their restrictions.
    pub(crate) fn is_sound(&self) -> bool {
        let restricted = self.members.iter().filter(|pair| pair.bits() != 0).count();
        restricted == self.restricted as usize
    }
}

/// The accounts of a member or of the venue whose orders are cancelled, in slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AccountWalk {
    /// The member; zero is the venue.
    pub(crate) member: MemberId,
    /// The slot of the account that is visited next.
    pub(crate) cursor: u32,
    /// Newer orders are not cancelled.
    pub(crate) upto: OrderId,
}

impl Market {
    /// Notes whether its state or its restriction refuses new orders.
    pub(crate) fn settle_entry(&mut self) {
        self.bars_entry = self.check_state().is_err() || self.restriction != Restriction::None;
    }
}

impl Core {
    /// All restrictions in force: of the venue, then of members, accounts and instruments.
    pub fn restrictions(&self) -> impl Iterator<Item = Restrict> + '_ {
        let plain =
            |target, restriction| Restrict { target, restriction, by_member: false, cancel: false };
        let set = |restrict: &Restrict| restrict.restriction != Restriction::None;
        let venue = plain(RestrictionTarget::Venue, self.restrictions.venue);
        let members = (0..).zip(&self.restrictions.members);
        let members =
            members.flat_map(|(id, pair)| pair.named(RestrictionTarget::Member(MemberId(id))));
        let accounts = (0..self.accounts.len()).map(|slot| self.accounts.get(slot));
        let accounts = accounts
            .flat_map(|account| account.restrictions.named(RestrictionTarget::Account(account.id)));
        let instruments = self.markets.iter().map(move |market| {
            plain(RestrictionTarget::Instrument(market.instrument.id), market.restriction)
        });
        let venue = std::iter::once(venue).filter(set);
        venue.chain(members).chain(accounts).chain(instruments.filter(set))
    }

    /// Whether a new order or an amendment needs a closer look: its instrument is in a phase that
    /// accepts none, or something is restricted.
    #[inline]
    pub(crate) fn is_barred(&self, market: &Market, account: u32) -> bool {
        let own = self.accounts.get(account).restrictions.bits() | u8::from(market.bars_entry);
        u32::from(own) | self.restrictions.bits() != 0
    }

    /// Refuses a new order, or an amendment, if the phase or a restriction does. Restrictions let
    /// an order become smaller where it is.
    #[cold]
    #[inline(never)]
    pub(crate) fn check_barred(
        &self,
        market: &Market,
        account: u32,
        reduces: bool,
    ) -> Result<(), RejectReason> {
        market.check_state()?;
        if reduces {
            return Ok(());
        }
        if self.restriction_of(account) != Restriction::None {
            return Err(RejectReason::AccountRestricted);
        }
        if market.restriction != Restriction::None {
            return Err(RejectReason::InstrumentRestricted);
        }
        Ok(())
    }

    /// Refuses a withdrawal of a frozen account.
    pub(crate) fn check_not_frozen(&self, account: u32) -> Result<(), RejectReason> {
        match self.restriction_of(account) {
            Restriction::Frozen => Err(RejectReason::AccountRestricted),
            Restriction::None | Restriction::CancelOnly => Ok(()),
        }
    }

    /// The strictest restriction of an account, its member and the venue.
    fn restriction_of(&self, account: u32) -> Restriction {
        let account = self.accounts.get(account);
        let member = self.restrictions.member(account.member).in_force();
        account.restrictions.in_force().max(member).max(self.restrictions.venue)
    }

    pub(crate) fn restrict<S: EventSink>(
        &mut self,
        restrict: &Restrict,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        if !self.rules_since(WITH_RESTRICTIONS) {
            return Err(RejectReason::CommandUnknown);
        }
        let Restrict { target, restriction, by_member, cancel } = *restrict;
        match target {
            RestrictionTarget::Venue => self.check_restriction(restrict, true)?,
            RestrictionTarget::Member(member) => {
                if !self.accounts.has_member(member) {
                    return Err(RejectReason::UnknownMember);
                }
                self.check_restriction(restrict, false)?;
            }
            RestrictionTarget::Account(account) => {
                self.accounts.slot(account)?;
                self.check_restriction(restrict, false)?;
            }
            RestrictionTarget::Instrument(instrument) => {
                let at = self.market(instrument)?;
                self.check_restriction(restrict, true)?;
                let market = &self.markets[usize::from(at)];
                if market.clearing && restriction == Restriction::None {
                    return Err(RejectReason::HasOpenOrders);
                }
            }
        }
        sink.event(&Event::Restricted(*restrict));
        let walked = match target {
            RestrictionTarget::Venue => {
                self.restrictions.set_venue(restriction);
                MemberId(0)
            }
            RestrictionTarget::Member(member) => {
                let mut pair = self.restrictions.member(member);
                pair.set(by_member, restriction);
                self.restrictions.set_member(member, pair);
                member
            }
            RestrictionTarget::Account(account) => {
                let slot = self.accounts.slot(account)?;
                self.accounts.get_mut(slot).restrictions.set(by_member, restriction);
                if !cancel {
                    return Ok(Outcome::Done);
                }
                return Ok(self.sweep(slot, &[Some(Scope::Restricted)], None, sink));
            }
            RestrictionTarget::Instrument(instrument) => {
                let at = self.market(instrument)?;
                let market = &mut self.markets[usize::from(at)];
                market.restriction = restriction;
                market.settle_entry();
                return Ok(if cancel { self.clear(at, sink) } else { Outcome::Done });
            }
        };
        Ok(if cancel { self.walk(walked, sink) } else { Outcome::Done })
    }

    /// Refuses what contradicts itself, and what the target, which may belong to all members,
    /// cannot have.
    fn check_restriction(&self, restrict: &Restrict, of_all: bool) -> Result<(), RejectReason> {
        let Restrict { target, restriction, by_member, cancel } = *restrict;
        let is_instrument = matches!(target, RestrictionTarget::Instrument(_));
        let lifts_and_cancels = cancel && restriction == Restriction::None;
        if lifts_and_cancels
            || (by_member && of_all)
            || (is_instrument && restriction == Restriction::Frozen)
        {
            return Err(RejectReason::RestrictionInvalid);
        }
        Ok(())
    }

    /// Begins to cancel the orders of a restricted instrument. While its auction trades, they stay.
    fn clear<S: EventSink>(&mut self, at: u16, sink: &mut S) -> Outcome {
        let market = &mut self.markets[usize::from(at)];
        let is_uncrossing = market.state() == InstrumentState::Uncrossing;
        market.clearing |= is_uncrossing;
        if is_uncrossing || market.closing {
            return Outcome::Cancelling { cancelled: 0, pending: true };
        }
        let mut budget = ORDERS_PER_COMMAND;
        self.close_and_queue(at, &mut budget, sink)
    }

    /// Whether every restricted instrument whose orders are cancelled waits for its turn, unless its
    /// auction trades.
    pub(crate) fn clearings_wait(&self) -> bool {
        let waits = |at| self.background.closings().any(|closing| closing == at);
        let mut markets = (0..).zip(&self.markets);
        markets.all(|(at, market)| {
            let is_uncrossing = market.state() == InstrumentState::Uncrossing;
            !market.clearing || waits(at) != is_uncrossing
        })
    }

    /// Begins to cancel the orders of all accounts of a member, or of the venue. It begins anew if
    /// it is under way.
    fn walk<S: EventSink>(&mut self, member: MemberId, sink: &mut S) -> Outcome {
        let mut walk = AccountWalk { member, cursor: 0, upto: self.newest_order() };
        let mut budget = ORDERS_PER_COMMAND;
        let (cancelled, swept) = self.walk_some(&mut walk, &mut budget, sink);
        let walked = walk.cursor == self.accounts.len();
        match walked {
            true => self.background.end_walk(member),
            false => self.background.wait_walk(walk),
        }
        Outcome::Cancelling { cancelled, pending: !(walked && swept) }
    }

    /// Continues the walk whose turn it is.
    pub(crate) fn walk_next<S: EventSink>(&mut self, budget: &mut u32, sink: &mut S) -> bool {
        let mut walk = self.background.take_walk().expect("a walk waits for its turn");
        *budget -= 1;
        let mut sink = Noticing { sink, noticed: false };
        self.walk_some(&mut walk, budget, &mut sink);
        if walk.cursor < self.accounts.len() {
            self.background.wait_walk(walk);
        }
        sink.noticed
    }

    /// Visits accounts until the budget is used up, and sweeps each account with open orders. Returns
    /// how many orders ended, and whether the sweeps have ended.
    fn walk_some<S: EventSink>(
        &mut self,
        walk: &mut AccountWalk,
        budget: &mut u32,
        sink: &mut S,
    ) -> (u32, bool) {
        let (mut ended, mut swept) = (0, true);
        let mut paid = 0;
        while walk.cursor < self.accounts.len() {
            if paid == 0 {
                if *budget == 0 {
                    break;
                }
                *budget -= 1;
                paid = ACCOUNTS_PER_ORDER;
            }
            let account = self.accounts.get(walk.cursor);
            let is_meant = walk.member == MemberId(0) || walk.member == account.member;
            let head = account.head;
            if is_meant && head != NIL && self.listed_id(head) <= walk.upto {
                // It has an event of its own.
                if *budget == 0 {
                    break;
                }
                *budget -= 1;
                let scopes = [Some(Scope::Restricted)];
                let (slot, upto) = (walk.cursor, walk.upto);
                let (cancelled, pending) = self.sweep_upto(slot, &scopes, upto, None, budget, sink);
                ended += cancelled;
                swept &= !pending;
            }
            walk.cursor += 1;
            paid -= 1;
        }
        (ended, swept)
    }
}
