//! A pool that is obviously right: lists of files, and everything else is counted when it is asked
//! for.

use rialto_depot::{DirectoryKind, FileId, Quota, Timestamp};
use std::collections::BTreeMap;

/// How often a file is handed out before it becomes a dead letter.
pub(crate) const ATTEMPTS_MAX: u16 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It is handed out from this time on.
    Waiting(Timestamp),
    Claimed(Timestamp),
    /// The last claim ended without an answer: it waits until the queue finds it, and is dead then.
    Exhausted,
    Dead,
    Kept,
}

#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) id: FileId,
    pub(crate) directory: String,
    pub(crate) path: String,
    pub(crate) content: Vec<u8>,
    pub(crate) priority: u8,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) key: Option<String>,
    pub(crate) state: State,
    pub(crate) attempts: u16,
    /// The number of the last claim.
    pub(crate) claim: u64,
    /// Whether it is handed out in the order of its arrival: it was not delayed, and never claimed.
    pub(crate) is_in_order: bool,
}

/// A file that is being stored.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    pub(crate) number: u64,
    pub(crate) directory: String,
    pub(crate) bytes: usize,
}

#[derive(Debug)]
pub(crate) struct Tenant {
    /// Tells tenants of the same name apart.
    pub(crate) number: u64,
    pub(crate) stage: &'static str,
    pub(crate) quota: Quota,
    pub(crate) directories: BTreeMap<String, (Option<DirectoryKind>, Quota)>,
    /// When each directory was first set: uploads that began before do not count in it yet.
    pub(crate) set_at: BTreeMap<String, u64>,
    pub(crate) files: Vec<File>,
    pub(crate) uploads: Vec<Upload>,
    /// Every key that a file was accepted under.
    pub(crate) submitted: BTreeMap<String, (FileId, String, Vec<u8>)>,
}

fn is_in(directory: &str, above: &str) -> bool {
    above.is_empty() || directory == above || directory.starts_with(&format!("{above}/"))
}

impl Tenant {
    pub(crate) fn new(number: u64, quota: Quota) -> Self {
        Self {
            number,
            stage: "enabled",
            quota,
            directories: BTreeMap::new(),
            set_at: BTreeMap::new(),
            files: Vec::new(),
            uploads: Vec::new(),
            submitted: BTreeMap::new(),
        }
    }

    /// The files and bytes in a directory and below it, uploads included; of the tenant, for `None`.
    pub(crate) fn used(&self, above: Option<&str>) -> (u64, u64) {
        let files = self.files.iter().map(|file| (&file.directory, file.content.len()));
        let set_at = above.and_then(|above| self.set_at.get(above)).copied().unwrap_or(0);
        let uploads = self.uploads.iter().filter(|upload| upload.number > set_at);
        let uploads = uploads.map(|upload| (&upload.directory, upload.bytes));
        let held = files
            .chain(uploads)
            .filter(|(directory, _)| is_in(directory, above.unwrap_or_default()));
        held.fold((0, 0), |(files, bytes), (_, more)| (files + 1, bytes + more as u64))
    }

    pub(crate) fn kind_of(&self, directory: &str) -> DirectoryKind {
        let above = self.directories.iter().filter(|(above, _)| is_in(directory, above));
        let with_kind = above.filter_map(|(above, (kind, _))| Some((above.len(), (*kind)?)));
        with_kind.max_by_key(|(length, _)| *length).map_or(DirectoryKind::Work, |(_, kind)| kind)
    }

    /// Whether the quotas have room for a file.
    pub(crate) fn has_room(&self, directory: &str, bytes: usize) -> bool {
        let fits = |above: Option<&str>, quota: &Quota| {
            let (files, held) = self.used(above);
            (quota.files_max == 0 || files < quota.files_max)
                && (quota.bytes_max == 0 || held + bytes as u64 <= quota.bytes_max)
        };
        let directories = self.directories.iter().filter(|(above, _)| is_in(directory, above));
        fits(None, &self.quota)
            && directories.into_iter().all(|(above, (_, quota))| fits(Some(above), quota))
    }

    pub(crate) fn kept_at(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.state == State::Kept && file.path == path)
    }

    /// The file exists. A kept one takes the place of another.
    pub(crate) fn insert(&mut self, file: File) {
        if file.state == State::Kept {
            self.files.retain(|it| it.state != State::Kept || it.path != file.path);
        }
        if let Some(key) = &file.key {
            let submitted = (file.id, file.path.clone(), file.content.clone());
            self.submitted.insert(key.clone(), submitted);
        }
        self.files.push(file);
    }

    pub(crate) fn find(&mut self, id: FileId) -> Option<&mut File> {
        self.files.iter_mut().find(|file| file.id == id)
    }

    pub(crate) fn remove(&mut self, id: FileId) {
        self.files.retain(|file| file.id != id);
    }

    pub(crate) fn hands_out(&self) -> bool {
        matches!(self.stage, "enabled" | "draining")
    }

    pub(crate) fn claimable(&self, now: Timestamp) -> Vec<&File> {
        let waits = |file: &&File| matches!(file.state, State::Waiting(from) if from <= now);
        self.files.iter().filter(waits).collect()
    }

    /// What the time brings about.
    pub(crate) fn tick(&mut self, now: Timestamp) {
        for file in &mut self.files {
            if let State::Claimed(until) = file.state
                && until <= now
            {
                file.lose_claim(now);
            }
        }
        let is_gone = |file: &File| {
            file.expires_at.is_some_and(|at| at <= now) && !matches!(file.state, State::Claimed(_))
        };
        self.files.retain(|file| !is_gone(file));
    }
}

impl File {
    /// A claim has ended without an answer.
    pub(crate) fn lose_claim(&mut self, now: Timestamp) {
        let is_last = self.attempts >= ATTEMPTS_MAX;
        self.state = if is_last { State::Exhausted } else { State::Waiting(now) };
    }

    /// An attempt has failed.
    pub(crate) fn return_after_attempt(&mut self, from: Timestamp) {
        let is_last = self.attempts >= ATTEMPTS_MAX;
        self.state = if is_last { State::Dead } else { State::Waiting(from) };
    }
}
