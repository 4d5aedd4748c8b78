//! Auctions on an instrument of their own: calls of many orders, so that an uncrossing takes several
//! slices and the journal may end in between; interruptions, extensions, calls that end by
//! themselves, and timetables with circuit breakers.

use super::random::Random;
use super::traffic::kill;
use crate::stage::{ACCOUNTS, limit, rules, until};
use rialto_core::{RULES_VERSIONS, SEARCH_STEPS_PER_ORDER};
use rialto_model::*;
use std::time::Duration;

/// The instrument, which no other traffic is for.
pub(crate) const AUCTIONED: InstrumentId = InstrumentId(2);
/// The middles of the calls. From the first to the second an auction is in the extended range only,
/// and to the third in none.
const MIDDLES: [i64; 3] = [10_000, 10_700, 13_000];
/// In a narrow call, prices are at most this far from the middle.
const NEAR: u64 = 20;
/// A wide call has this many levels on each side: the search for its price takes three slices. The
/// first two may be in one group.
const LEVELS: i64 = 280 * SEARCH_STEPS_PER_ORDER as i64;
/// The most milliseconds of a call that ends by itself, and of its random end.
const CALL_MS: u64 = 20;

/// What comes after the reference data.
pub(crate) fn setting() -> [Command; 2] {
    let spec = InstrumentSpec {
        symbol: "AUCTION".parse().expect("a short symbol"),
        kind: InstrumentKind::Spot,
        base: CurrencyId(1),
        quote: CurrencyId(2),
        price_scale: Scale::new(2).expect("a small scale"),
        quantity_scale: Scale::new(4).expect("a small scale"),
        rules: TradingRules { reference_price: Price(MIDDLES[0]), ..rules() },
    };
    let version = *RULES_VERSIONS.end();
    [Command::SetRulesVersion { version }, Command::CreateInstrument(spec)]
}

/// A call, and its end by a command or by itself; sometimes a halt.
pub(crate) fn commands(random: &mut Random, now: Timestamp) -> Vec<Command> {
    let middle = random.pick(&MIDDLES);
    let mut commands = vec![Command::SetAuctionRules {
        instrument: AUCTIONED,
        rules: auction_rules(random),
        seed: random.next(),
    }];
    if random.percent(30) {
        let (instrument, terms) = (AUCTIONED, contract_terms(random));
        commands.push(Command::SetContractTerms { instrument, terms });
    }
    if random.percent(30) {
        timetable(random, now, &mut commands);
    }
    let is_interrupted = random.percent(40);
    let phase = match is_interrupted {
        true => InstrumentState::Call,
        false => random.pick(&[
            InstrumentState::PreOpen,
            InstrumentState::Call,
            InstrumentState::ClosingCall,
        ]),
    };
    if is_interrupted {
        commands.push(set(InstrumentState::Open));
        let away = middle + middle / 10;
        commands.extend([
            on_auctioned(limit(1, Side::Sell, middle, 5)),
            on_auctioned(limit(1, Side::Sell, away, 5)),
            on_auctioned(limit(2, Side::Buy, away, 20)),
        ]);
    } else {
        commands.push(set(phase));
    }
    match random.below(4) {
        0 => wide(random, middle, &mut commands),
        _ => narrow(random, middle, (phase, now), &mut commands),
    }
    let is_halted = random.percent(30);
    if is_halted {
        let scope = match random.below(4) {
            0 => HaltScope::Venue,
            _ => HaltScope::Instrument(AUCTIONED),
        };
        let duration_ms = 1 + random.below(CALL_MS) as u32;
        commands.push(Command::HaltTrading { scope, duration_ms });
    }
    // A halt ends by itself, and mostly leads to a call that does so too.
    if (!is_interrupted && !is_halted) || random.percent(30) {
        let next = match phase {
            InstrumentState::ClosingCall => InstrumentState::Closed,
            _ => InstrumentState::Open,
        };
        commands.push(set(next));
    }
    if random.percent(15) {
        commands.extend(kill(AUCTIONED));
    }
    commands
}

/// A time in which a call may end by itself.
pub(crate) fn pause(random: &mut Random) -> Duration {
    Duration::from_millis(random.below(3 * CALL_MS))
}

/// Transitions of a timetable in the next milliseconds, and mostly a circuit breaker on it.
fn timetable(random: &mut Random, now: Timestamp, commands: &mut Vec<Command>) {
    let calendar: Name = "auctions".parse().expect("a short name");
    let count = 2 + random.below(4) as u32;
    let mut at = now;
    for number in 0..count {
        at = at.saturating_add((1 + random.below(CALL_MS)) * Timestamp::MILLISECOND);
        let transition = transition(random, at);
        commands.push(Command::PlanTransition { calendar, number, transition });
    }
    let (digest, seed) = (random.next(), random.next());
    let halt_ms = if random.percent(80) { 1 + random.below(CALL_MS) as u32 } else { 0 };
    let breaker = CircuitBreakerRule {
        calendar,
        instrument: AUCTIONED,
        range_ppm: if halt_ms == 0 { 0 } else { 50_000 },
        halt_ms,
    };
    commands.extend([
        Command::AdoptPlan { calendar, count, digest, seed, replace: true },
        Command::AssignCalendar { instrument: AUCTIONED, calendar },
        Command::SetCircuitBreaker(breaker),
    ]);
}

fn transition(random: &mut Random, at: Timestamp) -> PlannedTransition {
    use InstrumentState as S;
    let state = random.pick(&[S::PreOpen, S::Call, S::Open, S::ClosingCall, S::Closed]);
    let plain = PlannedTransition::plain(at, state);
    match state {
        S::Call | S::ClosingCall => PlannedTransition {
            earliest_end: at.saturating_add((1 + random.below(CALL_MS)) * Timestamp::MILLISECOND),
            random_end_ms: random.below(CALL_MS) as u32,
            next: if state == S::Call { S::Open } else { S::Closed },
            ..plain
        },
        S::Closed => PlannedTransition { ends_session: true, ends_day: true, ..plain },
        _ => plain,
    }
}

fn auction_rules(random: &mut Random) -> AuctionRules {
    let auction_range_ppm = random.pick(&[0, 50_000, 50_000]);
    let extended_range_ppm = if auction_range_ppm == 0 { 0 } else { random.pick(&[0, 100_000]) };
    AuctionRules {
        fee_ppm: random.pick(&[0, 300]),
        self_trade: random.pick(SelfTrade::ALL),
        dynamic_range_ppm: random.pick(&[0, 20_000, 20_000]),
        auction_range_ppm,
        extended_range_ppm,
        call_ms: 1 + random.below(CALL_MS) as u32,
        random_end_ms: random.below(CALL_MS) as u32,
        ..AuctionRules::PLAIN
    }
}

/// Fees by the lot, or none.
fn contract_terms(random: &mut Random) -> ContractTerms {
    let taker = random.below(5) as i128;
    let fees = LotFees { maker: Amount(-taker), taker: Amount(taker), auction: Amount(taker / 2) };
    ContractTerms { lot_fees: random.percent(60).then_some(fees), ..ContractTerms::PLAIN }
}

/// Orders of all kinds at few prices, of which most trade.
fn narrow(
    random: &mut Random,
    middle: i64,
    (phase, now): (InstrumentState, Timestamp),
    commands: &mut Vec<Command>,
) {
    let for_phase = match phase {
        InstrumentState::ClosingCall => TimeInForce::AtClose,
        _ => TimeInForce::AtOpen,
    };
    for _ in 0..600 + random.below(1_200) {
        let account = any_account(random);
        let side = random.pick(Side::ALL);
        // Buys are mostly above the middle, and sells below.
        let towards = if side == Side::Buy { 1 } else { -1 };
        let away = random.below(NEAR) as i64 - 4;
        let quantity = 1 + random.below(9) as i64;
        let place = on_auctioned(limit(account, side, middle + towards * away, quantity));
        let Command::Place(order) = place else { continue };
        commands.push(match random.below(20) {
            0 => until(now.saturating_add(random.below(40_000_000)), place),
            1 => Command::Place(NewOrder { time_in_force: TimeInForce::Gfa, ..order }),
            2 => Command::Place(NewOrder { time_in_force: for_phase, ..order }),
            3 => {
                let (kind, price) = (OrderKind::Market, Price(0));
                let time_in_force = TimeInForce::Gfa;
                Command::Place(NewOrder { kind, price, time_in_force, ..order })
            }
            4 => {
                let handling = Handling { cancel_on_disconnect: true, ..order.handling };
                Command::Place(NewOrder { handling, ..order })
            }
            _ => place,
        });
    }
}

/// An order at each of many prices, so that the search has many levels to look at.
fn wide(random: &mut Random, middle: i64, commands: &mut Vec<Command>) {
    for away in 0..LEVELS {
        for (side, price) in [(Side::Buy, middle + away), (Side::Sell, middle - away)] {
            let quantity = 1 + random.below(50) as i64;
            commands.push(on_auctioned(limit(any_account(random), side, price, quantity)));
        }
    }
}

fn any_account(random: &mut Random) -> u32 {
    random.below(u64::from(ACCOUNTS)) as u32 + 1
}

fn set(state: InstrumentState) -> Command {
    Command::SetInstrumentState { instrument: AUCTIONED, state }
}

fn on_auctioned(command: Command) -> Command {
    let Command::Place(order) = command else { return command };
    Command::Place(NewOrder { instrument: AUCTIONED, ..order })
}
