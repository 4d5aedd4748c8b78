//! Watches as operators see and change them.

use super::WATCHES_MAX;
use super::running::Watch;
use super::scan::{self, Extent, Stop};
use super::spec::{AfterImport, WatchSpec};
use super::status::{ScanReport, WatchState, WatchStatus};
use crate::active::SubmitStanding;
use crate::history::record::Record;
use crate::pool::Pool;
use crate::tenant::Tenant;
use crate::{Depot, DepotError};
use rialto_log::Level;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

impl Depot {
    /// Watches a folder: its files are imported, now and later, also after a restart. The folder need
    /// not exist yet.
    ///
    /// # Errors
    /// [`DepotError::Invalid`] if a setting is not valid, the folder holds the pool or overlaps the
    /// folder of another watch, or the pool is of the level `memory`; [`DepotError::WatchExists`],
    /// [`DepotError::TooMany`].
    pub fn add_watch(&self, spec: WatchSpec) -> Result<(), DepotError> {
        let watch = self.pool.add_watch(spec)?;
        if let Some(watching) = &self.watching {
            watching.start_one(&watch)?;
        }
        Ok(())
    }

    /// Ends a watch. Files that it has not imported stay, and it forgets which it imported.
    ///
    /// # Errors
    /// [`DepotError::UnknownWatch`].
    pub fn remove_watch(&self, name: &str) -> Result<(), DepotError> {
        let watch = self.pool.remove_watch(name)?;
        if let Some(watching) = &self.watching {
            watching.forget(&watch);
        }
        Ok(())
    }

    /// Enables a watch, and scans its folder soon.
    ///
    /// # Errors
    /// [`DepotError::UnknownWatch`].
    pub fn enable_watch(&self, name: &str) -> Result<(), DepotError> {
        self.pool.set_watch(name, true)
    }

    /// Disables a watch: its folder is left alone. A file that is being imported is finished.
    ///
    /// # Errors
    /// [`DepotError::UnknownWatch`].
    pub fn disable_watch(&self, name: &str) -> Result<(), DepotError> {
        self.pool.set_watch(name, false)
    }

    /// Scans the folder of a watch on this thread, after a scan that is under way. Files that have not
    /// settled are imported later, by the pool's thread or the next scan.
    ///
    /// # Errors
    /// [`DepotError::UnknownWatch`], [`DepotError::WatchFailed`]; [`DepotError::Invalid`] if the watch
    /// is disabled.
    pub fn scan_watch(&self, name: &str) -> Result<ScanReport, DepotError> {
        self.pool.scan_watch(name)
    }

    /// The watches, by name.
    #[must_use]
    pub fn watches(&self) -> Vec<WatchStatus> {
        self.pool.watches.all().iter().map(|watch| self.pool.watch_status(watch)).collect()
    }
}

impl Pool {
    fn watch(&self, name: &str) -> Result<Arc<Watch>, DepotError> {
        self.check_open()?;
        self.watches.find(name).ok_or_else(|| DepotError::UnknownWatch(name.to_owned()))
    }

    /// Makes the watches that the history has.
    pub(crate) fn make_watches(&self) -> Result<(), DepotError> {
        let options = &self.options.watcher;
        let watches: Vec<_> = self.history.read(|state| {
            let known = state.watches.all();
            known.map(|(spec, on)| Arc::new(Watch::new(spec.clone(), on, options))).collect()
        })?;
        watches.into_iter().for_each(|watch| self.watches.insert(watch));
        Ok(())
    }

    fn add_watch(&self, spec: WatchSpec) -> Result<Arc<Watch>, DepotError> {
        self.check_open()?;
        spec.check()?;
        if self.options.level == Level::Memory {
            let why = "a pool of the level `memory` cannot make files durable, so that no source \
                       could be removed; make a pool of another level";
            return Err(DepotError::invalid("level", why));
        }
        self.check_watched(&spec)?;
        let _changing = self.watches.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.history.record(|state| {
            if state.watches.get(&spec.name).is_some() {
                return Err(DepotError::WatchExists(spec.name.clone()));
            }
            let limit = WATCHES_MAX;
            if state.watches.len() >= limit {
                return Err(DepotError::TooMany { what: "watches", limit });
            }
            if let Some((other, _)) = state.watches.all().find(|(other, _)| other.overlaps(&spec)) {
                let why = format!(
                    "the watch {:?} imports files of {:?} already",
                    other.name, other.folder
                );
                return Err(DepotError::invalid("folder", why));
            }
            Ok(((), vec![Record::Watch { spec: spec.clone(), is_enabled: true }]))
        })?;
        let watch = Arc::new(Watch::new(spec, true, &self.options.watcher));
        self.watches.insert(watch.clone());
        Ok(watch)
    }

    /// Refuses a folder whose files are the pool's own.
    pub(super) fn check_watched(&self, spec: &WatchSpec) -> Result<(), DepotError> {
        // A folder that is not there has no files; it is checked again when it is scanned.
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut folders = vec![("folder", real(&spec.folder), spec.goes_below())];
        if let AfterImport::Move(to) = &spec.after {
            folders.push(("after", real(to), false));
        }
        let volumes = self.volumes.list().into_iter().map(|volume| volume.dir);
        let own: Vec<PathBuf> = std::iter::once(self.options.dir.clone())
            .chain(volumes)
            .map(|dir| real(&dir))
            .collect();
        for (field, folder, goes_below) in folders {
            let is_own =
                |own: &PathBuf| folder.starts_with(own) || goes_below && own.starts_with(&folder);
            if let Some(own) = own.iter().find(|own| is_own(own)) {
                let why = format!("{folder:?} and {own:?}, which is the pool's, overlap");
                return Err(DepotError::invalid(field, why));
            }
        }
        Ok(())
    }

    fn remove_watch(&self, name: &str) -> Result<Arc<Watch>, DepotError> {
        let watch = self.watch(name)?;
        let _changing = self.watches.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.history.record(|state| match state.watches.get(name) {
            Some(_) => Ok(((), vec![Record::WatchRemoved { name: name.to_owned() }])),
            None => Err(DepotError::UnknownWatch(name.to_owned())),
        })?;
        watch.is_removed.store(true, Ordering::Release);
        watch.signal.stop();
        self.watches.remove(name);
        Ok(watch)
    }

    fn set_watch(&self, name: &str, is_enabled: bool) -> Result<(), DepotError> {
        let watch = self.watch(name)?;
        let _changing = self.watches.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.history.record(|state| match state.watches.get(name) {
            Some((spec, _)) => Ok(((), vec![Record::Watch { spec: spec.clone(), is_enabled }])),
            None => Err(DepotError::UnknownWatch(name.to_owned())),
        })?;
        watch.is_enabled.store(is_enabled, Ordering::Release);
        if is_enabled {
            watch.signal.scan();
        }
        Ok(())
    }

    fn scan_watch(self: &Arc<Self>, name: &str) -> Result<ScanReport, DepotError> {
        let watch = self.watch(name)?;
        if !watch.is_enabled.load(Ordering::Acquire) {
            return Err(DepotError::invalid("name", format!("the watch {name:?} is disabled")));
        }
        let report = scan::run(self, &watch, &Extent::All { retries: true });
        // The thread finds out when the candidates are due.
        watch.signal.wake();
        report.map_err(|stop| match stop {
            Stop::Failed(why) => DepotError::WatchFailed { folder: watch.spec.folder.clone(), why },
            Stop::Ended => DepotError::Closed,
        })
    }

    fn watch_status(&self, watch: &Watch) -> WatchStatus {
        let name = &watch.spec.name;
        let remembered = self.history.read(|state| state.watches.marks_of(name).0).unwrap_or(0);
        let shown = watch.shown();
        let state = if !watch.is_enabled.load(Ordering::Acquire) {
            WatchState::Disabled
        } else {
            shown.failure.clone().map_or(WatchState::Watching, WatchState::Failed)
        };
        let mut last_report = shown.last_report.clone();
        last_report.pending = shown.waiting + shown.candidates as u64;
        WatchStatus {
            spec: watch.spec.clone(),
            state,
            imported: shown.imported,
            imported_bytes: shown.imported_bytes,
            repeats: shown.repeats,
            failed: shown.failed,
            last_error: shown.last_error.clone(),
            last_scan: shown.last_scan,
            last_report,
            candidates: shown.candidates,
            candidates_largest: shown.candidates_largest,
            remembered,
            has_events: shown.has_events,
        }
    }

    /// Whether a file was accepted under a submit key; then it is made durable before this returns.
    pub(super) fn is_submitted_durably(
        &self,
        tenant: &Tenant,
        key: &str,
    ) -> Result<bool, DepotError> {
        let standing = tenant.files().submitted(key);
        let known = match standing {
            Some(SubmitStanding::InProgress | SubmitStanding::InDoubt { .. }) => {
                return Err(DepotError::SubmitInProgress(key.to_owned()));
            }
            Some(SubmitStanding::Accepted { id, .. }) => Some(id),
            None => self.submitted_before(tenant, key)?.map(|(id, _)| id),
        };
        let Some(id) = known else { return Ok(false) };
        self.make_durable(tenant, id)?;
        Ok(true)
    }
}
