//! `rialto queue` in the real binary: in a directory, and with a running venue.

use crate::asking::{Client, Credentials};
use crate::running::{PATIENCE, Running, command, configure, text};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

struct Queue {
    dir: tempfile::TempDir,
    /// The arguments that select the queue.
    place: Vec<String>,
    more: Vec<String>,
    venue: Option<(Running, String)>,
}

impl Queue {
    /// A directory.
    fn here() -> Queue {
        let dir = tempfile::tempdir().unwrap();
        let place = vec!["--dir".to_owned(), dir.path().join("q").to_str().unwrap().to_owned()];
        Queue { dir, place, more: Vec::new(), venue: None }
    }

    /// A venue.
    fn there() -> Queue {
        let dir = tempfile::tempdir().unwrap();
        configure(dir.path(), "[queue]\nenabled = true\n");
        let venue = Running::serve(dir.path(), "synced");
        let (place, key) = (vec!["--url".to_owned(), venue.url()], venue.admin_key());
        Queue { dir, place, more: Vec::new(), venue: Some((venue, key)) }
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(&["queue"]);
        command.args(&self.place).env_remove("RIALTO_QUEUE").args(arguments).args(&self.more);
        if let Some((_, key)) = &self.venue {
            command.env("RIALTO_ADMIN_KEY", key);
        }
        command
    }

    fn run(&self, input: &str, arguments: &[&str]) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A refused command may not read its input.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// The output of a command that must succeed.
    fn printed(&self, input: &str, arguments: &[&str]) -> String {
        let output = self.run(input, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run("", arguments);
        (output.status.code().unwrap(), text(&output.stderr))
    }

    /// Waits until a topic has dead letters: a queue moves failed messages by itself.
    fn wait_for_dead_letters(&self, topic: &str) {
        let end = Instant::now() + PATIENCE;
        while self.printed("", &["dead-letters", topic]).is_empty() {
            assert!(Instant::now() < end, "{topic} has no dead letters");
        }
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.printed("", arguments)).unwrap()
    }
}

#[test]
fn lines() {
    lines_go_in_and_come_out_once(&Queue::here());
    lines_go_in_and_come_out_once(&Queue::there());
}

#[test]
fn whole_messages() {
    files_headers_keys_and_priorities_are_kept(&Queue::here());
    files_headers_keys_and_priorities_are_kept(&Queue::there());
}

#[test]
fn numbers() {
    a_numbered_producers_repeats_are_duplicates(&Queue::here());
    a_numbered_producers_repeats_are_duplicates(&Queue::there());
}

#[test]
fn conflation() {
    a_tail_that_begins_far_behind_is_conflated_if_the_topic_says_so(&Queue::here());
    a_tail_that_begins_far_behind_is_conflated_if_the_topic_says_so(&Queue::there());
}

#[test]
fn dead_letters() {
    dead_letters_are_looked_at_and_sent_back(&Queue::here());
    dead_letters_are_looked_at_and_sent_back(&Queue::there());
}

#[test]
fn dead_letters_of_long_names() {
    a_topic_with_the_longest_name_has_dead_letters(&Queue::here());
    a_topic_with_the_longest_name_has_dead_letters(&Queue::there());
}

#[test]
fn files() {
    a_file_is_never_replaced_and_unsaved_messages_are_not_acknowledged(&Queue::here());
    a_file_is_never_replaced_and_unsaved_messages_are_not_acknowledged(&Queue::there());
}

#[test]
fn readers_who_have_had_enough() {
    unread_messages_do_not_count_as_attempts(&Queue::here());
    unread_messages_do_not_count_as_attempts(&Queue::there());
}

/// Reads only this many bytes of a command's output.
fn looked_at(queue: &Queue, arguments: &[&str], bytes: usize) -> String {
    let mut reader = queue.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut read = vec![0; bytes];
    reader.stdout.take().unwrap().read_exact(&mut read).unwrap();
    assert!(reader.wait().unwrap().success());
    text(&read)
}

fn unread_messages_do_not_count_as_attempts(queue: &Queue) {
    queue.printed("", &["create", "t"]);
    queue.printed("", &["group", "t", "g", "--attempts-max", "2"]);
    let line = |nth: usize| format!("{nth:03} {}\n", "x".repeat(1_000));
    let lines: String = (0..200).map(line).collect();
    queue.printed(&lines, &["produce", "t"]);
    let consume = ["consume", "t", "--group", "g"];
    for _ in 0..2 {
        assert_eq!(looked_at(queue, &consume, 100), lines[..100]);
    }
    // The first was read twice; the others were not.
    assert_eq!(
        queue.printed("", &[&consume[..], &["--wait", "300ms"]].concat()),
        lines[line(0).len()..]
    );
    queue.wait_for_dead_letters("t");
    let letter = queue.json(&["dead-letters", "t", "--json"]);
    assert_eq!(letter["headers"]["dead-attempts"], "2");
}

#[test]
fn leases() {
    for queue in [Queue::here(), Queue::there()] {
        leases_are_listed_and_have_a_length(&queue);
    }
}

fn leases_are_listed_and_have_a_length(queue: &Queue) {
    queue.printed("", &["create", "jobs"]);
    queue.printed("a\nb\n", &["produce", "jobs"]);
    queue.printed("", &["group", "jobs", "default"]);
    let (code, told) = queue.refused(&["consume", "jobs", "--ack-wait", "8d"]);
    assert!(code != 0 && told.contains("lease"), "{told}");
    let nothing = queue.run("", &["leases", "jobs", "default"]);
    assert!(nothing.status.success() && nothing.stdout.is_empty());
    assert!(text(&nothing.stderr).contains("no message of jobs is leased to default"));
    assert_ne!(queue.refused(&["leases", "jobs", "none"]).0, 0);
    if let Some((venue, key)) = &queue.venue {
        let client = Client::new(&venue.url(), Credentials::Admin(key.clone()));
        let body = json!({"consumer": "c1", "ack_wait_ms": 3_600_000});
        let path = "/v1/queues/jobs/groups/default/fetch";
        let fetched = client.call("POST", path, Some(&body)).unwrap();
        assert_eq!(fetched["messages"].as_array().unwrap().len(), 2);
        let listed = queue.printed("", &["leases", "jobs", "default"]);
        let lines: Vec<_> = listed.lines().collect();
        assert_eq!(lines.len(), 3, "{listed}");
        assert!(lines[1].starts_with("0:1 ") && lines[1].ends_with(" c1"), "{listed}");
        let json = queue.printed("", &["leases", "jobs", "default", "--json"]);
        let first: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
        assert_eq!((&first["id"], &first["attempt"]), (&"0:1".into(), &1.into()));
    } else {
        assert_eq!(queue.printed("", &["consume", "jobs", "--ack-wait", "5m"]), "a\nb\n");
    }
}

fn lines_go_in_and_come_out_once(queue: &Queue) {
    queue.printed("", &["create", "jobs"]);
    let output = queue.run("one\ntwo\n\nfour", &["produce", "jobs"]);
    assert_eq!(text(&output.stderr), "4 published\n");
    assert_eq!(queue.printed("", &["consume", "jobs", "--count", "2"]), "one\ntwo\n");
    assert_eq!(queue.printed("", &["consume", "jobs"]), "\nfour\n");
    assert_eq!(queue.printed("", &["consume", "jobs"]), "");
    assert_eq!(queue.printed("", &["tail", "jobs", "--from", "2", "--count", "1"]), "two\n");
    let topic = queue.json(&["describe", "jobs", "--json"]);
    assert_eq!((&topic["messages"], &topic["groups"][0]["lag"]), (&"4".into(), &"0".into()));
}

fn files_headers_keys_and_priorities_are_kept(queue: &Queue) {
    queue.printed("", &["create", "files", "--priorities", "2", "--level", "buffered"]);
    fs::write(queue.path("a.bin"), [0xff, 0x00]).unwrap();
    let file = queue.path("a.bin");
    queue.printed("", &["produce", "files", &file, "--header", "kind=binary", "--key", "a"]);
    let urgent = ["--key-separator", ":", "--priority", "1", "--content-type", "text/plain"];
    queue.printed("b:text\n", &[&["produce", "files"], &urgent[..]].concat());
    let printed = queue.printed("", &["consume", "files", "--json"]);
    let messages: Vec<Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(messages[0]["payload"], "text");
    assert_eq!(messages[0]["key"], "b");
    assert_eq!(messages[0]["content_type"], "text/plain");
    assert_eq!(messages[0]["id"], "1:1");
    assert_eq!(messages[1]["payload_hex"], "ff00");
    assert_eq!(messages[1]["headers"]["kind"], "binary");
    assert_eq!(messages[1]["attempt"], 1);

    let out = queue.path("out");
    let into = ["consume", "files", "--group", "into", "--into", &out];
    let (_, told) = queue.refused(&into);
    assert!(told.contains("out"), "{told}");
    fs::create_dir(&out).unwrap();
    assert_eq!(queue.printed("", &into), "");
    assert_eq!(fs::read(queue.path("out/0-1")).unwrap(), [0xff, 0x00]);
    assert_eq!(fs::read(queue.path("out/1-1")).unwrap(), b"text");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 2);
    assert_eq!(queue.printed("", &["consume", "files", "--group", "into"]), "");
}

fn a_file_is_never_replaced_and_unsaved_messages_are_not_acknowledged(queue: &Queue) {
    let out = queue.path("out");
    fs::create_dir(&out).unwrap();
    let read = |name: &str| text(&fs::read(queue.path(&format!("out/{name}"))).unwrap());
    let refused = |arguments: &[&str]| {
        let (code, told) = queue.refused(arguments);
        assert_eq!(code, 1, "{told}");
        assert!(told.contains("out/0-") && told.contains("holds something else"), "{told}");
    };
    for topic in ["a", "b"] {
        queue.printed("", &["create", topic]);
        queue.printed(&format!("of {topic}\nlonger than that\n"), &["produce", topic]);
    }
    queue.printed("", &["consume", "a", "--count", "1", "--into", &out]);
    // Another topic has a message of the same number.
    refused(&["consume", "b", "--into", &out]);
    assert_eq!(read("0-1"), "of a");
    assert_eq!(queue.printed("", &["consume", "b"]), "of b\nlonger than that\n");
    // At redelivery, the first is written already; then the next file is in the way.
    fs::create_dir(queue.path("out/0-2")).unwrap();
    let again = ["consume", "a", "--group", "again", "--into", &out];
    refused(&again);
    fs::remove_dir(queue.path("out/0-2")).unwrap();
    queue.printed("", &again);
    assert_eq!((read("0-1"), read("0-2")), ("of a".into(), "longer than that".into()));
    assert_eq!(queue.printed("", &["consume", "a", "--group", "again"]), "");
    // And so is a message of a recreated topic with the same number.
    queue.printed("", &["delete", "a"]);
    queue.printed("", &["create", "a"]);
    queue.printed("anew\n", &["produce", "a"]);
    refused(&["consume", "a", "--into", &out]);
    assert_eq!(read("0-1"), "of a");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 2);

    let (code, told) = queue.refused(&["consume", "a", "--json", "--into", &out]);
    assert_eq!(code, 2);
    assert!(told.contains("--json"), "{told}");
    let file = queue.path("out/0-1");
    let (_, told) = queue.refused(&["consume", "a", "--into", &file]);
    assert!(told.contains("not a directory"), "{told}");
    assert_eq!(queue.printed("", &["consume", "a"]), "anew\n");
}

fn a_numbered_producers_repeats_are_duplicates(queue: &Queue) {
    queue.printed("", &["create", "t"]);
    let numbered = ["produce", "t", "--producer", "7", "--first", "1"];
    queue.printed("a\nb\n", &numbered);
    let again = queue.run("a\nb\nc\n", &numbered);
    assert_eq!(text(&again.stderr), "1 published, 2 of them were duplicates\n");
    assert_eq!(queue.printed("", &["tail", "t"]), "a\nb\nc\n");
}

fn a_tail_that_begins_far_behind_is_conflated_if_the_topic_says_so(queue: &Queue) {
    queue.printed("", &["create", "t", "--overtaken", "conflated:2"]);
    assert!(queue.printed("", &["describe", "t"]).contains("conflated:2"));
    for (key, lines) in [("x", "x1\nx2\n"), ("y", "y1\n")] {
        queue.run(lines, &["produce", "t", "--key", key]);
    }
    let tail = queue.run("", &["tail", "t"]);
    assert_eq!(text(&tail.stdout), "x2\ny1\n");
    assert!(text(&tail.stderr).starts_with("1 messages were skipped"), "{tail:?}");
    let refused = queue.run("", &["create", "u", "--overtaken", "conflated"]);
    assert!(text(&refused.stderr).contains("such as conflated:1000"), "{refused:?}");
}

fn dead_letters_are_looked_at_and_sent_back(queue: &Queue) {
    queue.printed("", &["create", "t"]);
    // A reader that stops reading has used up the attempt, and the message is dead.
    queue.printed("", &["group", "t", "g", "--attempts-max", "1"]);
    // Longer than a pipe's buffer, so that it cannot be printed completely.
    let long = "a".repeat(200_000);
    queue.printed(&format!("{long}\n"), &["produce", "t"]);
    looked_at(queue, &["consume", "t", "--group", "g"], 1);
    let printed = queue.printed("", &["consume", "t", "--group", "g", "--wait", "300ms"]);
    assert_eq!(printed, "");
    queue.wait_for_dead_letters("t");
    let letter = queue.json(&["dead-letters", "t", "--json"]);
    assert_eq!(letter["payload"], long);
    assert_eq!(letter["headers"]["dead-reason"], "unanswered");
    let same = queue.json(&["dead-letters", "t.dead", "--json"]);
    assert_eq!(same["payload"], long, "the dead-letter topic names itself");
    let sent = queue.run("", &["dead-letters", "t", "--redrive"]);
    assert_eq!(text(&sent.stderr), "1 redriven\n");
    assert_eq!(queue.printed("", &["consume", "t", "--group", "h"]), format!("{long}\n{long}\n"));
    let sent = queue.run("", &["dead-letters", "t", "--redrive"]);
    assert_eq!(text(&sent.stderr), "0 redriven\n");
    queue.printed("", &["group", "t", "k", "--attempts-max", "1"]);
    looked_at(queue, &["consume", "t", "--group", "k"], 1);
    queue.printed("", &["consume", "t", "--group", "k", "--wait", "300ms"]);
    queue.wait_for_dead_letters("t");
    let purged = queue.run("", &["dead-letters", "t", "--purge"]);
    assert_eq!(text(&purged.stderr), "1 dropped\n");
}

fn a_topic_with_the_longest_name_has_dead_letters(queue: &Queue) {
    let topic = "x".repeat(128);
    queue.printed("", &["create", &topic]);
    queue.printed("", &["group", &topic, "g", "--attempts-max", "1"]);
    let long = "a".repeat(200_000);
    queue.printed(&format!("{long}\n"), &["produce", &topic]);
    looked_at(queue, &["consume", &topic, "--group", "g"], 1);
    queue.printed("", &["consume", &topic, "--group", "g", "--wait", "300ms"]);
    queue.wait_for_dead_letters(&topic);
    assert!(queue.printed("", &["dead-letters", &topic]) == format!("{long}\n"));
}

/// A venue's description of a topic.
fn topic_with_lanes(lanes: &str) -> String {
    format!(
        r#"{{"name": "t.dead", "read_only": false, "kind": "stream", "level": "synced",
        "priorities": 1, "messages_max": null, "bytes_max": null, "max_age_ms": null,
        "overtaken": "oldest", "compression": "none", "encryption": "none", "messages": "3",
        "bytes": "0", "delayed": "0", "published_messages": "0", "published_bytes": "0",
        "plain_bytes": "0", "stored_bytes": "0", "refused": "0", "duplicates": "0",
        "pending_bytes": "0", "oldest_age_ms": null, "rates": {{"window_ms": "1",
        "published_per_s": 0, "published_bytes_per_s": 0, "delivered_per_s": 0,
        "delivered_bytes_per_s": 0}}, "failed": null, "lanes": {lanes}, "groups": []}}"#
    )
}

/// Answers as a venue whose consumers refuse redriven messages at once, except the last ones.
fn refusing_venue(listener: &TcpListener) {
    const LETTERS: u64 = 3;
    let mut sent = 0;
    while sent < 10 * LETTERS {
        let (stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(&stream).lines();
        let request = lines.next().unwrap().unwrap();
        // No request here has a body.
        assert!(lines.any(|line| line.unwrap().is_empty()));
        let answer = if request.starts_with("POST ") {
            sent += 1;
            format!(r#"{{"sent": "1", "kept": "0", "next": "{}"}}"#, sent + 1)
        } else if request.starts_with("GET ") {
            topic_with_lanes(&format!(r#"[["1", "{LETTERS}"]]"#))
        } else {
            return;
        };
        let length = answer.len();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n");
        write!(&stream, "{head}Content-Type: application/json\r\n\r\n{answer}").unwrap();
    }
}

#[test]
fn a_letter_that_dies_again_is_redriven_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let venue = std::thread::spawn(move || refusing_venue(&listener));
    let redrive = ["queue", "--url", &format!("http://{address}"), "dead-letters", "t"];
    let mut redrive = command(&redrive);
    redrive.args(["--in", "t.dead", "--redrive"]).env_remove("RIALTO_QUEUE");
    let output = redrive.env("RIALTO_ADMIN_KEY", "admin.secret").output().unwrap();
    assert_eq!(text(&output.stderr), "3 redriven\n");
    (&TcpStream::connect(address).unwrap()).write_all(b"END\r\n\r\n").unwrap();
    venue.join().unwrap();
}

#[test]
fn files_are_whole_and_all_there_when_a_consumer_was_killed_in_the_middle() {
    let queue = Queue::here();
    queue.printed("", &["create", "t"]);
    let lines: Vec<String> = (1..=300).map(|nth| format!("{nth} {}", "x".repeat(nth))).collect();
    queue.printed(&lines.join("\n"), &["produce", "t"]);
    let out = queue.path("out");
    fs::create_dir(&out).unwrap();
    let saved = || {
        let names = fs::read_dir(&out).unwrap().map(|it| it.unwrap().file_name());
        names.filter(|name| !name.to_str().unwrap().starts_with('.')).collect::<Vec<_>>()
    };
    let mut consumer = queue.command(&["consume", "t", "--into", &out]).spawn().unwrap();
    while saved().len() < 120 && consumer.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    consumer.kill().unwrap();
    consumer.wait().unwrap();
    for name in saved() {
        let nth: usize = name.to_str().unwrap().strip_prefix("0-").unwrap().parse().unwrap();
        assert_eq!(text(&fs::read(format!("{out}/0-{nth}")).unwrap()), lines[nth - 1]);
    }
    queue.printed("", &["consume", "t", "--into", &out]);
    for (nth, line) in lines.iter().enumerate() {
        assert_eq!(text(&fs::read(format!("{out}/0-{}", nth + 1)).unwrap()), *line);
    }
    assert_eq!(saved().len(), 300);
}

#[test]
fn verify_finds_a_flipped_bit_with_its_location() {
    let queue = Queue::here();
    queue.printed("", &["create", "t", "--compression", "zstd"]);
    queue.printed(&"again and again\n".repeat(2_000), &["produce", "t"]);
    let told = queue.printed("", &["verify"]);
    assert!(told.contains("lane-0: 2000 records"), "{told}");
    let lane = queue.dir.path().join("q/topics/000001/lane-0");
    let mut files: Vec<_> = fs::read_dir(&lane).unwrap().map(|it| it.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "log"));
    files.sort();
    let mut bytes = fs::read(&files[0]).unwrap();
    bytes[4096 + 200] ^= 1;
    fs::write(&files[0], bytes).unwrap();
    let output = queue.run("", &["verify"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("DAMAGED"), "{}", text(&output.stdout));
}

#[test]
fn an_encrypted_topic_wants_its_keys() {
    let mut queue = Queue::here();
    let create = ["create", "secret", "--encryption", "aes-256-gcm"];
    assert!(queue.refused(&create).1.contains("without keys"), "{:?}", queue.refused(&create));
    let keys = queue.path("keys");
    fs::write(&keys, format!("1: {}\n", "5a".repeat(32))).unwrap();
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o600)).unwrap();
    fs::remove_dir_all(queue.path("q")).unwrap();
    queue.more = vec!["--log-keys".to_owned(), keys];
    queue.printed("", &create);
    queue.printed("nobody may see this\n", &["produce", "secret"]);
    assert_eq!(queue.printed("", &["consume", "secret"]), "nobody may see this\n");
    queue.more.clear();
    let (code, told) = queue.refused(&["ls"]);
    assert_eq!(code, 1);
    assert!(told.contains("key 1"), "{told}");
}

#[test]
fn errors_are_reported_clearly() {
    let queue = Queue::here();
    let (code, told) = queue.refused(&["ls"]);
    assert_eq!(code, 2);
    assert!(told.contains("has no queue") && told.contains("rialto queue create"), "{told}");
    queue.printed("", &["create", "t"]);
    queue.printed("", &["create", "t"]);
    for (arguments, expected) in [
        (&["create", "t", "--priorities", "3"][..], "other options"),
        (&["create", "no/slash"][..], "is not a name"),
        (&["create", "u", "--priorities", "17"][..], "priorities is 17; it must be 1 to 16"),
        (&["produce", "nowhere"][..], "no topic \"nowhere\""),
        (&["consume", "nowhere"][..], "no topic \"nowhere\""),
        (&["describe", "nowhere"][..], "no topic \"nowhere\""),
        (&["delete", "t", "--group", "g"][..], "no group \"g\""),
        (&["group", "t", "g", "--filter", "="][..], "is not a filter"),
        (&["consume", "t", "--wait", "5"][..], "is not a duration"),
    ] {
        let (code, told) = queue.refused(arguments);
        assert_eq!(code, 2, "{arguments:?}: {told}");
        assert!(told.contains(expected), "{arguments:?}: {told}");
    }
    queue.printed("", &["delete", "t"]);
    assert_eq!(queue.printed("", &["ls", "--json"]), "");
    let (code, told) = queue.refused(&["tail", "t", "--follow"]);
    assert_eq!(code, 2);
    assert!(told.contains("--url"), "{told}");
}

#[test]
fn retry_delays_grow_up_to_a_bound() {
    // A refusal of a venue has an exit code of its own.
    for (queue, refusal) in [(Queue::here(), 2), (Queue::there(), 6)] {
        queue.printed("", &["create", "t"]);
        let group =
            |delay, max| ["group", "t", "g", "--retry-delay", delay, "--retry-delay-max", max];
        for (delay, max, expected) in [
            ("0s", "1m", "needs a retry delay above 0"),
            ("5s", "4s", "the greatest retry delay is at least the retry delay"),
        ] {
            let (code, told) = queue.refused(&group(delay, max));
            assert!(code == refusal && told.contains(expected), "{code}: {told}");
        }
        queue.printed("", &group("5s", "1m"));
        queue.printed("", &group("5s", "1m"));
        let (_, told) = queue.refused(&group("5s", "2m"));
        assert!(told.contains("other options"), "{told}");
    }
}

#[test]
fn refusals_of_a_venue_are_reported_clearly() {
    let queue = Queue::there();
    queue.printed("", &["create", "t", "--max-age", "2h", "--compression", "zstd"]);
    let group = ["group", "t", "g", "--per-key", "--filter", "kind=a", "--retry-delay", "5s"];
    queue.printed("", &group);
    let told = queue.printed("", &["describe", "t"]);
    assert!(told.contains("max_age       2h") && told.contains("zstd"), "{told}");
    assert!(told.contains("group g"), "{told}");
    queue.printed(&"again and again\n".repeat(2_000), &["produce", "t"]);
    let topic = queue.json(&["describe", "t", "--json"]);
    let bytes = |field: &str| topic[field].as_str().unwrap().parse::<u64>().unwrap();
    assert!(
        bytes("stored_bytes") > 0 && bytes("plain_bytes") > 4 * bytes("stored_bytes"),
        "{topic}"
    );
    let looks = queue.printed("", &["top", "--count", "2", "--every", "1ms"]);
    assert!(looks.contains("in/s"), "{looks}");
    assert!(looks.lines().any(|line| line.starts_with("  g ")), "{looks}");
    // The 2,000 messages were published within the ten seconds of the rates.
    let of_topic = looks.lines().rfind(|line| line.starts_with("t ")).unwrap();
    let coming: u64 = of_topic.split_whitespace().rev().nth(1).unwrap().parse().unwrap();
    assert!(coming >= 100, "{looks}");
    let told = queue.printed("", &["describe", "t"]);
    assert!(told.contains("published     ") && told.contains("messages/s"), "{told}");
    for (arguments, expected) in [
        (&["create", "t", "--priorities", "3"][..], "other options"),
        (&["produce", "nowhere"][..], "no topic \"nowhere\""),
        (&["consume", "nowhere"][..], "no topic \"nowhere\""),
        (&["delete", "t", "--group", "h"][..], "no group \"h\""),
        (&["verify"][..], "stop the venue"),
    ] {
        let (code, told) = queue.refused(arguments);
        assert_ne!(code, 0, "{arguments:?}: {told}");
        assert!(told.contains(expected), "{arguments:?}: {told}");
    }
    let mut nobody = command(&["queue", "ls", "--url", "http://127.0.0.1:1"]);
    let told = nobody.output().unwrap();
    assert_eq!(told.status.code(), Some(2), "{}", text(&told.stderr));
    assert!(text(&told.stderr).contains("needs a key"), "{}", text(&told.stderr));
}
