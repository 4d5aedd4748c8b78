//! Bytes as text: RFC 4648, section 4, with padding.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Four characters for three bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let six = bits >> (18 - 6 * at) & 63;
            let is_padding = at > three.len();
            text.push(if is_padding { '=' } else { char::from(ALPHABET[six as usize]) });
        }
    }
    text
}

/// The bytes of a text, unless it is not what [`encode`] would write.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let padding = text.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut bits = 0_u32;
    for (at, byte) in text[..text.len() - padding].iter().enumerate() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        if at % 4 == 3 {
            bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
            bits = 0;
        }
    }
    // What is left over at the end must be zero, so that there is one text for the same bytes.
    match padding {
        1 if bits & 0b11 == 0 => bytes.extend_from_slice(&(bits >> 2).to_be_bytes()[2..]),
        2 if bits & 0b1111 == 0 => bytes.push((bits >> 4) as u8),
        0 => {}
        _ => return None,
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard_go_both_ways() {
        let examples = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, text) in examples {
            assert_eq!(encode(plain.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(plain.as_bytes()));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Some(all));
    }

    #[test]
    fn what_nobody_would_write_is_refused() {
        for text in ["Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zm9v=", "Zm 9", "Z=g="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
