//! Requests, events and answers as bytes, to carry them out of the process.
//!
//! | Codec | Feature | Bytes | For |
//! |---|---|---|---|
//! | [`Json`] | `json` | text | people, and programs in other languages |
//! | [`Compact`] | `compact` | the fewest; not self-describing | logs and queues of one's own |
//! | [`Archive`] | `archive` | laid out as in memory | reading a few fields without decoding the rest |
//!
//! Bytes that are not what the codec writes are an error, never a panic. A decoded value has its
//! type, and is not validated.
//!
//! Only `Json` limits how deeply values are nested. With the others, do not decode a recursive type
//! from untrusted bytes: they recurse on the stack.

#[cfg(feature = "archive")]
mod archive;
#[cfg(feature = "compact")]
mod compact;
#[cfg(feature = "json")]
mod json;

#[cfg(feature = "archive")]
pub use archive::Archive;
#[cfg(feature = "compact")]
pub use compact::Compact;
#[cfg(feature = "json")]
pub use json::Json;

/// A way to write values of type `T` as bytes, and to read them back.
pub trait Codec<T> {
    /// Adds the bytes of a value to `out`.
    ///
    /// # Errors
    /// If the value cannot be encoded. `out` is then unchanged.
    fn encode(&self, value: &T, out: &mut Vec<u8>) -> Result<(), CodecError>;

    /// Decodes a value from exactly these bytes.
    ///
    /// # Errors
    /// If the bytes are not a value.
    fn decode(&self, bytes: &[u8]) -> Result<T, CodecError>;
}

/// The error of encoding or decoding a value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// A value could not be written, or a text could not be read.
    #[cfg(feature = "json")]
    #[error("not this value as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A value could not be written, or compact bytes could not be read.
    #[cfg(feature = "compact")]
    #[error("not this value in compact form: {0}")]
    Compact(#[from] postcard::Error),
    /// A value ended before its bytes did.
    #[cfg(feature = "compact")]
    #[error("{left} bytes follow the end of the value")]
    Trailing {
        /// The number of bytes left.
        left: usize,
    },
    /// A value could not be written, or an archive could not be read.
    #[cfg(feature = "archive")]
    #[error("not an archive of this value: {0}")]
    Archive(#[from] rkyv::rancor::Error),
}

/// Removes the partial output of a failed encoding.
#[cfg(any(feature = "json", feature = "compact", feature = "archive"))]
fn or_nothing<E>(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), CodecError>
where
    CodecError: From<E>,
{
    let before = out.len();
    write(out).map_err(|error| {
        out.truncate(before);
        error.into()
    })
}
