//! Goes through all files of a pool in pages.

use crate::active::Standing;
use crate::pool::Pool;
use crate::record::FileRecord;
use crate::tenant::Tenant;
use crate::{DepotError, FileId};
use rialto_clock::Timestamp;
use rialto_queue::MessageId;
use std::sync::Arc;

/// The most files of one page.
const PAGE_FILES: usize = 512;
/// The most tenants that one page goes through.
const PAGE_TENANTS: usize = 64;

/// Where a pass through all files stands. Files that come or go meanwhile may be met or not.
pub(super) struct Sweep {
    /// The tenants that are still to be visited.
    tenants: Vec<Arc<Tenant>>,
    at: At,
    /// Whether only work files are met.
    is_work_only: bool,
}

/// The last file of the tenant that is visited.
enum At {
    Work(Option<FileId>),
    Kept(Option<String>),
    Completed(Option<FileId>),
}

/// A file that was met.
#[derive(Clone)]
pub(super) struct Met {
    pub(super) tenant: Arc<Tenant>,
    pub(super) record: Arc<FileRecord>,
    pub(super) kind: MetKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetKind {
    Work {
        standing: Standing,
        message: Option<MessageId>,
        attempts: u16,
    },
    Kept,
    /// Until this time.
    Completed(Timestamp),
}

impl Sweep {
    pub(super) fn all(pool: &Pool) -> Self {
        Self { tenants: pool.all_tenants(), at: At::Work(None), is_work_only: false }
    }

    pub(super) fn work(pool: &Pool) -> Self {
        Self { is_work_only: true, ..Self::all(pool) }
    }

    /// The next files; `None` at the end.
    pub(super) fn page(&mut self, pool: &Pool) -> Result<Option<Vec<Met>>, DepotError> {
        let mut page = Vec::new();
        for _ in 0..PAGE_TENANTS {
            let Some(tenant) = self.tenants.last().cloned() else {
                return Ok((!page.is_empty()).then_some(page));
            };
            let max = PAGE_FILES - page.len();
            let before = page.len();
            match &mut self.at {
                At::Work(after) => {
                    let files = tenant.files();
                    page.extend(files.after(*after).take(max).map(|file| Met {
                        tenant: tenant.clone(),
                        record: file.record.clone(),
                        kind: MetKind::Work {
                            standing: file.standing,
                            message: file.message,
                            attempts: file.attempts,
                        },
                    }));
                    drop(files);
                    *after = page.last().filter(|_| page.len() > before).map(|it| it.record.id);
                }
                At::Kept(after) => {
                    let mut files = Vec::new();
                    if max > 0 {
                        pool.history.read(|state| {
                            state.each_kept(tenant.number, "", after.as_deref(), |file| {
                                files.push(Arc::new(file));
                                files.len() < max
                            });
                        })?;
                    }
                    *after = files.last().map(|file| file.path());
                    page.extend(files.into_iter().map(|record| Met {
                        tenant: tenant.clone(),
                        record,
                        kind: MetKind::Kept,
                    }));
                }
                At::Completed(after) => {
                    let files = pool.retained(&tenant, *after, max)?;
                    *after = files.last().map(|it| it.file.id);
                    page.extend(files.iter().map(|it| Met {
                        tenant: tenant.clone(),
                        record: Arc::new(it.file.clone()),
                        kind: MetKind::Completed(it.until),
                    }));
                }
            }
            if page.len() >= PAGE_FILES {
                return Ok(Some(page));
            }
            // This part of the tenant has no more files.
            match self.at {
                At::Work(_) if !self.is_work_only => self.at = At::Kept(None),
                At::Kept(_) => self.at = At::Completed(None),
                _ => {
                    self.tenants.pop();
                    self.at = At::Work(None);
                }
            }
        }
        Ok(Some(page))
    }
}

impl Pool {
    /// A file as it is recorded now.
    pub(super) fn recorded(
        &self,
        tenant: &Tenant,
        id: FileId,
    ) -> Result<Option<Arc<FileRecord>>, DepotError> {
        let active = tenant.files().get(id).map(|file| file.record.clone());
        match active {
            Some(record) => Ok(Some(record)),
            None => match self.kept_by_id(tenant, id)? {
                Some(record) => Ok(Some(record)),
                None => {
                    let completed = self.retained_by_id(tenant, id)?;
                    Ok(completed.map(|it| Arc::new(it.file.clone())))
                }
            },
        }
    }
}
