//! The expected header of the next group of a segment.

use crate::format::{Flaw, GroupHeader, SegmentHeader};
use crate::sealing::Cipher;

/// The expectations that every group must continue: salt, epoch, number, sequence, checksum.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    salt: [u8; 16],
    epoch: u64,
    /// The cipher of every group. A group without it could be forged.
    cipher: Option<Cipher>,
    pub(crate) next_group: u64,
    pub(crate) next_seq: u64,
    pub(crate) previous_checksum: u32,
}

impl Chain {
    /// The chain at the head of a segment, whose first group follows the header block.
    pub(crate) fn at_start(header: &SegmentHeader, checksum: u32) -> Self {
        Self {
            salt: header.salt,
            epoch: header.name.epoch,
            cipher: header.codec.cipher,
            next_group: header.first_group,
            next_seq: header.name.first_seq,
            previous_checksum: checksum,
        }
    }

    pub(crate) fn check(&self, group: &GroupHeader) -> Result<(), Flaw> {
        if group.salt != self.salt {
            return Err(Flaw::Salt);
        }
        if group.epoch != self.epoch {
            return Err(Flaw::Epoch { expected: self.epoch, got: group.epoch });
        }
        if group.number != self.next_group {
            return Err(Flaw::Number { expected: self.next_group, got: group.number });
        }
        if group.first_seq != self.next_seq {
            return Err(Flaw::Sequence { expected: self.next_seq, got: group.first_seq });
        }
        if group.previous_checksum != self.previous_checksum {
            return Err(Flaw::Chain {
                expected: self.previous_checksum,
                got: group.previous_checksum,
            });
        }
        if group.form.codec.cipher != self.cipher {
            return Err(Flaw::Encryption);
        }
        Ok(())
    }

    pub(crate) fn advance(&mut self, group: &GroupHeader, checksum: u32) {
        self.next_group = group.number + 1;
        self.next_seq = group.last_seq() + 1;
        self.previous_checksum = checksum;
    }
}
