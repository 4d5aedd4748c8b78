//! Texts and numbers in JSON.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// A JSON string, borrowed where it holds no escapes. A number where a string is required is
/// refused: a reader that holds numbers as doubles may have altered it already.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Str<'a>(Cow<'a, str>);

impl Str<'_> {
    /// The same text as an owned string.
    #[must_use]
    pub fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

impl Deref for Str<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a, T: Into<Cow<'a, str>>> From<T> for Str<'a> {
    fn from(text: T) -> Str<'a> {
        Str(text.into())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Str<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

/// Gives a type a schema that stands where the type is used.
macro_rules! schema_inline {
    ($type:ty, $name:literal, $schema:tt) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

schema_inline!(Str<'_>, "Str", { "type": "string" });

/// A decimal number in a request, as text; the scale that it is read at is known later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DecimalText<'a>(#[serde(borrow)] Str<'a>);

schema_inline!(DecimalText<'_>, "DecimalText", {
    "type": "string", "pattern": "^-?[0-9]+(\\.[0-9]+)?$", "maxLength": 60,
    "description": "A decimal number as text, never rounded."
});

impl Deref for DecimalText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a, T: Into<Str<'a>>> From<T> for DecimalText<'a> {
    fn from(text: T) -> DecimalText<'a> {
        DecimalText(text.into())
    }
}

/// An unsigned 64-bit number, encoded as text, because many JSON readers use doubles for numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct U64Text(pub u64);

schema_inline!(U64Text, "U64Text", {
    "type": "string", "pattern": "^[0-9]{1,20}$",
    "description": "A whole number of 64 bits as decimal text."
});

impl Serialize for U64Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        rialto_model::Seq(self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for U64Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        rialto_model::Seq::deserialize(deserializer).map(|seq| U64Text(seq.0))
    }
}

impl From<u64> for U64Text {
    fn from(number: u64) -> U64Text {
        U64Text(number)
    }
}

/// Bytes as lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HexText(pub String);

schema_inline!(HexText, "HexText", {
    "type": "string", "pattern": "^([0-9a-f]{2})*$",
    "description": "Bytes as lower-case hexadecimal digits."
});

/// A signed 64-bit number, encoded as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct I64Text(pub i64);

schema_inline!(I64Text, "I64Text", {
    "type": "string", "pattern": "^-?[0-9]{1,19}$",
    "description": "A whole number of 64 bits with a sign, as decimal text."
});

impl Serialize for I64Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for I64Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Str::deserialize(deserializer)?;
        text.parse().map(I64Text).map_err(de::Error::custom)
    }
}

/// Rows of a body, at most `MAX`. Decoding stops at the first one too many, which bounds memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Rows<T, const MAX: usize>(pub Vec<T>);

impl<T, const MAX: usize> Default for Rows<T, MAX> {
    fn default() -> Self {
        Rows(Vec::new())
    }
}

impl<T: JsonSchema, const MAX: usize> JsonSchema for Rows<T, MAX> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("{}Rows", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let item = generator.subschema_for::<T>();
        json_schema!({ "type": "array", "items": item, "maxItems": MAX })
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for Rows<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T, const MAX: usize>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const MAX: usize> de::Visitor<'de> for Visitor<T, MAX> {
            type Value = Rows<T, MAX>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "an array of at most {MAX} rows")
            }
            fn visit_seq<A: de::SeqAccess<'de>>(
                self,
                mut rows: A,
            ) -> Result<Self::Value, A::Error> {
                let mut read = Vec::new();
                while let Some(row) = rows.next_element()? {
                    if read.len() == MAX {
                        return Err(de::Error::custom(format_args!("more than {MAX} rows")));
                    }
                    read.push(row);
                }
                Ok(Rows(read))
            }
        }
        deserializer.deserialize_seq(Visitor(std::marker::PhantomData))
    }
}

/// Any JSON, kept as text and decoded later.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(transparent)]
pub struct Raw<'a>(#[serde(borrow)] pub &'a serde_json::value::RawValue);

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
