//! The engine's data in the group headers of the event log.

use super::ChainValue;
use crate::Level;

/// The engine's bytes in the header of a group of events: the value of the last span of the chain
/// that ends in this group or before it, the venue's level, seven zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupNote {
    pub(crate) chain: ChainValue,
    /// The level at the release of these events. Under [`Level::Synced`], the journal must still
    /// have their commands.
    pub(crate) level: Level,
}

impl GroupNote {
    pub(crate) fn encode(self) -> [u8; rialto_log::CALLER_BYTES] {
        let mut bytes = [0; rialto_log::CALLER_BYTES];
        bytes[..32].copy_from_slice(&self.chain);
        bytes[32] = self.level as u8;
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; rialto_log::CALLER_BYTES]) -> Option<Self> {
        let chain = *bytes.first_chunk::<32>()?;
        let level = *Level::ALL.get(usize::from(bytes[32]))?;
        bytes[33..].iter().all(|byte| *byte == 0).then_some(Self { chain, level })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_back_and_nothing_else_is_taken_for_one() {
        let note = GroupNote { chain: [7; 32], level: Level::Buffered };
        assert_eq!(GroupNote::decode(&note.encode()), Some(note));
        assert_eq!(GroupNote::decode(&[3; rialto_log::CALLER_BYTES]), None);
    }
}
