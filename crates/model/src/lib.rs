//! The types of the venue: ids, fixed-point numbers, instruments, orders, commands, events,
//! rejects; their binary and JSON forms.
//!
//! This crate holds data types only. A [`Command`] goes into the engine; [`Event`]s and one
//! [`Outcome`] come out.
//!
//! ```
//! use rialto_model::{Price, Scale};
//!
//! let cents = Scale::new(2).expect("2 is a scale");
//! let price = Price::parse("64123.5", cents)?;
//! assert_eq!(price, Price(6_412_350));
//! assert_eq!(price.decimal(cents).to_string(), "64123.50");
//! assert!(Price::parse("64123.505", cents).is_err(), "never rounded");
//! # Ok::<(), rialto_model::DecimalError>(())
//! ```
//!
//! The arithmetic of notional, fees and reserves is in [`Instrument`]; the reasons for a refusal are
//! the closed list [`RejectReason`].

#[doc(hidden)]
pub use serde;
// The macros of this crate use the same path inside and outside of it.
extern crate self as rialto_model;

mod attribution;
mod codec;
mod command;
mod contract;
mod enumeration;
mod event;
mod halt;
mod iceberg;
mod id;
mod instrument;
mod linked;
mod number;
mod order;
mod outcome;
mod range;
mod reference_prices;
mod reject;
mod restriction;
#[cfg(feature = "schema")]
#[doc(hidden)]
pub mod schema;
mod scope;
#[cfg(feature = "testing")]
pub mod testing;
mod text;
mod timetable;
mod trailing;
mod trigger;

pub use attribution::{Attributed, Attribution, AuditReason, AuditReasonError, KeyId};
pub use codec::{
    ATTRIBUTION_BYTES_MAX, COMMAND_BYTES_MAX, DecodeError, DecodeFault, EVENT_BYTES_MAX,
    EVENTS_CONTENT_TYPE, EVENTS_HEADER_BYTES, EventEncoder, EventIter, EventsFull,
    decode_attribution, decode_command, decode_events, encode_attribution, encode_command,
    encode_event, encode_order,
};
pub use command::{Amend, AmendTrigger, Command, CommandKind, Deposit, MassCancel, Transfer};
pub use contract::{ContractTerms, LotFees};
pub use enumeration::Enumeration;
pub use event::{
    Accepted, Amended, Done, DoneReason, Event, EventKind, Interrupted, ReduceReason, Reduced,
    Rejected, Rested, Trade, TradingHalted, Uncrossed,
};
pub use halt::{CircuitBreakerRule, HaltCause, HaltScope};
pub use iceberg::{Iceberg, IcebergOrder, IcebergRefreshed, IcebergSet};
pub use id::{AccountId, CurrencyId, EngineId, InstrumentId, MemberId, OrderId, Seq, TradeId};
pub use instrument::{
    AuctionRules, CallDepth, Currency, Instrument, InstrumentError, InstrumentKind, InstrumentSpec,
    InstrumentState, PPM, TradingRules,
};
pub use linked::{ExitsRefused, ExitsSet, Leg, LinkKind, OrderList, OrdersLinked};
pub use number::{Amount, Decimal, DecimalError, Price, Quantity, Scale, parse_decimal};
pub use order::*;
pub use outcome::Outcome;
pub use range::PriceRange;
pub use reference_prices::ReferencePrices;
pub use reject::RejectReason;
pub use restriction::{Restrict, Restriction, RestrictionTarget};
pub use rialto_clock::Timestamp;
pub use scope::Scope;
pub use text::{ClientOrderId, CurrencyCode, Name, Reference, Symbol, Text, TextError};
pub use timetable::{PlannedTransition, TransitionError};
pub use trailing::{
    Distance, DistanceKind, TrailActivated, TrailSet, TrailState, TrailTerms, TrailingOrder,
};
pub use trigger::{Condition, ConditionalOrder, Trigger, TriggerKind, TriggerSet, Triggered};
