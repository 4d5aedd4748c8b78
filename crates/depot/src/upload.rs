//! Storing a file, piece by piece.
//!
//! A file exists when its record does: room in the quota, then the bytes under a fresh name, then
//! durability, then the record. An upload that is dropped or refused leaves nothing behind.

use crate::active::{ActiveFile, Standing, SubmitStanding};
use crate::history::record::Record;
use crate::name::FileName;
use crate::new_file::NewFile;
use crate::new_tenant::NewTenant;
use crate::pool::Pool;
use crate::prepared::Prepared;
use crate::quota::{QuotaReached, Reservation};
use crate::record::{FileRecord, Place};
use crate::tenant::{Counters, Tenant};
use crate::upkeep::Holding;
use crate::volume::{Finished, StoredWriter, VolumeNumber};
use crate::{DepotError, DirectoryKind, FileId};
use aws_lc_rs::digest::{Context, SHA256};
use rialto_clock::Timestamp;
use rialto_log::Level;
use std::sync::Arc;

/// The bytes of quota that an upload of unknown length takes at a time.
const QUOTA_STEP: u64 = 1 << 20;

/// The result of storing a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// The file.
    pub file: Arc<FileRecord>,
    /// Whether it was accepted earlier under the same submit key; then nothing was stored now.
    pub is_repeat: bool,
}

/// A file that is being stored. Dropping it removes what was written.
pub struct Upload {
    pool: Arc<Pool>,
    pub(crate) tenant: Arc<Tenant>,
    new: NewFile,
    pub(crate) kind: DirectoryKind,
    pub(crate) id: FileId,
    /// Where the quotas of the reservation belong to, the tenant left out.
    owners: Vec<String>,
    reservation: Option<Reservation>,
    reserved: u64,
    /// The content, as long as it may travel in its message.
    inline: Vec<u8>,
    inline_bytes_max: usize,
    writer: Option<StoredWriter>,
    bytes: u64,
    /// Whether a piece was refused, so that the content has a gap.
    is_failed: bool,
    crc32c: u32,
    /// The SHA-256 of an inline file; that of others is computed where they are written.
    sha256: Option<Context>,
    /// The key that is in progress.
    submit_key: Option<SubmitGuard>,
    /// Its bytes are no orphans meanwhile.
    _in_hand: Holding,
    /// The tenant, if it was made for this file.
    pub(crate) new_tenant: Option<NewTenant>,
}

/// Frees a submit key whose file was not accepted.
struct SubmitGuard {
    tenant: Arc<Tenant>,
    key: String,
}

impl Drop for SubmitGuard {
    fn drop(&mut self) {
        self.tenant.files().end_submit(&self.key);
    }
}

/// The SHA-256 of all bytes given to a context.
fn finish_sha256(context: Context) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(context.finish().as_ref());
    bytes
}

impl Upload {
    /// Begins a file. A result is never inline, so that it fits into a record of the history.
    pub(crate) fn begin(
        pool: Arc<Pool>,
        tenant: Arc<Tenant>,
        new: NewFile,
        is_result: bool,
    ) -> Result<Self, DepotError> {
        let id = pool.next_id();
        Self::begin_with(pool, tenant, new, is_result, id)
    }

    /// Begins a file again whose id is known and not in use.
    pub(crate) fn begin_as(
        pool: Arc<Pool>,
        tenant: Arc<Tenant>,
        new: NewFile,
        id: FileId,
    ) -> Result<Self, DepotError> {
        Self::begin_with(pool, tenant, new, false, id)
    }

    fn begin_with(
        pool: Arc<Pool>,
        tenant: Arc<Tenant>,
        new: NewFile,
        is_result: bool,
        id: FileId,
    ) -> Result<Self, DepotError> {
        tenant.check("accepts no files", false)?;
        pool.check_room()?;
        new.check(pool.now(), pool.options.priorities)?;
        let kind = tenant.kind_of(&new.directory);
        if new.kind.is_some_and(|wanted| wanted != kind) {
            return Err(DepotError::WrongKind { directory: new.directory, kind });
        }
        new.check_kind(kind)?;
        pool.check_file_bytes(new.bytes.unwrap_or(0))?;
        let (usages, owners) = tenant.usages_of(&new.directory);
        let owners: Vec<_> = owners.iter().map(ToString::to_string).collect();
        // A delayed message has another id when it is due, by which its bytes would not be found.
        let may_be_inline = kind == DirectoryKind::Work && new.deliver_at.is_none() && !is_result;
        let inline_bytes_max = if may_be_inline { pool.options.inline_bytes_max } else { 0 };
        let mut upload = Self {
            reservation: None,
            reserved: 0,
            inline: Vec::new(),
            inline_bytes_max,
            writer: None,
            bytes: 0,
            is_failed: false,
            crc32c: 0,
            sha256: pool.options.volumes.sha256.then(|| Context::new(&SHA256)),
            submit_key: None,
            _in_hand: pool.upkeep.in_hand.hold(id),
            new_tenant: None,
            pool,
            tenant,
            new,
            kind,
            id,
            owners,
        };
        let reservation = Reservation::take(usages).map_err(|(nth, at)| upload.reached(nth, at))?;
        upload.reservation = Some(reservation);
        upload.reserve(upload.new.bytes.unwrap_or(0))?;
        if may_be_inline {
            let expected = upload.new.bytes.unwrap_or(0).min(inline_bytes_max as u64);
            upload.inline.reserve_exact(expected as usize);
        } else {
            upload.begin_writer()?;
        }
        Ok(upload)
    }

    /// The id that the file will have.
    #[must_use]
    pub fn id(&self) -> FileId {
        self.id
    }

    fn reached(&self, nth: usize, reached: QuotaReached) -> DepotError {
        let QuotaReached { what, used, limit } = reached;
        let tenant = &self.tenant.name;
        let owner = match nth.checked_sub(1).and_then(|nth| self.owners.get(nth)) {
            None => format!("the tenant {tenant:?}"),
            Some(directory) => format!("the directory {directory:?} of the tenant {tenant:?}"),
        };
        DepotError::Quota { owner, what, used, limit }
    }

    /// Takes room in the quotas for a content of this length, before it is written.
    ///
    /// # Errors
    /// [`DepotError::TooLarge`] if no file of the pool may be so long, and [`DepotError::Quota`] if there
    /// is no room.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), DepotError> {
        self.pool.check_file_bytes(bytes)?;
        let Some(missing) = bytes.checked_sub(self.reserved).filter(|missing| *missing > 0) else {
            return Ok(());
        };
        let Some(reservation) = &mut self.reservation else { return Err(DepotError::Closed) };
        // Steps beyond what is needed spare atomic operations; near the limit only what is needed fits.
        let step = if self.new.bytes.is_some() { missing } else { missing.max(QUOTA_STEP) };
        let taken = match reservation.grow(step) {
            Ok(()) => step,
            Err(_) => match reservation.grow(missing) {
                Ok(()) => missing,
                Err((nth, reached)) => return Err(self.reached(nth, reached)),
            },
        };
        self.reserved += taken;
        Ok(())
    }

    fn begin_writer(&mut self) -> Result<(), DepotError> {
        let mut failed: Vec<VolumeNumber> = Vec::new();
        loop {
            let hint = self.new.bytes;
            let mut writer = self.pool.volumes.begin(self.id, hint, &failed)?;
            let volume = writer.volume();
            match writer.write(&self.inline) {
                Ok(()) => {
                    self.writer = Some(writer);
                    self.inline = Vec::new();
                    self.inline_bytes_max = 0;
                    return Ok(());
                }
                Err(error) if error.may_succeed_elsewhere() => failed.push(volume),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Adds a piece of the content.
    ///
    /// # Errors
    /// If the tenant was disabled meanwhile, a quota is reached, more than declared arrives, or the
    /// volume fails. The upload is of no use then, and cannot be finished. After
    /// [`DepotError::RateReached`] the same piece may be written again.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), DepotError> {
        self.check_whole()?;
        let written = self.write_piece(bytes);
        // The rate is asked before anything of the piece is taken.
        self.is_failed = !matches!(written, Ok(()) | Err(DepotError::RateReached { .. }));
        written
    }

    fn check_whole(&self) -> Result<(), DepotError> {
        match self.is_failed {
            true => Err(DepotError::invalid("content", "a piece of it was refused; begin again")),
            false => Ok(()),
        }
    }

    fn write_piece(&mut self, bytes: &[u8]) -> Result<(), DepotError> {
        self.tenant.check("accepts no files", false)?;
        self.pool.check_room()?;
        let total = self.bytes + bytes.len() as u64;
        if let Some(declared) = self.new.bytes.filter(|declared| total > *declared) {
            let got = format!("at least {total} bytes");
            let expected = format!("{declared} bytes");
            return Err(DepotError::Mismatch { what: "length", expected, got });
        }
        self.reserve(total)?;
        self.pool.keep_rate(&self.tenant, bytes.len() as u64)?;
        self.bytes = total;
        self.crc32c = crc32c::crc32c_append(self.crc32c, bytes);
        if self.writer.is_none() && total > self.inline_bytes_max as u64 {
            self.begin_writer()?;
        }
        match &mut self.writer {
            Some(writer) => writer.write(bytes)?,
            None => {
                self.inline.extend_from_slice(bytes);
                if let Some(sha256) = &mut self.sha256 {
                    sha256.update(bytes);
                }
            }
        }
        Ok(())
    }

    /// Compares what arrived with what was declared.
    fn check_declared(&self, sha256: Option<[u8; 32]>) -> Result<(), DepotError> {
        let mismatch = |what, expected, got| Err(DepotError::Mismatch { what, expected, got });
        if let Some(declared) = self.new.bytes.filter(|declared| *declared != self.bytes) {
            return mismatch(
                "length",
                format!("{declared} bytes"),
                format!("{} bytes", self.bytes),
            );
        }
        if let Some(declared) = self.new.crc32c.filter(|declared| *declared != self.crc32c) {
            return mismatch("CRC-32C", format!("{declared:08x}"), format!("{:08x}", self.crc32c));
        }
        if let (Some(declared), Some(sha256)) = (self.new.sha256, sha256)
            && declared != sha256
        {
            return mismatch("SHA-256", hex(&declared), hex(&sha256));
        }
        if self.new.sha256.is_some() && sha256.is_none() {
            let why = "this pool computes no SHA-256; declare a CRC-32C instead";
            return Err(DepotError::invalid("sha256", why));
        }
        Ok(())
    }

    /// Ends the content: the file exists, as durably as its level says, when this returns.
    ///
    /// # Errors
    /// [`DepotError::Mismatch`] if something else was declared, [`DepotError::SubmitConflict`],
    /// [`DepotError::FileExists`], and those of volumes, queue and history.
    pub fn finish(mut self) -> Result<StoredFile, DepotError> {
        let (mut record, finished) = self.end_content()?;
        let known = match self.begin_submit(&record) {
            Ok(known) => known,
            Err(error) => {
                finished.into_iter().for_each(Finished::discard);
                return Err(error);
            }
        };
        let level = self.new.level.unwrap_or(Level::Memory).max(self.pool.options.level);
        if let Some(file) = known {
            finished.into_iter().for_each(Finished::discard);
            if level > self.pool.options.level {
                // The first request may have asked for less, or ended before its record was durable.
                self.pool.make_durable(&self.tenant, file.id)?;
            }
            return Ok(StoredFile { file, is_repeat: true });
        }
        let finished = make_durable(finished, level)?;
        record.created_at = self.pool.now();
        let record = Arc::new(record);
        self.tenant.files().begin_counting(self.id);
        let accepted = match self.kind {
            DirectoryKind::Work => self.publish(&record),
            DirectoryKind::Shelf => self.keep(&record, level),
        };
        if let Err(Refused { error, may_exist }) = accepted {
            // A record that was written and not confirmed may be there after the next start, and then
            // its bytes must be.
            if may_exist {
                self.keep_room();
            } else {
                finished.into_iter().for_each(Finished::discard);
                self.tenant.files().end_counting(self.id);
            }
            return Err(*error);
        }
        self.count();
        Ok(StoredFile { file: record, is_repeat: false })
    }

    /// Ends the content of a result, which [`Depot::begin_result`](crate::Depot::begin_result) began.
    /// Its bytes are durable, and it comes to exist with the end of the file that it is a result of.
    ///
    /// # Errors
    /// As [`Upload::finish`].
    pub fn finish_result(mut self) -> Result<Prepared, DepotError> {
        let (record, finished) = self.end_content()?;
        let finished = make_durable(finished, self.pool.options.level)?;
        Ok(Prepared::new(self, record, finished))
    }

    /// Ends the content, and compares it with what was declared.
    fn end_content(&mut self) -> Result<(FileRecord, Option<Finished>), DepotError> {
        self.check_whole()?;
        self.tenant.check("accepts no files", false)?;
        let name = match &self.new.name {
            Some(name) => name.clone(),
            None => FileName::new(&self.id.to_string())?,
        };
        let now = self.pool.now();
        let mut record = FileRecord {
            id: self.id,
            directory: self.new.directory.clone(),
            name,
            bytes: self.bytes,
            content_type: std::mem::take(&mut self.new.content_type),
            metadata: std::mem::take(&mut self.new.metadata),
            created_at: now,
            expires_at: self.expires_at(now),
            crc32c: self.crc32c,
            sha256: None,
            submit_key: self.new.submit_key.clone(),
            place: Place::Inline,
        };
        let mut finished = None;
        if let Some(writer) = self.writer.take() {
            let written = writer.finish(&record.describe(&self.tenant.name)?)?;
            record.sha256 = written.stored().sha256;
            record.place = Place::Volume(written.stored().clone());
            finished = Some(written);
        } else {
            record.sha256 = self.sha256.take().map(finish_sha256);
        }
        if let Err(error) = self.check_declared(record.sha256) {
            finished.into_iter().for_each(Finished::discard);
            return Err(error);
        }
        Ok((record, finished))
    }

    /// When the file expires: as the client said, and as its directory says if it is kept.
    fn expires_at(&self, now: Timestamp) -> Option<Timestamp> {
        let is_kept = self.kind == DirectoryKind::Shelf;
        let after = is_kept.then(|| self.tenant.expiry_of(&self.new.directory)).flatten();
        let by_rule = after.map(|after| now.after(after));
        self.new.expires_at.into_iter().chain(by_rule).min()
    }

    /// Counts the file, which exists.
    pub(crate) fn count(&mut self) {
        self.keep_room();
        Counters::add(&self.tenant.counters.accepted, 1);
        Counters::add(&self.tenant.counters.accepted_bytes, self.bytes);
    }

    /// Makes the reservation a part of the usage, and counts the file in directories that were set
    /// since the upload began.
    fn keep_room(&mut self) {
        if let Some(tenant) = self.new_tenant.take() {
            tenant.keep();
        }
        let mut files = self.tenant.files();
        if let Some(reservation) = self.reservation.take() {
            let reserved = reservation.keep(self.bytes);
            for usage in self.tenant.usages_of(&self.new.directory).0 {
                if !reserved.iter().any(|it| Arc::ptr_eq(it, &usage)) {
                    usage.count(1, self.bytes);
                }
            }
        }
        files.end_counting(self.id);
    }

    /// Takes the submit key. Returns the file that was accepted under it, if there is one.
    fn begin_submit(&mut self, record: &FileRecord) -> Result<Option<Arc<FileRecord>>, DepotError> {
        let Some(key) = record.submit_key.clone() else { return Ok(None) };
        let mut files = self.tenant.files();
        let known = match files.submitted(&key) {
            Some(SubmitStanding::InProgress | SubmitStanding::InDoubt { .. }) => {
                return Err(DepotError::SubmitInProgress(key));
            }
            Some(SubmitStanding::Accepted { id, fingerprint }) => Some((id, fingerprint)),
            None => self.pool.submitted_before(&self.tenant, &key)?,
        };
        let Some((id, fingerprint)) = known else {
            files.begin_submit(&key);
            drop(files);
            self.submit_key = Some(SubmitGuard { tenant: self.tenant.clone(), key });
            return Ok(None);
        };
        if fingerprint != record.fingerprint() {
            return Err(DepotError::SubmitConflict { key, id });
        }
        let waiting = files.get(id).map(|file| file.record.clone());
        drop(files);
        let file = match waiting {
            Some(file) => Some(file),
            None => self.pool.kept_by_id(&self.tenant, id)?,
        };
        // The file may be gone: then the answer has its id, and what was sent again.
        Ok(Some(file.unwrap_or_else(|| Arc::new(FileRecord { id, ..record.clone() }))))
    }

    /// Publishes the record of a work file.
    fn publish(&self, record: &Arc<FileRecord>) -> Result<(), Refused> {
        let work = self.pool.work_of(&self.tenant).map_err(Refused::before)?;
        let pool_level = self.pool.options.level;
        let level = self.new.level.map_or(pool_level, |level| level.max(pool_level));
        if level > pool_level {
            self.pool.make_tenant_durable(&self.tenant).map_err(Refused::before)?;
        }
        // A worker may complete the file before this thread goes on, so that it is indexed first.
        self.tenant.files().insert(ActiveFile::new(record.clone(), Standing::Arriving));
        // Behind the file: housekeeping ends its visits when it finds none.
        self.pool.note_busy(&self.tenant);
        let sent = work.publish(record, &self.inline, self.new.priority, self.new.deliver_at);
        let unwritten = match sent {
            Ok(unwritten) => unwritten,
            Err(error) => {
                self.tenant.files().remove(record.id);
                return Err(Refused::before(error));
            }
        };
        if let Some(file) = self.tenant.files().get_mut(record.id) {
            if file.message.is_none() {
                file.message = unwritten.receipt().id();
            }
            if file.standing == Standing::Arriving {
                file.standing = Standing::Waiting;
            }
        }
        let written = unwritten.write();
        let confirmed =
            written.and_then(|receipt| receipt.wait_at(level)).map_err(DepotError::from);
        // Only the key of a file knows whether its record is durable.
        if record.submit_key.is_some() {
            self.tenant.files().end_publishing(record, confirmed.is_ok());
        }
        confirmed.map_err(Refused::after)?;
        self.pool.ready.announce(&self.tenant);
        Ok(())
    }

    /// Records a file that is kept.
    fn keep(&self, record: &Arc<FileRecord>, level: Level) -> Result<(), Refused> {
        let (tenant, path) = (self.tenant.number, record.path());
        let changed = self.pool.history.change(|state| {
            let known = state.tenants.get(&tenant).filter(|known| known.name.is_some());
            // It was deleted meanwhile.
            let gone = || DepotError::UnknownTenant(self.tenant.name.clone());
            known.ok_or_else(gone)?;
            let kept = state.kept(tenant, &path);
            if self.new.if_absent && kept.is_some() {
                let (tenant, path) = (self.tenant.name.clone(), path.clone());
                return Err(DepotError::FileExists { tenant, path });
            }
            Ok((kept, vec![Record::Kept { tenant, file: (**record).clone() }]))
        });
        let changed = changed.map_err(Refused::before)?;
        let confirmed = if level > self.pool.options.level {
            self.pool.history.sync()
        } else {
            self.pool.history.commit(changed.ticket)
        };
        confirmed.map_err(|error| Refused::after(error.into()))?;
        if let Some(before) = changed.value {
            self.tenant.uncount(&before.directory, before.bytes);
        }
        self.pool.remove_bytes(changed.garbage);
        Ok(())
    }
}

/// Makes the bytes of a file durable, if the level asks for it, or removes them.
fn make_durable(finished: Option<Finished>, level: Level) -> Result<Option<Finished>, DepotError> {
    let Some(stored) = finished else { return Ok(None) };
    if level == Level::Synced
        && let Err(error) = stored.make_durable()
    {
        stored.discard();
        return Err(error.into());
    }
    Ok(Some(stored))
}

/// A record was not accepted.
struct Refused {
    error: Box<DepotError>,
    /// Whether it may be there after the next start all the same.
    may_exist: bool,
}

impl Refused {
    fn before(error: DepotError) -> Self {
        Self { error: Box::new(error), may_exist: false }
    }

    fn after(error: DepotError) -> Self {
        Self { error: Box::new(error), may_exist: true }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
