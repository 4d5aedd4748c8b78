//! The depot as a component: files of tenants, which callers with keys store, claim and read.

use super::made::Made;
use rialto_depot::{Depot, DepotError, DepotOptions, DepotReport};
use rialto_lifecycle::{Component, Failure, Health};
use rialto_threads::lower_priority;
use std::sync::Arc;

pub(super) struct Part {
    options: DepotOptions,
    /// The nice value of its threads.
    nice: u8,
    made: Made<Depot>,
    running: Option<Arc<Depot>>,
}

impl Part {
    pub(super) fn new(options: DepotOptions, nice: u8) -> Part {
        Part { options, nice, made: Made::new("depot"), running: None }
    }

    /// Opens the pool on a thread of a lower priority, which all its threads inherit: orders come
    /// first when the processors are busy.
    fn open(&self) -> Result<Result<Depot, DepotError>, Failure> {
        std::thread::scope(|scope| {
            let opening = std::thread::Builder::new().name("depot-open".to_owned());
            let opening = opening.spawn_scoped(scope, || {
                lower_priority(self.nice);
                Depot::open(self.options.clone())
            })?;
            opening.join().map_err(|_| Failure::from("the opening of the depot panicked"))
        })
    }

    pub(super) fn made(&self) -> Made<Depot> {
        self.made.clone()
    }
}

/// Logs what recovery found.
fn tell(report: &DepotReport) {
    let DepotReport { tenants, waiting, dead, kept, .. } = report;
    tracing::info!(tenants, waiting, dead, kept, "the depot is open");
    for volume in &report.absent_volumes {
        tracing::warn!("a volume of the depot is absent; its files cannot be read: {volume}");
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        let depot = Arc::new(self.open()??);
        tell(depot.report());
        self.made.put(Arc::clone(&depot));
        self.running = Some(depot);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        // Holders of it then get an error that says that it is closed.
        match self.running.take() {
            Some(depot) => Ok(depot.close()?),
            None => Ok(()),
        }
    }

    fn health(&mut self) -> Health {
        // A pool that failed refuses files and says why, and `/v1/health` shows it: that is no reason to
        // send orders elsewhere.
        match self.running {
            Some(_) => Health::Up,
            None => Health::Failed("it was not started".to_string()),
        }
    }
}
