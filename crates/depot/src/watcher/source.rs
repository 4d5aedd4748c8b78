//! What becomes of a source when its file is durable.
//!
//! A name may stand for another file by now, so that deleting by name could delete a file that was not
//! imported. The source is renamed first, and deleted or left in its new place only if what was renamed
//! is what was imported; otherwise it gets its name back.

use super::candidates::{Candidate, Place};
use super::folder::{self, Entry, Stamp};
use super::scan::MoveTarget;
use super::spec::AfterImport;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// The beginning of the name of a source that is being deleted.
const ASIDE: &str = ".rialto-done-";
/// The longest name of a file.
const NAME_BYTES_MAX: usize = 255;

/// What became of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Removal {
    /// It is deleted or moved.
    Removed,
    /// It is kept, as the watch says.
    Kept,
    /// Another content has its name now, which is a new file.
    Replaced,
    /// It is still there, for this reason.
    Failed(String),
}

/// The name that a source had before it was renamed to be deleted.
pub(super) fn original_of(name: &CStr) -> Option<CString> {
    let original = name.to_bytes().strip_prefix(ASIDE.as_bytes()).filter(|it| !it.is_empty())?;
    CString::new(original).ok()
}

/// Removes the source of an import.
pub(super) fn remove(
    after: &AfterImport,
    dir: &OwnedFd,
    candidate: &Candidate,
    move_to: Option<&MoveTarget>,
) -> Removal {
    let removed = match (after, move_to) {
        (AfterImport::Keep, _) => return Removal::Kept,
        (AfterImport::Delete, _) => delete(dir, candidate),
        (AfterImport::Move(_), Some((target, _))) => move_file(dir, candidate, target),
        (AfterImport::Move(_), None) => Err(io::ErrorKind::NotFound.into()),
    };
    match removed {
        Ok(removal) => removal,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Removal::Removed,
        Err(error) => {
            let path = candidate.place.path_of(candidate.name.as_str());
            Removal::Failed(format!("{path:?} is imported, and cannot be removed: {error}"))
        }
    }
}

fn is_source(dir: impl AsFd, name: &CStr, stamp: &Stamp) -> io::Result<bool> {
    Ok(matches!(folder::look(dir, name)?, Entry::File(found) if found.has_same_content(stamp)))
}

fn name_of(candidate: &Candidate) -> io::Result<CString> {
    Ok(CString::new(candidate.name.as_str())?)
}

fn delete(dir: &OwnedFd, candidate: &Candidate) -> io::Result<Removal> {
    let name = name_of(candidate)?;
    if !is_source(dir, &name, &candidate.stamp)? {
        return Ok(Removal::Replaced);
    }
    let aside = CString::new(format!("{ASIDE}{}", candidate.name))?;
    if aside.as_bytes().len() > NAME_BYTES_MAX {
        // Deleted by its name it could be another file by now.
        let why = format!("a name of more than {} bytes", NAME_BYTES_MAX - ASIDE.len());
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, why));
    }
    folder::rename((dir, &name), (dir, &aside))?;
    if !is_source(dir, &aside, &candidate.stamp)? {
        folder::rename((dir, &aside), (dir, &name))?;
        return Ok(Removal::Replaced);
    }
    folder::delete(dir, &aside)?;
    Ok(Removal::Removed)
}

fn move_file(dir: &OwnedFd, candidate: &Candidate, target: &OwnedFd) -> io::Result<Removal> {
    let name = name_of(candidate)?;
    if !is_source(dir, &name, &candidate.stamp)? {
        return Ok(Removal::Replaced);
    }
    let target = open_below(target, &candidate.place, true).map_err(not_missing)?;
    let mut new_name = name.clone();
    let mut renamed = folder::rename((dir, &name), (&target, &new_name));
    if renamed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) {
        // An earlier file of this name is there.
        let suffix = candidate.mark.0 >> 64;
        new_name = CString::new(format!("{}.{suffix:016x}", candidate.name))?;
        renamed = folder::rename((dir, &name), (&target, &new_name));
    }
    renamed?;
    if !is_source(&target, &new_name, &candidate.stamp)? {
        folder::rename((&target, &new_name), (dir, &name))?;
        return Ok(Removal::Replaced);
    }
    Ok(Removal::Removed)
}

/// That the folder to move to is missing does not mean that the source is gone.
fn not_missing(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::NotFound {
        io::Error::other(error.to_string())
    } else {
        error
    }
}

/// Opens the directory of a place below a folder, and makes what is missing if asked to.
pub(super) fn open_below(folder: &OwnedFd, place: &Place, makes: bool) -> io::Result<OwnedFd> {
    let mut dir = folder.try_clone()?;
    for part in &place.parts {
        dir = match makes {
            true => folder::make_directory(&dir, part)?,
            false => folder::open_directory(&dir, part)?,
        };
    }
    Ok(dir)
}
