//! Volumes.

use super::any_pool::AnyPool;
use super::shown::text;
use crate::Error;
use crate::terminal::say;
use rialto_depot::{VolumeIdentity, VolumeSpec};
use std::path::PathBuf;

/// Mounts, lists, drains and unmounts volumes.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Volume {
    /// Add a directory to the pool as a volume. A new pool has the volume main in its own directory.
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
            Volume::Mount(mount) => pool.mount(VolumeSpec {
                name: mount.name.clone(),
                dir: mount.path.clone(),
                weight: mount.weight,
                identity: mount.identity,
            }),
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
    path: PathBuf,
    /// The share of new files, relative to other volumes with as much free space; 0 is none.
    #[arg(long, default_value_t = 1)]
    weight: u32,
    /// The identity of a volume that was mounted before, as `volume ls --json` shows it. Without it,
    /// the directory must not hold files of a volume.
    #[arg(long, value_name = "HEX", value_parser = clap::value_parser!(VolumeIdentity))]
    identity: Option<VolumeIdentity>,
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
            let [name, state, weight, free, total, dir] =
                ["name", "state", "weight", "free_bytes", "total_bytes", "dir"]
                    .map(|field| text(&volume[field]));
            say(format_args!(
                "{name:<16}  {state:<8}  {weight:>6}  {free:>18}  {total:>18}  {dir}"
            ));
        }
        Ok(())
    }
}
