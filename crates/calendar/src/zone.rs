//! A time zone, and when its clocks show a local time.

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use rialto_clock::Timestamp;

/// A time zone of the bundled database. The machine's own is never read: the same binary gives the
/// same times everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Zone {
    name: String,
    rules: TimeZone,
}

impl Zone {
    /// The zone of that name, or the names that are like it.
    pub(crate) fn named(name: &str) -> Result<Zone, Vec<String>> {
        let database = TimeZoneDatabase::bundled();
        // The database ignores case; a name has one spelling.
        let exact = database.available().find(|it| it.as_str().eq_ignore_ascii_case(name));
        if let Some(exact) = exact {
            let exact = exact.as_str().to_owned();
            let rules = (exact == name).then(|| database.get(&exact).ok()).flatten();
            return rules.map(|rules| Zone { name: exact.clone(), rules }).ok_or(vec![exact]);
        }
        let city = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
        let alike = database.available().map(|it| it.as_str().to_owned()).filter(|it| {
            let known = it.rsplit('/').next().unwrap_or(it).to_ascii_lowercase();
            city.len() > 2 && (known.starts_with(&city) || city.starts_with(&known))
        });
        Err(alike.take(3).collect())
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The first instant at which the clocks show `local` or a later time.
    ///
    /// Where clocks go forward over `local`, that is the instant of the change. Where they go back
    /// and show it twice, it is the first of the two. `None` if it cannot be stored.
    pub(crate) fn first_instant(&self, local: DateTime) -> Option<Timestamp> {
        let ambiguous = self.rules.to_ambiguous_timestamp(local);
        let instant = match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(local).ok()?,
            AmbiguousOffset::Fold { before, .. } => before.to_timestamp(local).ok()?,
            AmbiguousOffset::Gap { after, .. } => {
                // Read with the offset after the change, the local time is before the change.
                let earlier = after.to_timestamp(local).ok()?;
                let mut changes = self.rules.following(earlier);
                changes.find(|change| change.offset() == after)?.timestamp()
            }
        };
        u64::try_from(instant.as_nanosecond()).ok().map(Timestamp)
    }

    /// What the clocks show at `time`.
    pub(crate) fn local(&self, time: Timestamp) -> DateTime {
        // Every stored time is before the year 2555.
        let time = jiff::Timestamp::from_nanosecond(time.0.into()).unwrap_or(jiff::Timestamp::MAX);
        self.rules.to_datetime(time)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn instant(zone: &str, local: &str) -> String {
        let zone = Zone::named(zone).unwrap();
        let time = zone.first_instant(local.parse().unwrap()).unwrap();
        jiff::Timestamp::from_nanosecond(time.0.into()).unwrap().to_string()
    }

    #[test]
    fn a_skipped_time_is_the_instant_of_the_change() {
        for local in ["02:00:00", "02:00:01", "02:30:00", "02:59:59", "03:00:00"] {
            let local = format!("2026-03-29T{local}");
            assert_eq!(instant("Europe/Berlin", &local), "2026-03-29T01:00:00Z");
        }
        assert_eq!(instant("Europe/Berlin", "2026-03-29T01:59:59"), "2026-03-29T00:59:59Z");
        for local in ["02:00:00", "02:30:00", "03:00:00"] {
            let local = format!("2026-03-08T{local}");
            assert_eq!(instant("America/New_York", &local), "2026-03-08T07:00:00Z");
        }
        // Half an hour is skipped, and after the last year that the database lists.
        assert_eq!(instant("Australia/Lord_Howe", "2051-10-01T02:15"), "2051-09-30T15:30:00Z");
        assert_eq!(instant("Australia/Lord_Howe", "2051-10-01T02:45"), "2051-09-30T15:45:00Z");
    }

    #[test]
    fn of_two_times_the_earlier_is_taken() {
        for (local, utc) in [
            ("01:59:59", "2026-10-24T23:59:59Z"),
            ("02:00:00", "2026-10-25T00:00:00Z"),
            ("02:59:59", "2026-10-25T00:59:59Z"),
            ("03:00:00", "2026-10-25T02:00:00Z"),
        ] {
            assert_eq!(instant("Europe/Berlin", &format!("2026-10-25T{local}")), utc);
        }
        for (local, utc) in [
            ("01:00:00", "2026-11-01T05:00:00Z"),
            ("01:59:59", "2026-11-01T05:59:59Z"),
            ("02:00:00", "2026-11-01T07:00:00Z"),
        ] {
            assert_eq!(instant("America/New_York", &format!("2026-11-01T{local}")), utc);
        }
    }

    #[test]
    fn a_date_that_a_zone_skipped_begins_at_the_change() {
        // Samoa had no 30 December 2011.
        assert_eq!(instant("Pacific/Apia", "2011-12-30T12:00:00"), "2011-12-30T10:00:00Z");
    }

    #[test]
    fn an_unknown_zone_gets_names_that_are_like_it() {
        assert_eq!(Zone::named("Europe/Shanghai").unwrap_err(), ["Asia/Shanghai"]);
        assert_eq!(Zone::named("europe/berlin").unwrap_err(), ["Europe/Berlin"]);
        assert!(Zone::named("").unwrap_err().is_empty());
    }
}
