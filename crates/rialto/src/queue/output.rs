//! Where messages go that are consumed.

use super::printing::Printing;
use super::saving::Saving;
use super::shown::Shown;
use crate::Error;
use std::io;

/// The standard output, or a directory.
pub(super) enum Output {
    Lines(Printing),
    Files(Saving),
}

/// Why no more is taken.
pub(super) enum Stop {
    /// Whoever reads along has had enough.
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
    /// How many messages are taken at a time.
    pub(super) fn batch(&self) -> u64 {
        match self {
            Output::Lines(_) => 1_000,
            // Each waits for the disk, and all are to be there before their leases run out.
            Output::Files(_) => 100,
        }
    }

    /// The next message is the first of a batch.
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

    /// Returns when the messages of the batch are where they belong.
    pub(super) fn finish(&mut self) -> Result<(), Stop> {
        match self {
            Output::Lines(printing) => Ok(printing.flush()?),
            Output::Files(saving) => saving.sync().map_err(Stop::Failed),
        }
    }

    /// How many messages of the batch somebody has looked at, in part at least.
    pub(super) fn looked_at(&self) -> usize {
        match self {
            Output::Lines(printing) => printing.looked_at(),
            // Files of messages that are delivered again are those that are there.
            Output::Files(_) => 0,
        }
    }
}
