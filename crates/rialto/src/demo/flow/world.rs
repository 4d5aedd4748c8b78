//! What every simulated member sees: values, instruments, phases, a mood, and how to round.

use super::dice::Dice;
use super::fair::Fair;
use crate::demo::markets::{MARKETS, MEMBERS};
use rialto_feed::Feed;
use rialto_model::{
    AccountId, Instrument, InstrumentState, NewOrder, Price, Quantity, Side, TimeInForce,
};
use std::time::Duration;

/// Of a hundred orders, how many go to each market.
const SHARES: [usize; 3] = [45, 35, 20];
/// How far apart the values are that members believe in during a call, relative to the value. They
/// are about as far apart as the quotes of a maker reach, so that the book crosses.
const DISAGREEMENT: f64 = 0.000_8;

/// Which orders the phase of a market lets members enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// Orders trade as they come in.
    Continuous,
    /// Orders collect for an auction; the time in force is that of orders for this auction alone.
    ForAuction(TimeInForce),
    /// No orders are accepted.
    Refused,
}

impl Entry {
    fn of(state: InstrumentState) -> Entry {
        match state {
            InstrumentState::Open => Entry::Continuous,
            InstrumentState::PreOpen | InstrumentState::Call => {
                Entry::ForAuction(TimeInForce::AtOpen)
            }
            InstrumentState::ClosingCall => Entry::ForAuction(TimeInForce::AtClose),
            _ => Entry::Refused,
        }
    }
}

/// The state that every simulated member sees.
pub(super) struct World {
    pub(super) dice: Dice,
    pub(super) instruments: Vec<Instrument>,
    fair: Fair,
    /// The value of a unit of each market's base in its quote.
    pub(super) prices: [f64; 3],
    /// From -1, when takers sell, to 1, when they buy.
    mood: f64,
    entries: [Entry; MARKETS.len()],
    /// For each market and member, how far off the value the member believes it to be, relative to
    /// it. In continuous trading they agree.
    opinions: [[f64; MEMBERS.len()]; MARKETS.len()],
}

impl World {
    /// Goes on from the last trades.
    pub(super) fn new(seed: u64, instruments: Vec<Instrument>, feed: &Feed) -> World {
        let begin = |market: usize| unscaled(&instruments, market, MARKETS[market].price);
        let last = |market: usize| {
            let ticker = feed.ticker(instruments[market].id);
            let last = ticker.and_then(|ticker| ticker.last);
            last.map_or_else(|| begin(market), |price| unscaled(&instruments, market, price.0))
        };
        let fair = Fair::new(last(0), last(1), [begin(0), begin(1)]);
        let prices = fair.prices();
        World {
            dice: Dice::new(seed),
            instruments,
            fair,
            prices,
            mood: 0.0,
            entries: [Entry::Continuous; MARKETS.len()],
            opinions: [[0.0; MEMBERS.len()]; MARKETS.len()],
        }
    }

    /// Lets time pass.
    pub(super) fn step(&mut self, time: Duration) {
        self.fair.step(time, &mut self.dice);
        self.prices = self.fair.prices();
        let seconds = time.as_secs_f64();
        // A mood lasts about ten seconds.
        let draw = self.dice.normal() * (seconds * 0.1).sqrt();
        self.mood = (self.mood * (1.0 - (seconds * 0.1).min(1.0)) + draw).clamp(-1.0, 1.0);
    }

    /// Reads the phases. At the beginning of a call the members form their opinions.
    pub(super) fn see(&mut self, feed: &Feed) {
        for market in 0..MARKETS.len() {
            let Some(auction) = feed.auction(self.instruments[market].id) else { continue };
            let entry = Entry::of(auction.state);
            if entry == self.entries[market] {
                continue;
            }
            self.entries[market] = entry;
            let disagreement = if entry == Entry::Continuous { 0.0 } else { DISAGREEMENT };
            for opinion in &mut self.opinions[market] {
                *opinion = self.dice.normal() * disagreement;
            }
        }
    }

    pub(super) fn entry(&self, market: usize) -> Entry {
        self.entries[market]
    }

    /// How far off the value an account believes it to be, relative to it.
    pub(super) fn opinion(&self, market: usize, account: AccountId) -> f64 {
        let who = MEMBERS.iter().position(|member| member.account() == account);
        who.map_or(0.0, |who| self.opinions[market][who])
    }

    pub(super) fn pick_market(&mut self) -> usize {
        let mut left = self.dice.below(SHARES.iter().sum());
        SHARES
            .iter()
            .position(|share| {
                let hit = left < *share;
                left = left.saturating_sub(*share);
                hit
            })
            .unwrap_or(0)
    }

    pub(super) fn pick_side(&mut self) -> Side {
        if self.dice.chance(0.5) { Side::Buy } else { Side::Sell }
    }

    /// A random side, biased by the present mood.
    pub(super) fn pick_mood_side(&mut self) -> Side {
        if self.dice.chance(0.5 + 0.3 * self.mood) { Side::Buy } else { Side::Sell }
    }

    /// A limit at the market's tick: the most a buyer pays, or the least a seller accepts.
    pub(super) fn price(&self, market: usize, value: f64, side: Side) -> Price {
        let rules = &self.instruments[market].spec.rules;
        let factor = self.instruments[market].spec.price_scale.factor() as f64;
        let ticks = value * factor / rules.tick.0 as f64;
        let ticks = match side {
            Side::Buy => ticks.floor(),
            Side::Sell => ticks.ceil(),
        };
        Price((ticks as i64).max(1) * rules.tick.0)
    }

    /// A quantity at the market's lot that is worth about this many dollars.
    pub(super) fn quantity(&self, market: usize, dollars: f64) -> Quantity {
        let spec = &self.instruments[market].spec;
        // The base of the first market is bitcoin, that of the others ether.
        let value = self.prices[market.min(1)];
        let lots = dollars / value * spec.quantity_scale.factor() as f64 / spec.rules.lot.0 as f64;
        Quantity((lots as i64).max(1) * spec.rules.lot.0)
    }

    /// A limit order that rests until it is cancelled.
    pub(super) fn limit(
        &self,
        account: AccountId,
        market: usize,
        side: Side,
        price: Price,
        quantity: Quantity,
    ) -> NewOrder {
        NewOrder::limit(account, self.instruments[market].id, side, quantity, price)
    }
}

fn unscaled(instruments: &[Instrument], market: usize, price: i64) -> f64 {
    price as f64 / instruments[market].spec.price_scale.factor() as f64
}
