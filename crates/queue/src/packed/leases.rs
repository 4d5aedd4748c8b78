//! Packed leases of delivered messages.

use super::layout::{Head, LEASES_MAGIC, Run};
use super::read::InvalidPacked;
use crate::message::MessageId;
use zerocopy::{FromBytes, IntoBytes};

/// The leases of messages that were delivered, in runs, as they are sent back.
#[derive(Clone, Debug, Default)]
pub struct PackedLeases {
    epoch: u32,
    runs: Vec<LeaseRun>,
}

#[derive(Clone, Copy, Debug)]
struct LeaseRun {
    first: MessageId,
    lease: u64,
    messages: u32,
}

impl PackedLeases {
    /// Empty, for deliveries of this epoch.
    #[must_use]
    pub fn new(epoch: u32) -> PackedLeases {
        PackedLeases { epoch, runs: Vec::new() }
    }

    /// Removes all leases and keeps the memory.
    pub fn clear(&mut self, epoch: u32) {
        self.runs.clear();
        self.epoch = epoch;
    }

    /// Adds the lease of a message.
    pub fn push(&mut self, id: MessageId, lease: u64) {
        if let Some(run) = self.runs.last_mut() {
            let messages = u64::from(run.messages);
            if run.first.lane == id.lane
                && run.first.seq.checked_add(messages) == Some(id.seq)
                && run.lease.checked_add(messages) == Some(lease)
                && run.messages < u32::MAX
            {
                run.messages += 1;
                return;
            }
        }
        self.runs.push(LeaseRun { first: id, lease, messages: 1 });
    }

    /// The epoch of the leases.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// How many leases there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.messages)).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Each message with its lease. A few bytes can encode very many leases: check
    /// [`PackedLeases::len`] first if the bytes are not trusted.
    pub fn iter(&self) -> impl Iterator<Item = (MessageId, u64)> + '_ {
        self.runs.iter().flat_map(|run| {
            (0..u64::from(run.messages)).map(|nth| {
                let seq = run.first.seq.wrapping_add(nth);
                (MessageId { lane: run.first.lane, seq }, run.lease.wrapping_add(nth))
            })
        })
    }

    /// The leases as bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        let head = Head::new(LEASES_MAGIC, self.runs.len() as u32, self.epoch, 0);
        out.extend_from_slice(head.as_bytes());
        for run in &self.runs {
            let run = Run {
                first_seq: run.first.seq.into(),
                first_lease: run.lease.into(),
                messages: run.messages.into(),
                lane: run.first.lane,
                ..Run::default()
            };
            out.extend_from_slice(run.as_bytes());
        }
    }

    /// Reads leases from bytes that come from outside.
    ///
    /// # Errors
    /// If the bytes are not packed leases.
    pub fn read(bytes: &[u8]) -> Result<PackedLeases, InvalidPacked> {
        let (head, rest) = Head::split(LEASES_MAGIC, bytes)?;
        let count = head.runs.get() as usize;
        let (runs, behind) =
            <[Run]>::ref_from_prefix_with_elems(rest, count).map_err(|_| InvalidPacked::Short)?;
        if !behind.is_empty() {
            return Err(InvalidPacked::Trailing(behind.len()));
        }
        if runs.iter().any(|run| run.reserved != [0; 5]) || head.missed.get() != 0 {
            return Err(InvalidPacked::Reserved);
        }
        let runs = runs.iter().map(|run| LeaseRun {
            first: MessageId { lane: run.lane, seq: run.first_seq.get() },
            lease: run.first_lease.get(),
            messages: run.messages.get(),
        });
        Ok(PackedLeases { epoch: head.epoch.get(), runs: runs.collect() })
    }
}
