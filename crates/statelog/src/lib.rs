//! A state in memory that is folded from a log of its changes, with checkpoints.

#![deny(unsafe_code)]
