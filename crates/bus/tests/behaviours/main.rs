//! Each behaviour shows its effect through a bus, the static one and the dynamic one.

mod authorisation;
mod concurrency;
mod counters;
mod order;
mod poll;
mod validation;
