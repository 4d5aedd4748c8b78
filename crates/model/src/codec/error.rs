//! A fault in the bytes of a command or an event.

/// A fault in the bytes of a command or an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeFault {
    /// The bytes end too early.
    #[error("the bytes end before the record does")]
    Truncated,
    /// Bytes are left over.
    #[error("bytes are left after the end of the record")]
    Trailing,
    /// A kind that this binary does not know.
    #[error("kind {0} is not known to this binary")]
    UnknownKind(u8),
    /// A version that this binary does not know.
    #[error("version {0} is not known to this binary")]
    UnknownVersion(u8),
    /// A flag that this kind does not have.
    #[error("flags 0x{0:04x} do not belong to this kind")]
    UnknownFlags(u16),
    /// A reserved byte or the padding of a text is not zero.
    #[error("a reserved byte is not zero")]
    Reserved,
    /// The length in an event's header is not the event's length.
    #[error("the length field of the event is {0}, which is not its length")]
    Length(u16),
    /// A field holds a value outside its range.
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
    /// A text is too long or not printable.
    #[error("a text {0}")]
    Text(crate::TextError),
    /// The value is not in its canonical form.
    #[error("{0} is not in its canonical form")]
    NotCanonical(&'static str),
}

/// Bytes are not a command or an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset} of the record: {what}")]
pub struct DecodeError {
    /// The offset of the fault from the beginning of the record.
    pub offset: usize,
    /// The fault.
    pub what: DecodeFault,
}
