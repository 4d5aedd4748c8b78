//! Connections cannot use up the descriptors that the engine needs for its next file.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod running;

use running::{Running, command, configure, rialto, text};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The binary with limits of descriptors, as a service manager would set them.
fn limited(soft: u64, hard: Option<u64>, arguments: &[&str]) -> Command {
    let plain = command(arguments);
    let hard = hard.map_or_else(String::new, |hard| format!("ulimit -Hn {hard} && "));
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("ulimit -Sn {soft} && {hard}exec \"$0\" \"$@\""));
    shell.arg(plain.get_program()).args(plain.get_args());
    shell
}

fn serve(dir: &Path, soft: u64, hard: Option<u64>) -> Running {
    let config = dir.join("rialto.toml");
    let arguments = ["serve", "--config", config.to_str().unwrap(), "--level", "buffered"];
    let mut venue = Running::spawn(limited(soft, hard, &arguments));
    venue.wait_for("listening on");
    venue
}

/// Connects from local addresses, 100 from each, and sends nothing.
fn silent(address: SocketAddr, count: u16) -> Vec<TcpStream> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let connect = |at: u16| {
        let source = [127, 0, 1, 1 + (at / 100) as u8];
        runtime.block_on(async {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.bind((source, 0).into()).unwrap();
            let stream = socket.connect(address).await.unwrap().into_std().unwrap();
            stream.set_nonblocking(false).unwrap();
            stream
        })
    };
    (0..count).map(connect).collect()
}

fn address(venue: &Running) -> SocketAddr {
    venue.url().strip_prefix("http://").unwrap().parse().unwrap()
}

/// Whether the venue answers on a connection.
fn is_answered(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let _ = stream.write_all(b"GET /v1/live HTTP/1.1\r\nhost: x\r\n\r\n");
    let mut head = [0; 15];
    stream.read_exact(&mut head).is_ok() && &head == b"HTTP/1.1 200 OK"
}

/// The engine needs descriptors for a snapshot, as for each new file of its journal.
fn snapshot(venue: &Running, url: &str) {
    let made = rialto(&["snapshot", "--url", url, "--admin-key", &venue.admin_key()]);
    assert!(made.status.success(), "{}", text(&made.stderr));
}

#[test]
fn more_silent_connections_than_the_soft_limit_of_descriptors_end_nothing() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "");
    let mut venue = serve(dir.path(), 1_024, None);
    let mut silent = silent(address(&venue), 1_100);
    assert!(is_answered(silent.last_mut().unwrap()), "all of them were taken");
    snapshot(&venue, &venue.url());
    drop(silent);
    venue.terminate();
}

#[test]
fn a_configuration_that_does_not_fit_is_refused_with_the_sum() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "connections_max = 1_000\n");
    let config = dir.path().join("rialto.toml");
    let arguments = ["serve", "--config", config.to_str().unwrap()];
    let refused = limited(256, Some(1_024), &arguments).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let said = text(&refused.stderr);
    for part in [
        "the system allows 1024: 1064 for connections (gateway.connections_max = 1000",
        "engine, withdrawals and recorder",
        "Raise the hard limit",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!dir.path().join("data").exists(), "nothing was begun");
}

#[test]
fn connections_do_not_use_the_engines_reserve() {
    let dir = tempfile::tempdir().unwrap();
    let operations = "operations_listen = \"127.0.0.1:0\"\noperations_connections_max = 8\n";
    configure(dir.path(), &format!("connections_max = 600\n{operations}"));
    // It just fits: the open files leave no room for all 600.
    let mut venue = serve(dir.path(), 256, Some(1_040));
    let mut silent = silent(address(&venue), 900);
    // The last one was refused, and so were some before.
    assert!(!is_answered(silent.last_mut().unwrap()));
    let line = venue.line("probes and operators on ");
    let operations = line.split("operators on ").nth(1).unwrap().to_owned();
    snapshot(&venue, &operations);
    let open = std::fs::read_dir(format!("/proc/{}/fd", venue.id())).unwrap().count();
    assert!((512..1_040 - 128).contains(&open), "{open} descriptors are in use");
    drop(silent);
    venue.terminate();
}
