//! JSON in and out.

pub(crate) mod base64;
mod fault;
mod out;
mod size;
mod text;

pub(crate) use fault::{read, read_lines, read_list};
pub(crate) use out::JsonOut;
pub(crate) use size::SizeMax;
pub(crate) use text::Str;
