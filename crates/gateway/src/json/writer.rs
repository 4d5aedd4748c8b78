//! Writes values as JSON, byte for byte as `serde_json` does.
//!
//! An answer about an order consists of some forty keys and texts of a few bytes each. `serde_json`
//! looks every byte of them up in a table; this writer tests eight bytes at once, and does not test
//! the names of fields. Builds with debug assertions write every answer both ways and compare.

use serde::Serialize;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use std::fmt;

/// Appends a value to `out`.
pub(super) fn append(out: &mut Vec<u8>, value: &impl Serialize) -> fmt::Result {
    value.serialize(Writer { out })
}

struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

/// An array or object whose elements are being written.
struct Elements<'a> {
    out: &'a mut Vec<u8>,
    has_any: bool,
    /// What closes it.
    end: &'static [u8],
}

impl<'a> Writer<'a> {
    fn raw(self, text: &[u8]) -> fmt::Result {
        self.out.extend_from_slice(text);
        Ok(())
    }

    fn elements(self, begin: u8, end: &'static [u8]) -> Result<Elements<'a>, fmt::Error> {
        self.out.push(begin);
        Ok(Elements { out: self.out, has_any: false, end })
    }

    /// The beginning of a variant that holds something, which is an object with one member.
    fn variant(self, name: &'static str) -> Self {
        self.out.push(b'{');
        member(self.out, name);
        self
    }
}

/// The name of a member of an object, which the program chose: it has nothing to escape.
fn member(out: &mut Vec<u8>, name: &'static str) {
    debug_assert!(is_plain(name.as_bytes()), "{name}");
    out.reserve(name.len() + 3);
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    if is_plain(text.as_bytes()) {
        out.extend_from_slice(text.as_bytes());
    } else {
        escaped(out, text.as_bytes());
    }
    out.push(b'"');
}

/// Whether no byte has to be escaped.
fn is_plain(text: &[u8]) -> bool {
    let mut found = 0;
    if let Some(last) = text.last_chunk::<8>() {
        // The last eight bytes overlap those before, if there is no multiple of eight.
        for chunk in text.as_chunks::<8>().0 {
            found |= to_escape(u64::from_ne_bytes(*chunk));
        }
        found |= to_escape(u64::from_ne_bytes(*last));
    } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        let [first, last] = [first, last].map(|half| u64::from(u32::from_ne_bytes(*half)));
        found = to_escape(first << 32 | last);
    } else {
        for byte in text {
            found |= to_escape(u64::from(*byte) << 56 | SPACES >> 8);
        }
    }
    found == 0
}

const ONES: u64 = 0x0101_0101_0101_0101;
const SPACES: u64 = 0x20 * ONES;

/// Not 0 if one of eight bytes is to be escaped: of `x`, some byte is below `n` exactly if a high bit
/// is set in `(x - n * ONES) & !x`.
fn to_escape(word: u64) -> u64 {
    let below = |x: u64, n: u64| x.wrapping_sub(n * ONES) & !x;
    let is = |byte: u8| below(word ^ (u64::from(byte) * ONES), 1);
    (below(word, 0x20) | is(b'"') | is(b'\\')) & (0x80 * ONES)
}

#[cold]
fn escaped(out: &mut Vec<u8>, text: &[u8]) {
    for byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(*byte),
        }
    }
}

macro_rules! integers {
    ($($method:ident($type:ty))*) => { $(
        fn $method(self, value: $type) -> fmt::Result {
            self.raw(itoa::Buffer::new().format(value).as_bytes())
        }
    )* };
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = Elements<'a>;
    type SerializeTuple = Elements<'a>;
    type SerializeTupleStruct = Elements<'a>;
    type SerializeTupleVariant = Elements<'a>;
    type SerializeMap = Elements<'a>;
    type SerializeStruct = Elements<'a>;
    type SerializeStructVariant = Elements<'a>;

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
        serialize_u128(u128)
    }

    fn serialize_bool(self, value: bool) -> fmt::Result {
        self.raw(if value { b"true" } else { b"false" })
    }

    fn serialize_f32(self, value: f32) -> fmt::Result {
        serde_json::to_writer(self.out, &value).map_err(|_| fmt::Error)
    }

    fn serialize_f64(self, value: f64) -> fmt::Result {
        serde_json::to_writer(self.out, &value).map_err(|_| fmt::Error)
    }

    fn serialize_char(self, value: char) -> fmt::Result {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> fmt::Result {
        text(self.out, value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> fmt::Result {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> fmt::Result {
        self.raw(b"null")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> fmt::Result {
        value.serialize(self)
    }

    fn serialize_unit(self) -> fmt::Result {
        self.raw(b"null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> fmt::Result {
        self.raw(b"null")
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> fmt::Result {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> fmt::Result {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> fmt::Result {
        let Writer { out } = self.variant(name);
        value.serialize(Writer { out })?;
        Writer { out }.raw(b"}")
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Elements<'a>, fmt::Error> {
        self.elements(b'[', b"]")
    }

    fn serialize_tuple(self, _: usize) -> Result<Elements<'a>, fmt::Error> {
        self.elements(b'[', b"]")
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Elements<'a>, fmt::Error> {
        self.elements(b'[', b"]")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Elements<'a>, fmt::Error> {
        self.variant(name).elements(b'[', b"]}")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Elements<'a>, fmt::Error> {
        self.elements(b'{', b"}")
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Elements<'a>, fmt::Error> {
        self.elements(b'{', b"}")
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Elements<'a>, fmt::Error> {
        self.variant(name).elements(b'{', b"}}")
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> fmt::Result {
        self.serialize_str(&value.to_string())
    }
}

impl Elements<'_> {
    fn next(&mut self) {
        if std::mem::replace(&mut self.has_any, true) {
            self.out.push(b',');
        }
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> fmt::Result {
        value.serialize(Writer { out: self.out })
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> fmt::Result {
        self.next();
        self.value(value)
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> fmt::Result {
        self.next();
        member(self.out, name);
        self.value(value)
    }

    fn close(self) -> fmt::Result {
        Writer { out: self.out }.raw(self.end)
    }
}

impl SerializeMap for Elements<'_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> fmt::Result {
        self.next();
        let at = self.out.len();
        self.value(key)?;
        if self.out.get(at) != Some(&b'"') {
            // A number. The names of members are texts in JSON.
            self.out.insert(at, b'"');
            self.out.push(b'"');
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> fmt::Result {
        self.out.push(b':');
        self.value(value)
    }

    fn end(self) -> fmt::Result {
        self.close()
    }
}

/// The forms of arrays and objects that differ in names only.
macro_rules! elements {
    ($($form:ident . $method:ident as $as:ident($($name:ident: $type:ty)?);)*) => { $(
        impl $form for Elements<'_> {
            type Ok = ();
            type Error = fmt::Error;

            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($name: $type,)?
                value: &T,
            ) -> fmt::Result {
                self.$as($($name,)? value)
            }

            fn end(self) -> fmt::Result {
                self.close()
            }
        }
    )* };
}

elements! {
    SerializeSeq.serialize_element as element();
    SerializeTuple.serialize_element as element();
    SerializeTupleStruct.serialize_field as element();
    SerializeTupleVariant.serialize_field as element();
    SerializeStruct.serialize_field as field(name: &'static str);
    SerializeStructVariant.serialize_field as field(name: &'static str);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;
    use std::collections::BTreeMap;

    fn same(value: &impl Serialize) {
        let mut out = Vec::new();
        append(&mut out, value).unwrap();
        let expected = serde_json::to_string(value).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[derive(Serialize)]
    enum Form {
        Unit,
        One(Option<u8>),
        Two(i64, &'static str),
        Named { first: f64, second: () },
    }

    #[derive(Serialize)]
    struct Named<'a> {
        form: &'a Form,
        #[serde(flatten)]
        more: BTreeMap<i8, char>,
    }

    #[test]
    fn every_form_is_written_as_serde_json_writes_it() {
        let forms = [
            Form::Unit,
            Form::One(None),
            Form::One(Some(7)),
            Form::Two(i64::MIN, "a\"b\\c\u{7f}\u{1}\n"),
            Form::Named { first: 0.1, second: () },
            Form::Named { first: f64::NAN, second: () },
        ];
        for form in &forms {
            same(&Named { form, more: BTreeMap::new() });
            same(&Named { form, more: BTreeMap::from([(-1, 'ä'), (1, '"')]) });
        }
        same(&(forms, [true, false], u128::MAX, serde_json::json!({"a": [], "b": {}})));
        same(&BTreeMap::from([(true, 1_u8)]).keys().map(ToString::to_string).collect::<Vec<_>>());
    }

    #[test]
    fn each_byte_is_escaped_wherever_it_stands() {
        for byte in 0..0x80 {
            for length in 1..20 {
                for at in 0..length {
                    let mut text = vec![b'~'; length];
                    text[at] = byte;
                    same(&String::from_utf8(text).unwrap());
                }
            }
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            let members = prop::collection::btree_map(any::<String>(), inner.clone(), 0..8);
            prop_oneof![
                prop::collection::vec(inner, 0..8).prop_map(Value::from),
                members.prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_json_is_written_as_serde_json_writes_it(value in json()) {
            same(&value);
        }
    }
}
