//! Chooses the volume of a new file.

use super::{MountedVolume, VolumeError, VolumeNumber, VolumeState};
use crate::FileId;
use std::sync::Arc;

/// A volume that takes new files and has room for `bytes` above its minimum of free space. Each is
/// chosen in proportion to its weight and its room, so that all volumes are written to at once and
/// fill evenly; the id decides.
pub(super) fn choose(
    volumes: &[Arc<MountedVolume>],
    id: FileId,
    bytes: u64,
    free_bytes_min: u64,
    not: &[VolumeNumber],
) -> Result<Arc<MountedVolume>, VolumeError> {
    let takes = |volume: &&Arc<MountedVolume>| {
        volume.state() == VolumeState::Up && volume.weight() > 0 && !not.contains(&volume.number())
    };
    let needed = free_bytes_min.saturating_add(bytes);
    // In units of 64 KiB, so that the sum of all volumes leaves 32 bits for the draw.
    let room = |volume: &Arc<MountedVolume>| {
        let room = volume.free_bytes().checked_sub(needed)?;
        Some((room >> 16) + 1)
    };
    // A bucket has as much room as the volume with the most, so that its weight alone decides.
    let limited = volumes.iter().filter(|it| takes(it) && it.place.has_free_space());
    let most = limited.filter_map(room).max().unwrap_or(1);
    let score = |volume: &Arc<MountedVolume>| {
        let room = if volume.place.has_free_space() { room(volume)? } else { most };
        Some(u128::from(volume.weight()) * u128::from(room))
    };
    // Computed once: states and free space change meanwhile.
    let scored: Vec<_> = volumes
        .iter()
        .filter(takes)
        .filter_map(|volume| score(volume).map(|score| (volume, score)))
        .collect();
    let total: u128 = scored.iter().map(|(_, score)| score).sum();
    let mut left = (u128::from(draw(id)) * total) >> 32;
    for (volume, score) in scored {
        if left < score {
            return Ok(Arc::clone(volume));
        }
        left -= score;
    }
    let states: Vec<String> = volumes
        .iter()
        .map(|volume| {
            let (name, state, free) = (volume.name(), volume.state(), volume.free_bytes());
            match volume.place.has_free_space() {
                true => format!("{name} is {state} with {free} bytes free"),
                false => format!("{name} is {state} with no limit of space"),
            }
        })
        .collect();
    let states = if states.is_empty() { "none is mounted".to_owned() } else { states.join(", ") };
    if volumes.iter().any(|volume| takes(&volume)) {
        Err(VolumeError::NoRoom { bytes, states })
    } else {
        Err(VolumeError::NoVolume { states })
    }
}

/// 32 evenly distributed bits of an id (the finaliser of SplitMix64).
fn draw(id: FileId) -> u32 {
    let mut bits = (id.0 >> 64) as u64 ^ (id.0 as u64).rotate_left(32);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 32) as u32
}
