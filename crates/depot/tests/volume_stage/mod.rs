//! A set of volumes for tests.

#![allow(dead_code, clippy::unwrap_used, reason = "not every test file uses all of it")]

use rialto_depot::FileId;
use rialto_depot::volume::{
    Finished, StoredBytes, VolumeError, VolumeNumber, VolumeOptions, VolumeSpec, Volumes,
};
use rialto_disk::{Disk, SimDisk};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) const MIB: usize = 1 << 20;
pub(crate) const ONE: VolumeNumber = VolumeNumber(1);
pub(crate) const TWO: VolumeNumber = VolumeNumber(2);

/// An id as of the `nth` nanosecond.
pub(crate) fn id(nth: u64) -> FileId {
    FileId(u128::from(nth) << 64 | 0xd1ce)
}

/// Options without a minimum of free space.
pub(crate) fn options() -> VolumeOptions {
    VolumeOptions { free_bytes_min: 0, ..VolumeOptions::default() }
}

pub(crate) fn spec(name: &str, dir: &Path) -> VolumeSpec {
    VolumeSpec { name: name.to_owned(), dir: dir.to_owned(), weight: 1, identity: None }
}

/// One volume `one` in `dir`.
pub(crate) fn volumes_in(disk: Arc<dyn Disk>, dir: &Path, options: VolumeOptions) -> Volumes {
    let volumes = Volumes::new(disk, options);
    volumes.mount(ONE, &spec("one", dir)).unwrap();
    volumes
}

/// One volume `/one` on a simulated disk.
pub(crate) fn simulated(seed: u64, options: VolumeOptions) -> (SimDisk, Volumes) {
    let disk = SimDisk::new(seed);
    let volumes = volumes_in(Arc::new(disk.clone()), Path::new("/one"), options);
    (disk, volumes)
}

/// The same content for the same length and number: it neither repeats nor compresses.
pub(crate) fn content(bytes: usize, nth: u64) -> Vec<u8> {
    let mut state = nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut content = Vec::with_capacity(bytes + 8);
    while content.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        content.extend_from_slice(&state.to_le_bytes());
    }
    content.truncate(bytes);
    content
}

/// Writes a file in pieces of `piece` bytes.
pub(crate) fn write(
    volumes: &Volumes,
    id: FileId,
    content: &[u8],
    piece: usize,
) -> Result<Finished, VolumeError> {
    let mut writer = volumes.begin(id, None, &[])?;
    content.chunks(piece).try_for_each(|piece| writer.write(piece))?;
    writer.finish(b"a description")
}

/// Reads and verifies a whole file.
pub(crate) fn read(
    volumes: &Volumes,
    id: FileId,
    stored: &StoredBytes,
) -> Result<Vec<u8>, VolumeError> {
    let mut reader = volumes.open(id, stored)?;
    reader.verify()?;
    let mut bytes = vec![0; stored.bytes as usize];
    let read = reader.read_at(0, &mut bytes)?;
    assert_eq!(read, bytes.len());
    assert_eq!(reader.description()?, b"a description");
    Ok(bytes)
}

/// Where `one` stores a file, on a simulated disk.
pub(crate) fn path_of(disk: &SimDisk, id: FileId) -> PathBuf {
    disk.paths().into_iter().find(|path| path.ends_with(id.to_string())).unwrap()
}
