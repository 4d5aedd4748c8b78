//! Probes volumes.

use super::{MountedVolume, VolumeError, VolumeState};
use rialto_disk::Access;

/// What a probe writes and reads back.
const PATTERN: &[u8; 64] = b"rialto depot probe: written, synced, read back, and then removed";

impl MountedVolume {
    /// Checks that the volume is there, refreshes its free space and, if it had failed, writes to
    /// it. Returns whether its state changed.
    pub(super) fn probe(&self) -> bool {
        let had_failed = self.state() == VolumeState::Failed;
        let probed = self
            .check_identity()
            .and_then(|()| self.measure().map_err(|error| VolumeError::disk(self.name(), error)))
            .and_then(|()| if had_failed { self.write_and_read() } else { Ok(()) });
        let fails = probed.is_err();
        if let Err(error) = probed {
            self.note(error);
        }
        // A failure that was noted meanwhile stays: what was written was not, unless the volume had
        // failed, and the next probe does that.
        if fails || had_failed {
            self.set_failed(fails);
            if !fails {
                self.forget_error();
            }
        }
        fails != had_failed
    }

    fn write_and_read(&self) -> Result<(), VolumeError> {
        let path = self.layout.probe();
        let write_and_read = || {
            match self.disk.remove(&path) {
                Err(error) if !error.is_not_found() => return Err(error),
                _ => {}
            }
            let file = self.disk.create(&path, Access::Buffered)?;
            file.write_all_at(0, PATTERN)?;
            file.sync_data()?;
            let mut read = [0; PATTERN.len()];
            file.read_full_at(0, &mut read)?;
            self.disk.remove(&path)?;
            Ok(read)
        };
        let read = write_and_read().map_err(|error| VolumeError::disk(self.name(), error))?;
        if read == *PATTERN {
            return Ok(());
        }
        Err(VolumeError::Damaged {
            name: self.name().to_owned(),
            path: path.clone(),
            part: super::StoredPart::Block(0),
            expected: crc32c::crc32c(PATTERN),
            got: crc32c::crc32c(&read),
        })
    }
}
