//! The depot over S3 as a component.

use super::closing::Deadline;
use super::gateway::Door;
use super::made::Made;
use rialto_gateway::{DepotAccess, MoreMetrics, OtherMetric};
use rialto_lifecycle::{Component, Failure, Health};
use rialto_s3::{S3Options, S3Server, S3Traffic, SigningKey, SigningKeys};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

pub(super) struct Part {
    options: S3Options,
    door: Made<Door>,
    traffic: Arc<S3Traffic>,
    deadline: Deadline,
    made: Made<SocketAddr>,
    running: Option<S3Server>,
}

/// The keys of the gateway.
struct GatewayKeys(DepotAccess);

impl SigningKeys for GatewayKeys {
    fn find(&self, id: &str) -> Option<SigningKey> {
        let key = self.0.key(id)?;
        let secrets = key.secrets.iter().map(|secret| secret.reveal()).collect();
        Some(SigningKey { id: key.id, secrets, principal: key.principal })
    }

    fn take_request(&self, id: &str) -> bool {
        self.0.take_request(id)
    }

    fn take_of_address(&self, address: IpAddr) -> bool {
        self.0.take_of_address(address)
    }
}

/// Reads the metrics of S3.
pub(super) fn metrics(traffic: Arc<S3Traffic>) -> MoreMetrics {
    let counter = |name, help, value| OtherMetric { name, help, is_counter: true, value };
    let gauge = |name, help, value| OtherMetric { name, help, is_counter: false, value };
    Arc::new(move || {
        let it = &traffic;
        vec![
            gauge("rialto_s3_connections", "Open S3 connections.", it.connections()),
            counter(
                "rialto_s3_connections_refused_total",
                "S3 connections closed at once.",
                it.connections_refused(),
            ),
            gauge("rialto_s3_requests", "S3 requests in progress.", it.requests()),
            counter("rialto_s3_answered_total", "S3 requests answered as asked.", it.answered()),
            counter("rialto_s3_refused_total", "S3 requests refused as wrong.", it.refused()),
            counter("rialto_s3_limited_total", "S3 requests refused for now.", it.limited()),
            counter("rialto_s3_failed_total", "S3 requests that failed.", it.failed()),
            counter(
                "rialto_s3_downloads_cut_total",
                "S3 downloads that ended early because the content could not be read.",
                it.downloads_cut(),
            ),
        ]
    })
}

impl Part {
    /// `traffic` is counted.
    pub(super) fn new(
        options: S3Options,
        door: Made<Door>,
        traffic: Arc<S3Traffic>,
        deadline: Deadline,
    ) -> Part {
        Part { options, door, traffic, deadline, made: Made::new("S3 server"), running: None }
    }

    pub(super) fn made(&self) -> Made<SocketAddr> {
        self.made.clone()
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        let access = self.door.get()?.take_depot_access();
        let access = access.ok_or_else(|| Failure::from("the gateway has no depot".to_owned()))?;
        let (bus, keys) = (Arc::clone(access.bus()), Arc::new(GatewayKeys(access)));
        let traffic = Arc::clone(&self.traffic);
        let server = S3Server::start(self.options.clone(), bus, keys, traffic)?;
        tracing::info!(address = %server.local_addr(), "the depot is served over S3");
        self.made.put(server.local_addr());
        self.running = Some(server);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        let Some(server) = self.running.take() else { return Ok(()) };
        // The components after it need time too.
        match server.shutdown(self.deadline.left() / 2) {
            true => Ok(()),
            false => Err("some S3 connections had to be broken off at the deadline".into()),
        }
    }

    fn health(&mut self) -> Health {
        match self.running {
            Some(_) => Health::Up,
            None => Health::Failed("it was not started".to_string()),
        }
    }
}
