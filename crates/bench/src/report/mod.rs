//! Reports in four forms: JSON lines, a table for the terminal, an HTML page with plots, and
//! Markdown pages.

pub(crate) mod figure;
mod html;
pub(crate) mod json;
mod machine;
pub(crate) mod markdown;
mod plot;
mod row;
mod scale;
mod table;
mod unit;

pub(crate) use html::page;
pub(crate) use machine::Machine;
pub(crate) use row::{Case, Reference, Risk, Row, Transport};
pub(crate) use table::table;
pub(crate) use unit::Unit;
