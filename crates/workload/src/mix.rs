//! A flow with the shape of exchange-core's own test generator.
//!
//! exchange-core (Java, Apache-2.0) publishes its figures on the flow of its
//! `TestOrdersGenerator`. Its facts, taken over here; the code and the random numbers are our own,
//! so the flow has its shape and not its bytes:
//!
//! - Until the book holds its target (half on each side) every command is a new limit order.
//! - Every 512 commands, and after an immediate order that could not fill, the sizes of both sides
//!   are looked at. A side is drawn for each command. While that side is short of its target: 20 %
//!   new limit orders, 10 % cancels, 10 % reductions, 60 % moves; by more than 3/4 of its target
//!   or 512: new orders only. While it is not: 5 % immediate-or-cancel orders at the far end of the
//!   price range, 2.5 % cancels, 2.5 % reductions, 90 % moves.
//! - A cancel, reduction or move picks one of the 512 oldest orders. A move shifts its price by 1 %
//!   of the distance to the last trade, at least one tick, towards the last trade; so most moves
//!   match nothing.
//! - Quantity is 1 plus the product of three draws from 0 to 5. A new limit order stands on its own
//!   side of the last trade at a distance whose spread is squared, at most 5 % of the price.
//!
//! Out of it come about 71 % moves, 13 % limit orders, 7 % cancels, 7 % reductions and 2 % immediate
//! orders, with four trades in 100 commands. Left out are its fill-or-kill orders by budget (0.06 %).

use super::operation::{Operation, Workload};
use super::random::XorShift;
use super::reference::{Fill, ReferenceBook};
use rialto_model::{OrderId, Price, Quantity, Side, TimeInForce};
use std::collections::VecDeque;

/// The middle of its range of prices: what its seed 101572685 draws, with which it was measured.
const PRICE: i64 = 30_754;
/// Its spread of prices is 5 % of the price, and its range five times as far on each side.
const DEVIATION: i64 = PRICE / 20;
const PRICE_MIN: i64 = PRICE - 5 * DEVIATION;
const PRICE_MAX: i64 = PRICE + 5 * DEVIATION;
/// Commands between two looks at the sizes of the sides.
const LOOK_EVERY: usize = 512;
/// Cancels, reductions and moves pick among this many of the oldest orders.
const OLDEST: usize = 512;
const USERS: u64 = 1_000;

/// Generates the filling of a book with `resting` orders and `commands` commands after it.
///
/// # Panics
/// If `resting` is below 2: each side holds half of it.
#[must_use]
pub fn exchange_core_mix(seed: u64, resting: usize, commands: usize) -> Workload {
    assert!(resting >= 2, "each side of the book holds at least one order");
    let mut mix = Mix {
        random: XorShift::seeded(seed),
        book: ReferenceBook::default(),
        oldest: Oldest::default(),
        target: (resting / 2) as i64,
        seen: [0, 0],
        last_trade: PRICE,
        placed: 0,
        makers: Vec::new(),
    };
    let mut operations = Vec::with_capacity(resting + commands);
    let mut prefill = None;
    while prefill.is_none_or(|filled| operations.len() < filled + commands) {
        if prefill.is_none() && mix.is_filled() {
            prefill = Some(operations.len());
            continue;
        }
        let operation = mix.draw(prefill.is_none());
        mix.apply(&operation);
        operations.push(operation);
        if prefill.is_none() || operations.len().is_multiple_of(LOOK_EVERY) {
            mix.look();
        }
    }
    let name = format!("exchange-core mix, {resting} resting, seed {seed}");
    Workload::new(name, prefill.unwrap_or(0), operations)
}

struct Mix {
    random: XorShift,
    book: ReferenceBook,
    oldest: Oldest,
    /// Orders that each side should hold.
    target: i64,
    /// Orders that each side held at the last look.
    seen: [i64; 2],
    last_trade: i64,
    placed: u64,
    /// Makers of the fills of one operation.
    makers: Vec<OrderId>,
}

impl Mix {
    fn is_filled(&self) -> bool {
        self.seen.iter().all(|&count| count >= self.target)
    }

    fn look(&mut self) {
        self.seen = [Side::Buy, Side::Sell].map(|side| self.book.count(side) as i64);
    }

    fn draw(&mut self, filling: bool) -> Operation {
        let side = if self.random.below(2) == 0 { Side::Buy } else { Side::Sell };
        let lack = self.target - self.seen[side as usize];
        let short = filling || lack > (self.target * 3 / 4).min(LOOK_EVERY as i64);
        let faces = match lack {
            1.. if short => 2,
            1.. => 10,
            _ if filling => return self.limit(side.opposite()),
            _ => 40,
        };
        let face = self.random.below(faces);
        match (face, self.oldest.pick(&mut self.random)) {
            (0 | 1, _) | (_, None) if lack > 0 => self.limit(side),
            (0 | 1, _) | (_, None) => self.immediate(side),
            (2, Some(id)) => Operation::Cancel { id },
            (3, Some(id)) => self.reduction(id),
            (_, Some(id)) => self.movement(id),
        }
    }

    fn limit(&mut self, side: Side) -> Operation {
        let unit = self.random.below(1 << 16);
        let spread = 1 + (((unit * unit) as i64 * DEVIATION) >> 32);
        let sum: i64 = (0..4).map(|_| self.random.below(spread as u64) as i64).sum();
        let distance = (sum / 4 * 2 - spread).abs();
        let price =
            if side == Side::Buy { self.last_trade - distance } else { self.last_trade + distance };
        self.order(side, TimeInForce::Gtc, price)
    }

    fn immediate(&mut self, side: Side) -> Operation {
        let price = if side == Side::Buy { PRICE_MAX } else { PRICE_MIN };
        self.order(side, TimeInForce::Ioc, price)
    }

    fn order(&mut self, side: Side, time_in_force: TimeInForce, price: i64) -> Operation {
        let user = 1 + self.random.below(USERS) as u32;
        let quantity: u64 = (0..3).map(|_| self.random.below(6)).product();
        self.placed += 1;
        Operation::Place {
            id: OrderId(self.placed),
            side,
            time_in_force,
            user,
            price: Price(price),
            quantity: Quantity(1 + quantity as i64),
        }
    }

    fn reduction(&mut self, id: OrderId) -> Operation {
        let (_, order) = self.book.get(id).expect("the oldest orders rest");
        let by = 1 + self.random.below(order.left.0.unsigned_abs()) as i64;
        Operation::Reduce { id, by: Quantity(by) }
    }

    fn movement(&mut self, id: OrderId) -> Operation {
        let (_, order) = self.book.get(id).expect("the oldest orders rest");
        let distance = self.last_trade - order.price.0;
        let step = match distance {
            // A hundredth of the way, rounded away from zero.
            1.. => (distance + 99) / 100,
            ..0 => (distance - 99) / 100,
            0 => 2 * self.random.below(2) as i64 - 1,
        };
        Operation::Move { id, price: Price(order.price.0 + step) }
    }

    fn apply(&mut self, operation: &Operation) {
        let (makers, last_trade) = (&mut self.makers, &mut self.last_trade);
        makers.clear();
        let mut filled = 0;
        let done = self.book.apply(operation, &mut |fill: &Fill| {
            *last_trade = fill.price.0.clamp(PRICE_MIN, PRICE_MAX);
            filled += fill.quantity.0;
            makers.push(fill.maker);
        });
        debug_assert!(done, "every operation names an order that rests");
        for &maker in &self.makers {
            if self.book.get(maker).is_none() {
                self.oldest.remove(maker);
            }
        }
        match *operation {
            Operation::Place { id, time_in_force, quantity, .. } => {
                if self.book.get(id).is_some() {
                    self.oldest.push(id);
                } else if time_in_force == TimeInForce::Ioc && filled < quantity.0 {
                    self.look();
                }
            }
            Operation::Move { id, .. }
            | Operation::Reduce { id, .. }
            | Operation::Cancel { id } => {
                if self.book.get(id).is_none() {
                    self.oldest.remove(id);
                }
            }
        }
    }
}

/// The resting orders in order of placing, which is that of their ids.
#[derive(Default)]
struct Oldest {
    /// The oldest, all of which rest.
    front: Vec<OrderId>,
    /// Those placed after them; some of them may be gone.
    behind: VecDeque<OrderId>,
    /// Those behind that are gone, in rising order.
    gone: std::collections::BTreeSet<OrderId>,
}

impl Oldest {
    fn push(&mut self, id: OrderId) {
        self.behind.push_back(id);
        self.refill();
    }

    fn remove(&mut self, id: OrderId) {
        match self.front.binary_search(&id) {
            Ok(place) => {
                self.front.remove(place);
                self.refill();
            }
            Err(_) => {
                self.gone.insert(id);
            }
        }
    }

    fn refill(&mut self) {
        while self.front.len() < OLDEST {
            let Some(id) = self.behind.pop_front() else { return };
            if !self.gone.remove(&id) {
                self.front.push(id);
            }
        }
    }

    fn pick(&self, random: &mut XorShift) -> Option<OrderId> {
        let count = self.front.len() as u64;
        (count > 0).then(|| self.front[random.below(count) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of the measured operations are of each kind, in 100: moves, limit orders, cancels,
    /// reductions, immediate orders.
    fn shares(workload: &Workload) -> [f64; 5] {
        let mut counts = [0_u32; 5];
        for operation in workload.measured() {
            let kind = match operation {
                Operation::Move { .. } => 0,
                Operation::Place { time_in_force: TimeInForce::Gtc, .. } => 1,
                Operation::Cancel { .. } => 2,
                Operation::Reduce { .. } => 3,
                Operation::Place { .. } => 4,
            };
            counts[kind] += 1;
        }
        counts.map(|count| f64::from(count) * 100.0 / workload.measured().len() as f64)
    }

    #[test]
    fn has_the_shares_that_were_counted_in_the_original() {
        let workload = exchange_core_mix(1, 1_000, 200_000);
        let counted = [70.9, 12.8, 7.3, 7.3, 1.75];
        let shares = shares(&workload);
        for (share, counted) in shares.iter().zip(counted) {
            assert!((share - counted).abs() < 2.0, "{shares:?}, counted were {counted:?}");
        }
    }

    #[test]
    fn trades_about_four_times_in_a_hundred_commands_and_keeps_about_its_target() {
        let workload = exchange_core_mix(1, 1_000, 200_000);
        let trades = workload.expected.tally.trades as f64 / 200_000.0;
        assert!((0.03..0.06).contains(&trades), "{trades} trades a command");
        let resting = workload.expected.standing.resting();
        assert!((800..1_200).contains(&resting), "{resting} orders rest");
    }

    #[test]
    fn the_same_seed_gives_the_same_flow_and_another_seed_another() {
        let first = exchange_core_mix(5, 100, 2_000);
        assert_eq!(first.operations, exchange_core_mix(5, 100, 2_000).operations);
        assert_ne!(first.operations, exchange_core_mix(6, 100, 2_000).operations);
    }
}
