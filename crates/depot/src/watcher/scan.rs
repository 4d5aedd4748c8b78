//! A scan of a folder: it decides which files are imported, and when.

use super::candidates::{Candidate, Offered, Place};
use super::folder::{self, Entry, Identity, Stamp};
use super::mark::Mark;
use super::running::{Scanning, Watch};
use super::spec::{AfterImport, WatchTenants};
use super::status::ScanReport;
use super::walk::Next;
use crate::DepotError;
use crate::history::record::{Record, Stage};
use crate::name::{FileName, TenantName};
use crate::pool::Pool;
use std::collections::HashSet;
use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The reason that a scan ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// The folder or the pool fails.
    Failed(String),
    /// The pool is being closed, or the watch was disabled or removed.
    Ended,
}

/// The folder that imported files are moved to.
pub(super) type MoveTarget = (OwnedFd, Identity);

/// A scan, or a part of one.
pub(super) struct Scan<'s> {
    pub(super) pool: &'s Arc<Pool>,
    pub(super) watch: &'s Watch,
    pub(super) scanning: &'s mut Scanning,
    pub(super) root: OwnedFd,
    pub(super) move_to: Option<MoveTarget>,
    pub(super) report: ScanReport,
    /// Files that wait outside the candidates.
    pub(super) waiting: u64,
    /// Whether a part of the folder could not be read.
    has_gaps: bool,
    /// The marks that were met, if imports are to be forgotten behind the scan.
    seen: Option<HashSet<u128>>,
}

/// What a scan looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The whole folder. `retries` says whether files that did not fit into a quota are tried again.
    All { retries: bool },
    /// These paths in it.
    Paths(Vec<PathBuf>),
    /// The candidates whose time has come.
    Candidates,
}

/// Scans, and shows the result.
pub(super) fn run(pool: &Arc<Pool>, watch: &Watch, extent: &Extent) -> Result<ScanReport, Stop> {
    // Waits for a scan that is under way.
    let mut scanning = watch.scanning();
    let result = Scan::begin(pool, watch, &mut scanning).and_then(|mut scan| {
        scan.run(extent)?;
        Ok((scan.report, scan.waiting))
    });
    let mut shown = watch.shown();
    let result = match result {
        Ok((mut report, waiting)) => {
            if matches!(extent, Extent::All { .. }) {
                scanning.waiting = waiting;
            }
            report.pending = scanning.waiting + scanning.candidates.len() as u64;
            shown.failure = None;
            if matches!(extent, Extent::All { .. }) {
                shown.last_scan = Some(pool.now());
                shown.last_report = report.clone();
            }
            Ok(report)
        }
        Err(Stop::Failed(why)) => {
            if shown.failure.as_ref() != Some(&why) {
                tracing::warn!(watch = %watch.spec.name, "a watched folder fails: {why}");
            }
            // What was seen may be gone; the next scan looks again.
            scanning.candidates.clear();
            shown.last_error = Some((pool.now(), why.clone()));
            shown.failure = Some(why.clone());
            Err(Stop::Failed(why))
        }
        Err(Stop::Ended) => Err(Stop::Ended),
    };
    shown.candidates = scanning.candidates.len();
    shown.candidates_largest = scanning.candidates.largest();
    shown.waiting = scanning.waiting;
    result
}

impl<'s> Scan<'s> {
    fn begin(
        pool: &'s Arc<Pool>,
        watch: &'s Watch,
        scanning: &'s mut Scanning,
    ) -> Result<Self, Stop> {
        let folder = &watch.spec.folder;
        let failed = |folder: &Path, error: io::Error| {
            Stop::Failed(format!("the folder {folder:?} cannot be read: {error}"))
        };
        let root = folder::open_folder(folder).map_err(|error| failed(folder, error))?;
        let identity = identity_of(&root).map_err(|error| failed(folder, error))?;
        pool.check_watched(&watch.spec).map_err(|error| Stop::Failed(error.to_string()))?;
        let mut move_to = None;
        if let AfterImport::Move(to) = &watch.spec.after {
            let fd = folder::open_folder(to).map_err(|error| failed(to, error))?;
            let target = identity_of(&fd).map_err(|error| failed(to, error))?;
            if target.device != identity.device {
                return Err(Stop::Failed(format!(
                    "files cannot be moved from {folder:?} to {to:?}, which is on another file \
                     system; choose a folder on the same one"
                )));
            }
            if target == identity {
                return Err(Stop::Failed(format!("{to:?} is the watched folder itself")));
            }
            move_to = Some((fd, target));
        }
        watch.shown().folder = Some(identity);
        let report = ScanReport { is_complete: true, ..ScanReport::default() };
        let (waiting, has_gaps, seen) = (0, false, None);
        Ok(Self { pool, watch, scanning, root, move_to, report, waiting, has_gaps, seen })
    }

    fn run(&mut self, extent: &Extent) -> Result<(), Stop> {
        self.check_active()?;
        if let WatchTenants::One(tenant) = &self.watch.spec.tenants
            && !self.admits(tenant, "")
        {
            self.scanning.candidates.clear();
            return Ok(());
        }
        self.import_ripe()?;
        match extent {
            Extent::All { retries } => {
                if *retries {
                    self.scanning.pauses.clear();
                    self.scanning.resting.clear();
                }
                let (of_watch, of_all) = self.remembered()?;
                // Nothing is forgotten before it must be: a folder whose file system is not mounted
                // looks empty.
                if of_watch > 0 && of_all >= self.pool.options.watcher.remembered_max / 2 {
                    self.seen = Some(HashSet::new());
                }
                self.walk_all()?;
            }
            Extent::Paths(paths) => {
                for path in paths {
                    self.look_at(path)?;
                }
            }
            Extent::Candidates => {}
        }
        self.import_ripe()?;
        self.forget_unseen()
    }

    /// Forgets imports whose sources are gone, behind a scan of the whole folder.
    fn forget_unseen(&mut self) -> Result<(), Stop> {
        let Some(seen) = self.seen.take() else {
            return Ok(());
        };
        // Not one is there: this may be another folder.
        if self.report.kept == 0 || !self.report.is_complete || self.has_gaps {
            return Ok(());
        }
        let name = &self.watch.spec.name;
        let forgotten = self.pool.history.read(|state| state.watches.marks_outside(name, &seen));
        let forgotten = forgotten.map_err(|error| Stop::Failed(error.to_string()))?;
        self.record_marks(&forgotten, |watch, marks| Record::ImportsForgotten { watch, marks })
    }

    /// The remembered imports of this watch, and of all.
    pub(super) fn remembered(&self) -> Result<(usize, usize), Stop> {
        let name = &self.watch.spec.name;
        let counted = self.pool.history.read(|state| state.watches.marks_of(name));
        counted.map_err(|error| Stop::Failed(error.to_string()))
    }

    pub(super) fn check_active(&self) -> Result<(), Stop> {
        let is_stopping = self.pool.watches.is_stopping.load(Ordering::Acquire)
            || self.pool.is_closed.load(Ordering::Acquire);
        if is_stopping || !self.watch.is_active() { Err(Stop::Ended) } else { Ok(()) }
    }

    pub(super) fn broken(&self, error: &io::Error) -> Stop {
        Stop::Failed(format!("the folder {:?} cannot be read: {error}", self.watch.spec.folder))
    }

    /// A directory or a file in the folder cannot be read; the others go on.
    pub(super) fn unreadable(&mut self, path: &str, error: &io::Error) {
        self.has_gaps = true;
        self.note_failed(&format!("{path:?} cannot be read: {error}"));
    }

    pub(super) fn note_failed(&mut self, why: &str) {
        self.report.failed += 1;
        if self.scanning.is_news(why) {
            tracing::info!(watch = %self.watch.spec.name, "a file of a watched folder fails: {why}");
        }
        let mut shown = self.watch.shown();
        shown.failed += 1;
        shown.last_error = Some((self.pool.now(), why.to_owned()));
    }

    /// Counts a name that the pool does not accept, and reports it once.
    pub(super) fn refuse_name(&mut self, path: &str, why: &str) {
        self.report.skipped += 1;
        self.report.refused_names += 1;
        if self.scanning.is_news(path) {
            tracing::info!(watch = %self.watch.spec.name, "{path:?} is not imported: {why}");
        }
    }

    fn pause(&mut self, why: String) {
        self.report.paused.get_or_insert(why);
    }

    /// A file waits outside the candidates.
    pub(super) fn wait_for(&mut self, why: String) {
        self.waiting += 1;
        self.pause(why);
    }

    /// Whether files of a tenant may be imported now.
    pub(super) fn admits(&mut self, tenant: &TenantName, path: &str) -> bool {
        let creates = match self.watch.spec.tenants {
            WatchTenants::One(_) => self.pool.options.create_tenants,
            WatchTenants::FirstLevel { create } => create,
        };
        match self.pool.find_tenant(tenant.as_str()).map(|tenant| tenant.stage()) {
            Some(Stage::Enabled) => true,
            None if creates => true,
            Some(stage) => {
                self.pause(format!("the tenant {tenant:?} is {}", stage.word()));
                false
            }
            None => {
                self.report.skipped += 1;
                let why = format!("there is no tenant {tenant:?}; create it first");
                if self.scanning.is_news(path) {
                    tracing::info!(watch = %self.watch.spec.name, "files stay: {why}");
                }
                self.pause(why);
                false
            }
        }
    }

    /// Offers a file as a candidate.
    pub(super) fn consider(
        &mut self,
        place: &Arc<Place>,
        name: &CStr,
        stamp: &Stamp,
    ) -> Result<Next, Stop> {
        let Some(tenant) = place.tenant.clone() else { return Ok(Next::On) };
        let name = match name.to_str().map(FileName::new) {
            Ok(Ok(name)) => name,
            Ok(Err(error)) => {
                let path = place.path_of(&name.to_string_lossy());
                self.refuse_name(&path, &error.to_string());
                return Ok(Next::On);
            }
            Err(_) => {
                self.refuse_name(&place.path_of(&name.to_string_lossy()), "it is not UTF-8");
                return Ok(Next::On);
            }
        };
        let path = place.path_of(name.as_str());
        if !self.watch.spec.selects(&path) || !self.watch.spec.has_size(stamp.bytes) {
            self.report.skipped += 1;
            return Ok(Next::On);
        }
        let mark = Mark::of(&self.watch.spec.name, &path, stamp);
        let is_imported = self.has_mark(mark)?;
        let rests = self.scanning.resting.contains(&mark);
        if is_imported {
            self.report.kept += 1;
            if let Some(seen) = &mut self.seen {
                seen.insert(mark.0);
            }
            if rests || self.watch.spec.after == AfterImport::Keep {
                return Ok(Next::On);
            }
        }
        if rests {
            self.waiting += 1;
            return Ok(Next::On);
        }
        let now = self.pool.options.clock.monotonic();
        let mut due = now;
        if !is_imported {
            if let Some(why) = self.scanning.pauses.reason(&tenant, &place.directory, stamp.bytes) {
                let why = why.to_owned();
                self.wait_for(why);
                return Ok(Next::On);
            }
            let missing = self.missing_age(stamp);
            let is_long = missing > self.pool.options.watcher.period;
            if is_long || !missing.is_zero() && self.scanning.candidates.is_half_full() {
                self.waiting += 1;
                return Ok(Next::On);
            }
            due = now + missing.max(self.pool.options.watcher.settle);
        }
        let place = place.clone();
        let candidate = Candidate { place, tenant, name, stamp: *stamp, mark, is_imported, due };
        let mut offered = self.scanning.candidates.offer(candidate.clone());
        if matches!(offered, Offered::Full | Offered::TenantFull) {
            self.import_ripe()?;
            offered = self.scanning.candidates.offer(candidate);
        }
        if let Some(seen) = &mut self.seen
            && matches!(offered, Offered::Taken | Offered::Known)
        {
            seen.insert(mark.0);
        }
        Ok(match offered {
            Offered::Taken | Offered::Known => Next::On,
            Offered::Full => Next::End,
            Offered::TenantFull => Next::LeaveTenant,
        })
    }

    fn has_mark(&self, mark: Mark) -> Result<bool, Stop> {
        let name = &self.watch.spec.name;
        let known = self.pool.history.read(|state| state.watches.has_mark(name, mark.0));
        known.map_err(|error| Stop::Failed(error.to_string()))
    }

    /// How much younger than the minimum age a file is. A modification time in the future, which a
    /// client can set, is not used: the time of change, which the system sets, is.
    fn missing_age(&self, stamp: &Stamp) -> Duration {
        let now = i64::try_from(self.pool.now().0).unwrap_or(i64::MAX);
        let modified = if stamp.modified_ns > now { stamp.changed_ns } else { stamp.modified_ns };
        let age = u64::try_from(now.saturating_sub(modified)).unwrap_or(0);
        self.watch.spec.age_min.saturating_sub(Duration::from_nanos(age))
    }

    /// Handles what a removal that was interrupted left: a source under a name of ours.
    pub(super) fn recover(
        &mut self,
        dir: &OwnedFd,
        place: &Arc<Place>,
        (name, original): (&CStr, &CStr),
        stamp: &Stamp,
    ) {
        let Ok(text) = original.to_str() else { return };
        let mark = Mark::of(&self.watch.spec.name, &place.path_of(text), stamp);
        let is_imported = match self.was_accepted(place, mark) {
            Ok(is_imported) => is_imported,
            Err(error) => return self.note_failed(&error.to_string()),
        };
        let ended = if is_imported {
            folder::delete(dir, name)
        } else {
            folder::rename((dir, name), (dir, original))
        };
        match ended {
            Ok(()) if is_imported => {
                self.report.repeats += 1;
                self.watch.shown().repeats += 1;
            }
            // The scan that the period or an event asks for finds it.
            Ok(()) => self.waiting += 1,
            Err(error) => {
                let path = place.path_of(&name.to_string_lossy());
                self.note_failed(&format!("{path:?} cannot be removed or renamed: {error}"));
            }
        }
    }

    /// Whether a file was accepted, durably, under the submit key of a mark.
    fn was_accepted(&self, place: &Place, mark: Mark) -> Result<bool, DepotError> {
        let found = place.tenant.as_ref().and_then(|it| self.pool.find_tenant(it.as_str()));
        let Some(tenant) = found else { return Ok(false) };
        self.pool.is_submitted_durably(&tenant, &mark.submit_key())
    }
}

/// The identity of an open directory.
fn identity_of(fd: &OwnedFd) -> io::Result<Identity> {
    match folder::entry_of_fd(fd)? {
        Entry::Directory(identity) => Ok(identity),
        Entry::File(_) | Entry::Other => Err(io::ErrorKind::NotADirectory.into()),
    }
}
