//! The files of a watch that are imported when they have settled: a bounded number.

use super::folder::Stamp;
use super::mark::Mark;
use crate::name::{Directory, FileName, TenantName};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::CString;
use std::sync::Arc;
use std::time::Instant;

/// A directory of a watched folder, and where its files go.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Its path in the folder, part by part; empty for the folder itself.
    pub(super) parts: Vec<CString>,
    /// The same as text.
    pub(super) path: String,
    /// `None` beside the folders of tenants.
    pub(super) tenant: Option<TenantName>,
    pub(super) directory: Directory,
}

impl Place {
    /// The path in the folder of a name in this directory.
    pub(super) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }
}

/// A file that was seen in a state, and is imported if it is still in that state at a time.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) place: Arc<Place>,
    pub(super) tenant: TenantName,
    pub(super) name: FileName,
    pub(super) stamp: Stamp,
    pub(super) mark: Mark,
    /// Whether it was imported already, so that only its source is to be removed.
    pub(super) is_imported: bool,
    pub(super) due: Instant,
}

/// What became of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    Taken,
    /// It was a candidate already.
    Known,
    /// There is no room.
    Full,
    /// The tenant has its share of the room.
    TenantFull,
}

/// The candidates of a watch.
#[derive(Debug)]
pub(super) struct Candidates {
    by_due: BTreeMap<(Instant, u64), Candidate>,
    paths: HashSet<String>,
    by_tenant: HashMap<TenantName, usize>,
    next: u64,
    max: usize,
    /// The most of one tenant.
    share: usize,
    largest: usize,
}

impl Candidates {
    pub(super) fn new(max: usize, has_many_tenants: bool) -> Self {
        let max = max.max(1);
        Self {
            by_due: BTreeMap::new(),
            paths: HashSet::new(),
            by_tenant: HashMap::new(),
            next: 0,
            max,
            // A tenant with a full folder leaves room for the others.
            share: if has_many_tenants { max.div_ceil(16) } else { max },
            largest: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.by_due.len()
    }

    pub(super) fn largest(&self) -> usize {
        self.largest
    }

    /// Whether there is room for files that may take a while.
    pub(super) fn is_half_full(&self) -> bool {
        self.by_due.len() >= self.max.div_ceil(2)
    }

    pub(super) fn is_full(&self) -> bool {
        self.by_due.len() >= self.max
    }

    pub(super) fn offer(&mut self, candidate: Candidate) -> Offered {
        let path = candidate.place.path_of(candidate.name.as_str());
        if self.paths.contains(&path) {
            return Offered::Known;
        }
        if self.is_full() {
            return Offered::Full;
        }
        let of_tenant = self.by_tenant.entry(candidate.tenant.clone()).or_default();
        if *of_tenant >= self.share {
            return Offered::TenantFull;
        }
        *of_tenant += 1;
        self.paths.insert(path);
        self.next += 1;
        self.by_due.insert((candidate.due, self.next), candidate);
        self.largest = self.largest.max(self.by_due.len());
        Offered::Taken
    }

    /// Candidates whose time has come, at most `max`.
    pub(super) fn take_ripe(&mut self, now: Instant, max: usize) -> Vec<Candidate> {
        let mut ripe = Vec::new();
        while ripe.len() < max {
            let Some(first) = self.by_due.first_entry().filter(|first| first.key().0 <= now) else {
                break;
            };
            let candidate = first.remove();
            self.paths.remove(&candidate.place.path_of(candidate.name.as_str()));
            if let Some(of_tenant) = self.by_tenant.get_mut(&candidate.tenant) {
                *of_tenant -= 1;
                if *of_tenant == 0 {
                    self.by_tenant.remove(&candidate.tenant);
                }
            }
            ripe.push(candidate);
        }
        ripe
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.by_due.first_key_value().map(|((due, _), _)| *due)
    }

    pub(super) fn clear(&mut self) {
        self.by_due.clear();
        self.paths.clear();
        self.by_tenant.clear();
    }
}
