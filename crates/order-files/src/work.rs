//! The work on one claimed file, from its check to its completion.

use crate::answer::{
    ANSWER_ROW_BYTES_MAX, RowAnswer, RowOutcome, answer_csv, faults_csv, repeated_csv,
};
use crate::content::{ContentDigest, ContentKey};
use crate::counts::add;
use crate::error::WorkError;
use crate::exchange::Shared;
use crate::fault::FileFaults;
use crate::history::{Begun, Ended, Intention, Progress, Standing};
use crate::member::{member_of, orders_in, orders_out};
use crate::options::{FileStep, ROWS_MAX, UNFINISHED_MAX};
use crate::order_file::{FileScope, OrderFile};
use crate::submit::{accounts_of, next_intention, submit};
use rialto_depot::{
    Claim, DepotError, FILE_NAME_BYTES_MAX, FileId, FileName, FileRecord, NewFile, joined,
};
use rialto_model::{MemberId, Symbol};

/// The media type of answers.
const CSV: &str = "text/csv";

/// How a file ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileEnd {
    /// Its rows were sent and answered.
    Answered { rows: usize },
    /// Its content had been answered before.
    Repeated,
    /// It is bad, and a dead letter.
    Refused { faults: u64 },
}

/// A claimed file of a member.
pub(crate) struct FileWork<'a> {
    shared: &'a Shared,
    claim: &'a Claim,
    member: MemberId,
}

impl<'a> FileWork<'a> {
    pub(crate) fn new(shared: &'a Shared, claim: &'a Claim) -> Option<FileWork<'a>> {
        let member = member_of(claim.tenant())?;
        Some(FileWork { shared, claim, member })
    }

    fn file(&self) -> &FileRecord {
        self.claim.file()
    }

    /// Does all of it.
    pub(crate) fn run(&self) -> Result<FileEnd, WorkError> {
        self.shared.step(FileStep::Claimed);
        if let Some(problem) = self.claim.problem() {
            return Err(WorkError::Refused(problem.to_owned()));
        }
        if self.file().directory != orders_in() {
            // Without a list of errors: it would be such a file itself if its shelf were work.
            let reason = format!("files of orders go into the directory {}", orders_in());
            self.shared.depot.refuse(self.claim.token(), &reason)?;
            return Ok(FileEnd::Refused { faults: 1 });
        }
        self.shared.homes.make(self.shared, self.member)?;
        let (bytes, bytes_max) = (self.file().bytes, self.shared.limits.file_bytes_max);
        if bytes > bytes_max {
            let message = format!(
                "The file has {bytes} bytes, and at most {bytes_max} are accepted; send it in parts."
            );
            return self.refuse(&FileFaults::of_file(message));
        }
        let content = self.shared.depot.read_claimed(self.claim)?.read_all()?;
        let key = ContentKey { member: self.member, digest: ContentDigest::of(&content) };
        let standing = self.shared.history.standing(&key)?;
        if let Standing::Ended(ended) = standing {
            return self.answer_again(key, &ended);
        }
        let rows_max = match standing {
            // It was accepted under the limits of its time.
            Standing::Begun(_) => ROWS_MAX,
            _ => self.shared.limits.rows_max,
        };
        let names = self.shared.live.names();
        let accounts = accounts_of(self.shared, self.member);
        let listing = |symbol: &Symbol| names.by_symbol(symbol).copied();
        let scope = FileScope { listing: &listing, accounts: &accounts, rows_max };
        let file = match OrderFile::read(&content, &scope) {
            Ok(file) => file,
            Err(faults) => return self.refuse(&faults),
        };
        drop(content);
        self.shared.step(FileStep::Checked);
        let progress = match standing {
            Standing::Begun(progress) => progress,
            _ => self.new_progress(key, &file)?,
        };
        let answers = self.send(key, &file, progress)?;
        self.complete(&answer_csv(&file, &answers, &names))?;
        self.shared.step(FileStep::Completed);
        self.shared.history.end(key)?;
        self.shared.step(FileStep::Ended);
        count(self.shared, &answers);
        Ok(FileEnd::Answered { rows: answers.len() })
    }

    fn begun(&self, rows: usize) -> Begun {
        let rows = u32::try_from(rows).unwrap_or(u32::MAX);
        let answer = joined(&orders_out(), &answer_name(self.file(), ""));
        Begun { file: self.file().id.0, answer, rows }
    }

    /// Checks that a new content may be begun.
    fn new_progress(&self, key: ContentKey, file: &OrderFile) -> Result<Progress, WorkError> {
        self.shared.end_deleted(Some(key.member))?;
        let unfinished = self.shared.history.unfinished(Some(key.member))?.len();
        if unfinished >= UNFINISHED_MAX {
            return Err(WorkError::TooManyUnfinished(unfinished));
        }
        // The answer must fit into the quotas before the first order is sent.
        let bytes = (file.rows.len() as u64 + 1) * ANSWER_ROW_BYTES_MAX;
        let room = NewFile { bytes: Some(bytes), ..self.answer_file("") };
        drop(self.shared.depot.begin_result(self.claim.token(), room)?);
        Ok(Progress { begun: self.begun(file.rows.len()), intended: None, answers: Vec::new() })
    }

    /// Sends the rows that have no answer yet, batch by batch.
    fn send(
        &self,
        key: ContentKey,
        file: &OrderFile,
        progress: Progress,
    ) -> Result<Vec<RowAnswer>, WorkError> {
        let (history, rows) = (&self.shared.history, file.rows.len());
        let mut answers = progress.answers;
        let mut next = match progress.intended {
            Some(intended) => Some(self.still_valid(key, intended, rows)?),
            None => {
                let next = next_intention(self.shared, answers.len(), rows);
                history.begin(key, self.begun(rows), next)?;
                next
            }
        };
        while let Some(intended) = next {
            self.shared.step(FileStep::Intended);
            let batch = submit(self.shared, self.member, file, intended)?;
            let first = intended.first;
            answers.extend_from_slice(&batch);
            next = next_intention(self.shared, answers.len(), rows);
            history.answer(key, first, batch, next)?;
            self.shared.step(FileStep::Answered);
        }
        Ok(answers)
    }

    /// An intention of an earlier process. A venue that lost the end of its journal is behind it: it
    /// has none of its commands, and gives their sequences to others.
    fn still_valid(
        &self,
        key: ContentKey,
        intended: Intention,
        rows: usize,
    ) -> Result<Intention, WorkError> {
        let synced = self.shared.engine.marks().synced.0;
        let intended = Intention { after: intended.after.min(synced), ..intended };
        self.shared.history.begin(key, self.begun(rows), Some(intended))?;
        Ok(intended)
    }

    /// Completes the file, so that its answer exists exactly when it is completed.
    fn complete(&self, answer: &[u8]) -> Result<(), WorkError> {
        let depot = &self.shared.depot;
        let mut upload = depot.begin_result(self.claim.token(), self.answer_file(""))?;
        upload.write(answer)?;
        let result = upload.finish_result()?;
        self.shared.step(FileStep::ResultWritten);
        depot.complete_with(self.claim.token(), vec![result])?;
        Ok(())
    }

    /// Answers a content that was answered before: with the first answer, if it is still kept.
    fn answer_again(&self, key: ContentKey, ended: &Ended) -> Result<FileEnd, WorkError> {
        let depot = &self.shared.depot;
        let answer = match depot.file_at(self.claim.tenant(), &ended.answer) {
            Ok(first) => depot.open_file(self.claim.tenant(), first.record.id)?.read_all()?,
            Err(DepotError::UnknownFile { .. }) => repeated_csv(key.digest, ended),
            Err(error) => return Err(error.into()),
        };
        self.complete(&answer)?;
        self.shared.step(FileStep::Completed);
        Ok(FileEnd::Repeated)
    }

    /// Makes a bad file a dead letter; its errors are on the shelf before.
    fn refuse(&self, faults: &FileFaults) -> Result<FileEnd, WorkError> {
        let depot = &self.shared.depot;
        let file = self.answer_file(".errors");
        match depot.put_bytes(self.claim.tenant(), file, &faults_csv(faults)) {
            // Without room for the list, the reason of the dead letter has the first error.
            Ok(_) | Err(DepotError::Quota { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        self.shared.step(FileStep::FaultsKept);
        depot.refuse(self.claim.token(), &faults.to_string())?;
        Ok(FileEnd::Refused { faults: faults.total() })
    }

    fn answer_file(&self, kind: &str) -> NewFile {
        let file = self.file();
        NewFile {
            content_type: CSV.to_owned(),
            metadata: vec![
                ("order-file".to_owned(), file.id.to_string()),
                ("order-file-name".to_owned(), file.name.to_string()),
            ],
            ..NewFile::new(orders_out(), answer_name(file, kind))
        }
    }
}

/// The name of the answer to a file: its name without `.csv`, its id, `.errors` for errors, `.csv`.
fn answer_name(file: &FileRecord, kind: &str) -> FileName {
    let end = format!(".{}{kind}.csv", file.id);
    let stem = file.name.as_str();
    let stem = stem.strip_suffix(".csv").filter(|stem| !stem.is_empty()).unwrap_or(stem);
    let room = FILE_NAME_BYTES_MAX - end.len();
    let cut = (0..=room.min(stem.len())).rev().find(|at| stem.is_char_boundary(*at)).unwrap_or(0);
    let stem = stem.get(..cut).unwrap_or_default();
    FileName::new(&format!("{stem}{end}"))
        .expect("a valid name that is cut, with digits and dots behind it, is valid")
}

/// Whether the depot has a file, in whatever state.
pub(crate) fn has_file(shared: &Shared, key: &ContentKey, file: u128) -> bool {
    shared.depot.has_file(&crate::member::tenant_of(key.member), FileId(file))
}

fn count(shared: &Shared, answers: &[RowAnswer]) {
    let counts = &shared.counts;
    let of = |wanted: fn(&RowOutcome) -> bool| {
        answers.iter().filter(|answer| wanted(&answer.outcome)).count() as u64
    };
    let is_rejected = |outcome: &RowOutcome| matches!(outcome, RowOutcome::Rejected { .. });
    add(&counts.rows_rejected, of(is_rejected));
    add(&counts.rows_repeated, of(|outcome| matches!(outcome, RowOutcome::Repeated { .. })));
    add(&counts.rows_unknown, of(|outcome| *outcome == RowOutcome::Unknown));
    add(&counts.rows_entered, of(|outcome| matches!(outcome, RowOutcome::Entered { .. })));
}
