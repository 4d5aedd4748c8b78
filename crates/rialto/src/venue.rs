//! Assembles a venue: disk, engine, feed, keys, gateway. Nothing else knows all of them.
//!
//! They start from the inside out and end from the outside in: the gateway stops taking requests
//! and answers those in flight, the engine finishes what it has taken, confirms the journal and
//! makes a snapshot, and the feed ends last, when there is nothing left to tell.

use crate::config::Config;
use crate::terminal::note;
use crate::{Error, tell_all};
use rialto_disk::Disk;
use rialto_engine::{Engine, Health, RecoveryReport, ShutdownReport};
use rialto_gateway::{AdminKey, Gateway, KeyStore, Live, MasterKey};
use rialto_model::Seq;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where the sealed API keys live: beside the journal and never in it.
const AUTH_DIR: &str = "auth";
/// How often something that has no way to call back is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// A venue that runs.
pub struct Venue {
    engine: Arc<Engine>,
    live: Arc<Live>,
    keys: Arc<KeyStore>,
    gateway: Gateway,
}

/// What a start has to tell.
#[derive(Debug)]
pub struct Opening {
    /// What recovery did, in one line.
    pub recovery: RecoveryReport,
    /// The admin key, if it was made just now. It cannot be shown again.
    pub new_admin_key: Option<AdminKey>,
}

impl Venue {
    /// Recovers what is on disk, brings the feed up to date and opens the door.
    ///
    /// # Errors
    /// Something refuses to start; the error says what, and what to do.
    pub fn open(config: &Config, disk: Arc<dyn Disk>) -> Result<(Venue, Opening), Error> {
        let (engine, recovery) = Engine::start(config.engine.clone(), disk)?;
        let engine = Arc::new(engine);
        let assembled = |error: &dyn std::error::Error| Error::Assemble(tell_all(error));
        let live = Live::start(&engine, config.live.clone()).map_err(|error| assembled(&error))?;
        catch_up(&engine, &live)?;
        let opened = KeyStore::open(&auth_dir(config.data_dir()), &MasterKey::Find)
            .map_err(|error| assembled(&error))?;
        let keys = Arc::new(opened.keys);
        let gateway = Gateway::start(
            config.gateway.clone(),
            Arc::clone(&engine),
            Arc::clone(&live),
            Arc::clone(&keys),
        )
        .map_err(|error| {
            // Its hash is stored, so that no later start can show it.
            if let Some(key) = &opened.new_admin_key {
                note(format_args!("admin key: {} (shown this once; keep it)", key.reveal()));
            }
            assembled(&error)
        })?;
        let venue = Venue { engine, live, keys, gateway };
        Ok((venue, Opening { recovery, new_admin_key: opened.new_admin_key }))
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
        self.gateway.local_addr()
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

    /// Whether everything runs.
    ///
    /// # Errors
    /// Something has stopped by itself; the error says what, and what to do.
    pub fn check(&self) -> Result<(), Error> {
        check(&self.engine, &self.live)
    }

    /// Ends the venue: answers what is in flight, loses nothing, and says how it went. What is
    /// not finished by the deadline is broken off; what was acknowledged is on disk in any case.
    ///
    /// # Errors
    /// Something was not finished, or the engine had failed.
    pub fn close(self, deadline: Duration) -> Result<ShutdownReport, Error> {
        let end = Instant::now() + deadline;
        let left = || end.saturating_duration_since(Instant::now());
        let answered = self.gateway.shutdown(left());
        let Some(engine) = alone(self.engine, end) else {
            return Err(Error::NotDrained(
                "requests were still being answered at the deadline; the journal has everything \
                 that was acknowledged, and the next start replays it"
                    .to_string(),
            ));
        };
        let report = engine.shutdown(left());
        self.live.stop();
        match &report.health {
            Health::Failed(fault) => Err(Error::EngineFailed(tell_all(&**fault))),
            _ if !report.finished => Err(Error::NotDrained(format!(
                "{report}; the journal has everything that was acknowledged, and the next start \
                 replays it"
            ))),
            _ if !answered => Err(Error::NotDrained(format!(
                "{report}; but some connections had to be broken off at the deadline"
            ))),
            _ => Ok(report),
        }
    }
}

/// Waits until the feed knows everything that was released before. The door opens only then:
/// until then queries would be answered from the past, and deny orders that were acknowledged.
fn catch_up(engine: &Engine, live: &Live) -> Result<(), Error> {
    let released = engine.released();
    while live.seq() < released {
        check(engine, live)?;
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

fn check(engine: &Engine, live: &Live) -> Result<(), Error> {
    if let Health::Failed(fault) = engine.health() {
        return Err(Error::EngineFailed(tell_all(&*fault)));
    }
    match live.fault() {
        Some(fault) => {
            Err(Error::EngineFailed(format!("the live feed cannot go on ({})", tell_all(&*fault))))
        }
        None => Ok(()),
    }
}

/// The engine, once nobody else holds it.
fn alone(mut engine: Arc<Engine>, end: Instant) -> Option<Engine> {
    loop {
        match Arc::try_unwrap(engine) {
            Ok(engine) => return Some(engine),
            Err(shared) if Instant::now() < end => engine = shared,
            Err(shared) => {
                shared.close_intake();
                return None;
            }
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Where the API keys of a data directory live.
#[must_use]
pub fn auth_dir(data_dir: &Path) -> PathBuf {
    data_dir.join(AUTH_DIR)
}
