//! The depot's bus: the only way from a gateway to the depot.

use crate::administration::{
    DeleteTenant, DrainVolume, GetTenant, ListTenants, ListVolumes, MountVolume, SetDirectory,
    SetTenant, SetTenantStage, UnmountVolume,
};
use crate::claims::{
    ClaimFiles, CompleteClaims, FailClaims, RefuseClaims, RenewClaims, ReturnClaims,
};
use crate::files::{
    DeleteFile, FindFile, FindKept, ListDeadFiles, ListFiles, ReadFile, RedriveFiles, StoreFile,
};
use crate::limits::DepotLimits;
use crate::policy::DepotPolicy;
use crate::results::CompleteWith;
use crate::service::DepotService;
use crate::shelves::{CreateShelf, DeleteEmptyTenant, DeleteKept, KeepParts, ListTree};
use crate::upkeep::{AdoptFiles, GetScrub};
use crate::watches::{AddWatch, ListWatches, RemoveWatch, ScanWatch, SetWatch};
use rialto_bus::behaviour::{Authorisation, Counters};
use rialto_bus::bus;
use rialto_depot::Depot;
use rialto_desk::{Durations, VenueBehaviours};
use rialto_recorder::Recorder;
use std::sync::Arc;
use tokio::sync::watch;

bus! {
    /// All requests to the depot.
    ///
    /// The [`Context`](rialto_bus::Context) of each has a [`DepotPrincipal`](crate::DepotPrincipal).
    pub struct DepotBus {
        requests through VenueBehaviours<Authorisation<DepotPolicy>> {
            service: DepotService =>
                later StoreFile, later ReadFile, later FindFile, later FindKept, later ListFiles,
                later DeleteFile, later ListDeadFiles, later RedriveFiles,
                later ClaimFiles, later RenewClaims, later CompleteClaims, later FailClaims,
                later RefuseClaims, later ReturnClaims, later CompleteWith,
                later ListTenants, later GetTenant, later SetTenant, later SetTenantStage,
                later DeleteTenant, later SetDirectory,
                later ListTree, later DeleteKept, later CreateShelf, later DeleteEmptyTenant,
                later KeepParts,
                later ListVolumes, later MountVolume, later DrainVolume, later UnmountVolume,
                later ListWatches, later AddWatch, later SetWatch, later ScanWatch,
                later RemoveWatch, later GetScrub, later AdoptFiles;
        }
    }
}

impl DepotBus {
    /// The bus of this depot. Claims that wait are answered as soon as `stopped` is true. It must be
    /// used within a Tokio runtime that has a timer.
    #[must_use]
    pub fn open(
        depot: Depot,
        limits: DepotLimits,
        stopped: watch::Receiver<bool>,
        recorder: Option<Arc<Recorder>>,
    ) -> DepotBus {
        DepotBus {
            requests: VenueBehaviours::new(Authorisation(DepotPolicy)).recorded_by(recorder),
            service: DepotService::new(depot, limits, stopped),
        }
    }

    /// The number of requests by name and outcome.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.requests.counters()
    }

    /// The durations of requests, from the bus to the answer. That of an upload includes its content,
    /// and that of a claim the wait for a file.
    #[must_use]
    pub fn durations(&self) -> &Durations {
        self.requests.durations()
    }

    /// The depot.
    #[must_use]
    pub fn depot(&self) -> &Depot {
        &self.service.depot
    }

    /// The number of downloads in progress.
    #[must_use]
    pub fn downloads(&self) -> usize {
        self.service.downloads.count()
    }

    /// The number of uploads in progress.
    #[must_use]
    pub fn uploads(&self) -> usize {
        self.service.uploads.count()
    }
}
