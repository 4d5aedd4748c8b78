//! Reading the content of files.

use crate::claim::Claim;
use crate::pool::Pool;
use crate::record::{FileRecord, Place, split_payload};
use crate::volume::StoredReader;
use crate::{DepotError, FileId};
use aws_lc_rs::digest::{SHA256, digest};
use rialto_queue::Message;
use std::sync::Arc;

/// Reads the content of a file. Every byte is checked before it is returned.
pub struct FileReader {
    record: Arc<FileRecord>,
    content: Content,
}

enum Content {
    /// A message with the content behind the record, and where the content begins in its payload.
    Inline(Message, usize),
    Stored(Box<StoredReader>),
}

impl FileReader {
    pub(crate) fn of_claim(pool: &Pool, claim: &Claim) -> Result<Self, DepotError> {
        match &claim.file.place {
            Place::Inline => Self::inline(claim.file.clone(), claim.message.message().clone()),
            Place::Volume(_) => Self::stored(pool, claim.file.clone()),
        }
    }

    pub(crate) fn inline(record: Arc<FileRecord>, message: Message) -> Result<Self, DepotError> {
        let split = split_payload(message.payload());
        let content = split.filter(|(found, _)| found.id == record.id).map(|(_, content)| content);
        let Some(length) = content.map(<[u8]>::len) else {
            return Err(DepotError::Internal(format!("the message of {} is another's", record.id)));
        };
        let begin = message.payload().len() - length;
        Ok(Self { record, content: Content::Inline(message, begin) })
    }

    pub(crate) fn stored(pool: &Pool, record: Arc<FileRecord>) -> Result<Self, DepotError> {
        let Some(stored) = record.place.stored() else {
            return Err(DepotError::Internal(format!("{} is on no volume", record.id)));
        };
        let reader =
            pool.volumes.open(record.id, stored).map_err(|error| bytes(record.id, error))?;
        Ok(Self { record, content: Content::Stored(Box::new(reader)) })
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &Arc<FileRecord> {
        &self.record
    }

    /// Reads at an offset into some prefix of `out`, and returns its length; 0 at the end.
    ///
    /// # Errors
    /// [`DepotError::Bytes`] if the stored bytes are damaged or missing.
    pub fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<usize, DepotError> {
        match &mut self.content {
            Content::Inline(message, begin) => {
                let content = &message.payload()[*begin..];
                let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
                let length = out.len().min(content.len() - offset);
                out[..length].copy_from_slice(&content[offset..offset + length]);
                Ok(length)
            }
            Content::Stored(reader) => {
                reader.read_at(offset, out).map_err(|error| bytes(self.record.id, error))
            }
        }
    }

    /// Reads the whole content, and compares it with its checksums and, if the record has one, its
    /// SHA-256.
    ///
    /// # Errors
    /// [`DepotError::Bytes`] with the first difference from what was stored.
    pub fn verify(&mut self) -> Result<(), DepotError> {
        match &mut self.content {
            Content::Stored(reader) => {
                reader.verify().map_err(|error| bytes(self.record.id, error))
            }
            // The message was checked when it was read, and its CRC-32C when it was split.
            Content::Inline(message, begin) => {
                let content = &message.payload()[*begin..];
                let got = digest(&SHA256, content);
                match self.record.sha256 {
                    Some(expected) if expected != got.as_ref() => {
                        Err(DepotError::Internal(format!(
                            "the content of {} has another SHA-256 than its record says",
                            self.record.id
                        )))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// The whole content, of files that are known to be small.
    pub fn read_all(&mut self) -> Result<Vec<u8>, DepotError> {
        let mut content = vec![0; usize::try_from(self.record.bytes).unwrap_or(usize::MAX)];
        let mut done = 0;
        while done < content.len() {
            match self.read_at(done as u64, &mut content[done..])? {
                0 => break,
                read => done += read,
            }
        }
        content.truncate(done);
        Ok(content)
    }
}

fn bytes(id: FileId, error: crate::volume::VolumeError) -> DepotError {
    DepotError::Bytes { id, source: Box::new(error) }
}
