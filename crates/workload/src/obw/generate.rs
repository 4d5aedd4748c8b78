//! Makes a stream from a seed, byte for byte as the generator that the peers were measured with.

use super::{Header, Kind, Record, Stream};
use crate::random::XorShift;
use crate::reference::{Fill, ReferenceBook, Tally};
use rialto_model::{OrderId, Price, Side};
use std::collections::HashMap;

/// The middle of the book at the start, in ticks.
const MIDDLE: i64 = 1_000_000;
/// The middle takes a step after this many operations.
const OPERATIONS_A_STEP: u64 = 64;
/// Passive orders stand at most this far from the middle.
const SPAN: u64 = 128;
const USERS: u64 = 1_000;

/// Generates `depth` operations that fill the book and `operations` after them.
///
/// Drawn: 45 % passive orders, 45 % cancels of any resting order, 10 % orders that cross. A cancel
/// that is drawn while fewer than `depth` orders rest becomes a passive order.
///
/// # Panics
/// If a crossing order is drawn while its other side is empty, which takes a depth of a few orders.
#[must_use]
pub fn generate(seed: u64, depth: u64, operations: u64) -> Stream {
    let mut generator = Generator {
        random: XorShift::seeded(seed),
        book: ReferenceBook::default(),
        tally: Tally::default(),
        live: Live::default(),
        makers: Vec::new(),
        middle: MIDDLE,
        placed: 0,
    };
    let records: Vec<Record> =
        (0..depth + operations).map(|position| generator.next(position, depth)).collect();
    let tally = generator.tally;
    let header = Header {
        seed,
        prefill: depth,
        operations,
        trades: tally.trades,
        traded_quantity: tally.traded_quantity as u64,
        resting: generator.book.standing().resting(),
        digest: tally.digest,
    };
    Stream { header, records }
}

struct Generator {
    random: XorShift,
    book: ReferenceBook,
    tally: Tally,
    live: Live,
    /// Makers of the fills of one operation.
    makers: Vec<OrderId>,
    middle: i64,
    placed: u64,
}

impl Generator {
    fn next(&mut self, position: u64, depth: u64) -> Record {
        if position.is_multiple_of(OPERATIONS_A_STEP) {
            self.middle += self.random.below(3) as i64 - 1;
        }
        let drawn = match self.random.below(100) {
            0..45 => Kind::Passive,
            45..90 if self.live.len() < depth => Kind::Passive,
            45..90 => Kind::Cancel,
            _ => Kind::Crossing,
        };
        let kind = if position < depth { Kind::Passive } else { drawn };
        let side = if self.random.below(2) == 0 { Side::Buy } else { Side::Sell };
        match kind {
            Kind::Cancel => self.cancel(),
            Kind::Passive => {
                let user = self.user();
                let price = self.passive_price(side);
                let quantity = 1 + self.random.below(100) as u32;
                self.place(Kind::Passive, side, user, price, quantity)
            }
            Kind::Crossing => {
                let user = self.user();
                let best = self.book.best(side.opposite()).expect("both sides hold orders");
                let through = self.random.below(5) as i64;
                let price = if side == Side::Buy { best.0 + through } else { best.0 - through };
                let quantity = 1 + self.random.below(50) as u32;
                self.place(Kind::Crossing, side, user, price, quantity)
            }
        }
    }

    fn user(&mut self) -> u32 {
        1 + self.random.below(USERS) as u32
    }

    fn passive_price(&mut self, side: Side) -> i64 {
        // The nearer of two draws, so that most orders stand close to the middle.
        let distance = 1 + self.random.below(SPAN).min(self.random.below(SPAN)) as i64;
        let opposite = self.book.best(side.opposite());
        match side {
            Side::Buy => {
                let price = self.middle - distance;
                opposite.map_or(price, |ask: Price| price.min(ask.0 - 1))
            }
            Side::Sell => {
                let price = self.middle + distance;
                opposite.map_or(price, |bid: Price| price.max(bid.0 + 1))
            }
        }
    }

    fn place(&mut self, kind: Kind, side: Side, user: u32, price: i64, quantity: u32) -> Record {
        self.placed += 1;
        let id = self.placed;
        // Prices stay within a few thousand ticks of a million.
        let record = Record { id, price: price as u32, quantity, user, kind, side };
        let (tally, makers) = (&mut self.tally, &mut self.makers);
        makers.clear();
        let placed = self.book.apply(&record.operation(), &mut |fill: &Fill| {
            tally.take(fill);
            makers.push(fill.maker);
        });
        debug_assert!(placed, "a new order is never refused");
        for &maker in &self.makers {
            if self.book.get(maker).is_none() {
                self.live.remove(maker);
            }
        }
        if self.book.get(OrderId(id)).is_some() {
            self.live.push(OrderId(id));
        }
        record
    }

    fn cancel(&mut self) -> Record {
        let id = self.live.pick(&mut self.random);
        let (side, order) = self.book.get(id).expect("live orders rest on the book");
        let record = Record {
            id: id.0,
            price: order.price.0 as u32,
            quantity: order.left.0 as u32,
            user: order.user,
            kind: Kind::Cancel,
            side,
        };
        self.book.apply(&record.operation(), &mut |_| {});
        self.live.remove(id);
        record
    }
}

/// The resting orders in no order, for a uniform pick among them.
#[derive(Default)]
struct Live {
    orders: Vec<OrderId>,
    places: HashMap<OrderId, usize>,
}

impl Live {
    fn len(&self) -> u64 {
        self.orders.len() as u64
    }

    fn pick(&self, random: &mut XorShift) -> OrderId {
        self.orders[random.below(self.len()) as usize]
    }

    fn push(&mut self, id: OrderId) {
        self.places.insert(id, self.orders.len());
        self.orders.push(id);
    }

    /// The last order takes the place of the removed one; the bytes of a stream depend on it.
    fn remove(&mut self, id: OrderId) {
        let Some(place) = self.places.remove(&id) else { return };
        self.orders.swap_remove(place);
        if let Some(&moved) = self.orders.get(place) {
            self.places.insert(moved, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::write;
    use super::*;
    use crate::digest::FillDigest;

    /// Seed 1, a million operations: trades, quantity, resting, digest of fills, BLAKE3 of the file.
    /// The files of the reference generator have these very bytes.
    fn agrees_with_the_reference(
        depth: u64,
        (trades, traded_quantity, resting): (u64, u64, u64),
        digest: u64,
        file: &str,
    ) {
        let stream = generate(1, depth, 1_000_000);
        let expected = Header {
            seed: 1,
            prefill: depth,
            operations: 1_000_000,
            trades,
            traded_quantity,
            resting,
            digest: FillDigest::from_value(digest),
        };
        assert_eq!(stream.header, expected);
        let mut bytes = Vec::new();
        write(&stream, &mut bytes).expect("a vector takes all bytes");
        assert_eq!(blake3::hash(&bytes).to_hex().as_str(), file);
    }

    #[test]
    fn depth_1_000_has_the_bytes_of_the_reference() {
        agrees_with_the_reference(
            1_000,
            (136_364, 2_257_407, 1_000),
            0xef8c_9f48_6b3d_c347,
            "60e7fda64c782dc36ae1b4f5df11c659d25c494bbe3f346418cabcc55a932785",
        );
    }

    #[test]
    fn depth_10_000_has_the_bytes_of_the_reference() {
        agrees_with_the_reference(
            10_000,
            (143_786, 2_433_294, 10_003),
            0x31cc_51fa_5a0c_0a1f,
            "3c1daeb746f3f825d1e2828b060588589fd7fc7b056070e1200e50711f44e294",
        );
    }

    #[test]
    fn depth_100_000_has_the_bytes_of_the_reference() {
        agrees_with_the_reference(
            100_000,
            (148_410, 2_545_840, 100_005),
            0x4b92_c4f0_47bc_bd38,
            "7229a3b176129a3361f46d2b23480d4e3e51be470fb7b96a4a22a50dd6ae0b49",
        );
    }

    #[test]
    fn the_totals_of_a_workload_are_those_of_the_header() {
        let stream = generate(7, 300, 5_000);
        let expected = stream.workload().expected;
        assert_eq!(expected.tally.trades, stream.header.trades);
        assert_eq!(expected.tally.digest, stream.header.digest);
        assert_eq!(expected.standing.resting(), stream.header.resting);
        assert_eq!(stream.workload().measured().len(), 5_000);
    }
}
