//! A pool and what a client knows of it: what it holds, or after a call without an answer one of two
//! things.

use super::{Stage, pass, settle};
use rialto_depot::{ClaimOptions, Depot, DepotError, FileState, Level, TenantName};
use std::collections::BTreeMap;
use std::time::Duration;

/// Longer than a claim and the delays of a file together.
const LONG: Duration = Duration::from_secs(3_600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Work,
    Dead,
    Kept,
}

/// The files of all tenants by `tenant:path`, with their content.
pub type Holding = BTreeMap<String, (Kind, Vec<u8>)>;

pub struct World {
    pub stage: Stage,
    pub depot: Option<Depot>,
    /// What the pool holds.
    pub known: Holding,
    /// What it may hold instead: a call was not answered, or its answer promises nothing.
    pub or: Vec<Holding>,
    /// A file whose last attempt may have ended with the process: it is a dead letter when a worker
    /// asks for it.
    pub may_die: Option<String>,
}

fn lengths(holding: &Holding) -> Vec<String> {
    holding
        .iter()
        .map(|(path, (kind, content))| format!("{path} {kind:?} {}", content.len()))
        .collect()
}

impl World {
    pub fn new(seed: u64, level: Level) -> Self {
        let stage = Stage::new(seed, level);
        let depot = Some(stage.open().unwrap());
        Self { stage, depot, known: Holding::new(), or: Vec::new(), may_die: None }
    }

    pub fn depot(&self) -> &Depot {
        self.depot.as_ref().unwrap()
    }

    /// A call that changes what the pool holds, as a whole or not at all, durably when it returns.
    pub fn call<T>(
        &mut self,
        change: impl FnOnce(&mut Holding),
        call: impl FnOnce(&Depot) -> Result<T, DepotError>,
    ) -> Result<T, DepotError> {
        let mut after = self.known.clone();
        change(&mut after);
        self.or.push(after.clone());
        let value = call(self.depot())?;
        self.known = after;
        self.or.clear();
        Ok(value)
    }

    /// As [`World::call`], for one whose answer does not promise durability.
    pub fn call_in_doubt<T>(
        &mut self,
        change: impl FnOnce(&mut Holding),
        call: impl FnOnce(&Depot) -> Result<T, DepotError>,
    ) -> Result<T, DepotError> {
        let before = self.known.clone();
        let value = self.call(change, call)?;
        self.or.push(before);
        Ok(value)
    }

    /// The machine comes back after a loss of power.
    pub fn restart(&mut self) {
        self.depot = None;
        self.stage.disk.restart();
    }

    /// The process is gone; what it wrote is there.
    pub fn kill(&mut self) {
        self.depot = None;
        self.stage.disk.kill();
    }

    /// Everything that the pool holds, read back.
    pub fn holding(&self, depot: &Depot) -> Result<Holding, String> {
        let mut holding = Holding::new();
        for tenant in depot.tenants(None, 100) {
            let name = &tenant.name;
            let work = depot.work_files(name, "", None, 1_000).map_err(text)?;
            let kept = depot.kept_files(name, "", None, 1_000).map_err(text)?;
            let (mut files, mut bytes) = (0, 0);
            let mut in_directories = Vec::new();
            for info in work.iter().chain(&kept) {
                let record = &info.record;
                files += 1;
                bytes += record.bytes;
                in_directories.push((record.directory.to_string(), record.bytes));
                let path = format!("{name}:{}", record.path());
                let content =
                    read(depot, name, info).map_err(|error| format!("{path}: {error}"))?;
                let kind = match info.state {
                    FileState::Dead => Kind::Dead,
                    FileState::Kept => Kind::Kept,
                    _ => Kind::Work,
                };
                if holding.insert(path.clone(), (kind, content)).is_some() {
                    return Err(format!("{path} is there twice"));
                }
            }
            if (tenant.files, tenant.bytes) != (files, bytes) {
                return Err(format!(
                    "{name} has {files} files of {bytes} bytes, and its quota counts {} of {}",
                    tenant.files, tenant.bytes
                ));
            }
            for directory in &tenant.directories {
                let held = held_in(directory.directory.as_str(), &in_directories);
                let counted = (directory.files, directory.bytes);
                if counted != held {
                    let directory = &directory.directory;
                    return Err(format!("{directory:?} has {held:?}, and counts {counted:?}"));
                }
            }
        }
        Ok(holding)
    }

    /// Whether the pool holds what it should.
    pub fn check(&self, depot: &Depot) -> Result<Holding, String> {
        let found = self.holding(depot)?;
        if found == self.known || self.or.contains(&found) {
            return Ok(found);
        }
        Err(format!(
            "the pool holds {:?} instead of {:?} or {:?}",
            lengths(&found),
            lengths(&self.known),
            self.or.iter().map(lengths).collect::<Vec<_>>()
        ))
    }

    /// Opens the pool after its end, and checks everything that is promised of it.
    pub fn verify(&mut self) -> Result<(), String> {
        let depot = self.stage.open().map_err(|error| format!("it does not open: {error}"))?;
        settle(&depot).map_err(text)?;
        end_deletions(&depot).map_err(text)?;
        let found = self.check(&depot)?;
        // What was found is true from now on.
        self.or.clear();
        self.known = found;
        self.check_work(&depot)?;
        depot.close().map_err(text)?;
        drop(depot);
        // And after another start.
        let depot =
            self.stage.open().map_err(|error| format!("it does not open again: {error}"))?;
        self.check(&depot)?;
        self.check_work(&depot)
    }

    /// Completes all work: what is handed out is what should be, and nothing twice.
    fn check_work(&mut self, depot: &Depot) -> Result<(), String> {
        for tenant in depot.tenants(None, 100) {
            depot.enable_tenant(&tenant.name).map_err(text)?;
        }
        for round in 0..3 {
            pass(&self.stage, depot, LONG).map_err(text)?;
            loop {
                let claims = depot.claim_any(&ClaimOptions::up_to(100), |_| true).map_err(text)?;
                if claims.is_empty() {
                    break;
                }
                for claim in claims {
                    let path = format!("{}:{}", claim.tenant(), claim.file().path());
                    if let Some(problem) = claim.problem() {
                        return Err(format!("{path} is claimed: {problem}"));
                    }
                    let Some((Kind::Work, content)) = self.known.remove(&path) else {
                        return Err(format!("{path} is handed out in round {round}"));
                    };
                    let read = depot.read_claimed(&claim).and_then(|mut it| it.read_all());
                    if read.map_err(text)? != content {
                        return Err(format!("{path} has another content"));
                    }
                    depot.complete(claim.token()).map_err(text)?;
                }
            }
            self.note_death(depot)?;
            self.check(depot)?;
        }
        match self.known.iter().find(|(_, (kind, _))| *kind == Kind::Work) {
            Some((path, _)) => Err(format!("{path} is handed out to nobody")),
            None => self.check_dead(depot),
        }
    }

    fn note_death(&mut self, depot: &Depot) -> Result<(), String> {
        let Some(path) = &self.may_die else { return Ok(()) };
        let found = self.holding(depot)?;
        if let (Some((kind @ Kind::Work, _)), Some((Kind::Dead, _))) =
            (self.known.get_mut(path), found.get(path))
        {
            *kind = Kind::Dead;
        }
        Ok(())
    }

    fn check_dead(&self, depot: &Depot) -> Result<(), String> {
        let mut dead = Vec::new();
        for tenant in depot.tenants(None, 100) {
            for letter in depot.dead_files(&tenant.name, 100).map_err(text)? {
                dead.push(format!("{}:{}", tenant.name, letter.record.path()));
            }
        }
        dead.sort();
        let known = self.known.iter().filter(|(_, (kind, _))| *kind == Kind::Dead);
        let known: Vec<String> = known.map(|(path, _)| path.clone()).collect();
        if dead == known { Ok(()) } else { Err(format!("dead are {dead:?}, not {known:?}")) }
    }
}

/// The files and bytes in a directory and below it.
pub fn held_in(directory: &str, files: &[(String, u64)]) -> (u64, u64) {
    let is_in = |of: &str| {
        directory.is_empty() || of == directory || of.starts_with(&format!("{directory}/"))
    };
    let held = files.iter().filter(|(of, _)| is_in(of));
    held.fold((0, 0), |(files, bytes), (_, more)| (files + 1, bytes + more))
}

fn read(
    depot: &Depot,
    tenant: &TenantName,
    info: &rialto_depot::FileInfo,
) -> Result<Vec<u8>, DepotError> {
    depot.open_file(tenant, info.record.id)?.read_all()
}

/// Lets tenants go that are being deleted.
pub fn end_deletions(depot: &Depot) -> Result<(), DepotError> {
    while depot.tenants(None, 100).iter().any(|tenant| tenant.stage == "deleting") {
        depot.step()?;
    }
    Ok(())
}

fn text(error: DepotError) -> String {
    error.to_string()
}
