//! Importing candidates whose time has come, several at once.

use super::candidates::{Candidate, Place};
use super::folder;
use super::import::{Importer, Outcome};
use super::mark::Mark;
use super::scan::{Scan, Stop};
use super::source::{Removal, open_below};
use super::spec::AfterImport;
use crate::DepotError;
use crate::history::record::Record;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The most files between two syncs of the folder. It is far below the number of submit keys that a
/// tenant remembers, so that a source that a loss of power brings back is recognised.
const BATCH_FILES: usize = 512;
/// The shortest wait for a file that changed, so that one that is being written is not looked at all the
/// time.
const CHANGED_WAIT: Duration = Duration::from_millis(50);
/// The most marks of one record.
const MARKS_PER_RECORD: usize = 4_096;

/// What a batch leaves to be recorded.
#[derive(Default)]
struct Leftovers {
    /// Imports whose sources are still there.
    remembered: Vec<u128>,
    /// Remembered imports whose sources are gone.
    forgotten: Vec<u128>,
    /// Directories that sources were removed from.
    places: Vec<Arc<Place>>,
    pool_failure: Option<String>,
}

impl Scan<'_> {
    /// Imports all candidates whose time has come.
    pub(super) fn import_ripe(&mut self) -> Result<(), Stop> {
        loop {
            self.check_active()?;
            let now = self.pool.options.clock.monotonic();
            let mut batch = self.scanning.candidates.take_ripe(now, BATCH_FILES);
            if batch.is_empty() {
                return Ok(());
            }
            self.keep_within_bound(&mut batch)?;
            self.import_batch(&batch)?;
        }
    }

    /// Lets files wait whose import could not be remembered if their source stays.
    fn keep_within_bound(&mut self, batch: &mut Vec<Candidate>) -> Result<(), Stop> {
        let (_, of_all) = self.remembered()?;
        let max = self.pool.options.watcher.remembered_max;
        let mut room = max.saturating_sub(of_all);
        let before = batch.len();
        batch.retain(|candidate| {
            let fits = candidate.is_imported || room > 0;
            room -= usize::from(fits && !candidate.is_imported);
            fits
        });
        for _ in batch.len()..before {
            self.wait_for(format!(
                "{max} imports are remembered because their sources are still in their folders, \
                 which is the most; remove sources that are not needed"
            ));
        }
        Ok(())
    }

    fn import_batch(&mut self, batch: &[Candidate]) -> Result<(), Stop> {
        let outcomes = self.import_at_once(batch);
        let mut left = Leftovers::default();
        for (candidate, outcome) in batch.iter().zip(outcomes) {
            match outcome {
                Some(outcome) => self.note(candidate, outcome, &mut left),
                // The pool failed before its turn, or the scan was ended.
                None => self.waiting += 1,
            }
        }
        self.sync_places(&left.places);
        self.record_marks(&left.remembered, |watch, marks| Record::Imported { watch, marks })?;
        let forget = |watch, marks| Record::ImportsForgotten { watch, marks };
        self.record_marks(&left.forgotten, forget)?;
        let mut shown = self.watch.shown();
        shown.candidates = self.scanning.candidates.len();
        drop(shown);
        left.pool_failure.map_or(Ok(()), |why| Err(Stop::Failed(why)))
    }

    /// The outcomes in the order of the candidates.
    fn import_at_once(&mut self, batch: &[Candidate]) -> Vec<Option<Outcome>> {
        let options = &self.pool.options.watcher;
        let threads = options.imports_at_once.clamp(1, batch.len().max(1));
        let next = AtomicUsize::new(0);
        let outcomes = Mutex::new(vec![None; batch.len()]);
        let (pool, watch) = (self.pool, self.watch);
        let (root, move_to) = (&self.root, self.move_to.as_ref());
        let pauses = Mutex::new(&mut self.scanning.pauses);
        let is_active = || watch.is_active() && !pool.watches.is_stopping.load(Ordering::Acquire);
        let work = || {
            let spec = &watch.spec;
            let pauses = &pauses;
            let mut importer = Importer { pool, spec, root, move_to, pauses, buffer: Vec::new() };
            while is_active() {
                let nth = next.fetch_add(1, Ordering::Relaxed);
                let Some(candidate) = batch.get(nth) else { return };
                let outcome = importer.import(candidate);
                if matches!(outcome, Outcome::PoolFailed(_)) {
                    // The others would fail as well.
                    next.store(batch.len(), Ordering::Relaxed);
                }
                outcomes.lock().unwrap_or_else(PoisonError::into_inner)[nth] = Some(outcome);
            }
        };
        std::thread::scope(|scope| {
            // This thread is one of them, and needs no permit: a folder that hangs, with all permits,
            // keeps the other watches from helpers and not from importing.
            for _ in 1..threads {
                let Some(permit) = pool.watches.permits.try_take() else { break };
                let help = move || {
                    work();
                    drop(permit);
                };
                // Without a thread there are fewer of them.
                let builder = std::thread::Builder::new().name("depot-import".to_owned());
                if builder.spawn_scoped(scope, help).is_err() {
                    break;
                }
            }
            work();
        });
        outcomes.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&mut self, candidate: &Candidate, outcome: Outcome, left: &mut Leftovers) {
        match outcome {
            Outcome::Imported { bytes, is_repeat, source } => {
                self.count_import(bytes, is_repeat);
                if matches!(source, Removal::Kept | Removal::Failed(_)) {
                    left.remembered.push(candidate.mark.0);
                }
                self.note_removal(candidate, source, left);
            }
            Outcome::Cleared(source) => {
                if matches!(source, Removal::Removed | Removal::Replaced) {
                    left.forgotten.push(candidate.mark.0);
                }
                if source == Removal::Removed {
                    self.report.repeats += 1;
                    self.watch.shown().repeats += 1;
                }
                self.note_removal(candidate, source, left);
            }
            Outcome::Gone if candidate.is_imported => left.forgotten.push(candidate.mark.0),
            Outcome::Gone => {}
            Outcome::Changed(stamp) => {
                let now = self.pool.options.clock.monotonic();
                let path = candidate.place.path_of(candidate.name.as_str());
                let due = now + self.pool.options.watcher.settle.max(CHANGED_WAIT);
                let mark = Mark::of(&self.watch.spec.name, &path, &stamp);
                // Files that do not settle do not keep others out.
                if self.scanning.candidates.is_half_full() {
                    self.waiting += 1;
                } else {
                    let changed = Candidate { stamp, mark, due, ..candidate.clone() };
                    self.scanning.candidates.offer(changed);
                }
            }
            Outcome::Waits(why) => self.wait_for(why),
            Outcome::Failed(why) => {
                self.scanning.rest(candidate.mark);
                self.note_failed(&why);
            }
            Outcome::PoolFailed(why) => left.pool_failure = Some(why),
        }
    }

    fn note_removal(&mut self, candidate: &Candidate, source: Removal, left: &mut Leftovers) {
        match source {
            Removal::Removed => {
                let is_known = left.places.iter().any(|place| Arc::ptr_eq(place, &candidate.place));
                if !is_known {
                    left.places.push(candidate.place.clone());
                }
            }
            Removal::Failed(why) => {
                self.scanning.rest(candidate.mark);
                self.note_failed(&why);
            }
            Removal::Kept | Removal::Replaced => {}
        }
    }

    fn count_import(&mut self, bytes: u64, is_repeat: bool) {
        let mut shown = self.watch.shown();
        if is_repeat {
            self.report.repeats += 1;
            shown.repeats += 1;
        } else {
            self.report.imported += 1;
            shown.imported += 1;
            shown.imported_bytes += bytes;
        }
    }

    /// Makes removals durable. One that is not is repeated after a loss of power, and recognised.
    fn sync_places(&mut self, places: &[Arc<Place>]) {
        for place in places {
            self.sync_place(&self.root, place);
            if let (AfterImport::Move(_), Some((target, _))) =
                (&self.watch.spec.after, &self.move_to)
            {
                self.sync_place(target, place);
            }
        }
    }

    fn sync_place(&self, root: &OwnedFd, place: &Place) {
        let synced = open_below(root, place, false).and_then(folder::sync);
        if let Err(error) = synced {
            let watch = &self.watch.spec.name;
            tracing::warn!(%watch, "removals in {:?} are not durable yet: {error}", place.path);
        }
    }

    /// Records which imports are remembered or forgotten, durably.
    pub(super) fn record_marks(
        &self,
        marks: &[u128],
        record: impl Fn(String, Vec<u128>) -> Record,
    ) -> Result<(), Stop> {
        if marks.is_empty() {
            return Ok(());
        }
        let name = &self.watch.spec.name;
        let recorded = self.pool.history.record(|state| {
            // The watch may have been removed meanwhile.
            let is_there = state.watches.get(name).is_some();
            let chunks = marks.chunks(MARKS_PER_RECORD).filter(|_| is_there);
            let records = chunks.map(|marks| record(name.clone(), marks.to_vec())).collect();
            Ok::<_, DepotError>(((), records))
        });
        let synced = recorded.and_then(|_| Ok(self.pool.history.sync()?));
        synced.map_err(|error| Stop::Failed(error.to_string()))
    }
}
