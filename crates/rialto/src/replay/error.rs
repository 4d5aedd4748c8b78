//! Why a file cannot be replayed.

use rialto_workload::obw::ObwError;
use std::io;
use std::path::PathBuf;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum InputError {
    /// The file cannot be read from the disk.
    #[error("cannot read {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// A line of a text file is invalid.
    #[error("{}, line {line}, column {column}: {reason}", path.display())]
    Text { path: PathBuf, line: u64, column: usize, reason: String },
    /// A binary stream is invalid.
    #[error("{}", path.display())]
    Obw { path: PathBuf, source: ObwError },
    /// The format is unknown.
    #[error(
        "{} is in no format that is known: it begins neither with OBW1 nor with the header line of \
         an order file or of a Bitstamp capture; docs/formats/replay-file.md describes order files",
        path.display()
    )]
    Unrecognised { path: PathBuf },
    /// The file needs more accounts than a venue can have.
    #[error("{} names {got} accounts; a venue has room for {max}", path.display())]
    TooManyAccounts { path: PathBuf, got: usize, max: u32 },
}
