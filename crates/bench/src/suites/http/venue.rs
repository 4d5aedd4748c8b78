//! A venue behind a gateway, with members, keys and signed requests.

use super::connection::Requests;
use super::stream::FillStream;
use crate::drive::{EventTally, ServedEngine, Venue, VenueSettings, read_back_core};
use crate::error::{BenchError, broken, verify};
use rialto_core::Core;
use rialto_engine::Stats;
use rialto_gateway::{
    KeyRequest, KeyStore, QueueGrant, QueueRight, Scope, Secret, SignRequest, TopicPattern, now_us,
};
use rialto_model::{AccountId, Command, MemberId, Side};
use rialto_queue::Queue;
use rialto_workload::{Operation, PRICE_SCALE, QUANTITY_SCALE, Workload};
use std::net::SocketAddr;
use std::path::Path;

/// The route.
const PATH: &str = "/v1/orders";

/// A member's key.
struct Key {
    id: String,
    secret: Secret,
}

/// A venue that serves HTTP.
pub(crate) struct Served {
    served: ServedEngine,
    keys: Vec<Key>,
}

impl Served {
    /// Opens accounts in a new venue, and makes keys for the first `members`. Rate limits are
    /// disabled; every other check is on.
    pub(crate) fn start(
        case: &str,
        settings: VenueSettings,
        directory: &Path,
        opening: Vec<Command>,
        members: u32,
        queue: Option<Queue>,
    ) -> Result<Served, BenchError> {
        let Venue { engine, producer } =
            Venue::open(case, settings, &directory.join("data"), opening)?;
        drop(producer);
        let served = ServedEngine::start(case, engine, directory, queue)?;
        // A gateway takes no timestamps of its first second from keys that were there before it.
        let key = |member| key(case, &served.keys, member, Scope::Trade, Vec::new());
        let keys = (1..=members).map(key).collect::<Result<_, _>>()?;
        Ok(Served { served, keys })
    }

    /// A key that may only publish on a topic: its id and its secret.
    pub(crate) fn producer_of(
        &self,
        case: &str,
        topic: &str,
    ) -> Result<(String, String), BenchError> {
        let topics = TopicPattern::new(topic).map_err(broken(case, "name a topic"))?;
        let rights = vec![QueueRight::Produce];
        let grant =
            QueueGrant { topics, rights, topics_max: None, groups_max: None, bytes_max: None };
        let Key { id, secret } = key(case, &self.served.keys, 1, Scope::Read, vec![grant])?;
        Ok((id, secret.reveal()))
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.served.address()
    }

    /// Orders as requests, signed now, by the keys in turn.
    pub(crate) fn signed(&self, bodies: impl Iterator<Item = String>) -> Requests {
        let time_us = now_us();
        let mut requests = Requests::default();
        for (position, body) in bodies.enumerate() {
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

    /// A stream of the fills of a member's account.
    pub(crate) fn fills_of(&self, case: &str, member: u32) -> Result<FillStream, BenchError> {
        let Key { id, secret } = key(case, &self.served.keys, member, Scope::Read, Vec::new())?;
        FillStream::open(self.address(), &id, &secret, AccountId(member))
            .map_err(broken(case, "open a stream"))
    }

    /// Ends the venue and verifies that every answered order is in its journal.
    pub(crate) fn end(self, case: &str, commands: u64) -> Result<u64, BenchError> {
        Ok(self.end_with_state(case, commands)?.events.tally.trades)
    }

    /// The same, and the state at the end.
    pub(crate) fn end_with_state(self, case: &str, commands: u64) -> Result<Ended, BenchError> {
        let engine = self.served.end(case)?;
        let marks = engine.marks();
        verify(case, "commands in the journal", marks.synced.0, commands)?;
        let stats = engine.stats();
        let (events, core) = read_back_core(case, engine, marks.synced)?;
        Ok(Ended { events, core, stats })
    }
}

/// A venue that has ended.
pub(crate) struct Ended {
    /// What its events say.
    pub(crate) events: EventTally,
    /// The state of its journal.
    pub(crate) core: Core,
    pub(crate) stats: Stats,
}

/// A new key of a member for its account.
fn key(
    case: &str,
    store: &KeyStore,
    member: u32,
    scope: Scope,
    queues: Vec<QueueGrant>,
) -> Result<Key, BenchError> {
    let request = KeyRequest {
        label: String::new(),
        member: MemberId(member),
        accounts: vec![AccountId(member)],
        scopes: [scope].into_iter().collect(),
        queues,
        depot: Vec::new(),
        expires_us: None,
    };
    let (info, secret) = store.create(request).map_err(broken(case, "make a key"))?;
    Ok(Key { id: info.id, secret })
}

/// Request line and headers that every request has.
pub(crate) fn head(path: &str, body_bytes: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: rialto\r\ncontent-type: application/json\r\n\
         content-length: {body_bytes}"
    )
}

/// The orders of a workload as JSON.
pub(crate) fn bodies(workload: &Workload) -> impl Iterator<Item = String> + '_ {
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

/// A number with decimal places.
pub(crate) fn decimal(number: i64, places: u8) -> String {
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
