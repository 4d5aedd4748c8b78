//! What the suites found, in three forms: JSON lines for programs, a table for the terminal, a page
//! with plots for the browser.

pub mod figure;
mod html;
pub mod json;
mod machine;
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
