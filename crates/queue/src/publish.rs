//! A message to be published.

use crate::format::{
    CONTENT_TYPE_BYTES_MAX, HEADER_BYTES, HEADER_PREFIX_BYTES, HEADERS_BYTES_MAX, HEADERS_MAX,
    Header, KEY_BYTES_MAX, MESSAGE_BYTES_MAX,
};
use rialto_clock::Timestamp;
use std::time::Duration;
use zerocopy::IntoBytes;

/// A fault of a message, independent of the topic's state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMessage {
    /// It is larger than a record may be.
    #[error("the message takes {bytes} bytes in all; a message of this topic may take {max}")]
    TooLarge {
        /// Its size, headers included.
        bytes: usize,
        /// The largest size.
        max: usize,
    },
    /// The key is too long.
    #[error("the key has {0} bytes; it may have {KEY_BYTES_MAX}")]
    Key(usize),
    /// The content type is too long.
    #[error("the content type has {0} bytes; it may have {CONTENT_TYPE_BYTES_MAX}")]
    ContentType(usize),
    /// There are too many headers, or they are too long.
    #[error(
        "the message has {headers} headers of {bytes} bytes; it may have {HEADERS_MAX} of \
         {HEADERS_BYTES_MAX} bytes in all, of which one name or value may have 65535"
    )]
    Headers {
        /// The number of headers.
        headers: usize,
        /// The bytes of all headers.
        bytes: usize,
    },
    /// The topic has fewer priorities.
    #[error("the topic has the priorities 0 to {max}; the message asks for {priority}")]
    Priority {
        /// The priority that was asked for.
        priority: u8,
        /// The highest priority of the topic.
        max: u8,
    },
}

/// A message to be published. Its parts are copied once, into the buffer that is written.
///
/// ```
/// use rialto_queue::Publish;
/// use std::time::Duration;
///
/// let message = Publish::new(b"{\"order\":17}")
///     .key(b"customer-9")
///     .content_type("application/json")
///     .header("trace", b"4bf92f3577b34da6")
///     .expires_after(Duration::from_secs(60));
/// assert_eq!(message.bytes(), 64 + 12 + 10 + 16 + 4 + 5 + 16);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Publish<'a> {
    pub(crate) payload: &'a [u8],
    pub(crate) key: &'a [u8],
    pub(crate) content_type: &'a str,
    pub(crate) headers: Vec<(&'a str, &'a [u8])>,
    pub(crate) schema_version: u32,
    pub(crate) priority: u8,
    pub(crate) due: Due,
    pub(crate) expires_after: Option<Duration>,
}

/// When a message is to be delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Due {
    #[default]
    Now,
    After(Duration),
    At(Timestamp),
}

impl<'a> Publish<'a> {
    /// A message with this payload.
    #[must_use]
    pub fn new(payload: &'a [u8]) -> Self {
        Self { payload, ..Self::default() }
    }

    /// Sets the key. Messages of one key keep their order in every group that asks for it. At most
    /// [`KEY_BYTES_MAX`] bytes; an empty key is none.
    #[must_use]
    pub fn key(mut self, key: &'a [u8]) -> Self {
        self.key = key;
        self
    }

    /// Sets the media type of the payload. At most [`CONTENT_TYPE_BYTES_MAX`] bytes.
    #[must_use]
    pub fn content_type(mut self, content_type: &'a str) -> Self {
        self.content_type = content_type;
        self
    }

    /// Adds a header. At most [`HEADERS_MAX`] of [`HEADERS_BYTES_MAX`] bytes together.
    #[must_use]
    pub fn header(mut self, name: &'a str, value: &'a [u8]) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Sets the version of the payload's schema; 0 is none.
    #[must_use]
    pub fn schema_version(mut self, version: u32) -> Self {
        self.schema_version = version;
        self
    }

    /// Sets the priority, from 0. A higher one is delivered first. The topic's options set the
    /// number of priorities.
    #[must_use]
    pub fn priority(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    /// Delays the delivery by this time.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.due = Due::After(delay);
        self
    }

    /// Delays the delivery until this time.
    #[must_use]
    pub fn deliver_at(mut self, time: Timestamp) -> Self {
        self.due = Due::At(time);
        self
    }

    /// The message expires after this time since its publication.
    #[must_use]
    pub fn expires_after(mut self, time_to_live: Duration) -> Self {
        self.expires_after = Some(time_to_live);
        self
    }

    pub(crate) fn headers_bytes(&self) -> usize {
        self.headers
            .iter()
            .map(|(name, value)| HEADER_PREFIX_BYTES + name.len() + value.len())
            .sum()
    }

    /// The bytes that it takes in a topic, headers included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        HEADER_BYTES
            + self.content_type.len()
            + self.key.len()
            + self.headers_bytes()
            + self.payload.len()
    }

    /// Whether it could be published on a topic with this many priorities.
    pub(crate) fn check(&self, priorities: u8, bytes_max: usize) -> Result<usize, InvalidMessage> {
        let bytes = self.bytes();
        let max = bytes_max.min(MESSAGE_BYTES_MAX);
        if bytes > max {
            return Err(InvalidMessage::TooLarge { bytes, max });
        }
        if self.key.len() > KEY_BYTES_MAX {
            return Err(InvalidMessage::Key(self.key.len()));
        }
        if self.content_type.len() > CONTENT_TYPE_BYTES_MAX {
            return Err(InvalidMessage::ContentType(self.content_type.len()));
        }
        if !self.headers.is_empty() {
            let (headers, bytes) = (self.headers.len(), self.headers_bytes());
            let long = |part: &[u8]| part.len() > usize::from(u16::MAX);
            let any_long = self.headers.iter().any(|(n, v)| long(n.as_bytes()) || long(v));
            if headers > HEADERS_MAX || bytes > HEADERS_BYTES_MAX || any_long {
                return Err(InvalidMessage::Headers { headers, bytes });
            }
        }
        if self.priority >= priorities {
            return Err(InvalidMessage::Priority { priority: self.priority, max: priorities - 1 });
        }
        Ok(bytes)
    }

    /// Writes the message, which was checked, into exactly [`Publish::bytes`] bytes.
    #[inline]
    pub(crate) fn encode(&self, stamp: Stamp, room: &mut [u8]) {
        let (front, payload) = room.split_at_mut(room.len() - self.payload.len());
        self.encode_front(stamp, front);
        payload.copy_from_slice(self.payload);
    }

    /// Writes the part before the payload into a slice of exactly its length.
    #[inline]
    pub(crate) fn encode_front(&self, stamp: Stamp, room: &mut [u8]) {
        let header = Header {
            published_at: stamp.published_at.0.into(),
            expires_at: self.expires_after.map_or(0, |ttl| stamp.published_at.after(ttl).0).into(),
            deliver_at: stamp.deliver_at.map_or(0, |at| at.0).into(),
            producer: stamp.producer.into(),
            producer_sequence: stamp.producer_sequence.into(),
            transaction: 0.into(),
            schema_version: self.schema_version.into(),
            headers_bytes: (self.headers_bytes() as u32).into(),
            key_bytes: (self.key.len() as u16).into(),
            content_type_bytes: (self.content_type.len() as u16).into(),
            headers: (self.headers.len() as u16).into(),
            priority: self.priority,
            reserved: 0,
        };
        let mut room = Room(room);
        room.put(header.as_bytes());
        room.put(self.content_type.as_bytes());
        room.put(self.key);
        for (name, value) in &self.headers {
            room.put(&(name.len() as u16).to_le_bytes());
            room.put(&(value.len() as u16).to_le_bytes());
            room.put(name.as_bytes());
            room.put(value);
        }
    }
}

/// The fields that the topic adds to a message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamp {
    pub(crate) published_at: Timestamp,
    pub(crate) deliver_at: Option<Timestamp>,
    pub(crate) producer: u64,
    pub(crate) producer_sequence: u64,
}

/// The free rest of a buffer.
struct Room<'a>(&'a mut [u8]);

impl Room<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        let (front, rest) = std::mem::take(&mut self.0).split_at_mut(bytes.len());
        front.copy_from_slice(bytes);
        self.0 = rest;
    }
}
