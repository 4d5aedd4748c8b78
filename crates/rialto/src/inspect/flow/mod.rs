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

/// Where the records of a data directory lie.
pub(crate) const RECORDINGS_DIR: &str = "recordings";

/// Look at what requests and flows of a venue did, step by step.
///
/// Reads the records that the venue's recorder keeps in its data directory (the `recorder` section
/// of the configuration says how many), and changes nothing. The venue may run meanwhile.
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
/// The directory cannot be read, or holds no such record.
pub fn run(args: &FlowArgs) -> Result<(), Error> {
    match &args.what {
        What::Ls(args) => list::run(args),
        What::Show(args) => show::run(args),
        What::Replay(args) => replay::run(args),
    }
}

/// The records of a data directory. What of them cannot be read is told beside them.
fn read(data: &Path) -> Result<Recordings, Error> {
    if !data.is_dir() {
        return Err(Error::Usage(format!("{} is no directory", data.display())));
    }
    let recordings = Recordings::read(&RealDisk::new(), &data.join(RECORDINGS_DIR))
        .map_err(|error| Error::Failed(tell_all(&error)))?;
    for unreadable in recordings.unreadable() {
        note(format_args!("passed over: {unreadable}"));
    }
    Ok(recordings)
}

/// Which record of which data directory.
#[derive(Debug, clap::Args)]
struct Which {
    /// The number of a record, as `ls` shows it, the id of a request, as the venue answers it
    /// (`X-Request-Id`), or the id of a run of a flow, such as w-7-rent; of a run that was resumed,
    /// the newest record.
    id: String,
    /// The data directory.
    #[arg(long)]
    data: PathBuf,
}

impl Which {
    /// The record with all that it asked, or with all that was asked with it: of a request, the
    /// outermost record.
    fn tree(&self) -> Result<Tree, Error> {
        let recordings = read(&self.data)?;
        let id = find(&recordings, &self.id).ok_or_else(|| {
            let told = match recordings.is_empty() {
                true => "there are no records at all".to_owned(),
                false => "`rialto flow ls` lists those that there are".to_owned(),
            };
            Error::Usage(format!("no record {} in {}; {told}", self.id, self.data.display()))
        })?;
        recordings.tree(id).ok_or_else(|| Error::Usage(format!("record {id} is gone")))
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

/// The id of a request in the form that the venue answers it in.
fn request_id(record: &Record) -> Option<String> {
    let id = Id::new(record.subject().request_id).filter(|id| id.get() != 0)?;
    Some(id.base32().as_str().to_owned())
}

/// How a record ended, in a word or two.
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

/// How long it took, as people read it.
fn took(record: &Record) -> Option<String> {
    record.ended().map(|ended| format!("{:?}", ended.since(record.began())))
}

/// When it began.
fn began(record: &Record) -> String {
    super::utc::show(record.began())
}
