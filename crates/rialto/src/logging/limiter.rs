//! How many lines each place in the code may log.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tracing::Metadata;
use tracing::callsite::Identifier;

/// Lines of one call site in a window.
pub(super) const LINES_MAX: u32 = 20;
/// The length of a window. It begins with the first line of a call site.
pub(super) const WINDOW: Duration = Duration::from_secs(10);

/// Counts lines by call site. There are as many call sites as the program has, so that the table is
/// bounded whatever callers do.
#[derive(Default)]
pub(super) struct Limiter {
    sites: Mutex<HashMap<Identifier, Site>>,
}

/// One call site in its current window.
struct Site {
    metadata: &'static Metadata<'static>,
    began: Instant,
    passed: u32,
    left_out: u64,
}

impl Limiter {
    /// Whether one more line may pass now.
    pub(super) fn admits(&self, metadata: &'static Metadata<'static>, now: Instant) -> bool {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Site { metadata, began: now, passed: 0, left_out: 0 };
        let site = sites.entry(metadata.callsite()).or_insert_with(new);
        // A window with suppressed lines ends in `ended`, with their number.
        if site.left_out == 0 && now.saturating_duration_since(site.began) >= WINDOW {
            *site = new();
        }
        if site.passed < LINES_MAX {
            site.passed += 1;
            return true;
        }
        site.left_out += 1;
        false
    }

    /// The call sites with suppressed lines in an ended window, and their numbers. Where
    /// `all`, every window ends now.
    pub(super) fn ended(&self, now: Instant, all: bool) -> Vec<(&'static Metadata<'static>, u64)> {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ended = Vec::new();
        for site in sites.values_mut() {
            let has_ended = all || now.saturating_duration_since(site.began) >= WINDOW;
            if site.left_out > 0 && has_ended {
                ended.push((site.metadata, site.left_out));
                (site.began, site.passed, site.left_out) = (now, 0, 0);
            }
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The metadata of an event that is emitted nowhere.
    fn metadata() -> &'static Metadata<'static> {
        use tracing::callsite::{Callsite, DefaultCallsite};
        use tracing::field::FieldSet;
        static SITE: DefaultCallsite = DefaultCallsite::new(&METADATA);
        static METADATA: Metadata<'static> = Metadata::new(
            "event",
            "rialto::test",
            tracing::Level::INFO,
            Some("here.rs"),
            Some(1),
            None,
            FieldSet::new(&[], Identifier(&SITE)),
            tracing::metadata::Kind::EVENT,
        );
        SITE.metadata()
    }

    #[test]
    fn a_flood_is_cut_and_counted_until_the_next_window() {
        let (limiter, begin) = (Limiter::default(), Instant::now());
        let passed = (0..100).filter(|_| limiter.admits(metadata(), begin)).count();
        assert_eq!(passed, LINES_MAX as usize);
        assert!(limiter.ended(begin + WINDOW / 2, false).is_empty(), "the window has not ended");
        assert!(!limiter.admits(metadata(), begin + WINDOW), "the 80 are not reported yet");
        let ended = limiter.ended(begin + WINDOW, false);
        assert_eq!(ended.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [81]);
        assert!(limiter.ended(begin + WINDOW * 2, true).is_empty(), "they were reported once");
        assert!(limiter.admits(metadata(), begin + WINDOW * 2));
    }
}
