//! The pool of a venue.

use super::any_pool::{
    AnyPool, ClaimRequest, Claimed, Put, Range, ReadError, ResultFile, Sink, Source, TenantChange,
};
use super::json;
use super::local;
use super::refusal::{strange, told};
use super::result_body::ResultBody;
use crate::Error;
use crate::remote::Remote;
use bytes::Bytes;
use rialto_client::api::sign::{BodyHash, to_hex};
use rialto_client::api::{
    DepotAdoptRequest, DepotBucketRequest, DepotClaimRequest, DepotDeadLettersQuery,
    DepotDirectoryKind, DepotDirectoryRequest, DepotFailRequest, DepotFileKind, DepotFilesQuery,
    DepotPutQuery, DepotRedriveQuery, DepotRefuseRequest, DepotRenewRequest, DepotSettleRequest,
    DepotSettledAnswer, DepotShelfQuery, DepotTenantRequest, DepotTenantsQuery, DepotVolumeRequest,
    DepotWatchAfter, DepotWatchRequest, Rows,
};
use rialto_client::{
    Client, ClientError, ClientOptions, Credentials, FileUpload, OutgoingContent, PieceSender,
};
use rialto_depot::{
    AfterImport, ClaimToken, DepotError, Directory, DirectoryKind, FileId, FileName, NewFile,
    PAGE_FILES_MAX, Quota, TenantName, VolumePlace, VolumeSpec, WatchSpec, WatchTenants,
};
use serde_json::Value;
use std::fs::File;
use std::future::Future;
use std::io::{self, Read, Seek};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The bytes of content of one piece.
const PIECE: usize = 256 << 10;
/// The longest wait in one request, below the venue's bound.
const WAIT_MAX: Duration = Duration::from_secs(20);
/// The interval at which the end of something that the venue does is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long the bytes of ended files are waited for when a volume is unmounted.
const UNMOUNT_WAIT: Duration = Duration::from_secs(5);
/// How long a venue may take to read a whole folder or quarantine.
const PATIENCE: Duration = Duration::from_secs(3_600);

pub(super) struct RemotePool {
    venue: Remote,
}

impl RemotePool {
    pub(super) fn new(venue: Remote) -> RemotePool {
        RemotePool { venue }
    }

    fn client(&self) -> &Client {
        &self.venue.client
    }

    /// A client that waits longer for an answer.
    fn patient(&self) -> Result<Client, Error> {
        let options = ClientOptions { timeout: PATIENCE, ..ClientOptions::default() };
        let client = self.client();
        Client::with_options(client.url(), client.credentials().clone(), options).map_err(told)
    }

    fn ask<T>(&self, asked: impl Future<Output = Result<T, ClientError>>) -> Result<T, Error> {
        self.venue.block_on(asked).map_err(told)
    }

    /// Whether a content is signed, so that its SHA-256 must be known before it is sent.
    fn signs(&self) -> bool {
        matches!(self.client().credentials(), Credentials::Key { .. })
    }

    /// Sends a request with a content, while `feed` gives its pieces on this thread.
    fn send<T: Send>(
        &self,
        request: impl Future<Output = Result<T, ClientError>> + Send,
        feed: impl FnOnce() -> Result<(), Error>,
    ) -> Result<T, Error> {
        self.send_keeping(request, &mut || Ok(()), |_| feed())
    }

    /// As [`RemotePool::send`], and calls `keep` until the answer is there: what was fed may be on its way
    /// for long.
    fn send_keeping<T: Send>(
        &self,
        request: impl Future<Output = Result<T, ClientError>> + Send,
        keep: &mut dyn FnMut() -> Result<(), Error>,
        feed: impl FnOnce(&mut dyn FnMut() -> Result<(), Error>) -> Result<(), Error>,
    ) -> Result<T, Error> {
        let (fed, answer) = thread::scope(|scope| {
            let (answered, answer_is_there) = mpsc::channel::<()>();
            let answering = scope.spawn(move || {
                // Dropped when there is an answer, or none can come any more.
                let _answered = answered;
                self.venue.block_on(request)
            });
            let fed = feed(keep);
            while answer_is_there.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                // The answer says what a lost claim means.
                let _ = keep();
            }
            (fed, answering.join())
        });
        // A content that cannot be read breaks the request off: its error is the cause.
        fed?;
        answer.map_err(|_| Error::Failed("the request panicked".to_owned()))?.map_err(told)
    }

    /// The SHA-256 of a content that will be signed, and the content from its beginning: a file that is
    /// read twice, or a copy of a content that cannot be.
    fn hashed(&self, source: &mut Source<'_>, is_file: bool) -> Result<(File, [u8; 32]), Error> {
        // A wrong key or address is noticed before a long content is read.
        self.ask(self.client().tenants(&DepotTenantsQuery { after: None, limit: Some(1) }))?;
        let mut hash = BodyHash::default();
        let unreadable = |error| Error::file("read", &source.path)(error);
        if is_file {
            let mut file = File::open(&source.path).map_err(unreadable)?;
            read_all(&mut file, &mut |bytes| {
                hash.update(bytes);
                Ok(true)
            })
            .map_err(|error| error.unwrap_or_else(unreadable))?;
            file.rewind().map_err(unreadable)?;
            return Ok((file, hash.finish()));
        }
        let uncopied = |error| Error::file("write", std::env::temp_dir())(error);
        let mut copy = tempfile::tempfile().map_err(uncopied)?;
        let path = source.path.clone();
        read_all(source.content, &mut |bytes| {
            hash.update(bytes);
            io::Write::write_all(&mut copy, bytes).map(|()| true).map_err(uncopied)
        })
        .map_err(|error| error.unwrap_or_else(Error::file("read", path)))?;
        copy.rewind().map_err(uncopied)?;
        Ok((copy, hash.finish()))
    }

    /// The outcome of a call on one claim.
    fn settled(&self, token: &str, answer: DepotSettledAnswer) -> Result<(), Error> {
        match answer.unreadable.into_iter().next() {
            Some(unreadable) => Err(Error::Failed(unreadable.problem)),
            None if answer.lost.is_empty() => Ok(()),
            None => Err(lost(token)),
        }
    }
}

/// A failure of the reader, or of what takes the pieces.
enum Unread {
    Read(io::Error),
    Taken(Error),
}

impl Unread {
    fn unwrap_or_else(self, unreadable: impl FnOnce(io::Error) -> Error) -> Error {
        match self {
            Unread::Read(error) => unreadable(error),
            Unread::Taken(error) => error,
        }
    }
}

/// Reads a content to its end, or until no more is wanted.
fn read_all(
    content: &mut dyn Read,
    take: &mut dyn FnMut(&[u8]) -> Result<bool, Error>,
) -> Result<(), Unread> {
    let mut buffer = vec![0; PIECE];
    loop {
        match content.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => match take(&buffer[..read]) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) => return Err(Unread::Taken(error)),
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Unread::Read(error)),
        }
    }
}

/// Sends the pieces of a content, and ends it if it could be read.
fn feed(content: &mut dyn Read, path: &std::path::Path, pieces: PieceSender) -> Result<(), Error> {
    let read =
        read_all(content, &mut |bytes| Ok(pieces.blocking_send(Bytes::copy_from_slice(bytes))));
    read.map_err(|error| error.unwrap_or_else(Error::file("read", path)))?;
    pieces.blocking_end();
    Ok(())
}

/// The error of a claim that has ended.
fn lost(token: &str) -> Error {
    match token.parse::<ClaimToken>() {
        Ok(token) => local::told(DepotError::ClaimLost(token.file())),
        Err(error) => Error::Usage(error.to_string()),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn quota(quota: Quota) -> DepotTenantRequest {
    let Quota { files_max, bytes_max } = quota;
    DepotTenantRequest { files_max: files_max.into(), bytes_max: bytes_max.into() }
}

impl AnyPool for RemotePool {
    fn put(
        &self,
        tenant: &TenantName,
        file: NewFile,
        mut source: Source<'_>,
    ) -> Result<Put, Error> {
        let (mut bytes, mut sha256) = (file.bytes, file.sha256);
        let mut hashed = None;
        if self.signs() {
            let (content, got) = self.hashed(&mut source, bytes.is_some())?;
            if let Some(declared) = sha256.filter(|declared| *declared != got) {
                let (expected, got) = (to_hex(&declared), to_hex(&got));
                return Err(local::told(DepotError::Mismatch { what: "SHA-256", expected, got }));
            }
            let metadata = content.metadata().map_err(Error::file("read", &source.path))?;
            (bytes, sha256, hashed) = (Some(metadata.len()), Some(got), Some(content));
        }
        let query = DepotPutQuery {
            directory: Some(file.directory.as_str().into()),
            name: file.name.as_ref().map(|name| name.as_str().into()),
            priority: Some(file.priority).filter(|priority| *priority > 0),
            deliver_at: file.deliver_at,
            expires_at: file.expires_at,
            if_absent: Some(file.if_absent).filter(|it| *it),
            link: None,
        };
        let (pieces, content) = OutgoingContent::channel(bytes);
        let upload = FileUpload {
            content_type: &file.content_type,
            metadata: &file.metadata,
            idempotency_key: file.submit_key.as_deref(),
            sha256,
            content,
        };
        let Source { content, path } = source;
        let stored = self.send(
            self.client().put_file_from(tenant.as_str(), &query, upload),
            || match hashed {
                Some(mut hashed) => feed(&mut hashed, &path, pieces),
                None => feed(content, &path, pieces),
            },
        );
        let (file, is_new) = stored?;
        Ok(Put { file: json::of(&file)?, is_repeat: !is_new })
    }

    fn file(&self, tenant: &TenantName, id: FileId) -> Result<Value, Error> {
        json::of(&self.ask(self.client().file(tenant.as_str(), &id.to_string()))?)
    }

    fn file_at(&self, tenant: &TenantName, path: &str) -> Result<Value, Error> {
        let query = DepotShelfQuery { path: path.into() };
        json::of(&self.ask(self.client().kept_file(tenant.as_str(), &query))?)
    }

    fn read(
        &self,
        tenant: &TenantName,
        id: FileId,
        range: Range,
        sink: Sink<'_>,
    ) -> Result<(), ReadError> {
        if range.length == Some(0) {
            return Ok(());
        }
        let last = range.length.map(|length| range.offset.saturating_add(length - 1));
        let (tenant, id) = (tenant.as_str(), id.to_string());
        let opened = self.venue.block_on(self.client().open_file(tenant, &id, range.offset, last));
        let mut download = match opened {
            Err(error) if error.code() == Some("range_not_satisfiable") => return Ok(()),
            opened => opened.map_err(|error| ReadError::Content(told(error)))?,
        };
        let is_whole = range.offset == 0 && last.is_none();
        let expected = download.sha256().filter(|_| is_whole).map(str::to_owned);
        let mut hash = BodyHash::default();
        // The sink may ask the venue too, so that it runs outside the runtime.
        while let Some(bytes) =
            self.venue.block_on(download.next()).map_err(|error| ReadError::Content(told(error)))?
        {
            if expected.is_some() {
                hash.update(&bytes);
            }
            sink(&bytes).map_err(ReadError::Sink)?;
        }
        let got = to_hex(&hash.finish());
        match expected {
            Some(expected) if expected != got => {
                let what = format!(
                    "the SHA-256 of the content of {id} should be {expected} and is {got}: it was \
                     changed on its way"
                );
                Err(ReadError::Content(Error::Failed(what)))
            }
            _ => Ok(()),
        }
    }

    fn work_files(
        &self,
        tenant: &TenantName,
        prefix: &str,
        after: Option<FileId>,
        limit: usize,
    ) -> Result<Vec<Value>, Error> {
        let query = DepotFilesQuery {
            kind: Some(DepotFileKind::Work),
            prefix: Some(prefix.into()),
            after: after.map(|id| id.to_string().into()),
            limit: Some(limit),
        };
        json::all(self.ask(self.client().files(tenant.as_str(), &query))?.files)
    }

    fn kept_files(
        &self,
        tenant: &TenantName,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Value>, Error> {
        let query = DepotFilesQuery {
            kind: Some(DepotFileKind::Shelf),
            prefix: Some(prefix.into()),
            after: after.map(Into::into),
            limit: Some(limit),
        };
        json::all(self.ask(self.client().files(tenant.as_str(), &query))?.files)
    }

    fn delete(&self, tenant: &TenantName, id: FileId) -> Result<(), Error> {
        self.ask(self.client().delete_file(tenant.as_str(), &id.to_string())).map(drop)
    }

    fn claim(&self, request: &ClaimRequest<'_>) -> Result<Vec<Claimed>, Error> {
        let end = Instant::now() + request.wait;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let body = DepotClaimRequest {
                limit: Some(request.files_max),
                wait_ms: millis(left.min(WAIT_MAX)),
                duration_ms: Some(millis(request.duration)),
                content: false,
            };
            let answer = match request.tenant {
                Some(tenant) => self.ask(self.client().claim_files(tenant.as_str(), &body))?,
                None => self.ask(self.client().claim_any_files(&body))?,
            };
            if answer.claims.is_empty() && left > WAIT_MAX {
                continue;
            }
            let claimed = answer.claims.into_iter().map(|claim| {
                let file = &claim.file;
                Ok(Claimed {
                    tenant: TenantName::new(&file.tenant).map_err(strange)?,
                    id: file.id.0.parse().map_err(strange)?,
                    name: FileName::new(&file.name).map_err(strange)?,
                    file: json::of(file)?,
                    token: claim.claim,
                    deadline: claim.deadline.0,
                    problem: claim.problem,
                })
            });
            return claimed.collect();
        }
    }

    fn renew(&self, token: &str, duration: Duration) -> Result<u64, Error> {
        let claims = Rows(vec![token.into()]);
        let body = DepotRenewRequest { claims, duration_ms: Some(millis(duration)) };
        let answer = self.ask(self.client().renew_claims(&body))?;
        answer.renewed.first().map(|renewed| renewed.deadline.0).ok_or_else(|| lost(token))
    }

    fn complete(&self, tokens: &[&str]) -> Result<Vec<Result<(), Error>>, Error> {
        if tokens.is_empty() {
            return Ok(Vec::new());
        }
        let claims = Rows(tokens.iter().map(|token| (*token).into()).collect());
        let answer = self.ask(self.client().complete_claims(&DepotSettleRequest { claims }))?;
        let outcome = |token: &&str| {
            let unreadable = answer.unreadable.iter().find(|it| it.claim == **token);
            match unreadable {
                Some(unreadable) => Err(Error::Failed(unreadable.problem.clone())),
                None if answer.lost.iter().any(|it| it == token) => Err(lost(token)),
                None => Ok(()),
            }
        };
        Ok(tokens.iter().map(outcome).collect())
    }

    fn complete_with(
        &self,
        token: &str,
        results: &[ResultFile],
        keep: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let body = ResultBody::new(results)?;
        let mut sha256 = None;
        if self.signs() {
            let mut hash = BodyHash::default();
            body.write(&mut |bytes| {
                keep()?;
                hash.update(bytes);
                Ok(true)
            })?;
            sha256 = Some(hash.finish());
        }
        let (pieces, content) = OutgoingContent::channel(Some(body.bytes()));
        let request = self.client().complete_claim_with(token, sha256, content);
        self.send_keeping(request, keep, |keep| {
            body.write(&mut |bytes| {
                keep()?;
                Ok(pieces.blocking_send(Bytes::copy_from_slice(bytes)))
            })?;
            pieces.blocking_end();
            Ok(())
        })
    }

    fn fail(&self, token: &str, reason: &str, delay: Option<Duration>) -> Result<(), Error> {
        let body = DepotFailRequest {
            claims: Rows(vec![token.into()]),
            reason: Some(reason.into()),
            delay_ms: delay.map(millis),
        };
        let answer = self.ask(self.client().fail_claims(&body))?;
        self.settled(token, answer)
    }

    fn refuse(&self, token: &str, reason: &str) -> Result<(), Error> {
        let claims = Rows(vec![token.into()]);
        let body = DepotRefuseRequest { claims, reason: Some(reason.into()) };
        let answer = self.ask(self.client().refuse_claims(&body))?;
        self.settled(token, answer)
    }

    fn give_back(&self, token: &str) -> Result<(), Error> {
        let body = DepotSettleRequest { claims: Rows(vec![token.into()]) };
        let answer = self.ask(self.client().return_claims(&body))?;
        self.settled(token, answer)
    }

    fn dead_letters(&self, tenant: &TenantName, limit: usize) -> Result<Vec<Value>, Error> {
        let query = DepotDeadLettersQuery { limit: Some(limit.min(PAGE_FILES_MAX)) };
        json::all(self.ask(self.client().dead_files(tenant.as_str(), &query))?.dead_letters)
    }

    fn redrive(&self, tenant: &TenantName, limit: u64) -> Result<u64, Error> {
        let query = DepotRedriveQuery { limit: Some(limit) };
        Ok(self.ask(self.client().redrive_files(tenant.as_str(), &query))?.redriven.0)
    }

    fn tenants(&self) -> Result<Vec<Value>, Error> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let query = DepotTenantsQuery { after, limit: Some(PAGE_FILES_MAX) };
            let page = self.ask(self.client().tenants(&query))?;
            all.extend(json::all(page.tenants)?);
            match page.next {
                Some(next) => after = Some(next.into()),
                None => return Ok(all),
            }
        }
    }

    fn tenant(&self, name: &TenantName) -> Result<Value, Error> {
        json::of(&self.ask(self.client().tenant(name.as_str()))?)
    }

    fn create_tenant(&self, name: &TenantName, limits: Quota) -> Result<(), Error> {
        // The request would set the quota of a tenant that exists.
        match self.venue.block_on(self.client().tenant(name.as_str())) {
            Ok(_) => return Err(local::told(DepotError::TenantExists(name.clone()))),
            Err(error) if error.code() == Some("unknown_tenant") => {}
            Err(error) => return Err(told(error)),
        }
        self.set_quota(name, limits)
    }

    fn set_quota(&self, name: &TenantName, limits: Quota) -> Result<(), Error> {
        self.ask(self.client().set_tenant(name.as_str(), &quota(limits))).map(drop)
    }

    fn set_directory(
        &self,
        name: &TenantName,
        directory: &Directory,
        kind: Option<DirectoryKind>,
        limits: Quota,
    ) -> Result<(), Error> {
        let DepotTenantRequest { files_max, bytes_max } = quota(limits);
        let body = DepotDirectoryRequest {
            directory: directory.as_str().into(),
            kind: kind.map(|kind| match kind {
                DirectoryKind::Work => DepotDirectoryKind::Work,
                DirectoryKind::Shelf => DepotDirectoryKind::Shelf,
            }),
            files_max,
            bytes_max,
        };
        self.ask(self.client().set_directory(name.as_str(), &body)).map(drop)
    }

    fn change_tenant(&self, name: &TenantName, change: TenantChange) -> Result<(), Error> {
        let (client, tenant) = (self.client(), name.as_str());
        match change {
            TenantChange::Enable => self.ask(client.enable_tenant(tenant)).map(drop),
            TenantChange::Disable => self.ask(client.disable_tenant(tenant)).map(drop),
            TenantChange::Drain => self.ask(client.drain_tenant(tenant)).map(drop),
            TenantChange::Delete => {
                self.ask(client.delete_tenant(tenant))?;
                loop {
                    match self.venue.block_on(client.tenant(tenant)) {
                        Ok(_) => thread::sleep(LOOK_EVERY),
                        Err(error) if error.code() == Some("unknown_tenant") => return Ok(()),
                        Err(error) => return Err(told(error)),
                    }
                }
            }
        }
    }

    fn volumes(&self) -> Result<Vec<Value>, Error> {
        json::all(self.ask(self.client().volumes())?.volumes)
    }

    fn mount(&self, volume: VolumeSpec) -> Result<(), Error> {
        let (dir, bucket) = match &volume.place {
            VolumePlace::Directory(dir) => (Some(dir.to_string_lossy().into()), None),
            VolumePlace::Bucket(it) => {
                let bucket = DepotBucketRequest {
                    bucket: it.bucket.as_str().into(),
                    prefix: Some(it.prefix.as_str().into()),
                    endpoint: it.endpoint.as_str().into(),
                    region: it.region.as_str().into(),
                    allow_http: Some(it.allow_http),
                };
                (None, Some(bucket))
            }
        };
        let body = DepotVolumeRequest {
            name: volume.name.as_str().into(),
            dir,
            bucket,
            weight: Some(volume.weight),
            identity: volume.identity.map(|identity| identity.to_string().into()),
        };
        self.ask(self.client().mount_volume(&body)).map(drop)
    }

    fn drain_volume(&self, name: &str, draining: bool) -> Result<(), Error> {
        match draining {
            true => self.ask(self.client().drain_volume(name)).map(drop),
            false => self.ask(self.client().undrain_volume(name)).map(drop),
        }
    }

    fn unmount(&self, name: &str) -> Result<(), Error> {
        let end = Instant::now() + UNMOUNT_WAIT;
        loop {
            match self.venue.block_on(self.client().unmount_volume(name)) {
                // The stored bytes of ended files count until the venue has removed them.
                Err(error) if error.code() == Some("volume_in_use") && Instant::now() < end => {
                    thread::sleep(LOOK_EVERY);
                }
                result => return result.map(drop).map_err(told),
            }
        }
    }

    fn watches(&self) -> Result<Vec<Value>, Error> {
        json::all(self.ask(self.client().watches())?.watches)
    }

    fn add_watch(&self, watch: WatchSpec) -> Result<(), Error> {
        let (tenant, create_tenants) = match &watch.tenants {
            WatchTenants::One(tenant) => (Some(tenant.as_str().into()), false),
            WatchTenants::FirstLevel { create } => (None, *create),
        };
        let (after, move_to) = match &watch.after {
            AfterImport::Delete => (DepotWatchAfter::Delete, None),
            AfterImport::Move(to) => (DepotWatchAfter::Move, Some(to.to_string_lossy().into())),
            AfterImport::Keep => (DepotWatchAfter::Keep, None),
        };
        let rows = |texts: &[String]| Rows(texts.iter().map(|text| text.clone().into()).collect());
        let body = DepotWatchRequest {
            name: watch.name.as_str().into(),
            folder: watch.folder.to_string_lossy().into(),
            tenant,
            create_tenants,
            directory: Some(watch.directory.as_str().into()),
            recursive: watch.recursive,
            include: Some(rows(&watch.include)),
            exclude: Some(rows(&watch.exclude)),
            bytes_min: watch.bytes_min.into(),
            bytes_max: watch.bytes_max.into(),
            age_min_ms: millis(watch.age_min),
            after,
            move_to,
        };
        self.ask(self.client().add_watch(&body)).map(drop)
    }

    fn enable_watch(&self, name: &str, enabled: bool) -> Result<(), Error> {
        match enabled {
            true => self.ask(self.client().enable_watch(name)).map(drop),
            false => self.ask(self.client().disable_watch(name)).map(drop),
        }
    }

    fn scan_watch(&self, name: &str) -> Result<Value, Error> {
        let client = self.patient()?;
        json::of(&self.ask(client.scan_watch(name))?)
    }

    fn remove_watch(&self, name: &str) -> Result<(), Error> {
        self.ask(self.client().remove_watch(name)).map(drop)
    }

    fn scrub(&self, _: &mut dyn FnMut(u64)) -> Result<Value, Error> {
        json::of(&self.ask(self.client().scrub())?)
    }

    fn adopt(&self, dry_run: bool) -> Result<Value, Error> {
        let client = self.patient()?;
        json::of(&self.ask(client.adopt_files(&DepotAdoptRequest { dry_run }))?)
    }
}
