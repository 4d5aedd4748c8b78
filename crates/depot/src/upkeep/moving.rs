//! Moves the bytes of files: inline files that wait for long go to a volume, and the files of a volume
//! that drains go to others.
//!
//! The new bytes are durable before the record names them, and the old ones go afterwards. A work
//! file is taken from its queue meanwhile, so that no worker has it; it is published again with its
//! new place and the old message acknowledged in one transaction. After a crash in between the old
//! message is there, and the new bytes are without a record.

use super::due::Due;
use super::sweep::{Met, MetKind, Sweep};
use crate::active::Standing;
use crate::history::Garbage;
use crate::history::record::{Record, Retained, TenantNumber};
use crate::pool::Pool;
use crate::reading::FileReader;
use crate::record::{FileRecord, Place, split_payload};
use crate::tenant::Tenant;
use crate::volume::{Finished, VolumeNumber, VolumeState};
use crate::{DepotError, FileId};
use rialto_clock::Timestamp;
use rialto_queue::{Consumer, Delivered, MessageId, Publish, QueueError};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// The time from the end of a pass to the beginning of the next.
const PERIOD: Duration = Duration::from_secs(10);
/// The most files that a round moves.
const STEP_FILES: usize = 16;
/// No further file is begun in a round that moved this many bytes.
const STEP_BYTES: u64 = 64 << 20;
/// How long a file that is moved is withheld from workers at most.
const LEASE: Duration = Duration::from_secs(60 * 60);
/// How many bytes are copied at a time.
const COPY_BYTES: usize = 1 << 20;
/// Delayed messages are in lanes from here on; their ids change when they are due.
const LANES: u8 = 16;

/// Where the pass through the files stands.
#[derive(Default)]
pub(super) struct Moves {
    due: Due,
    sweep: Option<Sweep>,
    page: VecDeque<Met>,
    draining: HashSet<VolumeNumber>,
    /// The tenants whose messages were listed in this pass.
    listed: HashSet<TenantNumber>,
}

impl Pool {
    /// Moves some files. Returns whether the next round should follow soon.
    pub(super) fn move_step(&self, moves: &mut Moves) -> Result<bool, DepotError> {
        let now = self.now();
        if moves.sweep.is_none() {
            if !moves.due.is_due(now, PERIOD) {
                return Ok(false);
            }
            moves.due.next(now, PERIOD);
            let volumes = self.volumes.list();
            let draining = volumes.iter().filter(|it| it.state == VolumeState::Draining);
            moves.draining = draining.map(|it| it.number).collect();
            moves.listed.clear();
            moves.sweep = match (moves.draining.is_empty(), self.spills()) {
                (false, _) => Some(Sweep::all(self)),
                (true, true) => Some(Sweep::work(self)),
                (true, false) => return Ok(false),
            };
        }
        if moves.page.is_empty() {
            match moves.sweep.as_mut().map_or(Ok(None), |sweep| sweep.page(self))? {
                Some(page) => moves.page = page.into(),
                None => {
                    moves.sweep = None;
                    moves.due.next(now, PERIOD);
                    return Ok(false);
                }
            }
        }
        let (mut files, mut bytes) = (0, 0);
        while files < STEP_FILES && bytes < STEP_BYTES {
            let Some(met) = moves.page.pop_front() else { break };
            if !self.is_to_move(&met, &moves.draining) {
                continue;
            }
            (files, bytes) = (files + 1, bytes + met.record.bytes);
            if let Err(error) = self.move_file(&met, moves) {
                if matches!(error, DepotError::Closed) {
                    return Ok(false);
                }
                if matches!(error, DepotError::History(_)) {
                    return Err(error);
                }
                let file = met.record.id;
                tracing::warn!(%file, "the bytes of a file were not moved: {error}");
                if matches!(&error, DepotError::Volume(error) if error.is_out_of_space()) {
                    // The others would not fit either.
                    moves.page.clear();
                    moves.sweep = None;
                    moves.due.next(now, PERIOD);
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether inline files move to volumes. A file that may be handed out once only is not taken
    /// from its queue: a crash would count as its attempt.
    fn spills(&self) -> bool {
        !self.options.upkeep.inline_wait_max.is_zero() && self.options.attempts_max != 1
    }

    fn is_to_move(&self, met: &Met, draining: &HashSet<VolumeNumber>) -> bool {
        match (&met.record.place, met.kind) {
            (Place::Volume(stored), _) => draining.contains(&stored.volume),
            (Place::Inline, MetKind::Work { standing: Standing::Waiting, attempts: 0, .. }) => {
                let wait_max = self.options.upkeep.inline_wait_max;
                self.spills() && met.record.created_at.after(wait_max) <= self.now()
            }
            (Place::Inline, _) => false,
        }
    }

    fn move_file(&self, met: &Met, moves: &mut Moves) -> Result<(), DepotError> {
        let (standing, message) = match met.kind {
            MetKind::Work { standing, message, .. } => (standing, message),
            MetKind::Kept | MetKind::Completed(_) => return self.move_kept(met),
        };
        let is_dead = match standing {
            Standing::Waiting => false,
            Standing::Dead => true,
            // Later: when the claim has ended.
            Standing::Arriving | Standing::Claimed { .. } => return Ok(()),
        };
        let Some(work) = met.tenant.work() else { return Ok(()) };
        let mut message = message.filter(|id| id.lane < LANES);
        if message.is_none() && moves.listed.insert(met.tenant.number) {
            list_messages(&met.tenant, work.consumer())?;
        }
        if message.is_none() {
            message = met.tenant.files().get(met.record.id).and_then(|file| file.message);
        }
        let Some(message) = message else { return Ok(()) };
        if is_dead {
            let topic = crate::work::dead_topic(&met.tenant.name)?;
            let consumer = self.dead_letter_consumer(&met.tenant.name)?;
            return self.move_message(met, &topic, &consumer, message);
        }
        self.move_message(met, work.topic(), work.consumer(), message)
    }

    fn move_message(
        &self,
        met: &Met,
        topic: &str,
        consumer: &Consumer,
        message: MessageId,
    ) -> Result<(), DepotError> {
        let rests_until = consumer.rests_until(message);
        // A worker has it, it is delayed, or it ended.
        let Some(taken) = consumer.claim(message, Some(LEASE))? else { return Ok(()) };
        let moved = self.move_taken(met, topic, consumer, &taken, rests_until);
        if !matches!(moved, Ok(true)) {
            consumer.return_unseen(&[(taken.id(), taken.lease())]);
        }
        moved.map(drop)
    }

    /// Moves a file whose message is leased. False if it stays where it is.
    fn move_taken(
        &self,
        met: &Met,
        topic: &str,
        consumer: &Consumer,
        taken: &Delivered,
        rests_until: Option<Timestamp>,
    ) -> Result<bool, DepotError> {
        let Some((record, _)) = split_payload(taken.payload()) else { return Ok(false) };
        let (tenant, id) = (&met.tenant, record.id);
        if id != met.record.id || record.place != met.record.place || tenant.files().has_ended(id) {
            return Ok(false);
        }
        let is_handed_out = record.place == Place::Inline && taken.attempt() > 1;
        if is_handed_out {
            if let Some(file) = tenant.files().get_mut(id) {
                file.attempts = taken.attempt() - 1;
            }
            return Ok(false);
        }
        let old = Arc::new(record);
        let mut source = match old.place {
            Place::Inline => FileReader::inline(old.clone(), taken.message().clone())?,
            Place::Volume(_) => FileReader::stored(self, old.clone())?,
        };
        let _holding = self.upkeep.in_hand.hold(id);
        // A copy may take longer than a lease.
        let mut extended_at = self.now();
        let keep = || {
            let now = self.now();
            if extended_at.after(LEASE / 4) <= now {
                consumer.extend_lease_by(taken.id(), taken.lease(), LEASE)?;
                extended_at = now;
            }
            Ok(())
        };
        let (new, finished) = self.store_again(tenant, &old, &mut source, keep)?;
        let committed = (|| {
            let payload = new.encode()?;
            let mut publish = Publish::new(&payload).priority(taken.priority());
            for (name, value) in taken.headers() {
                publish = publish.header(name, value);
            }
            // The delay after a failure goes on.
            if let Some(at) = rests_until {
                publish = publish.deliver_at(at);
            }
            let mut transaction = self.queue.begin();
            transaction.publish(topic, &publish)?;
            transaction.ack_lease(consumer, taken.id(), taken.lease())?;
            transaction.commit()?;
            Ok(())
        })();
        match committed {
            Ok(()) => {}
            Err(error @ DepotError::Queue(QueueError::LeaseLost(_))) => {
                finished.discard();
                return Err(error);
            }
            // It may be committed: neither the old bytes nor the new ones go.
            Err(error) => return Err(error),
        }
        self.note_moved(tenant, taken.id(), &old, new)?;
        Ok(true)
    }

    /// Brings the new place into the index, and removes the old bytes.
    fn note_moved(
        &self,
        tenant: &Arc<Tenant>,
        message: MessageId,
        old: &FileRecord,
        new: FileRecord,
    ) -> Result<(), DepotError> {
        let (id, new) = (new.id, Arc::new(new));
        let is_indexed = {
            let mut files = tenant.files();
            let file = files.get_mut(id);
            let is_indexed = file.is_some();
            if let Some(file) = file {
                file.record = new.clone();
                if file.message == Some(message) {
                    file.message = None;
                }
            }
            is_indexed
        };
        self.remove_bytes(garbage_of(old));
        if !is_indexed && self.recorded(tenant, id)?.is_none_or(|it| it.place != new.place) {
            // It ended while it moved.
            self.remove_bytes(garbage_of(&new));
        }
        self.ready.announce(tenant);
        Ok(())
    }

    fn move_kept(&self, met: &Met) -> Result<(), DepotError> {
        let (tenant, old) = (&met.tenant, &met.record);
        let mut source = FileReader::stored(self, old.clone())?;
        let _holding = self.upkeep.in_hand.hold(old.id);
        let (file, finished) = self.store_again(tenant, old, &mut source, || Ok(()))?;
        let number = tenant.number;
        let changed = self.history.record(|state| {
            let completed = state.completed(number, old.id).map(|it| it.file.place.clone());
            let kept = || state.kept_by_id(number, old.id).map(|it| it.place.clone());
            let is_same = completed.or_else(kept).is_some_and(|place| place == old.place);
            let record = is_same.then_some(match met.kind {
                MetKind::Completed(until) => {
                    Record::Completed { tenant: number, retained: Retained { file, until } }
                }
                _ => Record::Kept { tenant: number, file },
            });
            Ok::<_, DepotError>((is_same, record.into_iter().collect()))
        })?;
        if !changed.value {
            finished.discard();
        }
        self.remove_bytes(changed.garbage);
        Ok(())
    }

    /// Writes the content of a file to another volume, durably. Returns its record with the new
    /// place. `keep` is called before every piece.
    pub(crate) fn store_again(
        &self,
        tenant: &Tenant,
        record: &FileRecord,
        source: &mut FileReader,
        keep: impl FnMut() -> Result<(), DepotError>,
    ) -> Result<(FileRecord, Finished), DepotError> {
        let (new, finished) = self.write_again(tenant, record, source, keep)?;
        if let Err(error) = finished.make_durable() {
            finished.discard();
            return Err(error.into());
        }
        Ok((new, finished))
    }

    /// As [`Pool::store_again`], but nothing is durable yet.
    pub(super) fn write_again(
        &self,
        tenant: &Tenant,
        record: &FileRecord,
        source: &mut FileReader,
        mut keep: impl FnMut() -> Result<(), DepotError>,
    ) -> Result<(FileRecord, Finished), DepotError> {
        let from = record.place.stored().map(|stored| stored.volume);
        // A crash may have left bytes of an earlier try, which no record names.
        for volume in self.volumes.list() {
            if volume.state == VolumeState::Up && Some(volume.number) != from {
                self.volumes.remove(record.id, volume.number)?;
            }
        }
        let not: Vec<VolumeNumber> = from.into_iter().collect();
        let mut writer = self.volumes.begin(record.id, Some(record.bytes), &not)?;
        let buffer_bytes = record.bytes.clamp(1, COPY_BYTES as u64) as usize;
        let (mut buffer, mut offset, mut crc32c) = (vec![0; buffer_bytes], 0, 0);
        loop {
            // A large file does not keep the pool from being closed.
            self.check_open()?;
            keep()?;
            let read = source.read_at(offset, &mut buffer)?;
            if read == 0 {
                break;
            }
            writer.write(&buffer[..read])?;
            crc32c = crc32c::crc32c_append(crc32c, &buffer[..read]);
            offset += read as u64;
        }
        if (offset, crc32c) != (record.bytes, record.crc32c) {
            let why = format!("the content of {} is not what its record says", record.id);
            return Err(DepotError::Internal(why));
        }
        let finished = writer.finish(&record.describe(&tenant.name)?)?;
        let place = Place::Volume(finished.stored().clone());
        Ok((FileRecord { place, ..record.clone() }, finished))
    }
}

fn garbage_of(record: &FileRecord) -> Option<Garbage> {
    record.place.stored().map(|stored| Garbage { id: record.id, volume: stored.volume })
}

/// Finds the messages of files whose message is not known: of those that were published in a
/// transaction, or were delayed.
fn list_messages(tenant: &Tenant, consumer: &Consumer) -> Result<(), DepotError> {
    for message in consumer.unacknowledged()? {
        let message = message?;
        let Some((record, _)) = split_payload(message.payload()) else { continue };
        let id: FileId = record.id;
        let mut files = tenant.files();
        if let Some(file) = files.get_mut(id)
            && file.standing == Standing::Waiting
            && file.message.is_none_or(|known| known.lane >= LANES)
        {
            file.message = Some(message.id());
        }
    }
    Ok(())
}
