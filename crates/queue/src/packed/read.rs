//! Decodes packed messages from untrusted bytes.

use super::layout::{HEAD_BYTES, Head, MESSAGES_MAGIC, PREFIX_BYTES, RUN_BYTES, Run, framed_bytes};
use crate::format::{self, Headers, Parts};
use crate::message::{MessageId, time};
use crate::publish::Publish;
use rialto_clock::Timestamp;
use std::time::Duration;
use zerocopy::FromBytes;

/// The reason that bytes are not a packed batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPacked {
    /// The bytes end within the head or a run.
    #[error("the batch ends too early")]
    Short,
    /// The magic number is wrong.
    #[error("this is not a packed batch: the magic number is wrong")]
    Magic,
    /// An unknown version.
    #[error("the batch has version {0}; this program reads version 1")]
    Version(u16),
    /// A reserved field is not 0.
    #[error("a reserved field is not 0")]
    Reserved,
    /// A run has another length than its head says.
    #[error("run {0} has another number of records or bytes than its head says")]
    Run(u32),
    /// A record is not a message.
    #[error("message {0} is malformed")]
    Message(usize),
    /// A record to be published has a field that only a topic sets.
    #[error("message {0} has a publication time or a producer, which only a topic sets")]
    NotNew(usize),
    /// Bytes follow the last run.
    #[error("{0} bytes follow the last run")]
    Trailing(usize),
}

/// A packed batch that was found to be well-formed.
#[derive(Clone, Debug)]
pub struct Packed<B> {
    bytes: B,
    messages: usize,
}

impl<B: AsRef<[u8]>> Packed<B> {
    /// Checks untrusted bytes, so that reading them later cannot fail.
    ///
    /// # Errors
    /// If the bytes are not a packed batch.
    pub fn read(bytes: B) -> Result<Packed<B>, InvalidPacked> {
        let (head, mut rest) = Head::split(MESSAGES_MAGIC, bytes.as_ref())?;
        let mut messages = 0;
        for nth in 0..head.runs.get() {
            let (run, behind) = Run::ref_from_prefix(rest).map_err(|_| InvalidPacked::Short)?;
            if run.reserved != [0; 5] {
                return Err(InvalidPacked::Reserved);
            }
            let (mut records, behind) =
                behind.split_at_checked(run.bytes.get() as usize).ok_or(InvalidPacked::Short)?;
            for _ in 0..run.messages.get() {
                let (record, rest) = split_record(records).ok_or(InvalidPacked::Run(nth))?;
                if !is_whole(record) {
                    return Err(InvalidPacked::Message(messages));
                }
                messages += 1;
                records = rest;
            }
            if !records.is_empty() {
                return Err(InvalidPacked::Run(nth));
            }
            rest = behind;
        }
        if !rest.is_empty() {
            return Err(InvalidPacked::Trailing(rest.len()));
        }
        Ok(Packed { bytes, messages })
    }

    /// How many messages it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// Checks that all messages can be published: no field that a topic sets is set.
    ///
    /// # Errors
    /// If a message was published before.
    pub fn check_new(&self) -> Result<(), InvalidPacked> {
        let is_new = |message: &PackedMessage<'_>| {
            let header = message.parts.header;
            [header.published_at, header.producer, header.producer_sequence, header.transaction]
                .iter()
                .all(|field| field.get() == 0)
        };
        match self.messages().position(|message| !is_new(&message)) {
            Some(nth) => Err(InvalidPacked::NotNew(nth)),
            None => Ok(()),
        }
    }

    fn head(&self) -> Option<&Head> {
        Head::ref_from_prefix(self.bytes.as_ref()).ok().map(|(head, _)| head)
    }

    /// The number of messages that the topic dropped before delivery.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.head().map_or(0, |head| head.missed.get())
    }

    /// The epoch of its leases, to be sent back with them.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.head().map_or(0, |head| head.epoch.get())
    }

    /// The messages, in order.
    #[must_use]
    pub fn messages(&self) -> PackedMessages<'_> {
        let bytes = self.bytes.as_ref();
        PackedMessages {
            rest: bytes.get(HEAD_BYTES..).unwrap_or_default(),
            run: Run::default(),
            nth: 0,
        }
    }
}

/// Takes the first record off the records of a run.
#[inline]
fn split_record(records: &[u8]) -> Option<(&[u8], &[u8])> {
    let (prefix, record) = records.split_first_chunk::<PREFIX_BYTES>()?;
    let len = u32::from_le_bytes(*prefix) as usize;
    // A length near the largest would overflow where numbers have 32 bits.
    let record = record.get(..len)?;
    Some((record, records.get(framed_bytes(len)..)?))
}

/// Whether a record is a complete message.
fn is_whole(record: &[u8]) -> bool {
    let Some(parts) = format::split(record) else { return false };
    if std::str::from_utf8(parts.content_type).is_err() {
        return false;
    }
    let headers = usize::from(parts.header.headers.get());
    // Each header takes at least its lengths, and no bytes may be left over.
    let mut read = Headers::new(parts.headers);
    read.by_ref().take(headers).count() == headers && read.is_empty()
}

/// The messages of a batch, in order.
#[derive(Clone)]
pub struct PackedMessages<'a> {
    rest: &'a [u8],
    run: Run,
    /// How many messages of the run have been passed.
    nth: u32,
}

impl<'a> Iterator for PackedMessages<'a> {
    type Item = PackedMessage<'a>;

    #[inline]
    fn next(&mut self) -> Option<PackedMessage<'a>> {
        while self.nth == self.run.messages.get() {
            let (run, _) = Run::ref_from_prefix(self.rest).ok()?;
            (self.run, self.nth, self.rest) = (*run, 0, self.rest.get(RUN_BYTES..)?);
        }
        let (record, rest) = split_record(self.rest)?;
        let nth = u64::from(self.nth);
        let seq = self.run.first_seq.get().wrapping_add(nth);
        let lease = match self.run.first_lease.get() {
            0 => 0,
            first => first.wrapping_add(nth),
        };
        (self.rest, self.nth) = (rest, self.nth + 1);
        Some(PackedMessage {
            id: MessageId { lane: self.run.lane, seq },
            lease,
            attempt: self.run.attempt.get(),
            parts: format::split(record)?,
        })
    }
}

/// A message of a packed batch.
#[derive(Clone, Copy)]
pub struct PackedMessage<'a> {
    id: MessageId,
    lease: u64,
    attempt: u16,
    parts: Parts<'a>,
}

impl<'a> PackedMessage<'a> {
    /// Its id in its topic; meaningless for a message to be published.
    #[must_use]
    pub fn id(&self) -> MessageId {
        self.id
    }

    /// The number of its lease; 0 if it was not delivered.
    #[must_use]
    pub fn lease(&self) -> u64 {
        self.lease
    }

    /// The number of this delivery, from 1; 0 if it was not delivered.
    #[must_use]
    pub fn attempt(&self) -> u16 {
        self.attempt
    }

    /// The payload.
    #[must_use]
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        self.parts.payload
    }

    /// The key; empty for none.
    #[must_use]
    pub fn key(&self) -> &'a [u8] {
        self.parts.key
    }

    /// The media type of the payload; empty for none.
    #[must_use]
    pub fn content_type(&self) -> &'a str {
        std::str::from_utf8(self.parts.content_type).unwrap_or_default()
    }

    /// The version of the payload's schema; 0 for none.
    #[must_use]
    pub fn schema_version(&self) -> u32 {
        self.parts.header.schema_version.get()
    }

    /// The priority; a higher one is delivered first.
    #[must_use]
    pub fn priority(&self) -> u8 {
        self.parts.header.priority
    }

    /// The headers, in the order in which they were given.
    #[must_use]
    pub fn headers(&self) -> Headers<'a> {
        Headers::new(self.parts.headers)
    }

    /// When the topic accepted it.
    #[must_use]
    pub fn published_at(&self) -> Timestamp {
        Timestamp(self.parts.header.published_at.get())
    }

    /// When it expires.
    #[must_use]
    pub fn expires_at(&self) -> Option<Timestamp> {
        time(self.parts.header.expires_at.get())
    }

    /// The time to which it is delayed, if it is.
    #[must_use]
    pub fn deliver_at(&self) -> Option<Timestamp> {
        time(self.parts.header.deliver_at.get())
    }

    /// The id of the producer and the number of the message, if it was numbered.
    #[must_use]
    pub fn producer(&self) -> Option<(u64, u64)> {
        let header = self.parts.header;
        let id = header.producer.get();
        (id != 0).then(|| (id, header.producer_sequence.get()))
    }

    /// The message as one to be published. In such a batch, delay and expiry count from the time of
    /// publication.
    #[must_use]
    pub fn to_publish(&self) -> Publish<'a> {
        let header = self.parts.header;
        let mut publish = Publish::new(self.parts.payload)
            .key(self.parts.key)
            .content_type(self.content_type())
            .schema_version(header.schema_version.get())
            .priority(header.priority);
        for (name, value) in self.headers() {
            publish = publish.header(name, value);
        }
        if header.deliver_at.get() != 0 {
            publish = publish.delay(Duration::from_nanos(header.deliver_at.get()));
        }
        match header.expires_at.get() {
            0 => publish,
            after => publish.expires_after(Duration::from_nanos(after)),
        }
    }
}
