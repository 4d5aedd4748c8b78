//! Trailing stops of an instrument: conditional orders whose trigger price follows the last price.
//!
//! A price that goes on in its direction moves the trigger prices of all that follow it. Nothing is moved
//! then: an order is kept by its distance, and its trigger price is computed from the extreme since it became
//! active when a price may have reached it.

use crate::book::{Book, LimitOrder, Orders, Slot};
use crate::by_slot::BySlot;
use crate::extremes::Extremes;
use crate::triggers::{Mark, QueuePlace, Stage, reaches};
use rialto_model::{Distance, DistanceKind, OrderId, Price, Quantity, Side, TrailTerms};
use std::collections::VecDeque;

/// The number of price levels that a move of an order to [`Trailing::reached`] counts as.
const LEVELS_PER_REACHED: u32 = 32;

/// How far a trailing stop has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Its activation price has not been reached, or not been handled.
    Inactive,
    /// It follows the price from a point of [`Trailing::extremes`] on.
    Active(u64),
    /// A price has reached its trigger price. It keeps its point so that its extreme can be shown.
    Reached { trigger: Price, point: u64 },
}

/// A trailing stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Follower {
    pub(crate) trail: TrailTerms,
    pub(crate) progress: Progress,
    /// The slots of the instrument's trailing stops before and behind it in order of entry, or zero.
    neighbours: [u32; 2],
}

const VACANT: Follower = Follower {
    trail: TrailTerms { distance: Distance::Ppm(0), activation_price: Price::ZERO },
    progress: Progress::Inactive,
    neighbours: [0; 2],
};

/// What the waiting orders of all instruments have beside their books, by slot.
pub(crate) struct WaitingSlots {
    /// Of those with a fixed trigger price.
    places: BySlot<QueuePlace>,
    /// Of trailing stops.
    followers: BySlot<Follower>,
}

impl WaitingSlots {
    pub(crate) fn new() -> WaitingSlots {
        let places = BySlot::new(QueuePlace::new(OrderId(0)));
        WaitingSlots { places, followers: BySlot::new(VACANT) }
    }

    /// The place of an order with a fixed trigger price.
    pub(crate) fn place(&self, slot: Slot) -> QueuePlace {
        *self.places.get(slot)
    }

    pub(crate) fn set_place(&mut self, slot: Slot, place: QueuePlace) {
        self.places.set(slot, place);
    }

    pub(crate) fn follower(&self, slot: Slot) -> &Follower {
        self.followers.get(slot)
    }

    fn follower_mut(&mut self, slot: Slot) -> &mut Follower {
        self.followers.get_mut(slot)
    }

    /// Links two neighbours in a list, and keeps its ends; zero is none.
    fn link(&mut self, before: u32, behind: u32, ends: &mut [u32; 2]) {
        match Slot::new(before) {
            Some(slot) => self.follower_mut(slot).neighbours[1] = behind,
            None => ends[0] = behind,
        }
        match Slot::new(behind) {
            Some(slot) => self.follower_mut(slot).neighbours[0] = before,
            None => ends[1] = before,
        }
    }
}

/// The trailing stops of an instrument.
pub(crate) struct Trailing {
    /// By activation price, on the sides of the orders.
    pub(crate) inactive: Book,
    /// By distance, in the order in which they became active, on the sides of the orders: those at a distance
    /// in units of price, and those in millionths.
    pub(crate) active: [Book; 2],
    /// By trigger price, on the sides of [`Triggers::book`](crate::triggers::Triggers::book): the orders that
    /// the first mark has reached.
    pub(crate) reached: Book,
    /// The prices that buys and sells follow, up to the marks that have been handled.
    pub(crate) extremes: [Extremes; 2],
    /// By side of the orders: no price that is not at or beyond this one reaches the trigger price of an
    /// active order.
    pub(crate) nearest: [Option<Price>; 2],
    /// The slots of the oldest and the newest order, or zero.
    ends: [u32; 2],
    count: usize,
    /// What the orders are for together.
    quantity: Quantity,
}

/// The price under which a book has a distance: the nearest is the best of both sides.
fn key(side: Side, distance: Distance) -> Price {
    match side {
        Side::Sell => Price(distance.value()),
        Side::Buy => Price(-distance.value()),
    }
}

/// The distance that a book has under a price.
fn distance_at(side: Side, kind: DistanceKind, key: Price) -> Distance {
    let value = if side == Side::Sell { key.0 } else { -key.0 };
    Distance::new(kind, value).expect("it was a distance before")
}

/// The one of two trigger prices of orders of a side that a price reaches first.
fn nearer(side: Side, one: Option<Price>, other: Option<Price>) -> Option<Price> {
    let (one, other) = match (one, other) {
        (Some(one), Some(other)) => (one, other),
        _ => return one.or(other),
    };
    Some(match side {
        Side::Sell => one.max(other),
        Side::Buy => one.min(other),
    })
}

impl Trailing {
    pub(crate) fn new() -> Trailing {
        let book = || {
            let mut book = Book::new();
            book.reserve(64);
            book
        };
        Trailing {
            inactive: book(),
            active: [book(), book()],
            reached: book(),
            extremes: [Side::Buy, Side::Sell].map(|side| {
                let mut extremes = Extremes::new(side);
                extremes.reserve(64);
                extremes
            }),
            nearest: [None; 2],
            ends: [0; 2],
            count: 0,
            quantity: Quantity::ZERO,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// What the orders are for together: no price has more of them.
    pub(crate) fn quantity(&self) -> Quantity {
        self.quantity
    }

    /// All books that the orders are in.
    pub(crate) fn books(&self) -> [&Book; 4] {
        let [prices, millionths] = &self.active;
        [&self.inactive, prices, millionths, &self.reached]
    }

    /// Adds an order that is not active. `id`, `quantity` and `owner` are its own.
    pub(crate) fn add(
        &mut self,
        orders: &mut Orders,
        waiting: &mut WaitingSlots,
        order: LimitOrder,
        trail: TrailTerms,
    ) -> Option<Slot> {
        let order = LimitOrder { price: trail.activation_price, ..order };
        let slot = self.inactive.insert(orders, order).ok()?;
        waiting.followers.set(slot, Follower { trail, ..VACANT });
        self.count += 1;
        self.quantity = self.quantity.checked_add(order.quantity)?;
        self.append(waiting, slot);
        Some(slot)
    }

    /// Puts an order, the newest, at the end of the list.
    pub(crate) fn append(&mut self, waiting: &mut WaitingSlots, slot: Slot) {
        let newest = self.ends[1];
        waiting.link(newest, slot.at(), &mut self.ends);
        waiting.link(slot.at(), 0, &mut self.ends);
    }

    /// Restores an order. It is [appended](Trailing::append) later, in order of entry.
    pub(crate) fn restore(
        &mut self,
        orders: &mut Orders,
        waiting: &mut WaitingSlots,
        order: LimitOrder,
        (trail, progress): (TrailTerms, Progress),
    ) -> Option<Slot> {
        let side = order.side;
        let (book, order) = match progress {
            Progress::Inactive => {
                (&mut self.inactive, LimitOrder { price: trail.activation_price, ..order })
            }
            Progress::Active(point) => {
                if !self.extremes[side as usize].restore_follower(point) {
                    return None;
                }
                let price = key(side, trail.distance);
                (&mut self.active[trail.distance.kind() as usize], LimitOrder { price, ..order })
            }
            Progress::Reached { trigger: price, point } => {
                if !self.extremes[side as usize].restore_follower(point) {
                    return None;
                }
                (&mut self.reached, LimitOrder { side: side.opposite(), price, ..order })
            }
        };
        let slot = book.insert(orders, order).ok()?;
        waiting.followers.set(slot, Follower { trail, progress, ..VACANT });
        self.count += 1;
        self.quantity = self.quantity.checked_add(order.quantity)?;
        Some(slot)
    }

    /// Changes the quantity of an order, which keeps its place.
    pub(crate) fn resize(
        &mut self,
        orders: &mut Orders,
        waiting: &WaitingSlots,
        slot: Slot,
        quantity: Quantity,
    ) {
        let Follower { trail, progress, .. } = waiting.follower(slot);
        let book = match progress {
            Progress::Inactive => &mut self.inactive,
            Progress::Active(_) => &mut self.active[trail.distance.kind() as usize],
            Progress::Reached { .. } => &mut self.reached,
        };
        self.quantity.0 += quantity.0 - orders.get(slot).remaining.0;
        book.resize(orders, slot, quantity);
    }

    /// Removes an order of a side.
    pub(crate) fn remove(
        &mut self,
        orders: &mut Orders,
        waiting: &mut WaitingSlots,
        slot: Slot,
        side: Side,
    ) {
        let Follower { trail, progress, neighbours: [before, behind] } = *waiting.follower(slot);
        waiting.link(before, behind, &mut self.ends);
        let book = match progress {
            Progress::Inactive => &mut self.inactive,
            Progress::Active(point) => {
                self.extremes[side as usize].unfollow(point);
                &mut self.active[trail.distance.kind() as usize]
            }
            Progress::Reached { point, .. } => {
                self.extremes[side as usize].unfollow(point);
                &mut self.reached
            }
        };
        let quantity = book.remove(orders, slot);
        self.count -= 1;
        self.quantity.0 -= quantity.0;
        if self.count == 0 {
            // An instrument whose trailing stops have ended is as one that never had any.
            self.extremes.iter_mut().for_each(Extremes::clear);
            self.nearest = [None; 2];
        }
    }

    /// Whether a price that rises (or falls) to `last` may make orders active, or trigger some.
    pub(crate) fn is_reached(&self, side: Side, last: Price) -> bool {
        let first = [self.inactive.best(side), self.nearest[side.opposite() as usize]];
        first.into_iter().flatten().any(|price| reaches(side, last, price))
    }

    /// The prices from which on one that rises, and one that falls, matters.
    pub(crate) fn bounds(&self) -> (Price, Price) {
        let [lows, highs] = &self.extremes;
        let above = [
            self.inactive.best(Side::Sell),
            self.nearest[Side::Buy as usize],
            highs.latest().and_then(|high| high.checked_add(Price(1))),
        ];
        let below = [
            self.inactive.best(Side::Buy),
            self.nearest[Side::Sell as usize],
            lows.latest().and_then(|low| low.checked_sub(Price(1))),
        ];
        let above = above.into_iter().flatten().min().unwrap_or(Price::MAX);
        (above, below.into_iter().flatten().max().unwrap_or(Price::ZERO))
    }

    /// Orders of a side follow a price that goes on in their direction.
    pub(crate) fn take_price(&mut self, side: Side, price: Price, tick: Price) {
        let extremes = &mut self.extremes[side as usize];
        extremes.push(price);
        if extremes.latest() != Some(price) {
            return;
        }
        for kind in [DistanceKind::Price, DistanceKind::Ppm] {
            if let Some(first) = self.active[kind as usize].best(side) {
                let trigger = distance_at(side, kind, first).trigger(side, price, tick);
                let nearest = &mut self.nearest[side as usize];
                *nearest = nearer(side, *nearest, trigger);
            }
        }
    }

    /// The next order that a mark makes active. `levels_left` counts down how many price levels it may visit.
    pub(crate) fn next_active(
        &self,
        orders: &Orders,
        mark: &mut Mark,
        levels_left: &mut u32,
    ) -> Option<Slot> {
        let mut levels = match mark.behind {
            None => self.inactive.levels(mark.side),
            Some(price) => self.inactive.levels_behind(mark.side, price),
        };
        while *levels_left > 0 {
            *levels_left -= 1;
            let price = levels.next().map(|level| level.price);
            let Some(price) = price.filter(|price| mark.covers(mark.side, *price)) else {
                (mark.stage, mark.behind) = (Stage::Distances(DistanceKind::Price), None);
                return None;
            };
            match self.inactive.ends_at(mark.side, price) {
                Some((first, _)) if QueuePlace::new(orders.get(first).id) <= mark.upto => {
                    return Some(first);
                }
                // Only orders are left here that came later.
                _ => mark.behind = Some(price),
            }
        }
        None
    }

    /// Makes an order active at a price.
    pub(crate) fn activate(
        &mut self,
        orders: &mut Orders,
        waiting: &mut WaitingSlots,
        slot: Slot,
        (side, price): (Side, Price),
        tick: Price,
    ) {
        let trail = waiting.follower(slot).trail;
        let active = &mut self.active[trail.distance.kind() as usize];
        self.inactive.move_to(active, orders, slot, (side, key(side, trail.distance)));
        let point = self.extremes[side as usize].follow(price);
        waiting.follower_mut(slot).progress = Progress::Active(point);
        let trigger = trail.distance.trigger(side, price, tick);
        let nearest = &mut self.nearest[side as usize];
        *nearest = nearer(side, *nearest, trigger);
    }

    /// Looks for active orders that a mark reaches, and moves them to [`Trailing::reached`].
    pub(crate) fn reach(
        &mut self,
        orders: &mut Orders,
        waiting: &mut WaitingSlots,
        mark: &mut Mark,
        tick: Price,
        levels_left: &mut u32,
    ) {
        let side = mark.side.opposite();
        while let Stage::Distances(kind) = mark.stage
            && *levels_left > 0
        {
            *levels_left -= 1;
            let book = &self.active[kind as usize];
            let mut levels = match mark.behind {
                None => book.levels(side),
                Some(price) => book.levels_behind(side, price),
            };
            let level = levels.next().map(|level| level.price);
            let first = level.and_then(|price| book.ends_at(side, price)).map(|(first, _)| first);
            let extremes = &self.extremes[side as usize];
            let is_reached =
                |price: Option<Price>| price.is_some_and(|price| mark.covers(mark.side, price));
            if let (Some(price), Some(first)) = (level, first) {
                let distance = distance_at(side, kind, price);
                let farthest = extremes.farthest().expect("an active order follows the price");
                let soonest = distance.trigger(side, farthest, tick);
                if is_reached(soonest) {
                    let Progress::Active(point) = waiting.follower(first).progress else {
                        unreachable!("it is among the active ones");
                    };
                    let extreme = extremes.since(point);
                    let trigger = distance.trigger(side, extreme, tick);
                    match trigger.filter(|_| is_reached(trigger)) {
                        Some(trigger) => {
                            self.set_reached(orders, waiting, first, (side, trigger));
                            *levels_left = levels_left.saturating_sub(LEVELS_PER_REACHED - 1);
                        }
                        // The others at this distance became active later, and are no nearer.
                        None => {
                            mark.nearest = nearer(side, mark.nearest, trigger);
                            mark.behind = Some(price);
                        }
                    }
                    continue;
                }
                mark.nearest = nearer(side, mark.nearest, soonest);
            }
            mark.behind = None;
            mark.stage = match kind {
                DistanceKind::Price => Stage::Distances(DistanceKind::Ppm),
                DistanceKind::Ppm => {
                    self.nearest[side as usize] = mark.nearest;
                    Stage::Entry
                }
            };
        }
    }

    fn set_reached(
        &mut self,
        orders: &mut Orders,
        waiting: &mut WaitingSlots,
        slot: Slot,
        (side, trigger): (Side, Price),
    ) {
        let Follower { trail, progress, .. } = *waiting.follower(slot);
        let Progress::Active(point) = progress else { unreachable!("it is active") };
        let active = &mut self.active[trail.distance.kind() as usize];
        active.move_to(&mut self.reached, orders, slot, (side.opposite(), trigger));
        waiting.follower_mut(slot).progress = Progress::Reached { trigger, point };
    }

    /// The order reached by the first mark, which is of a side, that is entered next, and its trigger price.
    pub(crate) fn first_reached(&self, side: Side) -> Option<(Slot, Price)> {
        let price = self.reached.best(side)?;
        self.reached.front(side).map(|slot| (slot, price))
    }

    /// Whether the state is consistent between two commands, beside the queued marks.
    pub(crate) fn is_sound(
        &self,
        orders: &Orders,
        waiting: &WaitingSlots,
        marks: &VecDeque<Mark>,
        (last, tick): (Price, Price),
    ) -> bool {
        let sides = [Side::Buy, Side::Sell];
        let mut followed = [0, 0];
        let mut sum = 0_i128;
        let (mut listed, mut newest) = (0, OrderId(0));
        for slot in self.slots(waiting) {
            let order = orders.get(slot);
            if order.id <= newest || listed == self.count {
                return false;
            }
            (listed, newest) = (listed + 1, order.id);
            sum += i128::from(order.remaining.0);
        }
        let is_in_place = |book: &Book, side: Side, slot: Slot, followed: &mut [u64; 2]| {
            let Follower { trail, progress, .. } = *waiting.follower(slot);
            let price = book.locate(orders, slot).1;
            match progress {
                Progress::Inactive => {
                    std::ptr::eq(book, &self.inactive) && price == trail.activation_price
                }
                Progress::Active(point) => {
                    followed[side as usize] += 1;
                    let extreme = self.extremes[side as usize].since(point);
                    let trigger = trail.distance.trigger(side, extreme, tick);
                    let nearest = self.nearest[side as usize];
                    std::ptr::eq(book, &self.active[trail.distance.kind() as usize])
                        && price == key(side, trail.distance)
                        && nearer(side, trigger, nearest) == nearest
                }
                Progress::Reached { trigger, .. } => {
                    followed[side.opposite() as usize] += 1;
                    let mark = marks.front().filter(|mark| mark.covers(side, price));
                    std::ptr::eq(book, &self.reached)
                        && mark.is_some_and(|mark| {
                            matches!(mark.stage, Stage::Distances(_) | Stage::Entry)
                        })
                        && trigger == price
                }
            }
        };
        let all_in_place = self.books().into_iter().all(|book| {
            sides.into_iter().all(|side| {
                book.orders(orders, side).all(|slot| is_in_place(book, side, slot, &mut followed))
            })
        });
        let count = self.books().map(|book| sides.map(|side| book.order_count(side)));
        let is_passed =
            |side: Side| last != Price::ZERO && marks.is_empty() && self.is_reached(side, last);
        all_in_place
            && listed == self.count
            && self.books().iter().all(|book| book.check(orders).is_ok())
            && count.iter().flatten().sum::<usize>() == self.count
            && sum == i128::from(self.quantity.0)
            && sides.iter().all(|side| {
                let stretches = self.extremes[*side as usize].stretches().iter();
                let all: u64 = stretches.map(|stretch| stretch.followers).sum();
                all == followed[*side as usize] && !is_passed(*side)
            })
    }

    /// The order that was entered first.
    pub(crate) fn oldest(&self) -> Option<Slot> {
        Slot::new(self.ends[0])
    }

    /// All orders, the oldest first.
    pub(crate) fn slots<'a>(&self, waiting: &'a WaitingSlots) -> impl Iterator<Item = Slot> + 'a {
        let behind = |slot: &Slot| Slot::new(waiting.follower(*slot).neighbours[1]);
        std::iter::successors(self.oldest(), behind)
    }
}
