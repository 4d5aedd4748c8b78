//! The digest of fills that lets two engines be compared without exchanging every fill.
//!
//! FNV-1a, 64 bit, over maker order id, taker order id, price and quantity of every fill in order,
//! each as 8 little-endian bytes; written as 16 lower-case hexadecimal digits.

use rialto_model::{OrderId, Price, Quantity};
use std::fmt;

const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A running digest of fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillDigest(u64);

impl FillDigest {
    /// The digest of no fills.
    #[must_use]
    pub const fn new() -> FillDigest {
        FillDigest(OFFSET_BASIS)
    }

    /// A digest that was recorded elsewhere, such as in the header of a stream.
    #[must_use]
    pub const fn from_value(value: u64) -> FillDigest {
        FillDigest(value)
    }

    /// The digest as a number.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.0
    }

    /// Takes one fill into the digest.
    #[inline]
    pub fn fill(&mut self, maker: OrderId, taker: OrderId, price: Price, quantity: Quantity) {
        self.word(maker.0.to_le_bytes());
        self.word(taker.0.to_le_bytes());
        self.word(price.0.to_le_bytes());
        self.word(quantity.0.to_le_bytes());
    }

    #[inline]
    fn word(&mut self, bytes: [u8; 8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }
}

impl Default for FillDigest {
    fn default() -> Self {
        FillDigest::new()
    }
}

impl fmt::Display for FillDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_published_vector_of_fnv_1a() {
        // "foobar" is a published test vector of FNV-1a 64; the two zero bytes behind it make a word.
        let mut digest = FillDigest::new();
        digest.word(*b"foobar\0\0");
        let published = 0x8594_4171_f739_67e8_u64;
        let two_zeros = published.wrapping_mul(PRIME).wrapping_mul(PRIME);
        assert_eq!(digest.value(), two_zeros);
    }

    #[test]
    fn depends_on_the_order_of_fills() {
        let fill = |digest: &mut FillDigest, maker| {
            digest.fill(OrderId(maker), OrderId(9), Price(100), Quantity(1));
        };
        let (mut forwards, mut backwards) = (FillDigest::new(), FillDigest::new());
        fill(&mut forwards, 1);
        fill(&mut forwards, 2);
        fill(&mut backwards, 2);
        fill(&mut backwards, 1);
        assert_ne!(forwards, backwards);
    }

    #[test]
    fn is_written_with_leading_zeros() {
        assert_eq!(FillDigest::from_value(0xab).to_string(), "00000000000000ab");
    }
}
