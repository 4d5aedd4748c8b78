//! The lineage of a copied journal: the epochs of its originals.
//!
//! A copy is a log of its own, with its own epoch and salt. A program that tracks the original by
//! its epochs learns here that the copy has the same history, and how far.

use crate::replay::JOURNAL_DIR;
use rialto_disk::{Access, Disk, DiskError};
use rialto_log::Segments;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The file, next to the segments of the journal.
// format: docs/formats/journal.md
const FILE: &str = "lineage";

const HEADING: &str = "rialto journal lineage 1\n";

/// The most epochs in the file; the oldest are omitted.
const ANCESTORS_MAX: usize = 1_024;

/// An epoch of an original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ancestor {
    /// Its number.
    pub epoch: u64,
    /// The salt of its segments.
    pub salt: [u8; 16],
    /// The last sequence of that epoch in the copy.
    pub end: u64,
}

/// The epochs of a journal up to a sequence, after the epochs of its own originals.
pub(crate) fn of(journal: &Segments, inherited: &[Ancestor], through: u64) -> Vec<Ancestor> {
    let own = journal.epochs().into_iter().map(|(epoch, salt)| {
        let end = journal.end_of_epoch(epoch).unwrap_or(u64::MAX);
        Ancestor { epoch, salt, end }
    });
    let all = inherited.iter().copied().chain(own);
    let mut all: Vec<_> = all.map(|it| Ancestor { end: it.end.min(through), ..it }).collect();
    all.drain(..all.len().saturating_sub(ANCESTORS_MAX));
    all
}

/// Writes the file durably into a data directory.
pub(crate) fn write(disk: &dyn Disk, dir: &Path, lineage: &[Ancestor]) -> Result<(), DiskError> {
    let mut text = HEADING.to_owned();
    for Ancestor { epoch, salt, end } in lineage {
        let _ = writeln!(text, "{epoch} {:032x} {end}", u128::from_be_bytes(*salt));
    }
    let dir = dir.join(JOURNAL_DIR);
    let path = dir.join(FILE);
    let file = disk.create(&path, Access::Buffered)?;
    file.write_all_at(0, text.as_bytes())?;
    file.sync_data()?;
    disk.sync_dir(&dir)
}

/// The reason why a lineage cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LineageError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The file is invalid.
    #[error(
        "line {line} of {} names no epoch; restore the file from the backup, or remove it to have \
         groups on the venue's events begin anew",
        file.display()
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
}

/// Reads the file; empty if the journal is not a copy.
pub(crate) fn read(disk: &dyn Disk, dir: &Path) -> Result<Vec<Ancestor>, LineageError> {
    let path = dir.join(JOURNAL_DIR).join(FILE);
    let file = match disk.open(&path, Access::Read) {
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        file => file?,
    };
    let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(usize::MAX).min(1 << 20)];
    let read = file.read_full_at(0, &mut bytes)?;
    bytes.truncate(read);
    let damaged = |line| LineageError::Damaged { file: path.clone(), line };
    let text = String::from_utf8(bytes).map_err(|_| damaged(1))?;
    let lines = text.strip_prefix(HEADING).ok_or_else(|| damaged(1))?;
    let parsed = lines.lines().zip(2..).map(|(line, nth)| parse(line).ok_or_else(|| damaged(nth)));
    parsed.collect()
}

fn parse(line: &str) -> Option<Ancestor> {
    let mut parts = line.split(' ');
    let epoch = parts.next()?.parse().ok()?;
    let salt = u128::from_str_radix(parts.next()?, 16).ok()?.to_be_bytes();
    let end = parts.next()?.parse().ok()?;
    parts.next().is_none().then_some(Ancestor { epoch, salt, end })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_disk::SimDisk;

    #[test]
    fn a_lineage_is_read_back_and_damage_is_reported() {
        let (disk, dir) = (SimDisk::new(1), Path::new("/venue"));
        disk.create_dir_all(&dir.join(JOURNAL_DIR)).unwrap();
        assert_eq!(read(&disk, dir).unwrap(), []);
        let one = Ancestor { epoch: 1, salt: [7; 16], end: 40 };
        let two = Ancestor { epoch: 2, salt: [0; 16], end: 90 };
        write(&disk, dir, &[one, two]).unwrap();
        assert_eq!(read(&disk, dir).unwrap(), [one, two]);
        let path = dir.join(JOURNAL_DIR).join(FILE);
        for bad in ["", "rialto journal lineage 2\n", "rialto journal lineage 1\n1 x 3\n"] {
            disk.put_bytes(&path, bad.as_bytes().to_vec());
            assert!(matches!(read(&disk, dir), Err(LineageError::Damaged { .. })), "{bad:?}");
        }
    }
}
