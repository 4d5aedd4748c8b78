//! The state that the records are folded into, and its images.

use super::record::{Begun, Ended, Intention, Record};
use crate::answer::RowAnswer;
use crate::content::{ContentDigest, ContentKey};
use rialto_model::{AccountId, MemberId};
use rialto_statelog::{InvalidRecord, LoggedState, PendingRecords, StateLogError, Ticket};
use std::collections::{BTreeMap, HashMap};

/// The most answers of one record.
const ANSWERS_PER_RECORD: usize = 1_024;
/// About what an answer and an ended content take in the log.
const ANSWER_BYTES: usize = 24;
const ENDED_BYTES: usize = 160;

/// A content whose rows are being sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) begun: Begun,
    /// The rows that were recorded as going to be sent, behind those with answers.
    pub(crate) intended: Option<Intention>,
    /// The answers to the first rows.
    pub(crate) answers: Vec<RowAnswer>,
    /// The account of rows that name none.
    pub(crate) only_account: Option<AccountId>,
    /// The file that is going to be the answer.
    pub(crate) answer_file: Option<u128>,
}

impl Progress {
    pub(crate) fn new(begun: Begun) -> Progress {
        let (intended, only_account, answer_file) = (None, None, None);
        Progress { begun, intended, answers: Vec::new(), only_account, answer_file }
    }

    /// The content as it is remembered if it ends now.
    pub(crate) fn ended(&self, number: u64) -> Ended {
        let Begun { answer, rows, .. } = self.begun.clone();
        let answered = u32::try_from(self.answers.len()).unwrap_or(u32::MAX);
        let in_doubt = self.intended.map_or(0, |intended| intended.rows);
        Ended { number, answer, rows, answered, in_doubt }
    }
}

/// The answered contents of a member.
#[derive(Debug, Default)]
struct Remembered {
    /// With the id of the answer, if that was recorded.
    by_digest: HashMap<ContentDigest, (Ended, Option<u128>)>,
    by_number: BTreeMap<u64, ContentDigest>,
}

/// What is known of contents.
#[derive(Debug)]
pub(crate) struct State {
    unfinished: BTreeMap<ContentKey, Progress>,
    ended: BTreeMap<MemberId, Remembered>,
    next_number: u64,
    /// The most contents of a member that are remembered.
    remembered_max: usize,
    answers: usize,
    ended_count: usize,
}

/// What a checkpoint has still to repeat.
pub(crate) struct Cursor {
    unfinished: Vec<ContentKey>,
    ended: Vec<ContentKey>,
}

impl State {
    pub(super) fn new(remembered_max: usize) -> State {
        State {
            unfinished: BTreeMap::new(),
            ended: BTreeMap::new(),
            next_number: 1,
            remembered_max: remembered_max.max(1),
            answers: 0,
            ended_count: 0,
        }
    }

    pub(crate) fn progress(&self, key: &ContentKey) -> Option<&Progress> {
        self.unfinished.get(key)
    }

    pub(crate) fn ended(&self, key: &ContentKey) -> Option<&(Ended, Option<u128>)> {
        self.ended.get(&key.member)?.by_digest.get(&key.digest)
    }

    pub(crate) fn unfinished(&self) -> impl Iterator<Item = (&ContentKey, &Progress)> {
        self.unfinished.iter()
    }

    pub(crate) fn next_number(&self) -> u64 {
        self.next_number
    }

    /// Appends a record, and applies it.
    pub(super) fn record(
        &mut self,
        record: Record,
        records: &mut PendingRecords,
    ) -> Result<Ticket, StateLogError> {
        let ticket = append(&record, records)?;
        self.apply(record);
        Ok(ticket)
    }

    /// A change of a content that is not known is one whose image follows.
    fn apply(&mut self, record: Record) {
        match record {
            Record::Begun(key, begun) => match self.unfinished.get_mut(&key) {
                Some(progress) => progress.begun = begun,
                None => {
                    self.unfinished.insert(key, Progress::new(begun));
                }
            },
            Record::Image(key, begun) => {
                self.forget_progress(&key);
                self.unfinished.insert(key, Progress::new(begun));
            }
            Record::Intended(key, intention) => {
                if let Some(progress) = self.unfinished.get_mut(&key) {
                    progress.intended = Some(intention);
                }
            }
            Record::Answered { key, first, answers } => {
                if let Some(progress) = self.unfinished.get_mut(&key)
                    && progress.answers.len() == first as usize
                {
                    self.answers += answers.len();
                    progress.answers.extend(answers);
                    progress.intended = None;
                }
            }
            Record::Ended(key, ended) => {
                self.forget_progress(&key);
                self.remember(&key, ended);
            }
            Record::OnlyAccount(key, account) => {
                if let Some(progress) = self.unfinished.get_mut(&key) {
                    progress.only_account = Some(account);
                }
            }
            Record::AnswerFile(key, file) => {
                if let Some(progress) = self.unfinished.get_mut(&key) {
                    progress.answer_file = Some(file);
                } else if let Some(of_member) = self.ended.get_mut(&key.member)
                    && let Some((_, answer)) = of_member.by_digest.get_mut(&key.digest)
                {
                    *answer = Some(file);
                }
            }
        }
    }

    fn forget_progress(&mut self, key: &ContentKey) {
        if let Some(progress) = self.unfinished.remove(key) {
            self.answers -= progress.answers.len();
        }
    }

    fn remember(&mut self, key: &ContentKey, ended: Ended) {
        self.next_number = self.next_number.max(ended.number + 1);
        let of_member = self.ended.entry(key.member).or_default();
        let number = ended.number;
        if let Some((before, _)) = of_member.by_digest.insert(key.digest, (ended, None)) {
            of_member.by_number.remove(&before.number);
            self.ended_count -= 1;
        }
        of_member.by_number.insert(number, key.digest);
        self.ended_count += 1;
        while of_member.by_number.len() > self.remembered_max
            && let Some((_, oldest)) = of_member.by_number.pop_first()
        {
            of_member.by_digest.remove(&oldest);
            self.ended_count -= 1;
        }
    }

    fn images_of_progress(
        &self,
        key: &ContentKey,
        records: &mut PendingRecords,
    ) -> Result<usize, StateLogError> {
        let Some(Progress { begun, intended, answers, only_account, answer_file }) =
            self.unfinished.get(key)
        else {
            return Ok(0);
        };
        append(&Record::Image(*key, begun.clone()), records)?;
        if let Some(account) = only_account {
            append(&Record::OnlyAccount(*key, *account), records)?;
        }
        if let Some(file) = answer_file {
            append(&Record::AnswerFile(*key, *file), records)?;
        }
        for (nth, chunk) in answers.chunks(ANSWERS_PER_RECORD).enumerate() {
            let first = u32::try_from(nth * ANSWERS_PER_RECORD).unwrap_or(u32::MAX);
            append(&Record::Answered { key: *key, first, answers: chunk.to_vec() }, records)?;
        }
        if let Some(intended) = intended {
            append(&Record::Intended(*key, *intended), records)?;
        }
        Ok(answers.len() * ANSWER_BYTES + ENDED_BYTES)
    }
}

fn append(record: &Record, records: &mut PendingRecords) -> Result<Ticket, StateLogError> {
    let encoded = postcard::to_allocvec(record)
        .map_err(|_| StateLogError::Encoding { len_max: rialto_statelog::RECORD_BYTES_MAX })?;
    records.append_bytes(&encoded)
}

impl LoggedState for State {
    type Cursor = Cursor;

    fn read(&mut self, seq: u64, record: &[u8]) -> Result<(), InvalidRecord> {
        let record =
            postcard::from_bytes(record).map_err(|error| InvalidRecord::new(seq, error))?;
        self.apply(record);
        Ok(())
    }

    fn weight(&self) -> usize {
        self.answers * ANSWER_BYTES + (self.ended_count + self.unfinished.len()) * ENDED_BYTES
    }

    fn begin_checkpoint(&self) -> Cursor {
        let ended = self.ended.iter().flat_map(|(member, remembered)| {
            let digests = remembered.by_number.values();
            digests.map(|digest| ContentKey { member: *member, digest: *digest })
        });
        Cursor { unfinished: self.unfinished.keys().copied().collect(), ended: ended.collect() }
    }

    fn write_images(
        &self,
        cursor: &mut Cursor,
        records: &mut PendingRecords,
        bytes: usize,
    ) -> Result<bool, StateLogError> {
        let mut written = 0;
        while written < bytes {
            if let Some(key) = cursor.unfinished.pop() {
                // All of it at once, so that no change comes in between.
                written += self.images_of_progress(&key, records)?;
            } else if let Some(key) = cursor.ended.pop() {
                if let Some((ended, answer)) = self.ended(&key) {
                    append(&Record::Ended(key, ended.clone()), records)?;
                    if let Some(file) = answer {
                        append(&Record::AnswerFile(key, *file), records)?;
                    }
                    written += ENDED_BYTES;
                }
            } else {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::RowOutcome;
    use rialto_model::RejectReason;

    fn key() -> ContentKey {
        ContentKey { member: MemberId(1), digest: ContentDigest([7; 32]) }
    }

    /// The records of a history from before variants 5 and 6, as they are stored.
    fn old_records() -> Vec<Vec<u8>> {
        let keyed = |variant: u8, rest: &[u8]| {
            let mut record = vec![variant, 1];
            record.extend([7; 32]);
            record.extend(rest);
            record
        };
        vec![
            // The file 9, the path `a`, three rows.
            keyed(0, &[9, 1, b'a', 3]),
            // Rows from 0, two of them, behind the sequence 5.
            keyed(1, &[0, 2, 5]),
            // From 0: one rejected at sequence 6 and time 8, one unknown.
            keyed(2, &[0, 2, 6, 8, 1, 0, 0, 0, 3]),
            // The number 4, the path `a`, three rows, two answered, none in doubt.
            keyed(3, &[4, 1, b'a', 3, 2, 0]),
        ]
    }

    #[test]
    fn a_content_that_ended_before_its_answer_was_recorded_has_no_known_answer() {
        let mut state = State::new(10);
        let records = old_records();
        for (seq, record) in records.iter().take(3).enumerate() {
            state.read(seq as u64, record).unwrap();
        }
        let outcomes: Vec<RowOutcome> =
            state.progress(&key()).unwrap().answers.iter().map(|it| it.outcome).collect();
        let reason = RejectReason::ALL[0];
        assert_eq!(outcomes, [RowOutcome::Rejected { reason }, RowOutcome::Unknown]);
        state.read(3, &records[3]).unwrap();
        assert_eq!(state.progress(&key()), None);
        let ended = Ended { number: 4, answer: "a".to_owned(), rows: 3, answered: 2, in_doubt: 0 };
        assert_eq!(state.ended(&key()), Some(&(ended.clone(), None)));
        // What is known of its rows: they were answered, or not sent.
        let csv = crate::answer::repeated_csv(key().digest, &ended);
        let csv = String::from_utf8(csv).unwrap();
        let statuses: Vec<&str> =
            csv.lines().skip(1).map(|line| line.split(',').nth(7).unwrap()).collect();
        assert_eq!(statuses, ["repeated", "repeated", "not_entered"]);
    }
}
