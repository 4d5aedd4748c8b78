//! Storing, reading, listing and deleting files.

use crate::content::FileContent;
use crate::error::depot_error;
use crate::policy::NeedsDepotRight;
use crate::service::{DepotService, joined, principal};
use crate::shelves::RESERVED_TENANTS;
use crate::{DepotPrincipal, TransferSlot, may_store};
use rialto_api::DepotRight;
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Context, Error, ErrorKind, Handler, Query, Request, Result};
use rialto_depot::{
    DeadFile, Depot, DepotError, FileId, FileInfo, FileReader, FileRecord, NewFile, PAGE_FILES_MAX,
    TenantName,
};
use rialto_desk::AtField;
use std::sync::Arc;
use tokio::sync::OwnedMutexGuard;

/// Stores a file. The answer comes when it exists, as durably as its level says.
pub struct StoreFile {
    /// The tenant.
    pub tenant: TenantName,
    /// Everything but the content.
    pub file: NewFile,
    /// The content.
    pub content: FileContent,
}

/// A stored file.
pub struct AcceptedFile {
    /// The file.
    pub record: Arc<FileRecord>,
    /// The file as it is now; `None` if it has ended already.
    pub info: Option<FileInfo>,
    /// Whether it was accepted earlier under the same submit key.
    pub is_repeat: bool,
}

/// Opens a file to be read, whatever its state.
pub struct ReadFile {
    /// The tenant.
    pub tenant: TenantName,
    /// The file.
    pub id: FileId,
}

/// A file that is being read.
pub struct OpenedFile {
    /// Its content.
    pub reader: FileReader,
    /// Counts the download until it is dropped.
    pub slot: TransferSlot,
}

/// Describes a file.
pub struct FindFile {
    /// The tenant.
    pub tenant: TenantName,
    /// The file.
    pub id: FileId,
}

/// Describes the file that is kept under a path.
pub struct FindKept {
    /// The tenant.
    pub tenant: TenantName,
    /// Directory and name.
    pub path: String,
}

/// Which files a page has, and behind what it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileList {
    /// Work files, in the order of their arrival.
    Work(Option<FileId>),
    /// Kept files, in the order of their paths.
    Kept(Option<String>),
}

/// Lists files of a tenant.
pub struct ListFiles {
    /// The tenant.
    pub tenant: TenantName,
    /// Which files.
    pub list: FileList,
    /// Only files whose path begins so.
    pub prefix: String,
    /// The most files.
    pub max: usize,
}

/// Deletes a file that is not claimed.
pub struct DeleteFile {
    /// The tenant.
    pub tenant: TenantName,
    /// The file.
    pub id: FileId,
}

/// Lists dead letters of a tenant, oldest first.
pub struct ListDeadFiles {
    /// The tenant.
    pub tenant: TenantName,
    /// The most dead letters.
    pub max: usize,
}

/// Lets dead letters of a tenant be claimed again. Answers their number.
pub struct RedriveFiles {
    /// The tenant.
    pub tenant: TenantName,
    /// The most dead letters.
    pub max: u64,
}

/// Implements [`Request`], [`Command`] or [`Query`], and [`NeedsDepotRight`] for requests about files
/// of one tenant.
macro_rules! of_tenant {
    ($($name:literal $Kind:ident $Request:ident => $Response:ty, [$($right:ident),*];)*) => { $(
        impl Request for $Request {
            type Response = $Response;
            const NAME: &'static str = $name;
        }

        impl $Kind for $Request {}

        impl NeedsDepotRight for $Request {
            fn check(&self, client: &DepotPrincipal) -> Result<()> {
                client.require(&[$(DepotRight::$right),*], &self.tenant)
            }
        }
    )* };
}

of_tenant! {
    "store_file" Command StoreFile => AcceptedFile, [Write];
    "read_file" Query ReadFile => OpenedFile, [Read, Work];
    "find_file" Query FindFile => FileInfo, [Read, Work];
    "find_kept" Query FindKept => FileInfo, [Read];
    "list_files" Query ListFiles => Vec<FileInfo>, [Read];
    "delete_file" Command DeleteFile => (), [Write];
    "list_dead_files" Query ListDeadFiles => Vec<DeadFile>, [Read, Work];
    "redrive_files" Command RedriveFiles => u64, [Work];
}

/// Requests that need no validation, or that the depot validates itself.
macro_rules! always_valid {
    ($($Request:ident)*) => { $(
        impl Validate for $Request {
            fn validate(&self) -> Result<()> {
                Ok(())
            }
        }
    )* };
}

always_valid! { StoreFile ReadFile FindFile FindKept DeleteFile RedriveFiles }

impl Validate for ListFiles {
    fn validate(&self) -> Result<()> {
        check_page(self.max)
    }
}

impl Validate for ListDeadFiles {
    fn validate(&self) -> Result<()> {
        check_page(self.max)
    }
}

pub(crate) fn check_page(max: usize) -> Result<()> {
    match max {
        1..=PAGE_FILES_MAX => Ok(()),
        _ => {
            let message = format!("A page has 1 to {PAGE_FILES_MAX} entries.");
            Err(AtField("limit").invalid(message))
        }
    }
}

impl DepotService {
    /// Refuses a request that would create one tenant more than a grant of the client allows. The caller
    /// holds the guard until the tenant exists, so that simultaneous requests do not pass together.
    pub(crate) async fn check_new_tenant(
        &self,
        client: &DepotPrincipal,
        tenant: &TenantName,
    ) -> Result<Option<OwnedMutexGuard<()>>> {
        if self.depot.has_tenant(tenant) {
            return Ok(None);
        }
        if RESERVED_TENANTS.contains(&tenant.as_str()) {
            let message = format!("{tenant} is a word of paths, and no name of a tenant.");
            return Err(Error::new(ErrorKind::Invalid, "invalid_field", message));
        }
        if client.is_operator() {
            return Ok(None);
        }
        let creating = self.creating.clone().lock_owned().await;
        if self.depot.has_tenant(tenant) {
            return Ok(None);
        }
        let max = self.limits.grant_tenants_max;
        let names = self.depot.tenant_names();
        let has_room = |grant: &&rialto_api::DepotGrant| {
            grant.allows(DepotRight::Write, tenant.as_str())
                && names.iter().filter(|name| grant.tenants.matches(name.as_str())).count() < max
        };
        if client.grants().iter().any(|grant| has_room(&grant)) {
            return Ok(Some(creating));
        }
        let message = format!(
            "There is no tenant {tenant}, and this key's grant has {max} tenants, so that its file \
             does not create it; an operator can."
        );
        Err(Error::new(ErrorKind::Busy, "grant_tenants", message).retryable(false))
    }
}

/// Streams the content into a file. `Ok(None)` says that the content ended before its end.
fn store(
    depot: &Depot,
    tenant: &TenantName,
    file: NewFile,
    mut content: FileContent,
    creating: Option<OwnedMutexGuard<()>>,
) -> std::result::Result<Option<AcceptedFile>, DepotError> {
    let mut upload = depot.begin(tenant, file)?;
    drop(creating);
    loop {
        match content.next() {
            Ok(Some(piece)) => upload.write(&piece)?,
            Ok(None) => break,
            Err(_interrupted) => return Ok(None),
        }
    }
    let stored = upload.finish()?;
    // A worker may have completed it by now.
    let info = depot.file(tenant, stored.file.id).ok();
    Ok(Some(AcceptedFile { record: stored.file, info, is_repeat: stored.is_repeat }))
}

impl Handler<StoreFile> for DepotService {
    async fn handle(&self, request: StoreFile, cx: &Context<'_>) -> Result<AcceptedFile> {
        let StoreFile { tenant, file, content } = request;
        let client = principal(cx)?;
        may_store(client, &tenant)?;
        let slot = self.uploads.begin(client.id())?;
        let creating = self.check_new_tenant(client, &tenant).await?;
        let depot = self.depot.clone();
        let storing = move || {
            let stored = store(&depot, &tenant, file, content, creating);
            drop(slot);
            stored
        };
        let stored = joined(tokio::task::spawn_blocking(storing).await)?.map_err(depot_error)?;
        stored.ok_or_else(|| {
            let message = "The content ended before its end; nothing was stored.";
            Error::new(ErrorKind::Invalid, "upload_interrupted", message)
        })
    }
}

impl Handler<ReadFile> for DepotService {
    async fn handle(&self, read: ReadFile, cx: &Context<'_>) -> Result<OpenedFile> {
        let ReadFile { tenant, id } = read;
        let slot = self.downloads.begin(principal(cx)?.id())?;
        let reader = self.run_blocking(move |depot| depot.open_file(&tenant, id)).await?;
        Ok(OpenedFile { reader, slot })
    }
}

impl Handler<FindFile> for DepotService {
    async fn handle(&self, FindFile { tenant, id }: FindFile, _: &Context<'_>) -> Result<FileInfo> {
        self.run_blocking(move |depot| depot.file(&tenant, id)).await
    }
}

impl Handler<FindKept> for DepotService {
    async fn handle(&self, find: FindKept, _: &Context<'_>) -> Result<FileInfo> {
        self.run_blocking(move |depot| depot.file_at(&find.tenant, &find.path)).await
    }
}

impl Handler<ListFiles> for DepotService {
    async fn handle(&self, list: ListFiles, _: &Context<'_>) -> Result<Vec<FileInfo>> {
        let ListFiles { tenant, list, prefix, max } = list;
        self.run_blocking(move |depot| match list {
            FileList::Work(after) => depot.work_files(&tenant, &prefix, after, max),
            FileList::Kept(after) => depot.kept_files(&tenant, &prefix, after.as_deref(), max),
        })
        .await
    }
}

impl Handler<DeleteFile> for DepotService {
    async fn handle(&self, DeleteFile { tenant, id }: DeleteFile, _: &Context<'_>) -> Result<()> {
        self.run_blocking(move |depot| depot.delete(&tenant, id)).await
    }
}

impl Handler<ListDeadFiles> for DepotService {
    async fn handle(&self, list: ListDeadFiles, _: &Context<'_>) -> Result<Vec<DeadFile>> {
        self.run_blocking(move |depot| depot.dead_files(&list.tenant, list.max)).await
    }
}

impl Handler<RedriveFiles> for DepotService {
    async fn handle(&self, redrive: RedriveFiles, _: &Context<'_>) -> Result<u64> {
        self.run_blocking(move |depot| depot.redrive(&redrive.tenant, redrive.max)).await
    }
}
