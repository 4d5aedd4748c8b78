//! Packing messages that a topic holds.

use super::layout::{HEAD_BYTES, Head, MESSAGES_MAGIC, PREFIX_BYTES, Run, framed_bytes};
use crate::group::Fetched;
use crate::message::{Message, RecordRange};
use zerocopy::IntoBytes;

/// Shorter stretches are copied into the piece before: a piece of their own would cost more.
const PIECE_BYTES_MIN: usize = 16 << 10;

/// A piece of a packed batch. The batch is the concatenation of its pieces.
#[derive(Debug)]
pub enum Piece {
    /// Bytes of its own.
    Made(Vec<u8>),
    /// Bytes in the memory of a topic.
    Stored(Stored),
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        match self {
            Piece::Made(bytes) => bytes,
            Piece::Stored(stored) => stored.as_ref(),
        }
    }
}

/// Messages in the memory of their topic, which is kept as long as this value.
#[derive(Debug)]
pub struct Stored(RecordRange);

impl AsRef<[u8]> for Stored {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

/// Packs delivered messages. Clients receive `epoch` and send it back with the leases.
#[must_use]
pub fn pack_fetched(fetched: &Fetched, epoch: u32) -> Vec<Piece> {
    let leased = fetched.messages.iter().map(|delivered| Leased {
        message: delivered.message(),
        lease: delivered.lease(),
        attempt: delivered.attempt(),
    });
    pack(leased, epoch, fetched.missed)
}

/// Packs messages that were read without a group.
#[must_use]
pub fn pack_messages(messages: &[Message], missed: u64) -> Vec<Piece> {
    let unleased = |message| Leased { message, lease: 0, attempt: 0 };
    pack(messages.iter().map(unleased), 0, missed)
}

#[derive(Clone, Copy)]
struct Leased<'a> {
    message: &'a Message,
    lease: u64,
    attempt: u16,
}

/// A run that is being built.
struct PartialRun {
    run: Run,
    range: RecordRange,
}

impl PartialRun {
    fn new(leased: Leased<'_>) -> PartialRun {
        let Leased { message, lease, attempt } = leased;
        let run = Run {
            first_seq: message.id().seq.into(),
            first_lease: lease.into(),
            attempt: attempt.into(),
            lane: message.id().lane,
            messages: 1.into(),
            ..Run::default()
        };
        PartialRun { run, range: message.range(PREFIX_BYTES, framed_bytes) }
    }

    /// Adds the next message, if it continues the run.
    fn take(&mut self, leased: Leased<'_>) -> bool {
        let Leased { message, lease, attempt } = leased;
        let run = &mut self.run;
        let messages = u64::from(run.messages.get());
        let continues = run.lane == message.id().lane
            && run.first_seq.get() + messages == message.id().seq
            && run.attempt.get() == attempt
            && match run.first_lease.get() {
                0 => lease == 0,
                first => first + messages == lease,
            };
        let continues = continues && self.range.grow(message.range(PREFIX_BYTES, framed_bytes));
        if continues {
            run.messages = (run.messages.get() + 1).into();
        }
        continues
    }
}

fn pack<'a>(messages: impl Iterator<Item = Leased<'a>>, epoch: u32, missed: u64) -> Vec<Piece> {
    let mut made = Head::new(MESSAGES_MAGIC, 0, epoch, missed).as_bytes().to_vec();
    let (mut pieces, mut runs) = (Vec::new(), 0_u32);
    let mut add = |PartialRun { mut run, range }: PartialRun, made: &mut Vec<u8>| {
        let bytes = range.bytes();
        run.bytes = (bytes.len() as u32).into();
        made.extend_from_slice(run.as_bytes());
        runs += 1;
        if bytes.len() < PIECE_BYTES_MIN {
            made.extend_from_slice(bytes);
        } else {
            pieces.push(Piece::Made(std::mem::take(made)));
            pieces.push(Piece::Stored(Stored(range)));
        }
    };
    let mut growing: Option<PartialRun> = None;
    for leased in messages {
        if growing.as_mut().is_some_and(|growing| growing.take(leased)) {
            continue;
        }
        if let Some(whole) = growing.replace(PartialRun::new(leased)) {
            add(whole, &mut made);
        }
    }
    if let Some(whole) = growing {
        add(whole, &mut made);
    }
    if !made.is_empty() {
        pieces.push(Piece::Made(made));
    }
    if let Some(Piece::Made(first)) = pieces.first_mut()
        && let Some(head) = first.get_mut(..HEAD_BYTES)
    {
        head.copy_from_slice(Head::new(MESSAGES_MAGIC, runs, epoch, missed).as_bytes());
    }
    pieces
}
