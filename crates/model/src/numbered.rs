//! Numbers of the closed lists, as the binary form writes them.

use crate::{
    CommandKind, DoneReason, EventKind, InstrumentKind, InstrumentState, OrderKind, OrderStatus,
    PostOnly, ReduceReason, SelfTrade, Side, TimeInForce,
};

macro_rules! numbered {
    ($($name:ident { $($variant:ident),* $(,)? })*) => {
        $(
            impl $name {
                /// All of them, by number.
                pub const ALL: &'static [$name] = &[$($name::$variant),*];

                /// Its number in the binary form; it never changes.
                #[must_use]
                #[inline]
                pub const fn number(self) -> u8 {
                    // Spelled out so that a variant missing from the list does not compile.
                    match self { $($name::$variant => $name::$variant as u8,)* }
                }

                /// The one with this number.
                #[must_use]
                #[inline]
                pub const fn from_number(number: u8) -> Option<$name> {
                    match number {
                        $(number if number == $name::$variant as u8 => Some($name::$variant),)*
                        _ => None,
                    }
                }
            }
        )*
    };
}

numbered! {
    Side { Buy, Sell }
    OrderKind { Limit, Market }
    TimeInForce { Gtc, Ioc, Fok, Day, Gtd }
    PostOnly { Off, Reject, Slide }
    SelfTrade { Allow, CancelNewest, CancelOldest, CancelBoth, Decrement }
    OrderStatus { Open, PartiallyFilled, Filled, Cancelled, Expired, Rejected }
    InstrumentKind { Spot }
    InstrumentState { Open, Halted, Closed }
    DoneReason {
        Cancelled, Remainder, SelfTrade, MassCancelled, Expired, Disconnected, DeadMan,
        InstrumentClosed, QuoteSpent,
    }
    ReduceReason { Amended, SelfTrade }
    CommandKind {
        Tick, Place, Cancel, Amend, MassCancel, Disconnect, SetDeadMan, Deposit, Withdraw,
        CreateMember, CreateAccount, CreateCurrency, CreateInstrument, SetRules,
        SetInstrumentState, SetRulesVersion, HoldWithdrawal, SettleWithdrawal,
        ReleaseWithdrawal,
    }
    EventKind {
        Ticked, Accepted, Rested, Trade, Done, Reduced, Amended, Rejected, Repeated,
        CancelProgress, DeadManSet, Deposited, Withdrawn, MemberCreated, AccountCreated,
        CurrencyCreated, InstrumentCreated, RulesSet, InstrumentStateSet, RulesVersionSet,
        WithdrawalHeld, WithdrawalSettled, WithdrawalReleased,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! numbers_are_dense {
        ($($name:ident)*) => {
            $(
                for number in 0..=u8::MAX {
                    let found = $name::from_number(number);
                    assert_eq!(found, $name::ALL.get(usize::from(number)).copied());
                    assert!(found.is_none_or(|found| found.number() == number));
                }
            )*
        };
    }

    #[test]
    fn numbers_are_dense_from_zero_and_lead_back() {
        numbers_are_dense! {
            Side OrderKind TimeInForce PostOnly SelfTrade OrderStatus InstrumentKind
            InstrumentState DoneReason ReduceReason CommandKind EventKind
        }
    }
}
