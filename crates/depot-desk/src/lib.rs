//! The depot's requests on a bus: rights to tenants, uploads within limits, claims that wait.
//!
//! The depot itself is [`rialto_depot`], which has no clients. A gateway decodes a client's request
//! into one of these, sends it on the [`DepotBus`] with a [`DepotPrincipal`] in its context, and
//! encodes the answer. This crate has no protocol and no keys.
//!
//! ```
//! use rialto_api::{DepotGrant, DepotRight, TenantPattern};
//! use rialto_bus::{Context, Dispatch};
//! use rialto_depot::{ClaimOptions, Depot, DepotOptions, NewFile, TenantName};
//! use rialto_depot_desk::{ClaimFiles, DepotBus, DepotLimits, DepotPrincipal, FileContent, StoreFile};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let depot = Depot::open(DepotOptions::at(dir.path()))?;
//! let (_stop, stopped) = tokio::sync::watch::channel(false);
//! let bus = DepotBus::open(depot.clone(), DepotLimits::default(), stopped, None);
//!
//! let grant = |right| DepotGrant {
//!     tenants: TenantPattern::new("acme").expect("a name"),
//!     rights: vec![right],
//! };
//! let (writer, worker) = (
//!     DepotPrincipal::new("writer", [grant(DepotRight::Write)]),
//!     DepotPrincipal::new("worker", [grant(DepotRight::Work)]),
//! );
//! let tenant = TenantName::new("acme")?;
//! let (pieces, content) = FileContent::channel();
//! pieces.send(b"to be done".as_slice().into()).await;
//! pieces.end().await;
//! let store = StoreFile { tenant: tenant.clone(), file: NewFile::default(), content };
//! bus.send(store, &Context::new().with_principal(&writer)).await?;
//!
//! let claim = || ClaimFiles::of(tenant.clone(), ClaimOptions::default());
//! let claimed = bus.send(claim(), &Context::new().with_principal(&worker)).await?;
//! assert_eq!(claimed[0].claim.file().bytes, 10);
//! let refused = bus.send(claim(), &Context::new().with_principal(&writer)).await;
//! assert!(refused.is_err_and(|error| error.code() == "forbidden"));
//! # depot.close()?;
//! # Ok(())
//! # }
//! ```

#![deny(unsafe_code)]

mod administration;
mod bus;
mod claims;
mod content;
mod error;
mod files;
mod limits;
mod pace;
mod pieces;
mod policy;
mod principal;
mod results;
mod service;
mod shelves;
mod upkeep;
mod watches;

pub use administration::{
    DeleteTenant, DrainVolume, GetTenant, ListTenants, ListVolumes, MountVolume, SetDirectory,
    SetTenant, SetTenantStage, TenantStage, UnmountVolume,
};
pub use bus::DepotBus;
pub use claims::{
    ClaimFiles, ClaimedFile, CompleteClaims, FailClaims, RefuseClaims, RenewClaims, Renewed,
    ReturnClaims, SettledClaims,
};
pub use content::{ContentSender, FileContent, PIECES_MAX};
pub use error::depot_error;
pub use files::{
    AcceptedFile, DeleteFile, FileList, FindFile, FindKept, ListDeadFiles, ListFiles, OpenedFile,
    ReadFile, RedriveFiles, StoreFile,
};
pub use limits::{DepotLimits, TransferSlot};
pub use pace::{UploadPace, UploadTooSlow};
pub use pieces::{ContentCut, FilePieces};
pub use policy::{DepotPolicy, NeedsDepotRight, may_store};
pub use principal::DepotPrincipal;
pub use results::{CompleteWith, ResultContents, ResultSender, may_complete_with};
pub use service::DepotService;
pub use shelves::{
    CreateShelf, DeleteEmptyTenant, DeleteKept, KeepParts, ListTree, PARTS_DIRECTORY,
    RESERVED_TENANTS, TreeEntry, TreePage,
};
pub use upkeep::{ADOPTIONS_MAX, AdoptFiles, Adopted, GetScrub, Scrubbing, volume_name};
pub use watches::{AddWatch, ListWatches, RemoveWatch, ScanWatch, SetWatch};
