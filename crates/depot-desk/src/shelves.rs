//! Requests of clients that name files by their paths: they see shelves alone.

use crate::DepotPrincipal;
use crate::files::check_page;
use crate::policy::NeedsDepotRight;
use crate::service::{DepotService, principal};
use rialto_api::DepotRight;
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Context, Error, ErrorKind, Handler, Query, Request, Result};
use rialto_depot::{
    Depot, DepotError, Directory, DirectoryKind, FileInfo, PAGE_FILES_MAX, Quota, TenantName,
};

/// The directory with the parts of uploads in progress. Paths below it are not listed in a
/// [`ListTree`].
pub const PARTS_DIRECTORY: &str = ".multipart";
/// Names that tenants of a venue cannot have, because they are words of paths over HTTP.
pub const RESERVED_TENANTS: [&str; 4] = ["claims", "tenants", "volumes", "watches"];

/// How many files are looked at behind a common prefix at first.
const LOOK_FILES: usize = 100;

/// Lists kept files in the order of their paths, those behind a delimiter as one entry.
pub struct ListTree {
    /// The tenant.
    pub tenant: TenantName,
    /// Only files whose path begins so.
    pub prefix: String,
    /// Paths with the same begin up to this text, behind the prefix, are one entry; empty for none.
    pub delimiter: String,
    /// The entry of the page before, or any path; empty for the first page.
    pub after: String,
    /// The most entries.
    pub max: usize,
}

/// An entry of a page of a [`ListTree`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeEntry {
    /// A file.
    File(FileInfo),
    /// The begin of the paths of several files, with the delimiter.
    Prefix(String),
}

impl TreeEntry {
    /// The path, or the begin of the paths: `after` of the next page.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            TreeEntry::File(file) => file.record.path(),
            TreeEntry::Prefix(prefix) => prefix.clone(),
        }
    }
}

/// A page of entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreePage {
    /// The entries.
    pub entries: Vec<TreeEntry>,
    /// Whether there are more.
    pub has_more: bool,
}

/// Deletes the file that is kept under a path. Answers whether there was one.
pub struct DeleteKept {
    /// The tenant.
    pub tenant: TenantName,
    /// Directory and name.
    pub path: String,
}

/// Makes a tenant all of whose files are kept. A client that may store its files may make it, within
/// the number of tenants of its grant.
pub struct CreateShelf {
    /// The tenant.
    pub tenant: TenantName,
}

/// Deletes a tenant without files.
pub struct DeleteEmptyTenant {
    /// The tenant.
    pub tenant: TenantName,
}

/// Makes [`PARTS_DIRECTORY`] a shelf, so that parts of uploads are kept.
pub struct KeepParts {
    /// The tenant.
    pub tenant: TenantName,
}

/// Implements [`Request`], [`Command`] or [`Query`], and [`NeedsDepotRight`].
macro_rules! of_tenant {
    ($($name:literal $Kind:ident $Request:ident => $Response:ty, $right:ident;)*) => { $(
        impl Request for $Request {
            type Response = $Response;
            const NAME: &'static str = $name;
        }

        impl $Kind for $Request {}

        impl NeedsDepotRight for $Request {
            fn check(&self, client: &DepotPrincipal) -> Result<()> {
                client.require(&[DepotRight::$right], &self.tenant)
            }
        }
    )* };
}

of_tenant! {
    "list_tree" Query ListTree => TreePage, Read;
    "delete_kept" Command DeleteKept => bool, Write;
    "create_shelf" Command CreateShelf => (), Write;
    "keep_parts" Command KeepParts => (), Write;
}

impl Request for DeleteEmptyTenant {
    type Response = ();
    const NAME: &'static str = "delete_empty_tenant";
}

impl Command for DeleteEmptyTenant {}

impl NeedsDepotRight for DeleteEmptyTenant {
    fn check(&self, client: &DepotPrincipal) -> Result<()> {
        client.require_operator()
    }
}

impl Validate for ListTree {
    fn validate(&self) -> Result<()> {
        check_page(self.max)
    }
}

/// Requests that the depot validates itself.
macro_rules! always_valid {
    ($($Request:ident)*) => { $(
        impl Validate for $Request {
            fn validate(&self) -> Result<()> {
                Ok(())
            }
        }
    )* };
}

always_valid! { DeleteKept CreateShelf DeleteEmptyTenant KeepParts }

/// The begin of a path through the first delimiter behind the prefix.
fn common<'a>(path: &'a str, prefix: &str, delimiter: &str) -> Option<&'a str> {
    if delimiter.is_empty() {
        return None;
    }
    let at = path[prefix.len()..].find(delimiter)?;
    Some(&path[..prefix.len() + at + delimiter.len()])
}

/// A text behind all paths that begin so, except a path that goes on with the last character there is.
fn behind(prefix: &str) -> String {
    format!("{prefix}{}", char::MAX)
}

fn list_tree(depot: &Depot, list: &ListTree) -> std::result::Result<TreePage, DepotError> {
    let ListTree { tenant, prefix, delimiter, after, max } = list;
    let hidden = format!("{PARTS_DIRECTORY}/");
    let mut page = TreePage::default();
    // What is skipped: files behind a common prefix that has its entry, or hidden ones.
    let mut skipped: Option<String> = None;
    let mut cursor = after.clone();
    // The page before ended with a common prefix.
    if after.starts_with(prefix.as_str()) && common(after, prefix, delimiter) == Some(after) {
        skipped = Some(after.clone());
    }
    if let Some(skipped) = &skipped {
        cursor = behind(skipped);
    }
    loop {
        let look = match delimiter.is_empty() {
            true => (max + 1 - page.entries.len()).min(PAGE_FILES_MAX),
            false => LOOK_FILES,
        };
        let from = Some(cursor.as_str()).filter(|cursor| !cursor.is_empty());
        let files = depot.kept_files(tenant, prefix, from, look)?;
        let (is_last, mut has_jumped) = (files.len() < look, false);
        for file in files {
            let path = file.record.path();
            let is_skipped = skipped.as_ref().is_some_and(|skipped| path.starts_with(skipped));
            let begin = match path.starts_with(&hidden) {
                true => Some(hidden.as_str()),
                false => common(&path, prefix, delimiter),
            };
            if is_skipped {
                cursor = path;
                continue;
            }
            if page.entries.len() == *max && begin != Some(&hidden) {
                page.has_more = true;
                return Ok(page);
            }
            match begin {
                Some(begin) => {
                    if begin != hidden {
                        page.entries.push(TreeEntry::Prefix(begin.to_owned()));
                    }
                    cursor = behind(begin);
                    skipped = Some(begin.to_owned());
                    has_jumped = true;
                    break;
                }
                None => {
                    cursor = path;
                    page.entries.push(TreeEntry::File(file));
                }
            }
        }
        if is_last && !has_jumped {
            return Ok(page);
        }
    }
}

/// Deletes a tenant if it has no files. While it drains, no file arrives, so that the second look is
/// final.
fn delete_empty(depot: &Depot, tenant: &TenantName) -> std::result::Result<bool, DepotError> {
    let before = depot.tenant(tenant)?;
    if before.files > 0 {
        return Ok(false);
    }
    depot.drain_tenant(tenant)?;
    if depot.tenant(tenant)?.files > 0 {
        match before.stage {
            "enabled" => depot.enable_tenant(tenant)?,
            "disabled" => depot.disable_tenant(tenant)?,
            _ => {}
        }
        return Ok(false);
    }
    depot.delete_tenant(tenant)?;
    Ok(true)
}

impl Handler<ListTree> for DepotService {
    async fn handle(&self, list: ListTree, _: &Context<'_>) -> Result<TreePage> {
        self.run_blocking(move |depot| list_tree(depot, &list)).await
    }
}

impl Handler<DeleteKept> for DepotService {
    async fn handle(&self, delete: DeleteKept, _: &Context<'_>) -> Result<bool> {
        self.run_blocking(move |depot| {
            let mut deleted = false;
            loop {
                let found = match depot.file_at(&delete.tenant, &delete.path) {
                    Err(DepotError::UnknownFile { .. }) => return Ok(deleted),
                    found => found?,
                };
                match depot.delete(&delete.tenant, found.record.id) {
                    // It was replaced meanwhile: the new one is deleted.
                    Err(DepotError::UnknownFile { .. }) => deleted = true,
                    done => return done.map(|()| true),
                }
            }
        })
        .await
    }
}

impl Handler<CreateShelf> for DepotService {
    async fn handle(&self, create: CreateShelf, cx: &Context<'_>) -> Result<()> {
        let _creating = self.check_new_tenant(principal(cx)?, &create.tenant).await?;
        let create = move |depot: &Depot| depot.create_shelf(&create.tenant, Quota::default());
        self.run_blocking(create).await
    }
}

impl Handler<DeleteEmptyTenant> for DepotService {
    async fn handle(&self, delete: DeleteEmptyTenant, _: &Context<'_>) -> Result<()> {
        let tenant = delete.tenant.clone();
        match self.run_blocking(move |depot| delete_empty(depot, &delete.tenant)).await? {
            true => Ok(()),
            false => {
                let message = format!("The tenant {tenant} has files; delete them first.");
                Err(Error::new(ErrorKind::Conflict, "tenant_not_empty", message))
            }
        }
    }
}

impl Handler<KeepParts> for DepotService {
    async fn handle(&self, keep: KeepParts, _: &Context<'_>) -> Result<()> {
        self.run_blocking(move |depot| {
            let directory = Directory::new(PARTS_DIRECTORY)?;
            match depot.directory_kind(&keep.tenant, &directory)? {
                DirectoryKind::Shelf => Ok(()),
                DirectoryKind::Work => {
                    let shelf = Some(DirectoryKind::Shelf);
                    depot.set_directory(&keep.tenant, &directory, shelf, Quota::default())
                }
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_depot::{DepotOptions, NewFile, split_path};

    fn shelf(paths: &[&str]) -> (tempfile::TempDir, Depot, TenantName) {
        let dir = tempfile::tempdir().unwrap();
        let depot = Depot::open(DepotOptions::at(dir.path())).unwrap();
        let acme = TenantName::new("acme").unwrap();
        depot.create_tenant(&acme, Quota::default()).unwrap();
        let (root, kind) = (Directory::root(), Some(DirectoryKind::Shelf));
        depot.set_directory(&acme, &root, kind, Quota::default()).unwrap();
        for path in paths {
            let (directory, name) = split_path(path).unwrap();
            depot.put_bytes(&acme, NewFile::new(directory, name), b"").unwrap();
        }
        (dir, depot, acme)
    }

    #[test]
    fn pages_of_any_length_have_each_entry_once_and_no_parts_of_uploads() {
        let last = format!("a/{}x", char::MAX);
        let paths =
            [".multipart/uploads/1", "a.txt", "a/1", "a/2", &last, "a0", "b/c/1", "b/c/2", "z"];
        let (_dir, depot, tenant) = shelf(&paths);
        let all = |prefix: &str, delimiter: &str, max: usize| {
            let (mut found, mut after) = (Vec::new(), String::new());
            loop {
                let (prefix, delimiter) = (prefix.to_owned(), delimiter.to_owned());
                let list = ListTree { tenant: tenant.clone(), prefix, delimiter, after, max };
                let page = list_tree(&depot, &list).unwrap();
                assert!(page.entries.len() <= max);
                found.extend(page.entries.iter().map(TreeEntry::path));
                after = found.last().cloned().unwrap_or_default();
                if !page.has_more {
                    return found;
                }
            }
        };
        for max in 1..10 {
            assert_eq!(all("", "", max), paths[1..]);
            assert_eq!(all("", "/", max), ["a.txt", "a/", "a0", "b/", "z"]);
            assert_eq!(all("a", "/", max), ["a.txt", "a/", "a0"]);
            assert_eq!(all("a/", "/", max), ["a/1", "a/2", &last]);
            assert_eq!(all("b/", "/", max), ["b/c/"]);
            assert_eq!(all("b", "c/", max), ["b/c/"]);
            assert!(all("none", "/", max).is_empty());
        }
    }

    #[test]
    fn a_tenant_with_files_is_not_deleted_and_goes_on() {
        let (_dir, depot, tenant) = shelf(&["a"]);
        assert!(!delete_empty(&depot, &tenant).unwrap());
        let id = depot.file_at(&tenant, "a").unwrap().record.id;
        depot.disable_tenant(&tenant).unwrap();
        depot.delete(&tenant, id).unwrap();
        let upload = depot.enable_tenant(&tenant).and_then(|()| {
            let (directory, name) = split_path("b").unwrap();
            depot.begin(&tenant, NewFile::new(directory, name))
        });
        // A file that is being written counts.
        assert!(!delete_empty(&depot, &tenant).unwrap());
        upload.unwrap().finish().unwrap();
        let id = depot.file_at(&tenant, "b").unwrap().record.id;
        depot.delete(&tenant, id).unwrap();
        assert!(delete_empty(&depot, &tenant).unwrap());
        assert!(depot.is_deleting(&tenant) || !depot.has_tenant(&tenant));
    }
}
