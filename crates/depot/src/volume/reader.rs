//! Reads stored files.

use super::codec::{FileKeys, Unsealable, unseal};
use super::format::{BlockEntry, FOOTER_BYTES, Footer};
use super::writer::SHA256_BYTES;
use super::{Described, MountedVolume, StoredBytes, StoredPart, VolumeError};
use crate::FileId;
use aws_lc_rs::digest;
use rialto_disk::{Access, DiskError, File};
use rialto_log::{BlobError, Cipher, KeyRing};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much of the end of a file the first read fetches: the whole of a small file.
const TAIL_BYTES: u64 = 16 << 10;

/// Reads one stored file. Every block that it touches is checked.
pub struct StoredReader {
    source: Source,
    footer: Footer,
    table: Vec<BlockEntry>,
    table_text: Vec<u8>,
    /// Where each block begins, unless that follows from its number.
    begins: Vec<u64>,
    keys: Option<FileKeys>,
    sha256: Option<[u8; SHA256_BYTES]>,
    footer_crc: u32,
    /// The content of the block that was read last.
    block: Vec<u8>,
    cached: Option<u64>,
    /// The stored form of a block, while it is unsealed.
    stored: Vec<u8>,
}

/// The file, and its last bytes in memory.
struct Source {
    volume: Arc<MountedVolume>,
    file: Box<dyn File>,
    path: PathBuf,
    tail: Vec<u8>,
    tail_begin: u64,
}

impl Source {
    /// Opens the file and reads its end. Without a record its length is asked for.
    fn open(
        volume: &Arc<MountedVolume>,
        path: PathBuf,
        stored: Option<&StoredBytes>,
    ) -> Result<Self, VolumeError> {
        let file = match volume.disk.open(&path, Access::Read) {
            Ok(file) => file,
            Err(error) => return Err(unread(volume, &path, error)),
        };
        let bytes = match stored {
            Some(stored) => stored.stored_bytes,
            None => file.len().map_err(|error| unread(volume, &path, error))?,
        };
        let mut source = Self {
            volume: Arc::clone(volume),
            file,
            path,
            tail: Vec::new(),
            tail_begin: bytes.saturating_sub(TAIL_BYTES),
        };
        let mut tail = vec![0; (bytes - source.tail_begin) as usize];
        if tail.len() < FOOTER_BYTES {
            return Err(source.invalid(StoredPart::Footer, "the file is too short to have one"));
        }
        source.fill(StoredPart::Footer, source.tail_begin, &mut tail)?;
        source.tail = tail;
        Ok(source)
    }

    /// Reads exactly these bytes.
    fn fill(&self, part: StoredPart, begin: u64, target: &mut [u8]) -> Result<(), VolumeError> {
        let known = begin.checked_sub(self.tail_begin).and_then(|begin| {
            let begin = usize::try_from(begin).ok()?;
            self.tail.get(begin..begin.checked_add(target.len())?)
        });
        if let Some(known) = known {
            target.copy_from_slice(known);
            return Ok(());
        }
        match self.file.read_full_at(begin, target) {
            Ok(read) if read == target.len() => Ok(()),
            Ok(_) => Err(self.invalid(part, "the file ends before it does")),
            Err(error) => Err(unread(&self.volume, &self.path, error)),
        }
    }

    fn invalid(&self, part: StoredPart, why: impl Into<String>) -> VolumeError {
        self.volume.note(VolumeError::Invalid {
            name: self.volume.name().to_owned(),
            path: self.path.clone(),
            part,
            why: why.into(),
        })
    }

    fn check(&self, part: StoredPart, expected: u32, got: u32) -> Result<(), VolumeError> {
        if expected == got {
            return Ok(());
        }
        let (name, path) = (self.volume.name().to_owned(), self.path.clone());
        Err(self.volume.note(VolumeError::Damaged { name, path, part, expected, got }))
    }

    fn sealing(&self, part: StoredPart, source: BlobError) -> VolumeError {
        let (name, path) = (self.volume.name().to_owned(), self.path.clone());
        self.volume.note(VolumeError::Sealing { name, path, part, source })
    }

    fn footer(&self, stored: Option<&StoredBytes>) -> Result<(Footer, u32), VolumeError> {
        let Some(bytes) = self.tail.last_chunk::<FOOTER_BYTES>() else {
            return Err(self.invalid(StoredPart::Footer, "the file is too short to have one"));
        };
        let (stated, computed) = Footer::crcs(bytes);
        self.check(StoredPart::Footer, stated, computed)?;
        if let Some(stored) = stored {
            self.check(StoredPart::Footer, stored.footer_crc, stated)?;
        }
        let footer = Footer::decode(bytes).map_err(|why| self.invalid(StoredPart::Footer, why))?;
        Ok((footer, stated))
    }
}

/// The error of a stored file that cannot be read. A bucket says when it is read that it is missing.
fn unread(volume: &MountedVolume, path: &Path, error: DiskError) -> VolumeError {
    if !error.is_not_found() {
        return volume.read_failed(error);
    }
    match volume.check_identity() {
        Ok(()) => {
            let (name, path) = (volume.name().to_owned(), path.to_owned());
            volume.note(VolumeError::Missing { name, path })
        }
        Err(error) => error,
    }
}

impl std::fmt::Debug for StoredReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StoredReader({}, {} bytes)", self.footer.id, self.footer.content_bytes)
    }
}

impl StoredReader {
    pub(super) fn open(
        volume: &Arc<MountedVolume>,
        id: FileId,
        stored: Option<&StoredBytes>,
        keys: &KeyRing,
    ) -> Result<Self, VolumeError> {
        Self::open_at(volume, volume.layout.path(id), id, stored, keys)
    }

    /// Opens the stored file of this path.
    pub(super) fn open_at(
        volume: &Arc<MountedVolume>,
        path: PathBuf,
        id: FileId,
        stored: Option<&StoredBytes>,
        keys: &KeyRing,
    ) -> Result<Self, VolumeError> {
        let source = Source::open(volume, path, stored)?;
        let (footer, footer_crc) = source.footer(stored)?;
        let differs = match stored {
            Some(stored) => footer.differs_from(id, stored),
            None if footer.id != id => Some("it is of another file"),
            None => None,
        };
        let end = source.tail_begin + source.tail.len() as u64;
        let wrong_length =
            (footer.stored_bytes() != end).then_some("the file has another length than it says");
        if let Some(why) = differs.or(wrong_length) {
            return Err(source.invalid(StoredPart::Footer, why));
        }
        let mut table_text = vec![0; footer.table_bytes()];
        source.fill(StoredPart::Table, footer.data_bytes, &mut table_text)?;
        source.check(StoredPart::Table, footer.table_crc, crc32c::crc32c(&table_text))?;
        let table = footer
            .decode_table(&table_text)
            .ok_or_else(|| source.invalid(StoredPart::Table, "it contradicts the footer"))?;
        let mut begins = Vec::new();
        if !footer.is_plain() {
            begins.extend(table.iter().scan(0, |end, entry| {
                let begin = *end;
                *end += u64::from(entry.stored_bytes);
                Some(begin)
            }));
        }
        let keys = match footer.encryption {
            None => None,
            Some((number, master)) => {
                let cipher = Cipher::from_number(number).ok_or_else(|| {
                    source.invalid(StoredPart::Footer, format!("no cipher has the number {number}"))
                })?;
                Some(FileKeys::known(keys, cipher, master, footer.salt, id))
            }
        };
        let clear = (footer.has_sha256 && keys.is_none()).then_some(footer.sha256);
        let sha256 = stored.and_then(|stored| stored.sha256).or(clear);
        let mut reader = Self {
            source,
            footer,
            table,
            table_text,
            begins,
            keys,
            sha256,
            footer_crc,
            block: Vec::new(),
            cached: None,
            stored: Vec::new(),
        };
        if reader.keys.is_some() {
            // Checksums can be forged. What the description is bound to cannot: the table, and with
            // it the length of the content.
            let (_, sealed) = reader.sealed_description()?;
            if let (Some(sealed), Some(recorded)) = (sealed, reader.sha256)
                && sealed != recorded
            {
                let why = "its SHA-256 is not the record's";
                return Err(reader.source.invalid(StoredPart::Description, why));
            }
            reader.sha256 = sealed;
        }
        Ok(reader)
    }

    /// The length of the content in bytes.
    pub fn len(&self) -> u64 {
        self.footer.content_bytes
    }

    /// Whether the content is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The description that the file was finished with.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or is encrypted with another key.
    pub fn description(&mut self) -> Result<Vec<u8>, VolumeError> {
        let (mut description, sealed_sha256) = self.sealed_description()?;
        let hash_bytes = if sealed_sha256.is_some() { SHA256_BYTES } else { 0 };
        description.drain(..hash_bytes);
        Ok(description)
    }

    /// The description with the SHA-256 that precedes it in an encrypted file, and that SHA-256.
    fn sealed_description(&self) -> Result<(Vec<u8>, Option<[u8; SHA256_BYTES]>), VolumeError> {
        let part = StoredPart::Description;
        let mut bytes = vec![0; self.footer.description_bytes as usize];
        let begin = self.footer.data_bytes + self.footer.table_bytes() as u64;
        self.source.fill(part, begin, &mut bytes)?;
        self.source.check(part, self.footer.description_crc, crc32c::crc32c(&bytes))?;
        let Some(keys) = &self.keys else { return Ok((bytes, None)) };
        let bound = self.footer.bound(&self.table_text);
        let opened = keys.description().and_then(|key| key.open(&bound, &bytes));
        let opened = opened.map_err(|source| self.source.sealing(part, source))?;
        if !self.footer.has_sha256 {
            return Ok((opened, None));
        }
        match opened.first_chunk().copied() {
            Some(sha256) => Ok((opened, Some(sha256))),
            None => Err(self.source.invalid(part, "it lacks the SHA-256")),
        }
    }

    /// Reads at `offset` until `out` is full or the content ends, and returns how many bytes were
    /// read.
    ///
    /// # Errors
    /// If a block that it touches cannot be read, is damaged, or is encrypted with another key.
    pub fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<usize, VolumeError> {
        let block_bytes = u64::from(self.footer.block_bytes);
        let wanted = (out.len() as u64).min(self.len().saturating_sub(offset)) as usize;
        let mut done = 0;
        while done < wanted {
            let at = offset + done as u64;
            let (number, within) = (at / block_bytes, (at % block_bytes) as usize);
            let content_bytes = self.footer.block_content_bytes(number);
            let target = &mut out[done..wanted];
            if within == 0
                && target.len() >= content_bytes
                && self.footer.is_plain()
                && self.cached != Some(number)
            {
                self.read_plain(number, &mut target[..content_bytes])?;
                done += content_bytes;
                continue;
            }
            self.load(number)?;
            let bytes = (content_bytes - within).min(target.len());
            target[..bytes].copy_from_slice(&self.block[within..within + bytes]);
            done += bytes;
        }
        Ok(done)
    }

    /// Reads a block that is stored as it is.
    fn read_plain(&self, number: u64, target: &mut [u8]) -> Result<(), VolumeError> {
        let part = StoredPart::Block(number);
        let begin = number * u64::from(self.footer.block_bytes);
        self.source.fill(part, begin, target)?;
        self.source.check(part, self.entry(number)?.crc, crc32c::crc32c(target))
    }

    fn entry(&self, number: u64) -> Result<BlockEntry, VolumeError> {
        let entry = usize::try_from(number).ok().and_then(|nth| self.table.get(nth));
        entry.copied().ok_or_else(|| self.source.invalid(StoredPart::Table, "it lacks a block"))
    }

    /// Makes `block` the content of a block.
    fn load(&mut self, number: u64) -> Result<(), VolumeError> {
        if self.cached == Some(number) {
            return Ok(());
        }
        self.cached = None;
        let mut block = std::mem::take(&mut self.block);
        block.resize(self.footer.block_content_bytes(number), 0);
        let loaded = if self.footer.is_plain() {
            self.read_plain(number, &mut block)
        } else {
            self.read_sealed(number, &mut block)
        };
        self.block = block;
        loaded?;
        self.cached = Some(number);
        Ok(())
    }

    fn read_sealed(&mut self, number: u64, target: &mut [u8]) -> Result<(), VolumeError> {
        let part = StoredPart::Block(number);
        let entry = self.entry(number)?;
        let begin = self.begins.get(number as usize).copied().unwrap_or(0);
        self.stored.resize(entry.stored_bytes as usize, 0);
        self.source.fill(part, begin, &mut self.stored)?;
        self.source.check(part, entry.crc, crc32c::crc32c(&self.stored))?;
        let (method, keys) = (self.footer.method, self.keys.as_ref());
        unseal(method, keys, number, entry.compressed, &self.stored, target).map_err(
            |why| match why {
                Unsealable::Key(source) => self.source.sealing(part, source),
                Unsealable::Compression => {
                    self.source.invalid(part, "it does not decompress to its length")
                }
            },
        )
    }

    /// Checks every block, the description and the SHA-256, if there is one.
    ///
    /// # Errors
    /// The first difference from what was written.
    pub fn verify(&mut self) -> Result<(), VolumeError> {
        self.sealed_description()?;
        let expected = self.sha256;
        let mut sha256 = expected.map(|_| digest::Context::new(&digest::SHA256));
        for number in 0..self.table.len() as u64 {
            self.load(number)?;
            if let Some(sha256) = &mut sha256 {
                sha256.update(&self.block);
            }
        }
        let got = sha256.map(digest::Context::finish);
        if got.as_ref().map(AsRef::as_ref) != expected.as_ref().map(|hash| &hash[..]) {
            let why = "its SHA-256 is not the one that was recorded";
            return Err(self.source.invalid(StoredPart::Content, why));
        }
        Ok(())
    }

    /// What the file says of itself.
    pub(super) fn describe(&mut self) -> Result<Described, VolumeError> {
        let stored = StoredBytes {
            volume: self.source.volume.number(),
            bytes: self.footer.content_bytes,
            stored_bytes: self.footer.stored_bytes(),
            footer_crc: self.footer_crc,
            sha256: self.sha256,
        };
        Ok(Described { stored, description: self.description()? })
    }
}
