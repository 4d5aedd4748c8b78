//! A pool in a directory.

use super::any_pool::{
    AnyPool, ClaimRequest, Claimed, Put, Range, ReadError, ResultFile, Sink, Source, TenantChange,
};
use super::json;
use crate::terminal::note;
use crate::{Error, tell_all};
use rialto_client::api::{DepotFileState, DepotScrubAnswer};
use rialto_depot::{
    AfterImport, ClaimOptions, ClaimToken, Depot, DepotError, DepotOptions, Directory,
    DirectoryKind, FileId, FileInfo, NewFile, Quota, TenantInfo, TenantName, Upload, VolumeError,
    VolumePlace, VolumeSpec, WatchSpec,
};
use rialto_depot_desk::{ADOPTIONS_MAX, Adopted};
use rialto_gateway::depot_json::{
    adopted_info, claimed_file, damage_info, dead_letter_info, file_info, record_info, scan_info,
    tenant_info, volume_info, watch_info,
};
use rialto_log::{Cipher, KeyRing};
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
    /// Opens a pool. With `searches`, bytes without a record are searched for at once, whatever their age:
    /// no other process writes any.
    pub(super) fn open(dir: &Path, keys: KeyRing, searches: bool) -> Result<LocalPool, Error> {
        // The pool remembers the directory of its first volume, whatever the next one's working
        // directory is.
        let absolute = std::path::absolute(dir).map_err(Error::file("open", dir))?;
        let mut options = DepotOptions::at(absolute);
        // A key encrypts what this command writes, as in a venue: stored files, history and queues.
        options.volumes.sealing.encryption = keys.current().map(|_| Cipher::Aes256Gcm);
        options.volumes.keys = keys;
        options.volumes.buckets = crate::buckets::buckets();
        if searches {
            options.upkeep.orphan_period = Duration::from_secs(1);
            options.upkeep.orphan_age_min = Duration::ZERO;
        }
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
        let stepped = self.depot.step();
        // It is closed durably even if that fails; the first error is told.
        let closed = self.depot.close();
        stepped.and(closed).map_err(failed)
    }

    fn copy(
        &self,
        mut upload: Upload,
        source: Source<'_>,
        keep: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<Upload, Error> {
        let mut buffer = vec![0; COPIED];
        loop {
            keep()?;
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
        | DepotError::UnknownWatch(_)
        | DepotError::WatchExists(_)
        | DepotError::TooLarge { .. }
        | DepotError::TooMany { .. }
        | DepotError::Volume(VolumeError::InvalidSpec { .. }) => Error::Usage(error.to_string()),
        other => Error::Failed(tell_all(&other)),
    }
}

fn token(text: &str) -> Result<ClaimToken, Error> {
    text.parse().map_err(|error: rialto_depot::InvalidClaimToken| Error::Usage(error.to_string()))
}

fn files(tenant: &TenantName, page: &[FileInfo]) -> Result<Vec<Value>, Error> {
    json::all(page.iter().map(|info| file_info(tenant, info)))
}

impl AnyPool for LocalPool {
    fn put(&self, tenant: &TenantName, file: NewFile, source: Source<'_>) -> Result<Put, Error> {
        let upload = self.depot.begin(tenant, file).map_err(told)?;
        let stored = self.copy(upload, source, &mut || Ok(()))?.finish().map_err(told)?;
        let file = match self.depot.file(tenant, stored.file.id) {
            Ok(info) => file_info(tenant, &info),
            // The file of a repeat may have ended.
            Err(_) => record_info(tenant, &stored.file, DepotFileState::Ended),
        };
        let file = json::of(&file)?;
        Ok(Put { file, is_repeat: stored.is_repeat })
    }

    fn file(&self, tenant: &TenantName, id: FileId) -> Result<Value, Error> {
        let info = self.depot.file(tenant, id).map_err(told)?;
        json::of(&file_info(tenant, &info))
    }

    fn file_at(&self, tenant: &TenantName, path: &str) -> Result<Value, Error> {
        let info = self.depot.file_at(tenant, path).map_err(told)?;
        json::of(&file_info(tenant, &info))
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
        files(tenant, &page)
    }

    fn kept_files(
        &self,
        tenant: &TenantName,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Value>, Error> {
        let page = self.depot.kept_files(tenant, prefix, after, limit).map_err(told)?;
        files(tenant, &page)
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
            Ok(Claimed {
                token: claim.token().to_string(),
                tenant: tenant.clone(),
                id: file.id,
                name: file.name.clone(),
                file: json::of(&claimed_file(claim))?,
                deadline: claim.deadline().0,
                problem: claim.problem().map(str::to_owned),
            })
        };
        claims.map_err(told)?.iter().map(claimed).collect()
    }

    fn renew(&self, text: &str, duration: Duration) -> Result<u64, Error> {
        Ok(self.depot.renew(&token(text)?, duration).map_err(told)?.0)
    }

    fn complete(&self, tokens: &[&str]) -> Result<Vec<Result<(), Error>>, Error> {
        let tokens: Vec<_> = tokens.iter().map(|text| token(text)).collect::<Result<_, _>>()?;
        let completed = self.depot.complete_all(&tokens);
        Ok(completed.into_iter().map(|result| result.map_err(told)).collect())
    }

    fn complete_with(
        &self,
        text: &str,
        results: &[ResultFile],
        keep: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let token = token(text)?;
        let mut prepared = Vec::with_capacity(results.len());
        for result in results {
            let unreadable = |error| Error::file("read", &result.path)(error);
            let mut content = File::open(&result.path).map_err(unreadable)?;
            let mut file = NewFile::new(result.directory.clone(), result.name.clone());
            file.bytes = Some(content.metadata().map_err(unreadable)?.len());
            let upload = self.depot.begin_result(&token, file).map_err(told)?;
            let source = Source { content: &mut content, path: result.path.clone() };
            prepared.push(self.copy(upload, source, keep)?.finish_result().map_err(told)?);
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
        json::all(dead.iter().map(|dead| dead_letter_info(tenant, dead)))
    }

    fn redrive(&self, tenant: &TenantName, limit: u64) -> Result<u64, Error> {
        self.depot.redrive(tenant, limit).map_err(told)
    }

    fn tenants(&self) -> Result<Vec<Value>, Error> {
        let mut all: Vec<TenantInfo> = Vec::new();
        loop {
            let page = self.depot.tenants(all.last().map(|last| &last.name), TENANTS);
            if page.is_empty() {
                return json::all(all.iter().map(tenant_info));
            }
            all.extend(page);
        }
    }

    fn tenant(&self, name: &TenantName) -> Result<Value, Error> {
        json::of(&tenant_info(&self.depot.tenant(name).map_err(told)?))
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
        json::all(self.depot.volumes().iter().map(volume_info))
    }

    fn mount(&self, mut volume: VolumeSpec) -> Result<(), Error> {
        if let VolumePlace::Directory(dir) = &mut volume.place {
            *dir = std::path::absolute(&*dir).map_err(Error::file("mount", &*dir))?;
        }
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

    fn watches(&self) -> Result<Vec<Value>, Error> {
        json::all(self.depot.watches().iter().map(watch_info))
    }

    fn add_watch(&self, mut watch: WatchSpec) -> Result<(), Error> {
        let absolute = |folder: &Path| {
            std::path::absolute(folder).map_err(|error| Error::file("watch", folder)(error))
        };
        watch.folder = absolute(&watch.folder)?;
        if let AfterImport::Move(to) = &mut watch.after {
            *to = absolute(to)?;
        }
        self.depot.add_watch(watch).map_err(told)
    }

    fn enable_watch(&self, name: &str, enabled: bool) -> Result<(), Error> {
        match enabled {
            true => self.depot.enable_watch(name).map_err(told),
            false => self.depot.disable_watch(name).map_err(told),
        }
    }

    fn scan_watch(&self, name: &str) -> Result<Value, Error> {
        // What it imported in this process, the thread of the watch included.
        let imported = || {
            let watches = self.depot.watches();
            watches.iter().find(|it| it.spec.name == name).map_or(0, |watch| watch.imported)
        };
        let mut report = self.depot.scan_watch(name).map_err(told)?;
        // The files were just seen for the first time, and are imported once they have settled. Nobody
        // imports them when this command has ended.
        let settled = Instant::now() + 2 * self.depot.options().watcher.settle;
        while report.pending > 0 && report.paused.is_none() {
            let was_settled = Instant::now() > settled;
            thread::sleep(LOOK_EVERY);
            let before = imported();
            report = self.depot.scan_watch(name).map_err(told)?;
            if was_settled && imported() == before {
                break;
            }
        }
        report.imported = imported();
        json::of(&scan_info(&report))
    }

    fn remove_watch(&self, name: &str) -> Result<(), Error> {
        self.depot.remove_watch(name).map_err(told)
    }

    fn scrub(&self, progress: &mut dyn FnMut(u64)) -> Result<Value, Error> {
        let verified = self.depot.verify(|so_far, _| progress(so_far.files)).map_err(told)?;
        let (damage, volumes) = (self.depot.damage().map_err(told)?, self.depot.volumes());
        let orphans = self.depot.orphans();
        json::of(&DepotScrubAnswer {
            passes: 1.into(),
            files: verified.files.into(),
            bytes: verified.bytes.into(),
            damaged: verified.damaged.into(),
            unreadable: verified.unreadable.into(),
            last_pass_at: Some(self.depot.options().clock.now()),
            damage: damage.iter().map(|file| damage_info(&volumes, file)).collect(),
            orphans: orphans.found.into(),
            quarantined: orphans.quarantined.into(),
        })
    }

    fn adopt(&self, dry_run: bool) -> Result<Value, Error> {
        // Bytes without a record are looked for first. Nothing is being stored meanwhile.
        while self.depot.orphans().searches == 0 {
            if let Some(failure) = self.depot.failure() {
                return Err(Error::Failed(failure));
            }
            thread::sleep(LOOK_EVERY);
        }
        let mut files = Vec::new();
        let adopted = self.depot.adopt(dry_run, |adoption| {
            if files.len() < ADOPTIONS_MAX {
                files.push(adoption.clone());
            }
        });
        let report = adopted.map_err(told)?;
        let volumes = self.depot.volumes();
        json::of(&adopted_info(&Adopted { report, files, volumes }))
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
