//! Orders on several instruments, with the trades and the balances that they must come to.
//!
//! Instrument `n` trades currency `n` against one quote currency, which comes after them. Prices have
//! one decimal place and quantities none, so that every fee is a whole number of the smallest unit
//! and every balance can be predicted from the trades.

mod auction;
mod builder;
mod flows;

pub use auction::{AUCTION_FEES, CallAuction, call_auction};
pub use builder::MarketBuilder;
pub use flows::{
    crossed_levels, every_kind, one_maker, pair_beside, paired_round, qaexchange, resting_orders,
};

use crate::commands::{MAKER_FEE_PPM, TAKER_FEE_PPM, rules};
use crate::cycle::shifted;
use crate::reference::{Fill, Tally};
use rialto_model::{
    AccountId, Amount, Command, CurrencyId, InstrumentId, InstrumentKind, InstrumentSpec, MemberId,
    Name, Scale, Side, Transfer,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// Decimal places of a price: 1,000 is 100.0.
pub const MARKET_PRICE_SCALE: u8 = 1;
/// The funds of each account in each currency.
const FUNDS: i128 = 1 << 100;
const QUOTE_SCALE: u8 = 6;
/// The notional of one unit of quantity at one unit of price, in the smallest unit.
const NOTIONAL: i128 = 10_i128.pow((QUOTE_SCALE - MARKET_PRICE_SCALE) as u32);
const MILLION: i128 = 1_000_000;
// Otherwise fees are rounded, and how they are is for the core to say.
const _: () = assert!(NOTIONAL * MAKER_FEE_PPM as i128 % MILLION == 0);
const _: () = assert!(NOTIONAL * TAKER_FEE_PPM as i128 % MILLION == 0);

/// Commands on several instruments, and what they must come to. [`MarketBuilder`] makes them.
#[derive(Clone, Debug)]
pub struct MarketFlow {
    /// Its name in the report.
    pub name: String,
    /// The number of instruments.
    pub instruments: u32,
    /// The number of accounts; each belongs to the member of the same number.
    pub accounts: u32,
    /// The number of commands that only fill the books, outside of any timing.
    pub prefill: usize,
    /// All commands, those of the prefill included.
    pub commands: Vec<Command>,
    /// The number of orders that they place.
    pub placed: u64,
    /// What they come to.
    pub expected: MarketTotals,
    /// The most orders that rest at once.
    pub resting_max: u64,
}

/// Trades, resting orders and balances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarketTotals {
    /// The trades of all instruments, in order.
    pub tally: Tally,
    /// The number of resting orders.
    pub resting: u64,
    /// What each account has gained in each currency, account by account.
    gained: Vec<i128>,
    fees: i128,
}

impl MarketTotals {
    fn new(instruments: u32, accounts: u32) -> MarketTotals {
        let gained = vec![0; ((instruments + 1) * accounts) as usize];
        MarketTotals { tally: Tally::default(), resting: 0, gained, fees: 0 }
    }

    /// Posts a fill with its fees; the taker's side is given, and the accounts and fee rates of maker
    /// and taker.
    fn post(
        &mut self,
        fill: &Fill,
        currencies: (u16, u16),
        side: Side,
        accounts: [AccountId; 2],
        ppm: [i32; 2],
    ) {
        self.tally.take(fill);
        let (base, quote) = currencies;
        let quantity = i128::from(fill.quantity.0);
        let notional = i128::from(fill.price.0) * quantity * NOTIONAL;
        let sides = [side.opposite(), side];
        for ((account, side), ppm) in accounts.into_iter().zip(sides).zip(ppm) {
            let sign = if side == Side::Buy { 1 } else { -1 };
            let fee = notional * i128::from(ppm) / MILLION;
            let row = (account.0 - 1) as usize * usize::from(quote);
            self.gained[row + usize::from(base) - 1] += sign * quantity;
            self.gained[row + usize::from(quote) - 1] -= sign * notional + fee;
            self.fees += fee;
        }
    }
}

impl MarketFlow {
    /// The quote currency.
    #[must_use]
    pub fn quote(&self) -> CurrencyId {
        CurrencyId(quote_of(self.instruments))
    }

    /// All instruments.
    pub fn instruments(&self) -> impl Iterator<Item = InstrumentId> + use<> {
        (1..=self.instruments).map(InstrumentId)
    }

    /// The symbol of an instrument.
    #[must_use]
    pub fn symbol(instrument: InstrumentId) -> String {
        format!("{}-USD", base_code(instrument))
    }

    /// The commands before the first order: currencies, instruments with risk on and the fees of
    /// [`FEES`](crate::FEES), and accounts with more than they can spend.
    #[must_use]
    pub fn opening(&self) -> Vec<Command> {
        let scale = |places| Scale::new(places).expect("the places are constants within the range");
        let code = |text: &str| text.parse().expect("letters and digits are a currency code");
        let mut commands = Vec::new();
        for instrument in self.instruments() {
            let code = code(&base_code(instrument));
            commands.push(Command::CreateCurrency { code, scale: scale(0) });
        }
        commands.push(Command::CreateCurrency { code: code("USD"), scale: scale(QUOTE_SCALE) });
        for instrument in self.instruments() {
            commands.push(Command::CreateInstrument(InstrumentSpec {
                symbol: Self::symbol(instrument).parse().expect("two codes are a symbol"),
                kind: InstrumentKind::Spot,
                base: CurrencyId(instrument.0 as u16),
                quote: self.quote(),
                price_scale: scale(MARKET_PRICE_SCALE),
                quantity_scale: scale(0),
                rules: rules(),
            }));
        }
        for number in 1..=self.accounts {
            let (account, member) = (AccountId(number), MemberId(number));
            let name: Name = "trader".parse().expect("a short plain text is a name");
            commands.push(Command::CreateMember { member, name });
            commands.push(Command::CreateAccount { account, member, name });
            for currency in (1..=self.quote().0).map(CurrencyId) {
                let reference = format!("fund-{}", currency.0);
                let reference = reference.parse().expect("a short plain text is a reference");
                let amount = Amount(FUNDS);
                let transfer = Transfer { account, currency, amount, reference };
                commands.push(Command::deposit(transfer));
            }
        }
        commands
    }

    /// The commands again, after `rounds` rounds of them. Only for a flow that leaves nothing resting.
    pub fn round(&self, rounds: u64) -> impl Iterator<Item = Command> + '_ {
        let by = rounds * self.placed;
        self.commands.iter().map(move |command| shifted(*command, by))
    }

    /// What an account has after some rounds, the reserved part included.
    #[must_use]
    pub fn balance(&self, account: AccountId, currency: CurrencyId, rounds: u64) -> Amount {
        let row = (account.0 - 1) as usize * usize::from(self.quote().0);
        let gained = self.expected.gained[row + usize::from(currency.0) - 1];
        Amount(FUNDS + gained * i128::from(rounds))
    }

    /// The fees of some rounds.
    #[must_use]
    pub fn fees(&self, rounds: u64) -> Amount {
        Amount(self.expected.fees * i128::from(rounds))
    }

    /// The totals as a row shows them once they have been verified, of some rounds. The digest is
    /// that of one round.
    #[must_use]
    pub fn checks(&self, rounds: u64) -> BTreeMap<String, Value> {
        let MarketTotals { tally, resting, fees, .. } = &self.expected;
        // The largest flow trades and pays far less than 2^63 units.
        let in_all = |each: i128| Value::from((each * i128::from(rounds)) as i64);
        let mut checks = BTreeMap::from([
            ("commands".to_string(), in_all(self.commands.len() as i128)),
            ("trades".to_string(), in_all(tally.trades.into())),
            ("traded_quantity".to_string(), in_all(tally.traded_quantity)),
            ("fees".to_string(), in_all(*fees)),
            ("resting".to_string(), Value::from(*resting)),
            ("accounts_checked".to_string(), Value::from(self.accounts)),
        ]);
        if rounds == 1 {
            checks.insert("digest".to_string(), tally.digest.to_string().into());
        }
        checks
    }
}

fn quote_of(instruments: u32) -> u16 {
    instruments as u16 + 1
}

fn base_code(instrument: InstrumentId) -> String {
    format!("IX{:02}", instrument.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_core::{Core, CoreConfig, EventSink};
    use rialto_model::{Event, Seq, Timestamp};

    /// Trades of a core.
    struct Trades(Tally);

    impl EventSink for Trades {
        fn event(&mut self, event: &Event) {
            match event {
                Event::Trade(trade) => self.0.take(&crate::fill_of(trade)),
                Event::Rejected(rejected) => panic!("{rejected:?}"),
                _ => {}
            }
        }
    }

    /// Runs rounds of a flow through a core, and compares all that is predicted.
    fn agrees(flow: &MarketFlow, rounds: u64) {
        let mut core = Core::new(CoreConfig::new(crate::ENGINE));
        let mut trades = Trades(Tally::default());
        let mut seq = 0;
        let in_rounds = (0..rounds).flat_map(|round| flow.round(round));
        for command in flow.opening().into_iter().chain(in_rounds) {
            seq += 1;
            core.apply(Seq(seq), Timestamp(seq), &command, &mut trades);
        }
        core.check().expect("the core is sound");
        assert_eq!(trades.0.trades, flow.expected.tally.trades * rounds, "{}", flow.name);
        if rounds == 1 {
            assert_eq!(trades.0, flow.expected.tally, "{}", flow.name);
        }
        let resting: usize = core.instruments().map(|instrument| instrument.open_orders).sum();
        assert_eq!(resting as u64, flow.expected.resting, "{}", flow.name);
        for account in (1..=flow.accounts).map(AccountId) {
            for currency in (1..=flow.quote().0).map(CurrencyId) {
                let has = core.balance(account, currency).expect("the account is open");
                let all = Amount(has.available.0 + has.reserved.0);
                assert_eq!(all, flow.balance(account, currency, rounds), "{}", flow.name);
            }
        }
        let fees = core.balance(AccountId::FEES, flow.quote()).expect("the fee account");
        assert_eq!(fees.available, flow.fees(rounds), "{}", flow.name);
    }

    #[test]
    fn a_core_comes_to_the_trades_and_balances_of_every_flow() {
        for flow in
            [crossed_levels(10, 200), qaexchange(2_000), resting_orders(500), one_maker(4, 100)]
        {
            agrees(&flow, 1);
        }
        for flow in [paired_round(1_000), every_kind(2_000), pair_beside()] {
            assert_eq!(flow.expected.resting, 0, "{}", flow.name);
            agrees(&flow, 3);
        }
    }

    #[test]
    fn the_million_orders_trade_as_often_as_their_prices_allow() {
        // Only the orders of the first instrument have one price on both sides.
        let flow = qaexchange(10_000);
        assert_eq!((flow.placed, flow.expected.tally.trades), (10_000, 500));
        assert_eq!(flow.expected.resting, 9_000);
    }

    #[test]
    fn a_flow_of_every_kind_has_each_of_them() {
        let flow = every_kind(2_000);
        let count = |is: fn(&Command) -> bool| flow.commands.iter().filter(|it| is(it)).count();
        assert!(count(|it| matches!(it, Command::Place(_))) > 500);
        assert!(count(|it| matches!(it, Command::Amend(_))) > 200);
        assert!(count(|it| matches!(it, Command::Cancel { .. })) > 200);
        assert!(flow.expected.tally.trades > 200);
    }
}
