//! The sent messages, and the check of the received ones.

use crate::error::BenchError;
use rialto_queue::Message;
use rialto_workload::XorShift;

/// The number of possible windows: a payload is a window into a pool.
const WINDOWS: u64 = 1 << 20;
/// The distance of consecutive windows. Odd, so that the payloads of a full cycle all differ.
const STRIDE: u64 = 40_503;
/// The number of a topic's first counted message: the one before it creates the topic's files.
pub(super) const FIRST_SEQ: u64 = 2;

const PHRASE: &[u8] = b"Every lot that was sold at noon is settled by sunset. ";

/// The content of payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Random bytes.
    Noise,
    /// A repeated phrase.
    Text,
}

/// Messages of one size. The content of each follows from its position, so that the receiver can
/// compare every byte without a copy of the sent ones.
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

    /// The positions of a batch, if all batches have this many messages.
    pub(super) fn batch(&self, nth: u64, messages: u64) -> std::ops::Range<u64> {
        nth * messages..((nth + 1) * messages).min(self.count)
    }

    /// The bytes of all payloads.
    pub(super) fn bytes_total(&self) -> u64 {
        self.bytes as u64 * self.count
    }

    /// Returns an error unless this is the message of this position. The compiler cannot remove the
    /// comparison, because the result depends on it.
    #[inline]
    pub(super) fn check(
        &self,
        case: &str,
        position: u64,
        message: &Message,
    ) -> Result<(), BenchError> {
        self.check_bytes(case, position, message.id().seq, message.payload())
    }

    /// The same for a number and a payload.
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

    /// The same if the message at `nth` in the topic is the one at `position` here.
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
