//! The order book against a naive one: a plain list of orders that is searched from end to end.

use proptest::prelude::*;
use rialto_core::book::{Book, BookRefusal, Fill, LimitOrder, LimitOrderBook, Orders, Slot};
use rialto_model::{MemberId, OrderId, Price, Quantity, Side};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Resting {
    id: OrderId,
    side: Side,
    price: Price,
    remaining: Quantity,
    owner: MemberId,
}

/// Resting orders, oldest first.
#[derive(Clone, Debug, Default)]
struct Naive(Vec<Resting>);

impl Naive {
    /// The orders of a side in priority. Sorting is stable, so equal prices stay in order of time.
    fn by_priority(&self, side: Side) -> Vec<Resting> {
        let mut all: Vec<_> = self.0.iter().copied().filter(|order| order.side == side).collect();
        match side {
            Side::Buy => all.sort_by_key(|order| std::cmp::Reverse(order.price)),
            Side::Sell => all.sort_by_key(|order| order.price),
        }
        all
    }

    fn levels(&self, side: Side) -> Vec<(Price, i64, u32)> {
        let mut levels: Vec<(Price, i64, u32)> = Vec::new();
        for order in self.by_priority(side) {
            match levels.last_mut() {
                Some(level) if level.0 == order.price => {
                    level.1 += order.remaining.0;
                    level.2 += 1;
                }
                _ => levels.push((order.price, order.remaining.0, 1)),
            }
        }
        levels
    }

    fn position(&self, id: OrderId) -> Option<usize> {
        self.0.iter().position(|order| order.id == id)
    }

    /// Takes up to `by` from an order, and the order away if nothing is left; returns what is left.
    fn reduce(&mut self, id: OrderId, by: Quantity) -> Quantity {
        let at = self.position(id).expect("the model holds the order");
        self.0[at].remaining.0 -= by.0.min(self.0[at].remaining.0);
        let left = self.0[at].remaining;
        if left == Quantity::ZERO {
            self.0.remove(at);
        }
        left
    }

    fn place(&mut self, taker: Resting) -> (Vec<Fill>, Quantity) {
        let (mut fills, mut left) = (Vec::new(), taker.remaining);
        for maker in self.by_priority(taker.side.opposite()) {
            let reaches = match taker.side {
                Side::Buy => maker.price <= taker.price,
                Side::Sell => maker.price >= taker.price,
            };
            if !reaches || left == Quantity::ZERO {
                break;
            }
            let quantity = left.min(maker.remaining);
            left.0 -= quantity.0;
            self.reduce(maker.id, quantity);
            let (maker, maker_owner, price) = (maker.id, maker.owner, maker.price);
            fills.push(Fill { maker, maker_owner, taker: taker.id, price, quantity });
        }
        if left > Quantity::ZERO {
            self.0.push(Resting { remaining: left, ..taker });
        }
        (fills, left)
    }
}

fn assert_same(book: &Book, orders: &Orders, naive: &Naive) {
    assert_eq!(book.check(orders), Ok(()));
    for side in [Side::Buy, Side::Sell] {
        let expected = naive.by_priority(side);
        let found: Vec<Resting> = book
            .orders(orders, side)
            .map(|slot| {
                let (order, (side, price)) = (orders.get(slot), book.locate(orders, slot));
                let (id, remaining, owner) = (order.id, order.remaining, order.owner);
                Resting { id, side, price, remaining, owner }
            })
            .collect();
        assert_eq!(found, expected);
        let levels: Vec<_> =
            book.levels(side).map(|level| (level.price, level.quantity.0, level.orders)).collect();
        assert_eq!(levels, naive.levels(side));
        for &(price, quantity, count) in &levels {
            let level = book.level(side, price).expect("a level that was walked is found");
            assert_eq!((level.quantity.0, level.orders), (quantity, count));
        }
        assert_eq!(book.level_count(side), levels.len());
        assert_eq!(book.order_count(side), expected.len());
        assert_eq!(book.best(side), expected.first().map(|order| order.price));
        let front = book.front(side).map(|slot| orders.get(slot).id);
        assert_eq!(front, expected.first().map(|order| order.id));
    }
    let crossed =
        book.best(Side::Buy).zip(book.best(Side::Sell)).is_some_and(|(buy, sell)| buy >= sell);
    assert_eq!(book.is_crossed(), crossed);
}

fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Buy), Just(Side::Sell)]
}

/// Mostly a few prices that meet, some that hardly ever do, and the ends of the range.
fn price() -> impl Strategy<Value = Price> {
    prop_oneof![
        12 => (95_i64..105).prop_map(Price),
        2 => (-1_000_i64..1_000).prop_map(Price),
        1 => any::<i64>().prop_map(Price),
        1 => prop_oneof![Just(Price(i64::MIN)), Just(Price(i64::MAX))],
    ]
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Place {
        side: Side,
        price: Price,
        quantity: i64,
        owner: u32,
    },
    /// Of the order that stands at this position of the resting ones.
    Cancel {
        which: prop::sample::Index,
    },
    CancelUnknown {
        id: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (side(), price(), 1_i64..20, 0_u32..4)
            .prop_map(|(side, price, quantity, owner)| Step::Place { side, price, quantity, owner }),
        3 => any::<prop::sample::Index>().prop_map(|which| Step::Cancel { which }),
        1 => (1_000_000_u64..2_000_000).prop_map(|id| Step::CancelUnknown { id }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn a_limit_order_book_matches_as_the_naive_one(
        steps in prop::collection::vec(step(), 1..120),
        first_id in prop_oneof![Just(1_u64), Just((7 << 48) + u64::from(u32::MAX) - 40)],
    ) {
        let mut book = LimitOrderBook::with_capacity(200);
        let mut naive = Naive::default();
        for (step, id) in steps.into_iter().zip(first_id..) {
            match step {
                Step::Place { side, price, quantity, owner } => {
                    let (id, owner) = (OrderId(id), MemberId(owner));
                    let remaining = Quantity(quantity);
                    let expected = naive.place(Resting { id, side, price, remaining, owner });
                    let mut fills = Vec::new();
                    let order = LimitOrder { id, side, price, quantity: remaining, owner };
                    let rests = book.place(order, &mut |fill| fills.push(fill));
                    prop_assert_eq!((fills, rests), (expected.0, Ok(expected.1)));
                }
                Step::Cancel { which } if !naive.0.is_empty() => {
                    let order = naive.0.remove(which.index(naive.0.len()));
                    let cancelled = book.cancel(order.id).expect("a resting order can be cancelled");
                    prop_assert_eq!(
                        (cancelled.id, cancelled.remaining, cancelled.owner),
                        (order.id, order.remaining, order.owner)
                    );
                    prop_assert_eq!(book.cancel(order.id), None);
                }
                Step::Cancel { .. } => {}
                Step::CancelUnknown { id } => prop_assert_eq!(book.cancel(OrderId(id)), None),
            }
            assert_same(book.book(), book.orders(), &naive);
            prop_assert!(!book.book().is_crossed());
            prop_assert_eq!(book.orders().len(), naive.0.len());
        }
    }
}

/// The operations of a matching engine on a book; `book` is one of two.
#[derive(Clone, Copy, Debug)]
enum Raw {
    Insert { book: usize, side: Side, price: Price, quantity: i64 },
    Remove { book: usize, which: prop::sample::Index },
    Reduce { book: usize, which: prop::sample::Index, by: i64 },
    FillFront { book: usize, side: Side, quantity: i64 },
}

fn raw() -> impl Strategy<Value = Raw> {
    let which = any::<prop::sample::Index>;
    prop_oneof![
        4 => (0_usize..2, side(), price(), 1_i64..20)
            .prop_map(|(book, side, price, quantity)| Raw::Insert { book, side, price, quantity }),
        1 => (0_usize..2, which()).prop_map(|(book, which)| Raw::Remove { book, which }),
        1 => (0_usize..2, which(), 0_i64..15)
            .prop_map(|(book, which, by)| Raw::Reduce { book, which, by }),
        1 => (0_usize..2, side(), 1_i64..40)
            .prop_map(|(book, side, quantity)| Raw::FillFront { book, side, quantity }),
    ]
}

fn slot_of(orders: &Orders, id: OrderId) -> Slot {
    let slot = orders.find(id).expect("a resting order is found");
    assert!(orders.holds(slot, id));
    slot
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn two_books_on_one_slab_keep_apart_even_when_crossed(
        steps in prop::collection::vec(raw(), 1..120),
    ) {
        const LIMIT: usize = 30;
        let mut orders = Orders::with_limit(LIMIT);
        let mut books = [Book::new(), Book::new()];
        let mut naives = [Naive::default(), Naive::default()];
        for (step, id) in steps.into_iter().zip(1..) {
            let resting = naives[0].0.len() + naives[1].0.len();
            match step {
                Raw::Insert { book, side, price, quantity } => {
                    let (id, owner) = (OrderId(id), MemberId(quantity as u32));
                    let remaining = Quantity(quantity);
                    let order = LimitOrder { id, side, price, quantity: remaining, owner };
                    let slot = books[book].insert(&mut orders, order);
                    if resting == LIMIT {
                        prop_assert_eq!(slot, Err(BookRefusal::TooManyOrders));
                    } else {
                        prop_assert_eq!(slot, Ok(slot_of(&orders, id)));
                        naives[book].0.push(Resting { id, side, price, remaining, owner });
                    }
                }
                Raw::Remove { book, which } if !naives[book].0.is_empty() => {
                    let at = which.index(naives[book].0.len());
                    let order = naives[book].0.remove(at);
                    let slot = slot_of(&orders, order.id);
                    prop_assert_eq!(books[book].remove(&mut orders, slot), order.remaining);
                    prop_assert!(!orders.holds(slot, order.id));
                }
                Raw::Reduce { book, which, by } if !naives[book].0.is_empty() => {
                    let id = naives[book].0[which.index(naives[book].0.len())].id;
                    let left = naives[book].reduce(id, Quantity(by));
                    let slot = slot_of(&orders, id);
                    prop_assert_eq!(books[book].reduce(&mut orders, slot, Quantity(by)), left);
                }
                Raw::Remove { .. } | Raw::Reduce { .. } => {}
                Raw::FillFront { book, side, quantity } => {
                    let filled = books[book].fill_front(&mut orders, side, Quantity(quantity));
                    let first = naives[book].by_priority(side).first().copied();
                    prop_assert_eq!(filled.map(|filled| filled.id), first.map(|order| order.id));
                    if let (Some(filled), Some(order)) = (filled, first) {
                        let taken = Quantity(quantity).min(order.remaining);
                        let left = naives[book].reduce(order.id, taken);
                        prop_assert_eq!((filled.quantity, filled.remaining), (taken, left));
                        prop_assert_eq!((filled.price, filled.owner), (order.price, order.owner));
                    }
                }
            }
            for (book, naive) in books.iter().zip(&naives) {
                assert_same(book, &orders, naive);
            }
            prop_assert_eq!(orders.len(), naives[0].0.len() + naives[1].0.len());
        }
    }
}

/// Thousands of levels: deeper than one node of the ladder, wider than the cache before it.
#[test]
fn many_levels_come_and_go_as_in_the_naive_book() {
    for seed in 1..=4_u64 {
        let mut state = seed;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed | 1);
            (state >> 33) % below
        };
        let mut book = LimitOrderBook::with_capacity(3_000);
        let mut naive = Naive::default();
        for id in 1..=6_000 {
            let id = OrderId(id);
            // Filled first, then emptied by more cancels than orders.
            let cancels = if id.0 < 3_000 { 1 } else { 6 };
            if random(10) < cancels && !naive.0.is_empty() {
                let order = naive.0.remove(random(naive.0.len() as u64) as usize);
                assert_eq!(
                    book.cancel(order.id).map(|order| order.id),
                    Some(order.id),
                    "seed {seed}"
                );
            } else {
                let side = if random(2) == 0 { Side::Buy } else { Side::Sell };
                let away = random(1 << 40) as i64;
                let price =
                    Price(if side == Side::Buy { -away } else { away } + random(1 << 32) as i64);
                let (remaining, owner) = (Quantity(1 + random(100) as i64), MemberId(1));
                let expected = naive.place(Resting { id, side, price, remaining, owner });
                let mut fills = Vec::new();
                let order = LimitOrder { id, side, price, quantity: remaining, owner };
                let rests = book.place(order, &mut |fill| fills.push(fill));
                assert_eq!((fills, rests), (expected.0, Ok(expected.1)), "seed {seed} order {id}");
            }
            if id.0.is_multiple_of(500) {
                assert_same(book.book(), book.orders(), &naive);
            }
        }
    }
}
