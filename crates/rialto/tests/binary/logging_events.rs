//! The log of a start, a recovery, operators, requests and a stop, in both formats.

use crate::asking::{Client, Credentials};
use crate::running::{Running, command, configure};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";

/// A line of a log in either format.
struct Line(String, Option<Value>);

impl Line {
    fn of(text: &str, is_json: bool) -> Line {
        let value = is_json.then(|| serde_json::from_str::<Value>(text));
        Line(text.to_owned(), value.transpose().unwrap_or_else(|error| panic!("{error}: {text}")))
    }

    fn level_and_target(&self) -> (String, String) {
        let mut words = self.0.split_whitespace().skip(1).map(|word| word.trim_end_matches(':'));
        let mut part = |key: &str| match &self.1 {
            Some(value) => value[key].as_str().unwrap_or_default().to_owned(),
            None => words.next().unwrap_or_default().to_owned(),
        };
        (part("level"), part("target"))
    }

    fn says(&self, message: &str) -> bool {
        match &self.1 {
            Some(value) => value["message"].as_str().unwrap().contains(message),
            None => self.0.contains(&format!(": {message}")),
        }
    }

    fn field(&self, name: &str) -> Option<String> {
        let Some(value) = &self.1 else {
            let rest = self.0.split(&format!(" {name}=")).nth(1)?;
            let quoted = rest.strip_prefix('"').map(|rest| rest.split('"').next());
            return quoted.unwrap_or_else(|| rest.split(' ').next()).map(str::to_owned);
        };
        let value = value.get(name)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }
}

/// The log lines on standard error, apart from standard output.
struct Log(Vec<Line>);

impl Log {
    fn of(said: &[String], is_json: bool) -> Log {
        let is_logged = |line: &&String| match is_json {
            true => line.starts_with('{'),
            false => line.as_bytes().get(10) == Some(&b'T'),
        };
        Log(said.iter().filter(is_logged).map(|line| Line::of(line, is_json)).collect())
    }

    /// The line with this level, target and message.
    fn line(&self, level: &str, target: &str, message: &str) -> &Line {
        let wanted = (level.to_owned(), target.to_owned());
        let found =
            self.0.iter().find(|line| line.says(message) && line.level_and_target() == wanted);
        let all = || self.0.iter().map(|line| line.0.as_str()).collect::<Vec<_>>().join("\n");
        found.unwrap_or_else(|| panic!("no {level} {target}: {message} in\n{}", all()))
    }
}

fn serve(dir: &Path) -> Running {
    let config = dir.join("rialto.toml");
    let mut running = Running::start(&["serve", "--config", config.to_str().unwrap()]);
    running.wait_for("listening on");
    running
}

/// Sends head and body of a request separately, and returns the answer. A pause begins when the
/// request is in flight, as its `100 Continue` shows.
fn send(url: &str, key: &str, target: &str, body: &str, pause: Option<Duration>) -> String {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    let expect = pause.map_or("", |_| "expect: 100-continue\r\n");
    let head = format!(
        "POST {target} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
         traceparent: 00-{TRACE}-b7ad6b7169203331-01\r\ncontent-type: application/json\r\n\
         {expect}content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    if let Some(pause) = pause {
        let mut told = vec![0; CONTINUE.len()];
        stream.read_exact(&mut told).unwrap();
        assert_eq!(String::from_utf8_lossy(&told), CONTINUE);
        let begun = Instant::now();
        while begun.elapsed() < pause {
            std::thread::yield_now();
        }
    }
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn request_id(answer: &str) -> String {
    let line = answer.lines().find_map(|line| line.strip_prefix("x-request-id: "));
    line.unwrap_or_else(|| panic!("no id in {answer}")).to_owned()
}

fn every_log_event_is_written(format: &str) {
    let (dir, is_json) = (tempfile::tempdir().unwrap(), format == "json");
    configure(dir.path(), &format!("[logging]\nformat = {format:?}\nslow_request_ms = 20\n"));
    let mut venue = serve(dir.path());
    let (url, admin_key) = (venue.url(), venue.admin_key());
    let admin = Client::new(&url, Credentials::Admin(admin_key.clone()));
    let slow = Some(Duration::from_millis(40));
    let slow = send(&url, &admin_key, "/v1/admin/members", r#"{"name":"acme"}"#, slow);
    assert!(slow.starts_with("HTTP/1.1 201"), "{slow}");
    let key = admin
        .call("POST", "/v1/admin/keys", Some(&json!({"member": 1, "scopes": ["read", "admin"]})))
        .unwrap();
    let (id, secret) = (key["id"].as_str().unwrap(), key["secret"].as_str().unwrap());
    // The change by a key that is not an operator's is logged with its id.
    let signed = Credentials::Key {
        id: id.to_owned(),
        secret: rialto_gateway::Secret::from_hex(secret).unwrap(),
    };
    let body = json!({"overlap_s": 0});
    let path = format!("/v1/admin/keys/{id}/rotate");
    let rotated = Client::new(&url, signed).call("POST", &path, Some(&body)).unwrap();
    let second_secret = rotated["secret"].as_str().unwrap();
    // The snapshot fails without a directory.
    let snapshots = dir.path().join("data").join("snapshots");
    std::fs::remove_dir_all(&snapshots).unwrap();
    File::create(&snapshots).unwrap();
    let failed = send(&url, &admin_key, "/v1/admin/snapshot", "", None);
    assert!(failed.starts_with("HTTP/1.1 503"), "{failed}");
    std::fs::remove_file(&snapshots).unwrap();
    std::fs::create_dir(&snapshots).unwrap();
    // Another thread writes it.
    venue.heard("a request was not served");
    venue.kill();
    let first = Log::of(&venue.said, is_json);

    let mut again = serve(dir.path());
    let admin = Client::new(&again.url(), Credentials::Admin(admin_key.clone()));
    admin.call("POST", "/v1/admin/snapshot", None).unwrap();
    admin.call("POST", "/v1/admin/members", Some(&json!({"name": "late"}))).unwrap();
    again.terminate();
    let second = Log::of(&again.said, is_json);

    for line in first.0.iter().chain(&second.0) {
        let (level, target) = line.level_and_target();
        assert!(["ERROR", "WARN", "INFO"].contains(&level.as_str()), "{}", line.0);
        assert!(target.starts_with("rialto"), "{}", line.0);
        for secret in [admin_key.as_str(), secret, second_secret] {
            assert!(!line.0.contains(secret), "{}", line.0);
        }
    }
    let starts = first.line("INFO", "rialto::venue", "the venue starts");
    assert_eq!(starts.field("durability").as_deref(), Some("synced"));
    assert!(starts.field("version").is_some());
    let takes = first.line("INFO", "rialto::venue", "the venue takes requests");
    assert_eq!(takes.field("address").unwrap(), url.trim_start_matches("http://"));

    let changed =
        first.line("INFO", "rialto_gateway::request_log", "an operator has changed the venue");
    assert_eq!(changed.field("caller").as_deref(), Some("admin"));
    assert_eq!(changed.field("path").as_deref(), Some("/v1/admin/members"));
    assert_eq!(changed.field("trace_id").as_deref(), Some(TRACE));
    let rotated = first.line("INFO", "rialto_gateway::auth::bus", "a key has a new secret");
    assert_eq!((rotated.field("key"), rotated.field("caller")), (Some(id.into()), Some(id.into())));
    let own = rotated.field("trace_id").unwrap();
    assert!(own.len() == 32 && own != TRACE && own != "0".repeat(32), "{own}");

    let was_slow = first.line("INFO", "rialto_gateway::request_log", "a request was slow");
    assert_eq!(was_slow.field("trace_id").as_deref(), Some(TRACE));
    assert_eq!(was_slow.field("request_id"), Some(request_id(&slow)));
    assert!(was_slow.field("took_ms").unwrap().parse::<u64>().unwrap() >= 20);
    let not_served = first.line("INFO", "rialto_gateway::request_log", "a request was not served");
    assert_eq!(not_served.field("trace_id").as_deref(), Some(TRACE));
    assert_eq!(not_served.field("request_id"), Some(request_id(&failed)));
    assert_eq!(not_served.field("code").as_deref(), Some("snapshot_failed"));
    first.line("WARN", "rialto_engine::snapshot::follower", "no snapshot could be made");

    let recovered = second.line("INFO", "rialto::venue", "recovered: ");
    assert_eq!(recovered.field("last_seq").as_deref(), Some("1"));
    assert_eq!(recovered.field("epoch").as_deref(), Some("2"));
    second.line("INFO", "rialto::venue", "the venue stops: it finishes the accepted requests");
    second.line("INFO", "rialto_engine::snapshot::follower", "a snapshot was made");
    let stopped = second.line("INFO", "rialto::venue", "the venue has stopped");
    let at = |name| stopped.field(name).unwrap_or_default();
    assert_eq!((at("last_seq").as_str(), at("snapshot").as_str()), ("2", "2"));
}

#[test]
fn start_recovery_operators_requests_and_stop_are_logged_as_text() {
    every_log_event_is_written("text");
}

#[test]
fn start_recovery_operators_requests_and_stop_are_logged_as_json() {
    every_log_event_is_written("json");
}

#[test]
fn a_start_prevented_by_damage_is_logged_with_the_file() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "[logging]\nformat = \"json\"\n");
    serve(dir.path()).terminate();
    let journal = dir.path().join("data").join("journal");
    let mut segments: Vec<_> =
        std::fs::read_dir(journal).unwrap().map(|it| it.unwrap().path()).collect();
    segments.retain(|path| path.extension().is_some_and(|end| end == "log"));
    segments.sort();
    let damaged = segments.pop().unwrap();
    File::options().write(true).open(&damaged).unwrap().set_len(4_096).unwrap();

    let config = dir.path().join("rialto.toml");
    let ended = command(&["serve", "--config", config.to_str().unwrap()]).output().unwrap();
    assert_eq!(ended.status.code(), Some(3));
    let said: Vec<_> = crate::running::text(&ended.stderr).lines().map(str::to_owned).collect();
    let log = Log::of(&said, true);
    let refused = log.line("ERROR", "rialto::venue", "the start was refused");
    let reason = refused.field("reason").unwrap();
    assert!(reason.contains(damaged.file_name().unwrap().to_str().unwrap()), "{reason}");
}
