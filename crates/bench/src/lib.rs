//! Benchmark suites, workloads, reference figures and the report.

pub mod digest;
pub mod workload;
