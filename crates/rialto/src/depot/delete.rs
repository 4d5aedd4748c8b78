//! Deleting files.

use super::any_pool::AnyPool;
use crate::Error;
use crate::terminal::note;
use rialto_depot::{FileId, TenantName};

/// Deletes files. A claimed file is refused.
#[derive(Debug, clap::Args)]
pub(super) struct Rm {
    /// The ids of the files.
    #[arg(required = true, value_parser = clap::value_parser!(FileId))]
    ids: Vec<FileId>,
    /// The tenant.
    #[arg(long, value_parser = TenantName::new)]
    tenant: TenantName,
}

impl Rm {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        for (nth, id) in self.ids.iter().enumerate() {
            pool.delete(&self.tenant, *id).inspect_err(|_| {
                note(format_args!("{nth} of {} files are deleted", self.ids.len()));
            })?;
        }
        Ok(())
    }
}
