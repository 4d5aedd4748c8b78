//! The variables of one record: named values, packed.

use super::record::{StepId, Variable};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};

/// What a variable was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Signed(i64),
    /// A whole number that is not negative.
    Unsigned(u64),
    /// A number with a fraction.
    Float(f64),
    /// A text, or whatever has a text form.
    Text(String),
    /// The beginning of a text that did not fit.
    Cut(String),
    /// A secret: it was there, and that is all that is known.
    Hidden,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => value.fmt(f),
            Value::Signed(value) => value.fmt(f),
            Value::Unsigned(value) => value.fmt(f),
            Value::Float(value) => value.fmt(f),
            Value::Text(text) => text.fmt(f),
            Value::Cut(text) => write!(f, "{text}…"),
            Value::Hidden => f.write_str("(hidden)"),
        }
    }
}

/// One variable in its place in the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    name: &'static str,
    step: u32,
    /// How many groups it is inside of.
    depth: u16,
    packed: Packed,
}

#[derive(Clone, Copy, Debug)]
enum Packed {
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Text { start: u32, end: u32, is_cut: bool },
    Hidden,
    Group,
}

/// All variables of a record, and the room that is left for more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    entries: Vec<Entry>,
    text: String,
    bytes_max: u32,
    /// How many did not fit at all.
    pub(crate) lost: u32,
    /// How many texts were cut.
    pub(crate) cut: u32,
}

impl Variables {
    pub(crate) fn clear(&mut self, bytes_max: u32) {
        self.entries.clear();
        self.text.clear();
        self.bytes_max = bytes_max;
        self.lost = 0;
        self.cut = 0;
    }

    pub(crate) fn bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>() + self.text.len()
    }

    pub(crate) fn allocated(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.text.capacity()
    }

    fn room(&self) -> usize {
        (self.bytes_max as usize).saturating_sub(self.bytes())
    }

    #[inline]
    fn push(&mut self, entry: Entry) -> bool {
        if self.room() < size_of::<Entry>() {
            self.lost += 1;
            return false;
        }
        if self.entries.len() == self.entries.capacity() {
            grow(&mut self.entries, self.bytes_max as usize / size_of::<Entry>());
        }
        self.entries.push(entry);
        true
    }

    fn push_text(&mut self, at: At, name: &'static str, value: &dyn fmt::Display) {
        // The entry goes first, so that the text gets what room is left behind it.
        let start = self.text.len() as u32;
        let packed = Packed::Text { start, end: start, is_cut: false };
        if !self.push(Entry { name, step: at.step, depth: at.depth, packed }) {
            return;
        }
        let mut writer = Bounded { room: self.room(), text: &mut self.text };
        // An error says that the text was cut, or that its owner could not write it: either way the
        // rest is missing.
        let is_cut = write!(writer, "{value}").is_err();
        self.cut += u32::from(is_cut);
        let end = self.text.len() as u32;
        if let Some(entry) = self.entries.last_mut() {
            entry.packed = Packed::Text { start, end, is_cut };
        }
    }

    fn value(&self, packed: Packed) -> Option<Value> {
        let text =
            |start: u32, end: u32| self.text.get(start as usize..end as usize).map(str::to_owned);
        Some(match packed {
            Packed::Bool(value) => Value::Bool(value),
            Packed::Signed(value) => Value::Signed(value),
            Packed::Unsigned(value) => Value::Unsigned(value),
            Packed::Float(value) => Value::Float(value),
            Packed::Text { start, end, is_cut: false } => Value::Text(text(start, end)?),
            Packed::Text { start, end, is_cut: true } => Value::Cut(text(start, end)?),
            Packed::Hidden => Value::Hidden,
            Packed::Group => return None,
        })
    }

    /// Every variable, in the order in which they were told.
    pub(crate) fn each(&self) -> impl Iterator<Item = Variable> {
        let mut whole: Vec<&'static str> = Vec::new();
        self.entries.iter().filter_map(move |entry| {
            whole.truncate(usize::from(entry.depth));
            let Some(value) = self.value(entry.packed) else {
                whole.push(entry.name);
                return None;
            };
            let mut path = String::new();
            for part in whole.iter().chain([&entry.name]) {
                path.push_str(if path.is_empty() { "" } else { "." });
                path.push_str(part);
            }
            Some(Variable { step: StepId(entry.step), path, value })
        })
    }
}

/// Where a variable belongs.
#[derive(Clone, Copy)]
struct At {
    step: u32,
    depth: u16,
}

/// Writes variables into a record, at one step.
pub struct Fields<'a> {
    variables: &'a mut Variables,
    at: At,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(variables: &'a mut Variables, step: u32) -> Fields<'a> {
        Fields { variables, at: At { step, depth: 0 } }
    }

    #[inline]
    fn push(&mut self, name: &'static str, packed: Packed) -> bool {
        let At { step, depth } = self.at;
        self.variables.push(Entry { name, step, depth, packed })
    }

    /// Writes yes or no.
    #[inline]
    pub fn bool(&mut self, name: &'static str, value: bool) {
        self.push(name, Packed::Bool(value));
    }

    /// Writes a whole number.
    #[inline]
    pub fn signed(&mut self, name: &'static str, value: i64) {
        self.push(name, Packed::Signed(value));
    }

    /// Writes a whole number that is not negative.
    #[inline]
    pub fn unsigned(&mut self, name: &'static str, value: u64) {
        self.push(name, Packed::Unsigned(value));
    }

    /// Writes a number with a fraction.
    #[inline]
    pub fn float(&mut self, name: &'static str, value: f64) {
        self.push(name, Packed::Float(value));
    }

    /// Writes a text.
    pub fn text(&mut self, name: &'static str, value: &str) {
        self.variables.push_text(self.at, name, &value);
    }

    /// Writes the text form of a value.
    pub fn display(&mut self, name: &'static str, value: &dyn fmt::Display) {
        self.variables.push_text(self.at, name, value);
    }

    /// Writes the text form of a value that programmers see.
    pub fn debug(&mut self, name: &'static str, value: &dyn fmt::Debug) {
        self.variables.push_text(self.at, name, &format_args!("{value:?}"));
    }

    /// Writes that there is a secret of this name, and nothing of it.
    #[inline]
    pub fn hidden(&mut self, name: &'static str) {
        self.push(name, Packed::Hidden);
    }

    /// Writes the parts of a value under its name.
    pub fn group(&mut self, name: &'static str, write: impl FnOnce(&mut Fields<'_>)) {
        // Parts without their whole would pass for variables of the record.
        if !self.push(name, Packed::Group) {
            return;
        }
        let At { step, depth } = self.at;
        let at = At { step, depth: depth.saturating_add(1) };
        write(&mut Fields { variables: self.variables, at });
    }
}

impl fmt::Debug for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fields").field("step", &self.at.step).finish_non_exhaustive()
    }
}

/// Takes text until the room is used up, cut between characters.
pub(crate) struct Bounded<'a> {
    pub(crate) text: &'a mut String,
    pub(crate) room: usize,
}

impl fmt::Write for Bounded<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut fits = text.len().min(self.room);
        while !text.is_char_boundary(fits) {
            fits -= 1;
        }
        let needed = self.text.len() + fits;
        if needed > self.text.capacity() {
            // Doubling, but never beyond what may come, so that memory keeps to its bound too.
            let wanted = needed.max(self.text.capacity() * 2).min(self.text.len() + self.room);
            self.text.reserve_exact(wanted - self.text.len());
        }
        self.text.push_str(&text[..fits]);
        self.room -= fits;
        if fits < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

/// Makes room in a full list for at least one more by doubling, but never beyond `len_max`.
#[cold]
pub(crate) fn grow<T>(list: &mut Vec<T>, len_max: usize) {
    let wanted = (list.len() * 2).clamp(4, len_max.max(4)).min(len_max);
    list.reserve_exact(wanted.saturating_sub(list.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_room(bytes_max: usize) -> Variables {
        let mut variables = Variables::default();
        variables.clear(bytes_max as u32);
        variables
    }

    fn paths(variables: &Variables) -> Vec<String> {
        variables.each().map(|told| format!("{}={}", told.path, told.value)).collect()
    }

    #[test]
    fn parts_bear_the_name_of_their_whole() {
        let mut variables = with_room(1_000);
        let mut fields = Fields::new(&mut variables, 0);
        fields.group("order", |order| {
            order.group("price", |price| price.signed("units", 5));
            order.bool("is_bid", true);
        });
        fields.hidden("token");
        assert_eq!(
            paths(&variables),
            ["order.price.units=5", "order.is_bid=true", "token=(hidden)"]
        );
    }

    #[test]
    fn a_text_that_does_not_fit_is_cut_between_characters() {
        let mut variables = with_room(size_of::<Entry>() + 2);
        Fields::new(&mut variables, 0).text("name", "aéb");
        assert_eq!(paths(&variables), ["name=a…"]);
        assert_eq!((variables.cut, variables.lost), (1, 0));
    }

    #[test]
    fn a_group_that_does_not_fit_takes_its_parts_along() {
        let mut variables = with_room(2 * size_of::<Entry>() - 1);
        let mut fields = Fields::new(&mut variables, 0);
        fields.bool("first", true);
        fields.group("order", |order| order.bool("is_bid", true));
        assert_eq!(paths(&variables), ["first=true"]);
        assert_eq!(variables.lost, 1);
    }
}
