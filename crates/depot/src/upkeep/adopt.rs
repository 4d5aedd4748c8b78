//! Makes files of quarantined bytes, when an operator asks for it.

use crate::history::record::Record;
use crate::name::{Directory, FileName, TenantName};
use crate::new_file::NewFile;
use crate::pool::Pool;
use crate::record::Description;
use crate::tenant::Tenant;
use crate::upload::Upload;
use crate::volume::{StoredReader, VolumeError, VolumeNumber};
use crate::{Depot, DepotError, FileId};
use rialto_log::Level;
use std::fmt;
use std::sync::{Arc, PoisonError};

/// How many bytes are copied at a time.
const COPY_BYTES: usize = 1 << 20;

/// The reason that quarantined bytes were not adopted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotAdopted {
    /// The bytes are damaged or incomplete.
    Damaged,
    /// Their volume cannot be read, or there is no key to decrypt them.
    Unreadable,
    /// They do not say which file they were.
    Undescribed,
    /// The file has ended, as the history knows.
    Ended,
    /// A file of this id exists.
    Present,
    /// Another file is kept under its path.
    PathTaken,
    /// The pool does not accept it: its tenant is missing or disabled, a quota is reached, or there
    /// is no room.
    Refused,
}

impl NotAdopted {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Damaged => "damaged",
            Self::Unreadable => "unreadable",
            Self::Undescribed => "undescribed",
            Self::Ended => "ended",
            Self::Present => "present",
            Self::PathTaken => "path_taken",
            Self::Refused => "refused",
        }
    }
}

impl fmt::Display for NotAdopted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What became of one quarantined file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adoption {
    /// The id of the bytes, which the file keeps.
    pub id: FileId,
    /// The volume whose quarantine holds them.
    pub volume: VolumeNumber,
    /// The tenant and the path of the file, if the bytes say so.
    pub file: Option<(TenantName, String)>,
    /// The length of the content in bytes, if it is known.
    pub bytes: u64,
    /// The reason that it was not adopted, and what exactly is wrong.
    pub not_adopted: Option<(NotAdopted, String)>,
}

/// What an adoption of all quarantined files did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdoptionReport {
    /// Files that were adopted, or would be.
    pub adopted: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that were not adopted, by reason.
    pub not_adopted: std::collections::BTreeMap<NotAdopted, u64>,
}

impl Depot {
    /// Makes files of the quarantined bytes of all volumes again: a work file waits, and a kept file
    /// is kept under its path, unless one is. They keep their ids. The bytes are checked whole first.
    /// A dry run does everything but store them. `each` gets every file.
    ///
    /// # Errors
    /// If a volume cannot be listed, or the history fails. The files before it were adopted.
    pub fn adopt(
        &self,
        dry_run: bool,
        mut each: impl FnMut(&Adoption),
    ) -> Result<AdoptionReport, DepotError> {
        let pool = &self.pool;
        pool.check_open()?;
        // The search does not move files into the quarantine meanwhile, nor does a second adoption run.
        let _rounds = pool.upkeep.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        let mut report = AdoptionReport::default();
        for volume in pool.volumes.list() {
            let (volume, mut after) = (volume.number, None);
            loop {
                let page = pool.volumes.quarantined(volume, after)?;
                if page.is_empty() {
                    break;
                }
                for id in &page {
                    let adoption = pool.adopt_one(*id, volume, dry_run)?;
                    match &adoption.not_adopted {
                        None => {
                            report.adopted += 1;
                            report.bytes += adoption.bytes;
                        }
                        Some((why, _)) => *report.not_adopted.entry(*why).or_default() += 1,
                    }
                    each(&adoption);
                }
                after = page.last().copied();
            }
        }
        Ok(report)
    }
}

/// Why a file is not adopted, and in words.
type Refusal = (NotAdopted, String);

impl Pool {
    fn adopt_one(
        self: &Arc<Self>,
        id: FileId,
        volume: VolumeNumber,
        dry_run: bool,
    ) -> Result<Adoption, DepotError> {
        let mut adoption = Adoption { id, volume, file: None, bytes: 0, not_adopted: None };
        if let Err(refusal) = self.try_adopt(&mut adoption, dry_run)? {
            adoption.not_adopted = Some(refusal);
            return Ok(adoption);
        }
        if !dry_run {
            // The file exists, so that a crash before this leaves bytes whose id is in use.
            self.volumes.remove_quarantined(id, volume)?;
        }
        Ok(adoption)
    }

    fn try_adopt(
        self: &Arc<Self>,
        adoption: &mut Adoption,
        dry_run: bool,
    ) -> Result<Result<(), Refusal>, DepotError> {
        let (id, volume) = (adoption.id, adoption.volume);
        let mut reader = match self.volumes.open_quarantined(id, volume) {
            Ok(reader) => reader,
            Err(error) => return Ok(Err(unreadable(error))),
        };
        adoption.bytes = reader.len();
        let description = match reader.description() {
            Ok(description) => description,
            Err(error) => return Ok(Err(unreadable(error))),
        };
        let Ok(Description { tenant, record }) = postcard::from_bytes(&description) else {
            let why = "the description is not that of a file of a pool".to_owned();
            return Ok(Err((NotAdopted::Undescribed, why)));
        };
        adoption.file = Some((tenant.clone(), record.path()));
        if record.id != id {
            let why = format!("the description is of the file {}", record.id);
            return Ok(Err((NotAdopted::Undescribed, why)));
        }
        if let Some(refusal) = self.known(&tenant, id, record.submit_key.as_deref())? {
            return Ok(Err(refusal));
        }
        if let Err(error) = reader.verify() {
            return Ok(Err(unreadable(error)));
        }
        let now = self.now();
        if record.is_expired(now) {
            let why = "its time of expiry has passed".to_owned();
            return Ok(Err((NotAdopted::Ended, why)));
        }
        let file = NewFile {
            directory: record.directory,
            name: Some(record.name),
            content_type: record.content_type,
            metadata: record.metadata,
            bytes: Some(record.bytes),
            crc32c: Some(record.crc32c),
            expires_at: record.expires_at,
            submit_key: record.submit_key,
            level: Some(Level::Synced),
            ..NewFile::default()
        };
        if dry_run {
            return self.would_adopt(&tenant, &file.directory, file.name.as_ref());
        }
        let stored = self.tenant_of_file(&tenant).and_then(|tenant| {
            // Another file that is kept there is newer.
            let if_absent = tenant.kind_of(&file.directory) == crate::DirectoryKind::Shelf;
            let file = NewFile { if_absent, ..file };
            let mut upload = Upload::begin_as(self.clone(), tenant.clone(), file, id)?;
            copy(&mut reader, &mut upload)?;
            self.forget_end(&tenant, id)?;
            upload.finish()
        });
        Ok(match stored {
            Ok(stored) if stored.is_repeat => {
                let why = format!("its submit key is that of the file {}", stored.file.id);
                Err((NotAdopted::Present, why))
            }
            Ok(_) => Ok(()),
            Err(error @ DepotError::FileExists { .. }) => {
                Err((NotAdopted::PathTaken, error.to_string()))
            }
            Err(error @ DepotError::Mismatch { .. }) => {
                Err((NotAdopted::Damaged, error.to_string()))
            }
            Err(error @ (DepotError::History(_) | DepotError::Closed)) => return Err(error),
            Err(error) => Err((NotAdopted::Refused, error.to_string())),
        })
    }

    /// Makes durable that an earlier end of a file is over, before its record is published. The state
    /// has forgotten the end, and the log has it until the next checkpoint: the next opening would
    /// take the file for an ended one.
    fn forget_end(&self, tenant: &Tenant, id: FileId) -> Result<(), DepotError> {
        let record = Record::Removed { tenant: tenant.number, id };
        self.history.change(|_| Ok::<_, DepotError>(((), vec![record])))?;
        // Whatever the level of the pool: that of the file is synced.
        Ok(self.history.sync()?)
    }

    /// The reason that a file is not adopted, if its id is known.
    fn known(
        &self,
        tenant: &TenantName,
        id: FileId,
        submit_key: Option<&str>,
    ) -> Result<Option<Refusal>, DepotError> {
        let present = || Some((NotAdopted::Present, "a file of this id exists".to_owned()));
        let ended = || Some((NotAdopted::Ended, "the file has ended".to_owned()));
        if self.history.read(|state| state.ended.contains_key(&id))? {
            return Ok(ended());
        }
        let Some(tenant) = self.find_tenant(tenant.as_str()) else { return Ok(None) };
        {
            let files = tenant.files();
            if files.has_ended(id) {
                return Ok(ended());
            }
            if files.get(id).is_some() {
                return Ok(present());
            }
        }
        if self.kept_by_id(&tenant, id)?.is_some() || self.retained_by_id(&tenant, id)?.is_some() {
            return Ok(present());
        }
        // The submit keys of files that ended are remembered for longer than their ids.
        let submitted = match submit_key {
            Some(key) => self.submitted_before(&tenant, key)?,
            None => None,
        };
        Ok(submitted.filter(|(known, _)| *known == id).and_then(|_| ended()))
    }

    /// Whether a file would be accepted, as far as that is known without its bytes.
    fn would_adopt(
        &self,
        tenant: &TenantName,
        directory: &Directory,
        name: Option<&FileName>,
    ) -> Result<Result<(), Refusal>, DepotError> {
        let refused = |error: DepotError| Ok(Err((NotAdopted::Refused, error.to_string())));
        let tenant: Arc<Tenant> = match self.tenant(tenant) {
            Ok(tenant) => tenant,
            Err(DepotError::UnknownTenant(_)) if self.options.create_tenants => return Ok(Ok(())),
            Err(error) => return refused(error),
        };
        if let Err(error) = tenant.check("accepts no files", false) {
            return refused(error);
        }
        let path = name.map(|name| crate::name::joined(directory, name));
        let is_shelf = tenant.kind_of(directory) == crate::DirectoryKind::Shelf;
        if let Some(path) = path.filter(|_| is_shelf)
            && self.kept_by_path(&tenant, &path)?.is_some()
        {
            let error = DepotError::FileExists { tenant: tenant.name.clone(), path };
            return Ok(Err((NotAdopted::PathTaken, error.to_string())));
        }
        Ok(Ok(()))
    }
}

fn unreadable(error: VolumeError) -> Refusal {
    let why = if error.is_damage() { NotAdopted::Damaged } else { NotAdopted::Unreadable };
    (why, error.to_string())
}

fn copy(reader: &mut StoredReader, upload: &mut Upload) -> Result<(), DepotError> {
    let mut buffer = vec![0; COPY_BYTES];
    let mut offset = 0;
    loop {
        match reader.read_at(offset, &mut buffer)? {
            0 => return Ok(()),
            read => {
                upload.write(&buffer[..read])?;
                offset += read as u64;
            }
        }
    }
}
