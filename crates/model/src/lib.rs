//! The vocabulary of the venue: ids, fixed-point numbers, instruments, orders, commands, events,
//! rejects; their binary and JSON forms.

mod id;
mod number;
mod text;
mod time;

pub use id::{AccountId, CurrencyId, EngineId, InstrumentId, MemberId, OrderId, Seq, TradeId};
pub use number::{Amount, Decimal, DecimalError, Price, Quantity, Scale, parse_decimal};
pub use text::{ClientOrderId, CurrencyCode, Name, Reference, Symbol, Text, TextError};
pub use time::Timestamp;
