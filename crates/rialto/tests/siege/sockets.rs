//! Too many connections, from one address and from several.

use crate::asking::{Client, Credentials};
use crate::honest::unharmed;
use crate::pace::{scaled, turn};
use crate::venue::{Besieged, assert_live_at, wait_until};
use crate::wire::{CLOSE, CONTINUATION, Socket, TEXT, attacker, connect_from};
use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The default limit of connections.
const CONNECTIONS: usize = 1_024;
/// A client must be disconnected within this time.
const CLOSED_WITHIN: Duration = Duration::from_secs(20);

/// Connects until the venue or the system refuses.
fn occupy(besieged: &Besieged, connections: usize, addresses: usize) -> Vec<TcpStream> {
    let to = besieged.address();
    (0..connections)
        .filter_map(|number| connect_from(attacker(number % addresses), to).ok())
        .collect()
}

#[test]
fn one_address_cannot_take_every_connection() {
    let mut turn = turn();
    let besieged = Besieged::begin("");
    let honest = besieged.trader();
    while turn.another() {
        unharmed("1,024 connections of one address", &besieged, &honest, || {
            let held = occupy(&besieged, CONNECTIONS, 1);
            // New connections of a supervisor's probe and of a member.
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

/// Whether the venue ends a connection, after any other output.
fn is_closed(socket: &mut Socket) -> bool {
    let end = Instant::now() + CLOSED_WITHIN;
    while Instant::now() < end {
        match socket.read() {
            Ok((CLOSE, _)) => return true,
            Ok(_) => {}
            Err(error) => return !is_timeout(&error),
        }
    }
    false
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

#[test]
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
            // The venue closes: a write fails in the end, or the answer says so.
            let is_refused = (0..frames / 100).any(|_| socket.send_bytes(&hundred).is_err());
            assert!(is_refused || is_closed(&mut socket), "{frames} empty frames were taken");
        });
    }
    besieged.end();
}

#[test]
fn probes_are_answered_while_strangers_hold_connections() {
    let mut turn = turn();
    let besieged = Besieged::begin("connections_max = 300\noperations_listen = \"127.0.0.1:0\"\n");
    let operations = besieged.operations();
    while turn.another() {
        // From many addresses: more than the venue accepts in all.
        let held = occupy(&besieged, 500, 100);
        assert!(held.len() >= 300, "the system takes {} connections", held.len());
        for _ in 0..20 {
            assert_live_at(&operations);
        }
        drop(held);
    }
    wait_until("connections are free again", || {
        Client::new(&besieged.running.url(), Credentials::None)
            .send("GET", "/v1/live", None)
            .is_ok_and(|answer| answer.status == 200)
    });
    besieged.end();
}
