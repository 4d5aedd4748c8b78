//! Identifiers. Each is a type of its own, so that ids of different kinds cannot be confused.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($int:ty)) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        #[repr(transparent)]
        pub struct $name(pub $int);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = std::num::ParseIntError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    };
}

macro_rules! wide_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// In JSON it is a string, because many readers hold numbers as doubles.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = std::num::ParseIntError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(itoa::Buffer::new().format(self.0))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                crate::text::from_text(d)
            }
        }
    };
}

wide_id! {
    /// Position of a command in the journal. The first command is 1; 0 means "before anything".
    Seq
}
wide_id! {
    /// An order, numbered by the core: the engine id in the top 16 bits, a counter from 1 below.
    OrderId
}
wide_id! {
    /// A trade, numbered by the core in the same way as an order.
    TradeId
}
id! {
    /// The engine that decides: one per collateral pool.
    EngineId(u16)
}
id! {
    /// A member of the venue: the owner of accounts, and the unit of self-trade prevention.
    MemberId(u32)
}
id! {
    /// An account of a member, or one of the venue's own (see [`AccountId::is_house`]).
    AccountId(u32)
}
id! {
    /// A tradable instrument, numbered from 1 in order of listing.
    InstrumentId(u32)
}
id! {
    /// A currency or other asset that balances are kept in, numbered from 1 in order of listing.
    CurrencyId(u16)
}

impl Seq {
    /// The position before the first command.
    pub const ZERO: Seq = Seq(0);

    /// The position that follows this one.
    #[must_use]
    pub fn next(self) -> Seq {
        Seq(self.0 + 1)
    }
}

impl AccountId {
    /// Collects trading fees and pays rebates.
    pub const FEES: AccountId = AccountId(u32::MAX);
    /// The world outside: a deposit comes from it, a withdrawal goes to it.
    /// Its balance is the negative of everything that the venue holds.
    pub const TRANSIT: AccountId = AccountId(u32::MAX - 1);
    /// Reserved for the insurance fund.
    pub const INSURANCE: AccountId = AccountId(u32::MAX - 2);
    /// Reserved for clearing.
    pub const CLEARING: AccountId = AccountId(u32::MAX - 3);
    /// The highest id that a member's account may have.
    pub const MAX: AccountId = AccountId((1 << 20) - 1);

    /// Whether this is one of the venue's own accounts rather than a member's.
    #[must_use]
    pub fn is_house(self) -> bool {
        self.0 >= Self::CLEARING.0
    }
}

impl OrderId {
    /// Bits of an order or trade id that hold the counter; the engine id stands above them.
    pub const COUNTER_BITS: u32 = 48;

    /// Builds an id from the engine and its counter.
    #[must_use]
    pub fn from_parts(engine: EngineId, counter: u64) -> OrderId {
        OrderId((u64::from(engine.0) << Self::COUNTER_BITS) | counter)
    }

    /// The counter part of the id.
    #[must_use]
    pub fn counter(self) -> u64 {
        self.0 & ((1 << Self::COUNTER_BITS) - 1)
    }
}

impl TradeId {
    /// Builds an id from the engine and its counter.
    #[must_use]
    pub fn from_parts(engine: EngineId, counter: u64) -> TradeId {
        TradeId((u64::from(engine.0) << OrderId::COUNTER_BITS) | counter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_id_holds_the_engine_above_the_counter() {
        let counter_max = (1 << OrderId::COUNTER_BITS) - 1;
        let order = OrderId::from_parts(EngineId(0xabcd), 0x1234);
        assert_eq!(order, OrderId(0xabcd_0000_0000_1234));
        assert_eq!(order.counter(), 0x1234);
        assert_eq!(OrderId::from_parts(EngineId(u16::MAX), counter_max), OrderId(u64::MAX));
        assert_eq!(TradeId::from_parts(EngineId(1), 2), TradeId(0x0001_0000_0000_0002));
    }

    #[test]
    fn house_accounts_are_no_members_accounts() {
        let house =
            [AccountId::FEES, AccountId::TRANSIT, AccountId::INSURANCE, AccountId::CLEARING];
        for (at, account) in house.iter().enumerate() {
            assert!(account.is_house() && *account > AccountId::MAX);
            assert!(!house[..at].contains(account));
        }
        assert!(!AccountId::MAX.is_house());
        assert!(!AccountId(0).is_house());
    }

    #[test]
    fn the_sequence_counts_from_one() {
        assert_eq!(Seq::ZERO.next(), Seq(1));
    }

    #[test]
    fn wide_ids_are_strings_in_json_and_small_ids_are_numbers() {
        let json = |value: serde_json::Value| value.to_string();
        assert_eq!(json(serde_json::json!(OrderId(u64::MAX))), "\"18446744073709551615\"");
        assert_eq!(json(serde_json::json!(AccountId(u32::MAX))), "4294967295");
        assert!(serde_json::from_str::<OrderId>("7").is_err(), "not a string");
        assert!(serde_json::from_str::<OrderId>("\"18446744073709551616\"").is_err(), "too large");
        assert!(serde_json::from_str::<AccountId>("\"7\"").is_err(), "not a number");
        assert!(serde_json::from_str::<AccountId>("4294967296").is_err(), "too large");
    }
}
