//! Volumes.

use super::any_pool::AnyPool;
use super::shown::text;
use crate::Error;
use crate::terminal::say;
use rialto_depot::{BucketSpec, VolumeIdentity, VolumePlace, VolumeSpec};
use std::path::PathBuf;

/// Mounts, lists, drains and unmounts volumes.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Volume {
    /// Add a directory, or a bucket of an S3-compatible object store, to the pool as a volume. A new
    /// pool has the volume main in its own directory.
    Mount(Mount),
    /// List the volumes.
    Ls(Ls),
    /// Store no new files on a volume, which keeps and serves the ones that it has.
    Drain(Drain),
    /// Remove a volume without files from the pool.
    Unmount(Unmount),
}

impl Volume {
    /// Whether the command adds a volume, and makes a pool where there is none.
    pub(super) fn mounts(&self) -> bool {
        matches!(self, Volume::Mount(_))
    }

    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        match self {
            Volume::Mount(mount) => pool.mount(mount.spec()),
            Volume::Ls(list) => list.run(pool),
            Volume::Drain(drain) => pool.drain_volume(&drain.name, !drain.undo),
            Volume::Unmount(unmount) => pool.unmount(&unmount.name),
        }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Mount {
    /// A name: 1 to 64 of a to z, 0 to 9, `-`, `_` and `.`.
    name: String,
    /// The directory, which is created if it does not exist.
    #[arg(required_unless_present = "bucket", conflicts_with = "bucket")]
    path: Option<PathBuf>,
    /// A bucket, instead of a directory. The process that has the pool open reads the credentials from
    /// RIALTO_BUCKET_ACCESS_KEY_ID and RIALTO_BUCKET_SECRET_ACCESS_KEY, or from
    /// RIALTO_BUCKET_NAME_ACCESS_KEY_ID and RIALTO_BUCKET_NAME_SECRET_ACCESS_KEY for this volume alone.
    #[arg(long, requires = "endpoint", requires = "region")]
    bucket: Option<String>,
    /// What the keys of the volume begin with, such as pools/one; nothing by default.
    #[arg(long, requires = "bucket", default_value = "", hide_default_value = true)]
    prefix: String,
    /// The address of the object store: https://HOST or https://HOST:PORT.
    #[arg(long, value_name = "URL", requires = "bucket")]
    endpoint: Option<String>,
    /// The region.
    #[arg(long, requires = "bucket")]
    region: Option<String>,
    /// Permit an address that begins with http://: names and bytes are readable on the network.
    #[arg(long, requires = "bucket")]
    allow_http: bool,
    /// The share of new files, relative to other volumes with as much free space; 0 is none.
    #[arg(long, default_value_t = 1)]
    weight: u32,
    /// The identity of a volume that was mounted before, as `volume ls --json` shows it. Without it,
    /// the directory must not hold files of a volume, and the prefix of a bucket must not be a volume.
    #[arg(long, value_name = "HEX", value_parser = clap::value_parser!(VolumeIdentity))]
    identity: Option<VolumeIdentity>,
}

impl Mount {
    fn spec(&self) -> VolumeSpec {
        let place = match &self.bucket {
            None => VolumePlace::Directory(self.path.clone().unwrap_or_default()),
            Some(bucket) => VolumePlace::Bucket(BucketSpec {
                bucket: bucket.clone(),
                prefix: self.prefix.clone(),
                endpoint: self.endpoint.clone().unwrap_or_default(),
                region: self.region.clone().unwrap_or_default(),
                allow_http: self.allow_http,
            }),
        };
        VolumeSpec { name: self.name.clone(), place, weight: self.weight, identity: self.identity }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Drain {
    /// The volume.
    name: String,
    /// Store new files on it again.
    #[arg(long)]
    undo: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Unmount {
    /// The volume.
    name: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct Ls {
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

impl Ls {
    fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        let volumes = pool.volumes()?;
        if !self.json {
            say(format_args!(
                "{:<16}  {:<8}  {:>6}  {:>18}  {:>18}  DIRECTORY",
                "VOLUME", "STATE", "WEIGHT", "FREE BYTES", "TOTAL BYTES"
            ));
        }
        for volume in &volumes {
            if self.json {
                say(format_args!("{volume}"));
                continue;
            }
            let [name, state, weight, mut free, mut total, dir] =
                ["name", "state", "weight", "free_bytes", "total_bytes", "dir"]
                    .map(|field| text(&volume[field]));
            if !volume["bucket"].is_null() {
                (free, total) = ("no limit".into(), "no limit".into());
            }
            say(format_args!(
                "{name:<16}  {state:<8}  {weight:>6}  {free:>18}  {total:>18}  {dir}"
            ));
        }
        Ok(())
    }
}
