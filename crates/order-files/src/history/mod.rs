//! What was sent and answered of each content, durably.
//!
//! A content has a digest and a member. While its rows are sent, the history knows which rows are going
//! to be sent and the answers to those before them. When it has ended, the history remembers where its
//! answer is: a bounded number of contents for each member.

mod record;
mod state;

pub(crate) use record::{Begun, Ended, Intention};
pub(crate) use state::Progress;

use crate::answer::RowAnswer;
use crate::content::ContentKey;
use record::{FORMAT_VERSION, Record};
use rialto_clock::Timestamp;
use rialto_disk::Disk;
use rialto_log::{KeyRing, Sealing};
use rialto_model::{AccountId, MemberId};
use rialto_statelog::{Level, StateLog, StateLogError, StateLogOptions};
use state::State;
use std::path::Path;
use std::sync::Arc;

/// The length of a file of the log: a venue has few files of orders.
const SEGMENT_BYTES: u64 = 4 << 20;
/// The log is compacted when it has grown by this much.
const CHECKPOINT_BYTES: u64 = 32 << 20;

/// How the history is stored.
#[derive(Clone)]
pub(crate) struct HistoryOptions {
    pub(crate) sealing: Sealing,
    pub(crate) keys: KeyRing,
    pub(crate) salt: [u8; 16],
    pub(crate) remembered_max: usize,
}

/// The history. Every change is synced when its call returns.
pub(crate) struct History {
    log: StateLog<State>,
}

/// What is known of a content.
pub(crate) enum Standing {
    New,
    Begun(Progress),
    /// With the id of its answer, if that was recorded.
    Ended(Ended, Option<u128>),
}

impl History {
    pub(crate) fn open(
        disk: Arc<dyn Disk>,
        dir: &Path,
        options: HistoryOptions,
    ) -> Result<History, StateLogError> {
        let HistoryOptions { sealing, keys, salt, remembered_max } = options;
        let log_options = StateLogOptions {
            segment_bytes: SEGMENT_BYTES,
            checkpoint_bytes: CHECKPOINT_BYTES,
            sealing,
            keys,
            salt,
            ..StateLogOptions::new(Level::Synced, FORMAT_VERSION)
        };
        let log = StateLog::open(disk, dir, log_options, State::new(remembered_max))?;
        Ok(History { log })
    }

    pub(crate) fn standing(&self, key: &ContentKey) -> Result<Standing, StateLogError> {
        self.log.read(|state| match (state.progress(key), state.ended(key)) {
            (Some(progress), _) => Standing::Begun(progress.clone()),
            (None, Some((ended, answer))) => Standing::Ended(ended.clone(), *answer),
            (None, None) => Standing::New,
        })
    }

    /// The contents that were begun and have not ended, with the ids of their files; of all members
    /// or of one.
    pub(crate) fn unfinished(
        &self,
        member: Option<MemberId>,
    ) -> Result<Vec<(ContentKey, u128)>, StateLogError> {
        self.log.read(|state| {
            let unfinished = state.unfinished();
            let unfinished = unfinished.filter(|(key, _)| member.is_none_or(|it| it == key.member));
            unfinished.map(|(key, progress)| (*key, progress.begun.file)).collect()
        })
    }

    /// Begins a content, or continues it with another file. The intention to send its next rows is
    /// part of the same write.
    pub(crate) fn begin(
        &self,
        key: ContentKey,
        begun: Begun,
        only_account: Option<AccountId>,
        next: Option<Intention>,
    ) -> Result<(), StateLogError> {
        let account = only_account.map(|account| Record::OnlyAccount(key, account));
        let next = next.map(|next| Record::Intended(key, next));
        self.write([Record::Begun(key, begun)].into_iter().chain(account).chain(next))
    }

    /// Records the file that is going to be the answer to a begun content.
    pub(crate) fn answer_file(&self, key: ContentKey, file: u128) -> Result<(), StateLogError> {
        self.write([Record::AnswerFile(key, file)])
    }

    /// Records answers, and the rows that are going to be sent next.
    pub(crate) fn answer(
        &self,
        key: ContentKey,
        first: u32,
        answers: Vec<RowAnswer>,
        next: Option<Intention>,
    ) -> Result<(), StateLogError> {
        let next = next.map(|next| Record::Intended(key, next));
        self.write([Record::Answered { key, first, answers }].into_iter().chain(next))
    }

    /// Records that a begun content has ended.
    pub(crate) fn end(&self, key: ContentKey) -> Result<(), StateLogError> {
        let ticket = self.log.change(|state, records| {
            let Some(progress) = state.progress(&key) else { return Ok(None) };
            let ended = progress.ended(state.next_number());
            let answer = progress.answer_file.map(|file| Record::AnswerFile(key, file));
            let mut ticket = state.record(Record::Ended(key, ended), records)?;
            if let Some(answer) = answer {
                ticket = state.record(answer, records)?;
            }
            Ok::<_, StateLogError>(Some(ticket))
        })?;
        ticket.map_or(Ok(()), |ticket| self.log.commit(ticket))
    }

    fn write(&self, changes: impl IntoIterator<Item = Record>) -> Result<(), StateLogError> {
        let ticket = self.log.change(|state, records| {
            let mut last = None;
            for change in changes {
                last = Some(state.record(change, records)?);
            }
            Ok::<_, StateLogError>(last)
        })?;
        ticket.map_or(Ok(()), |ticket| self.log.commit(ticket))
    }

    /// Does a bounded piece of housekeeping.
    pub(crate) fn maintain(&self, now: Timestamp) -> Result<(), StateLogError> {
        self.log.maintain(now)
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.log.failure()
    }
}
