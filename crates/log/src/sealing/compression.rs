//! Compresses bodies, and decompresses them within the stated length.

use crate::format::{Method, PLAIN_BYTES_MAX};
use flate2::{Compress, Crc, Decompress, FlushCompress, FlushDecompress, Status};
use lz4_flex::block::CompressTable;

/// What gzip puts before the deflated bytes of a member without optional fields, up to its flags.
const GZIP_BEGINNING: [u8; 4] = [0x1f, 0x8b, 8, 0];
/// The whole of a gzip header: beginning, time, two bytes of no interest.
const GZIP_HEADER_BYTES: usize = 10;
/// The checksum and the length behind the deflated bytes.
const GZIP_TRAILER_BYTES: usize = 8;
/// The window of gzip: 32 KiB.
const GZIP_WINDOW_BITS: u8 = 15;

/// How the bodies of groups are compressed.
///
/// Its text form is `none`, `lz4`, `zstd`, `gzip`, the last two also with a level: `zstd:9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// LZ4: the fastest.
    Lz4,
    /// Zstandard.
    Zstd {
        /// 1 (fast) to 22 (small).
        level: u8,
    },
    /// Deflate as `gzip` stores it; which standard tools can read.
    Gzip {
        /// 1 (fast) to 9 (small).
        level: u8,
    },
}

impl Compression {
    /// The level of `zstd` when none is named.
    pub const ZSTD_LEVEL: u8 = 3;
    /// The level of `gzip` when none is named.
    pub const GZIP_LEVEL: u8 = 6;

    /// Whether the level, if there is one, exists.
    pub(crate) fn is_possible(self) -> bool {
        match self {
            Self::None | Self::Lz4 => true,
            Self::Zstd { level } => (1..=22).contains(&level),
            Self::Gzip { level } => (1..=9).contains(&level),
        }
    }

    pub(crate) fn method(self) -> Option<Method> {
        match self {
            Self::None => None,
            Self::Lz4 => Some(Method::Lz4),
            Self::Zstd { .. } => Some(Method::Zstd),
            Self::Gzip { .. } => Some(Method::Gzip),
        }
    }
}

impl std::fmt::Display for Compression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Lz4 => f.write_str("lz4"),
            Self::Zstd { level } => write!(f, "zstd:{level}"),
            Self::Gzip { level } => write!(f, "gzip:{level}"),
        }
    }
}

impl std::str::FromStr for Compression {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, level) = match text.split_once(':') {
            Some((name, level)) => (name, Some(level.parse().map_err(|_| unknown(text))?)),
            None => (text, None),
        };
        let compression = match (name, level) {
            ("none", None) => Self::None,
            ("lz4", None) => Self::Lz4,
            ("zstd", level) => Self::Zstd { level: level.unwrap_or(Self::ZSTD_LEVEL) },
            ("gzip", level) => Self::Gzip { level: level.unwrap_or(Self::GZIP_LEVEL) },
            _ => return Err(unknown(text)),
        };
        if compression.is_possible() { Ok(compression) } else { Err(unknown(text)) }
    }
}

fn unknown(text: &str) -> String {
    format!(
        "`{text}` is no compression: use none, lz4, zstd, zstd:1 to zstd:22, gzip, gzip:1 to gzip:9"
    )
}

/// Compresses one body after the other with the same memory.
pub(crate) enum Compressor {
    Lz4(CompressTable),
    Zstd(zstd::bulk::Compressor<'static>),
    Gzip(Compress),
}

impl Compressor {
    /// `None` without compression. The level must be valid.
    pub(crate) fn new(compression: Compression) -> Option<Self> {
        match compression {
            Compression::None => None,
            Compression::Lz4 => Some(Self::Lz4(CompressTable::large())),
            Compression::Zstd { level } => {
                let compressor = zstd::bulk::Compressor::new(level.into())
                    .expect("the level was checked, and memory that lacks ends the process");
                Some(Self::Zstd(compressor))
            }
            Compression::Gzip { level } => {
                let level = flate2::Compression::new(level.into());
                Some(Self::Gzip(Compress::new_gzip(level, GZIP_WINDOW_BITS)))
            }
        }
    }

    /// The largest output of a compression of the largest body.
    pub(crate) fn output_bytes_max() -> usize {
        let lz4 = lz4_flex::block::get_maximum_output_size(PLAIN_BYTES_MAX);
        lz4.max(zstd::zstd_safe::compress_bound(PLAIN_BYTES_MAX))
    }

    /// Compresses into the front of `target`, which has room for [`Compressor::output_bytes_max`].
    /// Returns the length, or `None` if it exceeds `limit`.
    pub(crate) fn compress(
        &mut self,
        plain: &[u8],
        target: &mut [u8],
        limit: usize,
    ) -> Option<usize> {
        let bytes = match self {
            Self::Lz4(table) => {
                lz4_flex::block::compress_into_with_table(plain, target, table).ok()?
            }
            Self::Zstd(compressor) => compressor.compress_to_buffer(plain, target).ok()?,
            Self::Gzip(compressor) => {
                compressor.reset();
                // It stops where the room ends, which spares the rest of what does not shrink.
                let target = target.get_mut(..limit)?;
                match compressor.compress(plain, target, FlushCompress::Finish) {
                    Ok(Status::StreamEnd) => compressor.total_out() as usize,
                    _ => return None,
                }
            }
        };
        (bytes <= limit).then_some(bytes)
    }
}

/// Decompresses bodies, with the same memory for each.
#[derive(Default)]
pub(crate) struct Decompressor {
    zstd: Option<zstd::bulk::Decompressor<'static>>,
    deflate: Option<Decompress>,
}

impl Decompressor {
    /// Decompresses all of `packed` to exactly fill `plain`; `None` if the lengths differ. It never
    /// writes or allocates beyond `plain`.
    pub(crate) fn decompress(
        &mut self,
        method: Method,
        packed: &[u8],
        plain: &mut [u8],
    ) -> Option<()> {
        match method {
            Method::Lz4 => {
                let bytes = lz4_flex::block::decompress_into(packed, plain).ok()?;
                (bytes == plain.len()).then_some(())
            }
            Method::Zstd => {
                if self.zstd.is_none() {
                    self.zstd = zstd::bulk::Decompressor::new().ok();
                }
                let bytes = self.zstd.as_mut()?.decompress_to_buffer(packed, plain).ok()?;
                (bytes == plain.len()).then_some(())
            }
            Method::Gzip => self.gunzip(packed, plain),
        }
    }

    /// The library's gzip reader allocates for every member; inflating its contents keeps the
    /// memory.
    fn gunzip(&mut self, packed: &[u8], plain: &mut [u8]) -> Option<()> {
        let (header, rest) = packed.split_at_checked(GZIP_HEADER_BYTES)?;
        if !header.starts_with(&GZIP_BEGINNING) {
            return None;
        }
        let (deflated, trailer) = rest.split_last_chunk::<GZIP_TRAILER_BYTES>()?;
        let inflate = self.deflate.get_or_insert_with(|| Decompress::new(false));
        inflate.reset(false);
        let status = inflate.decompress(deflated, plain, FlushDecompress::Finish).ok()?;
        let whole = status == Status::StreamEnd
            && inflate.total_in() == deflated.len() as u64
            && inflate.total_out() == plain.len() as u64;
        let mut sum = Crc::new();
        sum.update(plain);
        let mut expected = [0; GZIP_TRAILER_BYTES];
        expected[..4].copy_from_slice(&sum.sum().to_le_bytes());
        expected[4..].copy_from_slice(&(plain.len() as u32).to_le_bytes());
        (whole && *trailer == expected).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Compression; 3] =
        [Compression::Lz4, Compression::Zstd { level: 3 }, Compression::Gzip { level: 6 }];

    fn text(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| b"order 0123456789 "[at % 17].wrapping_add((at / 4000) as u8)).collect()
    }

    /// Bytes that nothing compresses.
    fn noise(bytes: usize) -> Vec<u8> {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        std::iter::repeat_with(next).take(bytes).collect()
    }

    fn packed(compressor: &mut Compressor, plain: &[u8]) -> Vec<u8> {
        let mut target = vec![0; Compressor::output_bytes_max()];
        let bytes = compressor.compress(plain, &mut target, plain.len()).unwrap();
        target.truncate(bytes);
        target
    }

    #[test]
    fn compressed_data_decompresses_repeatedly() {
        for compression in ALL {
            let mut compressor = Compressor::new(compression).unwrap();
            let mut decompressor = Decompressor::default();
            for bytes in [200, 70_000, 5_000, PLAIN_BYTES_MAX, 4096] {
                let plain = text(bytes);
                let packed = packed(&mut compressor, &plain);
                assert!(packed.len() < bytes / 3, "{compression}: {bytes} to {}", packed.len());
                let mut back = vec![0; bytes];
                let method = compression.method().unwrap();
                decompressor.decompress(method, &packed, &mut back).unwrap();
                assert_eq!(back, plain, "{compression}");
            }
        }
    }

    #[test]
    fn another_length_than_promised_is_refused_both_ways() {
        for compression in ALL {
            let plain = text(9000);
            let packed = packed(&mut Compressor::new(compression).unwrap(), &plain);
            let method = compression.method().unwrap();
            for bytes in [0, 1, 8999, 9001, 20_000] {
                let back = Decompressor::default().decompress(method, &packed, &mut vec![0; bytes]);
                assert_eq!(back, None, "{compression}: {bytes}");
            }
        }
    }

    #[test]
    fn truncated_and_extended_data_is_refused() {
        for compression in ALL {
            let mut packed = packed(&mut Compressor::new(compression).unwrap(), &text(9000));
            let method = compression.method().unwrap();
            let mut decompressor = Decompressor::default();
            let mut back = vec![0; 9000];
            for bytes in 0..packed.len() {
                assert_eq!(decompressor.decompress(method, &packed[..bytes], &mut back), None);
            }
            packed.push(0);
            assert_eq!(decompressor.decompress(method, &packed, &mut back), None, "{compression}");
            packed.pop();
            assert_eq!(decompressor.decompress(method, &packed, &mut back), Some(()));
        }
    }

    #[test]
    fn incompressible_data_is_stored_plain() {
        let noise = noise(100_000);
        for compression in ALL {
            let mut compressor = Compressor::new(compression).unwrap();
            let mut target = vec![0; Compressor::output_bytes_max()];
            let limit = noise.len() - 4096;
            assert_eq!(compressor.compress(&noise, &mut target, limit), None, "{compression}");
            assert!(compressor.compress(&text(9000), &mut target, 4096).is_some());
        }
    }

    proptest::proptest! {
        #[test]
        fn bytes_of_any_origin_come_back_as_something_or_are_refused(
            mut packed in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300),
            bytes in 0_usize..5000,
            begins_rightly in proptest::prelude::any::<bool>(),
        ) {
            let beginnings: [(Method, &[u8]); 3] = [
                (Method::Lz4, &[]),
                (Method::Zstd, &[0x28, 0xb5, 0x2f, 0xfd]),
                (Method::Gzip, &GZIP_BEGINNING),
            ];
            for (method, beginning) in beginnings {
                if begins_rightly && packed.len() >= beginning.len() {
                    packed[..beginning.len()].copy_from_slice(beginning);
                }
                // It may write nonsense within its buffer, and must not panic or write beyond.
                let mut plain = vec![0; bytes];
                let _ = Decompressor::default().decompress(method, &packed, &mut plain);
            }
        }
    }

    #[test]
    fn the_text_form_is_read_back() {
        for text in ["none", "lz4", "zstd:3", "zstd:22", "gzip:6"] {
            assert_eq!(text.parse::<Compression>().unwrap().to_string(), text);
        }
        assert_eq!("zstd".parse(), Ok(Compression::Zstd { level: 3 }));
        assert_eq!("gzip".parse(), Ok(Compression::Gzip { level: 6 }));
        for text in ["", "zip", "lz4:1", "zstd:0", "zstd:23", "gzip:10", "zstd:x", "none:1"] {
            assert!(text.parse::<Compression>().unwrap_err().contains("zstd:22"), "{text}");
        }
    }
}
