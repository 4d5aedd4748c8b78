//! JSON in and out.

mod fault;
mod out;
mod text;

pub(crate) use fault::read;
pub(crate) use out::JsonOut;
pub(crate) use text::Str;
