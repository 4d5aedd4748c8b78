//! A venue behind a gateway, with members, keys and signed requests.

use super::connection::Requests;
use crate::drive::{Venue, VenueSettings, read_back};
use crate::error::{BenchError, broken, verify};
use rialto_desk::{Live, LiveConfig, VenueParts};
use rialto_engine::Engine;
use rialto_gateway::{
    Gateway, GatewayConfig, GatewayParts, KeyRequest, KeyStore, MasterKey, QueueGrant, QueueRight,
    Scope, Secret, SignRequest, TopicPattern, now_us,
};
use rialto_model::{AccountId, MemberId, Side};
use rialto_queue::Queue;
use rialto_workload::{Operation, PRICE_SCALE, QUANTITY_SCALE, Workload};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The route.
const PATH: &str = "/v1/orders";
const DEADLINE: Duration = Duration::from_secs(60);

/// A member's key.
struct Key {
    id: String,
    secret: Secret,
}

/// A venue that serves HTTP.
pub(super) struct Served {
    gateway: Gateway,
    live: Arc<Live>,
    engine: Arc<Engine>,
    store: Arc<KeyStore>,
    keys: Vec<Key>,
}

impl Served {
    /// Creates the accounts of a workload in a new venue and keys for the first `members`. Rate
    /// limits are disabled; every other check is on.
    pub(super) fn start(
        case: &str,
        settings: VenueSettings,
        directory: &Path,
        workload: &Workload,
        members: u32,
        queue: Option<Queue>,
    ) -> Result<Served, BenchError> {
        let Venue { engine, producer } =
            Venue::open(case, settings, &directory.join("data"), workload)?;
        drop(producer);
        let engine = Arc::new(engine);
        let live = Live::start(&engine, LiveConfig::default())
            .map_err(broken(case, "start the live feed"))?;
        let master = MasterKey::Given([7; 32]);
        let store = KeyStore::open(&directory.join("auth"), &master)
            .map_err(broken(case, "open the key store"))?
            .keys;
        let store = Arc::new(store);
        let config = GatewayConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            key_rate: u32::MAX,
            key_burst: u32::MAX,
            signature_window: GatewayConfig::SIGNATURE_WINDOW_MAX,
            ..GatewayConfig::default()
        };
        let venue = VenueParts { engine: Arc::clone(&engine), live: Arc::clone(&live) };
        let parts = GatewayParts { queue, ..GatewayParts::default() };
        let gateway = Gateway::start_with(config, venue, Arc::clone(&store), parts)
            .map_err(broken(case, "start the gateway"))?;
        // For its first second, a gateway refuses timestamps of keys that were there before it.
        let mut keys = Vec::new();
        for user in 1..=members {
            let request = KeyRequest {
                label: String::new(),
                member: MemberId(user),
                accounts: vec![AccountId(user)],
                scopes: [Scope::Trade].into_iter().collect(),
                queues: Vec::new(),
                expires_us: None,
            };
            let (info, secret) = store.create(request).map_err(broken(case, "make a key"))?;
            keys.push(Key { id: info.id, secret });
        }
        Ok(Served { gateway, live, engine, store, keys })
    }

    /// A key that may only publish on a topic: its id and its secret.
    pub(super) fn producer_of(
        &self,
        case: &str,
        topic: &str,
    ) -> Result<(String, String), BenchError> {
        let topics = TopicPattern::new(topic).map_err(broken(case, "name a topic"))?;
        let rights = vec![QueueRight::Produce];
        let grant =
            QueueGrant { topics, rights, topics_max: None, groups_max: None, bytes_max: None };
        let request = KeyRequest {
            label: String::new(),
            member: MemberId(1),
            accounts: vec![AccountId(1)],
            scopes: [Scope::Read].into_iter().collect(),
            queues: vec![grant],
            expires_us: None,
        };
        let (info, secret) = self.store.create(request).map_err(broken(case, "make a key"))?;
        Ok((info.id, secret.reveal()))
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.gateway.local_addr()
    }

    /// The orders of a workload as requests, signed now, by the keys in turn.
    pub(super) fn signed(&self, workload: &Workload) -> Requests {
        let time_us = now_us();
        let mut requests = Requests::default();
        for (position, body) in bodies(workload).enumerate() {
            let Key { id, secret } = &self.keys[position % self.keys.len()];
            let nonce = position.to_string();
            let signed = SignRequest {
                timestamp_us: time_us,
                nonce: &nonce,
                method: "POST",
                path: PATH,
                durability: "",
                body: body.as_bytes(),
            };
            let mut head = head(PATH, body.len());
            for (name, value) in signed.headers(id, secret.as_bytes()) {
                head.push_str(&format!("\r\n{name}: {value}"));
            }
            requests.push(&head, body.as_bytes());
        }
        requests
    }

    /// Ends the venue and verifies that every answered order is in its journal.
    pub(super) fn end(self, case: &str, commands: u64) -> Result<u64, BenchError> {
        let Served { gateway, live, engine, store, keys } = self;
        drop((store, keys));
        verify(case, "whether every request was finished", gateway.shutdown(DEADLINE), true)?;
        live.stop();
        drop(live);
        let marks = engine.marks();
        verify(case, "commands in the journal", marks.synced.0, commands)?;
        let engine = Arc::into_inner(engine);
        verify(case, "whether the engine is in nobody else's hands", engine.is_some(), true)?;
        let Some(engine) = engine else { return Ok(0) };
        Ok(read_back(case, engine, marks.synced)?.tally.trades)
    }
}

/// Request line and common headers.
pub(super) fn head(path: &str, body_bytes: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: rialto\r\ncontent-type: application/json\r\n\
         content-length: {body_bytes}"
    )
}

/// The orders of a workload as JSON.
pub(super) fn bodies(workload: &Workload) -> impl Iterator<Item = String> + '_ {
    workload.operations.iter().filter_map(|operation| {
        let Operation::Place { side, price, quantity, .. } = operation else { return None };
        let side = if *side == Side::Buy { "buy" } else { "sell" };
        let quantity = decimal(quantity.0, QUANTITY_SCALE);
        let price = decimal(price.0, PRICE_SCALE);
        Some(format!(
            r#"{{"instrument":"BTC-USD","side":"{side}","quantity":"{quantity}","price":"{price}"}}"#
        ))
    })
}

fn decimal(number: i64, places: u8) -> String {
    let unit = 10_i64.pow(places.into());
    format!("{}.{:0places$}", number / unit, number % unit, places = usize::from(places))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_zeros() {
        assert_eq!(decimal(40_000_000_000_123, 9), "40000.000000123");
        assert_eq!(decimal(50_000, 6), "0.050000");
    }
}
