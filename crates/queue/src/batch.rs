//! Batches: messages that share a buffer.

use crate::message::{Form, Message, MessageId};
use crate::spares::Spares;
use rialto_log::{GROUP_BYTES_MAX, Group, GroupView, MappedRecords, Records};
use std::sync::Arc;

/// A group that fills less than this share of its buffer is copied out of it, so that one message
/// does not hold a megabyte.
const WORTH_KEEPING: usize = 4;

enum Body {
    /// The buffer that producers filled and, if the topic has a disk, that was written; or a buffer
    /// that was read into.
    Filled(Group, Arc<Spares>),
    /// A copy of a group that is small.
    Copied(Vec<u8>, Arc<Spares>),
    /// One message alone.
    Single(Box<[u8]>),
    /// A mapped file that is complete.
    Mapped(MappedRecords),
}

impl Body {
    /// Large groups are copied into a reused buffer, because memory that the kernel clears first
    /// costs more than the copy.
    fn copy(view: &GroupView<'_>, spares: &Arc<Spares>) -> Self {
        let framed = view.framed();
        if framed.len() * WORTH_KEEPING < GROUP_BYTES_MAX {
            return Self::Copied(spares.copy(framed), spares.clone());
        }
        let mut group = spares.take(false);
        match group.refill(view) {
            Ok(()) => Self::Filled(group, spares.clone()),
            Err(_) => {
                spares.give_back(group);
                Self::Copied(spares.copy(framed), spares.clone())
            }
        }
    }
}

/// Consecutive records of one lane, shared by readers.
pub(crate) struct Batch {
    /// `None` only while it is being dropped.
    body: Option<Body>,
    first_seq: u64,
    last_seq: u64,
    form: Form,
}

impl Batch {
    /// Takes over the buffer of a full group, or copies a small group and returns the buffer.
    pub(crate) fn of_group(group: Group, spares: &Arc<Spares>) -> Arc<Self> {
        let (first_seq, last_seq) = (group.first_seq(), group.last_seq());
        let body = if group.body_bytes() * WORTH_KEEPING < group.capacity_bytes() {
            let copy = spares.copy(group.body());
            spares.give_back(group);
            Body::Copied(copy, spares.clone())
        } else {
            Body::Filled(group, spares.clone())
        };
        Arc::new(Self { body: Some(body), first_seq, last_seq, form: Form::Message })
    }

    /// Shares a mapped group, and copies a group that was read otherwise.
    pub(crate) fn of_view(view: &GroupView<'_>, form: Form, spares: &Arc<Spares>) -> Arc<Self> {
        let body = view.mapped().map_or_else(|| Body::copy(view, spares), Body::Mapped);
        let body = Some(body);
        Arc::new(Self { body, first_seq: view.first_seq(), last_seq: view.last_seq(), form })
    }

    /// One message in its stored form, outside of any log.
    pub(crate) fn of_bytes(bytes: Box<[u8]>, seq: u64) -> Arc<Self> {
        let body = Some(Body::Single(bytes));
        Arc::new(Self { body, first_seq: seq, last_seq: seq, form: Form::Message })
    }

    pub(crate) fn first_seq(&self) -> u64 {
        self.first_seq
    }

    pub(crate) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    #[inline]
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    #[inline]
    pub(crate) fn body(&self) -> &[u8] {
        match &self.body {
            Some(Body::Filled(group, _)) => group.body(),
            Some(Body::Copied(bytes, _)) => bytes,
            Some(Body::Single(bytes)) => bytes,
            Some(Body::Mapped(records)) => records,
            None => &[],
        }
    }

    /// The memory that it holds.
    pub(crate) fn held_bytes(&self) -> usize {
        match &self.body {
            Some(Body::Filled(group, _)) => group.capacity_bytes(),
            Some(Body::Copied(bytes, _)) => bytes.capacity(),
            Some(Body::Single(bytes)) => bytes.len(),
            Some(Body::Mapped(_)) | None => 0,
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        match self.body.take() {
            Some(Body::Filled(group, spares)) => spares.give_back(group),
            Some(Body::Copied(copy, spares)) => spares.drop_copy(copy),
            Some(Body::Single(_) | Body::Mapped(_)) | None => {}
        }
    }
}

/// A cursor over the messages of a batch.
pub(crate) struct BatchCursor {
    batch: Arc<Batch>,
    offset: usize,
    next_seq: u64,
}

impl BatchCursor {
    /// A cursor at `seq`, which is in the batch.
    pub(crate) fn new(batch: Arc<Batch>, seq: u64) -> Self {
        let mut cursor = Self { offset: 0, next_seq: batch.first_seq, batch };
        let mut records = cursor.records();
        while records.next_seq() < seq && records.next().is_some() {}
        (cursor.offset, cursor.next_seq) = (cursor.offset_of(&records), records.next_seq());
        cursor
    }

    fn records(&self) -> Records<'_> {
        let rest = self.batch.body().get(self.offset..).unwrap_or_default();
        Records::of_body(rest, self.next_seq, self.batch.last_seq)
    }

    fn offset_of(&self, records: &Records<'_>) -> usize {
        self.batch.body().len() - records.rest().len()
    }

    pub(crate) fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// The next message. Records that are not messages are skipped.
    #[inline]
    pub(crate) fn next(&mut self, lane: u8) -> Option<Message> {
        loop {
            let mut records = self.records();
            let (seq, record) = records.next()?;
            let end = self.offset_of(&records);
            let body = self.batch.body();
            // The record is a part of the body, so that its offset follows from the addresses.
            let start = record.as_ptr() as usize - body.as_ptr() as usize;
            let message = Message::new(
                self.batch.clone(),
                start as u32,
                (start + record.len()) as u32,
                MessageId { lane, seq },
            );
            (self.offset, self.next_seq) = (end, seq + 1);
            if message.is_some() {
                return message;
            }
        }
    }
}
