//! Everything that a pool says of itself, compared with the reference.

use crate::operation::TENANTS;
use crate::pair::{Pair, same};
use crate::reference::{File, State, Tenant};
use crate::simulated::tenant;
use rialto_depot::{FileId, FileInfo, FileState, TenantInfo};
use std::collections::BTreeSet;

fn state_of(file: &File) -> FileState {
    match file.state {
        State::Waiting(_) | State::Exhausted => FileState::Waiting,
        State::Claimed(until) => FileState::Claimed { until },
        State::Dead => FileState::Dead,
        State::Kept => FileState::Kept,
    }
}

fn told(infos: &[FileInfo]) -> Vec<(FileId, String, usize, FileState)> {
    let told = infos.iter();
    told.map(|it| (it.record.id, it.record.path(), it.record.bytes as usize, it.state)).collect()
}

impl Pair {
    pub(crate) fn compare(&self) {
        let names: Vec<String> =
            self.depot().tenants(None, 10).iter().map(|it| it.name.to_string()).collect();
        same("tenants", names, self.tenants.keys().cloned().collect());
        for name in TENANTS {
            let info = self.depot().tenant(&tenant(name));
            match self.tenants.get(name) {
                None => assert!(info.is_err(), "{name} is gone"),
                Some(known) => {
                    same_tenant(&info.unwrap(), known);
                    self.same_files(name, known);
                }
            }
        }
    }

    fn same_files(&self, name: &str, known: &Tenant) {
        let (depot, id) = (self.depot(), tenant(name));
        let expected = |is_kept: bool| {
            let files = known.files.iter().filter(|file| (file.state == State::Kept) == is_kept);
            let mut files: Vec<_> = files.collect();
            files.sort_by(|a, b| match is_kept {
                true => a.path.cmp(&b.path),
                false => a.id.cmp(&b.id),
            });
            let told = files.into_iter();
            told.map(|it| (it.id, it.path.clone(), it.content.len(), state_of(it))).collect()
        };
        let work = depot.work_files(&id, "", None, 100).unwrap();
        same(&format!("work of {name}"), told(&work), expected(false));
        let kept = depot.kept_files(&id, "", None, 100).unwrap();
        same(&format!("kept of {name}"), told(&kept), expected(true));
        let dead = depot.dead_files(&id, 100).unwrap();
        let dead: BTreeSet<FileId> = dead.iter().map(|it| it.record.id).collect();
        let known_dead = known.files.iter().filter(|file| file.state == State::Dead);
        same(&format!("dead of {name}"), dead, known_dead.map(|file| file.id).collect());
    }

    /// Every file reads back.
    pub(crate) fn check_contents(&self) {
        for (name, known) in &self.tenants {
            for file in &known.files {
                let read = self.depot().open_file(&tenant(name), file.id);
                let read = read.and_then(|mut reader| reader.read_all());
                let read = read.unwrap_or_else(|error| panic!("{name}, {file:?}: {error}"));
                assert!(read == file.content, "the content of {}", file.path);
                let info = self.depot().file(&tenant(name), file.id).unwrap();
                assert_eq!(info.record.submit_key, file.key);
                if file.state == State::Kept {
                    let at = self.depot().file_at(&tenant(name), &file.path).unwrap();
                    assert_eq!(at.record.id, file.id);
                }
            }
        }
    }

    /// The volume holds the bytes of files that there are, and no others.
    pub(crate) fn check_stored(&self) {
        let mut needed = BTreeSet::new();
        for (name, known) in &self.tenants {
            for file in &known.files {
                let record = self.depot().file(&tenant(name), file.id).unwrap().record;
                if record.place.stored().is_some() {
                    needed.insert(file.id.to_string());
                }
            }
        }
        same("stored files", self.stage.stored().into_iter().collect(), needed);
    }
}

fn same_tenant(info: &TenantInfo, known: &Tenant) {
    let name = &info.name;
    same("stage", info.stage, known.stage);
    same("quota", info.quota, known.quota);
    same(&format!("usage of {name}"), (info.files, info.bytes), known.used(None));
    let directories = info
        .directories
        .iter()
        .map(|it| (it.directory.to_string(), (it.kind, it.quota), (it.files, it.bytes)));
    let expected = known.directories.iter();
    let expected =
        expected.map(|(path, settings)| (path.clone(), *settings, known.used(Some(path))));
    same(&format!("directories of {name}"), directories.collect::<Vec<_>>(), expected.collect());
    let count =
        |is: fn(&State) -> bool| known.files.iter().filter(|file| is(&file.state)).count() as u64;
    let work = (info.work.waiting, info.work.claimed, info.work.dead);
    let expected = (
        count(|state| matches!(state, State::Waiting(_) | State::Exhausted)),
        count(|state| matches!(state, State::Claimed(_))),
        count(|state| matches!(state, State::Dead)),
    );
    same(&format!("work of {name}"), work, expected);
}
