//! Long bodies that must not be read or parsed in vain.

use crate::honest::unharmed;
use crate::pace::{scaled, turn};
use crate::venue::{Besieged, Member};
use crate::wire::{ask, attacker, code, connect_from, head, signed};
use serde_json::Value;
use std::io::Write;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The longest body by default.
const BODY_BYTES: usize = 2 << 20;
/// The most memory for the bodies of 200 unauthenticated clients.
const STRANGERS_BYTES_MAX: u64 = 96 << 20;

/// `[{},{},…]`, of the longest body.
fn empty_objects() -> Vec<u8> {
    let mut body = b"[".to_vec();
    while body.len() < BODY_BYTES - 4 {
        body.extend_from_slice(b"{},");
    }
    body.extend_from_slice(b"{}]");
    body
}

/// Publishes on one connection until the time is over; returns the last answer.
fn publish(member: &Member, number: usize, to: SocketAddr, body: &[u8], end: Instant) -> String {
    let mut last = String::new();
    while Instant::now() < end {
        let Ok(mut stream) = connect_from(attacker(number), to) else { continue };
        let request = signed(member, "POST", "/v1/queues/nowhere/messages", body);
        if let Ok((_, answer)) = ask(&mut stream, &request) {
            last = code(&answer).to_string();
        }
    }
    last
}

#[test]
fn a_long_body_for_no_topic_delays_no_order() {
    let mut turn = turn();
    let besieged = Besieged::begin("[queue]\nenabled = true\n");
    let honest = besieged.trader();
    let attackers = besieged.member(&["read"], &Value::Null);
    let (to, body) = (besieged.address(), empty_objects());
    let time = Duration::from_secs(scaled(3, 15) as u64);
    while turn.another() {
        let codes = unharmed("2 MB of empty objects for no topic", &besieged, &honest, || {
            let end = Instant::now() + time;
            std::thread::scope(|scope| {
                let sending: Vec<_> = (0..4)
                    .map(|number| {
                        let (attackers, body) = (&attackers, &body);
                        scope.spawn(move || publish(attackers, number, to, body, end))
                    })
                    .collect();
                sending.into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
            })
        });
        for code in codes {
            assert!(matches!(&*code, "forbidden" | "unknown_topic" | "rate_limited"), "{code}");
        }
    }
    besieged.end();
}

#[test]
fn strangers_bodies_take_little_memory() {
    let mut turn = turn();
    let besieged = Besieged::begin("[queue]\nenabled = true\n");
    let honest = besieged.trader();
    let part = vec![b' '; BODY_BYTES - 1];
    while turn.another() {
        let more = unharmed("200 unsigned bodies of 2 MiB", &besieged, &honest, || {
            let before = besieged.memory_bytes();
            let mut held = Vec::new();
            for number in 0..200 {
                let Ok(mut stream) = connect_from(attacker(number % 4), besieged.address()) else {
                    continue;
                };
                // An invented key and signature.
                let claims = format!(
                    "x-rialto-key: rk_0123456789abcdef01234567\r\nx-rialto-timestamp: {}\r\n\
                     x-rialto-signature: {}\r\n",
                    rialto_gateway::now_us(),
                    "0".repeat(64)
                );
                let head = head("POST", "/v1/queues/nowhere/messages", BODY_BYTES, &claims);
                let _ = stream.set_write_timeout(Some(Duration::from_millis(200)));
                // The venue should not read it.
                let _ = stream.write_all(&head).and_then(|()| stream.write_all(&part));
                held.push(stream);
            }
            besieged.memory_bytes().saturating_sub(before)
        });
        println!("200 unsigned bodies of 2 MiB: {} MiB more", more >> 20);
        assert!(more <= STRANGERS_BYTES_MAX, "strangers hold {} MiB", more >> 20);
    }
    besieged.end();
}
