//! Reads stored files and compares them with their checksums.

use super::damage::DamagedFile;
use super::due::Due;
use super::sweep::{Met, Sweep};
use crate::pool::Pool;
use crate::volume::{StoredBytes, StoredReader, VolumeError};
use crate::{Depot, DepotError};
use aws_lc_rs::digest::{Context, SHA256};
use rialto_clock::Timestamp;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How much is read at a time: one block.
const READ_BYTES: usize = 1 << 20;
/// The bytes that a file counts for at least, so that small ones are limited too.
const FILE_BYTES_MIN: u64 = 4 << 10;
/// The limits of what one step reads.
const STEP_BYTES: std::ops::RangeInclusive<u64> = (1 << 20)..=(32 << 20);
/// The time from the end of a pass to the beginning of the next.
const PERIOD: Duration = Duration::from_secs(24 * 60 * 60);
/// The first pass begins this long after the opening.
const FIRST_PASS: Duration = Duration::from_secs(60);

/// What the scrub read since the pool was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrubStatus {
    /// Passes through all files that came to their end.
    pub passes: u64,
    /// Stored files that were read.
    pub files: u64,
    /// Bytes of content that were read.
    pub bytes: u64,
    /// Files whose bytes were found damaged or missing.
    pub damaged: u64,
    /// Files that could not be read now, because of their volume.
    pub unreadable: u64,
    /// When the last pass ended.
    pub last_pass: Option<Timestamp>,
}

/// The counters of the scrub.
#[derive(Debug, Default)]
pub(crate) struct Scrubbed {
    status: Mutex<ScrubStatus>,
}

impl Scrubbed {
    pub(super) fn status(&self) -> ScrubStatus {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, count: impl FnOnce(&mut ScrubStatus)) {
        count(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Where the scrub stands.
#[derive(Default)]
pub(super) struct Scrub {
    due: Option<Due>,
    sweep: Option<Sweep>,
    page: VecDeque<Met>,
    reading: Option<Reading>,
    /// When the bytes that were read have been paid for by time.
    paid_at: Due,
}

/// The file that is being read.
struct Reading {
    met: Met,
    reader: Box<StoredReader>,
    offset: u64,
    sha256: Option<Context>,
}

impl Reading {
    fn open(pool: &Pool, met: &Met, stored: &StoredBytes) -> Result<Self, VolumeError> {
        let mut reader = pool.volumes.open(met.record.id, stored)?;
        reader.description()?;
        let sha256 = stored.sha256.map(|_| Context::new(&SHA256));
        Ok(Self { met: met.clone(), reader: Box::new(reader), offset: 0, sha256 })
    }

    /// Reads one block. Returns how many bytes it had; 0 at the end of a file that is whole.
    fn step(&mut self, buffer: &mut [u8]) -> Result<u64, VolumeError> {
        let read = self.reader.read_at(self.offset, buffer)?;
        if let Some(sha256) = &mut self.sha256 {
            sha256.update(&buffer[..read]);
        }
        self.offset += read as u64;
        if read == 0 {
            self.check_sha256()?;
        }
        Ok(read as u64)
    }

    fn check_sha256(&mut self) -> Result<(), VolumeError> {
        let Some(sha256) = self.sha256.take() else { return Ok(()) };
        let got = sha256.finish();
        let recorded = self.met.record.place.stored().and_then(|stored| stored.sha256);
        if recorded.is_some_and(|recorded| recorded != got.as_ref()) {
            // The whole check makes the error.
            return self.reader.verify();
        }
        Ok(())
    }
}

impl Pool {
    /// One step of the scrub. Returns whether the next should follow soon.
    pub(super) fn scrub_step(&self, scrub: &mut Scrub) -> Result<bool, DepotError> {
        let rate = self.options.upkeep.scrub_bytes_per_second;
        let now = self.now();
        if rate == 0 || !scrub.paid_at.is_due(now, PERIOD) {
            return Ok(false);
        }
        if scrub.sweep.is_none() {
            let due = scrub.due.get_or_insert_with(|| Due::at(now.after(FIRST_PASS)));
            if !due.is_due(now, PERIOD) {
                return Ok(false);
            }
            scrub.sweep = Some(Sweep::all(self));
        }
        let budget = (rate / 5).clamp(*STEP_BYTES.start(), *STEP_BYTES.end());
        let (mut spent, mut buffer) = (0, vec![0; READ_BYTES]);
        let mut has_ended = false;
        while spent < budget {
            if let Some(reading) = &mut scrub.reading {
                match reading.step(&mut buffer) {
                    Ok(0) => {
                        self.upkeep.damage.forget(reading.met.record.id);
                        self.upkeep.scrubbed.count(|status| status.files += 1);
                        scrub.reading = None;
                    }
                    Ok(read) => {
                        spent += read;
                        self.upkeep.scrubbed.count(|status| status.bytes += read);
                    }
                    Err(error) => {
                        if let Some(reading) = scrub.reading.take() {
                            self.note_unsound(&reading.met, &error)?;
                        }
                    }
                }
                continue;
            }
            if let Some(met) = scrub.page.pop_front() {
                if let Some(stored) = met.record.place.stored() {
                    spent += FILE_BYTES_MIN;
                    match Reading::open(self, &met, stored) {
                        Ok(reading) => scrub.reading = Some(reading),
                        Err(error) => drop(self.note_unsound(&met, &error)?),
                    }
                }
                continue;
            }
            // Pages without stored files take time too.
            spent += FILE_BYTES_MIN;
            match scrub.sweep.as_mut().map_or(Ok(None), |sweep| sweep.page(self))? {
                Some(page) => scrub.page = page.into(),
                None => {
                    has_ended = true;
                    break;
                }
            }
        }
        let nanos = u128::from(spent) * 1_000_000_000 / u128::from(rate);
        let pause = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)).min(PERIOD);
        scrub.paid_at.next(now, pause);
        if has_ended {
            scrub.sweep = None;
            scrub.due.get_or_insert_default().next(now, PERIOD);
            self.upkeep.scrubbed.count(|status| {
                status.passes += 1;
                status.last_pass = Some(now);
            });
            let ScrubStatus { passes, files, bytes, damaged, .. } = self.upkeep.scrubbed.status();
            tracing::info!(passes, files, bytes, damaged, "all stored files were checked");
        }
        Ok(scrub.sweep.is_some())
    }

    /// Notes that a file could not be read whole, if it still is where it was. Returns the damage.
    fn note_unsound(
        &self,
        met: &Met,
        error: &VolumeError,
    ) -> Result<Option<DamagedFile>, DepotError> {
        let Met { tenant, record, .. } = met;
        let now = self.recorded(tenant, record.id)?;
        let Some(stored) = record.place.stored() else { return Ok(None) };
        if now.is_none_or(|now| now.place != record.place) {
            return Ok(None);
        }
        let file = record.id;
        if !error.is_damage() && !matches!(error, VolumeError::Sealing { .. }) {
            self.upkeep.scrubbed.count(|status| status.unreadable += 1);
            tracing::warn!(%file, volume = stored.volume.0, "a file was not checked: {error}");
            return Ok(None);
        }
        let damaged = DamagedFile {
            tenant: tenant.name.clone(),
            id: record.id,
            path: record.path(),
            volume: stored.volume,
            found_at: self.now(),
            problem: error.to_string(),
        };
        tracing::error!(%file, tenant = %tenant.name, "the bytes of a file are damaged: {error}");
        self.upkeep.scrubbed.count(|status| status.damaged += 1);
        self.upkeep.damage.note(damaged.clone());
        Ok(Some(damaged))
    }
}

/// What a check of all files found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifiedFiles {
    /// Stored files that were read.
    pub files: u64,
    /// Bytes of content of the whole ones.
    pub bytes: u64,
    /// Files whose bytes are damaged or missing.
    pub damaged: u64,
    /// Files that could not be read, because of their volume.
    pub unreadable: u64,
}

impl Depot {
    /// What the scrub read.
    #[must_use]
    pub fn scrub(&self) -> ScrubStatus {
        self.pool.upkeep.scrubbed.status()
    }

    /// The files that are known to be damaged, at most [`DAMAGED_FILES_MAX`](crate::DAMAGED_FILES_MAX).
    /// One that ended since is left out.
    ///
    /// # Errors
    /// If the history failed.
    pub fn damage(&self) -> Result<Vec<DamagedFile>, DepotError> {
        let mut damaged = Vec::new();
        for file in self.pool.upkeep.damage.all() {
            let tenant = self.pool.find_tenant(file.tenant.as_str());
            let record = match &tenant {
                Some(tenant) => self.pool.recorded(tenant, file.id)?,
                None => None,
            };
            match record {
                Some(_) => damaged.push(file),
                None => self.pool.upkeep.damage.forget(file.id),
            }
        }
        Ok(damaged)
    }

    /// Reads every stored file now, at full speed, and compares it with its checksums. `progress`
    /// is called after each file, with the damage if it has some.
    ///
    /// # Errors
    /// If the history failed.
    pub fn verify(
        &self,
        mut progress: impl FnMut(&VerifiedFiles, Option<&DamagedFile>),
    ) -> Result<VerifiedFiles, DepotError> {
        let pool = &self.pool;
        pool.check_open()?;
        let (mut sweep, mut report) = (Sweep::all(pool), VerifiedFiles::default());
        while let Some(page) = sweep.page(pool)? {
            for met in page {
                let Some(stored) = met.record.place.stored() else { continue };
                let opened = pool.volumes.open(met.record.id, stored);
                let verified = opened.and_then(|mut reader| reader.verify());
                let mut damaged = None;
                report.files += 1;
                match verified {
                    Ok(()) => {
                        report.bytes += met.record.bytes;
                        pool.upkeep.damage.forget(met.record.id);
                    }
                    Err(error) => {
                        let unreadable = pool.upkeep.scrubbed.status().unreadable;
                        damaged = pool.note_unsound(&met, &error)?;
                        report.damaged += u64::from(damaged.is_some());
                        let now = pool.upkeep.scrubbed.status().unreadable;
                        report.unreadable += now.saturating_sub(unreadable).min(1);
                    }
                }
                progress(&report, damaged.as_ref());
            }
        }
        Ok(report)
    }
}
