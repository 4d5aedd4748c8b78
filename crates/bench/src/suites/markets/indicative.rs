//! The indicative price of a call, in the feed.

use super::auction::{BOOK, accept, books, is_deep};
use crate::drive::FundedCore;
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, CoreWait, Spread, processor_time_ns};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome};
use rialto_feed::{AuctionResult, Feed, FeedConfig, Update};
use rialto_model::{AccountId, Command, Event, NewOrder, Quantity, Seq, Side};
use rialto_workload::CallAuction;

/// The targets, by the levels of the book, in nanoseconds.
const REFRESH_NS: f64 = 1e6;
const REFRESH_DEEP_NS: f64 = 4e6;
/// Results, one after the other.
const RUNS: i64 = 7;

const ONE_MORE: &str = "Before each result an order of one unit is sold at the price, so that the volume \
    grows by one and the surplus shrinks by one. Each result is compared with what that must come to.";
const WALL: &str = "By the wall clock. The processor time of the thread is in a row beside it.";

/// A core with a feed behind it.
struct Stage {
    funded: FundedCore,
    feed: Feed,
    events: Vec<Event>,
    commands: usize,
}

/// The measurements of a result.
struct Run {
    wall_ns: u64,
    processor_ns: u64,
}

pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    for auction in books(context) {
        outcome.take(rows(context, &auction));
    }
}

fn rows(context: &mut Context<'_>, auction: &CallAuction) -> Result<Vec<Row>, BenchError> {
    let work = format!("feed, indicative price of {}", auction.flow.name);
    let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
    let name = case.to_string();
    context.progress(&format!("  {}", case.work));
    let mut stage = Stage::open(&name, auction)?;
    let wait = CoreWait::start();
    let mut runs = Vec::new();
    for sold in 1..=RUNS {
        runs.push(stage.result(&name, auction, sold)?);
    }
    let waited = wait.share();
    let row = |metric: &str, value: fn(&Run) -> u64| {
        let spread = Spread::over(&runs, |run| value(run) as f64);
        Row::of_spread(&case, metric, spread, Unit::Nanoseconds)
            .check("price", auction.price.0)
            .check("volume", auction.volume.0)
            .check("surplus", auction.surplus.0)
            .check("orders", auction.flow.placed)
            .check("results", RUNS)
            .waited_for_core(waited)
            .footnote(BOOK)
            .footnote(ONE_MORE)
    };
    let target = if is_deep(auction) { REFRESH_DEEP_NS } else { REFRESH_NS };
    Ok(vec![
        row("time", |run| run.wall_ns).target(target).footnote(WALL),
        row("processor time", |run| run.processor_ns),
    ])
}

impl Stage {
    /// The orders of a call, in both.
    fn open(case: &str, auction: &CallAuction) -> Result<Stage, BenchError> {
        let resting_max = auction.flow.resting_max + RUNS as u64;
        let funded = FundedCore::open(resting_max, &[]);
        let feed = Feed::new(FeedConfig::default());
        let mut stage = Stage { funded, feed, events: Vec::new(), commands: 0 };
        for command in auction.flow.opening().iter().chain(auction.parts().0) {
            stage.command(case, command)?;
        }
        Ok(stage)
    }

    fn command(&mut self, case: &str, command: &Command) -> Result<(), BenchError> {
        let Stage { funded, feed, events, commands } = self;
        events.clear();
        accept(case, *commands, funded.command_into(command, events))?;
        *commands += 1;
        let (seq, time): (Seq, _) = (funded.core.seq(), funded.time());
        let mut ignore = |_: Update<'_>| {};
        for event in events {
            feed.fold(seq, time, event, &mut ignore).map_err(broken(case, "fold an event"))?;
        }
        feed.end_of(seq, time, &mut ignore).map_err(broken(case, "end a command in the feed"))
    }

    /// Times the result after one more order, and verifies it.
    fn result(&mut self, case: &str, auction: &CallAuction, sold: i64) -> Result<Run, BenchError> {
        let instrument = CallAuction::INSTRUMENT;
        let one = Quantity(1);
        let sell = NewOrder::limit(AccountId(1), instrument, Side::Sell, one, auction.price);
        self.command(case, &Command::Place(sell))?;
        let mut published = None;
        let (clock, before) = (Clock::start(), processor_time_ns());
        self.feed.refresh_auction(instrument, &mut |update| {
            if let Update::Auction(view) = update {
                published = view.indicative;
            }
        });
        let (processor_ns, wall_ns) = (processor_time_ns() - before, clock.now_ns());
        let expected = AuctionResult {
            price: auction.price,
            volume: Quantity(auction.volume.0 + sold),
            surplus: Quantity(auction.surplus.0 - sold),
        };
        verify(case, "the indicative price", published, Some(expected))?;
        let known = self.feed.auction(instrument).and_then(|view| view.indicative);
        verify(case, "the indicative price of a query", known, Some(expected))?;
        Ok(Run { wall_ns, processor_ns })
    }
}
