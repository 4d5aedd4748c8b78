//! What the scrub and the search for bytes without a record found, and the adoption of these.

use crate::DepotPrincipal;
use crate::policy::NeedsDepotRight;
use crate::service::DepotService;
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Context, Handler, Query, Request, Result};
use rialto_depot::{
    Adoption, AdoptionReport, DamagedFile, OrphanStatus, ScrubStatus, VolumeNumber, VolumeStatus,
};

/// The most quarantined files of an answer.
pub const ADOPTIONS_MAX: usize = 1_000;

/// What is known of stored bytes.
pub struct GetScrub;

/// What is known of stored bytes.
#[derive(Clone, Debug)]
pub struct Scrubbing {
    /// What the scrub read.
    pub scrub: ScrubStatus,
    /// Files that are damaged.
    pub damage: Vec<DamagedFile>,
    /// Bytes without a record.
    pub orphans: OrphanStatus,
    /// The volumes, for their names.
    pub volumes: Vec<VolumeStatus>,
}

/// Makes files of quarantined bytes.
pub struct AdoptFiles {
    /// Whether everything but the adoption is done.
    pub dry_run: bool,
}

/// What became of quarantined bytes.
#[derive(Clone, Debug)]
pub struct Adopted {
    /// The counts of all.
    pub report: AdoptionReport,
    /// The first files.
    pub files: Vec<Adoption>,
    /// The volumes, for their names.
    pub volumes: Vec<VolumeStatus>,
}

/// The name of a volume; its number if it has been unmounted.
#[must_use]
pub fn volume_name(volumes: &[VolumeStatus], number: VolumeNumber) -> String {
    let named = volumes.iter().find(|volume| volume.number == number);
    named.map_or_else(|| number.0.to_string(), |volume| volume.name.clone())
}

impl Request for GetScrub {
    type Response = Scrubbing;
    const NAME: &'static str = "get_scrub";
}

impl Query for GetScrub {}

impl Request for AdoptFiles {
    type Response = Adopted;
    const NAME: &'static str = "adopt_files";
}

impl Command for AdoptFiles {}

impl NeedsDepotRight for GetScrub {
    fn check(&self, client: &DepotPrincipal) -> Result<()> {
        client.require_operator()
    }
}

impl NeedsDepotRight for AdoptFiles {
    fn check(&self, client: &DepotPrincipal) -> Result<()> {
        client.require_operator()
    }
}

impl Validate for GetScrub {
    fn validate(&self) -> Result<()> {
        Ok(())
    }
}

impl Validate for AdoptFiles {
    fn validate(&self) -> Result<()> {
        Ok(())
    }
}

impl Handler<GetScrub> for DepotService {
    async fn handle(&self, _: GetScrub, _: &Context<'_>) -> Result<Scrubbing> {
        self.run_blocking(|depot| {
            Ok(Scrubbing {
                scrub: depot.scrub(),
                damage: depot.damage()?,
                orphans: depot.orphans(),
                volumes: depot.volumes(),
            })
        })
        .await
    }
}

impl Handler<AdoptFiles> for DepotService {
    async fn handle(&self, adopt: AdoptFiles, _: &Context<'_>) -> Result<Adopted> {
        self.run_blocking(move |depot| {
            let mut files = Vec::new();
            let report = depot.adopt(adopt.dry_run, |adoption| {
                if files.len() < ADOPTIONS_MAX {
                    files.push(adoption.clone());
                }
            })?;
            Ok(Adopted { report, files, volumes: depot.volumes() })
        })
        .await
    }
}
