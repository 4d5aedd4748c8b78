//! JSON schemas of the types in requests, answers and messages.

use crate::{
    AccountId, CurrencyId, Decimal, EngineId, InstrumentId, MemberId, OrderId, RejectReason, Scale,
    Seq, Text, TradeId,
};
pub use schemars;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

/// Gives a type a schema that stands where the type is used, not under a name of its own.
macro_rules! inline_schema {
    ($($name:ty: $schema:tt;)*) => {
        $(
            impl JsonSchema for $name {
                fn inline_schema() -> bool {
                    true
                }
                fn schema_name() -> Cow<'static, str> {
                    stringify!($name).into()
                }
                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    json_schema!($schema)
                }
            }
        )*
    };
}

inline_schema! {
    AccountId: { "type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32 };
    MemberId: { "type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32 };
    InstrumentId: { "type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32 };
    CurrencyId: { "type": "integer", "minimum": 0, "maximum": 65_535 };
    EngineId: { "type": "integer", "minimum": 0, "maximum": 65_535 };
    Scale: { "type": "integer", "minimum": 0, "maximum": 18 };
}

/// Gives a type a schema under its name, with a description.
macro_rules! named_schema {
    ($($name:ty, $called:literal: $schema:tt;)*) => {
        $(
            impl JsonSchema for $name {
                fn schema_name() -> Cow<'static, str> {
                    $called.into()
                }
                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    json_schema!($schema)
                }
            }
        )*
    };
}

named_schema! {
    Seq, "Seq": {
        "type": "string", "pattern": "^[0-9]{1,20}$",
        "description": "A position in the journal: 64 bits as decimal text."
    };
    OrderId, "OrderId": {
        "type": "string", "pattern": "^[0-9]{1,20}$",
        "description": "An order: 64 bits as decimal text."
    };
    TradeId, "TradeId": {
        "type": "string", "pattern": "^[0-9]{1,20}$",
        "description": "A trade: 64 bits as decimal text."
    };
    Decimal, "Decimal": {
        "type": "string", "pattern": "^-?[0-9]+(\\.[0-9]+)?$", "maxLength": 60,
        "description": "A decimal number as text, never rounded."
    };
}

impl<const N: usize> JsonSchema for Text<N> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Text{N}").into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": N, "pattern": "^[!-~]*$" })
    }
}

impl JsonSchema for RejectReason {
    fn schema_name() -> Cow<'static, str> {
        "RejectReason".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let codes: Vec<_> = RejectReason::ALL.iter().map(|reason| reason.code()).collect();
        json_schema!({ "type": "string", "enum": codes })
    }
}

/// Gives an enumeration its schema: the names of its values.
#[doc(hidden)]
#[macro_export]
macro_rules! enumeration_schema {
    ($name:ident) => {
        impl $crate::schema::schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(
                _: &mut $crate::schema::schemars::SchemaGenerator,
            ) -> $crate::schema::schemars::Schema {
                let names: Vec<_> = $name::ALL.iter().map(|value| value.name()).collect();
                $crate::schema::schemars::json_schema!({ "type": "string", "enum": names })
            }
        }
    };
}
