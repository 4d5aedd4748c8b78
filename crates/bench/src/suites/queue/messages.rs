//! What is sent, and what must therefore be received.

use crate::error::BenchError;
use rialto_queue::Message;
use rialto_workload::XorShift;

/// Payloads are windows into a pool, which begin at one of this many places.
const WINDOWS: u64 = 1 << 20;
/// From one payload's window to that of the next. Odd, so that as many payloads as there are
/// windows all begin elsewhere.
const STRIDE: u64 = 40_503;
/// The number of a topic's first message that counts: the one before it made the topic's files.
pub(super) const FIRST_SEQ: u64 = 2;

const PHRASE: &[u8] = b"Every lot that was sold at noon is settled by sunset. ";

/// What payloads are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Random bytes.
    Noise,
    /// One phrase again and again.
    Text,
}

/// Messages of one size. Each has bytes of its own, and what they are follows from its position
/// alone, so that the receiver can compare every byte without keeping what was sent.
pub(super) struct Messages {
    pool: Vec<u8>,
    bytes: usize,
    pub(super) count: u64,
}

impl Messages {
    pub(super) fn new(content: Content, bytes: usize, count: u64) -> Messages {
        let pool_bytes = WINDOWS as usize + bytes;
        let pool = match content {
            Content::Text => PHRASE.iter().copied().cycle().take(pool_bytes).collect(),
            Content::Noise => {
                let mut random = XorShift::seeded(bytes as u64);
                let words = (0..pool_bytes.div_ceil(8)).map(|_| random.next_word());
                words.flat_map(u64::to_le_bytes).take(pool_bytes).collect()
            }
        };
        Messages { pool, bytes, count }
    }

    /// The payload of the message at a position, from 0.
    #[inline]
    pub(super) fn payload(&self, position: u64) -> &[u8] {
        let start = (position.wrapping_mul(STRIDE) % WINDOWS) as usize;
        &self.pool[start..start + self.bytes]
    }

    /// The positions of a batch, if all are sent in batches of so many.
    pub(super) fn batch(&self, nth: u64, messages: u64) -> std::ops::Range<u64> {
        nth * messages..((nth + 1) * messages).min(self.count)
    }

    /// All payloads together.
    pub(super) fn bytes_total(&self) -> u64 {
        self.bytes as u64 * self.count
    }

    /// An error unless this is the message that was sent at a position, in its place and with its
    /// bytes. The compiler cannot leave the comparison out: whether there is an error depends on it.
    #[inline]
    pub(super) fn check(
        &self,
        case: &str,
        position: u64,
        message: &Message,
    ) -> Result<(), BenchError> {
        self.check_bytes(case, position, message.id().seq, message.payload())
    }

    /// As [`Messages::check`], of a number and a payload that were taken out of a message.
    #[inline]
    pub(super) fn check_bytes(
        &self,
        case: &str,
        position: u64,
        seq: u64,
        payload: &[u8],
    ) -> Result<(), BenchError> {
        self.check_placed(case, (position, position), seq, payload)
    }

    /// As [`Messages::check_bytes`], where the message at `nth` in the topic is the one that is at
    /// `position` here.
    #[inline]
    pub(super) fn check_placed(
        &self,
        case: &str,
        (nth, position): (u64, u64),
        seq: u64,
        payload: &[u8],
    ) -> Result<(), BenchError> {
        if seq == nth + FIRST_SEQ && payload == self.payload(position) {
            return Ok(());
        }
        Err(BenchError::Wrong {
            case: case.to_string(),
            what: format!("message {nth}"),
            expected: format!("number {} with the bytes that were sent", nth + FIRST_SEQ),
            got: format!("number {seq} with {} bytes", payload.len()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_message_and_one_wrong_byte_are_noticed() {
        for content in [Content::Noise, Content::Text] {
            let messages = Messages::new(content, 512, 10);
            let mut payload = messages.payload(3).to_vec();
            assert!(messages.check_bytes("test", 3, 5, &payload).is_ok());
            assert!(messages.check_bytes("test", 3, 6, &payload).is_err(), "the next number");
            assert!(messages.check_bytes("test", 4, 6, &payload).is_err(), "the one before");
            payload[511] ^= 1;
            assert!(messages.check_bytes("test", 3, 5, &payload).is_err(), "the last byte");
        }
    }
}
