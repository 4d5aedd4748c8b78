//! Decodes the values of a state.

use super::SnapshotError;
use rialto_model::{Amount, Enumeration, Handling, Price, Quantity, Scale, Text, Timestamp};

type Result<T> = std::result::Result<T, SnapshotError>;

/// Decodes bytes from the front.
pub(super) struct Reader<'a> {
    pub(super) format: u32,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl Reader<'_> {
    pub(super) fn wrong(&self, what: &'static str) -> SnapshotError {
        SnapshotError::Malformed { offset: self.at, what }
    }

    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let taken = *rest.first_chunk().ok_or_else(|| self.wrong("the content ends early"))?;
        self.at += N;
        Ok(taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        self.take::<1>().map(|[byte]| byte)
    }
    pub(super) fn u16(&mut self) -> Result<u16> {
        self.take().map(u16::from_le_bytes)
    }
    pub(super) fn u32(&mut self) -> Result<u32> {
        self.take().map(u32::from_le_bytes)
    }
    pub(super) fn u64(&mut self) -> Result<u64> {
        self.take().map(u64::from_le_bytes)
    }
    pub(super) fn i32(&mut self) -> Result<i32> {
        self.take().map(i32::from_le_bytes)
    }
    pub(super) fn amount(&mut self) -> Result<Amount> {
        self.take().map(i128::from_le_bytes).map(Amount)
    }
    pub(super) fn price(&mut self) -> Result<Price> {
        self.take().map(i64::from_le_bytes).map(Price)
    }
    pub(super) fn quantity(&mut self) -> Result<Quantity> {
        self.take().map(i64::from_le_bytes).map(Quantity)
    }
    pub(super) fn time(&mut self) -> Result<Timestamp> {
        self.u64().map(Timestamp)
    }
    pub(super) fn bool(&mut self) -> Result<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.wrong("a flag is neither 0 nor 1")),
        }
    }
    pub(super) fn handling(&mut self) -> Result<Handling> {
        let handling = Handling::from_bits(self.u8()?);
        self.needs(handling, "an attribute of an order is unknown")
    }
    pub(super) fn scale(&mut self) -> Result<Scale> {
        let places = self.u8()?;
        Scale::new(places).ok_or_else(|| self.wrong("a scale is at most 18"))
    }

    pub(super) fn choice<T: Enumeration>(&mut self) -> Result<T> {
        let chosen = T::from_number(self.u8()?);
        chosen.ok_or_else(|| self.wrong("a number stands for nothing in its list"))
    }

    /// A value, or nothing where the number is `none`.
    pub(super) fn optional<T: Enumeration>(&mut self, none: u8) -> Result<Option<T>> {
        let number = self.u8()?;
        let chosen = T::from_number(number);
        self.refuse_unless(
            chosen.is_some() || number == none,
            "a number stands for nothing in its list",
        )?;
        Ok(chosen)
    }

    pub(super) fn text<const N: usize>(&mut self) -> Result<Text<N>> {
        let len = usize::from(self.u8()?);
        let bytes = self.bytes.get(self.at..self.at + len);
        let text = bytes.and_then(|bytes| Text::new(bytes).ok());
        let text = text.ok_or_else(|| self.wrong("a text is too long or not printable"))?;
        self.at += len;
        Ok(text)
    }

    /// Fails if the value just read contradicts the rest of the state.
    pub(super) fn needs<T>(&self, found: Option<T>, what: &'static str) -> Result<T> {
        found.ok_or_else(|| self.wrong(what))
    }

    pub(super) fn refuse_unless(&self, fine: bool, what: &'static str) -> Result<()> {
        if fine { Ok(()) } else { Err(self.wrong(what)) }
    }
}
