//! The quotes and the lines of a CSV. The reader of records takes what follows a closing quote as a part
//! of the field, and closes an open quote at the end of the file: `"1"0` would be ten.

use crate::fault::FileFault;

/// The place of a field: its line and its column, from 1.
#[derive(Clone, Copy)]
struct Place {
    line: u64,
    column: usize,
}

/// Checks that each field that begins with a quote ends with one.
pub(crate) fn check_quotes(content: &[u8]) -> Result<(), FileFault> {
    let mut place = Place { line: 1, column: 1 };
    let mut rest = content;
    while let Some((first, behind)) = rest.split_first() {
        if *first == b'"' {
            let (length, line_ends) = quoted(behind)
                .ok_or_else(|| fault(place, "The quote that begins the field is not closed."))?;
            rest = behind.get(length..).unwrap_or_default();
            if !matches!(rest.first(), None | Some(b',' | b'\r' | b'\n')) {
                return Err(fault(place, "Text follows the closing quote of the field."));
            }
            place.line += line_ends;
        } else {
            let end = rest.iter().position(|byte| matches!(byte, b',' | b'\r' | b'\n'));
            rest = rest.get(end.unwrap_or(rest.len())..).unwrap_or_default();
        }
        match rest.first() {
            Some(b',') => {
                place.column += 1;
                rest = rest.get(1..).unwrap_or_default();
            }
            Some(_) => {
                let length = if rest.starts_with(b"\r\n") { 2 } else { 1 };
                rest = rest.get(length..).unwrap_or_default();
                place = Place { line: place.line + 1, column: 1 };
            }
            None => {}
        }
    }
    Ok(())
}

/// The length of a quoted text with its closing quote, and the number of line ends in it; nothing if
/// it is not closed.
fn quoted(text: &[u8]) -> Option<(usize, u64)> {
    let mut at = 0;
    loop {
        at += text.get(at..)?.iter().position(|byte| *byte == b'"')? + 1;
        if text.get(at) != Some(&b'"') {
            return Some((at, line_ends(text.get(..at)?)));
        }
        at += 1;
    }
}

fn fault(place: Place, message: &str) -> FileFault {
    let Place { line, column } = place;
    FileFault { line, column, name: String::new(), message: message.to_owned() }
}

/// The number of line ends: LF, CR, or both.
fn line_ends(text: &[u8]) -> u64 {
    let is_end = |(at, byte): (usize, &u8)| {
        *byte == b'\n' || *byte == b'\r' && text.get(at + 1) != Some(&b'\n')
    };
    text.iter().enumerate().filter(|it| is_end(*it)).count() as u64
}

/// Finds the lines of records, which follow each other.
pub(crate) struct LineCounter<'a> {
    content: &'a [u8],
    at: usize,
    line: u64,
}

impl<'a> LineCounter<'a> {
    pub(crate) fn new(content: &'a [u8]) -> LineCounter<'a> {
        LineCounter { content, at: 0, line: 1 }
    }

    /// The line of the record that begins at this offset, or behind the line ends that follow it.
    pub(crate) fn line_at(&mut self, offset: u64) -> u64 {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let behind = self.content.get(offset..).unwrap_or_default();
        let skipped = behind.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let begin = offset + skipped;
        self.line += line_ends(self.content.get(self.at..begin).unwrap_or_default());
        self.at = self.at.max(begin);
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_field_ends_with_its_quote() {
        let place = |text: &str| check_quotes(text.as_bytes()).err().map(|it| (it.line, it.column));
        for good in
            ["", "a,b\n", "\"a\",\"b\"\r\n\"c\"", "\"a \"\"b\"\"\",1", "\"a\nb\",c\n", "a\"b"]
        {
            assert_eq!(place(good), None, "{good}");
        }
        assert_eq!(place("a,b\nc,\"1\"0\n"), Some((2, 2)));
        assert_eq!(place("\"a\nb\",c\r\nd,\"1"), Some((3, 2)));
        assert_eq!(place("a\rb\r\n\n\"\"\""), Some((4, 1)));
    }
}
