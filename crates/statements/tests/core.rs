//! The fold against the core: over ranges that follow each other, every opening and its lines lead
//! to the balances that the core itself holds.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::collection::vec;
use proptest::prelude::*;
use rialto_core::{Core, CoreConfig};
use rialto_desk::baseline_of;
use rialto_model::testing::plausible::{self, Bounds};
use rialto_model::*;
use rialto_statements::{BalancesDigest, LineDetail, Positions, StatementLine};
use rialto_workload::{ENGINE, commands, exchange_core_mix, opening};
use std::collections::{BTreeMap, BTreeSet};

const BOUNDS: Bounds = Bounds {
    accounts: 6,
    instruments: 2,
    currencies: 3,
    orders: 160,
    price_max: 20,
    quantity_max: 50,
    time_max: Timestamp(Timestamp::DAY * 3),
};

/// A core and the fold of its events, with the lines since the last end of a range.
struct Venue {
    core: Core,
    positions: Positions,
    opening: Positions,
    lines: Vec<StatementLine>,
    /// Orders that were accepted and have not ended.
    open: BTreeSet<OrderId>,
}

impl Venue {
    fn new() -> Venue {
        Venue {
            core: Core::new(CoreConfig::new(ENGINE)),
            positions: Positions::new(),
            opening: Positions::new(),
            lines: Vec::new(),
            open: BTreeSet::new(),
        }
    }

    fn send(&mut self, time: Timestamp, command: &Command) -> Outcome {
        let time = time.max(self.core.time());
        self.catch_up(time);
        if self.core.next_background_work() <= time {
            self.apply(time, &Command::Tick);
            // A triggered order may have more to match than a command may.
            self.catch_up(time);
        }
        self.apply(time, command)
    }

    fn catch_up(&mut self, time: Timestamp) {
        while self.core.next_due() <= time {
            self.apply(self.core.next_due().max(self.core.time()), &Command::Tick);
        }
    }

    fn apply(&mut self, time: Timestamp, command: &Command) -> Outcome {
        let seq = self.core.seq().next();
        let mut events = Vec::new();
        let outcome = self.core.apply(seq, time, command, &mut events);
        for event in &events {
            if let Event::Accepted(accepted) = event {
                assert!(self.open.insert(accepted.order));
            }
            let before = self.lines.len();
            let (lines, open) = (&mut self.lines, &mut self.open);
            self.positions.fold(seq, time, event, &mut |line| lines.push(*line)).unwrap();
            for line in &lines[before..] {
                if let LineDetail::OrderEnded(ended) = line.detail {
                    assert!(open.remove(&ended.order), "an order ends once: {ended:?}");
                }
            }
        }
        outcome
    }

    /// Ends a range: what its lines say is what the core did since its beginning.
    fn end_range(&mut self) {
        let mut sums: BTreeMap<(AccountId, CurrencyId), (i128, i128)> = BTreeMap::new();
        for line in &self.lines {
            let sum = sums.entry((line.account, line.currency)).or_default();
            sum.0 += line.available;
            sum.1 += line.held;
        }
        for account in self.core.accounts() {
            for currency in self.core.currencies() {
                let balance = self.core.balance(account.id, currency.id).unwrap();
                let closing = self.positions.balance(account.id, currency.id);
                assert_eq!(
                    (closing.available, closing.held),
                    (balance.available, balance.reserved)
                );
                let opening = self.opening.balance(account.id, currency.id);
                let sum = sums.get(&(account.id, currency.id)).copied().unwrap_or_default();
                assert_eq!(opening.available.0 + sum.0, closing.available.0);
                assert_eq!(opening.held.0 + sum.1, closing.held.0);
            }
        }
        let mut balances = Vec::new();
        for account in self.core.accounts() {
            for currency in self.core.currencies() {
                let balance = self.core.balance(account.id, currency.id).unwrap();
                balances.push((account.id, currency.id, balance.available, balance.reserved));
            }
        }
        balances.sort_unstable_by_key(|(account, currency, ..)| (*account, *currency));
        assert_eq!(self.positions.digest(), BalancesDigest::of(balances.into_iter()));
        if self.core.next_due() != Timestamp::ZERO {
            let known = |order: &OrderId| self.core.order(*order).is_some();
            assert!(self.open.iter().all(known), "an order ended without a line");
        }
        self.opening = self.positions.clone();
        self.lines.clear();
    }
}

fn open_for_business(venue: &mut Venue, risk: [bool; 2]) {
    let mut send = |command: Command| {
        let outcome = venue.send(Timestamp(1), &command);
        assert!(!outcome.is_rejected(), "{command:?}: {outcome:?}");
    };
    let scale = |places| Scale::new(places).unwrap();
    for code in ["C1", "C2", "C3"] {
        send(Command::CreateCurrency { code: code.parse().unwrap(), scale: scale(6) });
    }
    for number in 1..=4 {
        send(Command::CreateMember { member: MemberId(number), name: "m".parse().unwrap() });
    }
    for number in 1..=6 {
        let (account, member) = (AccountId(number), MemberId(number % 4 + 1));
        send(Command::CreateAccount { account, member, name: "a".parse().unwrap() });
        for currency in 1..=3 {
            let reference = format!("start{currency}").parse().unwrap();
            let (currency, amount) = (CurrencyId(currency), Amount(1_000_000));
            send(Command::deposit(Transfer { account, currency, amount, reference }));
        }
    }
    for (index, risk) in risk.into_iter().enumerate() {
        send(Command::CreateInstrument(InstrumentSpec {
            symbol: format!("I{index}").parse().unwrap(),
            kind: InstrumentKind::Spot,
            base: CurrencyId(index as u16 + 1),
            quote: CurrencyId(3),
            price_scale: scale(2),
            quantity_scale: scale(3),
            rules: TradingRules {
                quantity_max: Quantity(1_000_000),
                market_protection_ppm: 500_000,
                maker_fee_ppm: -7_000 + 10_000 * index as i32,
                taker_fee_ppm: 31_000,
                self_trade: SelfTrade::Decrement,
                open_orders_max: 100_000,
                day_end_s: 3_600,
                risk,
                ..TradingRules::unrestrained()
            },
        }));
    }
}

/// Cancels and amendments name orders of any account; here the owner of an open order sends them.
fn by_owner(core: &Core, command: &Command) -> Command {
    let owner = |order: &OrderRef| match order {
        OrderRef::Id(id) => core.order(*id).map(|order| order.account),
        OrderRef::Client(_) => None,
    };
    match *command {
        Command::Cancel { account, order } => {
            Command::Cancel { account: owner(&order).unwrap_or(account), order }
        }
        Command::Amend(amend) => {
            let account = owner(&amend.order).unwrap_or(amend.account);
            Command::Amend(Amend { account, ..amend })
        }
        Command::AmendTrigger(AmendTrigger { amend, trigger_price }) => {
            let account = owner(&amend.order).unwrap_or(amend.account);
            let amend = Amend { account, ..amend };
            Command::AmendTrigger(AmendTrigger { amend, trigger_price })
        }
        other => other,
    }
}

/// A pause in seconds, a command, and whether a range ends behind it.
fn steps() -> impl Strategy<Value = Vec<(u64, Command, bool)>> {
    let pause = prop_oneof![8 => Just(0_u64), 4 => 1..90_u64, 1 => 1..40_000_u64];
    vec((pause, plausible::command(BOUNDS), prop::bool::weighted(0.1)), 1..160)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_range_leads_to_the_balances_of_the_core(
        steps in steps(),
        risk in any::<[bool; 2]>(),
    ) {
        let mut venue = Venue::new();
        open_for_business(&mut venue, risk);
        venue.end_range();
        for (pause, command, ends) in &steps {
            let time = Timestamp(venue.core.time().0 + pause * Timestamp::SECOND);
            let command = by_owner(&venue.core, command);
            venue.send(time, &command);
            if *ends {
                venue.end_range();
            }
        }
        venue.end_range();
    }

    #[test]
    fn the_positions_of_a_state_are_those_of_its_events(steps in steps()) {
        let mut venue = Venue::new();
        open_for_business(&mut venue, [true, true]);
        for (pause, command, _) in &steps {
            let time = Timestamp(venue.core.time().0 + pause * Timestamp::SECOND);
            let command = by_owner(&venue.core, command);
            venue.send(time, &command);
        }
        while venue.core.next_due() == Timestamp::ZERO || venue.core.has_background_work() {
            venue.apply(venue.core.time(), &Command::Tick);
        }
        let begun = Positions::of_baseline(&baseline_of(&venue.core));
        prop_assert_eq!(begun.seq(), venue.positions.seq());
        prop_assert_eq!(begun.digest(), venue.positions.digest());
    }
}

#[test]
fn a_recorded_mix_of_orders_adds_up_over_many_ranges() {
    let workload = exchange_core_mix(7, 500, 20_000);
    let mut venue = Venue::new();
    let all = opening(&workload).into_iter().chain(commands(&workload));
    let mut fills = 0;
    for (nth, command) in (1_u64..).zip(all) {
        venue.send(Timestamp(nth), &command);
        if nth % 3_001 == 0 {
            fills += count_fills(&venue.lines);
            venue.end_range();
        }
    }
    fills += count_fills(&venue.lines);
    venue.end_range();
    assert_eq!(fills, 2 * workload.expected.tally.trades, "each trade is two fills");
}

fn count_fills(lines: &[StatementLine]) -> u64 {
    lines.iter().filter(|line| matches!(line.detail, LineDetail::Fill(_))).count() as u64
}
