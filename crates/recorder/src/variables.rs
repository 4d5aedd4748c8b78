//! The variables of one record: named values, packed.

use crate::record::{StepId, Variable};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};

/// The value of a variable.
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
    /// A text, or the text form of a value.
    Text(String),
    /// The beginning of a text that did not fit.
    Cut(String),
    /// A secret, whose value is not recorded.
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

/// One variable in its place in the record. An enumeration of its values would take a quarter more,
/// and writing to memory that was not used for a while is most of what a variable costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    name: &'static str,
    /// The value, as its kind defines it.
    bits: u64,
    step: u32,
    /// The number of groups that contain it.
    depth: u16,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Zero is no.
    Bool,
    Signed,
    Unsigned,
    Float,
    /// The begin of the text in the upper half, its end in the lower.
    Text,
    /// The same, of one that was cut.
    Cut,
    Hidden,
    Group,
}

/// All variables of a record, and the room that is left for more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    entries: Vec<Entry>,
    text: String,
    /// The bytes that are left.
    room: usize,
    bytes_max: u32,
    /// The number that did not fit at all.
    pub(crate) lost: u32,
    /// The number of texts that were cut.
    pub(crate) cut: u32,
}

impl Variables {
    pub(crate) fn clear(&mut self, bytes_max: u32) {
        self.entries.clear();
        self.text.clear();
        self.room = bytes_max as usize;
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

    #[inline]
    fn push(&mut self, entry: Entry) -> bool {
        let Some(room) = self.room.checked_sub(size_of::<Entry>()) else {
            self.lost += 1;
            return false;
        };
        self.room = room;
        if self.entries.len() == self.entries.capacity() {
            grow(&mut self.entries, self.bytes_max as usize / size_of::<Entry>());
        }
        self.entries.push(entry);
        true
    }

    fn push_text(&mut self, at: VariablePosition, name: &'static str, value: &dyn fmt::Display) {
        // The entry goes first, so that the text gets what room is left behind it.
        let start = self.text.len() as u32;
        let span = |end: u32| u64::from(start) << 32 | u64::from(end);
        let VariablePosition { step, depth } = at;
        if !self.push(Entry { name, bits: span(start), step, depth, kind: Kind::Text }) {
            return;
        }
        let mut writer = Bounded { room: &mut self.room, text: &mut self.text };
        // An error says that the text was cut, or that its owner could not write it: either way the
        // rest is missing.
        let is_cut = write!(writer, "{value}").is_err();
        self.cut += u32::from(is_cut);
        let end = self.text.len() as u32;
        if let Some(entry) = self.entries.last_mut() {
            entry.bits = span(end);
            entry.kind = if is_cut { Kind::Cut } else { Kind::Text };
        }
    }

    fn value(&self, entry: &Entry) -> Option<Value> {
        let bits = entry.bits;
        let text = || {
            let span = (bits >> 32) as usize..(bits & u64::from(u32::MAX)) as usize;
            self.text.get(span).map(str::to_owned)
        };
        Some(match entry.kind {
            Kind::Bool => Value::Bool(bits != 0),
            Kind::Signed => Value::Signed(bits.cast_signed()),
            Kind::Unsigned => Value::Unsigned(bits),
            Kind::Float => Value::Float(f64::from_bits(bits)),
            Kind::Text => Value::Text(text()?),
            Kind::Cut => Value::Cut(text()?),
            Kind::Hidden => Value::Hidden,
            Kind::Group => return None,
        })
    }

    /// Every variable, in the order in which they were written.
    pub(crate) fn each(&self) -> impl Iterator<Item = Variable> {
        let mut whole: Vec<&'static str> = Vec::new();
        self.entries.iter().filter_map(move |entry| {
            whole.truncate(usize::from(entry.depth));
            let Some(value) = self.value(entry) else {
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

/// The position of a variable.
#[derive(Clone, Copy)]
struct VariablePosition {
    step: u32,
    depth: u16,
}

/// Writes variables into a record, at one step.
pub struct Fields<'a> {
    variables: &'a mut Variables,
    at: VariablePosition,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(variables: &'a mut Variables, step: u32) -> Fields<'a> {
        Fields { variables, at: VariablePosition { step, depth: 0 } }
    }

    #[inline]
    fn push(&mut self, name: &'static str, kind: Kind, bits: u64) -> bool {
        let VariablePosition { step, depth } = self.at;
        self.variables.push(Entry { name, bits, step, depth, kind })
    }

    /// Writes yes or no.
    #[inline]
    pub fn bool(&mut self, name: &'static str, value: bool) {
        self.push(name, Kind::Bool, u64::from(value));
    }

    /// Writes a whole number.
    #[inline]
    pub fn signed(&mut self, name: &'static str, value: i64) {
        self.push(name, Kind::Signed, value.cast_unsigned());
    }

    /// Writes a whole number that is not negative.
    #[inline]
    pub fn unsigned(&mut self, name: &'static str, value: u64) {
        self.push(name, Kind::Unsigned, value);
    }

    /// Writes a number with a fraction.
    #[inline]
    pub fn float(&mut self, name: &'static str, value: f64) {
        self.push(name, Kind::Float, value.to_bits());
    }

    /// Writes a text.
    pub fn text(&mut self, name: &'static str, value: &str) {
        self.variables.push_text(self.at, name, &value);
    }

    /// Writes the text form of a value.
    pub fn display(&mut self, name: &'static str, value: &dyn fmt::Display) {
        self.variables.push_text(self.at, name, value);
    }

    /// Writes the debug form of a value.
    pub fn debug(&mut self, name: &'static str, value: &dyn fmt::Debug) {
        self.variables.push_text(self.at, name, &format_args!("{value:?}"));
    }

    /// Writes the name of a secret without its value.
    #[inline]
    pub fn hidden(&mut self, name: &'static str) {
        self.push(name, Kind::Hidden, 0);
    }

    /// Writes the parts of a value under its name.
    pub fn group(&mut self, name: &'static str, write: impl FnOnce(&mut Fields<'_>)) {
        // Parts without their whole would pass for variables of the record.
        if !self.push(name, Kind::Group, 0) {
            return;
        }
        let VariablePosition { step, depth } = self.at;
        let at = VariablePosition { step, depth: depth.saturating_add(1) };
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
    pub(crate) room: &'a mut usize,
}

impl fmt::Write for Bounded<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut fits = text.len().min(*self.room);
        while !text.is_char_boundary(fits) {
            fits -= 1;
        }
        let needed = self.text.len() + fits;
        if needed > self.text.capacity() {
            // Doubling, but never beyond what may come, so that memory keeps to its bound too.
            let wanted = needed.max(self.text.capacity() * 2).min(self.text.len() + *self.room);
            self.text.reserve_exact(wanted - self.text.len());
        }
        self.text.push_str(&text[..fits]);
        *self.room -= fits;
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
