//! Watched folders. A client names folders of the server's machine, so that only those below the
//! operator's roots are accepted.

use crate::DepotPrincipal;
use crate::policy::NeedsDepotRight;
use crate::service::DepotService;
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Context, Error, ErrorKind, Handler, Query, Request, Result};
use rialto_depot::{AfterImport, Depot, DepotError, ScanReport, WatchSpec, WatchStatus};
use rialto_desk::AtField;
use std::path::{Path, PathBuf};

/// The watches.
pub struct ListWatches;

/// Watches a folder.
pub struct AddWatch {
    /// The watch. Its folder, and the one that sources are moved to, are below the operator's roots.
    pub spec: WatchSpec,
}

/// Enables or disables a watch.
pub struct SetWatch {
    /// Its name.
    pub watch: String,
    /// Whether its folder is watched.
    pub enabled: bool,
}

/// Scans the folder of a watch now.
pub struct ScanWatch {
    /// Its name.
    pub watch: String,
}

/// Ends a watch.
pub struct RemoveWatch {
    /// Its name.
    pub watch: String,
}

/// Implements [`Request`], and [`Command`] or [`Query`], for requests of operators that the depot
/// validates itself.
macro_rules! requests {
    ($($name:literal $Kind:ident $Request:ident => $Response:ty;)*) => { $(
        impl Request for $Request {
            type Response = $Response;
            const NAME: &'static str = $name;
        }

        impl $Kind for $Request {}

        impl NeedsDepotRight for $Request {
            fn check(&self, client: &DepotPrincipal) -> Result<()> {
                client.require_operator()
            }
        }

        impl Validate for $Request {
            fn validate(&self) -> Result<()> {
                Ok(())
            }
        }
    )* };
}

requests! {
    "list_watches" Query ListWatches => Vec<WatchStatus>;
    "add_watch" Command AddWatch => WatchStatus;
    "set_watch" Command SetWatch => WatchStatus;
    "scan_watch" Command ScanWatch => ScanReport;
    "remove_watch" Command RemoveWatch => ();
}

/// A folder with all links resolved, if it is below one of the roots. The watch keeps the resolved path,
/// so that a link that is changed later leads nowhere else.
fn resolved(roots: &[PathBuf], field: &'static str, folder: &Path) -> Result<PathBuf> {
    let refused = |why: String| Err(AtField(field).invalid(why));
    if roots.is_empty() {
        let message = "This venue watches no folders; its operator can set watch_roots in [depot].";
        return Err(Error::new(ErrorKind::Forbidden, "watches_not_allowed", message));
    }
    if !folder.is_absolute() {
        return refused("The path of a folder is absolute.".to_owned());
    }
    let not_below = || {
        let message = format!(
            "The folder {} is not below one of the directories of watch_roots in [depot].",
            folder.display()
        );
        Err(Error::new(ErrorKind::Forbidden, "watches_not_allowed", message))
    };
    let real = match folder.canonicalize() {
        Ok(real) => real,
        Err(error) if roots.iter().any(|root| folder.starts_with(root)) => {
            return refused(format!("The folder {} cannot be read: {error}.", folder.display()));
        }
        // Whether something exists elsewhere on the machine is not revealed.
        Err(_) => return not_below(),
    };
    let is_below = |root: &PathBuf| root.canonicalize().is_ok_and(|root| real.starts_with(root));
    if roots.iter().any(is_below) { Ok(real) } else { not_below() }
}

/// The watch with this name.
fn watch(depot: &Depot, name: &str) -> std::result::Result<WatchStatus, DepotError> {
    let found = depot.watches().into_iter().find(|watch| watch.spec.name == name);
    found.ok_or_else(|| DepotError::UnknownWatch(name.to_owned()))
}

impl Handler<ListWatches> for DepotService {
    async fn handle(&self, _: ListWatches, _: &Context<'_>) -> Result<Vec<WatchStatus>> {
        self.run_blocking(|depot| Ok(depot.watches())).await
    }
}

impl Handler<AddWatch> for DepotService {
    async fn handle(&self, add: AddWatch, _: &Context<'_>) -> Result<WatchStatus> {
        let AddWatch { mut spec } = add;
        let roots = self.limits.watch_roots.clone();
        let added = self.run_blocking(move |depot| {
            let mut resolve = || {
                spec.folder = resolved(&roots, "folder", &spec.folder)?;
                if let AfterImport::Move(to) = &mut spec.after {
                    *to = resolved(&roots, "move_to", to)?;
                }
                Ok(())
            };
            if let Err(error) = resolve() {
                return Ok(Err(error));
            }
            let name = spec.name.clone();
            depot.add_watch(spec)?;
            watch(depot, &name).map(Ok)
        });
        added.await?
    }
}

impl Handler<SetWatch> for DepotService {
    async fn handle(&self, set: SetWatch, _: &Context<'_>) -> Result<WatchStatus> {
        self.run_blocking(move |depot| {
            match set.enabled {
                true => depot.enable_watch(&set.watch)?,
                false => depot.disable_watch(&set.watch)?,
            }
            watch(depot, &set.watch)
        })
        .await
    }
}

impl Handler<ScanWatch> for DepotService {
    async fn handle(&self, scan: ScanWatch, _: &Context<'_>) -> Result<ScanReport> {
        self.run_blocking(move |depot| depot.scan_watch(&scan.watch)).await
    }
}

impl Handler<RemoveWatch> for DepotService {
    async fn handle(&self, remove: RemoveWatch, _: &Context<'_>) -> Result<()> {
        self.run_blocking(move |depot| depot.remove_watch(&remove.watch)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_is_accepted_only_if_it_is_really_below_a_root() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        for path in ["root/in", "outside", "root-too"] {
            fs::create_dir_all(dir.path().join(path)).unwrap();
        }
        symlink(dir.path().join("outside"), root.join("link")).unwrap();
        symlink(root.join("in"), dir.path().join("way-in")).unwrap();
        let roots = [root.clone()];
        let code = |path: &str| {
            let folder = dir.path().join(path);
            resolved(&roots, "folder", &folder).map_err(|error| error.code())
        };
        let real = root.join("in").canonicalize().unwrap();
        assert_eq!(code("root/in"), Ok(real.clone()));
        assert_eq!(code("way-in"), Ok(real));
        assert_eq!(code("root"), Ok(root.canonicalize().unwrap()));
        for path in ["outside", "root-too", "root/link", "root/../outside", "nowhere"] {
            assert_eq!(code(path), Err("watches_not_allowed"), "{path}");
        }
        assert_eq!(code("root/nowhere"), Err("invalid_field"));
        let relative = resolved(&roots, "folder", Path::new("root/in"));
        assert_eq!(relative.map_err(|error| error.code()), Err("invalid_field"));
        let none = resolved(&[], "folder", &root).map_err(|error| error.code());
        assert_eq!(none, Err("watches_not_allowed"));
    }
}
