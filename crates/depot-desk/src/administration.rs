//! Tenants, directories and volumes.

use crate::DepotPrincipal;
use crate::files::check_page;
use crate::policy::NeedsDepotRight;
use crate::service::{DepotService, principal};
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Context, Error, ErrorKind, Handler, Query, Request, Result};
use rialto_depot::{
    Depot, DepotError, Directory, DirectoryKind, Quota, TenantInfo, TenantName, VolumeError,
    VolumeSpec, VolumeStatus, VolumeTotals,
};
use rialto_desk::AtField;

/// The tenants to which the client has a right, behind `after`.
pub struct ListTenants {
    /// The last tenant of the page before.
    pub after: Option<TenantName>,
    /// The most tenants.
    pub max: usize,
}

/// A tenant.
pub struct GetTenant {
    /// The tenant.
    pub tenant: TenantName,
}

/// Creates a tenant, or sets its quota. Answers whether it was created.
pub struct SetTenant {
    /// The tenant.
    pub tenant: TenantName,
    /// Its quota.
    pub quota: Quota,
}

/// Whether a tenant takes files and hands them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TenantStage {
    /// Both.
    Enabled,
    /// Neither.
    Disabled,
    /// It hands out the files that it has.
    Draining,
}

/// Enables, disables or drains a tenant.
pub struct SetTenantStage {
    /// The tenant.
    pub tenant: TenantName,
    /// What it does from now on.
    pub stage: TenantStage,
}

/// Deletes a tenant with all its files, in the background.
pub struct DeleteTenant {
    /// The tenant.
    pub tenant: TenantName,
}

/// Sets what becomes of the files of a directory, and its quota.
pub struct SetDirectory {
    /// The tenant.
    pub tenant: TenantName,
    /// The directory.
    pub directory: Directory,
    /// What becomes of its files; `None` for what is set above it.
    pub kind: Option<DirectoryKind>,
    /// Its quota.
    pub quota: Quota,
}

/// The volumes, and their space.
pub struct ListVolumes;

/// Mounts a volume.
pub struct MountVolume {
    /// The volume.
    pub spec: VolumeSpec,
}

/// Begins or ends the draining of a volume.
pub struct DrainVolume {
    /// Its name.
    pub volume: String,
    /// Whether it is drained from now on.
    pub draining: bool,
}

/// Unmounts a volume without files.
pub struct UnmountVolume {
    /// Its name.
    pub volume: String,
}

/// Implements [`Request`], and [`Command`] or [`Query`].
macro_rules! requests {
    ($($name:literal $Kind:ident $Request:ident => $Response:ty;)*) => { $(
        impl Request for $Request {
            type Response = $Response;
            const NAME: &'static str = $name;
        }

        impl $Kind for $Request {}
    )* };
}

requests! {
    "list_tenants" Query ListTenants => Vec<TenantInfo>;
    "get_tenant" Query GetTenant => TenantInfo;
    "set_tenant" Command SetTenant => bool;
    "set_tenant_stage" Command SetTenantStage => ();
    "delete_tenant" Command DeleteTenant => ();
    "set_directory" Command SetDirectory => ();
    "list_volumes" Query ListVolumes => (Vec<VolumeStatus>, VolumeTotals);
    "mount_volume" Command MountVolume => VolumeStatus;
    "drain_volume" Command DrainVolume => VolumeStatus;
    "unmount_volume" Command UnmountVolume => ();
}

/// Requests of operators.
macro_rules! of_operators {
    ($($Request:ident)*) => { $(
        impl NeedsDepotRight for $Request {
            fn check(&self, client: &DepotPrincipal) -> Result<()> {
                client.require_operator()
            }
        }
    )* };
}

of_operators! {
    SetTenant SetTenantStage DeleteTenant SetDirectory ListVolumes MountVolume DrainVolume
    UnmountVolume
}

impl NeedsDepotRight for ListTenants {
    fn check(&self, _: &DepotPrincipal) -> Result<()> {
        // The answer lists only tenants to which the client has a right.
        Ok(())
    }
}

impl NeedsDepotRight for GetTenant {
    fn check(&self, client: &DepotPrincipal) -> Result<()> {
        client.require_any(&self.tenant)
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

always_valid! {
    GetTenant SetTenant SetTenantStage DeleteTenant SetDirectory ListVolumes MountVolume
    DrainVolume UnmountVolume
}

impl Validate for ListTenants {
    fn validate(&self) -> Result<()> {
        check_page(self.max)
    }
}

impl Handler<ListTenants> for DepotService {
    async fn handle(&self, list: ListTenants, cx: &Context<'_>) -> Result<Vec<TenantInfo>> {
        let client = principal(cx)?.clone();
        self.run_blocking(move |depot| {
            let mut names = depot.tenant_names();
            names.retain(|name| {
                list.after.as_ref().is_none_or(|after| name > after) && client.has_any(name)
            });
            names.sort();
            // One that was deleted meanwhile is left out.
            Ok(names.iter().take(list.max).filter_map(|name| depot.tenant(name).ok()).collect())
        })
        .await
    }
}

impl Handler<GetTenant> for DepotService {
    async fn handle(&self, get: GetTenant, _: &Context<'_>) -> Result<TenantInfo> {
        self.run_blocking(move |depot| depot.tenant(&get.tenant)).await
    }
}

impl Handler<SetTenant> for DepotService {
    async fn handle(&self, set: SetTenant, _: &Context<'_>) -> Result<bool> {
        self.run_blocking(move |depot| match depot.create_tenant(&set.tenant, set.quota) {
            Ok(()) => Ok(true),
            Err(DepotError::TenantExists(_)) => {
                depot.set_quota(&set.tenant, set.quota).map(|()| false)
            }
            Err(error) => Err(error),
        })
        .await
    }
}

impl Handler<SetTenantStage> for DepotService {
    async fn handle(&self, set: SetTenantStage, _: &Context<'_>) -> Result<()> {
        self.run_blocking(move |depot| match set.stage {
            TenantStage::Enabled => depot.enable_tenant(&set.tenant),
            TenantStage::Disabled => depot.disable_tenant(&set.tenant),
            TenantStage::Draining => depot.drain_tenant(&set.tenant),
        })
        .await
    }
}

impl Handler<DeleteTenant> for DepotService {
    async fn handle(&self, delete: DeleteTenant, _: &Context<'_>) -> Result<()> {
        self.run_blocking(move |depot| depot.delete_tenant(&delete.tenant)).await
    }
}

impl Handler<SetDirectory> for DepotService {
    async fn handle(&self, set: SetDirectory, _: &Context<'_>) -> Result<()> {
        let SetDirectory { tenant, directory, kind, quota } = set;
        self.run_blocking(move |depot| depot.set_directory(&tenant, &directory, kind, quota)).await
    }
}

/// The volume with this name.
fn volume(depot: &Depot, name: &str) -> std::result::Result<VolumeStatus, DepotError> {
    let found = depot.volumes().into_iter().find(|volume| volume.name == name);
    found.ok_or_else(|| DepotError::UnknownVolume(name.to_owned()))
}

impl Handler<ListVolumes> for DepotService {
    async fn handle(
        &self,
        _: ListVolumes,
        _: &Context<'_>,
    ) -> Result<(Vec<VolumeStatus>, VolumeTotals)> {
        self.run_blocking(|depot| Ok((depot.volumes(), depot.totals()))).await
    }
}

impl Handler<MountVolume> for DepotService {
    async fn handle(&self, mount: MountVolume, _: &Context<'_>) -> Result<VolumeStatus> {
        let mounted = self.run_blocking(move |depot| {
            let name = mount.spec.name.clone();
            match depot.mount(mount.spec) {
                Ok(_) => volume(depot, &name).map(Ok),
                Err(DepotError::Volume(refused)) => Ok(Err(refused)),
                Err(error) => Err(error),
            }
        });
        mounted.await?.map_err(|refused| {
            if let VolumeError::InvalidSpec { field, .. } = refused {
                return AtField(field).invalid(format!("{refused}."));
            }
            let message = format!("The volume cannot be mounted: {refused}.");
            Error::new(ErrorKind::Conflict, "volume_refused", message)
        })
    }
}

impl Handler<DrainVolume> for DepotService {
    async fn handle(&self, drain: DrainVolume, _: &Context<'_>) -> Result<VolumeStatus> {
        let DrainVolume { volume: name, draining } = drain;
        self.run_blocking(move |depot| {
            depot.drain_volume(&name, draining)?;
            volume(depot, &name)
        })
        .await
    }
}

impl Handler<UnmountVolume> for DepotService {
    async fn handle(&self, unmount: UnmountVolume, _: &Context<'_>) -> Result<()> {
        self.run_blocking(move |depot| depot.unmount(&unmount.volume)).await
    }
}
