//! The work on one claimed file, from its check to its completion.

use crate::answer::{
    ANSWER_ROW_BYTES_MAX, RowAnswer, RowOutcome, answer_csv, ended_early_csv, faults_csv,
    repeated_csv,
};
use crate::content::{ContentDigest, ContentKey};
use crate::counts::add;
use crate::error::WorkError;
use crate::exchange::Shared;
use crate::fault::FileFaults;
use crate::history::{Begun, Ended, Intention, Progress, Standing};
use crate::member::{member_of, orders_in, orders_out};
use crate::options::{FILE_BYTES_MAX, FileStep, ROWS_MAX, UNFINISHED_MAX};
use crate::order_file::{FileScope, OrderFile};
use crate::submit::{accounts_of, look_up, next_intention, submit};
use rialto_depot::{
    Claim, DepotError, DirectoryKind, FILE_NAME_BYTES_MAX, FileId, FileName, FileReader,
    FileRecord, NewFile, Upload, joined,
};
use rialto_model::{MemberId, Symbol};

/// The media type of answers.
const CSV: &str = "text/csv";
/// The length of the pieces in which answers are written.
const PIECE_BYTES: usize = 64 << 10;

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
        self.shared.homes.make(self.shared, self.member)?;
        if self.file().directory != orders_in() {
            let message = format!("Files of orders go into the directory {}.", orders_in());
            return self.refuse(&FileFaults::of_file(message));
        }
        let (bytes, bytes_max) = (self.file().bytes, self.bytes_max()?);
        if bytes > bytes_max {
            let message = format!(
                "The file has {bytes} bytes, and at most {bytes_max} are accepted; send it in parts."
            );
            return self.refuse(&FileFaults::of_file(message));
        }
        let content = self.shared.depot.read_claimed(self.claim)?.read_all()?;
        let key = ContentKey { member: self.member, digest: ContentDigest::of(&content) };
        let standing = self.shared.history.standing(&key)?;
        let names = self.shared.live.names();
        let accounts = accounts_of(self.shared, self.member);
        let sole = || accounts.first().copied().filter(|_| accounts.len() == 1);
        let (begun, only_account, rows_max) = match standing {
            Standing::Ended(ended, answer) => return self.answer_again(key, &ended, answer),
            // It was accepted under the limits and the accounts of its time.
            Standing::Begun(progress) => {
                let account = progress.only_account.or_else(sole);
                (Some(progress), account, ROWS_MAX)
            }
            Standing::New => (None, sole(), self.shared.limits.rows_max),
        };
        let listing = |symbol: &Symbol| names.by_symbol(symbol).copied();
        let scope = FileScope { listing: &listing, accounts: &accounts, only_account, rows_max };
        let file = match (OrderFile::read(&content, &scope), &begun) {
            (Ok(file), _) => file,
            (Err(faults), None) => return self.refuse(&faults),
            // A part of it is in the book: the member gets the answers that are recorded.
            (Err(faults), Some(progress)) => return self.end_early(key, progress.clone(), &faults),
        };
        drop(content);
        self.shared.step(FileStep::Checked);
        if begun.is_none() {
            self.check_unfinished(key)?;
        }
        // The answer must fit into the quotas before the first order is sent, and until the last.
        let mut upload = self.begin_answer()?;
        upload.reserve((file.rows.len() as u64 + 1) * ANSWER_ROW_BYTES_MAX)?;
        let progress = begun.unwrap_or_else(|| {
            let only_account = only_account.filter(|_| accounts.len() == 1);
            Progress { only_account, ..Progress::new(self.begun(count_of(&file))) }
        });
        let answers = self.send(key, &file, progress)?;
        write_pieces(&mut upload, &answer_csv(&file, &answers, &names))?;
        self.end(key, upload)?;
        count(self.shared, &answers);
        Ok(FileEnd::Answered { rows: answers.len() })
    }

    /// A content of this many rows, with this file and its answer.
    fn begun(&self, rows: u32) -> Begun {
        let answer = joined(&orders_out(), &answer_name(self.file(), ""));
        Begun { file: self.file().id.0, answer, rows }
    }

    /// The most bytes of this file. A content that was begun or answered was accepted under the limit of
    /// its time.
    fn bytes_max(&self) -> Result<u64, WorkError> {
        let begun = self.shared.history.unfinished(Some(self.member))?;
        let is_begun = begun.iter().any(|(_, file)| *file == self.file().id.0);
        let key = |sha256| ContentKey { member: self.member, digest: ContentDigest(sha256) };
        let is_known = match self.file().sha256.map(key) {
            Some(key) => !matches!(self.shared.history.standing(&key)?, Standing::New),
            None => false,
        };
        let is_accepted = is_begun || is_known;
        Ok(if is_accepted { FILE_BYTES_MAX } else { self.shared.limits.file_bytes_max })
    }

    /// Checks that a new content may be begun.
    fn check_unfinished(&self, key: ContentKey) -> Result<(), WorkError> {
        self.shared.end_deleted(Some(key.member))?;
        let unfinished = self.shared.history.unfinished(Some(key.member))?.len();
        if unfinished >= UNFINISHED_MAX {
            return Err(WorkError::TooManyUnfinished(unfinished));
        }
        Ok(())
    }

    /// Sends the rows that have no answer yet, batch by batch.
    fn send(
        &self,
        key: ContentKey,
        file: &OrderFile,
        progress: Progress,
    ) -> Result<Vec<RowAnswer>, WorkError> {
        let (history, rows) = (&self.shared.history, file.rows.len());
        let begun = self.begun(count_of(file));
        let only_account = progress.only_account;
        let mut answers = progress.answers;
        let mut next = match progress.intended {
            Some(intended) => Some(self.resume(key, begun, intended)?),
            None => {
                let next = next_intention(self.shared, answers.len(), rows);
                history.begin(key, begun, only_account, next)?;
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

    /// Continues a content with this file and an intention of an earlier process. A venue that lost the
    /// end of its journal is behind it: it has none of its commands, and gives their sequences to others.
    fn resume(
        &self,
        key: ContentKey,
        begun: Begun,
        intended: Intention,
    ) -> Result<Intention, WorkError> {
        let synced = self.shared.engine.marks().synced.0;
        let intended = Intention { after: intended.after.min(synced), ..intended };
        self.shared.history.begin(key, begun, None, Some(intended))?;
        Ok(intended)
    }

    fn begin_answer(&self) -> Result<Upload, WorkError> {
        Ok(self.shared.depot.begin_result(self.claim.token(), self.answer_file(""))?)
    }

    /// Completes the file, so that its answer exists exactly when it is completed.
    fn complete(&self, answer: Upload) -> Result<(), WorkError> {
        let result = answer.finish_result()?;
        self.shared.step(FileStep::ResultWritten);
        self.shared.depot.complete_with(self.claim.token(), vec![result])?;
        self.shared.step(FileStep::Completed);
        Ok(())
    }

    /// Completes the file of a begun content, which ends.
    fn end(&self, key: ContentKey, answer: Upload) -> Result<(), WorkError> {
        self.shared.history.answer_file(key, answer.id().0)?;
        self.complete(answer)?;
        self.shared.history.end(key)?;
        self.shared.step(FileStep::Ended);
        Ok(())
    }

    /// Ends a begun content whose file is not valid any more: what was sent is answered, and the rest
    /// is not sent.
    fn end_early(
        &self,
        key: ContentKey,
        progress: Progress,
        faults: &FileFaults,
    ) -> Result<FileEnd, WorkError> {
        let (file, rows) = (self.file().id, progress.begun.rows);
        tracing::error!(%file, "an order file that was begun is not valid any more: {faults}");
        let mut upload = self.begin_answer()?;
        let mut answers: Vec<_> = progress.answers.into_iter().map(Some).collect();
        match progress.intended {
            Some(intended) => {
                let intended = self.resume(key, self.begun(rows), intended)?;
                answers.extend(look_up(self.shared, key, progress.only_account, intended)?);
            }
            None => self.shared.history.begin(key, self.begun(rows), None, None)?,
        }
        write_pieces(&mut upload, &ended_early_csv(key.digest, &answers, rows))?;
        self.end(key, upload)?;
        let answers: Vec<RowAnswer> = answers.into_iter().flatten().collect();
        count(self.shared, &answers);
        Ok(FileEnd::Answered { rows: answers.len() })
    }

    /// Answers a content that was answered before: with the first answer, if it is still kept.
    fn answer_again(
        &self,
        key: ContentKey,
        ended: &Ended,
        answer: Option<u128>,
    ) -> Result<FileEnd, WorkError> {
        let (depot, tenant) = (&self.shared.depot, self.claim.tenant());
        let first = match depot.file_at(tenant, &ended.answer) {
            // The member may have put a file of its own there, of any length.
            Ok(kept) if Some(kept.record.id.0) != answer => None,
            Ok(kept) => Some(depot.open_file(tenant, kept.record.id)?),
            Err(DepotError::UnknownFile { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let mut upload = self.begin_answer()?;
        match first {
            Some(first) => copy(first, &mut upload)?,
            None => {
                write_pieces(&mut upload, &repeated_csv(key.digest, ended))?;
                // Rows of a copy were counted with the first answer.
                add(&self.shared.counts.rows_repeated, ended.answered.into());
                add(&self.shared.counts.rows_unknown, ended.in_doubt.into());
            }
        }
        self.complete(upload)?;
        Ok(FileEnd::Repeated)
    }

    /// Makes a bad file a dead letter; its errors are on the shelf before.
    fn refuse(&self, faults: &FileFaults) -> Result<FileEnd, WorkError> {
        let depot = &self.shared.depot;
        let file = self.answer_file(".errors");
        match depot.put_bytes(self.claim.tenant(), file, &faults_csv(faults)) {
            // Without room for the list, the reason of the dead letter has the first error.
            Ok(_) | Err(DepotError::Quota { .. }) => {}
            // The shelf is work, and this may be a file that the member put there.
            Err(DepotError::WrongKind { .. }) if self.file().directory != orders_in() => {}
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
            // In a work directory it would be claimed itself.
            kind: Some(DirectoryKind::Shelf),
            metadata: vec![
                ("order-file".to_owned(), file.id.to_string()),
                ("order-file-name".to_owned(), file.name.to_string()),
            ],
            ..NewFile::new(orders_out(), answer_name(file, kind))
        }
    }
}

/// Writes a content. The rates of the depot are kept piece by piece.
fn write_pieces(upload: &mut Upload, content: &[u8]) -> Result<(), DepotError> {
    content.chunks(PIECE_BYTES).try_for_each(|piece| upload.write(piece))
}

fn copy(mut from: FileReader, to: &mut Upload) -> Result<(), DepotError> {
    let (mut piece, mut at) = (vec![0; PIECE_BYTES], 0);
    loop {
        let read = from.read_at(at, &mut piece)?;
        let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else {
            return Ok(());
        };
        to.write(bytes)?;
        at += read as u64;
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

fn count_of(file: &OrderFile) -> u32 {
    u32::try_from(file.rows.len()).unwrap_or(u32::MAX)
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
