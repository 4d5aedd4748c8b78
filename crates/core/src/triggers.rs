//! The waiting orders of an instrument, and the prices that have not been handled.

use crate::ORDERS_PER_COMMAND;
use crate::book::{Book, LimitOrder, Orders, Slot};
use crate::orders::Attributes;
use crate::trailing::{Progress, Trailing, WaitingSlots};
use rialto_model::{Condition, DistanceKind, OrderId, Price, Quantity, Side, Trigger};
use std::collections::VecDeque;

/// The version since which there are conditional orders.
pub(crate) const WITH_TRIGGERS: u32 = 6;
/// The version since which there are trailing stops.
pub(crate) const WITH_TRAILING: u32 = 7;

/// The most queued marks of an instrument. With more, no trailing stop is accepted in it.
pub(crate) const MARKS_MAX: usize = 65_536;
/// When the number of queued marks is a power of two from this one on, the marks of ended orders are removed.
const OWN_MARKS_MIN: usize = 256;

/// The place of a waiting order: its trigger price is compared with the prices after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueuePlace {
    /// The newest order of the instrument that had waited when it took its place: itself, unless its trigger
    /// price was amended.
    pub(crate) order: OrderId,
    /// How many trigger prices had been amended since then.
    pub(crate) amended: u64,
}

impl QueuePlace {
    /// The place of an order that was just entered.
    pub(crate) fn new(order: OrderId) -> QueuePlace {
        QueuePlace { order, amended: 0 }
    }
}

/// What of a mark is handled next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// That trailing stops follow its price.
    Begin,
    /// The trailing stops that become active.
    Activation,
    /// The active trailing stops that it reaches, by distance.
    Distances(DistanceKind),
    /// The orders that are entered.
    Entry,
    /// Nothing.
    Done,
}

/// A price whose orders have not all been handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The side of [`Triggers::book`].
    pub(crate) side: Side,
    pub(crate) price: Price,
    /// The last place that was taken when the price was reached.
    pub(crate) upto: QueuePlace,
    pub(crate) stage: Stage,
    /// The price of the stage's book behind which the next order is looked for, if some were passed over.
    pub(crate) behind: Option<Price>,
    /// The nearest trigger price of the active trailing stops that were passed over.
    pub(crate) nearest: Option<Price>,
    /// Whether it is about the order of `upto` alone, which it makes active.
    pub(crate) is_own: bool,
}

/// The waiting orders of an instrument.
pub(crate) struct Triggers {
    /// The orders at their trigger prices. A sell side's are triggered at or above them, the lowest first; a
    /// buy side's at or below them, the highest first.
    pub(crate) book: Book,
    /// A last price below this matters to no order. [`Triggers::update_bounds`] computes it.
    above: Price,
    /// A last price above this does not.
    below: Price,
    /// No last price below this reaches a trigger price in `book` that no mark covers.
    pub(crate) book_above: Price,
    /// No last price above this does.
    pub(crate) book_below: Price,
    /// The last place that was taken.
    pub(crate) newest: QueuePlace,
    /// In the order in which the prices were reached.
    pub(crate) marks: VecDeque<Mark>,
    /// Since the first trailing stop.
    pub(crate) trailing: Option<Box<Trailing>>,
    /// Whether its instrument has a turn in background work.
    pub(crate) has_turn: bool,
}

/// The side of [`Triggers::book`] where an order waits for a trigger.
fn book_side(side: Side, trigger: &Trigger) -> Side {
    if trigger.rises(side) { Side::Sell } else { Side::Buy }
}

/// What background work does next.
pub(crate) enum Step {
    Activate(Slot),
    Enter(Slot),
}

impl Triggers {
    pub(crate) fn new() -> Triggers {
        Triggers {
            book: Book::new(),
            above: Price::MAX,
            below: Price::ZERO,
            book_above: Price::MAX,
            book_below: Price::ZERO,
            newest: QueuePlace::new(OrderId(0)),
            marks: VecDeque::new(),
            trailing: None,
            has_turn: false,
        }
    }

    /// The number of waiting orders.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        let trailing = self.trailing.as_ref().map_or(0, |trailing| trailing.len());
        self.book.order_count(Side::Buy) + self.book.order_count(Side::Sell) + trailing
    }

    /// The slots of all waiting orders.
    pub(crate) fn slots<'a>(
        &'a self,
        orders: &'a Orders,
        waiting: &'a WaitingSlots,
    ) -> impl Iterator<Item = Slot> + 'a {
        let trailing = self.trailing.as_ref().into_iter();
        let trailing = trailing.flat_map(move |trailing| trailing.slots(waiting));
        self.book.all_orders(orders).chain(trailing)
    }

    /// The order that is cancelled first when all are.
    pub(crate) fn front(&self) -> Option<Slot> {
        let front = self.book.front(Side::Buy).or_else(|| self.book.front(Side::Sell));
        front.or_else(|| self.trailing.as_ref().and_then(|trailing| trailing.oldest()))
    }

    /// What is held where an order would wait.
    pub(crate) fn quantity_beside(&self, side: Side, condition: &Condition) -> Quantity {
        match condition {
            Condition::Trigger(trigger) => {
                let level = self.book.level(book_side(side, trigger), trigger.price);
                level.map_or(Quantity::ZERO, |level| level.quantity)
            }
            Condition::Trail(_) => {
                self.trailing.as_ref().map_or(Quantity::ZERO, |trailing| trailing.quantity())
            }
        }
    }

    /// Adds an order, whose price is not looked at.
    pub(crate) fn add(
        &mut self,
        orders: &mut Orders,
        waiting: &mut WaitingSlots,
        order: LimitOrder,
        condition: &Condition,
    ) -> Option<Slot> {
        match condition {
            Condition::Trigger(trigger) => {
                let side = book_side(order.side, trigger);
                let waits = LimitOrder { side, price: trigger.price, ..order };
                let slot = self.book.insert(orders, waits).ok()?;
                self.newest = QueuePlace::new(order.id);
                waiting.set_place(slot, self.newest);
                self.expect(side, trigger.price);
                Some(slot)
            }
            Condition::Trail(trail) => {
                if self.trailing.is_none() {
                    // Each price may be queued.
                    self.marks.reserve(2 * ORDERS_PER_COMMAND as usize);
                }
                let trailing = self.trailing.get_or_insert_with(|| Box::new(Trailing::new()));
                let slot = trailing.add(orders, waiting, order, *trail)?;
                self.newest = QueuePlace::new(order.id);
                self.update_bounds();
                Some(slot)
            }
        }
    }

    /// Makes a trailing stop follow the price: that of the first mark, or the last price without one.
    pub(crate) fn activate(
        &mut self,
        orders: &mut Orders,
        waiting: &mut WaitingSlots,
        slot: Slot,
        (side, last): (Side, Price),
        tick: Price,
    ) {
        let price = self.marks.front().map_or(last, |mark| mark.price);
        let trailing = self.trailing.as_mut().expect("it is one of them");
        trailing.activate(orders, waiting, slot, (side, price), tick);
        self.update_bounds();
    }

    /// The extreme that a trailing stop has followed up to now, if it is active.
    pub(crate) fn extreme(&self, waiting: &WaitingSlots, slot: Slot, side: Side) -> Option<Price> {
        let (Progress::Active(point) | Progress::Reached { point, .. }) =
            waiting.follower(slot).progress
        else {
            return None;
        };
        let handled = self.trailing.as_ref()?.extremes[side as usize].since(point);
        let in_line = self.marks.iter().map(|mark| mark.price);
        Some(match side {
            Side::Sell => in_line.fold(handled, Price::max),
            Side::Buy => in_line.fold(handled, Price::min),
        })
    }

    /// The price that triggers an order that trails or waits, if there is one now.
    pub(crate) fn trigger_price(
        &self,
        orders: &Orders,
        waiting: &WaitingSlots,
        slot: Slot,
        attributes: &Attributes,
        tick: Price,
    ) -> Option<Price> {
        if !attributes.role.trails() {
            return Some(self.book.locate(orders, slot).1);
        }
        if let Progress::Reached { trigger, .. } = waiting.follower(slot).progress {
            return Some(trigger);
        }
        let extreme = self.extreme(waiting, slot, attributes.side)?;
        waiting.follower(slot).trail.distance.trigger(attributes.side, extreme, tick)
    }

    /// Changes the quantity of a waiting order, which keeps its place.
    pub(crate) fn resize(
        &mut self,
        orders: &mut Orders,
        waiting: &WaitingSlots,
        slot: Slot,
        attributes: Attributes,
        quantity: Quantity,
    ) {
        match &mut self.trailing {
            Some(trailing) if attributes.role.trails() => {
                trailing.resize(orders, waiting, slot, quantity);
            }
            _ => self.book.resize(orders, slot, quantity),
        }
    }

    /// Changes the trigger price and the quantity of an order that has not been triggered. It stands behind
    /// the orders that wait at that price.
    pub(crate) fn amend_trigger(
        &mut self,
        orders: &mut Orders,
        waiting: &mut WaitingSlots,
        slot: Slot,
        (price, quantity): (Price, Quantity),
    ) {
        let (side, _) = self.book.locate(orders, slot);
        self.book.move_to_price(orders, slot, price, quantity);
        self.newest.amended += 1;
        waiting.set_place(slot, self.newest);
        self.expect(side, price);
    }

    /// Whether a price has triggered an order with a fixed trigger price.
    pub(crate) fn is_triggered(&self, orders: &Orders, waiting: &WaitingSlots, slot: Slot) -> bool {
        let ((side, price), place) = (self.book.locate(orders, slot), waiting.place(slot));
        self.marks.iter().any(|mark| mark.covers(side, price) && place <= mark.upto)
    }

    /// Removes a waiting order.
    pub(crate) fn remove(
        &mut self,
        orders: &mut Orders,
        waiting: &mut WaitingSlots,
        slot: Slot,
        attributes: Attributes,
    ) {
        match &mut self.trailing {
            Some(trailing) if attributes.role.trails() => {
                trailing.remove(orders, waiting, slot, attributes.side);
                if trailing.len() == 0
                    && let Some(mark) = self.marks.front_mut()
                    && matches!(mark.stage, Stage::Distances(_))
                {
                    (mark.behind, mark.nearest) = (None, None);
                }
                self.update_bounds();
            }
            _ => {
                self.book.remove(orders, slot);
            }
        }
    }

    /// Forgets all prices if no order waits.
    pub(crate) fn forget_marks_if_none_wait(&mut self) {
        if !self.marks.is_empty() && self.len() == 0 {
            self.marks.clear();
            self.update_bounds();
        }
    }

    /// Whether a last price matters to orders that wait.
    #[inline]
    pub(crate) fn are_reached(&self, last: Price) -> bool {
        (last >= self.above) | (last <= self.below)
    }

    /// Whether trailing stops wait.
    pub(crate) fn has_trailing(&self) -> bool {
        self.trailing.as_ref().is_some_and(|trailing| trailing.len() > 0)
    }

    /// Computes the prices that [`Triggers::are_reached`] compares with. Must follow every change of what
    /// they depend on that brings them nearer.
    pub(crate) fn update_bounds(&mut self) {
        (self.above, self.below) = (self.book_above, self.book_below);
        if !self.has_trailing() {
            return;
        }
        // Trailing stops follow the prices in their order, so that each price is queued.
        if !self.marks.is_empty() {
            (self.above, self.below) = (Price(i64::MIN), Price::MAX);
            return;
        }
        if let Some(trailing) = &self.trailing {
            let (above, below) = trailing.bounds();
            self.above = self.above.min(above);
            self.below = self.below.max(below);
        }
    }

    /// Marks what a last price reaches. Returns whether there is anything.
    #[cold]
    pub(crate) fn mark(&mut self, waiting: &WaitingSlots, last: Price, tick: Price) -> bool {
        let trails = self.has_trailing();
        // The last price before, if every price is queued.
        let before = self.marks.back().filter(|_| trails).map(|mark| mark.price);
        let mut is_any = false;
        for side in [Side::Sell, Side::Buy] {
            let from = if side == Side::Sell { self.book_above } else { self.book_below };
            let is_beyond = reaches(side, last, from);
            // The order that was expected there may have been cancelled.
            let next = match is_beyond {
                true => self.unreached(waiting, side, from),
                false => None,
            };
            let follows = match (before, &self.trailing) {
                (Some(before), _) => before != last && reaches(side, last, before),
                (None, Some(trailing)) => trails && trailing.is_reached(side, last),
                (None, None) => false,
            };
            if follows || next.is_some_and(|price| reaches(side, last, price)) {
                is_any = true;
                self.add_mark(side, last);
            }
            if is_beyond {
                let next = self.unreached(waiting, side, last);
                match side {
                    Side::Sell => self.book_above = next.unwrap_or(Price::MAX),
                    Side::Buy => self.book_below = next.unwrap_or(Price::ZERO),
                }
            }
        }
        if let Some(trailing) = &mut self.trailing
            && self.marks.is_empty()
        {
            trailing.take_price(Side::Sell, last, tick);
            trailing.take_price(Side::Buy, last, tick);
        }
        self.update_bounds();
        is_any
    }

    /// Queues a price. Where no order trails, one that goes on joins the one before.
    pub(crate) fn add_mark(&mut self, side: Side, price: Price) {
        let (upto, trails) = (self.newest, self.has_trailing());
        match self.marks.back_mut() {
            Some(mark) if mark.side == side && mark.upto == upto && !trails => mark.price = price,
            _ => {
                let stage = if trails { Stage::Begin } else { Stage::Entry };
                let (behind, nearest, is_own) = (None, None, false);
                self.marks.push_back(Mark { side, price, upto, stage, behind, nearest, is_own });
            }
        }
    }

    /// Queues the last price for an order that was just added, and that it makes active.
    pub(crate) fn add_own_mark(&mut self, orders: &Orders, side: Side, last: Price) {
        if self.marks.len() >= OWN_MARKS_MIN && self.marks.len().is_power_of_two() {
            // Those of orders that have ended meanwhile do nothing.
            let last_one = self.marks.back().map(|mark| mark.upto);
            self.marks.retain(|mark| {
                let is_open = || orders.find(mark.upto.order).is_some();
                !mark.is_own || Some(mark.upto) == last_one || is_open()
            });
        }
        self.add_mark(side, last);
        if let Some(mark) = self.marks.back_mut() {
            mark.is_own = true;
        }
        self.update_bounds();
    }

    /// The first trigger price from `from` on at which an order waits that no price has reached.
    fn unreached(&self, waiting: &WaitingSlots, side: Side, from: Price) -> Option<Price> {
        let inside = match side {
            Side::Sell => from.0.checked_sub(1),
            Side::Buy => from.0.checked_add(1),
        };
        let levels = match inside {
            Some(price) => self.book.levels_behind(side, Price(price)),
            None => self.book.levels(side),
        };
        let is_unreached = |price: &Price| {
            let covering = self.marks.iter().filter(|mark| mark.covers(side, *price));
            let upto = covering.map(|mark| mark.upto).max();
            let last = self.book.ends_at(side, *price).map(|(_, last)| waiting.place(last));
            last > upto
        };
        levels.map(|level| level.price).find(is_unreached)
    }

    /// Makes later prices find an order that was put into the book.
    fn expect(&mut self, side: Side, price: Price) {
        match side {
            Side::Sell => self.book_above = self.book_above.min(price),
            Side::Buy => self.book_below = self.book_below.max(price),
        }
        self.update_bounds();
    }

    /// The next order that a mark makes active, or that is entered. `levels_left` counts down how many price
    /// levels it may visit; at zero there may be more.
    pub(crate) fn next(
        &mut self,
        orders: &mut Orders,
        waiting: &mut WaitingSlots,
        tick: Price,
        levels_left: &mut u32,
    ) -> Option<Step> {
        while let Some(mut mark) = self.marks.front().copied()
            && *levels_left > 0
        {
            let mut step = None;
            match (mark.stage, &mut self.trailing) {
                (Stage::Begin, Some(trailing)) => {
                    trailing.take_price(mark.side, mark.price, tick);
                    mark.stage = Stage::Activation;
                }
                (Stage::Activation, Some(trailing)) => {
                    step = trailing.next_active(orders, &mut mark, levels_left).map(Step::Activate);
                }
                (Stage::Distances(_), Some(trailing)) => {
                    trailing.reach(orders, waiting, &mut mark, tick, levels_left);
                }
                _ => step = self.next_entry(waiting, &mut mark, levels_left).map(Step::Enter),
            }
            self.marks[0] = mark;
            if step.is_some() {
                return step;
            }
            if mark.stage == Stage::Done {
                self.marks.pop_front();
                self.update_bounds();
            }
        }
        None
    }

    /// The order of a mark that is entered next: the one with the nearest trigger price.
    fn next_entry(
        &self,
        waiting: &WaitingSlots,
        mark: &mut Mark,
        levels_left: &mut u32,
    ) -> Option<Slot> {
        let trailing = self.trailing.as_ref();
        let trailing = trailing.and_then(|trailing| trailing.first_reached(mark.side));
        while *levels_left > 0 {
            *levels_left -= 1;
            let mut levels = match mark.behind {
                None => self.book.levels(mark.side),
                Some(price) => self.book.levels_behind(mark.side, price),
            };
            let price = levels.next().map(|level| level.price);
            let Some(price) = price.filter(|price| mark.covers(mark.side, *price)) else {
                if trailing.is_none() {
                    mark.stage = Stage::Done;
                }
                return trailing.map(|(slot, _)| slot);
            };
            if let Some((slot, nearer)) = trailing
                && nearer != price
                && reaches(mark.side, price, nearer)
            {
                return Some(slot);
            }
            match self.book.ends_at(mark.side, price) {
                Some((first, _)) if waiting.place(first) <= mark.upto => return Some(first),
                // Only orders are left here that came later.
                _ => mark.behind = Some(price),
            }
        }
        None
    }
}

impl Mark {
    /// Whether it is about the orders at a trigger price.
    pub(crate) fn covers(&self, side: Side, price: Price) -> bool {
        self.side == side && reaches(side, self.price, price)
    }
}

/// Whether a last price reaches a trigger price on a side of [`Triggers::book`].
pub(crate) fn reaches(side: Side, last: Price, trigger: Price) -> bool {
    match side {
        Side::Sell => last >= trigger,
        Side::Buy => last <= trigger,
    }
}
