//! Compresses and encrypts blocks, each by itself, so that a reader can begin at any of them.

use super::format::{Method, TAG_BYTES};
use super::{BlockCompression, BlockSealing};
use crate::FileId;
use rialto_log::{BlobError, BlobKey, Cipher, KeyRing, fresh_salt};

/// The keys of one file. Every block and the description has a key of its own: HKDF of the master
/// key with the file's fresh salt, bound to the file's id and the block's number. So every key
/// encrypts one text only, and a block cannot be used as another block or in another file.
pub(super) struct FileKeys {
    keys: KeyRing,
    cipher: Cipher,
    master: u64,
    salt: [u8; 16],
    id: FileId,
}

impl FileKeys {
    /// Keys for a new file, from the current master key.
    pub(super) fn fresh(keys: &KeyRing, cipher: Cipher, id: FileId) -> Result<Self, BlobError> {
        let salt = fresh_salt();
        // The current key may change while the file is written, and one file has one.
        let master = keys.seal_with(cipher, &salt, "rialto depot")?.id();
        Ok(Self::known(keys, cipher, master, salt, id))
    }

    /// The keys of a file that exists.
    pub(super) fn known(
        keys: &KeyRing,
        cipher: Cipher,
        master: u64,
        salt: [u8; 16],
        id: FileId,
    ) -> Self {
        Self { keys: keys.clone(), cipher, master, salt, id }
    }

    pub(super) fn block(&self, number: u64) -> Result<BlobKey, BlobError> {
        let purpose = format!("rialto depot {} block {number}", self.id);
        self.keys.open_with(self.cipher, self.master, &self.salt, &purpose)
    }

    pub(super) fn description(&self) -> Result<BlobKey, BlobError> {
        let purpose = format!("rialto depot {} description", self.id);
        self.keys.open_with(self.cipher, self.master, &self.salt, &purpose)
    }

    pub(super) fn cipher_and_master(&self) -> (u8, u64) {
        (self.cipher.number(), self.master)
    }

    pub(super) fn salt(&self) -> [u8; 16] {
        self.salt
    }
}

/// Seals the blocks of one file, with the same memory for each.
pub(super) struct BlockSealer {
    compressor: Compressor,
    keys: Option<FileKeys>,
    packed: Vec<u8>,
}

enum Compressor {
    None,
    Lz4(Box<lz4_flex::block::CompressTable>),
    Zstd(zstd::bulk::Compressor<'static>),
}

impl BlockSealer {
    /// `None` if blocks are stored as they are.
    pub(super) fn new(
        sealing: BlockSealing,
        keys: &KeyRing,
        id: FileId,
    ) -> Result<Option<Self>, BlobError> {
        let compressor = match sealing.compression {
            BlockCompression::None => Compressor::None,
            BlockCompression::Lz4 => {
                Compressor::Lz4(Box::new(lz4_flex::block::CompressTable::large()))
            }
            BlockCompression::Zstd { level } => {
                zstd::bulk::Compressor::new(level.clamp(1, 22).into())
                    .map_or(Compressor::None, Compressor::Zstd)
            }
        };
        let keys =
            sealing.encryption.map(|cipher| FileKeys::fresh(keys, cipher, id)).transpose()?;
        let seals = keys.is_some() || !matches!(compressor, Compressor::None);
        Ok(seals.then(|| Self { compressor, keys, packed: Vec::new() }))
    }

    pub(super) fn method(&self) -> Method {
        match self.compressor {
            Compressor::None => Method::None,
            Compressor::Lz4(_) => Method::Lz4,
            Compressor::Zstd(_) => Method::Zstd,
        }
    }

    pub(super) fn keys(&self) -> Option<&FileKeys> {
        self.keys.as_ref()
    }

    /// The stored form of a block, and whether it is compressed.
    pub(super) fn seal(&mut self, number: u64, plain: &[u8]) -> Result<(&[u8], bool), BlobError> {
        let compressed = self.compress(plain);
        if !compressed {
            self.packed.clear();
            self.packed.extend_from_slice(plain);
        }
        if let Some(keys) = &self.keys {
            keys.block(number)?.seal(&[u8::from(compressed)], &mut self.packed)?;
        }
        Ok((&self.packed, compressed))
    }

    /// Compresses into `packed`; false if that does not save anything.
    fn compress(&mut self, plain: &[u8]) -> bool {
        let room = match self.compressor {
            Compressor::None => return false,
            Compressor::Lz4(_) => lz4_flex::block::get_maximum_output_size(plain.len()),
            Compressor::Zstd(_) => zstd::zstd_safe::compress_bound(plain.len()),
        };
        self.packed.resize(room, 0);
        let bytes = match &mut self.compressor {
            Compressor::None => None,
            Compressor::Lz4(table) => {
                lz4_flex::block::compress_into_with_table(plain, &mut self.packed, table).ok()
            }
            Compressor::Zstd(compressor) => {
                compressor.compress_to_buffer(plain, &mut self.packed[..]).ok()
            }
        };
        let Some(bytes) = bytes.filter(|bytes| *bytes < plain.len()) else { return false };
        self.packed.truncate(bytes);
        true
    }
}

/// Why a block does not unseal.
pub(super) enum Unsealable {
    Key(BlobError),
    Compression,
}

/// Decrypts and decompresses one stored block, to fill `plain` exactly.
pub(super) fn unseal(
    method: Method,
    keys: Option<&FileKeys>,
    number: u64,
    compressed: bool,
    stored: &[u8],
    plain: &mut [u8],
) -> Result<(), Unsealable> {
    let opened;
    let body = match keys {
        None => stored,
        Some(keys) => {
            let key = keys.block(number).map_err(Unsealable::Key)?;
            opened = key.open(&[u8::from(compressed)], stored).map_err(Unsealable::Key)?;
            &opened
        }
    };
    let filled = match (compressed, method) {
        (false, _) if body.len() == plain.len() => {
            plain.copy_from_slice(body);
            Some(body.len())
        }
        (true, Method::Lz4) => lz4_flex::block::decompress_into(body, plain).ok(),
        (true, Method::Zstd) => zstd::bulk::decompress_to_buffer(body, plain).ok(),
        _ => None,
    };
    (filled == Some(plain.len())).then_some(()).ok_or(Unsealable::Compression)
}

/// The length that encryption adds.
pub(super) fn overhead(keys: Option<&FileKeys>) -> usize {
    if keys.is_some() { TAG_BYTES } else { 0 }
}
