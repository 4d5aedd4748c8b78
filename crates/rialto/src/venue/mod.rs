//! Assembles a venue: disk, engine, feed, calendars, withdrawals, queue, keys, gateway. Nothing else
//! knows all of them.
//!
//! They are components of a [`Lifecycle`]: it starts them from the inside out, watches over them,
//! and stops them from the outside in. The gateway answers the received requests, the feed ends,
//! and the engine finishes its commands, confirms the journal and makes a snapshot.

mod calendars;
mod closing;
mod depot;
mod descriptors;
mod engine;
mod feed;
mod gateway;
mod journal;
mod keys;
mod made;
mod order_files;
mod queue;
mod recorder;
#[cfg(feature = "s3")]
mod s3;
mod statements;
mod storage;
mod withdrawals;

pub use closing::Closing;
pub use keys::{KeysMissing, keys_missing};

use crate::config::{Config, ConfigError};
use crate::terminal::note;
use crate::{Error, tell_all};
use closing::Deadline;
use made::Made;
use rialto_depot::{BlockSealing, DepotOptions, VolumeOptions};
use rialto_desk::{Live, OrderRate};
use rialto_disk::Disk;
use rialto_engine::{Engine, RecoveryReport};
use rialto_gateway::{AdminKey, KeyStore};
use rialto_lifecycle::{
    ComponentStartError, ComponentState, Lifecycle, Restart, StatusChange, StopReport, Supervisor,
};
use rialto_model::Seq;
use rialto_order_files::OrderFileOptions;
use rialto_queue::QueueOptions;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where the sealed API keys live: beside the journal and never in it.
const AUTH_DIR: &str = "auth";
/// Where topics live.
const QUEUE_DIR: &str = "queue";
/// Where the depot lives, unless a directory is set.
const DEPOT_DIR: &str = "depot";
/// Where the flows of withdrawals live.
const FLOWS_DIR: &str = "flows";
/// Where the runs of statements live.
const STATEMENTS_DIR: &str = "statements";
/// Where the history of order files lives.
const ORDER_FILES_DIR: &str = "order-files";
/// How often something that has no way to call back is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// How often the health of every component is looked at.
const SUPERVISE_EVERY: Duration = Duration::from_millis(50);
/// A feed that has failed is made again from the event log. What fails for good, such as damage,
/// fails again each time, so that there is no point in many attempts.
const FEED_RESTART: Restart = Restart {
    attempts: 3,
    first: Duration::from_millis(100),
    longest: Duration::from_secs(5),
    forgotten_after: Duration::from_secs(60),
};
/// How much longer than its deadline a component may take to stop before it is abandoned.
const GRACE: Duration = Duration::from_secs(2);

/// A venue that runs.
pub struct Venue {
    lifecycle: Arc<Lifecycle>,
    supervisor: Supervisor,
    deadline: Deadline,
    engine: Arc<Engine>,
    ended: engine::Ended,
    live: Arc<Live>,
    keys: Arc<KeyStore>,
    local_addr: SocketAddr,
    operations_addr: Option<SocketAddr>,
    s3_addr: Option<SocketAddr>,
}

/// The report of a start.
#[derive(Debug)]
pub struct Opening {
    /// What recovery did, in one line.
    pub recovery: RecoveryReport,
    /// The admin key, if it was made just now. It cannot be shown again.
    pub new_admin_key: Option<AdminKey>,
}

impl Venue {
    /// Recovers the data directory, brings the feed up to date and starts the gateway.
    ///
    /// # Errors
    /// Something refuses to start; the error says what, and what to do.
    pub fn open(config: &Config, disk: Arc<dyn Disk>) -> Result<(Venue, Opening), Error> {
        let began = Instant::now();
        let (version, data) = (crate::VERSION, config.data_dir().display());
        tracing::info!(version, %data, durability = %config.engine.level, "the venue starts");
        match Venue::assemble(config, disk) {
            Ok((venue, opening)) => {
                log_opening(&venue, &opening, began.elapsed());
                Ok((venue, opening))
            }
            Err(error) => {
                tracing::error!(reason = tell_all(&error), "the start was refused");
                Err(error)
            }
        }
    }

    fn assemble(config: &Config, disk: Arc<dyn Disk>) -> Result<(Venue, Opening), Error> {
        let config = &mut config.clone();
        descriptors::reserve(config)?;
        let (keys, new_admin_key) = keys::made_first(&*disk, config.data_dir())?;
        let mut lifecycle = Lifecycle::new();
        let process = lifecycle.overview();
        let deadline = Deadline::default();
        let stop_within = config.drain + GRACE;

        let engine = engine::Part::new(config.engine.clone(), Arc::clone(&disk), deadline.clone());
        let (running, recovery, ended) = (engine.made(), engine.recovery(), engine.ended());
        // It has answered `outcome_unknown` to callers: only a new
        // process, which recovers, does.
        lifecycle.register("engine", engine).restart(Restart::NEVER).stop_within(stop_within);

        let journal = journal::Part::new(running.clone());
        lifecycle.register("journal", journal).needs("engine").restart(Restart::NEVER);

        // The feed keeps as many client order ids of an account as the engine.
        let mut live = config.live.clone();
        live.nice = config.gateway.shared_nice;
        live.feed.names_per_account = config.engine.limits.client_ids_max as usize;
        let feed = feed::Part::new(live, config.feed_lag_max, running.clone(), process.clone());
        let live = feed.made();
        lifecycle.register("feed", feed).needs("engine").restart(FEED_RESTART);

        let recorder = recorder::Part::open(config, Arc::clone(&disk), running.clone());
        let records = recorder.as_ref().map(recorder::Part::recorder);
        if let Some(recorder) = recorder {
            lifecycle.register("recorder", recorder).needs("engine").restart(Restart::NEVER);
        }

        let withdrawals = withdrawals::Part::new(
            config.withdrawals.clone(),
            withdrawals::Home {
                dir: config.data_dir().join(FLOWS_DIR),
                sealing: config.engine.sealing,
                keys: config.engine.keys.clone(),
                reserve_segments: config.engine.reserve_segments,
            },
            Arc::clone(&disk),
            running.clone(),
            live.clone(),
            records.clone(),
        );
        let payments = withdrawals.made();
        let mut withdrawals = lifecycle.register("withdrawals", withdrawals);
        withdrawals.needs("journal").needs("feed").restart(Restart::NEVER);
        if records.is_some() {
            withdrawals.needs("recorder");
        }

        let has_calendars = !config.calendars.is_empty();
        if has_calendars {
            let configured = config.calendars.clone();
            let calendars = calendars::Part::new(configured, running.clone(), live.clone());
            let mut calendars = lifecycle.register("calendars", calendars);
            calendars.needs("journal").needs("feed").restart(Restart::NEVER);
        }

        let queue = config.queue_enabled.then(|| {
            // It starts behind the engine, which sees to it that one process uses the directory.
            let options = QueueOptions {
                disk: Arc::clone(&disk),
                keys: config.engine.keys.clone(),
                buffers_bytes: config.queue_buffers_bytes,
                spare_bytes_max: config.queue_spare_bytes,
                descriptors_max: config.queue_descriptors_max,
                dead_letters_bytes_max: Some(config.gateway.queue.topic_bytes_max)
                    .filter(|bytes| *bytes > 0),
                ..QueueOptions::at(config.data_dir().join(QUEUE_DIR))
            };
            let queue = queue::Part::new(options, running.clone());
            let made = queue.made();
            lifecycle.register("queue", queue).needs("engine").restart(Restart::NEVER);
            made
        });

        let depot = config.depot.enabled.then(|| {
            // It starts behind the engine, as the queue does.
            let depot = depot::Part::new(depot_options(config, &disk), config.gateway.shared_nice);
            let made = depot.made();
            lifecycle.register("depot", depot).needs("engine").restart(Restart::NEVER);
            made
        });

        let statements = config.statements.enabled.then(|| depot.clone()).flatten().map(|depot| {
            let venue = (running.clone(), live.clone());
            let part =
                statements::Part::new(config, Arc::clone(&disk), venue, depot, records.clone());
            let made = part.made();
            let mut part = lifecycle.register("statements", part);
            part.needs("journal").needs("feed").needs("depot").restart(Restart::NEVER);
            if records.is_some() {
                part.needs("recorder");
            }
            made
        });

        let order_rate = Arc::new(OrderRate::new(config.member_order_rate));
        let order_files =
            config.order_files.enabled.then(|| depot.clone()).flatten().map(|depot| {
                let options = OrderFileOptions {
                    disk: Arc::clone(&disk),
                    sealing: config.engine.sealing,
                    keys: config.engine.keys.clone(),
                    limits: config.order_files.limits.clone(),
                    ..OrderFileOptions::at(config.data_dir().join(ORDER_FILES_DIR))
                };
                let venue = (running.clone(), live.clone(), Arc::clone(&order_rate));
                let part = order_files::Part::new(options, venue, depot);
                let made = part.made();
                lifecycle
                    .register("order files", part)
                    .needs("journal")
                    .needs("feed")
                    .needs("depot")
                    .restart(Restart::NEVER)
                    .stop_within(stop_within);
                made
            });

        let storage =
            storage::Part::new(config, disk, running.clone(), queue.clone(), depot.clone());
        let mut storage = lifecycle.register("storage", storage);
        storage.needs("engine").restart(Restart::NEVER);
        if queue.is_some() {
            storage.needs("queue");
        }
        if depot.is_some() {
            storage.needs("depot");
        }

        #[cfg(feature = "s3")]
        let traffic = config.s3.enabled.then(Arc::<rialto_s3::S3Traffic>::default);
        #[cfg(feature = "s3")]
        let metrics = traffic.clone().map(s3::metrics);
        #[cfg(not(feature = "s3"))]
        let metrics = None;
        let gateway = gateway::Part {
            metrics,
            #[cfg(feature = "s3")]
            shares_depot: config.s3.enabled,
            queue,
            depot,
            statements,
            order_files,
            recorder: records,
            config: config.gateway.clone(),
            auth_dir: auth_dir(config.data_dir()),
            keys,
            engine: running.clone(),
            live: live.clone(),
            order_rate,
            payments,
            process,
            deadline: deadline.clone(),
            made: Made::new("gateway"),
            running: None,
        };
        let door = gateway.made.clone();
        let (has_recorder, has_queue) = (gateway.recorder.is_some(), gateway.queue.is_some());
        let (has_depot, has_statements) = (gateway.depot.is_some(), gateway.statements.is_some());
        let has_order_files = gateway.order_files.is_some();
        let mut gateway = lifecycle.register("gateway", gateway);
        gateway
            .needs("journal")
            .needs("feed")
            .needs("withdrawals")
            .needs("storage")
            .restart(Restart::NEVER)
            .stop_within(stop_within);
        if has_recorder {
            gateway.needs("recorder");
        }
        if has_calendars {
            gateway.needs("calendars");
        }
        if has_queue {
            gateway.needs("queue");
        }
        if has_depot {
            gateway.needs("depot");
        }
        if has_statements {
            gateway.needs("statements");
        }
        if has_order_files {
            gateway.needs("order files");
        }

        #[cfg(feature = "s3")]
        let s3 = traffic.map(|traffic| {
            let options = s3_options(config);
            let s3 = s3::Part::new(options, door.clone(), traffic, deadline.clone());
            let made = s3.made();
            let mut s3 = lifecycle.register("s3", s3);
            s3.needs("gateway").needs("depot").restart(Restart::NEVER).stop_within(stop_within);
            made
        });

        lifecycle.start().map_err(|error| {
            // Its hash is stored, so that no later start can show it.
            if let Some(key) = &new_admin_key {
                note(format_args!("admin key: {} (shown only once; keep it)", key.reveal()));
            }
            not_started(error)
        })?;
        let lifecycle = Arc::new(lifecycle);
        let supervisor = lifecycle
            .supervise(SUPERVISE_EVERY, log_change)
            .map_err(|error| Error::Assemble(format!("no thread to supervise with: {error}")))?;
        let started = |failure: rialto_lifecycle::Failure| Error::Assemble(failure.to_string());
        let door = door.get().map_err(started)?;
        let venue = Venue {
            lifecycle,
            supervisor,
            deadline,
            engine: running.get().map_err(started)?,
            ended,
            live: live.get().map_err(started)?,
            keys: Arc::clone(&door.keys),
            local_addr: door.local_addr,
            operations_addr: door.operations_addr,
            #[cfg(feature = "s3")]
            s3_addr: s3.map(|s3| s3.get()).transpose().map_err(started)?.map(|it| *it),
            #[cfg(not(feature = "s3"))]
            s3_addr: None,
        };
        let recovery = recovery.get().map_err(started)?;
        let opening = Opening { recovery: RecoveryReport::clone(&recovery), new_admin_key };
        Ok((venue, opening))
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The feed that queries are answered from.
    #[must_use]
    pub fn live(&self) -> &Arc<Live> {
        &self.live
    }

    /// The API keys.
    #[must_use]
    pub fn keys(&self) -> &KeyStore {
        &self.keys
    }

    /// The address that the gateway listens on.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// The address that probes and operators are answered on, if they have one of their own.
    #[must_use]
    pub fn operations_addr(&self) -> Option<SocketAddr> {
        self.operations_addr
    }

    /// The address of S3, if the depot is served over it.
    #[must_use]
    pub fn s3_addr(&self) -> Option<SocketAddr> {
        self.s3_addr
    }

    /// Waits until queries know of `seq`.
    ///
    /// # Errors
    /// They do not within `timeout`, or never will.
    pub fn wait_visible(&self, seq: Seq, timeout: Duration) -> Result<(), Error> {
        let end = Instant::now() + timeout;
        while self.live.seq() < seq {
            self.check()?;
            if Instant::now() >= end {
                return Err(Error::Assemble(format!(
                    "the feed has not reached sequence {seq} within {} s",
                    timeout.as_secs()
                )));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }

    /// Whether everything runs, or may do so again by itself.
    ///
    /// # Errors
    /// A component was given up; the error says which, why, and what to do.
    pub fn check(&self) -> Result<(), Error> {
        given_up(&self.lifecycle).map_or(Ok(()), Err)
    }

    /// Ends the venue: answers what is in flight, loses nothing, and says how it went. Requests
    /// have half of the time; requests unfinished at the deadline are aborted. What was
    /// acknowledged is on disk in any case.
    ///
    /// # Errors
    /// Work was not finished, or a component had failed for good.
    pub fn close(self, deadline: Duration) -> Result<Closing, Error> {
        let failed = given_up(&self.lifecycle);
        tracing::info!(
            within_ms = ms(deadline),
            "the venue stops: it finishes the accepted requests"
        );
        self.deadline.begin(deadline);
        let report = self.lifecycle.shutdown(deadline / 2);
        drop(self.supervisor);
        log_stop(&report, &self.ended);
        if let Some(error) = failed {
            return Err(error);
        }
        match self.ended.get() {
            Ok(engine) if report.is_clean() => Ok(Closing { report, engine: (*engine).clone() }),
            _ => Err(Error::NotDrained(format!(
                "not everything was finished by the deadline; the journal has everything that was \
                 acknowledged, and the next start replays it\n{report}"
            ))),
        }
    }
}

/// The options of S3: times, rates and the priority of threads are those of the gateway.
#[cfg(feature = "s3")]
fn s3_options(config: &Config) -> rialto_s3::S3Options {
    let gateway = &config.gateway;
    rialto_s3::S3Options {
        allow_remote: gateway.allow_remote,
        nice: gateway.shared_nice,
        head_timeout: gateway.head_timeout,
        body_timeout: gateway.body_timeout,
        upload_rate_min: gateway.depot.upload_rate_min,
        answer_timeout: gateway.answer_timeout,
        ..config.s3.options.clone()
    }
}

/// The options of the depot of a venue. Its files are encrypted and compressed as the engine's logs.
fn depot_options(config: &Config, disk: &Arc<dyn Disk>) -> DepotOptions {
    let depot = &config.depot;
    let dir = depot.dir.clone().unwrap_or_else(|| config.data_dir().join(DEPOT_DIR));
    let options = DepotOptions::at(dir);
    DepotOptions {
        level: config.engine.level,
        disk: Arc::clone(disk),
        volumes: VolumeOptions {
            keys: config.engine.keys.clone(),
            sealing: BlockSealing {
                encryption: config.engine.sealing.encryption,
                ..BlockSealing::default()
            },
            free_bytes_min: depot.free_bytes_min,
            volume_unsynced_bytes_max: depot.unsynced_bytes / 4,
            unsynced_bytes_max: depot.unsynced_bytes,
            bucket_bytes_max: depot.bucket_bytes,
            buckets: crate::buckets::buckets(),
            ..VolumeOptions::default()
        },
        rates: depot.rates,
        inline_bytes_max: depot.inline_bytes_max,
        file_bytes_max: depot.upload_bytes_max,
        claim_duration: depot.claim_duration,
        attempts_max: depot.attempts_max,
        descriptors_max: depot.descriptors_max,
        ..options
    }
}

/// Logs what recovery found, and where the venue can be reached.
fn log_opening(venue: &Venue, opening: &Opening, took: Duration) {
    let recovery = &opening.recovery;
    let (last_seq, took_ms) = (recovery.last.0, ms(recovery.took));
    let RecoveryReport { replayed, epoch, .. } = recovery;
    tracing::info!(last_seq, replayed, took_ms, epoch, "recovered: {recovery}");
    for skipped in &recovery.skipped {
        let (seq, reason) = (skipped.seq.0, &skipped.reason);
        tracing::warn!(seq, %reason, "a damaged snapshot was skipped");
    }
    for (log, cut) in [("journal", &recovery.journal_cut), ("events", &recovery.events_cut)] {
        if let Some(cut) = cut {
            tracing::info!(log, %cut, "an unfinished tail was cut off; nothing proves that any of it was acknowledged");
        }
    }
    if let Some(lost_to) = recovery.events_lost_from {
        tracing::warn!(last_seq, lost_to = lost_to.0, "the journal has lost an unsynced tail");
    }
    let (address, operations) = (venue.local_addr, venue.operations_addr);
    let operations = operations.map(tracing::field::display);
    tracing::info!(%address, operations, took_ms = ms(took), "the venue takes requests");
}

/// Logs the result of the stop. Answers to callers stay valid in any case.
fn log_stop(report: &StopReport, ended: &engine::Ended) {
    for running in &report.still_running {
        tracing::warn!("not finished by the deadline: {running}");
    }
    for stopped in report.stopped.iter().filter(|stopped| stopped.failure.is_some()) {
        tracing::error!("a component did not end in order: {stopped}");
    }
    let engine = ended.get().ok();
    let (mut last_seq, mut snapshot) = (None, None);
    if let Some(engine) = &engine {
        last_seq = Some(engine.marks.applied.0);
        match &engine.snapshot {
            Some(Ok(seq)) => snapshot = Some(seq.0),
            Some(Err(reason)) => tracing::warn!("no snapshot could be made at the stop: {reason}"),
            None => {}
        }
    }
    let drained_ms = ms(report.drained_in);
    match report.is_clean() {
        true => tracing::info!(drained_ms, last_seq, snapshot, "the venue has stopped"),
        false => {
            tracing::error!(
                drained_ms,
                last_seq,
                snapshot,
                "the venue has stopped, but not in order"
            );
        }
    }
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Logs a component's change of state, at a level that says whether an operator must act.
fn log_change(StatusChange { name, from, to }: &StatusChange) {
    let from = from.word();
    match to {
        ComponentState::GivenUp(_) => tracing::error!("component {name} was {from} and is {to}"),
        ComponentState::NotReady(_) | ComponentState::Restarting { .. } => {
            tracing::warn!("component {name} was {from} and is {to}");
        }
        _ => tracing::info!("component {name} was {from} and is {to}"),
    }
}

/// The first component that was given up.
fn given_up(lifecycle: &Lifecycle) -> Option<Error> {
    lifecycle.status().into_iter().find_map(|status| match status.state {
        ComponentState::GivenUp(reason) => {
            Some(Error::GivenUp { name: status.name.into_owned(), reason })
        }
        _ => None,
    })
}

/// The error of a failed start, with the exit code of the engine's own error.
fn not_started(error: ComponentStartError) -> Error {
    match error {
        ComponentStartError::Component { name, source } => {
            match source.downcast::<rialto_engine::StartError>() {
                Ok(refusal) => Error::Start(refusal),
                // A calendar that was changed since the configuration was read, or has no days to come.
                Err(source) => match source.downcast::<ConfigError>() {
                    Ok(fault) => Error::Config(*fault),
                    Err(source) => Error::Assemble(format!("{name}: {}", tell_all(&*source))),
                },
            }
        }
        error => Error::Assemble(tell_all(&error)),
    }
}

/// Where the API keys of a data directory live.
#[must_use]
pub fn auth_dir(data_dir: &Path) -> PathBuf {
    data_dir.join(AUTH_DIR)
}
