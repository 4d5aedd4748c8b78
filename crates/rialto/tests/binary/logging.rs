//! Logs of `rialto serve` and `rialto demo` on standard error.

use crate::asking::{Client, Credentials};
use crate::pty::Terminal;
use crate::running::{command, configure, rialto, text};
use std::fs::File;
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The most lines of one call site in ten seconds.
const LINES_MAX: usize = 20;

/// A venue with standard error in a file.
struct Logged {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
    said: Vec<String>,
    log: PathBuf,
}

impl Logged {
    fn serve(dir: &Path, level: Option<&str>) -> Logged {
        let (config, log) = (dir.join("rialto.toml"), dir.join("log"));
        let mut command = command(&["serve", "--config", config.to_str().unwrap()]);
        command.envs(level.map(|level| ("RIALTO_LOG", level)));
        let err = File::create(&log).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(err);
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut venue = Logged { child, out, said: Vec::new(), log };
        while !venue.said.last().is_some_and(|line| line.starts_with("listening on ")) {
            let line = venue.out.next();
            venue.said.push(line.unwrap_or_else(|| panic!("{}", venue.log())).unwrap());
        }
        venue
    }

    /// The word after this beginning of a line.
    fn word(&self, begin: &str, at: usize) -> String {
        let line = self.said.iter().find(|line| line.starts_with(begin)).unwrap();
        line.split([' ', ',']).nth(at).unwrap().to_string()
    }

    fn ask(&self, credentials: Credentials, method: &str, path: &str) -> u16 {
        let client = Client::new(&self.word("listening on ", 2), credentials);
        client.send(method, path, None).unwrap().status
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Ends it, and returns its log.
    fn end(mut self) -> String {
        let id = self.child.id().to_string();
        let told = Command::new("kill").args(["-s", "TERM", &id]).status();
        assert!(told.unwrap().success());
        assert!(self.child.wait().unwrap().success(), "{}", self.log());
        self.log()
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_line_has_time_level_and_target_and_none_holds_a_secret() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "");
    let venue = Logged::serve(dir.path(), None);
    let (url, secret) = (venue.word("listening on ", 2), venue.word("admin key: ", 2));
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    // A failed snapshot is logged, besides the answer to its request.
    let snapshots = dir.path().join("data").join("snapshots");
    std::fs::remove_dir_all(&snapshots).unwrap();
    File::create(&snapshots).unwrap();
    let admin = || Credentials::Admin(secret.clone());
    Client::new(&url, admin())
        .call("POST", "/v1/admin/members", Some(&serde_json::json!({"name": "acme"})))
        .unwrap();
    assert_eq!(venue.ask(admin(), "POST", "/v1/admin/snapshot"), 503);
    std::fs::remove_file(&snapshots).unwrap();
    std::fs::create_dir(&snapshots).unwrap();

    let log = venue.end();
    assert!(!log.contains(&secret), "{log}");
    for line in log.lines() {
        let mut words = line.split_whitespace();
        let time = words.next().unwrap();
        assert!(time.len() == 30 && time.contains('T') && time.ends_with('Z'), "{line}");
        assert!(["ERROR", "WARN", "INFO"].contains(&words.next().unwrap()), "{line}");
        assert!(words.next().unwrap().starts_with("rialto"), "{line}");
    }
    let has = |level: &str, what: &str| {
        log.lines().any(|line| line.contains(level) && line.contains(what))
    };
    assert!(has("INFO", "recovered: began an empty venue"), "{log}");
    assert!(has("WARN", "no snapshot could be made: "), "{log}");
    assert!(has("INFO", "the venue has stopped"), "{log}");
}

#[test]
fn the_level_is_from_the_variable_or_the_file_and_others_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "[logging]\nlevel = \"warn\"\n");
    assert_eq!(Logged::serve(dir.path(), None).end(), "");
    assert!(Logged::serve(dir.path(), Some("info")).end().contains("recovered: "));

    let without_one = Logged::serve(dir.path(), Some("info,rialto::venue=error")).end();
    assert!(!without_one.contains("recovered: "), "{without_one}");
    let only_one = Logged::serve(dir.path(), Some("off,rialto::venue=info")).end();
    assert!(only_one.contains("recovered: "), "{only_one}");

    let config = dir.path().join("rialto.toml");
    let mut wrong = command(&["serve", "--config", config.to_str().unwrap()]);
    let wrong = wrong.env("RIALTO_LOG", "loud").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("RIALTO_LOG: \"loud\" is none of"), "{wrong:?}");
    for (line, told) in [
        ("level = \"loud\"", "2:9: level: \"loud\" is none of \"off\", \"error\""),
        ("format = \"xml\"", "2:10: format: \"xml\" is neither \"text\" nor \"json\""),
    ] {
        std::fs::write(&config, format!("[logging]\n{line}\n")).unwrap();
        let wrong = rialto(&["config", "--check", config.to_str().unwrap()]);
        assert!(text(&wrong.stderr).contains(told), "{wrong:?}");
    }
}

#[test]
fn a_flood_of_refusals_is_cut_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "");
    let venue = Logged::serve(dir.path(), Some("debug"));
    for _ in 0..LINES_MAX * 5 {
        assert_eq!(venue.ask(Credentials::None, "GET", "/v1/orders?account=1"), 401);
    }
    let log = venue.end();
    let refused: Vec<_> =
        log.lines().filter(|line| line.contains("a request was refused")).collect();
    let sum =
        format!("refused={} by_code=\"credentials_missing {}\"", LINES_MAX * 5, LINES_MAX * 5);
    let has_sum = |line: &str| line.contains(" INFO ") && line.contains(&sum);
    assert!(refused.len() > LINES_MAX || log.lines().any(has_sum), "{log}");
    // A slow machine may see more than one window of ten seconds.
    assert!(refused.len() < LINES_MAX * 5 && refused.len() >= LINES_MAX, "{log}");
    assert!(
        refused[0].contains("route=\"GET /v1/orders\" code=credentials_missing status=401"),
        "{log}"
    );
    let left_out = format!("suppressed={} of_target=rialto_gateway::request_log", LINES_MAX * 4);
    assert!(refused.len() > LINES_MAX || log.contains(&left_out), "{log}");
}

#[test]
fn lines_wait_while_the_demo_draws_on_the_same_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("demo");
    let mut demo = command(&["demo", "--rate", "0", "--listen", "127.0.0.1:0", "--data"]);
    demo.arg(&data).env("RIALTO_LOG", "rialto_gateway=debug");
    let mut terminal = Terminal::run_command(40, demo);
    terminal.wait_for(&["RIALTO", "http://127.0.0.1:"]);
    let url = terminal.word("http://127.0.0.1:");
    let asked = Client::new(&url, Credentials::None).send("GET", "/v1/orders?account=1", None);
    assert_eq!(asked.unwrap().status, 401);
    terminal.press("q");
    // The last line of the demo says how to continue.
    terminal.wait_for(&["demo --data"]);
    let (status, is_back) = terminal.wait_for_end();
    assert!(status.success() && is_back);
    let (drawn, after) = terminal.written();
    assert!(!drawn.contains("a request was refused"), "{drawn}");
    assert!(after.contains("DEBUG rialto_gateway::request_log: a request was refused"), "{after}");
}
