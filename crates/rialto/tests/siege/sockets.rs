//! Connections: too many of them, from one address and from several.

use crate::honest::unharmed;
use crate::pace::{scaled, turn};
use crate::venue::{Besieged, wait_until};
use crate::wire::{CLOSE, CONTINUATION, Socket, TEXT, attacker, connect_from};
use std::net::TcpStream;

/// As many connections as the venue takes by default.
const CONNECTIONS: usize = 1_024;

/// Connects until the venue or the system refuses.
fn occupy(besieged: &Besieged, connections: usize, addresses: usize) -> Vec<TcpStream> {
    let to = besieged.address();
    (0..connections)
        .filter_map(|number| connect_from(attacker(number % addresses), to).ok())
        .collect()
}

#[test]
#[ignore = "connections have no bound per address"]
fn one_address_cannot_take_every_connection() {
    let mut turn = turn();
    let besieged = Besieged::begin("");
    let honest = besieged.trader();
    while turn.another() {
        unharmed("1,024 connections of one address", &besieged, &honest, || {
            let held = occupy(&besieged, CONNECTIONS, 1);
            // New connections, as a supervisor's probe and as a member's.
            for _ in 0..20 {
                besieged.assert_live();
            }
            let answer = besieged.client(&honest).send("GET", "/v1/balances", None).unwrap();
            assert_eq!(answer.status, 200, "{}", answer.body);
            drop(held);
        });
    }
    besieged.end();
}

#[test]
#[ignore = "connections can take every descriptor"]
fn silent_connections_leave_descriptors_for_the_journal() {
    let mut turn = turn();
    let besieged = Besieged::with_descriptors(1_024, "");
    let honest = besieged.trader();
    let writer = besieged.trader();
    while turn.another() {
        unharmed("silent connections at a soft limit of 1,024", &besieged, &honest, || {
            let held = occupy(&besieged, CONNECTIONS + 200, 40);
            besieged.assert_makes_files(&writer);
            drop(held);
        });
    }
    besieged.end();
}

#[test]
#[ignore = "continuation frames are not counted"]
fn endless_continuation_frames_are_counted() {
    let mut turn = turn();
    let besieged = Besieged::begin("");
    let honest = besieged.trader();
    let frames = scaled(200_000, 2_000_000);
    while turn.another() {
        unharmed("endless empty continuation frames", &besieged, &honest, || {
            let stream = connect_from(attacker(0), besieged.address()).unwrap();
            let mut socket = Socket::open(stream, "/v1/stream").unwrap().unwrap();
            socket.send_bytes(&Socket::frame(false, TEXT, b"")).unwrap();
            let hundred = Socket::frame(false, CONTINUATION, b"").repeat(100);
            // The venue closes, so that a write fails in the end.
            let refused = (0..frames / 100).any(|_| socket.send_bytes(&hundred).is_err());
            if !refused {
                let answer = socket.read();
                assert!(
                    !matches!(answer, Ok((kind, _)) if kind != CLOSE),
                    "{frames} empty frames were taken: {answer:?}"
                );
            }
        });
    }
    besieged.end();
}

#[test]
#[ignore = "probes have no listener of their own"]
fn probes_are_answered_while_strangers_hold_connections() {
    let mut turn = turn();
    let besieged = Besieged::begin("");
    while turn.another() {
        // Not one address but many: more than the venue takes in all.
        let held = occupy(&besieged, CONNECTIONS + 200, 200);
        wait_until("the connections have been taken", || held.len() >= CONNECTIONS);
        besieged.assert_live();
        drop(held);
    }
    besieged.end();
}
