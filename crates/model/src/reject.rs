//! Why a command was refused.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $code:literal, $sentence:literal;)*) => {
        /// Why a command was refused: a closed list. Numbers and codes are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum RejectReason {
            $(#[doc = $sentence] #[serde(rename = $code)] $name = $number,)*
        }

        impl RejectReason {
            /// All reasons, by number.
            pub const ALL: &'static [RejectReason] = &[$(RejectReason::$name),*];

            /// The stable code, in snake case.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(RejectReason::$name => $code,)* }
            }

            /// A sentence for people.
            #[must_use]
            pub fn sentence(self) -> &'static str {
                match self { $(RejectReason::$name => $sentence,)* }
            }

            /// Its number in the binary form; it never changes and is never zero.
            #[must_use]
            pub fn number(self) -> u8 {
                self as u8
            }

            /// The reason with this number.
            #[must_use]
            pub fn from_number(number: u8) -> Option<RejectReason> {
                match number { $($number => Some(RejectReason::$name),)* _ => None }
            }
        }
    };
}

reasons! {
    UnknownInstrument = 1, "unknown_instrument", "There is no such instrument.";
    UnknownAccount = 2, "unknown_account", "There is no such account.";
    UnknownMember = 3, "unknown_member", "There is no such member.";
    UnknownCurrency = 4, "unknown_currency", "There is no such currency.";
    UnknownOrder = 5, "unknown_order", "The account has no such open order.";
    InstrumentHalted = 6, "instrument_halted", "The instrument is halted: only cancels are accepted.";
    InstrumentClosed = 7, "instrument_closed", "The instrument is closed.";
    PriceNotPositive = 8, "price_not_positive", "The price must be positive.";
    PriceOffTick = 9, "price_off_tick", "The price is not a multiple of the tick.";
    PriceOutsideCollar = 10, "price_outside_collar", "The price is too far from the reference price.";
    QuantityNotPositive = 11, "quantity_not_positive", "The quantity must be positive.";
    QuantityOffLot = 12, "quantity_off_lot", "The quantity is not a multiple of the lot.";
    QuantityTooLarge = 13, "quantity_too_large", "The quantity exceeds the instrument's largest order, or what may rest at one price.";
    NotionalTooSmall = 14, "notional_too_small", "Price times quantity is below the instrument's minimum.";
    NotionalTooLarge = 15, "notional_too_large", "Price times quantity exceeds the instrument's maximum, or is too large to be expressed.";
    InsufficientBalance = 16, "insufficient_balance", "The available balance does not cover the order or withdrawal.";
    OpenOrdersLimit = 17, "open_orders_limit", "The account has too many open orders in this instrument.";
    VenueFull = 18, "venue_full", "The venue's limit for objects of this kind is reached.";
    WouldCross = 19, "would_cross", "The order is post-only and would trade.";
    NoLiquidity = 20, "no_liquidity", "There is nothing to trade with at an allowed price.";
    Unfillable = 21, "unfillable", "Less of the order can trade at once than it asks for.";
    TooDeep = 22, "too_deep", "The check of this order would have to read more resting orders than one check may.";
    ExpiryInvalid = 23, "expiry_invalid", "A good-till-date order needs an expiry in the future, and no other order may have one.";
    InvalidCombination = 24, "invalid_combination", "These order attributes do not go together.";
    ClientIdConflict = 25, "client_id_conflict", "The client order id was used for a different order.";
    ReferenceMissing = 26, "reference_missing", "A deposit or withdrawal needs a reference.";
    ReferenceConflict = 27, "reference_conflict", "The reference was used for a different transfer.";
    AlreadyExists = 28, "already_exists", "The id, code or symbol is in use.";
    IdOutOfRange = 29, "id_out_of_range", "The id is outside the range that may be chosen.";
    InvalidRules = 30, "invalid_rules", "The instrument's specification or rules are not consistent.";
    HasOpenOrders = 31, "has_open_orders", "This cannot change while orders are open.";
    QuantityBelowFilled = 32, "quantity_below_filled", "The new quantity is not above what has already traded.";
    NothingToAmend = 33, "nothing_to_amend", "The amendment changes nothing.";
    AmountNotPositive = 34, "amount_not_positive", "The amount must be positive.";
    AmountTooLarge = 35, "amount_too_large", "The amount is too large to be expressed.";
    RulesVersionUnknown = 36, "rules_version_unknown", "This binary does not implement that version of the rules.";
    NameInvalid = 37, "name_invalid", "A name, code or symbol is missing.";
    TimerInvalid = 38, "timer_invalid", "A dead-man timer is at most one day.";
    UnknownWithdrawal = 39, "unknown_withdrawal", "The account has no withdrawal with this reference that was held.";
    WithdrawalSettled = 40, "withdrawal_settled", "The withdrawal has been paid out.";
    WithdrawalReleased = 41, "withdrawal_released", "The withdrawal has been given back.";
    WithdrawalsLimit = 42, "withdrawals_limit", "The account has too many withdrawals waiting.";
    RulesVersionOlder = 43, "rules_version_older", "The venue decides by a later version of the rules, and does not go back.";
    OrderExpired = 44, "order_expired", "The order has expired.";
    ReferenceTooOld = 45, "reference_too_old", "The deposit was made so long ago that its reference may have been forgotten.";
    AttributeUnknown = 46, "attribute_unknown", "The order has an attribute that the rules version in force does not know.";
    CommandUnknown = 47, "command_unknown", "The rules version in force does not know this command.";
    StateUnknown = 48, "state_unknown", "The rules version in force does not know this instrument state.";
    StateChangeInvalid = 49, "state_change_invalid", "The instrument cannot go from its state to this one.";
    InstrumentUncrossing = 50, "instrument_uncrossing", "The orders of an auction are trading with each other: try again when that has ended.";
    WrongPhase = 51, "wrong_phase", "Such an order is not accepted in this phase of the instrument.";
    NoReferencePrice = 52, "no_reference_price", "A market order for an auction needs a reference price, and the instrument has none: enter a limit order.";
    PriceOutsideLimits = 53, "price_outside_limits", "The price is outside the limits of the day, or of continuous trading.";
    AccountRestricted = 54, "account_restricted", "The account, its member or the venue is restricted: orders can be cancelled and reduced.";
    InstrumentRestricted = 55, "instrument_restricted", "The instrument is restricted: its orders can be cancelled and reduced.";
    RestrictionInvalid = 56, "restriction_invalid", "This target cannot have this restriction, or orders are to be cancelled while it is lifted.";
    UnknownCalendar = 57, "unknown_calendar", "There is no such calendar.";
    PlanIncomplete = 58, "plan_incomplete", "The transitions of a plan are numbered from 0 without gaps, and adopted all together.";
    TransitionInvalid = 59, "transition_invalid", "The transition is not consistent, or not later than the one before it.";
    UnknownTransition = 60, "unknown_transition", "The calendar has no such transition that has not begun.";
    NoCancelPeriod = 61, "no_cancel_period", "Until the auction of this call, orders cannot be cancelled or amended.";
    HaltInvalid = 62, "halt_invalid", "A halt lasts from a millisecond to a day.";
    CircuitBreakerInvalid = 63, "circuit_breaker_invalid", "The instrument of a circuit breaker must follow its calendar and have a reference price, its range must be below 1000000 ppm, and its halt last from a millisecond to a day.";
    TriggerPriceInvalid = 64, "trigger_price_invalid", "The trigger price must be positive and a multiple of the tick.";
    WouldTrigger = 65, "would_trigger", "The last price has reached the trigger price already.";
    OrderWaiting = 66, "order_waiting", "Before rules version 10, an order that waits for its trigger cannot be amended: cancel it and enter another.";
    TrailInvalid = 67, "trail_invalid", "The distance must be a positive multiple of the tick, or 1 to 999,999 millionths, and leave a trigger price between one tick and the largest price.";
    DisplayQuantityInvalid = 68, "display_quantity_invalid", "What an order displays must be a valid quantity, less than the order's, and at least a hundredth of it.";
    ExitPriceInvalid = 69, "exit_price_invalid", "The take-profit must be beyond the stop-loss, and the limit of an order that may rest between them.";
    OrderLinked = 70, "order_linked", "The quantity of an order of a pair cannot be amended, nor before rules version 10 its prices: cancel it and enter others.";
    OrderTriggered = 71, "order_triggered", "A price has triggered the order: its trigger price can no longer be changed.";
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn numbers_are_dense_from_one_and_lead_back() {
        for number in 0..=u8::MAX {
            let expected =
                usize::from(number).checked_sub(1).and_then(|at| RejectReason::ALL.get(at));
            assert_eq!(RejectReason::from_number(number).as_ref(), expected);
            assert!(expected.is_none_or(|reason| reason.number() == number));
        }
    }

    #[test]
    fn codes_are_unique_and_snake_case() {
        let codes: BTreeSet<_> = RejectReason::ALL.iter().map(|reason| reason.code()).collect();
        assert_eq!(codes.len(), RejectReason::ALL.len());
        for code in codes {
            let words = code.split('_');
            let is_word =
                |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
            assert!(words.clone().all(is_word), "{code}");
        }
    }

    #[test]
    fn the_code_is_the_name_in_snake_case_and_the_json_form() {
        for reason in RejectReason::ALL {
            let mut snake = String::new();
            for letter in format!("{reason:?}").chars() {
                if letter.is_uppercase() && !snake.is_empty() {
                    snake.push('_');
                }
                snake.push(letter.to_ascii_lowercase());
            }
            assert_eq!(reason.code(), snake);
            let json = serde_json::to_string(reason).unwrap();
            assert_eq!(json, format!("\"{snake}\""));
            assert_eq!(serde_json::from_str::<RejectReason>(&json).unwrap(), *reason);
        }
    }

    #[test]
    fn sentences_are_sentences() {
        for reason in RejectReason::ALL {
            let sentence = reason.to_string();
            assert!(sentence.starts_with(char::is_uppercase) && sentence.ends_with('.'));
        }
    }
}
