//! A pool in a directory.

use super::any_pool::{
    AnyPool, ClaimRequest, Claimed, Put, Range, ReadError, ResultFile, Sink, Source, TenantChange,
};
use super::json;
use crate::terminal::note;
use crate::{Error, tell_all};
use rialto_depot::{
    ClaimOptions, ClaimToken, Depot, DepotError, DepotOptions, Directory, DirectoryKind, FileId,
    FileInfo, NewFile, Quota, TenantInfo, TenantName, Upload, VolumeError, VolumeSpec,
};
use rialto_log::KeyRing;
use serde_json::Value;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// The bytes of content that are copied at a time.
const COPIED: usize = 1 << 20;
/// The tenants of one page.
const TENANTS: usize = 1_000;
/// The interval at which a worker of all tenants looks for files.
const LOOK_EVERY: Duration = Duration::from_millis(20);

pub(super) struct LocalPool {
    depot: Depot,
    dir: PathBuf,
}

impl LocalPool {
    pub(super) fn open(dir: &Path, keys: KeyRing) -> Result<LocalPool, Error> {
        // The pool remembers the directory of its first volume, whatever the next one's working
        // directory is.
        let absolute = std::path::absolute(dir).map_err(Error::file("open", dir))?;
        let mut options = DepotOptions::at(absolute);
        options.volumes.keys = keys;
        let failed = |error| Error::Failed(format!("{}: {}", dir.display(), tell_all(&error)));
        let depot = match Depot::open(options.clone()) {
            // That of a venue, which the pool keeps.
            Err(DepotError::OtherLevel { level, .. }) => Depot::open(options.level(level)),
            opened => opened,
        };
        let depot = depot.map_err(failed)?;
        for volume in &depot.report().absent_volumes {
            note(format_args!("the files of an absent volume cannot be read: {volume}"));
        }
        Ok(LocalPool { depot, dir: dir.to_owned() })
    }

    pub(super) fn depot(&self) -> &Depot {
        &self.depot
    }

    pub(super) fn close(self) -> Result<(), Error> {
        let failed = |error| Error::Failed(format!("{}: {}", self.dir.display(), tell_all(&error)));
        // Stored bytes of ended files are removed now, and not when the pool is opened next.
        self.depot.step().and_then(|()| self.depot.close()).map_err(failed)
    }

    fn copy(&self, mut upload: Upload, source: Source<'_>) -> Result<Upload, Error> {
        let mut buffer = vec![0; COPIED];
        loop {
            match source.content.read(&mut buffer) {
                Ok(0) => return Ok(upload),
                Ok(read) => upload.write(&buffer[..read]).map_err(told)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::file("read", source.path)(error)),
            }
        }
    }
}

/// For `map_err`: the failure of a call on the pool.
pub(super) fn told(error: DepotError) -> Error {
    match error {
        DepotError::Name(_)
        | DepotError::Invalid { .. }
        | DepotError::UnknownTenant(_)
        | DepotError::TenantExists(_)
        | DepotError::UnknownFile { .. }
        | DepotError::FileExists { .. }
        | DepotError::UnknownVolume(_)
        | DepotError::TooLarge { .. }
        | DepotError::TooMany { .. }
        | DepotError::Volume(VolumeError::InvalidSpec { .. }) => Error::Usage(error.to_string()),
        other => Error::Failed(tell_all(&other)),
    }
}

fn token(text: &str) -> Result<ClaimToken, Error> {
    text.parse().map_err(|error: rialto_depot::InvalidClaimToken| Error::Usage(error.to_string()))
}

fn files(tenant: &TenantName, page: &[FileInfo]) -> Vec<Value> {
    page.iter().map(|info| json::file(tenant.as_str(), info)).collect()
}

impl AnyPool for LocalPool {
    fn put(&self, tenant: &TenantName, file: NewFile, source: Source<'_>) -> Result<Put, Error> {
        let upload = self.depot.begin(tenant, file).map_err(told)?;
        let stored = self.copy(upload, source)?.finish().map_err(told)?;
        let file = match self.depot.file(tenant, stored.file.id) {
            Ok(info) => json::file(tenant.as_str(), &info),
            // The file of a repeat may have ended.
            Err(_) => json::record(tenant.as_str(), &stored.file),
        };
        Ok(Put { file, is_repeat: stored.is_repeat })
    }

    fn file(&self, tenant: &TenantName, id: FileId) -> Result<Value, Error> {
        let info = self.depot.file(tenant, id).map_err(told)?;
        Ok(json::file(tenant.as_str(), &info))
    }

    fn file_at(&self, tenant: &TenantName, path: &str) -> Result<Value, Error> {
        let info = self.depot.file_at(tenant, path).map_err(told)?;
        Ok(json::file(tenant.as_str(), &info))
    }

    fn read(
        &self,
        tenant: &TenantName,
        id: FileId,
        range: Range,
        sink: Sink<'_>,
    ) -> Result<(), ReadError> {
        let content = |error| ReadError::Content(told(error));
        let mut reader = self.depot.open_file(tenant, id).map_err(content)?;
        let bytes = reader.file().bytes;
        let begin = range.offset.min(bytes);
        let end = range.length.map_or(bytes, |length| begin.saturating_add(length).min(bytes));
        let mut buffer = vec![0; COPIED];
        let mut at = begin;
        while at < end {
            let wanted = usize::try_from(end - at).unwrap_or(COPIED).min(COPIED);
            let read = reader.read_at(at, &mut buffer[..wanted]).map_err(content)?;
            if read == 0 {
                let reason = format!("the content of {id} ends at byte {at} of {bytes}");
                return Err(ReadError::Content(Error::Failed(reason)));
            }
            sink(&buffer[..read]).map_err(ReadError::Sink)?;
            at += read as u64;
        }
        Ok(())
    }

    fn work_files(
        &self,
        tenant: &TenantName,
        prefix: &str,
        after: Option<FileId>,
        limit: usize,
    ) -> Result<Vec<Value>, Error> {
        let page = self.depot.work_files(tenant, prefix, after, limit).map_err(told)?;
        Ok(files(tenant, &page))
    }

    fn kept_files(
        &self,
        tenant: &TenantName,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Value>, Error> {
        let page = self.depot.kept_files(tenant, prefix, after, limit).map_err(told)?;
        Ok(files(tenant, &page))
    }

    fn delete(&self, tenant: &TenantName, id: FileId) -> Result<(), Error> {
        self.depot.delete(tenant, id).map_err(told)
    }

    fn claim(&self, request: &ClaimRequest<'_>) -> Result<Vec<Claimed>, Error> {
        let options = ClaimOptions::up_to(request.files_max).lasting(request.duration);
        let claims = match request.tenant {
            Some(tenant) => self.depot.claim_within(tenant, &options, request.wait),
            None => self.claim_any_within(&options, request.wait),
        };
        let claimed = |claim: &rialto_depot::Claim| {
            let (tenant, file) = (claim.tenant(), claim.file());
            Claimed {
                token: claim.token().to_string(),
                tenant: tenant.clone(),
                id: file.id,
                name: file.name.clone(),
                file: json::claimed(tenant.as_str(), file, claim.attempt(), claim.deadline()),
                deadline: claim.deadline().0,
                problem: claim.problem().map(str::to_owned),
            }
        };
        Ok(claims.map_err(told)?.iter().map(claimed).collect())
    }

    fn renew(&self, text: &str, duration: Duration) -> Result<u64, Error> {
        Ok(self.depot.renew(&token(text)?, duration).map_err(told)?.0)
    }

    fn complete(&self, tokens: &[&str]) -> Result<Vec<Result<(), Error>>, Error> {
        let tokens: Vec<_> = tokens.iter().map(|text| token(text)).collect::<Result<_, _>>()?;
        let completed = self.depot.complete_all(&tokens);
        Ok(completed.into_iter().map(|result| result.map_err(told)).collect())
    }

    fn complete_with(&self, text: &str, results: &[ResultFile]) -> Result<(), Error> {
        let token = token(text)?;
        let mut prepared = Vec::with_capacity(results.len());
        for result in results {
            let unreadable = |error| Error::file("read", &result.path)(error);
            let mut content = File::open(&result.path).map_err(unreadable)?;
            let mut file = NewFile::new(result.directory.clone(), result.name.clone());
            file.bytes = Some(content.metadata().map_err(unreadable)?.len());
            let upload = self.depot.begin_result(&token, file).map_err(told)?;
            let source = Source { content: &mut content, path: result.path.clone() };
            prepared.push(self.copy(upload, source)?.finish_result().map_err(told)?);
        }
        self.depot.complete_with(&token, prepared).map_err(told)
    }

    fn fail(&self, text: &str, reason: &str, delay: Option<Duration>) -> Result<(), Error> {
        self.depot.fail(&token(text)?, reason, delay).map_err(told)
    }

    fn refuse(&self, text: &str, reason: &str) -> Result<(), Error> {
        self.depot.refuse(&token(text)?, reason).map_err(told)
    }

    fn give_back(&self, text: &str) -> Result<(), Error> {
        self.depot.give_back(&token(text)?).map_err(told)
    }

    fn dead_letters(&self, tenant: &TenantName, limit: usize) -> Result<Vec<Value>, Error> {
        let dead = self.depot.dead_files(tenant, limit).map_err(told)?;
        Ok(dead.iter().map(|dead| json::dead(tenant.as_str(), dead)).collect())
    }

    fn redrive(&self, tenant: &TenantName, limit: u64) -> Result<u64, Error> {
        self.depot.redrive(tenant, limit).map_err(told)
    }

    fn tenants(&self) -> Result<Vec<Value>, Error> {
        let mut all: Vec<TenantInfo> = Vec::new();
        loop {
            let page = self.depot.tenants(all.last().map(|last| &last.name), TENANTS);
            if page.is_empty() {
                return Ok(all.iter().map(json::tenant).collect());
            }
            all.extend(page);
        }
    }

    fn tenant(&self, name: &TenantName) -> Result<Value, Error> {
        Ok(json::tenant(&self.depot.tenant(name).map_err(told)?))
    }

    fn create_tenant(&self, name: &TenantName, quota: Quota) -> Result<(), Error> {
        self.depot.create_tenant(name, quota).map_err(told)
    }

    fn set_quota(&self, name: &TenantName, quota: Quota) -> Result<(), Error> {
        self.depot.set_quota(name, quota).map_err(told)
    }

    fn set_directory(
        &self,
        name: &TenantName,
        directory: &Directory,
        kind: Option<DirectoryKind>,
        quota: Quota,
    ) -> Result<(), Error> {
        self.depot.set_directory(name, directory, kind, quota).map_err(told)
    }

    fn change_tenant(&self, name: &TenantName, change: TenantChange) -> Result<(), Error> {
        match change {
            TenantChange::Enable => self.depot.enable_tenant(name).map_err(told),
            TenantChange::Disable => self.depot.disable_tenant(name).map_err(told),
            TenantChange::Drain => self.depot.drain_tenant(name).map_err(told),
            TenantChange::Delete => {
                self.depot.delete_tenant(name).map_err(told)?;
                while self.depot.tenant(name).is_ok() {
                    self.depot.step().map_err(told)?;
                }
                Ok(())
            }
        }
    }

    fn volumes(&self) -> Result<Vec<Value>, Error> {
        Ok(self.depot.volumes().iter().map(json::volume).collect())
    }

    fn mount(&self, mut volume: VolumeSpec) -> Result<(), Error> {
        let absolute = std::path::absolute(&volume.dir);
        volume.dir = absolute.map_err(Error::file("mount", &volume.dir))?;
        self.depot.mount(volume).map(drop).map_err(told)
    }

    fn drain_volume(&self, name: &str, draining: bool) -> Result<(), Error> {
        self.depot.drain_volume(name, draining).map_err(told)
    }

    fn unmount(&self, name: &str) -> Result<(), Error> {
        let mut files_before = usize::MAX;
        loop {
            match self.depot.unmount(name) {
                // The stored bytes of ended files count until the housekeeping has removed them.
                Err(DepotError::VolumeInUse { files, .. }) if files < files_before => {
                    files_before = files;
                    self.depot.step().map_err(told)?;
                }
                result => return result.map_err(told),
            }
        }
    }
}

impl LocalPool {
    /// Claims files of any tenant, and waits for the first one.
    fn claim_any_within(
        &self,
        options: &ClaimOptions,
        wait: Duration,
    ) -> Result<Vec<rialto_depot::Claim>, DepotError> {
        let begin = Instant::now();
        loop {
            let claims = self.depot.claim_any(options, |_| true)?;
            let left = wait.saturating_sub(begin.elapsed());
            if !claims.is_empty() || left.is_zero() {
                return Ok(claims);
            }
            thread::sleep(left.min(LOOK_EVERY));
        }
    }
}
