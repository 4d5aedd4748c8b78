//! What the suites found, in four forms: JSON lines for programs, a table for the terminal, a page
//! with plots for the browser, and sections of a Markdown page.

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
