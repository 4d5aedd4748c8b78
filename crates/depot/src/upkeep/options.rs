//! The settings of upkeep.

use crate::DepotError;
use std::time::Duration;

/// What becomes of a dead letter that nobody redrove in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailedDisposition {
    /// It stays a dead letter, until it is redriven or deleted.
    #[default]
    Keep,
    /// It is deleted.
    Delete,
    /// It is kept on the shelf `dead-letter`, below which its directory is repeated.
    Shelve,
}

/// The settings of what a pool does in the background with the bytes of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpkeepOptions {
    /// The time between two probes of the volumes: 100 ms to one hour.
    pub probe_period: Duration,
    /// The time between two searches for bytes without a record, from the end of one to the
    /// beginning of the next: one second to 365 days. The first begins a minute after the opening at
    /// the latest.
    pub orphan_period: Duration,
    /// Bytes without a record are left alone until they were not written for this long: at most 365
    /// days.
    pub orphan_age_min: Duration,
    /// How many bytes a second are read to check stored files; 0 checks none.
    pub scrub_bytes_per_second: u64,
    /// An inline file that waits for longer moves to a volume; at most 365 days, and zero moves none.
    pub inline_wait_max: Duration,
    /// How long a completed file stays readable; at most 3,650 days, and zero is not at all.
    pub completed_retention: Duration,
    /// How long a dead letter stays one, before the disposition applies: at most 3,650 days.
    pub failed_retention: Duration,
    /// What becomes of dead letters after that time.
    pub failed_disposition: FailedDisposition,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Default for UpkeepOptions {
    fn default() -> Self {
        Self {
            probe_period: Duration::from_secs(5),
            orphan_period: Duration::from_secs(60 * 60),
            orphan_age_min: Duration::from_secs(60 * 60),
            scrub_bytes_per_second: 8 << 20,
            inline_wait_max: Duration::from_secs(60 * 60),
            completed_retention: Duration::ZERO,
            failed_retention: 3 * DAY,
            failed_disposition: FailedDisposition::Keep,
        }
    }
}

impl UpkeepOptions {
    pub(crate) fn check(&self) -> Result<(), DepotError> {
        let range = |field, value: Duration, min: Duration, max: Duration| {
            if (min..=max).contains(&value) {
                return Ok(());
            }
            Err(DepotError::invalid(field, format!("use {min:?} to {max:?}, not {value:?}")))
        };
        let (zero, year) = (Duration::ZERO, 365 * DAY);
        range("probe_period", self.probe_period, Duration::from_millis(100), DAY / 24)?;
        range("orphan_period", self.orphan_period, Duration::from_secs(1), year)?;
        range("orphan_age_min", self.orphan_age_min, zero, year)?;
        range("inline_wait_max", self.inline_wait_max, zero, year)?;
        range("completed_retention", self.completed_retention, zero, 10 * year)?;
        range("failed_retention", self.failed_retention, zero, 10 * year)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_out_of_their_range_are_refused_by_name() {
        UpkeepOptions::default().check().unwrap();
        let refused = |options: UpkeepOptions| options.check().unwrap_err().to_string();
        let default = UpkeepOptions::default;
        let probe_period = Duration::from_millis(99);
        assert_eq!(
            refused(UpkeepOptions { probe_period, ..default() }),
            "probe_period: use 100ms to 3600s, not 99ms"
        );
        let orphan_period = Duration::ZERO;
        let text = refused(UpkeepOptions { orphan_period, ..default() });
        assert!(text.starts_with("orphan_period"), "{text}");
        let long = 3_651 * DAY;
        for (options, field) in [
            (UpkeepOptions { orphan_age_min: long, ..default() }, "orphan_age_min"),
            (UpkeepOptions { inline_wait_max: long, ..default() }, "inline_wait_max"),
            (UpkeepOptions { completed_retention: long, ..default() }, "completed_retention"),
            (UpkeepOptions { failed_retention: long, ..default() }, "failed_retention"),
        ] {
            let text = refused(options);
            assert!(text.starts_with(field), "{text}");
        }
    }
}
