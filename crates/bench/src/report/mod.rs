//! Reports in four forms: JSON lines, a table for the terminal, an HTML page with plots, and
//! Markdown pages.

pub mod figure;
mod html;
pub mod json;
mod machine;
pub mod markdown;
mod plot;
mod row;
mod scale;
mod table;
mod unit;

pub use html::page;
pub use machine::Machine;
pub use row::{Case, Reference, Risk, Row, Target, Transport};
pub use table::table;
pub use unit::{Better, Unit};
