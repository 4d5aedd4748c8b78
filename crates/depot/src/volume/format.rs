//! The stored form: the block table and the footer of a stored file.

use super::StoredBytes;
use crate::FileId;

// format: docs/formats/depot.md
/// The version of the stored form.
pub(super) const STORED_VERSION: u16 = 1;

/// The bytes of content in every block but the last.
pub(super) const BLOCK_CONTENT_BYTES: usize = 1 << 20;
/// What encryption adds to a block or a description.
pub(super) const TAG_BYTES: usize = 16;
/// The most blocks of a file: 16 TiB of content.
pub(super) const BLOCKS_MAX: u64 = 1 << 24;
/// The longest description, as it is stored.
pub(super) const DESCRIPTION_BYTES_MAX: usize = 1 << 20;
/// The length of the footer.
pub(super) const FOOTER_BYTES: usize = 128;
/// The length of an entry of the block table.
pub(super) const ENTRY_BYTES: usize = 12;

const MAGIC: &[u8; 8] = b"RIALTODP";
/// Where the footer's own checksum is.
const CRC_AT: usize = FOOTER_BYTES - 4;
/// The limits of block sizes that a reader accepts.
const BLOCK_BYTES_RANGE: std::ops::RangeInclusive<u32> = 4 << 10..=16 << 20;

/// The flag of a footer whose content has a SHA-256.
const HAS_SHA256: u8 = 1;
/// The flag of a block that is compressed.
const COMPRESSED: u32 = 1;

/// How blocks are compressed, as a number on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    None,
    Lz4,
    Zstd,
}

/// One block as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockEntry {
    /// The length of the stored block, its tag included.
    pub(super) stored_bytes: u32,
    pub(super) compressed: bool,
    /// The CRC32C of the stored block.
    pub(super) crc: u32,
}

impl BlockEntry {
    pub(super) fn encode(self, target: &mut Vec<u8>) {
        target.extend_from_slice(&self.stored_bytes.to_le_bytes());
        target.extend_from_slice(&u32::from(self.compressed).to_le_bytes());
        target.extend_from_slice(&self.crc.to_le_bytes());
    }

    fn decode(bytes: &[u8; ENTRY_BYTES]) -> Option<Self> {
        let compressed = match u32_at(bytes, 4) {
            0 => false,
            COMPRESSED => true,
            _ => return None,
        };
        Some(Self { stored_bytes: u32_at(bytes, 0), compressed, crc: u32_at(bytes, 8) })
    }
}

/// The end of a stored file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Footer {
    pub(super) method: Method,
    /// The number of the cipher and the id of the master key.
    pub(super) encryption: Option<(u8, u64)>,
    /// Zero without encryption.
    pub(super) salt: [u8; 16],
    pub(super) block_bytes: u32,
    pub(super) id: FileId,
    /// The length of the content.
    pub(super) content_bytes: u64,
    /// The length of all stored blocks.
    pub(super) data_bytes: u64,
    pub(super) blocks: u32,
    pub(super) description_bytes: u32,
    pub(super) table_crc: u32,
    pub(super) description_crc: u32,
    /// Whether the content has a SHA-256: with encryption it precedes the description, inside.
    pub(super) has_sha256: bool,
    /// Zero with encryption.
    pub(super) sha256: [u8; 32],
}

impl Footer {
    pub(super) fn encode(&self) -> [u8; FOOTER_BYTES] {
        let mut bytes = [0; FOOTER_BYTES];
        let (cipher, key) = self.encryption.unwrap_or_default();
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..10].copy_from_slice(&STORED_VERSION.to_le_bytes());
        bytes[10] = self.method as u8;
        bytes[11] = cipher;
        bytes[12..16].copy_from_slice(&self.block_bytes.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.id.0.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.content_bytes.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.data_bytes.to_le_bytes());
        bytes[48..52].copy_from_slice(&self.blocks.to_le_bytes());
        bytes[52..56].copy_from_slice(&self.description_bytes.to_le_bytes());
        bytes[56..60].copy_from_slice(&self.table_crc.to_le_bytes());
        bytes[60..64].copy_from_slice(&self.description_crc.to_le_bytes());
        bytes[64..72].copy_from_slice(&key.to_le_bytes());
        bytes[72..88].copy_from_slice(&self.salt);
        bytes[88..120].copy_from_slice(&self.sha256);
        bytes[120] = if self.has_sha256 { HAS_SHA256 } else { 0 };
        let crc = crc32c::crc32c(&bytes[..CRC_AT]);
        bytes[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The checksum that a footer states, and the one that it has.
    pub(super) fn crcs(bytes: &[u8; FOOTER_BYTES]) -> (u32, u32) {
        (u32_at(bytes, CRC_AT), crc32c::crc32c(&bytes[..CRC_AT]))
    }

    /// Reads a footer whose checksum is right.
    pub(super) fn decode(bytes: &[u8; FOOTER_BYTES]) -> Result<Self, String> {
        if &bytes[..8] != MAGIC {
            return Err("it does not begin as one".to_owned());
        }
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        if version != STORED_VERSION {
            return Err(format!(
                "its format version is {version}, and this program reads {STORED_VERSION}"
            ));
        }
        let method = match bytes[10] {
            0 => Method::None,
            1 => Method::Lz4,
            2 => Method::Zstd,
            other => return Err(format!("no compression has the number {other}")),
        };
        let footer = Self {
            method,
            encryption: (bytes[11] != 0).then(|| (bytes[11], u64_at(bytes, 64))),
            salt: array_at(bytes, 72),
            block_bytes: u32_at(bytes, 12),
            id: FileId(u128::from_le_bytes(array_at(bytes, 16))),
            content_bytes: u64_at(bytes, 32),
            data_bytes: u64_at(bytes, 40),
            blocks: u32_at(bytes, 48),
            description_bytes: u32_at(bytes, 52),
            table_crc: u32_at(bytes, 56),
            description_crc: u32_at(bytes, 60),
            has_sha256: bytes[120] == HAS_SHA256,
            sha256: array_at(bytes, 88),
        };
        let whole = BLOCK_BYTES_RANGE.contains(&footer.block_bytes)
            && u64::from(footer.blocks) <= BLOCKS_MAX
            && footer.content_bytes.div_ceil(u64::from(footer.block_bytes))
                == u64::from(footer.blocks)
            && footer.data_bytes <= BLOCKS_MAX * (u64::from(footer.block_bytes) + 16)
            && footer.description_bytes as usize <= DESCRIPTION_BYTES_MAX
            && bytes[120] <= HAS_SHA256
            && bytes[121..CRC_AT] == [0; 3];
        if whole { Ok(footer) } else { Err("its fields contradict each other".to_owned()) }
    }

    /// The length of the table.
    pub(super) fn table_bytes(&self) -> usize {
        self.blocks as usize * ENTRY_BYTES
    }

    /// The length of the stored file.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.data_bytes
            + self.table_bytes() as u64
            + u64::from(self.description_bytes)
            + FOOTER_BYTES as u64
    }

    /// The length of the content of one block.
    pub(super) fn block_content_bytes(&self, block: u64) -> usize {
        let begin = block * u64::from(self.block_bytes);
        self.content_bytes.saturating_sub(begin).min(u64::from(self.block_bytes)) as usize
    }

    /// Whether the content is stored as it is, so that a block's place follows from its number.
    pub(super) fn is_plain(&self) -> bool {
        self.method == Method::None && self.encryption.is_none()
    }

    /// What an encrypted description is bound to: everything that the footer says before the
    /// checksum of the description, and the table.
    pub(super) fn bound(&self, table: &[u8]) -> Vec<u8> {
        let mut bound = self.encode()[..60].to_vec();
        bound.push(u8::from(self.has_sha256));
        bound.extend_from_slice(table);
        bound
    }

    /// Reads the table, whose checksum is right.
    pub(super) fn decode_table(&self, table: &[u8]) -> Option<Vec<BlockEntry>> {
        let (entries, rest) = table.as_chunks::<ENTRY_BYTES>();
        let entries: Vec<BlockEntry> =
            entries.iter().map(BlockEntry::decode).collect::<Option<_>>()?;
        let tag = if self.encryption.is_some() { TAG_BYTES } else { 0 };
        let sizes_fit = entries.iter().enumerate().all(|(nth, entry)| {
            let content = self.block_content_bytes(nth as u64);
            let body = (entry.stored_bytes as usize).checked_sub(tag);
            match entry.compressed {
                false => body == Some(content),
                true => self.method != Method::None && body.is_some_and(|body| body < content),
            }
        });
        let sum: u64 = entries.iter().map(|entry| u64::from(entry.stored_bytes)).sum();
        let fits = rest.is_empty()
            && entries.len() == self.blocks as usize
            && sizes_fit
            && sum == self.data_bytes;
        fits.then_some(entries)
    }

    /// How the footer differs from a record.
    pub(super) fn differs_from(&self, id: FileId, stored: &StoredBytes) -> Option<&'static str> {
        if self.id != id {
            return Some("it is of another file");
        }
        let same = self.content_bytes == stored.bytes && self.stored_bytes() == stored.stored_bytes;
        (!same).then_some("its lengths are not those of the record")
    }
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn footer() -> Footer {
        Footer {
            method: Method::Zstd,
            encryption: Some((2, 9)),
            salt: [3; 16],
            block_bytes: 1 << 20,
            id: FileId(77 << 64 | 5),
            content_bytes: (1 << 20) + 1,
            data_bytes: 500 + 17,
            blocks: 2,
            description_bytes: 20,
            table_crc: 1,
            description_crc: 2,
            has_sha256: true,
            sha256: [0; 32],
        }
    }

    #[test]
    fn a_footer_is_read_back() {
        let bytes = footer().encode();
        let (stated, computed) = Footer::crcs(&bytes);
        assert_eq!(stated, computed);
        assert_eq!(Footer::decode(&bytes), Ok(footer()));
    }

    #[test]
    fn a_footer_that_contradicts_itself_is_refused() {
        let refused = |change: fn(&mut Footer)| {
            let mut footer = footer();
            change(&mut footer);
            Footer::decode(&footer.encode()).is_err()
        };
        assert!(!refused(|_| {}));
        assert!(refused(|footer| footer.blocks = 3));
        assert!(refused(|footer| footer.block_bytes = 0));
        assert!(refused(|footer| footer.content_bytes = u64::MAX));
        assert!(refused(|footer| footer.description_bytes = u32::MAX));
        assert!(refused(|footer| footer.data_bytes = u64::MAX));
    }

    #[test]
    fn a_table_that_contradicts_the_footer_is_refused() {
        let table = |first: u32, compressed: bool, second: u32| {
            let mut table = Vec::new();
            BlockEntry { stored_bytes: first, compressed, crc: 1 }.encode(&mut table);
            BlockEntry { stored_bytes: second, compressed: false, crc: 2 }.encode(&mut table);
            footer().decode_table(&table).map(|entries| entries.len())
        };
        assert_eq!(table(500, true, 17), Some(2));
        assert_eq!(table(501, true, 16), None);
        assert_eq!(table(500, false, 17), None);
        assert_eq!(footer().decode_table(&[0; 23]), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_a_footer_or_refused(
            mut bytes in proptest::array::uniform32(proptest::num::u8::ANY),
            at in 0_usize..4,
        ) {
            let mut whole = footer().encode();
            whole[at * 32..][..32].copy_from_slice(&bytes);
            let _ = Footer::decode(&whole);
            bytes.reverse();
            let _ = footer().decode_table(&bytes[..24]);
        }
    }
}
