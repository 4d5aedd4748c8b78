//! A message as consumers and readers see it.

use crate::batch::Batch;
use crate::format::{self, Header, Headers, Parts};
use crate::publish::{Publish, Stamp};
use rialto_clock::Timestamp;
use std::fmt;
use std::sync::Arc;

/// The position of a message in its topic: the lane and the number within it.
///
/// A topic has one lane for each priority. Within a lane, messages are numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId {
    /// The priority.
    pub lane: u8,
    /// The number within the lane.
    pub seq: u64,
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.lane, self.seq)
    }
}

/// A text that is not a [`MessageId`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a message id; write LANE:NUMBER, such as 0:17")]
pub struct InvalidMessageId(pub String);

impl std::str::FromStr for MessageId {
    type Err = InvalidMessageId;

    fn from_str(text: &str) -> Result<Self, InvalidMessageId> {
        text.split_once(':')
            .and_then(|(lane, seq)| Some(Self { lane: lane.parse().ok()?, seq: seq.parse().ok()? }))
            .ok_or_else(|| InvalidMessageId(text.to_owned()))
    }
}

/// How a topic interprets the records of a log.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    /// Messages in the format of topics.
    Message,
    /// Records of an external log: each is a payload.
    Raw(RawForm),
}

/// The properties of records of an external log.
#[derive(Clone, Copy)]
pub(crate) struct RawForm {
    pub(crate) content_type: &'static str,
    pub(crate) time_of: fn(&[u8]) -> Timestamp,
}

/// The header of a message without attributes.
static SAYS_NOTHING: Header = Header::EMPTY;

/// A message as it was published.
///
/// It shares the memory of its topic: no bytes are copied, and the memory is kept as long as the
/// message.
#[derive(Clone)]
pub struct Message {
    batch: Arc<Batch>,
    /// The offset of the record in the batch.
    start: u32,
    end: u32,
    id: MessageId,
}

impl Message {
    /// `None` if the record is not a message.
    #[inline]
    pub(crate) fn new(batch: Arc<Batch>, start: u32, end: u32, id: MessageId) -> Option<Self> {
        let message = Self { batch, start, end, id };
        if let Form::Message = message.batch.form() {
            format::split(message.record())?;
        }
        Some(message)
    }

    #[inline]
    pub(crate) fn record(&self) -> &[u8] {
        &self.batch.body()[self.start as usize..self.end as usize]
    }

    /// The bytes of the record, with the length before and the padding after it.
    ///
    /// An external record is converted to a message.
    pub(crate) fn range(&self, before: usize, framed: impl Fn(usize) -> usize) -> RecordRange {
        if let Form::Raw(_) = self.batch.form() {
            let publish = Publish::new(self.payload()).content_type(self.content_type());
            let len = publish.bytes();
            let mut bytes = vec![0; framed(len)];
            let (prefix, room) = bytes.split_at_mut(before);
            prefix.copy_from_slice(&(len as u32).to_le_bytes());
            let stamp = Stamp { published_at: self.published_at(), ..Stamp::default() };
            publish.encode(stamp, &mut room[..len]);
            let end = bytes.len() as u32;
            return RecordRange {
                batch: Batch::of_bytes(bytes.into(), self.id.seq),
                start: 0,
                end,
            };
        }
        let start = self.start as usize - before;
        let end = start + framed((self.end - self.start) as usize);
        RecordRange { batch: self.batch.clone(), start: start as u32, end: end as u32 }
    }

    #[inline]
    pub(crate) fn parts(&self) -> Parts<'_> {
        match self.batch.form() {
            Form::Message => format::split(self.record())
                .expect("a message is only made of a record that splits"),
            Form::Raw(raw) => Parts {
                header: &SAYS_NOTHING,
                content_type: raw.content_type.as_bytes(),
                key: &[],
                headers: &[],
                payload: self.record(),
            },
        }
    }

    /// The bytes that it takes in its topic, headers included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.record().len()
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> MessageId {
        self.id
    }

    /// The payload.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.parts().payload
    }

    /// The key; empty for none.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        self.parts().key
    }

    /// The media type of the payload; empty for none.
    #[must_use]
    pub fn content_type(&self) -> &str {
        std::str::from_utf8(self.parts().content_type).unwrap_or_default()
    }

    /// The version of the payload's schema; 0 for none.
    #[must_use]
    pub fn schema_version(&self) -> u32 {
        self.parts().header.schema_version.get()
    }

    /// The priority; a higher one is delivered first.
    #[must_use]
    pub fn priority(&self) -> u8 {
        self.parts().header.priority
    }

    /// The headers, in the order in which they were given.
    #[must_use]
    pub fn headers(&self) -> Headers<'_> {
        Headers::new(self.parts().headers)
    }

    /// The first header of this name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers().find(|(other, _)| *other == name).map(|(_, value)| value)
    }

    /// When the topic accepted it. Within a lane, times never go back.
    #[must_use]
    pub fn published_at(&self) -> Timestamp {
        match self.batch.form() {
            Form::Message => Timestamp(self.parts().header.published_at.get()),
            Form::Raw(raw) => (raw.time_of)(self.record()),
        }
    }

    /// When it expires.
    #[must_use]
    pub fn expires_at(&self) -> Option<Timestamp> {
        time(self.parts().header.expires_at.get())
    }

    /// The time to which it is delayed, if it is.
    #[must_use]
    pub fn deliver_at(&self) -> Option<Timestamp> {
        time(self.parts().header.deliver_at.get())
    }

    /// The id of the producer and the number of the message, if it was numbered.
    #[must_use]
    pub fn producer(&self) -> Option<(u64, u64)> {
        let header = self.parts().header;
        let id = header.producer.get();
        (id != 0).then(|| (id, header.producer_sequence.get()))
    }

    /// Whether it had expired by `now`.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at().is_some_and(|at| at <= now)
    }
}

/// A part of a topic's memory: whole records in their stored form.
#[derive(Clone)]
pub(crate) struct RecordRange {
    batch: Arc<Batch>,
    start: u32,
    end: u32,
}

impl RecordRange {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.batch.body()[self.start as usize..self.end as usize]
    }

    /// Appends a stretch that begins where this one ends.
    pub(crate) fn grow(&mut self, behind: RecordRange) -> bool {
        let continues = Arc::ptr_eq(&self.batch, &behind.batch) && self.end == behind.start;
        if continues {
            self.end = behind.end;
        }
        continues
    }
}

impl fmt::Debug for RecordRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stretch").field("bytes", &self.bytes().len()).finish_non_exhaustive()
    }
}

/// A time as it is stored: 0 is none.
pub(crate) fn time(nanos: u64) -> Option<Timestamp> {
    (nanos != 0).then_some(Timestamp(nanos))
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("id", &self.id)
            .field("payload_bytes", &self.payload().len())
            .finish_non_exhaustive()
    }
}
