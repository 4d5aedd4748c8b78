//! Keys as text.

use super::keys::{Keys, MASTER_KEY_BYTES, MasterKey};
use zeroize::Zeroizing;

/// Reads keys; an error is a line and its fault, in words that reveal no key.
pub(super) fn parse(text: &str) -> Result<Keys, (usize, String)> {
    let mut keys = Keys::default();
    let mut current = None;
    let mut lines = 0;
    for (nth, line) in text.lines().enumerate() {
        lines = nth + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |why: String| (lines, why);
        let (name, value) =
            line.split_once(':')
                .map(|(name, value)| (name.trim(), value.trim()))
                .ok_or_else(|| wrong("neither `id: key` nor `current: id`".to_owned()))?;
        if name == "current" {
            let id = value.parse().map_err(|_| wrong("`current` must name a key id".to_owned()))?;
            if current.replace((lines, id)).is_some() {
                return Err(wrong("`current` stands here a second time".to_owned()));
            }
            continue;
        }
        let id = name
            .parse()
            .ok()
            .filter(|id| *id > 0)
            .ok_or_else(|| wrong("a key id must be a number from 1".to_owned()))?;
        let key = key(value).ok_or_else(|| {
            wrong(format!("key {id} must be 32 bytes, as 64 hexadecimal digits or as base64"))
        })?;
        if keys.by_id.insert(id, key).is_some() {
            return Err(wrong(format!("key {id} stands here a second time")));
        }
    }
    keys.current = match current {
        Some((_, id)) if keys.by_id.contains_key(&id) => Some(id),
        Some((line, id)) => return Err((line, format!("there is no key {id}"))),
        None if keys.by_id.len() > 1 => {
            let why = "several keys, but no line `current: id` says which one to write with";
            return Err((lines, why.to_owned()));
        }
        None => keys.by_id.keys().next().copied(),
    };
    if keys.current.is_none() {
        return Err((lines, "no key".to_owned()));
    }
    Ok(keys)
}

fn key(text: &str) -> Option<MasterKey> {
    let mut bytes = Zeroizing::new([0; MASTER_KEY_BYTES]);
    let read = if text.len() == 2 * MASTER_KEY_BYTES {
        from_hex(text, &mut bytes)
    } else {
        from_base64(text, &mut bytes)
    };
    read.map(|()| MasterKey::new(*bytes))
}

fn from_hex(text: &str, bytes: &mut [u8; MASTER_KEY_BYTES]) -> Option<()> {
    let (pairs, _) = text.as_bytes().as_chunks::<2>();
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        *byte = (digit(*high)? << 4 | digit(*low)?) as u8;
    }
    Some(())
}

/// 32 bytes are 42 characters of six bits and one of four, then perhaps a `=`.
fn from_base64(text: &str, bytes: &mut [u8; MASTER_KEY_BYTES]) -> Option<()> {
    let text = text.strip_suffix('=').unwrap_or(text).as_bytes();
    if text.len() != (MASTER_KEY_BYTES * 8).div_ceil(6) {
        return None;
    }
    let (mut bits, mut held, mut filled) = (0u32, 0, 0);
    for character in text {
        let six = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes[filled] = (bits >> held) as u8;
            filled += 1;
            bits &= (1 << held) - 1;
        }
    }
    // Bits that are left over would make two texts of one key.
    (bits == 0).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff";
    const BASE64: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHv8=";

    fn why(text: &str) -> String {
        match parse(text) {
            Err((line, why)) => format!("{line}: {why}"),
            Ok(_) => panic!("{text:?} was taken for keys"),
        }
    }

    #[test]
    fn both_spellings_are_equal() {
        let text = format!("# two\n\n 1 : {HEX}\n2:{BASE64}\n30: {}\ncurrent: 2\n", &BASE64[..43]);
        let keys = parse(&text).unwrap_or_else(|error| panic!("{error:?}"));
        let expected: Vec<u8> = (0..31).chain([255]).collect();
        assert_eq!(keys.current, Some(2));
        for id in [1, 2, 30] {
            assert_eq!(keys.by_id[&id].bytes(), expected, "key {id}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_keys_or_an_error_on_one_of_its_lines(
            text in "((current|[0-9]{1,3}|#)?:? ?([0-9a-f]{62,66}|[A-Za-z0-9+/]{40,44}=?|[0-9]+|\\PC{0,9})\n){0,6}",
        ) {
            match parse(&text) {
                Ok(keys) => assert!(keys.current.is_some_and(|id| keys.by_id.contains_key(&id))),
                Err((line, _)) => assert!(line <= text.lines().count()),
            }
        }

        #[test]
        fn a_key_is_the_same_in_both_spellings(bytes: [u8; MASTER_KEY_BYTES]) {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            let base64: String = bytes
                .chunks(3)
                .flat_map(|three| {
                    let word = three.iter().fold(0, |word, byte| word << 8 | u32::from(*byte))
                        << (8 * (3 - three.len()));
                    (0..=three.len()).map(move |nth| word >> (18 - 6 * nth) & 63)
                })
                .map(|six| char::from(alphabet[six as usize]))
                .collect();
            for text in [hex.to_uppercase(), hex, format!("{base64}="), base64] {
                assert_eq!(key(&text).map(|key| key.bytes().to_vec()), Some(bytes.to_vec()));
            }
        }
    }

    #[test]
    fn one_key_is_current_without_being_named() {
        assert!(parse(&format!("7: {HEX}")).is_ok_and(|keys| keys.current == Some(7)));
    }

    #[test]
    fn errors_name_the_line_and_not_the_key() {
        let key = format!("1: {HEX}\n");
        assert_eq!(why(""), "0: no key");
        assert_eq!(why("# nothing\n"), "1: no key");
        assert!(why(&format!("{key}2: {HEX}\n")).starts_with("2: several keys"));
        assert!(why(&format!("{key}current: 3\n")).starts_with("2: there is no key 3"));
        assert!(why(&format!("{key}{key}")).starts_with("2: key 1 stands here a second time"));
        assert!(why(&format!("{key}current: 1\ncurrent: 1\n")).starts_with("3: `current`"));
        assert!(why(&format!("{key}current: x\n")).starts_with("2: `current` must"));
        assert!(why(&format!("0: {HEX}\n")).starts_with("1: a key id"));
        assert!(why(&format!("-1: {HEX}\n")).starts_with("1: a key id"));
        assert!(why("key").starts_with("1: neither"));
        let secrets = [&HEX[..62], &BASE64[..40], &format!("g{}", &HEX[1..]), &format!("{HEX}00")];
        for secret in secrets.map(str::to_owned) {
            let why = why(&format!("4: {secret}"));
            assert!(why.starts_with("1: key 4 must be 32 bytes"), "{why}");
            assert!(!why.contains(&secret[2..10]), "{why}");
        }
        // The last character of base64 carries four bits, so that its last two must be zero.
        assert!(why(&format!("4: {}9", &BASE64[..42])).starts_with("1: key 4"));
    }
}
