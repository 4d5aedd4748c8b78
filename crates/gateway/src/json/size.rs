//! How much JSON stands in a body, counted before any of it is read.

/// Most objects and most values of a body. What is read of it takes many times its own length, so that
/// the length alone is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SizeMax {
    pub(crate) objects: usize,
    /// Fields and entries, however deep.
    pub(crate) values: usize,
}

impl SizeMax {
    /// Whether a body keeps within it. Of text that is not JSON, the answer means nothing.
    pub(crate) fn allows(self, bytes: &[u8]) -> bool {
        let (mut objects, mut values) = (0, 0);
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'{' => objects += 1,
                b',' | b':' => values += 1,
                b'"' => at = after_text(bytes, at),
                _ => {}
            }
            if objects > self.objects || values > self.values {
                return false;
            }
        }
        true
    }
}

/// Where a text ends that begins here, behind its quotation mark.
fn after_text(bytes: &[u8], mut at: usize) -> usize {
    while let Some(step) =
        bytes.get(at..).and_then(|rest| rest.iter().position(|byte| matches!(byte, b'"' | b'\\')))
    {
        at += step;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_and_values_are_counted_and_what_stands_in_texts_is_not() {
        let allows =
            |objects, values, text: &str| SizeMax { objects, values }.allows(text.as_bytes());
        let text = r#"[{"a":"{,:\"{","b":1},{}]"#;
        assert!(allows(2, 4, text));
        assert!(!allows(1, 4, text));
        assert!(!allows(2, 3, text));
        assert!(allows(0, 0, r#""{{{"#) && allows(0, 0, r#""\"#) && allows(0, 0, ""));
    }
}
