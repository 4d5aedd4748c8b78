//! A pool and the reference, side by side.

use crate::operation::{Answer, DIRECTORIES, KEYS, NAMES, Operation, Shape, Stage, TENANTS};
use crate::reference::{File, State, Tenant, Upload};
use crate::simulated::world::end_deletions;
use crate::simulated::{self, content, dir, settle, tenant};
use rialto_depot::{
    Claim, ClaimOptions, ClaimToken, Depot, DepotError, DirectoryKind, FileId, FileName, Level,
    NewFile, Prepared, Quota, Timestamp,
};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

/// How long a claim lasts that asks for nothing else.
const CLAIM: Duration = Duration::from_secs(60);

/// What a client does not get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    UnknownTenant,
    TenantExists,
    TenantStage,
    Quota,
    Invalid,
    UnknownFile,
    FileExists,
    Claimed,
    ClaimLost,
    SubmitConflict,
}

fn problem(error: DepotError) -> Problem {
    match error {
        DepotError::UnknownTenant(_) => Problem::UnknownTenant,
        DepotError::TenantExists(_) => Problem::TenantExists,
        DepotError::TenantStage { .. } => Problem::TenantStage,
        DepotError::Quota { .. } => Problem::Quota,
        DepotError::Invalid { .. } => Problem::Invalid,
        DepotError::UnknownFile { .. } => Problem::UnknownFile,
        DepotError::FileExists { .. } => Problem::FileExists,
        DepotError::Claimed(_) => Problem::Claimed,
        DepotError::ClaimLost(_) => Problem::ClaimLost,
        DepotError::SubmitConflict { .. } => Problem::SubmitConflict,
        error => panic!("{error}"),
    }
}

pub(crate) fn same<T: Debug + PartialEq>(what: &str, depot: T, reference: T) {
    assert!(depot == reference, "{what}\n    depot: {depot:?}\nreference: {reference:?}");
}

/// A claim as its worker knows it.
struct Held {
    token: ClaimToken,
    tenant: String,
    number: u64,
    /// The number of the claim in the reference.
    claim: u64,
    is_over: bool,
}

/// An upload that has begun.
struct Begun {
    upload: rialto_depot::Upload,
    tenant: String,
    tenant_number: u64,
    number: u64,
    shape: Shape,
    kind: DirectoryKind,
    path: String,
    deliver_at: Timestamp,
}

pub(crate) struct Pair {
    pub(crate) stage: simulated::Stage,
    depot: Option<Depot>,
    pub(crate) tenants: BTreeMap<String, Tenant>,
    begun: Vec<Begun>,
    held: Vec<Held>,
    numbers: u64,
}

impl Pair {
    pub(crate) fn new(seed: u64) -> Self {
        let stage = simulated::Stage::new(seed, Level::Synced);
        let mut pair = Self {
            stage,
            depot: None,
            tenants: BTreeMap::new(),
            begun: Vec::new(),
            held: Vec::new(),
            numbers: 0,
        };
        pair.open();
        // Most histories have a tenant with a shelf; other operations change both.
        pair.create(TENANTS[0], Quota::default());
        let shelf = Some(DirectoryKind::Shelf);
        pair.set_directory(TENANTS[0], DIRECTORIES[3], shelf, Quota::default());
        pair
    }

    fn open(&mut self) {
        let mut options = self.stage.options();
        options.retry_delay = Duration::ZERO;
        options.create_tenants = false;
        self.depot = Some(Depot::open_stepped(options).unwrap());
    }

    pub(crate) fn depot(&self) -> &Depot {
        self.depot.as_ref().unwrap()
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    pub(crate) fn run(&mut self, operation: &Operation) {
        match operation {
            Operation::Create(name, quota) => self.create(TENANTS[*name], *quota),
            Operation::SetStage(name, stage) => self.set_stage(TENANTS[*name], *stage),
            Operation::SetQuota(name, quota) => self.set_quota(TENANTS[*name], *quota),
            Operation::SetDirectory(name, directory, kind, quota) => {
                self.set_directory(TENANTS[*name], DIRECTORIES[*directory], *kind, *quota);
            }
            Operation::Put(name, shape) => {
                if let Some(begun) = self.begin(TENANTS[*name], shape) {
                    self.finish(begun);
                }
            }
            Operation::Begin(name, shape) => {
                let begun = self.begin(TENANTS[*name], shape);
                self.begun.extend(begun);
            }
            Operation::Finish(nth) => {
                if let Some(nth) = nth.checked_rem(self.begun.len()) {
                    let begun = self.begun.remove(nth);
                    self.finish(begun);
                }
            }
            Operation::Abandon(nth) => {
                if let Some(nth) = nth.checked_rem(self.begun.len()) {
                    let begun = self.begun.remove(nth);
                    self.forget_upload(&begun);
                }
            }
            Operation::Claim(name, max, duration) => self.claim(TENANTS[*name], *max, *duration),
            Operation::ClaimAny(max) => self.claim_any(*max),
            Operation::Answer(nth, answer) => {
                if let Some(nth) = nth.checked_rem(self.held.len()) {
                    self.answer(nth, answer);
                }
            }
            Operation::CompleteAll(name) => self.complete_all(TENANTS[*name]),
            Operation::Delete(name, nth) => self.delete(TENANTS[*name], *nth),
            Operation::Redrive(name) => self.redrive(TENANTS[*name]),
            Operation::Pass(time) => self.stage.clock.advance(*time),
            Operation::Reopen => self.reopen(),
        }
        settle(self.depot()).unwrap();
        let now = self.stage.now();
        self.tenants.values_mut().for_each(|tenant| tenant.tick(now));
        self.observe_deaths();
        self.compare();
    }

    fn create(&mut self, name: &str, quota: Quota) {
        let created = self.depot().create_tenant(&tenant(name), quota).map_err(problem);
        let expected =
            if self.tenants.contains_key(name) { Err(Problem::TenantExists) } else { Ok(()) };
        same("create", created, expected);
        if created.is_ok() {
            let number = self.number();
            self.tenants.insert(name.to_owned(), Tenant::new(number, quota));
        }
    }

    /// Compares the outcome of a call that needs the tenant alone.
    fn of_tenant(&mut self, name: &str, result: Result<(), DepotError>) -> Option<&mut Tenant> {
        let known = self.tenants.get_mut(name);
        let expected = if known.is_some() { Ok(()) } else { Err(Problem::UnknownTenant) };
        same("tenant", result.map_err(problem), expected);
        known
    }

    fn set_stage(&mut self, name: &str, stage: Stage) {
        let (depot, id) = (self.depot().clone(), tenant(name));
        let (result, stage) = match stage {
            Stage::Enable => (depot.enable_tenant(&id), "enabled"),
            Stage::Disable => (depot.disable_tenant(&id), "disabled"),
            Stage::Drain => (depot.drain_tenant(&id), "draining"),
            Stage::Delete => (depot.delete_tenant(&id), "deleting"),
        };
        if let Some(known) = self.of_tenant(name, result) {
            known.stage = stage;
        }
        if stage == "deleting" {
            end_deletions(self.depot()).unwrap();
            self.tenants.remove(name);
        }
    }

    fn set_quota(&mut self, name: &str, quota: Quota) {
        let result = self.depot().set_quota(&tenant(name), quota);
        if let Some(known) = self.of_tenant(name, result) {
            known.quota = quota;
        }
    }

    fn set_directory(
        &mut self,
        name: &str,
        directory: &str,
        kind: Option<DirectoryKind>,
        quota: Quota,
    ) {
        let result = self.depot().set_directory(&tenant(name), &dir(directory), kind, quota);
        let number = self.number();
        if let Some(known) = self.of_tenant(name, result) {
            known.directories.insert(directory.to_owned(), (kind, quota));
            known.directories.retain(|_, settings| *settings != (None, Quota::default()));
            known.set_at.entry(directory.to_owned()).or_insert(number);
            known.set_at.retain(|directory, _| known.directories.contains_key(directory));
        }
    }

    fn new_file(&self, shape: &Shape) -> NewFile {
        let after = |time: Option<Duration>| time.map(|time| self.stage.now().after(time));
        NewFile {
            directory: dir(DIRECTORIES[shape.directory]),
            name: shape.name.map(|nth| FileName::new(NAMES[nth]).unwrap()),
            bytes: Some(shape.bytes as u64),
            priority: shape.priority,
            submit_key: shape.key.map(|nth| KEYS[nth].to_owned()),
            deliver_at: after(shape.deliver_after),
            expires_at: after(shape.expires_after),
            if_absent: shape.if_absent,
            ..NewFile::default()
        }
    }

    /// The answer to the beginning of a file, as far as the tenant knows it.
    fn may_begin(&self, name: &str, shape: &Shape) -> Result<DirectoryKind, Problem> {
        let known = self.tenants.get(name).ok_or(Problem::UnknownTenant)?;
        if known.stage != "enabled" {
            return Err(Problem::TenantStage);
        }
        let directory = DIRECTORIES[shape.directory];
        let kind = known.kind_of(directory);
        let is_shelf = kind == DirectoryKind::Shelf;
        let is_claimed = shape.deliver_after.is_some() || shape.priority > 0;
        let is_refused =
            if is_shelf { shape.name.is_none() || is_claimed } else { shape.if_absent };
        if is_refused {
            return Err(Problem::Invalid);
        }
        if known.has_room(directory, shape.bytes) { Ok(kind) } else { Err(Problem::Quota) }
    }

    fn begin(&mut self, name: &str, shape: &Shape) -> Option<Begun> {
        let expected = self.may_begin(name, shape);
        let mut file = self.new_file(shape);
        // A file without content needs none.
        file.bytes = Some(shape.bytes as u64);
        match (self.depot().begin(&tenant(name), file), expected) {
            (Ok(upload), Ok(kind)) => Some(self.begun(name, shape, upload, kind)),
            (result, expected) => {
                same("begin", result.map(drop).map_err(problem), expected.map(drop));
                None
            }
        }
    }

    fn begun(
        &mut self,
        name: &str,
        shape: &Shape,
        upload: rialto_depot::Upload,
        kind: DirectoryKind,
    ) -> Begun {
        let number = self.number();
        let directory = DIRECTORIES[shape.directory].to_owned();
        let known = self.tenants.get_mut(name).unwrap();
        known.uploads.push(Upload { number, directory, bytes: shape.bytes });
        let path = path_of(shape, upload.id());
        let tenant_number = known.number;
        let deliver_at = self.new_file(shape).deliver_at.unwrap_or_default();
        let (tenant, shape) = (name.to_owned(), shape.clone());
        Begun { upload, tenant, tenant_number, number, shape, kind, path, deliver_at }
    }

    /// The tenant of an upload or a claim, unless it is gone.
    fn tenant_of(&mut self, name: &str, number: u64) -> Option<&mut Tenant> {
        self.tenants.get_mut(name).filter(|tenant| tenant.number == number)
    }

    fn forget_upload(&mut self, begun: &Begun) {
        let number = begun.number;
        if let Some(known) = self.tenant_of(&begun.tenant, begun.tenant_number) {
            known.uploads.retain(|upload| upload.number != number);
        }
    }

    fn content_of(shape: &Shape) -> Vec<u8> {
        content(shape.bytes, shape.variant)
    }

    fn finish(&mut self, begun: Begun) {
        self.forget_upload(&begun);
        let bytes = Self::content_of(&begun.shape);
        let expected = match self.tenant_of(&begun.tenant, begun.tenant_number) {
            Some(known) if known.stage == "enabled" => {
                let submitted =
                    begun.shape.key.and_then(|key| known.submitted.get(KEYS[key]).cloned());
                match submitted {
                    Some((id, path, content)) if path == begun.path && content == bytes => {
                        Ok(Some(id))
                    }
                    Some(_) => Err(Problem::SubmitConflict),
                    None if begun.kind == DirectoryKind::Shelf
                        && begun.shape.if_absent
                        && known.kept_at(&begun.path).is_some() =>
                    {
                        Err(Problem::FileExists)
                    }
                    None => Ok(None),
                }
            }
            _ => Err(Problem::TenantStage),
        };
        let Begun { mut upload, tenant, tenant_number, shape, kind, path, deliver_at, .. } = begun;
        let id = upload.id();
        let half = bytes.len() / 2;
        let written = upload.write(&bytes[..half]).and_then(|()| upload.write(&bytes[half..]));
        let stored = written.and_then(|()| upload.finish());
        let stored = stored.map_err(problem);
        same(
            "finish",
            stored.as_ref().map(|it| it.is_repeat.then_some(it.file.id)).map_err(|it| *it),
            expected,
        );
        let Ok(stored) = stored else { return };
        if stored.is_repeat {
            return;
        }
        assert_eq!(stored.file.id, id);
        assert_eq!(stored.file.path(), path);
        let file = File {
            id,
            directory: DIRECTORIES[shape.directory].to_owned(),
            path,
            content: bytes,
            priority: shape.priority,
            expires_at: stored.file.expires_at,
            key: stored.file.submit_key.clone(),
            state: match kind {
                DirectoryKind::Shelf => State::Kept,
                DirectoryKind::Work => State::Waiting(deliver_at),
            },
            attempts: 0,
            claim: 0,
            is_in_order: shape.deliver_after.is_none(),
        };
        self.tenant_of(&tenant, tenant_number).unwrap().insert(file);
    }

    fn claim(&mut self, name: &str, max: usize, duration: Option<Duration>) {
        let options = ClaimOptions { files_max: max, duration };
        let claims = self.depot().claim(&tenant(name), &options).map_err(problem);
        let expected = match self.tenants.get(name) {
            None => Err(Problem::UnknownTenant),
            Some(known) if !known.hands_out() => Err(Problem::TenantStage),
            Some(_) => Ok(()),
        };
        match claims {
            Ok(claims) if expected.is_ok() => {
                self.claimed(name, claims, max, duration.unwrap_or(CLAIM));
            }
            claims => same("claim", claims.map(drop), expected),
        }
    }

    fn claim_any(&mut self, max: usize) {
        let claims = self.depot().claim_any(&ClaimOptions::up_to(max), |_| true).unwrap();
        let now = self.stage.now();
        match claims.first().map(|claim| claim.tenant().to_string()) {
            Some(name) => self.claimed(&name, claims, max, CLAIM),
            None => {
                let has_work = |it: &&Tenant| it.hands_out() && !it.claimable(now).is_empty();
                let left: Vec<_> = self.tenants.values().filter(has_work).collect();
                assert!(left.is_empty(), "nothing was claimed of {left:?}");
            }
        }
    }

    /// Compares what was claimed with what could be.
    fn claimed(&mut self, name: &str, claims: Vec<Claim>, max: usize, duration: Duration) {
        let now = self.stage.now();
        let known = self.tenants.get_mut(name).unwrap();
        assert!(known.hands_out(), "{name} hands out files");
        let claimable: Vec<File> = known.claimable(now).into_iter().cloned().collect();
        assert!(claims.len() <= max.min(claimable.len()), "{name}: {claimable:?}");
        assert!(!claims.is_empty() || claimable.is_empty(), "nothing claimed of {claimable:?}");
        let mut in_order: Vec<&File> = claimable.iter().filter(|file| file.is_in_order).collect();
        in_order.sort_by_key(|file| std::cmp::Reverse(file.priority));
        let expected: Vec<FileId> = in_order.iter().map(|file| file.id).collect();
        let got = claims.iter().map(|claim| claim.file().id);
        let got: Vec<FileId> = got.filter(|id| expected.contains(id)).collect();
        same("order", &got[..], &expected[..got.len()]);
        for claim in claims {
            let id = claim.file().id;
            assert!(claimable.iter().any(|file| file.id == id), "{id} is not claimable");
            let file = known.find(id).unwrap();
            assert!(!matches!(file.state, State::Claimed(_)), "{id} is claimed twice");
            file.attempts += 1;
            file.is_in_order = false;
            let until = now.after(duration);
            file.state = State::Claimed(until);
            self.numbers += 1;
            file.claim = self.numbers;
            let claim_number = file.claim;
            same("attempt", claim.attempt(), file.attempts);
            same("deadline", claim.deadline(), until);
            assert_eq!(claim.problem(), None);
            let read = self.depot.as_ref().unwrap().read_claimed(&claim);
            assert!(read.unwrap().read_all().unwrap() == file.content, "the content of {id}");
            let token = claim.token().clone();
            let (tenant, number) = (name.to_owned(), known.number);
            self.held.push(Held { token, tenant, number, claim: claim_number, is_over: false });
        }
    }

    /// Whether a claim lasts: `None` if its deadline has passed, and nothing else has happened to
    /// the file. Then the queue may take the answer or not.
    fn lasts(&mut self, nth: usize) -> Option<Result<(), Problem>> {
        let Held { ref token, ref tenant, number, claim, is_over } = self.held[nth];
        let (id, tenant) = (token.file(), tenant.clone());
        let known = self.tenant_of(&tenant, number);
        match known.and_then(|known| known.find(id)) {
            Some(file) if file.claim == claim && !is_over => match file.state {
                State::Claimed(_) => Some(Ok(())),
                _ => None,
            },
            _ => Some(Err(Problem::ClaimLost)),
        }
    }

    /// Compares the answer to the end of a claim with what was expected, and returns it.
    fn same_end(
        &mut self,
        nth: usize,
        result: Result<(), DepotError>,
        lasts: Option<Result<(), Problem>>,
    ) -> bool {
        let result = result.map_err(problem);
        match lasts {
            Some(lasts) => same("answer", result, lasts),
            None => assert!(matches!(result, Ok(()) | Err(Problem::ClaimLost)), "{result:?}"),
        }
        self.held[nth].is_over |= result.is_ok();
        result.is_ok()
    }

    fn answer(&mut self, nth: usize, answer: &Answer) {
        let now = self.stage.now();
        let lasts = self.lasts(nth);
        let held = &self.held[nth];
        let (token, name, number) = (held.token.clone(), held.tenant.clone(), held.number);
        let depot = self.depot().clone();
        let result = match answer {
            Answer::Complete => depot.complete(&token),
            Answer::CompleteWith(shapes) => return self.complete_with(nth, shapes),
            Answer::Fail(delay) => depot.fail(&token, "no", *delay),
            Answer::Refuse => depot.refuse(&token, "never"),
            Answer::GiveBack => depot.give_back(&token),
            Answer::Renew(time) => depot.renew(&token, *time).map(drop),
        };
        if !self.same_end(nth, result, lasts) {
            return;
        }
        self.held[nth].is_over = !matches!(answer, Answer::Renew(_));
        if lasts.is_none() && matches!(answer, Answer::GiveBack) {
            // Too late: the attempt counts.
            return;
        }
        let known = self.tenant_of(&name, number).unwrap();
        let file = known.find(token.file()).unwrap();
        match answer {
            Answer::Complete | Answer::CompleteWith(_) => known.remove(token.file()),
            Answer::Fail(delay) => {
                file.return_after_attempt(now.after(delay.unwrap_or_default()));
            }
            Answer::Refuse => file.state = State::Dead,
            Answer::GiveBack => {
                file.attempts -= 1;
                file.state = State::Waiting(now);
            }
            Answer::Renew(time) => file.state = State::Claimed(now.after(*time)),
        }
    }

    fn complete_with(&mut self, nth: usize, shapes: &[Shape]) {
        let held = &self.held[nth];
        let (token, name, number) = (held.token.clone(), held.tenant.clone(), held.number);
        let mut prepared: Vec<(Prepared, Written)> = Vec::new();
        for shape in shapes {
            let shape = Shape { key: None, if_absent: false, deliver_after: None, ..shape.clone() };
            let shape = Shape { priority: 0, ..shape };
            let expected = match self.may_begin(&name, &shape) {
                Err(Problem::UnknownTenant) => Err(Problem::ClaimLost),
                expected => expected,
            };
            let begun = self.depot().begin_result(&token, self.new_file(&shape));
            match (begun, expected) {
                (Ok(mut upload), Ok(kind)) => {
                    let id = upload.id();
                    let bytes = Self::content_of(&shape);
                    upload.write(&bytes).unwrap();
                    let expires_at = self.new_file(&shape).expires_at;
                    let number_of_upload = self.number();
                    let directory = DIRECTORIES[shape.directory].to_owned();
                    let known = self.tenants.get_mut(&name).unwrap();
                    let bytes_len = shape.bytes;
                    known.uploads.push(Upload {
                        number: number_of_upload,
                        directory: directory.clone(),
                        bytes: bytes_len,
                    });
                    let path = path_of(&shape, id);
                    let state = match kind {
                        DirectoryKind::Shelf => State::Kept,
                        DirectoryKind::Work => State::Waiting(self.stage.now()),
                    };
                    let file = File {
                        id,
                        directory,
                        path,
                        content: bytes,
                        priority: 0,
                        expires_at,
                        key: None,
                        state,
                        attempts: 0,
                        claim: 0,
                        is_in_order: true,
                    };
                    let result = upload.finish_result().unwrap();
                    prepared.push((result, Written { number: number_of_upload, file }));
                }
                (result, expected) => {
                    same("result", result.map(drop).map_err(problem), expected.map(drop));
                }
            }
        }
        let lasts = self.lasts(nth);
        let (results, files): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
        let completed = self.depot().complete_with(&token, results);
        let is_completed = self.same_end(nth, completed, lasts);
        if let Some(known) = self.tenants.get_mut(&name) {
            known.uploads.retain(|it| files.iter().all(|file| file.number != it.number));
        }
        if is_completed {
            let known = self.tenant_of(&name, number).unwrap();
            known.remove(token.file());
            files.into_iter().for_each(|it| known.insert(it.file));
        }
    }

    fn complete_all(&mut self, name: &str) {
        let of_tenant: Vec<usize> =
            (0..self.held.len()).filter(|nth| self.held[*nth].tenant == name).collect();
        let tokens: Vec<_> = of_tenant.iter().map(|nth| self.held[*nth].token.clone()).collect();
        let results = self.depot().complete_all(&tokens);
        for (nth, result) in of_tenant.into_iter().zip(results) {
            let lasts = self.lasts(nth);
            if self.same_end(nth, result, lasts) {
                let Held { ref token, ref tenant, number, .. } = self.held[nth];
                let (id, tenant) = (token.file(), tenant.clone());
                self.tenant_of(&tenant, number).unwrap().remove(id);
            }
        }
    }

    fn delete(&mut self, name: &str, nth: usize) {
        let known = self.tenants.get_mut(name);
        let file = known.as_deref().and_then(|it| it.files.get(nth.checked_rem(it.files.len())?));
        let file = file.map(|file| (file.id, matches!(file.state, State::Claimed(_))));
        let (id, is_claimed) = file.unwrap_or((FileId(nth as u128), false));
        let expected = match (&known, file) {
            (None, _) => Err(Problem::UnknownTenant),
            (_, None) => Err(Problem::UnknownFile),
            _ if is_claimed => Err(Problem::Claimed),
            _ => Ok(()),
        };
        if let Some(known) = known
            && expected.is_ok()
        {
            known.remove(id);
        }
        same("delete", self.depot().delete(&tenant(name), id).map_err(problem), expected);
    }

    fn redrive(&mut self, name: &str) {
        let now = self.stage.now();
        let redriven = self.depot().redrive(&tenant(name), 1_000).map_err(problem);
        let expected = match self.tenants.get_mut(name) {
            None => Err(Problem::UnknownTenant),
            Some(known) => {
                let dead = known.files.iter_mut().filter(|file| file.state == State::Dead);
                let redriven = dead.map(|file| {
                    file.state = State::Waiting(now);
                    file.attempts = 0;
                });
                Ok(redriven.count() as u64)
            }
        };
        same("redrive", redriven, expected);
    }

    fn reopen(&mut self) {
        // The uploads and claims of a process end with it.
        for begun in std::mem::take(&mut self.begun) {
            self.forget_upload(&begun);
        }
        self.depot().close().unwrap();
        self.depot = None;
        self.open();
        let now = self.stage.now();
        for tenant in self.tenants.values_mut() {
            for file in &mut tenant.files {
                if matches!(file.state, State::Claimed(_)) {
                    file.lose_claim(now);
                }
                file.is_in_order = false;
            }
        }
        self.held.iter_mut().for_each(|held| held.is_over = true);
        self.check_contents();
    }

    /// The queue may have found files whose last claim ended without an answer.
    fn observe_deaths(&mut self) {
        for (name, known) in &mut self.tenants {
            let exhausted = known.files.iter_mut().filter(|it| it.state == State::Exhausted);
            for file in exhausted {
                let info = self.depot.as_ref().unwrap().file(&tenant(name), file.id).unwrap();
                if info.state == rialto_depot::FileState::Dead {
                    file.state = State::Dead;
                }
            }
        }
    }

    /// Everything that waits is handed out, and what was stored is what the files need.
    pub(crate) fn end(&mut self) {
        self.run(&Operation::Pass(Duration::from_secs(50)));
        self.reopen();
        settle(self.depot()).unwrap();
        let now = self.stage.now();
        self.tenants.values_mut().for_each(|tenant| tenant.tick(now));
        self.observe_deaths();
        self.compare();
        for name in TENANTS {
            let waits = |it: &Tenant| it.hands_out() && !it.claimable(now).is_empty();
            while self.tenants.get(name).is_some_and(waits) {
                self.claim(name, 3, None);
            }
        }
        settle(self.depot()).unwrap();
        self.check_stored();
    }
}

/// The path of a file, which is named after its id if the client names it not.
fn path_of(shape: &Shape, id: FileId) -> String {
    let name = shape.name.map_or_else(|| id.to_string(), |nth| NAMES[nth].to_owned());
    match DIRECTORIES[shape.directory] {
        "" => name,
        directory => format!("{directory}/{name}"),
    }
}

/// A result that is written.
struct Written {
    number: u64,
    file: File,
}
