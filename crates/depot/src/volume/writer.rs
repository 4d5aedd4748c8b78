//! Writes stored files.

use super::codec::BlockSealer;
use super::format::{
    BLOCK_CONTENT_BYTES, BLOCKS_MAX, BlockEntry, DESCRIPTION_BYTES_MAX, FOOTER_BYTES, Footer,
    Method,
};
use super::output::{Created, Output, Placed, lock};
use super::sync_group::Unsynced;
use super::{StoredBytes, StoredPart, VolumeError, VolumeNumber};
use crate::FileId;
use aws_lc_rs::digest;
use rialto_log::BlobError;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The length of a SHA-256.
pub(super) const SHA256_BYTES: usize = 32;

/// Writes one stored file. Dropped without [`StoredWriter::finish`], it removes what it wrote.
pub struct StoredWriter {
    id: FileId,
    output: Output,
    sealer: Option<BlockSealer>,
    /// The content of the block in progress, if blocks are sealed.
    plain: Vec<u8>,
    /// The bytes of content in the block in progress.
    block_filled: usize,
    block_crc: u32,
    table: Vec<u8>,
    blocks: u64,
    data_bytes: u64,
    content_bytes: u64,
    sha256: Option<digest::Context>,
    has_failed: bool,
}

impl std::fmt::Debug for StoredWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StoredWriter({}, {} bytes)", self.id, self.content_bytes)
    }
}

impl StoredWriter {
    pub(super) fn new(
        id: FileId,
        output: Output,
        sealer: Option<BlockSealer>,
        with_sha256: bool,
    ) -> Self {
        Self {
            id,
            output,
            sealer,
            plain: Vec::new(),
            block_filled: 0,
            block_crc: 0,
            table: Vec::new(),
            blocks: 0,
            data_bytes: 0,
            content_bytes: 0,
            sha256: with_sha256.then(|| digest::Context::new(&digest::SHA256)),
            has_failed: false,
        }
    }

    /// Appends to the content.
    ///
    /// # Errors
    /// If the volume fails; until the first block is written, if every volume fails. The writer
    /// cannot be used afterwards.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), VolumeError> {
        if self.has_failed {
            return Err(VolumeError::WriterFailed { id: self.id });
        }
        self.append(bytes).inspect_err(|_| self.has_failed = true)
    }

    fn append(&mut self, mut bytes: &[u8]) -> Result<(), VolumeError> {
        while !bytes.is_empty() {
            if self.block_filled == BLOCK_CONTENT_BYTES {
                self.end_block()?;
            }
            let room = BLOCK_CONTENT_BYTES - self.block_filled;
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            if let Some(sha256) = &mut self.sha256 {
                sha256.update(now);
            }
            if self.sealer.is_some() {
                self.plain.extend_from_slice(now);
            } else {
                self.block_crc = crc32c::crc32c_append(self.block_crc, now);
                self.output.append(now)?;
            }
            self.block_filled += now.len();
            self.content_bytes += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), VolumeError> {
        if self.block_filled == 0 {
            return Ok(());
        }
        if self.blocks == BLOCKS_MAX {
            let max = BLOCKS_MAX * BLOCK_CONTENT_BYTES as u64;
            return Err(VolumeError::TooLong { what: "content", max });
        }
        let mut entry = BlockEntry {
            stored_bytes: self.block_filled as u32,
            compressed: false,
            crc: self.block_crc,
        };
        if let Some(sealer) = &mut self.sealer {
            let (stored, compressed) = sealer
                .seal(self.blocks, &self.plain)
                .map_err(|source| unsealed(&self.output, StoredPart::Block(self.blocks), source))?;
            let (stored_bytes, crc) = (stored.len() as u32, crc32c::crc32c(stored));
            entry = BlockEntry { stored_bytes, compressed, crc };
            self.output.append(stored)?;
            self.plain.clear();
        }
        entry.encode(&mut self.table);
        self.blocks += 1;
        self.data_bytes += u64::from(entry.stored_bytes);
        (self.block_filled, self.block_crc) = (0, 0);
        Ok(())
    }

    /// Ends the content. The bytes are written when this returns, and not durable. `description`,
    /// of at most 1 MiB less 64 bytes, is kept in the stored file, so that a file whose record is
    /// lost can be adopted.
    ///
    /// # Errors
    /// As of [`StoredWriter::write`]. The file is removed.
    pub fn finish(mut self, description: &[u8]) -> Result<Finished, VolumeError> {
        if self.has_failed {
            return Err(VolumeError::WriterFailed { id: self.id });
        }
        let max = DESCRIPTION_BYTES_MAX - 64;
        if description.len() > max {
            return Err(VolumeError::TooLong { what: "description", max: max as u64 });
        }
        self.end_block()?;
        let mut sha256 = None;
        if let Some(context) = self.sha256.take() {
            let mut bytes = [0; SHA256_BYTES];
            bytes.copy_from_slice(context.finish().as_ref());
            sha256 = Some(bytes);
        }
        let (tail, footer_crc) = self.tail(description, sha256)?;
        let (placed, created, stored_bytes) = self.output.finish(&tail)?;
        placed.volume.file_was_written();
        let stored = StoredBytes {
            volume: placed.volume.number(),
            bytes: self.content_bytes,
            stored_bytes,
            footer_crc,
            sha256,
        };
        Ok(Finished { placed, created, stored })
    }

    /// What follows the blocks: the table, the description and the footer; and the footer's
    /// checksum.
    fn tail(
        &mut self,
        description: &[u8],
        sha256: Option<[u8; SHA256_BYTES]>,
    ) -> Result<(Vec<u8>, u32), VolumeError> {
        let keys = self.sealer.as_ref().and_then(BlockSealer::keys);
        let mut stored_description = Vec::new();
        if keys.is_some() {
            // The hash of a text reveals it to a reader who can guess the text.
            stored_description.extend(sha256.iter().flatten());
        }
        stored_description.extend_from_slice(description);
        let sealed_bytes = stored_description.len() + super::codec::overhead(keys);
        let mut footer = Footer {
            method: self.sealer.as_ref().map_or(Method::None, BlockSealer::method),
            encryption: keys.map(super::codec::FileKeys::cipher_and_master),
            salt: keys.map(super::codec::FileKeys::salt).unwrap_or_default(),
            block_bytes: BLOCK_CONTENT_BYTES as u32,
            id: self.id,
            content_bytes: self.content_bytes,
            data_bytes: self.data_bytes,
            blocks: self.blocks as u32,
            description_bytes: sealed_bytes as u32,
            table_crc: crc32c::crc32c(&self.table),
            description_crc: 0,
            has_sha256: sha256.is_some(),
            sha256: if keys.is_some() { [0; 32] } else { sha256.unwrap_or_default() },
        };
        if let Some(keys) = keys {
            let bound = footer.bound(&self.table);
            keys.description()
                .and_then(|key| key.seal(&bound, &mut stored_description))
                .map_err(|source| unsealed(&self.output, StoredPart::Description, source))?;
        }
        footer.description_crc = crc32c::crc32c(&stored_description);
        let footer = footer.encode();
        let mut tail = std::mem::take(&mut self.table);
        tail.reserve(stored_description.len() + FOOTER_BYTES);
        tail.extend_from_slice(&stored_description);
        tail.extend_from_slice(&footer);
        Ok((tail, Footer::crcs(&footer).0))
    }

    /// The volume. It may change until the first block is written.
    pub fn volume(&self) -> VolumeNumber {
        self.output.volume().number()
    }

    /// The length of the content so far, in bytes.
    pub fn written(&self) -> u64 {
        self.content_bytes
    }
}

fn unsealed(output: &Output, part: StoredPart, source: BlobError) -> VolumeError {
    let name = output.volume().name().to_owned();
    VolumeError::Sealing { name, path: output.path(), part, source }
}

/// A stored file that is written whole. Dropping it keeps the file, and no longer counts its bytes
/// as not durable.
pub struct Finished {
    placed: Placed,
    created: Arc<Mutex<Created>>,
    stored: StoredBytes,
}

impl std::fmt::Debug for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Finished({:?})", self.stored)
    }
}

impl Finished {
    /// What the record of the file says of it.
    pub fn stored(&self) -> &StoredBytes {
        &self.stored
    }

    /// Returns when the file is durable. Concurrent calls share a sync.
    ///
    /// # Errors
    /// If the file is not durable, and never will be: discard it.
    pub fn make_durable(&self) -> Result<(), VolumeError> {
        Self::make_all_durable(&[self]).pop().unwrap_or(Ok(()))
    }

    /// As [`Finished::make_durable`] for several files, of which those of a volume share a sync. The
    /// results are in the order of the files.
    pub(crate) fn make_all_durable(files: &[&Self]) -> Vec<Result<(), VolumeError>> {
        let mut of_volumes: BTreeMap<VolumeNumber, Vec<usize>> = BTreeMap::new();
        for (nth, file) in files.iter().enumerate() {
            of_volumes.entry(file.placed.volume.number()).or_default().push(nth);
        }
        let mut results: Vec<_> = files.iter().map(|_| Ok(())).collect();
        for places in of_volumes.into_values() {
            let unsynced: Vec<_> = places.iter().map(|nth| files[*nth].unsynced()).collect();
            let volume = &files[places[0]].placed.volume;
            let synced = volume.sync.sync(&*volume.disk, &unsynced);
            for (nth, result) in places.into_iter().zip(synced) {
                if result.is_ok() {
                    lock(&files[nth].created).charge.clear();
                }
                results[nth] = result.map_err(|error| volume.change_failed(error));
            }
        }
        results
    }

    fn unsynced(&self) -> Arc<Unsynced> {
        let created = lock(&self.created);
        let dir = created.path.parent().unwrap_or(&created.path);
        Unsynced::new(Arc::clone(&created.file), dir, created.epoch)
    }

    /// Removes the file. If that fails, the bytes have no record, and the search for orphans finds
    /// them.
    pub fn discard(self) {
        let created = lock(&self.created);
        let _ = self.placed.volume.disk.remove(&created.path);
    }
}
