//! The worlds that sequences play in.

use super::dice::Dice;
use super::generator::{Profile, SELF_TRADES};
use rialto_core::{Limits, RULES_VERSIONS};
use rialto_model::{
    AccountId, Amount, Command, CurrencyId, InstrumentId, InstrumentKind, InstrumentSpec,
    InstrumentState, MemberId, NewOrder, Price, Quantity, Scale, SelfTrade, Side, Text, Timestamp,
    TradingRules, Transfer,
};

/// The world that a sequence plays in, and the commands that build it.
pub struct World {
    pub limits: Limits,
    pub rules_version: u32,
    pub start: Timestamp,
    pub setup: Vec<Command>,
}

pub(super) fn text<const N: usize>(text: &str) -> Text<N> {
    text.parse().expect("short and printable")
}

impl World {
    /// One instrument, and an account for each of `deposits`, with a member of its own and that
    /// amount of both currencies. Risk is off if nobody has anything.
    pub fn plain(deposits: &[i128]) -> World {
        let mut setup = Vec::new();
        for code in ["BASE", "QUOTE"] {
            setup.push(Command::CreateCurrency { code: text(code), scale: scale(0) });
        }
        setup.push(Command::CreateInstrument(InstrumentSpec {
            symbol: text("BASE-QUOTE"),
            kind: InstrumentKind::Spot,
            base: CurrencyId(1),
            quote: CurrencyId(2),
            price_scale: scale(0),
            quantity_scale: scale(0),
            rules: plain_rules(deposits.iter().any(|amount| *amount > 0)),
        }));
        for (number, amount) in (1..).zip(deposits) {
            let name = text(&format!("m{number}"));
            setup.push(Command::CreateMember { member: MemberId(number), name });
            let (account, member) = (AccountId(number), MemberId(number));
            setup.push(Command::CreateAccount { account, member, name });
            for (currency, reference) in [(1, "base"), (2, "quote")] {
                if *amount > 0 {
                    let (currency, amount) = (CurrencyId(currency), Amount(*amount));
                    let reference = text(reference);
                    let transfer = Transfer { account, currency, amount, reference };
                    setup.push(Command::deposit(transfer));
                }
            }
        }
        let start = Timestamp(1_700_000_000 * Timestamp::SECOND);
        let rules_version = *RULES_VERSIONS.end();
        World { limits: Limits::default(), rules_version, start, setup }
    }

    pub fn new(seed: u64, profile: Profile) -> World {
        let mut dice = Dice::new(seed);
        let mut limits = Limits::default();
        if profile == Profile::Tight {
            limits.members_max = 4;
            limits.accounts_max = 7;
            limits.currencies_max = 5;
            limits.instruments_max = 4;
            limits.orders_max = dice.pick(&[6, 12]);
            limits.transfers_max = 4;
            limits.account_transfers_max = 3;
            limits.deposits_max = 24;
            limits.client_ids_max = 4;
            limits.client_ids_total_max = 9;
            limits.withdrawals_max = 5;
            limits.account_withdrawals_max = 2;
        } else {
            limits.client_ids_max = dice.pick(&[3, 20, 1_024]);
            limits.pending_cancels_max = dice.pick(&[1, 2, 1_024]);
        }
        let start = Timestamp(1_700_000_000 * Timestamp::SECOND + dice.below(Timestamp::DAY));
        let mut setup = Vec::new();
        let currencies = dice.between(2, 4);
        for number in 1..=currencies {
            setup.push(Command::CreateCurrency {
                code: text(&format!("C{number}")),
                scale: scale(dice.pick(&[0, 0, 1, 3, 18])),
            });
        }
        let members = dice.between(2, 3);
        for number in 1..=members {
            let asked = if dice.chance(50) { number as u32 } else { 0 };
            setup.push(Command::CreateMember {
                member: MemberId(asked),
                name: text(&format!("member-{number}")),
            });
        }
        let deep = profile == Profile::Deep;
        let accounts = if deep { members } else { dice.between(members, 5) };
        for number in 1..=accounts {
            setup.push(Command::CreateAccount {
                account: AccountId(0),
                member: MemberId((number % members) as u32 + 1),
                name: text(&format!("account-{number}")),
            });
        }
        let instruments = if deep { 1 } else { dice.between(1, 3) };
        for number in 1..=instruments {
            let scales: Vec<Scale> =
                (1..=currencies).map(|currency| scale_of(&setup, currency)).collect();
            setup.push(Command::CreateInstrument(spec(&mut dice, number, &scales, profile)));
        }
        for account in 1..=accounts {
            for currency in 1..=currencies {
                if deep || dice.chance(85) {
                    // Most accounts can afford a few orders, some almost nothing.
                    let most = if dice.chance(80) { 20_000 } else { 300 };
                    let unit = if deep || dice.chance(80) {
                        scale_of(&setup, currency).factor()
                    } else {
                        10
                    };
                    let amount = i128::from(dice.between(1, most)) * i128::from(unit);
                    let rich = if deep { 1_000_000 } else { 1 };
                    setup.push(Command::deposit(Transfer {
                        account: AccountId(account as u32),
                        currency: CurrencyId(currency as u16),
                        amount: Amount(amount * rich),
                        reference: text(&format!("setup-{currency}")),
                    }));
                }
            }
        }
        for instrument in 1..=instruments {
            if !deep && dice.chance(25) {
                let (instrument, state) = (InstrumentId(instrument as u32), InstrumentState::Call);
                setup.push(Command::SetInstrumentState { instrument, state });
            }
        }
        World { limits, rules_version: *RULES_VERSIONS.end(), start, setup }
    }
}

/// A limit order for one unit of account 1 in instrument 1, to be changed as a test needs it.
pub fn plain_order() -> NewOrder {
    NewOrder::limit(AccountId(1), InstrumentId(1), Side::Buy, Quantity(1), Price(100))
}

/// Rules without restrictions and fees.
pub fn plain_rules(risk: bool) -> TradingRules {
    TradingRules {
        market_protection_ppm: 500_000,
        self_trade: SelfTrade::CancelNewest,
        risk,
        ..TradingRules::unrestrained()
    }
}

/// The scale of the currency that the setup lists as this number.
fn scale_of(setup: &[Command], number: i64) -> Scale {
    match setup[number as usize - 1] {
        Command::CreateCurrency { scale, .. } => scale,
        other => unreachable!("currencies come first, not {other:?}"),
    }
}

pub(super) fn scale(places: u8) -> Scale {
    Scale::new(places).expect("at most 18")
}

pub(super) fn spec(
    dice: &mut Dice,
    number: i64,
    scales: &[Scale],
    profile: Profile,
) -> InstrumentSpec {
    let currencies = scales.len() as i64;
    let base = dice.between(1, currencies);
    let quote = (base + dice.between(0, currencies - 2)) % currencies + 1;
    let places = |number: i64| i64::from(scales[number as usize - 1].places());
    let quantity_scale = dice.between(0, places(base).min(places(quote)).min(2));
    let price_scale = dice.between(0, places(quote) - quantity_scale);
    InstrumentSpec {
        symbol: text(&format!("I{number}")),
        kind: InstrumentKind::Spot,
        base: CurrencyId(base as u16),
        quote: CurrencyId(quote as u16),
        price_scale: scale(price_scale as u8),
        quantity_scale: scale(quantity_scale as u8),
        rules: rules(dice, profile),
    }
}

pub(super) fn rules(dice: &mut Dice, profile: Profile) -> TradingRules {
    let deep = profile == Profile::Deep;
    let taker = dice.pick(&[0, 1_000, 2_500, 33_333, 100_000]);
    let tick = dice.pick(&[1, 1, 2, 5]);
    TradingRules {
        tick: Price(tick),
        lot: Quantity(dice.pick(&[1, 1, 2, 3])),
        quantity_max: Quantity(if dice.chance(30) { 1 << 50 } else { 3_000 }),
        notional_min: Amount(if deep { 0 } else { dice.pick(&[0, 0, 150, 400]) }),
        collar_ppm: if deep { 0 } else { dice.pick(&[0, 0, 0, 40_000, 150_000]) },
        reference_price: Price(dice.pick(&[0, 100])),
        market_protection_ppm: dice.pick(&[0, 10_000, 33_000, 500_000]),
        maker_fee_ppm: dice.pick(&[-taker, -taker / 2, 0, taker / 3, taker]),
        taker_fee_ppm: taker,
        self_trade: dice.pick(&SELF_TRADES),
        open_orders_max: if deep { 5_000 } else { dice.pick(&[0, 3, 8, 8, 8, 50, 50, 50]) },
        day_end_s: dice.below(86_400) as u32,
        risk: dice.chance(80),
    }
}
