//! Saving the state in the index, so that the next opening reads only what was recorded since.

use super::index::{Changes, ColdIndex, Key};
use super::record::{Record, TenantNumber};
use super::state::{Garbage, Held, State};
use crate::volume::VolumeNumber;
use rialto_statelog::SavePoint;
use serde::{Deserialize, Serialize};
use std::ops::Bound;
use std::sync::Arc;

/// The bytes of one row of images, about.
const ROW_BYTES: usize = 256 << 10;

/// What is saved besides the rows of files. format: docs/formats/depot.md
#[derive(Serialize, Deserialize)]
pub(super) struct Head {
    seq: u64,
    epoch: u64,
    salt: [u8; 16],
    grown_bytes: u64,
    weight: u64,
    /// The number of rows of images.
    rows: u32,
    tenants: Vec<(TenantNumber, Held, Held)>,
    on_volumes: Vec<(VolumeNumber, u64)>,
    garbage: Vec<Garbage>,
}

impl Head {
    pub(super) fn point(&self) -> SavePoint {
        let Self { seq, epoch, salt, grown_bytes, .. } = *self;
        SavePoint { seq, epoch, salt, grown_bytes }
    }
}

/// A state that is about to be stored.
pub(super) struct Image {
    head: Head,
    rows: Vec<Vec<Record>>,
    changes: Arc<Changes>,
}

impl State {
    pub(super) fn begin_saving(&mut self) -> Image {
        let tenants = self.tenants.iter().map(|(number, it)| (*number, it.kept, it.completed));
        let tenants = tenants.collect();
        let on_volumes = self.on_volumes.iter().map(|(number, files)| (*number, *files)).collect();
        let mut rows = vec![Vec::new()];
        let mut bytes = 0;
        for record in self.images_without_files() {
            bytes += size_of::<Record>();
            if let Record::SubmitKeys { keys, .. } = &record {
                bytes += 200 * keys.len();
            }
            if let Record::Imported { marks, .. } = &record {
                bytes += 19 * marks.len();
            }
            if bytes > ROW_BYTES {
                rows.push(Vec::new());
                bytes = 0;
            }
            if let Some(row) = rows.last_mut() {
                row.push(record);
            }
        }
        *self.unsaved.bytes.get_mut() = 0;
        let garbage = std::mem::take(&mut self.unsaved.garbage);
        let head = Head {
            seq: 0,
            epoch: 0,
            salt: [0; 16],
            grown_bytes: 0,
            weight: self.weight as u64,
            rows: rows.len() as u32,
            tenants,
            on_volumes,
            garbage,
        };
        Image { head, rows, changes: self.index.begin_saving() }
    }

    /// Takes back what could not be stored, to be saved later.
    pub(super) fn resume(&mut self, garbage: Vec<Garbage>) {
        self.index.resume();
        let newer = std::mem::replace(&mut self.unsaved.garbage, garbage);
        self.unsaved.garbage.extend(newer);
        // At least the close tries again.
        *self.unsaved.bytes.get_mut() += 1;
    }

    /// The saved state of an index, and where the history goes on; `None` if there is none.
    pub(super) fn saved_head(index: &ColdIndex) -> Option<Head> {
        index.get(&Key::head())
    }

    pub(super) fn load(index: ColdIndex, head: Head) -> Self {
        let mut state = Self::with_index(index);
        let (mut rows, mut records) = (0, Vec::new());
        state.index.scan(&Key::images(), Bound::Unbounded, |_, row: Vec<Record>| {
            rows += 1;
            records.extend(row);
            rows < head.rows
        });
        records.into_iter().for_each(|record| drop(state.apply(record)));
        for (number, kept, completed) in head.tenants {
            let tenant = state.tenants.entry(number).or_default();
            (tenant.kept, tenant.completed) = (kept, completed);
        }
        state.on_volumes = head.on_volumes.into_iter().collect();
        state.weight = head.weight as usize;
        state.garbage.extend(head.garbage);
        state.unsaved.garbage.clear();
        state
    }
}

impl Image {
    /// The bytes without a record that are saved.
    pub(super) fn garbage(&self) -> &[Garbage] {
        &self.head.garbage
    }

    /// The rows to be stored: all that changed, the images and the head. With the bytes of the
    /// images.
    pub(super) fn into_changes(self, point: SavePoint) -> Result<(Changes, u64), postcard::Error> {
        let SavePoint { seq, epoch, salt, grown_bytes } = point;
        let head = Head { seq, epoch, salt, grown_bytes, ..self.head };
        let mut changes = (*self.changes).clone();
        let mut bytes = 0;
        for (number, row) in self.rows.iter().enumerate() {
            let key = Key::image(number as u32).into_bytes();
            let row = postcard::to_allocvec(row)?;
            bytes += row.len() as u64;
            changes.insert(key, Some(row));
        }
        changes.insert(Key::head().into_bytes(), Some(postcard::to_allocvec(&head)?));
        Ok((changes, bytes))
    }
}
