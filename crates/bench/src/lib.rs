//! Benchmark suites, workloads, reference figures and the report.
