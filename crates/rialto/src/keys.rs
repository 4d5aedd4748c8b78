//! Where the keys of a venue's logs come from: a file, or the environment; never the configuration.

use crate::{Error, tell_all};
use rialto_engine::KeyRing;
use std::path::{Path, PathBuf};

/// The variable that may hold the keys themselves, a comma where a file has the end of a line.
const VARIABLE: &str = "RIALTO_LOG_KEYS";

/// Which keys.
#[derive(Debug, clap::Args)]
pub struct KeyArgs {
    /// The file with the keys that journal, event log and snapshots are encrypted with; without it,
    /// they come from RIALTO_LOG_KEYS.
    #[arg(long, value_name = "FILE", global = true)]
    log_keys: Option<PathBuf>,
}

impl KeyArgs {
    /// The keys named on the command line or in the environment, or none.
    pub(crate) fn ring(&self) -> Result<KeyRing, Error> {
        self.ring_or(None)
    }

    /// The same, or those in the file that the configuration names.
    pub(crate) fn ring_or(&self, configured: Option<&Path>) -> Result<KeyRing, Error> {
        let told = |error| Error::Usage(tell_all(&error));
        if let Some(file) = &self.log_keys {
            return KeyRing::read_file(file).map_err(told);
        }
        match (std::env::var(VARIABLE), configured) {
            (Ok(text), _) => KeyRing::parse(&text.replace(',', "\n"), VARIABLE).map_err(told),
            (Err(std::env::VarError::NotUnicode(_)), _) => {
                Err(Error::Usage(format!("{VARIABLE} is not text")))
            }
            (Err(_), Some(file)) => KeyRing::read_file(file).map_err(told),
            (Err(_), None) => Ok(KeyRing::empty()),
        }
    }
}
