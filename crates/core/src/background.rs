//! Background work since rules version 2: mass cancels, the closing of instruments, expiry and more.
//!
//! [`rules`](crate::rules) defines the work; this module holds its progress.

use crate::auction::Auction;
use crate::orders::{Detail, NIL};
use crate::phases::WITH_AUCTIONS;
use crate::restrictions::AccountWalk;
use crate::triggers::WITH_TRIGGERS;
use rialto_model::{DoneReason, InstrumentState, MemberId, OrderId, Side, enumeration};
use std::collections::{BTreeMap, VecDeque};

enumeration! {
    /// The kinds of background work, which take turns. A new kind is added here and to
    /// [`Core::work_on`](crate::Core::work_on).
    pub(crate) enum Kind {
        /// The mass cancels of an account.
        Cancels = 0, "cancels";
        /// The closing of an instrument, and the cancels of a restricted one.
        Closings = 1, "closings";
        /// The expiry of orders.
        Expiries = 2, "expiries";
        /// The auctions whose orders trade. Since rules version 4.
        Uncrossings = 3, "uncrossings";
        /// The cancels of the accounts of a restricted member, or of the restricted venue. Since
        /// rules version 4.
        AccountWalks = 4, "account_walks";
        /// The orders that were triggered, since rules version 6; and exits, since version 9.
        Triggers = 5, "triggers";
    }
}

impl Kind {
    /// How many kinds a version of the rules knows.
    pub(crate) fn known(rules_version: u32) -> usize {
        if rules_version >= WITH_TRIGGERS {
            Self::ALL.len()
        } else if rules_version >= WITH_AUCTIONS {
            Self::Triggers as usize
        } else {
            Self::Uncrossings as usize
        }
    }

    fn following(self, known: usize) -> Kind {
        Self::ALL[(self as usize + 1) % known]
    }
}

/// The orders that a mass cancel selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of a side; of one instrument or of all.
    Side(Option<u16>, Side),
    /// All, because the dead-man timer ran out.
    DeadMan,
    /// Orders with cancel on disconnect, because the connection was lost.
    Disconnect,
    /// All, because of a restriction.
    Restricted,
}

/// A mass cancel in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Claim {
    /// Newer orders are not cancelled.
    pub(crate) upto: OrderId,
    /// The number of times that the sweep must still reach the end of the list; zero is no mass
    /// cancel.
    pub(crate) laps: u8,
}

impl Claim {
    #[inline]
    fn covers(self, order: OrderId) -> bool {
        self.laps > 0 && order <= self.upto
    }
}

/// The mass cancels of one account in progress: one walk along the account's orders for all of
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sweep {
    /// The account's slot; [`NIL`] in a free entry.
    pub(crate) account: u32,
    /// The slot of the order that is visited next, or [`NIL`].
    pub(crate) cursor: u32,
    /// Whether an order has been visited since the walk was last at the beginning of the list.
    pub(crate) under_way: bool,
    /// Whether an order was left on this lap because its instrument uncrosses.
    pub(crate) left_frozen: bool,
    /// The newest order that any of the claims selects.
    pub(crate) upto: OrderId,
    pub(crate) sides: [Claim; 2],
    pub(crate) dead_man: Claim,
    pub(crate) disconnect: Claim,
    pub(crate) restricted: Claim,
}

/// The claims of an account on one instrument, by side.
pub(crate) type MarketClaims = [Claim; 2];

/// All background work, each kind in the order of its turns.
pub(crate) struct Background {
    /// The kind whose turn it is.
    pub(crate) turn: Kind,
    /// Indexes into `sweeps`.
    cancels: VecDeque<u32>,
    sweeps: Vec<Sweep>,
    free: Vec<u32>,
    /// By account slot and instrument: claims on one instrument. They exist as long as the
    /// account's sweep.
    markets: BTreeMap<(u32, u16), MarketClaims>,
    closings: VecDeque<u16>,
    uncrossings: VecDeque<Auction>,
    /// By member; zero is the venue.
    walks: BTreeMap<MemberId, AccountWalk>,
    /// The members of the walks in the order of their turns.
    walk_turns: VecDeque<MemberId>,
    /// Sweeps to which only orders of instruments that uncross are left. They have no turn until an
    /// uncrossing ends.
    held_up: VecDeque<u32>,
    /// The instruments whose exits or triggered orders are entered.
    triggering: VecDeque<u16>,
}

impl Sweep {
    fn new(account: u32, head: u32) -> Sweep {
        Sweep {
            account,
            cursor: head,
            under_way: false,
            left_frozen: false,
            upto: OrderId(0),
            sides: [Claim::default(); 2],
            dead_man: Claim::default(),
            disconnect: Claim::default(),
            restricted: Claim::default(),
        }
    }

    /// Whether it is finished and is removed in its next turn.
    pub(crate) fn is_done(&self) -> bool {
        self.upto == OrderId(0)
    }

    /// Its claims on all instruments: buys, sells, dead-man timer, connection, restriction.
    pub(crate) fn claims(&self) -> [Claim; 5] {
        [self.sides[0], self.sides[1], self.dead_man, self.disconnect, self.restricted]
    }

    fn claims_mut(&mut self) -> [&mut Claim; 5] {
        let [buys, sells] = &mut self.sides;
        [buys, sells, &mut self.dead_man, &mut self.disconnect, &mut self.restricted]
    }
}

impl Background {
    pub(crate) fn new() -> Background {
        Background {
            turn: Kind::Cancels,
            cancels: VecDeque::with_capacity(16),
            sweeps: Vec::with_capacity(16),
            free: Vec::with_capacity(16),
            markets: BTreeMap::new(),
            closings: VecDeque::with_capacity(16),
            uncrossings: VecDeque::with_capacity(16),
            walks: BTreeMap::new(),
            walk_turns: VecDeque::new(),
            held_up: VecDeque::with_capacity(16),
            triggering: VecDeque::with_capacity(16),
        }
    }

    /// Whether there is no background work; expiry is not counted here. Sweeps are held up only while
    /// there are uncrossings.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.cancels.is_empty()
            && self.closings.is_empty()
            && self.uncrossings.is_empty()
            && self.walks.is_empty()
            && self.triggering.is_empty()
    }

    /// The next of the `known` kinds that has something to do, in turn. Advances the turn.
    pub(crate) fn next_kind(&mut self, expires: bool, known: usize) -> Option<Kind> {
        for _ in 0..known {
            let kind = self.turn;
            self.turn = kind.following(known);
            let waits = match kind {
                Kind::Cancels => !self.cancels.is_empty(),
                Kind::Closings => !self.closings.is_empty(),
                Kind::Expiries => expires,
                Kind::Uncrossings => !self.uncrossings.is_empty(),
                Kind::AccountWalks => !self.walks.is_empty(),
                Kind::Triggers => !self.triggering.is_empty(),
            };
            if waits {
                return Some(kind);
            }
        }
        None
    }

    #[inline]
    pub(crate) fn sweep(&self, at: u32) -> &Sweep {
        &self.sweeps[at as usize]
    }

    #[inline]
    pub(crate) fn sweep_mut(&mut self, at: u32) -> &mut Sweep {
        &mut self.sweeps[at as usize]
    }

    /// Begins a sweep of an account at the head of its list. It waits behind those of other
    /// accounts.
    pub(crate) fn begin_sweep(&mut self, account: u32, head: u32) -> u32 {
        let sweep = Sweep::new(account, head);
        let at = match self.free.pop() {
            Some(at) => {
                self.sweeps[at as usize] = sweep;
                at
            }
            None => {
                self.sweeps.push(sweep);
                self.sweeps.len() as u32 - 1
            }
        };
        self.cancels.push_back(at);
        at
    }

    /// Removes the sweep at an index, which is not waiting for its turn.
    pub(crate) fn end_sweep(&mut self, at: u32) {
        let account = std::mem::replace(&mut self.sweeps[at as usize].account, NIL);
        loop {
            let claimed = self.claims_of(account).next().map(|(key, _)| *key);
            let Some(key) = claimed else { break };
            self.markets.remove(&key);
        }
        self.free.push(at);
    }

    /// The sweep whose turn it is, taken out of the queue.
    pub(crate) fn take_turn(&mut self) -> Option<u32> {
        self.cancels.pop_front()
    }

    /// Queues a sweep behind the others.
    pub(crate) fn wait_turn(&mut self, at: u32) {
        self.cancels.push_back(at);
    }

    /// Takes the sweep that began last out of the queue.
    pub(crate) fn take_back_turn(&mut self) {
        self.cancels.pop_back();
    }

    /// Takes a sweep out of the queue, at whose front or back it is, until an uncrossing ends.
    pub(crate) fn hold_up(&mut self, at: u32) {
        self.held_up.push_back(at);
    }

    /// Gives a sweep a turn again if it is held up.
    pub(crate) fn resume(&mut self, at: u32) {
        if let Some(index) = self.held_up.iter().position(|&held_up| held_up == at) {
            self.held_up.remove(index);
            self.cancels.push_back(at);
        }
    }

    /// Whether the sweeps that are held up will get their turns again.
    pub(crate) fn has_uncrossings(&self) -> bool {
        !self.uncrossings.is_empty()
    }

    /// Takes the sweeps behind the first `turns` out of the queue, until an uncrossing ends.
    pub(crate) fn hold_up_behind(&mut self, turns: usize) {
        self.held_up = self.cancels.split_off(turns);
    }

    /// The sweeps that are held up, in the order in which they began to wait.
    pub(crate) fn held_up(&self) -> impl ExactSizeIterator<Item = &Sweep> {
        self.held_up.iter().map(|&at| self.sweep(at))
    }

    /// Gives the sweeps that were held up their turns again.
    pub(crate) fn release_held_up(&mut self) {
        self.cancels.append(&mut self.held_up);
    }

    /// Queues an uncrossing behind the others.
    pub(crate) fn wait_uncrossing(&mut self, auction: Auction) {
        self.uncrossings.push_back(auction);
    }

    /// Makes an instrument that uncrosses go on to another phase.
    pub(crate) fn redirect_uncrossing(&mut self, market: u16, next: InstrumentState) {
        let mut auctions = self.uncrossings.iter_mut();
        let auction = auctions.find(|auction| auction.market == market);
        auction.expect("an instrument that uncrosses has an auction").next = next;
    }

    /// The uncrossing whose turn it is, taken out of the queue.
    pub(crate) fn take_uncrossing(&mut self) -> Option<Auction> {
        self.uncrossings.pop_front()
    }

    /// The uncrossings in the order of their turns.
    pub(crate) fn uncrossings(&self) -> impl ExactSizeIterator<Item = &Auction> {
        self.uncrossings.iter()
    }

    /// The sweeps in the order of their turns.
    pub(crate) fn sweeps(&self) -> impl ExactSizeIterator<Item = &Sweep> {
        self.cancels.iter().map(|&at| self.sweep(at))
    }

    /// The account's claims on single instruments.
    pub(crate) fn claims_of(
        &self,
        account: u32,
    ) -> impl Iterator<Item = (&(u32, u16), &MarketClaims)> + '_ {
        self.markets.range((account, 0)..=(account, u16::MAX))
    }

    /// Makes the sweep at an index cancel the orders of a scope up to `upto`. `head` is the first
    /// order of the account's list.
    pub(crate) fn claim(&mut self, at: u32, scope: Scope, upto: OrderId, head: u32) {
        let sweep = &mut self.sweeps[at as usize];
        if scope == Scope::Restricted && sweep.restricted.covers(upto) {
            // A restriction of the account itself came after that of its member or of the venue.
            return;
        }
        if !sweep.under_way {
            // The list may have become empty since, and then have grown again.
            sweep.cursor = head;
        }
        // Orders visited earlier on this lap were not checked against this claim; the next lap
        // checks them.
        let claim = Claim { upto, laps: if sweep.under_way { 2 } else { 1 } };
        self.set_claim(at, scope, claim);
    }

    pub(crate) fn set_claim(&mut self, at: u32, scope: Scope, claim: Claim) {
        let sweep = &mut self.sweeps[at as usize];
        if claim.laps > 0 {
            sweep.upto = sweep.upto.max(claim.upto);
        }
        match scope {
            Scope::Side(None, side) => sweep.sides[side as usize] = claim,
            Scope::Side(Some(market), side) => {
                let claims = self.markets.entry((sweep.account, market)).or_default();
                claims[side as usize] = claim;
            }
            Scope::DeadMan => sweep.dead_man = claim,
            Scope::Disconnect => sweep.disconnect = claim,
            Scope::Restricted => sweep.restricted = claim,
        }
    }

    /// The reason for which the sweep at an index ends an order, if it does.
    pub(crate) fn reason(&self, at: u32, id: OrderId, order: &Detail) -> Option<DoneReason> {
        let sweep = self.sweep(at);
        let side = order.attributes.side as usize;
        let key = (sweep.account, order.market);
        let claimed = || self.markets.get(&key).is_some_and(|claims| claims[side].covers(id));
        if sweep.sides[side].covers(id) || (!self.markets.is_empty() && claimed()) {
            return Some(DoneReason::MassCancelled);
        }
        self.involuntary_reason(at, id, order)
    }

    /// The same where members may not cancel.
    pub(crate) fn involuntary_reason(
        &self,
        at: u32,
        id: OrderId,
        order: &Detail,
    ) -> Option<DoneReason> {
        let sweep = self.sweep(at);
        if sweep.dead_man.covers(id) {
            return Some(DoneReason::DeadMan);
        }
        let leaves = order.attributes.cancels_on_disconnect() && sweep.disconnect.covers(id);
        if leaves {
            return Some(DoneReason::Disconnected);
        }
        sweep.restricted.covers(id).then_some(DoneReason::Restricted)
    }

    /// Restores the progress of the sweep at an index.
    pub(crate) fn restore_cursor(&mut self, at: u32, cursor: u32, progress: (bool, bool)) {
        let sweep = &mut self.sweeps[at as usize];
        sweep.cursor = cursor;
        (sweep.under_way, sweep.left_frozen) = progress;
    }

    /// Starts the next lap of the sweep at an index, at `head`, for claims that arrived meanwhile,
    /// or for all if orders were left that uncross. False if there are none.
    pub(crate) fn end_lap(&mut self, at: u32, head: u32) -> bool {
        let Background { sweeps, markets, .. } = self;
        let sweep = &mut sweeps[at as usize];
        let (first, last) = ((sweep.account, 0), (sweep.account, u16::MAX));
        let of_markets = markets.range_mut(first..=last).flat_map(|(_, claims)| claims);
        let (mut upto, left_frozen) = (OrderId(0), sweep.left_frozen);
        for claim in sweep.claims_mut().into_iter().chain(of_markets) {
            if claim.laps != 1 || !left_frozen {
                claim.laps = claim.laps.saturating_sub(1);
            }
            if claim.laps > 0 {
                upto = upto.max(claim.upto);
            }
        }
        sweep.upto = upto;
        sweep.cursor = head;
        (sweep.under_way, sweep.left_frozen) = (false, false);
        upto > OrderId(0)
    }

    /// Queues a closing behind the others, unless it waits already.
    pub(crate) fn begin_closing(&mut self, market: u16) {
        if !self.closings.contains(&market) {
            self.closings.push_back(market);
        }
    }

    /// Takes a closing out of the queue if it waits there.
    pub(crate) fn end_closing(&mut self, market: u16) {
        self.closings.retain(|&closing| closing != market);
    }

    /// The closing whose turn it is, taken out of the queue.
    pub(crate) fn take_closing(&mut self) -> Option<u16> {
        self.closings.pop_front()
    }

    /// Queues a walk behind the others; one of the same accounts that waits is replaced where it
    /// is.
    pub(crate) fn wait_walk(&mut self, walk: AccountWalk) {
        if self.walks.insert(walk.member, walk).is_none() {
            self.walk_turns.push_back(walk.member);
        }
    }

    /// Takes the walk of a member out of the queue if it waits there.
    pub(crate) fn end_walk(&mut self, member: MemberId) {
        if self.walks.remove(&member).is_some() {
            self.walk_turns.retain(|&waiting| waiting != member);
        }
    }

    /// The walk whose turn it is, taken out of the queue.
    pub(crate) fn take_walk(&mut self) -> Option<AccountWalk> {
        let member = self.walk_turns.pop_front()?;
        self.walks.remove(&member)
    }

    /// The walks in the order of their turns.
    pub(crate) fn walks(&self) -> impl ExactSizeIterator<Item = &AccountWalk> {
        self.walk_turns.iter().map(|member| &self.walks[member])
    }

    /// Queues an instrument with triggered orders behind the others.
    pub(crate) fn wait_triggering(&mut self, market: u16) {
        self.triggering.push_back(market);
    }

    /// The instrument with triggered orders whose turn it is, taken out of the queue.
    pub(crate) fn take_triggering(&mut self) -> Option<u16> {
        self.triggering.pop_front()
    }

    /// The instruments with triggered orders in the order of their turns.
    pub(crate) fn triggering(&self) -> impl ExactSizeIterator<Item = u16> {
        self.triggering.iter().copied()
    }

    /// The closings in the order of their turns.
    pub(crate) fn closings(&self) -> impl ExactSizeIterator<Item = u16> {
        self.closings.iter().copied()
    }
}
