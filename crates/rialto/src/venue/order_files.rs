//! The exchange of order files as a component: its history, and the threads that work on files.

use super::made::Made;
use rialto_depot::Depot;
use rialto_desk::{Live, OrderRate, VenueParts};
use rialto_engine::Engine;
use rialto_lifecycle::{Component, Failure, Health};
use rialto_order_files::{OrderFileCounts, OrderFileOptions, OrderFiles};
use std::sync::Arc;

pub(super) struct Part {
    options: OrderFileOptions,
    engine: Made<Engine>,
    live: Made<Live>,
    order_rate: Arc<OrderRate>,
    depot: Made<Depot>,
    made: Made<OrderFileCounts>,
    running: Option<OrderFiles>,
}

impl Part {
    pub(super) fn new(
        options: OrderFileOptions,
        (engine, live, order_rate): (Made<Engine>, Made<Live>, Arc<OrderRate>),
        depot: Made<Depot>,
    ) -> Part {
        let made = Made::new("order files");
        Part { options, engine, live, order_rate, depot, made, running: None }
    }

    /// What was done, for the metrics.
    pub(super) fn made(&self) -> Made<OrderFileCounts> {
        self.made.clone()
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        let venue = VenueParts::new(self.engine.get()?, self.live.get()?)
            .with_order_rate(Arc::clone(&self.order_rate));
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
