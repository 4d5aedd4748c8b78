//! Options in records, to which later versions add.

use crate::group::GroupOptions;
use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, forward_to_deserialize_any, ser};

/// The number of options that a group had when records held them by position.
const FIRST_OPTIONS: usize = 10;

/// A value as an object of JSON. Fields that an older version did not write have their defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize> Serialize for Json<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = serde_json::to_string(&self.0).map_err(ser::Error::custom)?;
        serializer.serialize_str(&text)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Json<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&str>::deserialize(deserializer)?;
        let mut json = serde_json::Deserializer::from_str(text);
        // Filters nest as deep as they have conditions, which are bounded when they are given.
        json.disable_recursion_limit();
        T::deserialize(&mut json).map(Json).map_err(D::Error::custom)
    }
}

/// Reads the options that groups had first. Those added since have their defaults.
pub(crate) fn first_options<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<GroupOptions, D::Error> {
    GroupOptions::deserialize(FirstFields(deserializer))
}

/// Reads a struct that ends after its first fields.
struct FirstFields<D>(D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for FirstFields<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(FIRST_OPTIONS, visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, D::Error> {
        Err(D::Error::custom("options are a struct"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Record;
    use super::*;
    use crate::group::{DeadLetter, FILTER_CONDITIONS_MAX, Filter, Start};
    use crate::name::Name;
    use rialto_clock::Timestamp;
    use std::time::Duration;

    /// What a version wrote that knew ten options: a group with number 2 of topic 1.
    const FIRST: &[u8] = &[
        4, 1, 2, 1, b'g', // the variant, topic, id, name
        0, 0, 0, 0, // start, order, sharing, delivery
        30, 0, 5, 2, 0, // 30 s, five attempts, 2 s
        2, // dropped
        0x80, 0x80, 4, // 65,536 messages
        0, // no filter
        1, 7, // floors
    ];

    #[test]
    fn a_group_of_a_version_with_fewer_options_is_read() {
        let Ok(Record::Group { topic: 1, id: 2, name, options, floors }) =
            postcard::from_bytes(FIRST)
        else {
            panic!("a group");
        };
        let expected = GroupOptions {
            retry_delay: Duration::from_secs(2),
            dead_letter: DeadLetter::Drop,
            ..GroupOptions::default()
        };
        assert_eq!((name, options, floors), (Name::new("g").unwrap(), expected, vec![7]));
        for end in 0..FIRST.len() {
            assert!(postcard::from_bytes::<Record<'_>>(&FIRST[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn options_go_both_ways() {
        let name = Name::new("g").unwrap();
        let deep = (1..FILTER_CONDITIONS_MAX)
            .fold("a=b,!c,d^=e".parse().unwrap(), |inner, _| Filter::Not(Box::new(inner)));
        for start in [Start::Oldest, Start::Seq(u64::MAX), Start::At(Timestamp(u64::MAX))] {
            let options = GroupOptions {
                start,
                filter: Some(deep.clone()),
                dead_letter: DeadLetter::Topic(name.clone()),
                retry_delay_max: Some(Duration::MAX),
                ..GroupOptions::default()
            };
            let (name, options) = (name.clone(), Json(options));
            let record = Record::GroupWith { topic: 1, id: 2, name, options, floors: vec![7] };
            let bytes = postcard::to_allocvec(&record).unwrap();
            assert_eq!(postcard::from_bytes::<Record<'_>>(&bytes), Ok(record));
        }
    }

    #[test]
    fn an_option_that_is_left_out_has_its_default() {
        let bytes = postcard::to_allocvec("{}").unwrap();
        let read: Json<GroupOptions> = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(read, Json(GroupOptions::default()));
    }
}
