//! Opening a file: which format it is in, and its operations.

use super::bitstamp::{Capture, Passive};
use super::error::InputError;
use super::obw::ObwFile;
use super::operation::{Operation, Overview};
use super::order_file::OrderFile;
use clap::ValueEnum;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The formats that can be replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Recognised from the file's first bytes.
    #[default]
    Auto,
    /// The binary streams of the benchmarks.
    Obw,
    /// Order files as docs/formats/replay-file.md describes them.
    Csv,
    /// A level-3 capture of Bitstamp's live orders.
    Bitstamp,
}

/// The operations of a file, in order.
pub(super) type Operations = Box<dyn Iterator<Item = Result<Operation, InputError>>>;

/// A file that can be read several times.
pub(super) enum Input {
    Obw(ObwFile),
    Orders(OrderFile),
    Bitstamp(Capture),
}

impl Input {
    /// Opens a file. `trades` and `passive` are for captures.
    pub(super) fn open(
        path: &Path,
        format: Format,
        trades: Option<&Path>,
        passive: Passive,
    ) -> Result<Input, InputError> {
        let format = match format {
            Format::Auto => recognise(path)?,
            given => given,
        };
        Ok(match format {
            Format::Obw => Input::Obw(ObwFile::open(path)?),
            Format::Bitstamp => Input::Bitstamp(Capture::open(path, trades, passive)?),
            Format::Csv | Format::Auto => Input::Orders(OrderFile::new(path)),
        })
    }

    /// The first pass.
    pub(super) fn scan(&mut self) -> Result<Overview, InputError> {
        match self {
            Input::Obw(file) => file.scan(),
            Input::Orders(file) => file.scan(),
            Input::Bitstamp(capture) => capture.scan(),
        }
    }

    /// The second pass.
    pub(super) fn operations(&self) -> Result<Operations, InputError> {
        match self {
            Input::Obw(file) => file.operations(),
            Input::Orders(file) => file.operations(),
            Input::Bitstamp(capture) => capture.operations(),
        }
    }

    /// The format's name, as `--format` takes it.
    pub(super) fn format(&self) -> &'static str {
        match self {
            Input::Obw(_) => "obw",
            Input::Orders(_) => "csv",
            Input::Bitstamp(_) => "bitstamp",
        }
    }
}

/// The bytes of a file, decompressed if it is gzip.
pub(super) fn bytes_of(path: &Path) -> Result<Box<dyn BufRead>, InputError> {
    let failed = |source| InputError::Io { path: path.to_owned(), source };
    let mut source = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
    let is_packed = source.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]);
    if is_packed {
        return Ok(Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(source))));
    }
    Ok(Box::new(source))
}

fn recognise(path: &Path) -> Result<Format, InputError> {
    let mut start = Vec::new();
    let failed = |source| InputError::Io { path: path.to_owned(), source };
    bytes_of(path)?.take(256).read_to_end(&mut start).map_err(failed)?;
    let line = start.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let names: Vec<&[u8]> = line.split(|byte| *byte == b',').collect();
    let has = |wanted: &[&[u8]]| wanted.iter().all(|name| names.contains(name));
    if start.starts_with(b"OBW1") {
        Ok(Format::Obw)
    } else if has(&[b"exchange_timestamp", b"direction", b"action"]) {
        Ok(Format::Bitstamp)
    } else if has(&[b"action", b"id"]) {
        Ok(Format::Csv)
    } else {
        Err(InputError::Unrecognised { path: path.to_owned() })
    }
}
