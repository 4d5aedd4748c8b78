//! Many producers on one topic, and what they left in it.

use super::messages::{FIRST_SEQ, Messages};
use super::stage::Stage;
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, Latencies};
use rialto_queue::{Producer, Publish, Read, Receipt};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use tokio::runtime::Runtime;

pub(super) const PRODUCERS: u64 = 64;

/// The payload at a position, and the position with it: where a message comes to stand is decided by
/// the threads.
pub(super) fn numbered(payload: &mut Vec<u8>, messages: &Messages, position: u64) {
    payload.clear();
    payload.extend_from_slice(&position.to_le_bytes());
    payload.extend_from_slice(&messages.payload(position)[8..]);
}

/// How tasks produce.
#[derive(Clone, Copy)]
pub(super) struct Tasks {
    /// How many messages of each producer are not confirmed yet.
    pub(super) outstanding: usize,
    /// Whether confirmations are timed.
    pub(super) is_timed: bool,
}

impl Tasks {
    /// Has a task for each producer send those of its messages that are in a range, and wait for
    /// each. Returns how long confirmations took, if they are timed.
    pub(super) fn produce(
        self,
        runtime: &Runtime,
        stage: &Stage,
        messages: &Arc<Messages>,
        range: Range<u64>,
    ) -> Result<Latencies, BenchError> {
        let each = messages.count / PRODUCERS;
        let ends = (0..PRODUCERS).map(|nth| {
            let (case, producer) = (stage.case.clone(), stage.producer()?);
            let positions = nth * each + range.start..nth * each + range.end;
            // Tasks own what they use, so that the producers share the messages.
            Ok(runtime.spawn(self.send(case, producer, Arc::clone(messages), positions)))
        });
        let ends = ends.collect::<Result<Vec<_>, BenchError>>()?;
        let mut latencies = Latencies::new();
        for end in ends {
            let end = runtime.block_on(end);
            let end = end.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
            latencies.merge(&end?);
        }
        Ok(latencies)
    }

    async fn send(
        self,
        case: String,
        producer: Producer,
        messages: Arc<Messages>,
        positions: Range<u64>,
    ) -> Result<Latencies, BenchError> {
        let failed = || broken(&case, "publish a message");
        let clock = self.is_timed.then(Clock::start);
        let now_ns = || clock.map_or(0, |clock| clock.now_ns());
        let mut latencies = Latencies::new();
        let mut confirmed = |sent_ns| {
            if self.is_timed {
                latencies.record(now_ns() - sent_ns);
            }
        };
        let mut payload = Vec::new();
        let mut receipts: VecDeque<(u64, Receipt)> = VecDeque::with_capacity(self.outstanding);
        for position in positions {
            if receipts.len() == self.outstanding
                && let Some((sent_ns, oldest)) = receipts.pop_front()
            {
                oldest.confirmed().await.map_err(failed())?;
                confirmed(sent_ns);
            }
            numbered(&mut payload, &messages, position);
            let sent_ns = now_ns();
            let receipt = producer.try_send(&Publish::new(&payload)).map_err(failed())?;
            receipts.push_back((sent_ns, receipt));
        }
        for (sent_ns, receipt) in receipts {
            receipt.confirmed().await.map_err(failed())?;
            confirmed(sent_ns);
        }
        Ok(latencies)
    }
}

/// Reads the newest `kept` messages of a topic: each is there, and the messages of each producer
/// are in order and end with its last.
pub(super) fn read_newest(stage: &Stage, messages: &Messages, kept: u64) -> Result<(), BenchError> {
    let case = &stage.case;
    let last = FIRST_SEQ + messages.count - 1;
    let first = last - kept.min(messages.count) + 1;
    let mut reader = stage.reader(first)?;
    let mut newest = Newest::new(case, messages);
    for seq in first..=last {
        match reader.try_next().map_err(broken(case, "read a message"))? {
            Some(Read::Message(message)) => {
                newest.take(seq, message.id().seq, message.payload())?;
            }
            other => {
                let got = format!("{other:?}");
                verify(case, &format!("message {seq}"), got, "the message".to_owned())?;
            }
        }
    }
    newest.end()
}

/// What the newest messages of a topic must be: one after the other, those of each producer in order
/// and through its last.
struct Newest<'a> {
    case: &'a str,
    messages: &'a Messages,
    /// Of each producer that was seen, the position of its next message.
    next: Vec<Option<u64>>,
}

impl<'a> Newest<'a> {
    fn new(case: &'a str, messages: &'a Messages) -> Newest<'a> {
        Newest { case, messages, next: vec![None; PRODUCERS as usize] }
    }

    fn take(&mut self, expected: u64, seq: u64, payload: &[u8]) -> Result<(), BenchError> {
        let case = self.case;
        verify(case, "the number of a message", seq, expected)?;
        let (position, rest) = payload.split_first_chunk().unwrap_or((&[0xff; 8], &[]));
        let position = u64::from_le_bytes(*position);
        let each = self.messages.count / PRODUCERS;
        let Some(next) = self.next.get_mut((position / each) as usize) else {
            let unknown = format!("message {seq} of {} bytes with {position}", payload.len());
            return verify(case, "whose message it is", unknown, "a producer's".to_owned());
        };
        verify(case, "a message's place", position, next.unwrap_or(position))?;
        verify(case, "a message's bytes", rest == &self.messages.payload(position)[8..], true)?;
        *next = Some(position + 1);
        Ok(())
    }

    fn end(self) -> Result<(), BenchError> {
        let each = self.messages.count / PRODUCERS;
        for (next, end) in self.next.into_iter().zip((1..).map(|producer| producer * each)) {
            verify(self.case, "the last message of a producer", next.unwrap_or(end), end)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::messages::Content;
    use super::*;

    /// What the check says of the messages at these positions, each with its number in the topic.
    fn checked(newest: impl IntoIterator<Item = (u64, u64)>) -> Result<(), BenchError> {
        let messages = Messages::new(Content::Noise, 64, PRODUCERS * 4);
        let mut check = Newest::new("test", &messages);
        for (expected, (seq, position)) in (10..).zip(newest) {
            let mut payload = position.to_le_bytes().to_vec();
            payload.extend_from_slice(&messages.payload(position)[8..]);
            check.take(expected, seq, &payload)?;
        }
        check.end()
    }

    #[test]
    fn a_gap_is_noticed_wherever_it_is() {
        // Two producers of four messages each, from their third and second message on.
        let whole = [(10, 2), (11, 5), (12, 3), (13, 6), (14, 7)];
        assert!(checked(whole).is_ok());
        assert!(checked([(10, 2), (12, 3), (13, 6), (14, 7)]).is_err(), "a number is left out");
        assert!(checked([(10, 2), (11, 5), (12, 3), (13, 7)]).is_err(), "a message is lost");
        assert!(checked([(10, 2), (11, 5), (12, 3), (13, 6)]).is_err(), "the last is lost");
        assert!(checked([(10, 2), (11, 2)]).is_err(), "one comes twice");
    }
}
