//! The exchange of order files as a component: its history, and the threads that work on files.

use super::made::Made;
use rialto_depot::Depot;
use rialto_desk::{Live, VenueParts};
use rialto_engine::Engine;
use rialto_lifecycle::{Component, Failure, Health};
use rialto_order_files::{OrderFileCounts, OrderFileOptions, OrderFiles};

pub(super) struct Part {
    options: OrderFileOptions,
    engine: Made<Engine>,
    live: Made<Live>,
    depot: Made<Depot>,
    made: Made<OrderFileCounts>,
    running: Option<OrderFiles>,
}

impl Part {
    pub(super) fn new(
        options: OrderFileOptions,
        engine: Made<Engine>,
        live: Made<Live>,
        depot: Made<Depot>,
    ) -> Part {
        Part { options, engine, live, depot, made: Made::new("order files"), running: None }
    }

    /// What was done, for the metrics.
    pub(super) fn made(&self) -> Made<OrderFileCounts> {
        self.made.clone()
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        let venue = VenueParts { engine: self.engine.get()?, live: self.live.get()? };
        let depot = Depot::clone(&*self.depot.get()?);
        let exchange = OrderFiles::open(venue, depot, self.options.clone())?;
        self.made.put(exchange.counts());
        self.running = Some(exchange);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        // Rows that were sent are answered first.
        self.running = None;
        Ok(())
    }

    fn health(&mut self) -> Health {
        // Without it files wait: that is no reason to send orders elsewhere. The metric
        // `rialto_order_files_up` shows it.
        match self.running {
            Some(_) => Health::Up,
            None => Health::Failed("it was not started".to_string()),
        }
    }
}
