//! Closed lists of values, each with its number and its name.

/// One value of a closed list.
///
/// [`enumeration!`] implements it, and with it the number in the binary forms (journal, snapshot,
/// events) and the name in the text forms (JSON, stream, command line).
pub trait Enumeration: Copy + Sized + 'static {
    /// All values, by number.
    const ALL: &'static [Self];

    /// The number in the binary forms; it never changes.
    fn number(self) -> u8;

    /// The value with this number.
    fn from_number(number: u8) -> Option<Self>;

    /// The name in the text forms, in snake case; it never changes.
    fn name(self) -> &'static str;

    /// The value with this name.
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.name() == name)
    }
}

/// Declares an enumeration whose values have a number and a name each: `Buy = 0, "buy";`. Numbers
/// begin with 0 and have no gaps.
#[macro_export]
macro_rules! enumeration {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$note:meta])* $value:ident = $number:literal, $text:literal;)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[derive($crate::serde::Serialize, $crate::serde::Deserialize)]
        #[serde(crate = "rialto_model::serde")]
        #[repr(u8)]
        $visibility enum $name {
            $($(#[$note])* #[serde(rename = $text)] $value = $number,)*
        }

        impl $name {
            /// All values, by number.
            pub const ALL: &'static [$name] = &[$($name::$value),*];

            /// The number in the binary forms; it never changes.
            #[must_use]
            #[inline]
            pub const fn number(self) -> u8 {
                self as u8
            }

            /// The value with this number.
            #[must_use]
            #[inline]
            pub const fn from_number(number: u8) -> Option<$name> {
                match number {
                    $($number => Some($name::$value),)*
                    _ => None,
                }
            }

            /// The name in the text forms; it never changes.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($name::$value => $text,)* }
            }
        }

        impl $crate::Enumeration for $name {
            const ALL: &'static [$name] = $name::ALL;

            fn number(self) -> u8 {
                self.number()
            }

            fn from_number(number: u8) -> Option<$name> {
                $name::from_number(number)
            }

            fn name(self) -> &'static str {
                self.name()
            }
        }

        $crate::enumeration_schema!($name);

        const _: () = {
            let mut at = 0;
            while at < $name::ALL.len() {
                assert!($name::ALL[at] as usize == at, "the numbers leave one out");
                at += 1;
            }
        };
    };
}

#[cfg(not(feature = "schema"))]
#[doc(hidden)]
#[macro_export]
macro_rules! enumeration_schema {
    ($name:ident) => {};
}

#[cfg(test)]
mod tests {
    use super::Enumeration;
    use crate::{
        CommandKind, DoneReason, EventKind, InstrumentKind, InstrumentState, OrderKind,
        OrderStatus, PostOnly, ReduceReason, Restriction, Role, Scope, SelfTrade, Side,
        TimeInForce,
    };
    use serde::Serialize;

    fn leads_back<T: Enumeration + PartialEq + std::fmt::Debug + Serialize>() {
        for number in 0..=u8::MAX {
            let found = T::from_number(number);
            assert_eq!(found, T::ALL.get(usize::from(number)).copied());
            assert!(found.is_none_or(|found| found.number() == number));
        }
        for value in T::ALL {
            assert_eq!(T::from_name(value.name()), Some(*value));
            assert_eq!(serde_json::to_value(value).unwrap(), value.name());
        }
    }

    #[test]
    fn numbers_and_names_lead_back() {
        leads_back::<Side>();
        leads_back::<OrderKind>();
        leads_back::<TimeInForce>();
        leads_back::<PostOnly>();
        leads_back::<SelfTrade>();
        leads_back::<OrderStatus>();
        leads_back::<InstrumentKind>();
        leads_back::<InstrumentState>();
        leads_back::<DoneReason>();
        leads_back::<ReduceReason>();
        leads_back::<CommandKind>();
        leads_back::<EventKind>();
        leads_back::<Role>();
        leads_back::<Scope>();
        leads_back::<Restriction>();
    }
}
