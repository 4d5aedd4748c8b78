//! Benchmark suites, figures of other systems, and reports.
//!
//! [`run`] runs suites and prints their figures beside those of other systems at the same work. The
//! rules: every result is verified inside the benchmark; every arm has fresh data; every row has
//! its durability level, risk setting and transport; latency counts from the scheduled arrival; and
//! a misleading figure of another system has a caveat.
//!
//! ```
//! use rialto_bench::{Options, Size, run_with};
//!
//! let options = Options {
//!     suites: vec!["match".into()],
//!     json: true,
//!     report: None,
//!     markdown: None,
//!     size: Size::Small,
//!     data_dir: std::env::temp_dir(),
//!     attacker: None,
//! };
//! let mut lines = Vec::new();
//! let summary = run_with(&options, &mut lines, &mut |_progress| {})?;
//! assert!(summary.is_all_met(), "a small run has no targets to miss");
//! assert!(lines.starts_with(b"{"));
//! # Ok::<(), rialto_bench::BenchError>(())
//! ```
//!
//! To add a suite, describe it as a [`suite::Suite`] and list it in [`suite::all`]. The order flows
//! are in [`rialto_workload`], measuring instruments in [`measure`], rows and plots in [`report`],
//! and figures of other systems in [`references`].

pub mod attack;
mod calls;
mod drive;
mod error;
mod measure;
mod references;
mod report;
mod run;
mod suite;
mod suites;
mod websocket;

pub use error::BenchError;
pub use run::{Options, Summary, list, run, run_with};
pub use suite::Size;
