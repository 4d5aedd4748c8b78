//! Writes JSON into one buffer, with decimals and 64-bit numbers as strings.

use rialto_model::Scale;
use serde::Serialize;

/// A JSON text in the making. Commas are put where they belong.
///
/// Answers are written by hand because most of what stands in them are decimals, whose scale is
/// known only beside the value; and because a text in one buffer is all that a socket needs.
#[derive(Debug, Default)]
pub(crate) struct JsonOut {
    bytes: Vec<u8>,
    /// Whether a value stands before the next one in the same object or array.
    follows: bool,
}

impl JsonOut {
    pub(crate) fn with_capacity(capacity: usize) -> JsonOut {
        JsonOut { bytes: Vec::with_capacity(capacity), follows: false }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn separate(&mut self) {
        if self.follows {
            self.bytes.push(b',');
        }
        self.follows = true;
    }

    pub(crate) fn open_object(&mut self) {
        self.separate();
        self.bytes.push(b'{');
        self.follows = false;
    }

    pub(crate) fn close_object(&mut self) {
        self.bytes.push(b'}');
        self.follows = true;
    }

    pub(crate) fn open_array(&mut self) {
        self.separate();
        self.bytes.push(b'[');
        self.follows = false;
    }

    pub(crate) fn close_array(&mut self) {
        self.bytes.push(b']');
        self.follows = true;
    }

    /// A key of this crate's own: plain letters, nothing to escape.
    pub(crate) fn key(&mut self, key: &'static str) -> &mut JsonOut {
        self.separate();
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.extend_from_slice(b"\":");
        self.follows = false;
        self
    }

    /// A key that came from elsewhere.
    pub(crate) fn foreign_key(&mut self, key: &str) -> &mut JsonOut {
        self.text(key);
        self.bytes.push(b':');
        self.follows = false;
        self
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.separate();
        self.bytes.push(b'"');
        for &byte in text.as_bytes() {
            match byte {
                b'"' | b'\\' => self.bytes.extend_from_slice(&[b'\\', byte]),
                0..0x20 => {
                    const DIGITS: &[u8; 16] = b"0123456789abcdef";
                    self.bytes.extend_from_slice(b"\\u00");
                    self.bytes.push(DIGITS[usize::from(byte >> 4)]);
                    self.bytes.push(DIGITS[usize::from(byte & 15)]);
                }
                _ => self.bytes.push(byte),
            }
        }
        self.bytes.push(b'"');
    }

    /// A value that knows how it is written.
    pub(crate) fn value(&mut self, value: &impl Serialize) {
        self.separate();
        let written = serde_json::to_writer(&mut self.bytes, value);
        written.expect("plain data is always written to memory");
    }

    pub(crate) fn flag(&mut self, flag: bool) {
        self.separate();
        self.bytes.extend_from_slice(if flag { b"true" } else { b"false" });
    }

    pub(crate) fn null(&mut self) {
        self.separate();
        self.bytes.extend_from_slice(b"null");
    }

    /// A number that fits a double exactly.
    pub(crate) fn number(&mut self, number: impl Into<i64>) {
        self.separate();
        let number = number.into();
        if number < 0 {
            self.bytes.push(b'-');
        }
        self.digits(u128::from(number.unsigned_abs()), 0);
    }

    /// A 64-bit number, as a string.
    pub(crate) fn quoted(&mut self, number: u64) {
        self.separate();
        self.bytes.push(b'"');
        self.digits(u128::from(number), 0);
        self.bytes.push(b'"');
    }

    /// A price, quantity or amount, as a string with all places of its scale.
    pub(crate) fn decimal(&mut self, value: impl Into<i128>, scale: Scale) {
        let value = value.into();
        self.separate();
        self.bytes.push(b'"');
        if value < 0 {
            self.bytes.push(b'-');
        }
        self.digits(value.unsigned_abs(), usize::from(scale.places()));
        self.bytes.push(b'"');
    }

    /// The digits of a number, with a point before the last `places`.
    fn digits(&mut self, number: u128, places: usize) {
        let mut digits = [0_u8; DIGITS_MAX];
        let mut at = digits.len();
        // Almost every number fits 64 bits, where a division costs a tenth.
        if let (Ok(number), Some(unit)) = (u64::try_from(number), POWERS.get(places)) {
            if places > 0 {
                put(&mut digits, &mut at, number % unit, places);
                at -= 1;
                digits[at] = b'.';
            }
            put(&mut digits, &mut at, number / unit, 1);
            return self.bytes.extend_from_slice(&digits[at..]);
        }
        let mut written = 0;
        let mut rest = number;
        while rest > 0 || written <= places {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            written += 1;
            if written == places {
                at -= 1;
                digits[at] = b'.';
            }
        }
        self.bytes.extend_from_slice(&digits[at..]);
    }
}

/// The digits of the greatest number, a point, and one to spare.
const DIGITS_MAX: usize = 41;

/// The powers of ten that fit 64 bits.
const POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// All numbers of two digits.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut at = 0;
    while at < pairs.len() {
        pairs[at] = [b'0' + (at / 10) as u8, b'0' + (at % 10) as u8];
        at += 1;
    }
    pairs
};

/// Puts a number before `at`, with zeros before it up to `least` digits. Two digits at a time,
/// because each division waits for the one before.
fn put(digits: &mut [u8; DIGITS_MAX], at: &mut usize, mut number: u64, least: usize) {
    let end = *at;
    while number >= 10 {
        *at -= 2;
        digits[*at..*at + 2].copy_from_slice(&PAIRS[(number % 100) as usize]);
        number /= 100;
    }
    if number > 0 {
        *at -= 1;
        digits[*at] = b'0' + number as u8;
    }
    while end - *at < least {
        *at -= 1;
        digits[*at] = b'0';
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_model::Amount;

    fn written(write: impl FnOnce(&mut JsonOut)) -> String {
        let mut out = JsonOut::default();
        write(&mut out);
        String::from_utf8(out.into_bytes()).unwrap()
    }

    #[test]
    fn decimals_are_written_as_the_model_shows_them() {
        let values = [0, 1, -1, 9, 10, 99, 100, -105, 12_345, i64::MAX.into(), i64::MIN.into()];
        let wide = [i128::MAX, i128::MIN, i128::from(u64::MAX), i128::from(u64::MAX) + 1];
        for value in values.into_iter().chain(wide) {
            for places in 0..=18 {
                let scale = Scale::new(places).unwrap();
                let expected = format!("\"{}\"", Amount(value).decimal(scale));
                assert_eq!(written(|out| out.decimal(value, scale)), expected);
            }
        }
    }

    #[test]
    fn commas_stand_between_values_and_nowhere_else() {
        let text = written(|out| {
            out.open_object();
            out.key("a").number(-5);
            out.key("b").open_array();
            out.quoted(0);
            out.flag(true);
            out.open_object();
            out.close_object();
            out.null();
            out.close_array();
            out.key("c").text("x");
            out.close_object();
        });
        assert_eq!(text, r#"{"a":-5,"b":["0",true,{},null],"c":"x"}"#);
    }

    #[test]
    fn any_text_is_read_back_as_it_was() {
        let text: String = (0..300).filter_map(char::from_u32).collect();
        let json = written(|out| out.text(&text));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
