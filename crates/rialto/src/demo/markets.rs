//! The demo's currencies, markets, members and accounts.

use rialto_model::{
    AccountId, Amount, CurrencyId, InstrumentKind, InstrumentSpec, MemberId, Price, Quantity,
    Scale, SelfTrade, TradingRules,
};

/// A currency of the demo.
pub(crate) struct DemoCurrency {
    pub(crate) code: &'static str,
    pub(crate) places: u8,
    /// The funds of each simulated account, in whole units.
    pub(crate) funds: i128,
    /// The funds of the visitor's account, in whole units.
    pub(crate) visitor_funds: i128,
}

/// By number: the first is currency 1.
pub(crate) const CURRENCIES: [DemoCurrency; 3] = [
    DemoCurrency { code: "BTC", places: 8, funds: 2_000, visitor_funds: 10 },
    DemoCurrency { code: "ETH", places: 8, funds: 40_000, visitor_funds: 100 },
    DemoCurrency { code: "USD", places: 8, funds: 100_000_000, visitor_funds: 1_000_000 },
];

impl DemoCurrency {
    pub(crate) fn scale(&self) -> Scale {
        Scale::new(self.places).expect("the constants above are scales")
    }

    /// Whole units in the currency's smallest one.
    pub(crate) fn amount(&self, whole: i128) -> Amount {
        Amount(whole * i128::from(self.scale().factor()))
    }
}

/// A market of the demo. Numbers are in the units of its scales.
pub(crate) struct DemoMarket {
    pub(crate) symbol: &'static str,
    /// Places in [`CURRENCIES`].
    pub(crate) base: usize,
    pub(crate) quote: usize,
    pub(crate) price_places: u8,
    pub(crate) quantity_places: u8,
    pub(crate) tick: i64,
    pub(crate) lot: i64,
    /// Where the price begins.
    pub(crate) price: i64,
    /// Whole units of the base currency that one order is at most for.
    pub(crate) quantity_max: i64,
    /// In the quote currency's smallest unit.
    pub(crate) notional_min: i128,
}

/// By number: the first is instrument 1.
pub(crate) const MARKETS: [DemoMarket; 3] = [
    DemoMarket {
        symbol: "BTC-USD",
        base: 0,
        quote: 2,
        price_places: 2,
        quantity_places: 6,
        tick: 50,
        lot: 10,
        price: 6_400_000,
        quantity_max: 100,
        notional_min: 100_000_000,
    },
    DemoMarket {
        symbol: "ETH-USD",
        base: 1,
        quote: 2,
        price_places: 2,
        quantity_places: 5,
        tick: 5,
        lot: 10,
        price: 320_000,
        quantity_max: 2_000,
        notional_min: 100_000_000,
    },
    DemoMarket {
        symbol: "ETH-BTC",
        base: 1,
        quote: 0,
        price_places: 5,
        quantity_places: 3,
        tick: 1,
        lot: 1,
        price: 5_000,
        quantity_max: 2_000,
        notional_min: 1_000,
    },
];

/// The collar: how far a price may be from the last trade.
const COLLAR_PPM: u32 = 100_000;

impl DemoMarket {
    pub(crate) fn price_scale(&self) -> Scale {
        Scale::new(self.price_places).expect("the constants above are scales")
    }

    pub(crate) fn quantity_scale(&self) -> Scale {
        Scale::new(self.quantity_places).expect("the constants above are scales")
    }

    /// How the market is listed, given the numbers of the currencies in [`CURRENCIES`].
    pub(crate) fn spec(&self, currencies: &[CurrencyId]) -> InstrumentSpec {
        InstrumentSpec {
            symbol: self.symbol.parse().expect("the constants above are symbols"),
            kind: InstrumentKind::Spot,
            base: currencies[self.base],
            quote: currencies[self.quote],
            price_scale: self.price_scale(),
            quantity_scale: self.quantity_scale(),
            rules: TradingRules {
                tick: Price(self.tick),
                lot: Quantity(self.lot),
                quantity_max: Quantity(self.quantity_max * self.quantity_scale().factor()),
                notional_min: Amount(self.notional_min),
                collar_ppm: COLLAR_PPM,
                reference_price: Price(self.price),
                market_protection_ppm: 20_000,
                maker_fee_ppm: 100,
                taker_fee_ppm: 400,
                self_trade: SelfTrade::CancelNewest,
                open_orders_max: 1_000,
                day_end_s: 0,
                risk: true,
            },
        }
    }
}

/// A member with one account, which has the member's number.
pub(crate) struct DemoMember {
    pub(crate) number: u32,
    pub(crate) name: &'static str,
    pub(crate) role: Role,
}

/// The role of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The person who tries the demo.
    Visitor,
    /// Quotes both sides of every market.
    Maker,
    /// Leaves orders further away and takes some of them back.
    Crowd,
    /// Trades with resting orders.
    Taker,
}

/// All members of the demo. The visitor comes first: it identifies the venue as the demo's.
pub(crate) const MEMBERS: [DemoMember; 11] = [
    DemoMember { number: 1, name: VISITOR_NAME, role: Role::Visitor },
    DemoMember { number: 11, name: "maker-1", role: Role::Maker },
    DemoMember { number: 12, name: "maker-2", role: Role::Maker },
    DemoMember { number: 13, name: "maker-3", role: Role::Maker },
    DemoMember { number: 21, name: "crowd-1", role: Role::Crowd },
    DemoMember { number: 22, name: "crowd-2", role: Role::Crowd },
    DemoMember { number: 23, name: "crowd-3", role: Role::Crowd },
    DemoMember { number: 24, name: "crowd-4", role: Role::Crowd },
    DemoMember { number: 31, name: "taker-1", role: Role::Taker },
    DemoMember { number: 32, name: "taker-2", role: Role::Taker },
    DemoMember { number: 33, name: "taker-3", role: Role::Taker },
];

/// The name of the visitor's member.
pub(crate) const VISITOR_NAME: &str = "demo-visitor";
/// The visitor's member and account.
pub(crate) const VISITOR: u32 = 1;

impl DemoMember {
    pub(crate) fn member(&self) -> MemberId {
        MemberId(self.number)
    }

    pub(crate) fn account(&self) -> AccountId {
        AccountId(self.number)
    }
}

/// The accounts of a role.
pub(crate) fn accounts(role: Role) -> Vec<AccountId> {
    MEMBERS.iter().filter(|member| member.role == role).map(DemoMember::account).collect()
}
