//! Benchmark suites, workloads, reference figures and the report.
//!
//! [`run`] runs suites and prints, for every figure, what the seeds and peers came to at the same
//! work. The rules: every result is verified inside the benchmark, every arm has fresh data, every
//! row says its durability level, risk setting and transport, latency counts from the scheduled
//! arrival, and a figure of others that cannot mean what it says carries the reason.
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
//! To add a suite, describe it as a [`suite::Suite`] and list it in [`suite::all`]. [`workload`] has the
//! order flows, [`measure`] the instruments, [`report`] the rows and plots, [`references`] the
//! figures of others.

mod allocations;
pub mod attack;
mod calls;
pub mod digest;
mod drive;
mod error;
pub mod measure;
pub mod references;
pub mod report;
mod run;
pub mod suite;
mod suites;
pub mod workload;

pub use allocations::{Allocated, CountingAllocator, allocated_by, allocations_of};
pub use error::{BenchError, verify};
pub use run::{Options, Summary, list, run, run_with};
pub use suite::Size;
