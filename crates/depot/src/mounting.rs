//! The volumes of a pool, as its history keeps them.

use crate::DepotError;
use crate::history::State;
use crate::history::record::Record;
use crate::history::volumes::{BucketVolume, DirectoryVolume, VolumeSettings};
use crate::pool::Pool;
use crate::record::FileRecord;
use crate::volume::{VolumeError, VolumeIdentity, VolumeNumber, VolumePlace, VolumeSpec};
use std::path::{Component, Path, PathBuf};
use std::sync::PoisonError;

/// The most volumes of a pool.
pub const VOLUMES_MAX: usize = 256;

fn number_of(state: &State, name: &str) -> Result<(VolumeNumber, VolumeSettings), DepotError> {
    let found = state.volumes.iter().find(|(_, settings)| settings.name() == name);
    let unknown = || DepotError::UnknownVolume(name.to_owned());
    found.map(|(number, settings)| (*number, settings.clone())).ok_or_else(unknown)
}

fn absolute(path: &Path) -> Result<PathBuf, DepotError> {
    let why = |error| DepotError::invalid("dir", format!("it is not a path: {error}"));
    std::path::absolute(path).map_err(why)
}

/// A path without `..`. Symbolic links are not followed.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

impl Pool {
    pub(crate) fn mount(&self, spec: VolumeSpec) -> Result<VolumeNumber, DepotError> {
        self.check_open()?;
        let _changing = self.changing_tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = match &spec.place {
            VolumePlace::Directory(dir) => {
                self.check_apart(dir)?;
                self.recorded_dir(dir)?
            }
            VolumePlace::Bucket(_) => String::new(),
        };
        let (number, volumes) =
            self.history.read(|state| (state.next_volume(), state.volumes.len()))?;
        if volumes >= VOLUMES_MAX {
            return Err(DepotError::TooMany { what: "volumes", limit: VOLUMES_MAX });
        }
        self.check_new(&spec)?;
        let identity = self.volumes.mount(number, &spec).map_err(|error| match error {
            VolumeError::PrefixTaken { found, .. } => {
                self.check_unknown(found).err().unwrap_or(error.into())
            }
            error => error.into(),
        })?;
        let VolumeSpec { name, weight, place, .. } = spec;
        let draining = false;
        let settings = match place {
            VolumePlace::Directory(_) => {
                let volume = DirectoryVolume { name, dir, weight, identity, draining };
                VolumeSettings::Directory(volume)
            }
            VolumePlace::Bucket(bucket) => {
                VolumeSettings::Bucket(BucketVolume { name, bucket, weight, identity, draining })
            }
        };
        self.history.record(|_| Ok::<_, DepotError>(((), vec![settings.record(number)])))?;
        // Whatever the level: files on a volume that the pool has forgotten would keep it from being
        // mounted again.
        self.history.sync()?;
        Ok(number)
    }

    /// Refuses a volume that the pool has under another name: the search of one would take the files of
    /// the other for bytes without a record.
    fn check_new(&self, spec: &VolumeSpec) -> Result<(), DepotError> {
        spec.identity.map_or(Ok(()), |identity| self.check_unknown(identity))
    }

    fn check_unknown(&self, identity: VolumeIdentity) -> Result<(), DepotError> {
        let volumes = self.history.read(|state| state.volumes.clone())?;
        match volumes.values().find(|known| known.identity() == identity) {
            Some(known) => {
                let why = format!("{identity} is the volume {} of this pool", known.name());
                Err(DepotError::invalid("identity", why))
            }
            None => Ok(()),
        }
    }

    /// Refuses a directory inside another volume, or around one: the search of one volume would meet the
    /// files of the other.
    fn check_apart(&self, dir: &Path) -> Result<(), DepotError> {
        let dir = without_dots(&absolute(dir)?);
        let volumes = self.history.read(|state| state.volumes.clone())?;
        for other in volumes.values() {
            let VolumeSettings::Directory(other) = other else { continue };
            let held = without_dots(&absolute(&self.options.dir.join(&other.dir))?);
            let how = match (dir.starts_with(&held), held.starts_with(&dir)) {
                // The same directory is refused where it is locked.
                (true, true) | (false, false) => continue,
                (true, false) => "inside",
                (false, true) => "around",
            };
            let why = format!("it is {how} the directory of the volume {}", other.name);
            return Err(DepotError::invalid("dir", why));
        }
        Ok(())
    }

    /// The directory of a volume as history records it: relative to the pool if it is below it, so that
    /// the pool can be moved, and absolute otherwise.
    fn recorded_dir(&self, dir: &Path) -> Result<String, DepotError> {
        let (dir, pool) = (absolute(dir)?, absolute(&self.options.dir)?);
        let dir = dir.strip_prefix(&pool).unwrap_or(&dir);
        let text = dir.to_str().map(str::to_owned);
        text.ok_or_else(|| DepotError::invalid("dir", "the path of a volume is UTF-8"))
    }

    pub(crate) fn drain_volume(&self, name: &str, draining: bool) -> Result<(), DepotError> {
        self.check_open()?;
        let changed = self.history.record(|state| {
            let (number, mut settings) = number_of(state, name)?;
            settings.set_draining(draining);
            Ok::<_, DepotError>((number, vec![settings.record(number)]))
        })?;
        Ok(self.volumes.set_draining(changed.value, draining)?)
    }

    pub(crate) fn unmount(&self, name: &str) -> Result<(), DepotError> {
        self.check_open()?;
        let (number, settings) = self.history.read(|state| number_of(state, name))??;
        if !settings.is_draining() {
            // No file must arrive between the count and the record.
            self.drain_volume(name, true)?;
        }
        let unmounted = self.unmount_drained(name, number);
        if unmounted.is_err() && !settings.is_draining() {
            // A refusal changes nothing. What it says is the first error.
            let undone = self.drain_volume(name, false);
            if let Err(error) = undone {
                tracing::warn!(volume = name, "the volume still drains: {error}");
            }
        }
        unmounted
    }

    fn unmount_drained(&self, name: &str, number: VolumeNumber) -> Result<(), DepotError> {
        // Bytes of files that are gone do not count.
        for garbage in self.removals.take(usize::MAX) {
            self.remove_now(garbage);
        }
        // A file that is being written is counted below when it exists, and is seen here before that.
        self.volumes.check_unwritten(number)?;
        let files = self.files_on(number)?;
        if files > 0 {
            return Err(DepotError::VolumeInUse { name: name.to_owned(), files });
        }
        self.volumes.unmount(number)?;
        self.history
            .record(|_| Ok::<_, DepotError>(((), vec![Record::VolumeUnmounted { number }])))?;
        Ok(())
    }

    /// The number of files whose bytes are on a volume.
    fn files_on(&self, number: VolumeNumber) -> Result<usize, DepotError> {
        let is_on =
            |file: &FileRecord| file.place.stored().is_some_and(|stored| stored.volume == number);
        let kept = self.history.read(|state| state.files_on(number))? as usize;
        let active = self
            .all_tenants()
            .iter()
            .map(|tenant| tenant.files().after(None).filter(|file| is_on(&file.record)).count())
            .sum::<usize>();
        Ok(kept + active)
    }
}
