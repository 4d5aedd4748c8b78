//! Lower-case hexadecimal.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

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
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let text = text.as_bytes();
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
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
