//! Times in statements: RFC 3339 in UTC, to the nanosecond.

use rialto_model::Timestamp;

/// The time, such as `2026-05-02T02:36:23.201000000Z`.
pub(crate) fn show(time: Timestamp) -> String {
    format!("{:.9}", moment(time))
}

/// The day of a time, such as `2026-05-02`.
pub(crate) fn day(time: Timestamp) -> String {
    show(time)[..10].to_owned()
}

fn moment(time: Timestamp) -> jiff::Timestamp {
    let time = jiff::Timestamp::from_nanosecond(time.0.into());
    time.expect("64 bits of nanoseconds end in the year 2554, long before jiff's 9999")
}
