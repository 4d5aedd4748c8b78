//! Opening a pool: the history and the work queues are read, and the index is made of both.

use crate::active::{ActiveFile, Standing};
use crate::history::record::{Record, TenantNumber};
use crate::history::{Garbage, History};
use crate::options::{DepotOptions, INLINE_BYTES_MAX};
use crate::pool::Pool;
use crate::quota::Usage;
use crate::record::split_payload;
use crate::tenant::Tenant;
use crate::upkeep::Upkeep;
use crate::volume::{VolumeNumber, VolumeSpec, Volumes};
use crate::work::{Work, is_work_topic, topic_of};
use crate::working::{CLAIM_DURATION_MAX, CLAIM_DURATION_MIN};
use crate::{DepotError, FileId};
use rialto_log::Level;
use rialto_queue::{Queue, QueueOptions, topic_dirs};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What was found when a pool was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DepotReport {
    /// Tenants.
    pub tenants: usize,
    /// Work files that wait.
    pub waiting: usize,
    /// Dead letters.
    pub dead: usize,
    /// Files that are kept.
    pub kept: usize,
    /// Completed files that stay readable for a while.
    pub completed: usize,
    /// Files that had ended before the last stop, whose acknowledgement was not durable: they are
    /// handed to nobody.
    pub ended: usize,
    /// Bytes of files that are gone, which are removed now.
    pub removed: usize,
    /// Volumes that could not be mounted, with the reasons. Their files cannot be read.
    pub absent_volumes: Vec<String>,
}

/// The directory of the work queues, in that of the pool.
const QUEUE_DIR: &str = "queue";
/// The directory of the messages, in that of the work queues.
const TOPICS_DIR: &str = "topics";
/// The name of the volume that a new pool makes.
const FIRST_VOLUME: &str = "main";

fn check(options: &DepotOptions) -> Result<(), DepotError> {
    let invalid = |field, why: &str| Err(DepotError::invalid(field, why));
    if options.inline_bytes_max > INLINE_BYTES_MAX {
        let (max, got) = (INLINE_BYTES_MAX, options.inline_bytes_max);
        let why = format!("at most {max} bytes travel in a message, not {got}");
        return invalid("inline_bytes_max", &why);
    }
    if !(1..=16).contains(&options.priorities) {
        return invalid("priorities", &format!("use 1 to 16, not {}", options.priorities));
    }
    let (min, max) = (CLAIM_DURATION_MIN, CLAIM_DURATION_MAX);
    let claim = options.claim_duration;
    if !(min..=max).contains(&claim) {
        return invalid("claim_duration", &format!("use {min:?} to {max:?}, not {claim:?}"));
    }
    let at_least_one = [
        ("file_bytes_max", options.file_bytes_max),
        ("tenants_max", options.tenants_max as u64),
        ("working_tenants_max", options.working_tenants_max as u64),
        ("descriptors_max", options.descriptors_max as u64),
        ("claimed_max", options.claimed_max as u64),
    ];
    if let Some((field, _)) = at_least_one.into_iter().find(|(_, value)| *value == 0) {
        return invalid(field, "use at least 1, not 0");
    }
    for (field, bytes, min) in [
        ("segment_bytes", options.segment_bytes, 2 << 20),
        ("control_segment_bytes", options.control_segment_bytes, 4096),
    ] {
        if bytes < min || !bytes.is_multiple_of(4096) {
            let why = format!("use a multiple of 4096 that is at least {min}, not {bytes}");
            return invalid(field, &why);
        }
    }
    options.upkeep.check()
}

pub(crate) fn open(
    mut options: DepotOptions,
    is_stepped: bool,
) -> Result<(Arc<Pool>, DepotReport), DepotError> {
    check(&options)?;
    if is_stepped {
        // A queue without threads has one caller at a time.
        options.watcher.imports_at_once = 1;
    }
    options.disk.create_dir_all(&options.dir)?;
    let lock = options.disk.lock(&options.dir)?;
    let history = History::open(&options)?;
    let is_new = history.read(|state| state.next_volume() == VolumeNumber(0))?;
    let level = history.read(|state| state.level)?.map_or(options.level, Into::into);
    check_work(&options, is_new, level)?;
    check_level(&history, &options)?;
    if options.level != Level::Memory {
        options.disk.create_dir_all(&options.dir.join(QUEUE_DIR).join(TOPICS_DIR))?;
    }
    let queue = open_queue(&options, is_stepped)?;
    let volumes = Volumes::new(options.disk.clone(), options.volumes.clone());
    let upkeep = Upkeep::new(is_stepped);
    let mut report = DepotReport::default();
    let mounted = history.read(|state| state.volumes.clone())?;
    for (number, settings) in &mounted {
        match volumes.mount(*number, &settings.spec(&options.dir)) {
            Ok(_) if settings.is_draining() => volumes.set_draining(*number, true)?,
            Ok(_) => {}
            Err(error) => {
                tracing::error!(volume = settings.name(), "the volume is absent: {error}");
                report.absent_volumes.push(format!("{}: {error}", settings.name()));
            }
        }
    }
    let pool = Arc::new(Pool::new(options, lock, queue, history, volumes, upkeep));
    if is_new && let Some(dir) = pool.options.first_volume.clone() {
        let (name, place) = (FIRST_VOLUME.to_owned(), dir.into());
        pool.mount(VolumeSpec { name, place, weight: 1, identity: None })?;
    }
    pool.make_watches()?;
    let tenants = make_tenants(&pool, &mut report)?;
    for tenant in &tenants {
        index(&pool, tenant, &mut report)?;
    }
    forget_acknowledged(&pool, &tenants)?;
    // Bytes that the last process did not come to remove.
    let garbage = pool.history.adjust(|state| std::mem::take(&mut state.garbage))?;
    let garbage: Vec<Garbage> = living(&pool, &tenants, garbage)?;
    report.removed = garbage.len();
    pool.remove_bytes(garbage);
    for tenant in tenants {
        pool.note_busy(&tenant);
        pool.ready.announce(&tenant);
    }
    Ok((pool, report))
}

/// Refuses another level than that of the pool: its work queues would stay as durable as they are, or
/// would not be opened at all. A new pool records its level.
fn check_level(history: &History, options: &DepotOptions) -> Result<(), DepotError> {
    let asked = options.level;
    let recorded = history.read(|state| state.level)?;
    let level = match recorded {
        Some(level) => Some(level.into()),
        // An earlier version did not record it, and its work queues have it.
        None => level_of_queues(options)?,
    };
    if let Some(level) = level.filter(|level| *level != asked) {
        return Err(DepotError::OtherLevel { level, asked });
    }
    if recorded.is_none() {
        history.record(|_| Ok::<_, DepotError>(((), vec![Record::Level(asked.into())])))?;
    }
    Ok(())
}

/// The level of the work queues on the disk, the least if they differ; `None` without one.
fn level_of_queues(options: &DepotOptions) -> Result<Option<Level>, DepotError> {
    let dir = options.dir.join("queue");
    match options.disk.list_dirs(&dir) {
        Ok(names) if !names.is_empty() => {}
        Ok(_) => return Ok(None),
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    // Opened for this look alone, so that a pool of level memory need not open it again.
    let stored = DepotOptions { level: Level::Synced, ..options.clone() };
    let queue = open_queue(&stored, true)?;
    let topics = queue.topics();
    let work = topics.iter().filter(|topic| is_work_topic(topic.as_str()));
    let levels: Result<Vec<_>, _> = work.map(|topic| queue.options(topic.as_str())).collect();
    let level = levels?.into_iter().map(|options| options.level).min();
    queue.close()?;
    Ok(level)
}

/// Refuses a pool with a history whose work queues are gone: it would open as one without work files,
/// and the search would take their bytes for bytes without a record.
fn check_work(options: &DepotOptions, is_new: bool, level: Level) -> Result<(), DepotError> {
    // The queues of a pool that was made with the level `memory` are in memory only.
    if is_new || level == Level::Memory {
        return Ok(());
    }
    let queue = options.dir.join(QUEUE_DIR);
    let dir = queue.join("control");
    match options.disk.list(&dir) {
        Ok(files) if !files.is_empty() => {}
        Err(error) if !error.is_not_found() => return Err(error.into()),
        _ => return Err(DepotError::WorkLost { dir }),
    }
    // Made at the first opening, so that its absence is a loss where the queue knows topics.
    let dir = queue.join(TOPICS_DIR);
    match options.disk.list_dirs(&dir) {
        Ok(_) => Ok(()),
        Err(error) if !error.is_not_found() => Err(error.into()),
        Err(_) => {
            let known = topic_dirs(options.disk.clone(), &queue, &options.volumes.keys)?;
            if known.is_empty() { Ok(()) } else { Err(DepotError::WorkLost { dir }) }
        }
    }
}

fn open_queue(options: &DepotOptions, is_stepped: bool) -> Result<Queue, DepotError> {
    let queue_options = QueueOptions {
        dir: (options.level != Level::Memory).then(|| options.dir.join(QUEUE_DIR)),
        descriptors_max: options.descriptors_max,
        control_segment_bytes: options.control_segment_bytes,
        disk: options.disk.clone(),
        clock: options.clock.clone(),
        keys: options.volumes.keys.clone(),
        salt: options.salt.clone(),
        ..QueueOptions::in_memory()
    };
    Ok(if is_stepped { Queue::open_stepped(queue_options)? } else { Queue::open(queue_options)? })
}

fn make_tenants(pool: &Pool, report: &mut DepotReport) -> Result<Vec<Arc<Tenant>>, DepotError> {
    let tenants = pool.history.read(|state| {
        let known = state.tenants.iter().filter_map(|(number, known)| {
            let name = known.name.clone()?;
            let usage = Usage::new(known.settings.quota);
            let stage = known.settings.stage;
            let tenant = Arc::new(Tenant::new(*number, name, known.created_at, stage, usage));
            tenant.usage.count(
                known.kept.files + known.completed.files,
                known.kept.bytes + known.completed.bytes,
            );
            for (directory, settings) in &known.directories {
                let held = state.held_in(*number, directory);
                tenant.set_directory(directory.clone(), *settings, || (held.files, held.bytes));
            }
            report.kept += known.kept.files as usize;
            report.completed += known.completed.files as usize;
            Some(tenant)
        });
        known.collect::<Vec<_>>()
    })?;
    report.tenants = tenants.len();
    tenants.iter().for_each(|tenant| pool.insert_tenant(tenant.clone()));
    Ok(tenants)
}

/// Indexes the work files of a tenant.
fn index(pool: &Pool, tenant: &Arc<Tenant>, report: &mut DepotReport) -> Result<(), DepotError> {
    if pool.queue.options(&topic_of(&tenant.name)).is_err() {
        return Ok(());
    }
    let number: TenantNumber = tenant.number;
    let ended: HashSet<FileId> = pool.history.read(|state| {
        let of_tenant = state.ended.values().filter(|ended| ended.tenant == number);
        of_tenant.map(|ended| ended.id).collect()
    })?;
    let work = tenant.work_or_open(|| Work::open(&pool.queue, &tenant.name, &pool.options))?;
    pool.working.fetch_add(1, Ordering::Relaxed);
    ended.iter().for_each(|id| tenant.files().note_ended(*id));
    let mut met = HashSet::new();
    let mut with_results = Vec::new();
    for message in work.consumer().unacknowledged()? {
        let message = message?;
        let Some((record, _)) = split_payload(message.payload()) else { continue };
        let mut files = tenant.files();
        if files.has_ended(record.id) {
            met.insert(record.id);
            with_results.push((message.id(), record.id));
            continue;
        }
        if files.get(record.id).is_some() {
            continue;
        }
        tenant.count(&record.directory, record.bytes);
        let mut file = ActiveFile::new(Arc::new(record), Standing::Waiting);
        file.message = Some(message.id());
        file.attempts = work.consumer().attempts(message.id());
        files.insert(file);
        report.waiting += 1;
    }
    pool.index_dead_letters(tenant, &mut met)?;
    // The results of a file whose message is there have none yet.
    let ended_before = met.len();
    for id in met.clone() {
        for result in pool.unpublished_results(tenant, id)? {
            tenant.count(&result.directory, result.bytes);
            tenant.files().insert(ActiveFile::new(Arc::new(result), Standing::Waiting));
            report.waiting += 1;
        }
        met.extend(pool.results_of(id)?);
    }
    for (message, id) in with_results {
        if !pool.unpublished_results(tenant, id)?.is_empty() {
            pool.publish_after_end(tenant, work, message, id)?;
        }
    }
    let mut files = tenant.files();
    // The message of the others is acknowledged, durably.
    ended.difference(&met).for_each(|id| files.forget_ended(*id));
    report.ended += ended_before;
    for file in files.after(None).filter(|file| file.standing == Standing::Dead) {
        tenant.count(&file.record.directory, file.record.bytes);
        report.dead += 1;
    }
    Ok(())
}

/// Forgets files that ended and have no message any more: their acknowledgement was durable.
fn forget_acknowledged(pool: &Pool, tenants: &[Arc<Tenant>]) -> Result<(), DepotError> {
    let by_number: HashMap<_, _> = tenants.iter().map(|tenant| (tenant.number, tenant)).collect();
    pool.history.adjust(|state| {
        state.ended.retain(|id, ended| {
            let tenant = by_number.get(&ended.tenant);
            tenant.is_some_and(|tenant| tenant.files().has_ended(*id))
        });
    })?;
    Ok(())
}

/// Leaves out bytes that a record refers to after all.
fn living(
    pool: &Pool,
    tenants: &[Arc<Tenant>],
    garbage: Vec<Garbage>,
) -> Result<Vec<Garbage>, DepotError> {
    let mut unused = Vec::with_capacity(garbage.len());
    for garbage in garbage {
        let mut is_used = false;
        for tenant in tenants {
            let active = tenant.files().get(garbage.id).map(|file| file.record.clone());
            let kept = pool.kept_by_id(tenant, garbage.id)?;
            let completed = pool.retained_by_id(tenant, garbage.id)?;
            let completed = completed.map(|it| Arc::new(it.file.clone()));
            // A file that moved left bytes on another volume.
            let stored = [active, kept, completed].into_iter().flatten();
            is_used |= stored
                .filter_map(|it| it.place.stored().map(|it| it.volume))
                .any(|volume| volume == garbage.volume);
        }
        if !is_used {
            unused.push(garbage);
        }
    }
    Ok(unused)
}
