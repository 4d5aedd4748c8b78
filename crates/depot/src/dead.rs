//! Files that became dead letters: handed out as often as they may be, or refused.

use crate::active::{ActiveFile, Standing};
use crate::name::TenantName;
use crate::pool::Pool;
use crate::record::{FileRecord, split_payload};
use crate::tenant::Tenant;
use crate::work::{Held, dead_topic};
use crate::{DepotError, FileId};
use rialto_queue::{
    Consumer, GroupOptions, Message, MessageId, QueueError, REDRIVE_GROUP, Read, Reader, Start,
    dead_header,
};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// The most dead letters that a step of the index follows.
const STEP_LETTERS: usize = 1_024;
/// The most bytes of one page of dead letters.
const PAGE_BYTES: usize = 8 << 20;

/// A dead letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadFile {
    /// The file.
    pub record: Arc<FileRecord>,
    /// Why it was given up: `rejected`, `refused` or `unanswered`.
    pub reason: String,
    /// What the last worker said, if anything.
    pub detail: String,
    /// How often it was handed out.
    pub attempts: u16,
}

/// Where the index stands in the dead letters of a tenant.
#[derive(Default)]
pub(crate) struct DeadLetterCursor {
    reader: Mutex<Option<Reader>>,
    /// Letters of files that ended, to be taken out of the topic.
    ended: Mutex<Vec<Message>>,
}

fn text_of(message: &Message, header: &str) -> String {
    let bytes = message.header(header).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

fn attempts_of(message: &Message) -> u16 {
    text_of(message, dead_header::ATTEMPTS).parse().unwrap_or_default()
}

impl Pool {
    /// Brings the dead letters of a tenant into the index when the pool is opened.
    /// `met` gets the ended files that still have one.
    pub(crate) fn index_dead_letters(
        &self,
        tenant: &Arc<Tenant>,
        met: &mut HashSet<FileId>,
    ) -> Result<(), DepotError> {
        let topic = dead_topic(&tenant.name)?;
        if self.queue.options(&topic).is_err() {
            return Ok(());
        }
        let mut ended = Vec::new();
        // Those that were handed out again are acknowledged.
        for letter in self.dead_letter_consumer(&tenant.name)?.unacknowledged()? {
            let letter = letter?;
            let Some((record, _)) = split_payload(letter.payload()) else { continue };
            let (has_ended, is_indexed) = {
                let files = tenant.files();
                (files.has_ended(record.id), files.get(record.id).is_some())
            };
            if has_ended {
                // It is settled when the letters are followed.
                met.insert(record.id);
                ended.push(letter);
            } else if !is_indexed {
                note_dead(tenant, &letter);
            }
        }
        let reader = self.queue.reader(&topic, Start::Next)?;
        *tenant.dead_letters.reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader);
        tenant.dead_letters.ended.lock().unwrap_or_else(PoisonError::into_inner).extend(ended);
        Ok(())
    }

    /// Brings new dead letters of a tenant into the index.
    pub(crate) fn follow_dead_letters(&self, tenant: &Arc<Tenant>) -> Result<(), DepotError> {
        let ended = {
            let mut ended =
                tenant.dead_letters.ended.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *ended)
        };
        for letter in ended {
            self.settle_ended(tenant, &letter)?;
        }
        let mut reader = tenant.dead_letters.reader.lock().unwrap_or_else(PoisonError::into_inner);
        if reader.is_none() {
            *reader = match self.queue.reader(&dead_topic(&tenant.name)?, Start::Oldest) {
                Ok(reader) => Some(reader),
                Err(QueueError::UnknownTopic(_)) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
        }
        let Some(reader) = reader.as_mut() else { return Ok(()) };
        for _ in 0..STEP_LETTERS {
            match reader.try_next()? {
                None => break,
                Some(Read::Message(letter)) if has_ended(tenant, &letter) => {
                    self.settle_ended(tenant, &letter)?;
                }
                Some(Read::Message(letter)) => note_dead(tenant, &letter),
                // The bounds of dead letters drop none that was not redriven.
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Takes the letter of a file that ended out of its topic, and publishes the results that were
    /// recorded with its end: the last attempt was over before the file was acknowledged.
    fn settle_ended(&self, tenant: &Arc<Tenant>, letter: &Message) -> Result<(), DepotError> {
        let Some((record, _)) = split_payload(letter.payload()) else { return Ok(()) };
        if !self.confirm_end(record.id)? {
            // The next round does it.
            let mut ended =
                tenant.dead_letters.ended.lock().unwrap_or_else(PoisonError::into_inner);
            ended.push(letter.clone());
            return Ok(());
        }
        let consumer = self.dead_letter_consumer(&tenant.name)?;
        let Some(claimed) = consumer.claim(letter.id(), None)? else { return Ok(()) };
        let results = self.unpublished_results(tenant, record.id)?;
        match tenant.work().filter(|_| !results.is_empty()) {
            Some(work) => {
                let held = Held { message: claimed.id(), lease: claimed.lease() };
                self.publish_results(tenant, work, &consumer, held, &results)?;
            }
            None => consumer.ack(&claimed)?,
        }
        tenant.files().note_acknowledged([record.id]);
        Ok(())
    }

    /// The dead letters of a tenant, oldest first, at most `max`.
    pub(crate) fn dead_files(
        &self,
        tenant: &Arc<Tenant>,
        max: usize,
    ) -> Result<Vec<DeadFile>, DepotError> {
        let topic = dead_topic(&tenant.name)?;
        let letters = match self.queue.dead_letters(&topic, max, PAGE_BYTES) {
            Ok(letters) => letters,
            Err(QueueError::UnknownTopic(_)) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let files = tenant.files();
        let dead = |letter: &Message| {
            let (record, _) = split_payload(letter.payload())?;
            // One that was deleted stays in the topic until its message is dropped.
            (!files.has_ended(record.id)).then(|| DeadFile {
                record: Arc::new(record),
                reason: text_of(letter, dead_header::REASON),
                detail: text_of(letter, dead_header::DETAIL),
                attempts: attempts_of(letter),
            })
        };
        Ok(letters.iter().filter_map(dead).collect())
    }

    /// Lets at most `max` dead letters be handed out again. Returns their number.
    pub(crate) fn redrive(&self, tenant: &Arc<Tenant>, max: u64) -> Result<u64, DepotError> {
        let topic = dead_topic(&tenant.name)?;
        // The index has all letters, and those of files that ended are taken out of the topic.
        self.follow_dead_letters(tenant)?;
        let redriven = match self.queue.redrive(&topic, max, |_, _| ControlFlow::Continue(true)) {
            Ok(redriven) => redriven.sent,
            Err(QueueError::UnknownTopic(_)) => return Ok(0),
            Err(error) => return Err(error.into()),
        };
        if redriven > 0 {
            self.note_redriven(tenant)?;
        }
        self.ready.announce(tenant);
        Ok(redriven)
    }

    /// Dead files whose letter is acknowledged wait again. Their messages have new ids.
    fn note_redriven(&self, tenant: &Tenant) -> Result<(), DepotError> {
        let mut left = HashSet::new();
        for letter in self.dead_letter_consumer(&tenant.name)?.unacknowledged()? {
            left.insert(letter?.id());
        }
        let mut files = tenant.files();
        let dead = files.after(None).filter(|file| file.standing == Standing::Dead);
        let redriven = dead.filter(|file| file.message.is_none_or(|id| !left.contains(&id)));
        let redriven: Vec<_> = redriven.map(|file| file.record.id).collect();
        for id in redriven {
            if let Some(file) = files.get_mut(id) {
                (file.standing, file.message, file.attempts) = (Standing::Waiting, None, 0);
            }
        }
        Ok(())
    }

    /// Takes a dead letter of a deleted file out of its topic.
    pub(crate) fn drop_dead_letter(
        &self,
        tenant: &Tenant,
        letter: MessageId,
    ) -> Result<bool, DepotError> {
        let consumer = self.dead_letter_consumer(&tenant.name)?;
        let Some(claimed) = consumer.claim(letter, None)? else { return Ok(false) };
        consumer.ack(&claimed)?;
        Ok(true)
    }

    pub(crate) fn dead_letter_consumer(&self, tenant: &TenantName) -> Result<Consumer, DepotError> {
        let topic = dead_topic(tenant)?;
        // As the queue makes it for its own redrive.
        let options = GroupOptions { attempts_max: 0, ..GroupOptions::default() };
        self.queue.create_group(&topic, REDRIVE_GROUP, options)?;
        Ok(self.queue.consumer(&topic, REDRIVE_GROUP)?)
    }
}

fn has_ended(tenant: &Tenant, letter: &Message) -> bool {
    split_payload(letter.payload()).is_some_and(|(record, _)| tenant.files().has_ended(record.id))
}

/// Notes a dead letter in the index, unless its file was handed out again or deleted since.
fn note_dead(tenant: &Tenant, letter: &Message) {
    let Some((record, _)) = split_payload(letter.payload()) else { return };
    let mut files = tenant.files();
    if files.has_ended(record.id) {
        return;
    }
    let id = record.id;
    let died_as = text_of(letter, dead_header::ID).parse().ok();
    match files.get(id) {
        // It was handed out again since.
        Some(file) if file.message.is_some() && file.message != died_as => return,
        Some(_) => {}
        None => files.insert(ActiveFile::new(Arc::new(record), Standing::Dead)),
    }
    if let Some(file) = files.get_mut(id) {
        file.standing = Standing::Dead;
        file.message = Some(letter.id());
        file.attempts = attempts_of(letter);
    }
}
