//! Random commands that are likely to meet each other: few accounts, few members, few prices.

mod amend;
mod conditional;
mod contracts;
mod halts;
mod icebergs;
mod levels;
mod linked;
mod orders;
mod plans;
mod restrictions;
mod shocks;
mod transfers;

use super::Reference;
use super::dice::Dice;
use super::world::{rules, scale, spec, text};
use rialto_model::{
    AccountId, AuctionRules, CallDepth, ClientOrderId, Command, CurrencyId, Handling, InstrumentId,
    InstrumentState, MassCancel, MemberId, Name, NewOrder, OrderKind, OrderSize, PostOnly, Price,
    Quantity, Restrict, Restriction, RestrictionTarget, Scale, SelfTrade, Side, Text, TimeInForce,
    Timestamp, TradingRules,
};

const MICROSECOND: u64 = 1_000;

/// What a sequence is mostly about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Everything, on shallow books.
    General,
    /// The same with limits so small that they are met all the time.
    Tight,
    /// Hundreds of small orders: sweeps, mass cancels, expiries and closings that take several
    /// commands.
    Deep,
}

pub(super) const SELF_TRADES: [SelfTrade; 5] = [
    SelfTrade::Allow,
    SelfTrade::CancelNewest,
    SelfTrade::CancelOldest,
    SelfTrade::CancelBoth,
    SelfTrade::Decrement,
];
const SIDES: [Side; 2] = [Side::Buy, Side::Sell];
const ALL_TIMES: &[TimeInForce] = TimeInForce::ALL;

/// One step of a sequence: how much time passes and what comes then.
pub struct Step {
    pub passes_ns: u64,
    pub commands: Vec<Command>,
}

/// Chooses a step from its own seed, looking at how things stand: the same step seed means
/// something sensible wherever it comes, so that a failing sequence can be shortened.
pub fn step(seed: u64, profile: Profile, now: &Reference, time: Timestamp) -> Step {
    let mut chooser = Chooser { dice: Dice::new(seed), profile, now, time };
    let passes_ns = match chooser.dice.weighted(&[560, 360, 70, 7, 3, 2]) {
        0 => 0,
        1 => chooser.dice.below(10 * MICROSECOND),
        2 => chooser.dice.below(1_000 * MICROSECOND),
        3 => chooser.dice.below(Timestamp::DAY / 8),
        4 => chooser.dice.below(Timestamp::DAY * 2),
        _ => chooser.dice.below(Timestamp::DAY * 40),
    };
    chooser.time = time.saturating_add(passes_ns);
    let commands = match (profile, chooser.dice.below(100)) {
        (_, 0..70) if chooser.keeps_a_call() => vec![Command::Tick],
        (_, 0..12) if chooser.stopped().is_some() => vec![chooser.reopening()],
        (_, 12..24) if !now.restrictions.is_empty() => vec![chooser.lifting()],
        (_, 24..32) if !now.restrictions.is_empty() => vec![chooser.shrinking()],
        (Profile::Deep, 28..60) if chooser.is_only_restricted() => vec![chooser.lifting()],
        (_, 30..80) if chooser.waiting().is_some() => chooser.halt_of_waiting(),
        (Profile::Deep, 0..40) if !now.auctions.is_empty() => vec![chooser.many_ended()],
        (Profile::Deep, 40..60) if !now.auctions.is_empty() => vec![chooser.halt_of_all()],
        (Profile::Deep, 60..65) if !now.auctions.is_empty() => vec![chooser.clearing()],
        (_, 95..100) if now.rules_version >= 4 => chooser.whole_plan(),
        (Profile::General, 92..95) if now.rules_version >= 5 => chooser.many_levels(),
        (Profile::General | Profile::Tight, 84..88) if now.rules_version >= 9 => {
            chooser.list_and_its_end()
        }
        (Profile::General | Profile::Tight, 80..84) if now.rules_version >= 10 => {
            chooser.amendments_on_the_way()
        }
        (Profile::General | Profile::Tight, 60..66) if !chooser.bound().is_empty() => {
            vec![chooser.killing()]
        }
        (Profile::General | Profile::Tight, 88..90) if now.rules_version >= 4 => {
            chooser.price_shock()
        }
        (Profile::Tight, 78..80) if now.accounts.len() >= 3 => chooser.many_withdrawals(),
        (Profile::Deep, 0..60) if now.has_background_work() => {
            (0..1 + chooser.dice.below(12)).map(|_| chooser.command()).collect()
        }
        (Profile::Deep, 80..83) if now.rules_version >= 7 => chooser.many_trailing(),
        (Profile::Deep, 90..92) if now.rules_version >= 8 => chooser.many_icebergs(),
        (Profile::Deep, 78..80) if now.rules_version >= 9 => chooser.many_lists(),
        (Profile::Deep, 72..78) if now.rules_version >= 10 => chooser.many_amendments(),
        (Profile::Deep, 92..95) if now.rules_version >= 4 => vec![chooser.clearing()],
        (Profile::Deep, 80..90) if now.rules_version >= 6 => chooser.many_conditional(),
        (Profile::Deep, 0..40) if chooser.has_collected() => vec![chooser.reopening()],
        (Profile::Deep, 0..40) => chooser.many_orders(),
        (Profile::Deep, 40..65) => vec![chooser.sweep()],
        (Profile::Deep, 65..80) => vec![chooser.many_ended()],
        _ => vec![chooser.command()],
    };
    Step { passes_ns, commands }
}

struct Chooser<'a> {
    dice: Dice,
    profile: Profile,
    now: &'a Reference,
    time: Timestamp,
}

impl Chooser<'_> {
    fn command(&mut self) -> Command {
        let conditional = if self.now.rules_version >= 6 { 145 } else { 4 };
        let icebergs = if self.now.rules_version >= 8 { 90 } else { 2 };
        let lists = if self.now.rules_version >= 9 { 110 } else { 2 };
        let weights = [
            520,
            40,
            90,
            150,
            20,
            10,
            20,
            50,
            60,
            14,
            45,
            12,
            9,
            90,
            16,
            16,
            60,
            20,
            20,
            conditional,
            icebergs,
            lists,
        ];
        match self.dice.weighted(&weights) {
            0 => Command::Place(self.order()),
            1 => self.again(),
            2 => {
                let (account, order) = self.some_order();
                Command::Cancel { account, order }
            }
            3 => self.amendment(),
            4 => Command::MassCancel(MassCancel {
                account: self.bound_account().unwrap_or_else(|| self.account()),
                instrument: self.dice.chance(50).then(|| self.instrument()),
                side: self.dice.chance(30).then(|| self.dice.pick(&SIDES)),
            }),
            5 => Command::Disconnect { account: self.account() },
            6 => Command::SetDeadMan {
                account: self.account(),
                timeout_ns: match self.dice.below(6) {
                    0 => 0,
                    1 => Timestamp::DAY,
                    2 => Timestamp::DAY + 1,
                    _ => 1 + self.dice.below(40 * MICROSECOND),
                },
            },
            7 => Command::Deposit(self.deposit()),
            8 => Command::Withdraw(self.transfer()),
            9 => Command::SetRules { instrument: self.instrument(), rules: self.new_rules() },
            10 => self.new_state(),
            11 => self.listing(),
            12 => Command::Tick,
            13 => self.withdrawal(),
            14 => self.auction_rules(),
            15 => self.restriction(),
            16 => self.timetable(),
            17 => self.halt(),
            18 => self.contract(),
            19 => self.conditional_or_trailing(),
            20 => self.iceberg(),
            _ => self.list(),
        }
    }

    fn account(&mut self) -> AccountId {
        if self.dice.chance(1) {
            return self.dice.pick(&[AccountId(0), AccountId(77), AccountId::FEES]);
        }
        let accounts: Vec<AccountId> = self.now.accounts.keys().copied().collect();
        self.dice.pick(&accounts)
    }

    /// Now and then an account that may not cancel all its orders.
    fn bound_account(&mut self) -> Option<AccountId> {
        let mut accounts = self.now.accounts.keys().copied();
        accounts.find(|account| self.now.leaves_orders(*account)).filter(|_| self.dice.chance(80))
    }

    fn instrument(&mut self) -> InstrumentId {
        if self.dice.chance(1) {
            return self.dice.pick(&[InstrumentId(0), InstrumentId(99)]);
        }
        InstrumentId(self.dice.below(self.now.instruments.len() as u64) as u32 + 1)
    }

    fn currency(&mut self) -> CurrencyId {
        if self.dice.chance(2) {
            return self.dice.pick(&[CurrencyId(0), CurrencyId(99)]);
        }
        CurrencyId(self.dice.below(self.now.currencies.len() as u64) as u16 + 1)
    }

    fn rules_of(&self, instrument: InstrumentId) -> TradingRules {
        let listed = self.now.listed(instrument).or(self.now.listed(InstrumentId(1)));
        listed.expect("a world has an instrument").instrument.spec.rules
    }

    fn price(&mut self, rules: &TradingRules) -> Price {
        if self.dice.chance(2) {
            return Price(self.dice.pick(&[0, -5, 1, 99, 101, 150]));
        }
        if self.dice.below(300) == 0 {
            return Price(self.dice.pick(&[i64::MAX, 1 << 62]));
        }
        let tick = rules.tick.0;
        Price((100 / tick + self.dice.between(-3, 3)) * tick)
    }

    /// Now and then all attributes that there are, which older rules refuse.
    fn handling(&mut self, leaving_percent: u64) -> Handling {
        if self.dice.chance(10) {
            let all: Vec<Handling> = (0..=u8::MAX).filter_map(Handling::from_bits).collect();
            return self.dice.pick(&all);
        }
        Handling::NONE.with_cancel_on_disconnect(self.dice.chance(leaving_percent))
    }

    fn quantity(&mut self, rules: &TradingRules) -> Quantity {
        if self.dice.chance(4) {
            return Quantity(self.dice.pick(&[0, -1, 1, 7, 4_000, 1 << 50, i64::MAX]));
        }
        Quantity(self.dice.between(1, 9) * rules.lot.0)
    }

    fn new_rules(&mut self) -> TradingRules {
        let mut rules = rules(&mut self.dice, self.profile);
        if self.dice.chance(10) {
            rules.taker_fee_ppm = -1;
        }
        rules
    }

    /// An instrument that is not open.
    fn stopped(&self) -> Option<InstrumentId> {
        let mut listed = self.now.instruments.iter().map(|listed| listed.instrument);
        listed.find(|instrument| instrument.state != InstrumentState::Open).map(|found| found.id)
    }

    fn reopening(&mut self) -> Command {
        let instrument = self.stopped().unwrap_or(InstrumentId(1));
        Command::SetInstrumentState { instrument, state: InstrumentState::Open }
    }

    fn new_state(&mut self) -> Command {
        let weights = [20, 6, 4, 2, 6, 16, 1, 6, 5, 1];
        let state = InstrumentState::ALL[self.dice.weighted(&weights)];
        let mut instrument = self.instrument();
        if state == InstrumentState::Delisted && !self.dice.chance(10) {
            // Nothing comes after it.
            instrument = InstrumentId(99);
        }
        Command::SetInstrumentState { instrument, state }
    }

    fn auction_rules(&mut self) -> Command {
        let range = |dice: &mut Dice| dice.pick(&[0, 0, 10_000, 25_000, 60_000]);
        let auction_range_ppm = range(&mut self.dice);
        let mut rules = AuctionRules {
            fee_ppm: self.dice.pick(&[0, 1_000, 33_333, 100_000]),
            self_trade: self.dice.pick(&SELF_TRADES),
            daily_range_ppm: self.dice.pick(&[0, 0, 20_000, 100_000]),
            static_range_ppm: range(&mut self.dice),
            dynamic_range_ppm: range(&mut self.dice),
            auction_range_ppm,
            extended_range_ppm: 0,
            call_ms: self.dice.pick(&[1, 1, 5, 1_000]),
            random_end_ms: self.dice.pick(&[0, 1, 20]),
            call_depth: self.dice.pick(CallDepth::ALL),
            limit_range_ppm: self.dice.pick(&[0, 0, 10_000, 25_000]),
            ..AuctionRules::PLAIN
        };
        if rules.limit_range_ppm > 0 && self.dice.chance(80) {
            rules.limit_state_ms = self.dice.pick(&[1, 1, 5]);
            // Short halts would follow each other without an end while days pass.
            rules.halt_ms = self.dice.pick(&[3, 6]) * 3_600_000;
        }
        if auction_range_ppm > 0 && self.dice.chance(50) {
            rules.extended_range_ppm = auction_range_ppm + self.dice.pick(&[0, 10_000]);
        }
        match self.dice.below(40) {
            0 => rules.fee_ppm = -1,
            1 => rules.static_range_ppm = 1_000_000,
            2 => rules.call_ms = AuctionRules::CALL_MS_MAX + 1,
            3 => rules.extended_range_ppm = 1,
            4 => rules.limit_state_ms = self.dice.pick(&[0, 1, AuctionRules::CALL_MS_MAX + 1]),
            5 => rules.halt_ms = self.dice.pick(&[0, 999, AuctionRules::CALL_MS_MAX + 1]),
            _ => {}
        }
        let seed = self.dice.next();
        Command::SetAuctionRules { instrument: self.instrument(), rules, seed }
    }

    fn listing(&mut self) -> Command {
        let name: Name = if self.dice.chance(5) { Text::EMPTY } else { text("new") };
        match self.dice.below(5) {
            0 => Command::CreateMember {
                member: MemberId(self.dice.pick(&[0, 0, 1, 9, 1 << 20])),
                name,
            },
            1 => Command::CreateAccount {
                account: AccountId(self.dice.pick(&[0, 0, 1, 12, 1 << 20])),
                member: MemberId(self.dice.pick(&[1, 2, 50])),
                name,
            },
            2 => Command::CreateCurrency {
                code: self.dice.pick(&[text("C1"), text("C7"), text("C8"), Text::EMPTY]),
                scale: scale(self.dice.below(19) as u8),
            },
            3 => {
                let number = self.dice.between(1, 9);
                let scales: Vec<Scale> =
                    self.now.currencies.iter().map(|currency| currency.scale).collect();
                let mut spec = spec(&mut self.dice, number, &scales, self.profile);
                match self.dice.below(8) {
                    0 => spec.symbol = Text::EMPTY,
                    1 => spec.base = CurrencyId(200),
                    2 => spec.quote = spec.base,
                    3 => spec.price_scale = scale(18),
                    4 => spec.quantity_scale = scale(18),
                    _ => {}
                }
                Command::CreateInstrument(spec)
            }
            _ => {
                let newest = if self.now.rules_version >= 9 { 10 } else { 4 };
                let version = self.dice.pick(&[0, 1, 2, 3, 4, newest, 99]);
                Command::SetRulesVersion { version }
            }
        }
    }

    /// Whether hundreds of orders wait for an auction.
    fn has_collected(&self) -> bool {
        let first = InstrumentId(1);
        let own = self.now.orders.iter().filter(|order| order.instrument == first);
        self.now.is_crossed(first) && own.count() > 150
    }

    /// Hundreds of small resting orders. In a call they are of both sides, and cross.
    fn many_orders(&mut self) -> Vec<Command> {
        let count = self.dice.between(20, 500);
        let expiring = self.dice.pick(&[0, 50, 100]);
        let rules = self.rules_of(InstrumentId(1));
        let expire_at = self.time.saturating_add(1 + self.dice.below(200 * MICROSECOND));
        let accounts: Vec<AccountId> = self.now.accounts.keys().copied().collect();
        let one_account = self.dice.pick(&accounts);
        let alone = self.dice.chance(50);
        let one_side = self.dice.pick(&SIDES);
        let listed = self.now.listed(InstrumentId(1)).expect("a world has an instrument");
        let collects = listed.instrument.state.collects();
        let order = |_| {
            let side = if collects { self.dice.pick(&SIDES) } else { one_side };
            let towards = if (side == Side::Buy) == collects { 1 } else { -1 };
            let away = self.dice.between(1, 3) * towards;
            let gtd = self.dice.chance(expiring);
            Command::Place(NewOrder {
                account: if alone { one_account } else { self.dice.pick(&accounts) },
                instrument: InstrumentId(1),
                side,
                kind: OrderKind::Limit,
                time_in_force: if gtd { TimeInForce::Gtd } else { TimeInForce::Gtc },
                post_only: PostOnly::Off,
                self_trade: None,
                handling: self.handling(80),
                size: OrderSize::Base(Quantity(self.dice.between(1, 2) * rules.lot.0)),
                price: Price((100 / rules.tick.0 + away) * rules.tick.0),
                minimum_quantity: Quantity::ZERO,
                expire_at: if gtd { expire_at } else { Timestamp::ZERO },
                client_order_id: ClientOrderId::EMPTY,
            })
        };
        (0..count).map(order).collect()
    }

    /// A command that ends hundreds of orders.
    fn many_ended(&mut self) -> Command {
        let account = self.account();
        if self.dice.chance(if self.now.auctions.is_empty() { 10 } else { 40 }) {
            let target = match self.dice.weighted(&[20, 40, 25, 15]) {
                0 => RestrictionTarget::Account(account),
                1 => RestrictionTarget::Member(MemberId(self.dice.pick(&[1, 2, 3]))),
                2 => RestrictionTarget::Instrument(InstrumentId(1)),
                _ => RestrictionTarget::Venue,
            };
            let restriction = Restriction::CancelOnly;
            return Command::Restrict(Restrict {
                target,
                restriction,
                by_member: false,
                cancel: true,
            });
        }
        match self.dice.below(10) {
            0..4 => Command::MassCancel(MassCancel {
                account,
                instrument: None,
                side: self.dice.chance(30).then(|| self.dice.pick(&SIDES)),
            }),
            4..6 => Command::Disconnect { account },
            6..8 => Command::SetDeadMan { account, timeout_ns: 1 + self.dice.below(MICROSECOND) },
            8 => Command::SetInstrumentState {
                instrument: InstrumentId(1),
                state: self.dice.pick(&[
                    InstrumentState::Withdrawn,
                    InstrumentState::Call,
                    InstrumentState::ClosingCall,
                ]),
            },
            _ => Command::SetInstrumentState {
                instrument: InstrumentId(1),
                state: InstrumentState::Open,
            },
        }
    }
}
