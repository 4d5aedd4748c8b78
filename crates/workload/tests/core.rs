//! A core arrives at the totals of a workload.

use rialto_core::{Core, CoreConfig, EventSink};
use rialto_model::{Command, Event, Seq, Side, Timestamp};
use rialto_workload::{
    Cycle, ENGINE, INSTRUMENT, Standing, Tally, Workload, commands, exchange_core_mix, fill_of,
    obw, opening,
};

#[derive(Default)]
struct Trades(Tally);

impl EventSink for Trades {
    fn event(&mut self, event: &Event) {
        if let Event::Trade(trade) = event {
            self.0.take(&fill_of(trade));
        }
    }
}

/// Has a core do some commands; none may be rejected.
fn done(commands: impl IntoIterator<Item = Command>) -> (Core, Tally) {
    let mut core = Core::new(CoreConfig::new(ENGINE));
    let mut trades = Trades::default();
    for (seq, command) in (1..).zip(commands) {
        let outcome = core.apply(Seq(seq), Timestamp(seq), &command, &mut trades);
        assert!(!outcome.is_rejected(), "{command:?}: {outcome:?}");
    }
    (core, trades.0)
}

fn standing(core: &Core) -> Standing {
    let book = core.book(INSTRUMENT).expect("the opening registers the instrument");
    Standing {
        resting_bids: book.order_count(Side::Buy) as u64,
        resting_asks: book.order_count(Side::Sell) as u64,
        best_bid: book.best(Side::Buy),
        best_ask: book.best(Side::Sell),
    }
}

fn core_agrees_on(workload: &Workload) {
    let (core, tally) = done(opening(workload).into_iter().chain(commands(workload)));
    assert_eq!(tally, workload.expected.tally);
    assert_eq!(standing(&core), workload.expected.standing);
    core.check().expect("every invariant holds");
}

#[test]
fn a_core_reaches_the_totals_of_the_workload() {
    core_agrees_on(&exchange_core_mix(1, 100, 5_000));
    core_agrees_on(&obw::generate(1, 100, 5_000).workload());
}

#[test]
fn three_rounds_trade_three_times_as_much_and_leave_nothing() {
    let mut cycle = Cycle::of_mix(1, 50, 1_000);
    let mut all = cycle.opening();
    for _ in 0..3 {
        all.extend(cycle.next_round());
    }
    let (core, Tally { trades, traded_quantity, .. }) = done(all);
    assert_eq!((trades, traded_quantity), cycle.trades(3));
    assert!(trades > 0);
    assert_eq!(standing(&core).resting(), 0);
}
