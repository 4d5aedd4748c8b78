//! Linked orders: a list of lists, which is gone through whenever an order trades, is triggered or ends.

use super::auction::is_for_auction;
use super::conditional::Conditional;
use super::entry::{Check, Verdict, can_rest, demand};
use super::{Alteration, Entered, ORDERS_PER_COMMAND, Order, Reference};
use rialto_core::Links;
use rialto_model::{
    AccountId, Condition, Distance, DoneReason, Event, ExitsRefused, ExitsSet, InstrumentId, Leg,
    LinkKind, NewOrder, OrderId, OrderKind, OrderList, OrderSize, OrdersLinked, Outcome, Price,
    Quantity, RejectReason, Side, TimeInForce, Trigger, TriggerKind,
};

/// What it costs to read a list, in orders.
const READING: usize = 4;

/// Orders that are linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// The first order of the pair, or the entry.
    pub id: OrderId,
    pub instrument: InstrumentId,
    /// The linked orders, all of them open, the one at a better price first. None before exits are entered.
    pub linked: Vec<OrderId>,
    /// For how much of what the entry has traded there are exits.
    pub covered: Quantity,
    /// What the exits were entered with, and as it was amended since.
    pub legs: [Option<Leg>; 2],
    /// The entry, as long as it is open or trades of it are to be read.
    pub entry: Option<Entry>,
}

/// An order that enters exits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As it was entered.
    pub terms: NewOrder,
    /// The exits, as the last amendment of one left them.
    pub take_profit: Option<Leg>,
    pub stop_loss: Option<Leg>,
    /// What it has traded.
    pub traded: Quantity,
    /// Whether some of that was traded by an incoming order that has not stopped since.
    pub is_taking: bool,
}

impl Entry {
    fn legs(&self) -> [Option<Leg>; 2] {
        [self.take_profit, self.stop_loss]
    }
}

const BEFORE_MEMORY: [Check<OrderList>; 3] = [
    ("command that the version knows", |venue, _| {
        demand(venue.rules_version >= 9, RejectReason::CommandUnknown)
    }),
    ("account", |venue, new| venue.account(new.terms.account).map(drop)),
    ("client order id (repeat, conflict)", |venue, new| {
        let before = venue.entered_before(&new.terms);
        let is_same = |first: Entered| first.list == Some(*new);
        demand(before.is_none_or(is_same), RejectReason::ClientIdConflict)
    }),
];

const CHECKS: [Check<OrderList>; 9] = [
    ("combination of attributes", |_, new| {
        let agrees = match new.kind {
            LinkKind::Oco => is_pair(new),
            LinkKind::Oto => is_entry(new),
        };
        demand(agrees, RejectReason::InvalidCombination)
    }),
    ("the first order as *Place* or *PlaceConditional*", |venue, new| match first_waits(new) {
        Some(first) => venue.check_waiting(&first),
        None => venue.check_new(&new.terms),
    }),
    ("whether the first order of a pair trades at once", |venue, new| {
        if new.kind == LinkKind::Oto || new.condition.is_some() {
            return Ok(());
        }
        let trades = venue.meets_another(&venue.draft(&new.terms)?);
        demand(!trades, RejectReason::WouldCross)
    }),
    ("the second order of a pair as *PlaceConditional*", |venue, new| {
        if new.kind == LinkKind::Oto { Ok(()) } else { venue.check_waiting(&second(new)) }
    }),
    (
        "trigger price, or distance and activation price, price, tick and expiry of each exit",
        |venue, new| {
            if new.kind == LinkKind::Oco {
                return Ok(());
            }
            let mut legs = [new.take_profit, new.stop_loss].into_iter().flatten();
            legs.try_for_each(|leg| venue.check_leg(new, &leg))
        },
    ),
    ("whether the better of two linked orders is beyond the worse one", |venue, new| {
        let (side, levels) = match (new.kind, new.condition) {
            (LinkKind::Oto, _) => {
                let level = |leg: Option<Leg>| leg.and_then(|leg| leg.nearest_price());
                (new.terms.side.opposite(), [level(new.take_profit), level(new.stop_loss)])
            }
            (LinkKind::Oco, Some(Condition::Trigger(trigger))) => (
                new.terms.side,
                [Some(trigger.price), new.stop_loss.and_then(|leg| leg.nearest_price())],
            ),
            (LinkKind::Oco, _) => {
                let price = venue.draft(&new.terms)?.price;
                (new.terms.side, [Some(price), new.stop_loss.and_then(|leg| leg.nearest_price())])
            }
        };
        let [Some(better), Some(worse)] = levels else { return Ok(()) };
        demand(is_beyond(side, better, worse), RejectReason::ExitPriceInvalid)
    }),
    ("whether the exits of an order that may rest are beyond its limit", |venue, new| {
        if new.kind == LinkKind::Oco || !can_rest(new.terms.time_in_force) {
            return Ok(());
        }
        let limit = venue.draft(&new.terms)?.price;
        let fit = are_beyond(new.terms.side, limit, [new.take_profit, new.stop_loss]);
        demand(fit, RejectReason::ExitPriceInvalid)
    }),
    ("open orders of the account for a pair", |venue, new| {
        if new.kind == LinkKind::Oto { Ok(()) } else { venue.account_has_room_for_two(&new.terms) }
    }),
    ("room in the venue for a pair", |venue, new| {
        if new.kind == LinkKind::Oto { Ok(()) } else { venue.venue_has_room_for_two() }
    }),
];

/// The names of the checks of linked orders, in their order.
pub fn list_checks() -> Vec<&'static str> {
    BEFORE_MEMORY.iter().chain(&CHECKS).map(|(name, _)| *name).collect()
}

/// Whether a price is better than another one for an order of this side.
pub(super) fn is_beyond(side: Side, better: Price, worse: Price) -> bool {
    if side == Side::Sell { better > worse } else { better < worse }
}

/// Whether the exits of an order of this side are on their sides of its limit.
pub(super) fn are_beyond(side: Side, limit: Price, legs: [Option<Leg>; 2]) -> bool {
    let exit = side.opposite();
    let [profit, loss] = legs.map(|leg| leg.and_then(|leg| leg.nearest_price()));
    profit.is_none_or(|level| is_beyond(exit, level, limit))
        && loss.is_none_or(|level| is_beyond(exit, limit, level))
}

fn is_of_kind(condition: Option<Condition>, wanted: TriggerKind) -> bool {
    matches!(condition, Some(Condition::Trigger(Trigger { kind, .. })) if kind == wanted)
}

/// Whether a leg that waits has attributes that agree.
fn can_wait(leg: &Leg) -> bool {
    let trails = matches!(leg.condition, Some(Condition::Trail(_)));
    let contradictions = [
        ![OrderKind::Limit, OrderKind::Market].contains(&leg.kind),
        leg.time_in_force == TimeInForce::Fok,
        is_for_auction(leg.time_in_force),
        trails && leg.kind == OrderKind::Market && leg.price != Price::ZERO,
    ];
    !contradictions.contains(&true)
}

fn can_stand(kind: OrderKind, time_in_force: TimeInForce) -> bool {
    kind == OrderKind::Limit && can_rest(time_in_force) && !is_for_auction(time_in_force)
}

fn is_stop_loss(leg: &Leg) -> bool {
    let trails = matches!(leg.condition, Some(Condition::Trail(_)));
    (trails || is_of_kind(leg.condition, TriggerKind::Stop)) && can_wait(leg)
}

fn is_take_profit(leg: &Leg) -> bool {
    match leg.condition {
        None => can_stand(leg.kind, leg.time_in_force),
        condition => is_of_kind(condition, TriggerKind::TakeProfit) && can_wait(leg),
    }
}

fn is_pair(new: &OrderList) -> bool {
    let terms = &new.terms;
    let first = match new.condition {
        None => {
            can_stand(terms.kind, terms.time_in_force)
                && terms.minimum_quantity == Quantity::ZERO
                && matches!(terms.size, OrderSize::Base(_))
        }
        condition => is_of_kind(condition, TriggerKind::TakeProfit),
    };
    first && new.take_profit.is_none() && new.stop_loss.as_ref().is_some_and(is_stop_loss)
}

fn is_entry(new: &OrderList) -> bool {
    let is_any = new.take_profit.is_some() || new.stop_loss.is_some();
    new.condition.is_none()
        && is_any
        && new.take_profit.as_ref().is_none_or(is_take_profit)
        && new.stop_loss.as_ref().is_none_or(is_stop_loss)
}

/// The first order of a pair, if it waits.
fn first_waits(new: &OrderList) -> Option<Conditional> {
    let condition = new.condition?;
    Some(Conditional { terms: new.terms, condition, immediate: false })
}

/// The second order of a pair, whose attributes agree.
fn second(new: &OrderList) -> Conditional {
    let OrderSize::Base(quantity) = new.terms.size else { unreachable!("it was checked before") };
    let leg = new.stop_loss.expect("it was checked before");
    let condition = leg.condition.expect("it was checked before");
    let terms = leg.order(&new.terms, new.terms.side, quantity);
    Conditional { terms, condition, immediate: false }
}

/// An exit as it is entered.
#[derive(Clone, Copy)]
struct Exit {
    terms: NewOrder,
    condition: Option<Condition>,
}

impl Exit {
    fn waits(&self) -> Option<Conditional> {
        let condition = self.condition?;
        Some(Conditional { terms: self.terms, condition, immediate: true })
    }
}

impl Reference {
    pub(super) fn place_list(&mut self, new: &OrderList) -> Result<Outcome, RejectReason> {
        BEFORE_MEMORY.iter().try_for_each(|(_, check)| check(self, new))?;
        if let Some(first) = self.entered_before(&new.terms) {
            return Ok(self.repeat(&new.terms, &first));
        }
        let verdict = CHECKS.iter().try_for_each(|(_, check)| check(self, new));
        let answer = verdict.map(|()| match new.kind {
            LinkKind::Oco => self.accept_pair(new),
            LinkKind::Oto => self.accept(&new.terms, None, Some(new), &mut 0),
        });
        if !new.terms.client_order_id.is_empty() {
            let answer = answer.unwrap_or_else(|reason| Outcome::Rejected { reason });
            let entered = Entered {
                body: new.terms,
                condition: None,
                displays: None,
                list: Some(*new),
                answer,
                in_window: true,
                finish: None,
            };
            self.account_mut(new.terms.account)?.entered.push(entered);
        }
        answer
    }

    /// What can be said of an exit before its entry has traded.
    fn check_leg(&self, new: &OrderList, leg: &Leg) -> Verdict {
        let listed = self.listed(new.terms.instrument)?;
        let check_trigger =
            |price| listed.check_price(price).map_err(|_| RejectReason::TriggerPriceInvalid);
        match leg.condition {
            None => {}
            Some(Condition::Trigger(trigger)) => check_trigger(trigger.price)?,
            Some(Condition::Trail(trail)) => {
                let fits = match trail.distance {
                    Distance::Price(distance) => listed.check_price(distance).is_ok(),
                    Distance::Ppm(ppm) => ppm > 0 && ppm < 1_000_000,
                };
                demand(fits, RejectReason::TrailInvalid)?;
                if trail.activation_price != Price::ZERO {
                    check_trigger(trail.activation_price)?;
                }
            }
        }
        if leg.kind == OrderKind::Limit || leg.price != Price::ZERO {
            listed.check_price(leg.price)?;
        }
        let terms = leg.order(&new.terms, new.terms.side.opposite(), Quantity(1));
        self.expires_at(&terms).map(drop)
    }

    fn account_has_room_for_two(&self, new: &NewOrder) -> Verdict {
        let most = self.listed(new.instrument)?.instrument.spec.rules.open_orders_max as usize;
        let own = self.orders.iter().filter(|order| order.account == new.account);
        let own = own.filter(|order| order.instrument == new.instrument).count();
        let own = own + self.queued_lists(new.account, new.instrument);
        demand(own + 2 <= most, RejectReason::OpenOrdersLimit)
    }

    /// How many lists of an account in an instrument are to be read. Each counts as an open order.
    pub(super) fn queued_lists(&self, account: AccountId, instrument: InstrumentId) -> usize {
        let is_own = |list: &&List| {
            list.instrument == instrument
                && list.entry.is_some_and(|entry| entry.terms.account == account)
        };
        let lists = self.lists.iter().filter(is_own);
        lists.filter(|list| self.lists_to_read.contains(&list.id)).count()
    }

    fn venue_has_room_for_two(&self) -> Verdict {
        let most = self.bounds.orders_max as usize;
        demand(self.orders.len() + 2 <= most, RejectReason::VenueFull)
    }

    /// What of the need of a second order the first one, which is open, holds already.
    fn covers(&self, first: OrderId, second: &Order) -> i128 {
        let first = self.orders.iter().find(|order| order.id == first).expect("it is open");
        if self.gets_wrong(Alteration::PairsHoldBoth) {
            return 0;
        }
        self.need(first).0.min(self.need(second).0)
    }

    fn accept_pair(&mut self, new: &OrderList) -> Outcome {
        let outcome = match first_waits(new) {
            Some(first) => self.let_wait(&first, 0),
            None => self.accept(&new.terms, None, None, &mut 0),
        };
        let Outcome::Order { order: id, .. } = outcome else { unreachable!("it was accepted") };
        let other = second(new);
        let draft = self.waiting(&other).expect("the checks have passed");
        let covered = self.covers(id, &draft);
        self.let_wait(&other, covered);
        let linked = vec![id, draft.id];
        let (instrument, covered) = (new.terms.instrument, Quantity::ZERO);
        let legs = [None; 2];
        self.lists.push(List { id, instrument, linked, covered, legs, entry: None });
        self.tell_links(id, &draft, [Some(id), Some(draft.id)]);
        outcome
    }

    fn tell_links(&mut self, list: OrderId, any: &Order, linked: [Option<OrderId>; 2]) {
        let [take_profit, stop_loss] = linked.map(|order| order.unwrap_or(OrderId(0)));
        self.events.push(Event::OrdersLinked(OrdersLinked {
            list,
            account: any.account,
            instrument: any.instrument,
            side: any.side,
            take_profit,
            stop_loss,
        }));
    }

    /// Notes the exits of an order that is being accepted.
    pub(super) fn set_exits(&mut self, order: &Order, new: &OrderList) {
        let OrderList { terms, take_profit, stop_loss, .. } = *new;
        self.lists.push(List {
            id: order.id,
            instrument: order.instrument,
            linked: Vec::new(),
            covered: Quantity::ZERO,
            legs: [take_profit, stop_loss],
            entry: Some(Entry {
                terms,
                take_profit,
                stop_loss,
                traded: Quantity::ZERO,
                is_taking: false,
            }),
        });
        self.tell_exits(order.id);
    }

    /// Tells the exits of an entry as they are now.
    pub(super) fn tell_exits(&mut self, id: OrderId) {
        let entry = self.list_of_entry(id).and_then(|list| list.entry).expect("it enters exits");
        let Entry { terms, take_profit, stop_loss, .. } = entry;
        self.events.push(Event::ExitsSet(ExitsSet {
            order: id,
            account: terms.account,
            instrument: terms.instrument,
            side: terms.side,
            take_profit,
            stop_loss,
        }));
    }

    /// The list of a linked order.
    pub(super) fn list_of(&self, order: OrderId) -> Option<&List> {
        self.lists.iter().find(|list| list.linked.contains(&order))
    }

    /// Whether an order may have a limit beside its exits, if it enters some.
    pub(super) fn fits_its_exits(&self, order: &Order, limit: Price) -> bool {
        let entry = self.list_of_entry(order.id).and_then(|list| list.entry);
        entry.is_none_or(|entry| are_beyond(order.side, limit, entry.legs()))
    }

    /// The list of an order that enters exits.
    pub(super) fn list_of_entry(&self, order: OrderId) -> Option<&List> {
        self.lists.iter().find(|list| list.id == order && list.entry.is_some())
    }

    fn entry_mut(&mut self, order: OrderId) -> Option<&mut Entry> {
        let list = self.lists.iter_mut().find(|list| list.id == order)?;
        list.entry.as_mut()
    }

    /// How an open order is linked, as its owner sees it.
    pub fn links(&self, order: OrderId) -> Option<Links> {
        if let Some(list) = self.list_of(order) {
            let other = list.linked.iter().find(|other| **other != order).copied();
            return Some(Links { list: list.id, other, take_profit: None, stop_loss: None });
        }
        let list = self.list_of_entry(order)?;
        let Entry { take_profit, stop_loss, .. } = list.entry?;
        Some(Links { list: list.id, other: None, take_profit, stop_loss })
    }

    /// The list of an instrument that is read next.
    pub(super) fn next_list(&self, instrument: InstrumentId) -> Option<OrderId> {
        let of_it = |id: &&OrderId| {
            self.lists.iter().any(|list| list.id == **id && list.instrument == instrument)
        };
        self.lists_to_read.iter().find(of_it).copied()
    }

    fn will_read(&mut self, id: OrderId) {
        let list = self.lists.iter().find(|list| list.id == id).expect("it is a list");
        let instrument = list.instrument;
        if !self.lists_to_read.contains(&id) {
            self.lists_to_read.push(id);
        }
        if self.entering != Some(instrument) {
            self.begin_triggering(instrument);
        }
    }

    fn forget_list(&mut self, id: OrderId) -> List {
        self.lists_to_read.retain(|other| *other != id);
        let at = self.lists.iter().position(|list| list.id == id).expect("it is a list");
        self.lists.remove(at)
    }

    /// The open orders that end when a linked order trades, is triggered or ends: the other one, then the entry.
    pub(super) fn orders_that_end_with(&self, order: OrderId) -> Vec<OrderId> {
        let Some(list) = self.list_of(order) else { return Vec::new() };
        let keeps = self.gets_wrong(Alteration::PairsKeepBothOrders);
        let goes_on = self.gets_wrong(Alteration::EntriesGoOn);
        let others = list.linked.iter().filter(|other| **other != order && !keeps);
        let entry = list.entry.iter().map(|_| &list.id).filter(|_| !goes_on);
        others.chain(entry).copied().filter(|id| self.is_open_order(*id)).collect()
    }

    /// A linked order trades, is triggered or has ended: its list is over. What the entry traded without exits
    /// gets exits of its own. Returns how many orders end.
    pub(super) fn end_list_of(&mut self, order: OrderId) -> usize {
        let Some(list) = self.list_of(order) else { return 0 };
        let (id, traded) = (list.id, list.entry.map_or(0, |entry| entry.traded.0));
        let (covered, ending) = (list.covered.0, self.orders_that_end_with(order));
        let is_lost = self.gets_wrong(Alteration::UncoveredIsLost);
        let list = self.lists.iter_mut().find(|list| list.id == id).expect("it was found");
        list.linked.clear();
        match &mut list.entry {
            Some(entry) if traded > covered && !is_lost => {
                entry.traded = Quantity(traded - covered);
                list.covered = Quantity::ZERO;
                self.will_read(id);
            }
            _ => drop(self.forget_list(id)),
        }
        for id in &ending {
            let order = self.remove(*id);
            self.end(&order, DoneReason::Linked);
        }
        ending.len()
    }

    /// Ends what is left of an entry that has no list any more.
    fn end_entry(&mut self, id: OrderId) {
        if self.is_open_order(id) && !self.gets_wrong(Alteration::EntriesGoOn) {
            let order = self.remove(id);
            self.end(&order, DoneReason::Linked);
        }
    }

    /// An order has traded. If it rests its trade may be read at once.
    pub(super) fn trade_as_entry(&mut self, order: &Order, rests: bool) {
        let Some(entry) = self.entry_mut(order.id) else { return };
        entry.traded = order.filled;
        if rests {
            self.will_read(order.id);
        } else {
            entry.is_taking = true;
        }
    }

    /// An order trades no more in this command as an incoming one.
    pub(super) fn stop_as_entry(&mut self, order: OrderId) {
        let Some(entry) = self.entry_mut(order) else { return };
        if std::mem::take(&mut entry.is_taking) {
            self.will_read(order);
        }
    }

    /// An order has ended, after which it trades no more.
    pub(super) fn end_as_entry(&mut self, order: OrderId) {
        let Some(list) = self.list_of_entry(order) else { return };
        let is_read = !self.lists_to_read.contains(&order);
        let traded = list.entry.is_some_and(|entry| entry.traded > Quantity::ZERO);
        match (traded, is_read, list.linked.is_empty()) {
            (false, ..) => drop(self.forget_list(order)),
            // It was too little so far, and becomes no more.
            (true, true, true) => self.will_read(order),
            (true, true, false) => self.leave_exits(order),
            (true, false, _) => {}
        }
    }

    /// Leaves exits linked with each other, without their entry.
    fn leave_exits(&mut self, id: OrderId) {
        let list = self.lists.iter_mut().find(|list| list.id == id).expect("it is a list");
        list.entry = None;
    }

    /// Enters the exits of an order for what it has traded, or makes them larger.
    pub(super) fn read_list(&mut self, id: OrderId, visited: &mut usize) {
        self.lists_to_read.retain(|other| *other != id);
        *visited = (*visited + READING).min(ORDERS_PER_COMMAND);
        let list = self.lists.iter().find(|list| list.id == id).expect("it is a list").clone();
        let mut entry = list.entry.expect("only entries are read");
        if let Some(order) = self.orders.iter().find(|order| order.id == id)
            && self.gets_wrong(Alteration::ExitsOfWholeSize)
        {
            entry.traded.0 += order.remaining.0;
        }
        if list.linked.is_empty() {
            self.enter_exits(id, &entry, visited);
        } else {
            self.grow_exits(&list, &entry);
        }
        let is_open = self.is_open_order(id);
        if !is_open && self.list_of_entry(id).is_some_and(|list| !list.linked.is_empty()) {
            self.leave_exits(id);
        }
    }

    /// Refuses exits, and ends their entry. Exits that are open stay.
    pub(super) fn refuse_exits(&mut self, id: OrderId, reason: RejectReason) {
        self.lists_to_read.retain(|other| *other != id);
        let list = self.lists.iter().find(|list| list.id == id).expect("it is a list");
        let terms = list.entry.expect("it has an entry").terms;
        if list.linked.is_empty() {
            self.forget_list(id);
        } else {
            self.leave_exits(id);
        }
        let NewOrder { account, instrument, .. } = terms;
        self.events.push(Event::ExitsRefused(ExitsRefused {
            order: id,
            account,
            instrument,
            reason,
        }));
        self.end_entry(id);
    }

    fn check_exits(&self, exits: &[Option<Exit>; 2]) -> Verdict {
        for exit in exits.iter().flatten() {
            match exit.waits() {
                Some(waits) => self.check_waiting(&waits)?,
                None => self.check_new(&exit.terms)?,
            }
        }
        let [Some(first), Some(_)] = exits else { return Ok(()) };
        self.account_has_room_for_two(&first.terms)?;
        self.venue_has_room_for_two()
    }

    fn enter_exits(&mut self, id: OrderId, entry: &Entry, visited: &mut usize) {
        let side = entry.terms.side.opposite();
        let exits = entry.legs().map(|leg| {
            let leg = leg?;
            let terms = leg.order(&entry.terms, side, entry.traded);
            Some(Exit { terms, condition: leg.condition })
        });
        match self.check_exits(&exits) {
            Err(RejectReason::NotionalTooSmall) if self.is_open_order(id) => return,
            Err(reason) => return self.refuse_exits(id, reason),
            Ok(()) => {}
        }
        let trades = |exit: &Exit| match exit.waits() {
            Some(_) => false,
            None => self.meets_another(&self.draft(&exit.terms).expect("it was checked")),
        };
        let is_reached =
            |exit: &Exit| exit.waits().is_some_and(|waits| self.is_reached_now(&waits));
        let at = exits.iter().position(|exit| exit.as_ref().is_some_and(trades));
        let at = at.or(exits.iter().position(|exit| exit.as_ref().is_some_and(is_reached)));
        if let Some(at) = at {
            let exit = exits[at].expect("it is there");
            self.forget_list(id);
            self.end_entry(id);
            let next = OrderId::from_parts(self.engine, self.orders_entered + 1);
            let mut linked = [None; 2];
            linked[at] = Some(next);
            match exit.waits() {
                Some(waits) => {
                    let draft = self.waiting(&waits).expect("it was checked");
                    self.tell_links(id, &draft, linked);
                    self.let_wait(&waits, 0);
                }
                None => {
                    let draft = self.draft(&exit.terms).expect("it was checked");
                    self.tell_links(id, &draft, linked);
                    self.accept(&exit.terms, None, None, visited);
                }
            }
            return;
        }
        let mut linked = [None; 2];
        let mut last = None;
        for (exit, linked) in exits.iter().zip(&mut linked) {
            let Some(exit) = exit else { continue };
            let draft = match exit.waits() {
                Some(waits) => self.waiting(&waits),
                None => self.draft(&exit.terms),
            };
            let draft = draft.expect("it was checked");
            let covered = last.map_or(0, |before: Order| self.covers(before.id, &draft));
            match exit.waits() {
                Some(waits) => drop(self.let_wait(&waits, covered)),
                None => drop(self.accept(&exit.terms, None, None, visited)),
            }
            *linked = Some(draft.id);
            last = Some(draft);
        }
        let list = self.lists.iter_mut().find(|list| list.id == id).expect("it is a list");
        list.linked = linked.into_iter().flatten().collect();
        list.covered = entry.traded;
        self.tell_links(id, &last.expect("an entry has an exit"), linked);
    }

    /// Whether exits may become so large.
    fn check_growth(&self, old: &[Order], new: &[Order]) -> Verdict {
        let first = new.first().expect("there is an exit");
        self.account_enters(first.account)?;
        self.instrument_is_entered(first.instrument)?;
        let listed = self.of(first);
        for order in new {
            listed.check_quantity(order.remaining)?;
            let notional = listed.notional(order.price, order.remaining);
            let most = listed.terms.notional_max;
            let is_worth = notional.is_some_and(|it| most.0 == 0 || it <= most);
            demand(is_worth, RejectReason::NotionalTooLarge)?;
            match order.waits {
                Some(_) => self.check_where_it_waits(order)?,
                None => self.check_level(order)?,
            }
        }
        let held = |orders: &[Order]| orders.iter().map(|order| self.hold(order).0).sum::<i128>();
        let more = held(new) - held(old);
        let available = self.available(first.account, self.held_currency(first));
        demand(more <= 0 || more <= available, RejectReason::InsufficientBalance)
    }

    fn grow_exits(&mut self, list: &List, entry: &Entry) {
        let find = |id: &OrderId| *self.orders.iter().find(|it| it.id == *id).expect("it is open");
        let old: Vec<Order> = list.linked.iter().map(find).collect();
        let is_larger = old.iter().all(|order| order.remaining < entry.traded);
        if !is_larger || self.gets_wrong(Alteration::ExitsDoNotGrow) {
            return;
        }
        let mut new: Vec<Order> =
            old.iter().map(|order| Order { remaining: entry.traded, ..*order }).collect();
        // A notional that cannot be expressed is refused before anything is held for it.
        let is_worth =
            |order: &Order| self.of(order).notional(order.price, order.remaining).is_some();
        if let [first, second] = &mut new[..]
            && is_worth(first)
            && is_worth(second)
            && !self.gets_wrong(Alteration::PairsHoldBoth)
        {
            second.covered = self.need(first).0.min(self.need(second).0);
        }
        if let Err(reason) = self.check_growth(&old, &new) {
            return self.refuse_exits(list.id, reason);
        }
        let known = self.lists.iter_mut().find(|it| it.id == list.id).expect("it is a list");
        known.covered = entry.traded;
        for (old, order) in old.into_iter().zip(new) {
            self.tell_amended(&old, &order);
            if order.waits.is_some() {
                *self.open_order_mut(order.id) = order;
            } else {
                self.remove(order.id);
                self.stop(&order);
            }
        }
    }
}
