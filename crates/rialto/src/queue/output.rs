//! Where messages go that are consumed.

use super::printing::Printing;
use super::saving::Saving;
use super::shown::Shown;
use crate::Error;
use std::io;

/// The destination of messages: standard output, or a directory.
pub(super) enum Output {
    Lines(Printing),
    Files(Saving),
}

/// The reason to stop.
pub(super) enum Stop {
    /// The reader of the output closed it.
    Enough,
    Failed(Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Stop::Enough,
            _ => Stop::Failed(Error::file("write", "the standard output")(error)),
        }
    }
}

impl Output {
    /// The messages of one fetch.
    pub(super) fn batch(&self) -> u64 {
        match self {
            Output::Lines(_) => 1_000,
            // Each waits for the disk, and all are to be there before their leases run out.
            Output::Files(_) => 100,
        }
    }

    /// Begins a batch with the next message.
    pub(super) fn begin(&mut self) {
        if let Output::Lines(printing) = self {
            printing.begin();
        }
    }

    pub(super) fn put(&mut self, message: &Shown<'_>) -> Result<(), Stop> {
        match self {
            Output::Lines(printing) => Ok(printing.print(message)?),
            Output::Files(saving) => saving.save(message).map_err(Stop::Failed),
        }
    }

    /// Returns when the messages of the batch are written.
    pub(super) fn finish(&mut self) -> Result<(), Stop> {
        match self {
            Output::Lines(printing) => Ok(printing.flush()?),
            Output::Files(saving) => saving.sync().map_err(Stop::Failed),
        }
    }

    /// The number of messages of the batch that were read, at least in part.
    pub(super) fn looked_at(&self) -> usize {
        match self {
            Output::Lines(printing) => printing.looked_at(),
            // The files of redelivered messages already exist.
            Output::Files(_) => 0,
        }
    }
}
