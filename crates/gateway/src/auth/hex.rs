//! Lower-case hexadecimal.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Above the value of every digit, in a bit that none of them has.
const NO_DIGIT: u8 = 16;

/// What each byte is worth as a digit.
const VALUES: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut value = 0;
    while value < DIGITS.len() {
        values[DIGITS[value] as usize] = value as u8;
        value += 1;
    }
    values
};

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Exactly `N` bytes from lower-case digits, or nothing. One spelling only, so that one signature
/// cannot be sent in two forms.
pub(super) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let text = text.as_bytes();
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    let mut seen = 0;
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let (high, low) = (VALUES[usize::from(pair[0])], VALUES[usize::from(pair[1])]);
        seen |= high | low;
        *byte = high << 4 | low & 15;
    }
    (seen < NO_DIGIT).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_goes_both_ways_and_has_one_spelling() {
        let bytes: [u8; 256] = std::array::from_fn(|at| at as u8);
        let text = encode(&bytes);
        assert_eq!(decode(&text), Some(bytes));
        assert_eq!(decode::<2>("0a1"), None);
        assert_eq!(decode::<2>("0A1b"), None);
        assert_eq!(decode::<2>("0a1g"), None);
        assert_eq!(decode::<2>("0a1b"), Some([10, 27]));
    }
}
