//! A call of a million orders.

use rialto_core::{Core, CoreConfig, EVENTS_PER_COMMAND, EventSink, ORDERS_PER_COMMAND};
use rialto_model::{Command, Event, InstrumentState, Seq, Timestamp, Uncrossed};
use rialto_workload::{CallAuction, ENGINE, Tally, call_auction, fill_of};

#[derive(Default)]
struct Heard {
    tally: Tally,
    result: Option<Uncrossed>,
    /// Events of one command, and the orders that it ended or traded.
    events: usize,
    trades: u64,
}

impl EventSink for Heard {
    fn event(&mut self, event: &Event) {
        self.events += 1;
        match event {
            Event::Trade(trade) => {
                self.tally.take(&fill_of(trade));
                self.trades += 1;
            }
            Event::Uncrossed(result) => self.result = Some(*result),
            _ => {}
        }
    }
}

#[test]
fn a_million_orders_trade_at_one_price_in_short_commands() {
    let auction = call_auction(1_000_000, 20_000);
    let mut config = CoreConfig::new(ENGINE);
    config.limits.orders_max = config.limits.orders_max.max(auction.flow.resting_max as u32 + 1);
    let mut core = Core::new(config);
    let mut heard = Heard::default();
    let mut seq = 0;
    let mut apply = |core: &mut Core, command: &Command| {
        seq += 1;
        (heard.events, heard.trades) = (0, 0);
        let outcome = core.apply(Seq(seq), Timestamp(seq), command, &mut heard);
        assert!(!outcome.is_rejected(), "{command:?}: {outcome:?}");
        assert!(heard.events <= EVENTS_PER_COMMAND, "{} events", heard.events);
        assert!(heard.trades <= u64::from(ORDERS_PER_COMMAND), "{} trades", heard.trades);
    };
    for command in auction.flow.opening().iter().chain(&auction.flow.commands) {
        apply(&mut core, command);
    }
    let state =
        |core: &Core| core.instrument(CallAuction::INSTRUMENT).map(|found| found.instrument.state);
    let mut ticks = 0_u64;
    while state(&core) == Some(InstrumentState::Uncrossing) {
        apply(&mut core, &Command::Tick);
        ticks += 1;
    }
    assert!(ticks >= auction.flow.resting_max / u64::from(2 * ORDERS_PER_COMMAND), "{ticks} ticks");
    assert_eq!(state(&core), Some(InstrumentState::Open));
    let result = heard.result.map(|result| (result.price, result.volume, result.surplus));
    assert_eq!(result, Some((auction.price, auction.volume, auction.surplus)));
    assert_eq!(heard.tally, auction.flow.expected.tally);
    let open: usize = core.instruments().map(|instrument| instrument.open_orders).sum();
    assert_eq!(open as u64, auction.flow.expected.resting);
}
