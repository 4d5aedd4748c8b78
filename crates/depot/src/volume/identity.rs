//! The identity file of a volume.

use super::layout::{Layout, SHARD_LEVELS_MAX};
use super::{VolumeError, VolumeIdentity};
use rialto_disk::{Access, Disk, DiskError};

/// The first line of the file.
const BEGINNING: &str = "rialto depot volume 1";
/// The longest file that is read.
const BYTES_MAX: usize = 512;

/// What the identity file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) identity: VolumeIdentity,
    pub(super) shard_levels: u8,
}

impl Identity {
    pub(super) fn fresh(shard_levels: u8) -> Self {
        let identity = VolumeIdentity(u128::from_le_bytes(rialto_log::fresh_salt()));
        Self { identity, shard_levels: shard_levels.min(SHARD_LEVELS_MAX) }
    }

    pub(super) fn text(self) -> String {
        let body = format!(
            "{BEGINNING}\nidentity {}\nshard-levels {}\n",
            self.identity, self.shard_levels
        );
        let crc = crc32c::crc32c(body.as_bytes());
        format!("{body}crc32c {crc:08x}\n")
    }

    fn parse(text: &str) -> Result<Self, String> {
        let value = |name: &str| {
            let mut values =
                text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            values.next_back().ok_or_else(|| format!("it has no line `{name}`"))
        };
        if text.lines().next() != Some(BEGINNING) {
            return Err(format!("its first line is not `{BEGINNING}`"));
        }
        let shard_levels = value("shard-levels")?.parse().ok();
        let shard_levels = shard_levels
            .filter(|levels| *levels <= SHARD_LEVELS_MAX)
            .ok_or_else(|| format!("`shard-levels` is not 0 to {SHARD_LEVELS_MAX}"))?;
        let parsed = Self { identity: value("identity")?.parse()?, shard_levels };
        // The one text of what was read also compares the checksum.
        if parsed.text() == text { Ok(parsed) } else { Err("its checksum is wrong".to_owned()) }
    }

    /// Reads the file; `None` if there is none.
    pub(super) fn read(
        disk: &dyn Disk,
        name: &str,
        layout: &Layout,
    ) -> Result<Option<Self>, VolumeError> {
        let path = layout.identity();
        let mut bytes = [0; BYTES_MAX];
        let read = disk.open(&path, Access::Read).and_then(|file| file.read_full_at(0, &mut bytes));
        let read = match read {
            Ok(read) => read,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(VolumeError::disk(name, error)),
        };
        let text = std::str::from_utf8(&bytes[..read]).map_err(|_| "it is no text".to_owned());
        text.and_then(Self::parse).map(Some).map_err(|why| VolumeError::InvalidIdentity {
            name: name.to_owned(),
            path,
            why,
        })
    }

    /// Writes the file, durably: it is there whole or not at all.
    pub(super) fn write(self, disk: &dyn Disk, layout: &Layout) -> Result<(), DiskError> {
        let path = layout.identity();
        let temporary = path.with_extension("new");
        match disk.remove(&temporary) {
            Err(error) if !error.is_not_found() => return Err(error),
            _ => {}
        }
        let file = disk.create(&temporary, Access::Buffered)?;
        file.write_all_at(0, self.text().as_bytes())?;
        file.sync_data()?;
        disk.rename(&temporary, &path)?;
        disk.sync_dir(layout.dir())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_back_and_every_flipped_bit_is_noticed() {
        let identity = Identity::fresh(2);
        let text = identity.text();
        assert_eq!(Identity::parse(&text), Ok(identity));
        for at in 0..text.len() * 8 {
            let mut bytes = text.clone().into_bytes();
            bytes[at / 8] ^= 1 << (at % 8);
            let parsed = std::str::from_utf8(&bytes).map(Identity::parse);
            assert!(!matches!(parsed, Ok(Ok(_))), "bit {at}");
        }
    }
}
