//! Walking a folder: its directories are read piece by piece, and every file is offered as a candidate.

use super::candidates::Place;
use super::folder::{self, Entry, Identity};
use super::scan::{Scan, Stop};
use super::source::original_of;
use super::spec::WatchTenants;
use crate::name::{Directory, TenantName};
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// A directory that is being read.
struct Level {
    dir: OwnedFd,
    entries: rustix::fs::Dir,
    place: Arc<Place>,
}

/// Where the walk goes from an entry.
pub(super) enum Next {
    /// To the entry behind it.
    On,
    /// Into this directory.
    Into(OwnedFd, Arc<Place>),
    /// Out of this tenant's folder: the tenant has its share of the candidates.
    LeaveTenant,
    /// To its end: there is no room for more candidates.
    End,
}

impl Scan<'_> {
    /// Walks the whole folder.
    pub(super) fn walk_all(&mut self) -> Result<(), Stop> {
        let dir = self.root.try_clone().map_err(|error| self.broken(&error))?;
        let place = self.root_place();
        self.walk(dir, place)
    }

    fn root_place(&self) -> Arc<Place> {
        let tenant = match &self.watch.spec.tenants {
            WatchTenants::One(tenant) => Some(tenant.clone()),
            WatchTenants::FirstLevel { .. } => None,
        };
        let directory = self.watch.spec.directory.clone();
        Arc::new(Place { parts: Vec::new(), path: String::new(), tenant, directory })
    }

    fn walk(&mut self, dir: OwnedFd, place: Arc<Place>) -> Result<(), Stop> {
        let entries = folder::entries(&dir).map_err(|error| self.broken(&error))?;
        let mut levels = vec![Level { dir, entries, place }];
        loop {
            self.check_active()?;
            let is_first = levels.len() == 1;
            let Some(level) = levels.last_mut() else { return Ok(()) };
            let entry = match level.entries.read() {
                None => {
                    levels.pop();
                    continue;
                }
                Some(Ok(entry)) => entry,
                Some(Err(error)) if is_first => return Err(self.broken(&error.into())),
                Some(Err(error)) => {
                    let path = level.place.path.clone();
                    self.unreadable(&path, &error.into());
                    levels.pop();
                    continue;
                }
            };
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            match self.meet(&level.dir, &level.place.clone(), entry.file_name())? {
                Next::On => {}
                Next::Into(dir, place) => match folder::entries(&dir) {
                    Ok(entries) => levels.push(Level { dir, entries, place }),
                    Err(error) => self.unreadable(&place.path.clone(), &error),
                },
                Next::LeaveTenant => {
                    self.report.is_complete = false;
                    levels.truncate(1);
                }
                Next::End => {
                    self.report.is_complete = false;
                    return Ok(());
                }
            }
        }
    }

    /// Looks at one path in the folder, and at everything below it.
    pub(super) fn look_at(&mut self, path: &Path) -> Result<(), Stop> {
        let mut place = self.root_place();
        let mut dir = self.root.try_clone().map_err(|error| self.broken(&error))?;
        for part in path.components() {
            let Ok(name) = CString::new(part.as_os_str().as_bytes()) else { return Ok(()) };
            match self.meet(&dir, &place, &name)? {
                Next::Into(below, below_place) => (dir, place) = (below, below_place),
                Next::On => return Ok(()),
                Next::LeaveTenant | Next::End => {
                    self.report.is_complete = false;
                    return Ok(());
                }
            }
        }
        self.walk(dir, place)
    }

    /// Decides what an entry of a directory is for.
    fn meet(&mut self, dir: &OwnedFd, place: &Arc<Place>, name: &CStr) -> Result<Next, Stop> {
        let shown = || place.path_of(&name.to_string_lossy());
        match folder::look(dir, name) {
            Ok(Entry::File(stamp)) => {
                if place.tenant.is_none() {
                    self.report.skipped += 1;
                    return Ok(Next::On);
                }
                match original_of(name) {
                    Some(original) => self.recover(dir, place, (name, &original), &stamp),
                    None => return self.consider(place, name, &stamp),
                }
                Ok(Next::On)
            }
            Ok(Entry::Directory(identity)) => self.meet_directory(dir, place, name, identity),
            Ok(Entry::Other) => {
                self.report.skipped += 1;
                Ok(Next::On)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Next::On),
            Err(error) => {
                self.unreadable(&shown(), &error);
                Ok(Next::On)
            }
        }
    }

    fn meet_directory(
        &mut self,
        dir: &OwnedFd,
        place: &Arc<Place>,
        name: &CStr,
        identity: Identity,
    ) -> Result<Next, Stop> {
        let is_tenant = place.tenant.is_none();
        let is_target = self.move_to.as_ref().is_some_and(|(_, target)| *target == identity);
        if is_target || !is_tenant && !self.watch.spec.recursive {
            return Ok(Next::On);
        }
        let Ok(text) = name.to_str() else {
            self.refuse_name(&place.path_of(&name.to_string_lossy()), "it is not UTF-8");
            return Ok(Next::On);
        };
        let path = place.path_of(text);
        if !self.watch.spec.enters(&path) {
            self.report.skipped += 1;
            return Ok(Next::On);
        }
        let (tenant, directory) = if is_tenant {
            match TenantName::new(text) {
                Ok(tenant) => (Some(tenant), place.directory.clone()),
                Err(error) => {
                    self.refuse_name(&path, &error.to_string());
                    return Ok(Next::On);
                }
            }
        } else {
            let below = match place.directory.as_str() {
                "" => text.to_owned(),
                above => format!("{above}/{text}"),
            };
            match Directory::new(&below) {
                Ok(directory) => (place.tenant.clone(), directory),
                Err(error) => {
                    self.refuse_name(&path, &error.to_string());
                    return Ok(Next::On);
                }
            }
        };
        if let Some(tenant) = tenant.as_ref().filter(|_| is_tenant)
            && !self.admits(tenant, &path)
        {
            return Ok(Next::On);
        }
        let mut parts = place.parts.clone();
        parts.push(name.to_owned());
        match folder::open_directory(dir, name) {
            Ok(dir) => Ok(Next::Into(dir, Arc::new(Place { parts, path, tenant, directory }))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Next::On),
            Err(error) => {
                self.unreadable(&path, &error);
                Ok(Next::On)
            }
        }
    }
}
