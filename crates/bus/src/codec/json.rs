//! JSON.

use super::{Codec, CodecError, or_nothing};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// JSON, by way of serde.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

impl<T: Serialize + DeserializeOwned> Codec<T> for Json {
    fn encode(&self, value: &T, out: &mut Vec<u8>) -> Result<(), CodecError> {
        or_nothing(out, |out| serde_json::to_writer(out, value))
    }

    fn decode(&self, bytes: &[u8]) -> Result<T, CodecError> {
        Ok(serde_json::from_slice(bytes)?)
    }
}
