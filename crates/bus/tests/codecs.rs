//! What a codec writes it reads back; anything else is an error.

#![allow(clippy::unwrap_used)]
#![cfg(all(feature = "json", feature = "compact", feature = "archive"))]

use proptest::collection::vec;
use proptest::prelude::*;
use rialto_bus::codec::{Archive, Codec, CodecError, Compact, Json};
use std::fmt::Debug;

#[derive(
    Clone,
    Debug,
    PartialEq,
    serde::Serialize,
    serde::Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
struct Parcel {
    id: u64,
    to: String,
    weight_grams: Option<i32>,
    contents: Vec<Content>,
}

#[derive(
    Clone,
    Debug,
    PartialEq,
    serde::Serialize,
    serde::Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
enum Content {
    Letter,
    Goods { name: String, pieces: u16 },
}

fn parcels() -> impl Strategy<Value = Parcel> {
    let content = prop_oneof![
        Just(Content::Letter),
        (".{0,20}", any::<u16>()).prop_map(|(name, pieces)| Content::Goods { name, pieces }),
    ];
    (any::<u64>(), ".{0,20}", any::<Option<i32>>(), vec(content, 0..5))
        .prop_map(|(id, to, weight_grams, contents)| Parcel { id, to, weight_grams, contents })
}

fn a_parcel() -> Parcel {
    let goods = Content::Goods { name: "an orrery of brass".to_owned(), pieces: 3 };
    Parcel {
        id: 7,
        to: "the observatory".to_owned(),
        weight_grams: Some(900),
        contents: vec![Content::Letter, goods],
    }
}

fn encoded(codec: impl Codec<Parcel>, parcel: &Parcel) -> Vec<u8> {
    let mut bytes = Vec::new();
    codec.encode(parcel, &mut bytes).unwrap();
    bytes
}

/// A buffer may hold something already, so the second copy begins wherever the first one ended.
fn reads_back(codec: impl Codec<Parcel> + Copy + Debug, parcel: &Parcel) {
    let mut bytes = encoded(codec, parcel);
    let first = bytes.len();
    codec.encode(parcel, &mut bytes).unwrap();
    assert_eq!(&codec.decode(&bytes[..first]).unwrap(), parcel, "{codec:?}");
    assert_eq!(&codec.decode(&bytes[first..]).unwrap(), parcel, "{codec:?}");
}

proptest! {
    #[test]
    fn written_values_are_read_back(parcel in parcels()) {
        reads_back(Json, &parcel);
        reads_back(Compact, &parcel);
        reads_back(Archive, &parcel);
    }

    #[test]
    fn any_bytes_are_a_value_or_an_error(bytes in vec(any::<u8>(), 0..200)) {
        let _: Result<Parcel, _> = Json.decode(&bytes);
        let _: Result<Parcel, _> = Compact.decode(&bytes);
        let _: Result<Parcel, _> = Archive.decode(&bytes);
        let _ = Archive.access::<Parcel>(&bytes);
    }

    /// Random bytes fail early; a good message with one bad byte is believed for longer.
    #[test]
    fn a_damaged_message_is_a_value_or_an_error(
        parcel in parcels(),
        at in any::<prop::sample::Index>(),
        flip in 1..=u8::MAX,
    ) {
        for (name, mut bytes) in [
            ("json", encoded(Json, &parcel)),
            ("compact", encoded(Compact, &parcel)),
            ("archive", encoded(Archive, &parcel)),
        ] {
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            let read: Result<Parcel, CodecError> = match name {
                "json" => Json.decode(&bytes),
                "compact" => Compact.decode(&bytes),
                _ => Archive.decode(&bytes),
            };
            // A value that is read must be a whole one: it can be written and read again.
            if let Ok(parcel) = read {
                reads_back(Json, &parcel);
                reads_back(Compact, &parcel);
                reads_back(Archive, &parcel);
            }
        }
    }
}

#[test]
fn a_message_that_is_cut_short_is_an_error() {
    let parcel = a_parcel();
    let (json, compact, archive) =
        (encoded(Json, &parcel), encoded(Compact, &parcel), encoded(Archive, &parcel));
    for cut in 0..json.len() {
        assert!(Codec::<Parcel>::decode(&Json, &json[..cut]).is_err(), "{cut}");
    }
    for cut in 0..compact.len() {
        assert!(Codec::<Parcel>::decode(&Compact, &compact[..cut]).is_err(), "{cut}");
    }
    // An archive is found from its end, so it is its beginning that has to be missed.
    for cut in 1..archive.len() {
        assert!(Codec::<Parcel>::decode(&Archive, &archive[cut..]).is_err(), "{cut}");
    }
}

#[test]
fn trailing_bytes_are_an_error() {
    let mut bytes = encoded(Compact, &a_parcel());
    bytes.extend([0, 0]);
    let error = Codec::<Parcel>::decode(&Compact, &bytes).unwrap_err();
    assert!(matches!(error, CodecError::Trailing { left: 2 }), "{error}");
    let mut bytes = encoded(Json, &a_parcel());
    bytes.extend(b" null");
    assert!(Codec::<Parcel>::decode(&Json, &bytes).is_err());
}

#[test]
fn a_value_that_refuses_to_be_written_leaves_nothing_behind() {
    #[derive(serde::Deserialize)]
    struct Stubborn;
    impl serde::Serialize for Stubborn {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::{Error, SerializeSeq};
            let mut begun = serializer.serialize_seq(Some(2))?;
            begun.serialize_element(&1)?;
            Err(S::Error::custom("no further"))
        }
    }
    let mut out = b"before".to_vec();
    assert!(Json.encode(&Stubborn, &mut out).is_err());
    assert!(Compact.encode(&Stubborn, &mut out).is_err());
    assert_eq!(out, b"before");
}

#[test]
fn a_field_of_an_archive_is_read_in_place() {
    let bytes = encoded(Archive, &a_parcel());
    let archived = Archive.access::<Parcel>(&bytes).unwrap();
    assert_eq!(archived.id.to_native(), 7);
    assert_eq!(archived.contents.len(), 2);
    let ArchivedContent::Goods { name, .. } = &archived.contents[1] else { panic!("goods") };
    assert!(bytes.as_ptr_range().contains(&name.as_ptr()), "the name lies in the bytes");
}
