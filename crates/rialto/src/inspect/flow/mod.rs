//! `rialto flow`: what requests and flows did, as the recorder of a venue wrote it down.

mod frames;
mod list;
mod past;
mod replay;
mod screen;
mod show;

use super::output;
use crate::terminal::note;
use crate::{Error, tell_all};
use rialto_disk::RealDisk;
use rialto_ident::Id;
use rialto_recorder::{Record, RecordId, Recordings, Tree};
use std::path::{Path, PathBuf};

/// The directory of the records in a data directory.
pub(crate) const RECORDINGS_DIR: &str = "recordings";

/// Show recorded requests and flows of a venue, step by step. Reads the records in the venue's data
/// directory (section `recorder` of the configuration), and changes nothing. The venue may be
/// running.
#[derive(Debug, clap::Args)]
pub struct FlowArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List records, the newest last.
    Ls(list::Args),
    /// Show one record as a tree, with times and variables.
    Show(show::Args),
    /// Step through one record, forward and back, with the venue's state where it changed.
    Replay(replay::Args),
}

/// Runs the command.
///
/// # Errors
/// The directory cannot be read, or has no such record.
pub fn run(args: &FlowArgs) -> Result<(), Error> {
    match &args.what {
        What::Ls(args) => list::run(args),
        What::Show(args) => show::run(args),
        What::Replay(args) => replay::run(args),
    }
}

/// The records of a data directory. Unreadable ones are noted on standard error.
fn read(data: &Path) -> Result<Recordings, Error> {
    if !data.is_dir() {
        return Err(Error::Usage(format!("{} is not a directory", data.display())));
    }
    let recordings = Recordings::read(&RealDisk::new(), &data.join(RECORDINGS_DIR))
        .map_err(|error| Error::Failed(tell_all(&error)))?;
    for unreadable in recordings.unreadable() {
        note(format_args!("skipped: {unreadable}"));
    }
    Ok(recordings)
}

/// A record and its data directory.
#[derive(Debug, clap::Args)]
struct Which {
    /// The number of a record, as `ls` shows it; the id of a request, as in its answer's
    /// `X-Request-Id`; or the id of a run of a flow, such as w-7-rent. A resumed run has several
    /// records: the newest is shown.
    id: String,
    /// The data directory.
    #[arg(long)]
    data: PathBuf,
}

impl Which {
    /// The record with its nested records; for a request, from the outermost record.
    fn tree(&self) -> Result<Tree, Error> {
        let recordings = read(&self.data)?;
        let id = find(&recordings, &self.id).ok_or_else(|| {
            let told = match recordings.is_empty() {
                true => "the directory has no records".to_owned(),
                false => "`rialto flow ls` lists the records".to_owned(),
            };
            Error::Usage(format!("no record {} in {}; {told}", self.id, self.data.display()))
        })?;
        let gone = || Error::Usage(format!("record {id} was overwritten meanwhile"));
        recordings.tree(id).ok_or_else(gone)
    }
}

fn find(recordings: &Recordings, text: &str) -> Option<RecordId> {
    let number = text.parse().ok();
    if let Some(record) = number.and_then(|number| recordings.get(RecordId(number))) {
        return Some(record.id());
    }
    let runs = |record: &&Record| record.subject().flow.is_some_and(|flow| flow.as_str() == text);
    if let Some(run) = recordings.iter().rfind(runs) {
        return Some(run.id());
    }
    let request = number.or_else(|| Id::from_base32(text).ok().map(Id::get))?;
    let asked = |record: &&Record| request != 0 && record.subject().request_id == request;
    recordings.iter().find(asked).map(Record::id)
}

/// The id of a request in the form of `X-Request-Id`.
fn request_id(record: &Record) -> Option<String> {
    let id = Id::new(record.subject().request_id).filter(|id| id.get() != 0)?;
    Some(id.base32().as_str().to_owned())
}

/// The result of a record, in a word or two.
fn result(record: &Record) -> String {
    use rialto_recorder::RecordEnding;
    match record.ending() {
        None => "under way".to_owned(),
        Some(RecordEnding::Succeeded) => "ok".to_owned(),
        Some(RecordEnding::Failed { code, .. }) => format!("failed: {code}"),
        Some(RecordEnding::Abandoned) => "abandoned".to_owned(),
        Some(RecordEnding::Panicked) => "panicked".to_owned(),
    }
}

/// The duration with a unit.
fn took(record: &Record) -> Option<String> {
    record.ended().map(|ended| format!("{:?}", ended.since(record.began())))
}

/// The time of its begin.
fn began(record: &Record) -> String {
    super::utc::show(record.began())
}
