//! How a venue opens the directory of its queue.

use crate::asking::{Client, Credentials};
use crate::running::{Running, command, configure, text};
use rialto_queue::{Level, Publish, Queue, QueueOptions, TopicOptions};
use serde_json::json;
use std::path::Path;

fn queue_dir(dir: &Path) -> std::path::PathBuf {
    dir.join("data").join("queue")
}

#[test]
fn topics_of_the_venue_s_names_that_were_there_before_keep_no_venue_from_opening() {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "[queue]\nenabled = true\n");
    let queue = Queue::open(QueueOptions::at(queue_dir(dir.path()))).unwrap();
    for topic in ["venue", "venue.events"] {
        let options = TopicOptions { segment_bytes: 2 << 20, ..TopicOptions::default() };
        queue.create_topic(topic, options).unwrap();
        let _ = queue.producer(topic).unwrap().publish(&Publish::new(b"old")).unwrap();
    }
    queue.close().unwrap();

    let mut running = Running::serve(dir.path(), "synced");
    let told = running.heard("the queue has a topic venue.events of its own");
    assert!(told.contains("delete it and start again"), "{told}");
    let admin = running.admin_key();
    let operator =
        |running: &Running| Client::new(&running.url(), Credentials::Admin(admin.clone()));
    let client = operator(&running);
    for topic in ["venue", "venue.events"] {
        let path = format!("/v1/queues/{topic}/messages");
        let read = client.call("GET", &path, None).unwrap();
        assert_eq!(read["messages"][0]["payload"], "old", "{topic}");
    }
    client.call("DELETE", "/v1/queues/venue.events", None).unwrap();
    let member = json!({"name": "acme"});
    client.call("POST", "/v1/admin/members", Some(&member)).unwrap();
    running.terminate();

    let mut running = Running::serve(dir.path(), "synced");
    let client = operator(&running);
    let events = client.call("GET", "/v1/queues/venue.events", None).unwrap();
    assert_eq!(events["read_only"], true, "{events}");
    let venue = client.call("GET", "/v1/queues/venue/messages", None).unwrap();
    assert_eq!(venue["messages"][0]["payload"], "old");
    running.terminate();
}

#[test]
fn reserved_topic_names_cannot_be_created_in_a_venues_directory() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["venue", "venue.events", "venue.x"] {
        let mut create = command(&["queue", "create", name, "--dir"]);
        let told = create.arg(dir.path()).output().unwrap();
        assert_eq!(told.status.code(), Some(2), "{name}");
        assert!(text(&told.stderr).contains("is reserved for the venue"), "{}", text(&told.stderr));
    }
}

/// The resident memory of a process, in bytes.
#[cfg(target_os = "linux")]
fn resident(running: &Running) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

#[cfg(target_os = "linux")]
#[test]
fn memory_for_messages_is_ready_when_a_venue_serves_if_it_is_configured() {
    const BUFFERS: u64 = 128 << 20;
    let serve = |more: &str| {
        let dir = tempfile::tempdir().unwrap();
        configure(dir.path(), &format!("[queue]\nenabled = true\n{more}"));
        let running = Running::serve(dir.path(), "memory");
        resident(&running)
    };
    let (without, with) = (serve(""), serve(&format!("buffers_bytes = {BUFFERS}\n")));
    assert!(with >= without + BUFFERS * 9 / 10, "{with} bytes, and {without} without buffers");
}

/// Whether a venue with this configuration recycles files of a topic.
fn uses_files_again(more: &str) -> bool {
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), &format!("[queue]\nenabled = true\n{more}"));
    let queue = Queue::open(QueueOptions::at(queue_dir(dir.path()))).unwrap();
    let options = TopicOptions { segment_bytes: 2 << 20, ..TopicOptions::stream() };
    queue.create_topic("t", options.messages_max(2).level(Level::Synced)).unwrap();
    queue.close().unwrap();

    let mut running = Running::serve(dir.path(), "synced");
    let client = Client::new(&running.url(), Credentials::Admin(running.admin_key()));
    let messages = json!([{"payload": "a".repeat(600_000)}]);
    for _ in 0..20 {
        client.call("POST", "/v1/queues/t/messages", Some(&messages)).unwrap();
    }
    let lane = queue_dir(dir.path()).join("topics/000001/lane-0");
    let is_used = |file: std::fs::DirEntry| {
        // A waiting spare file, or a recycled one, as its header says.
        let is_spare = file.file_name().to_string_lossy().starts_with("spare-");
        is_spare || std::fs::read(file.path()).is_ok_and(|bytes| bytes.get(94) == Some(&2))
    };
    let is_any = std::fs::read_dir(lane).unwrap().any(|file| is_used(file.unwrap()));
    running.terminate();
    is_any
}

#[test]
fn files_are_used_again_unless_a_venue_is_configured_to_keep_none() {
    assert!(uses_files_again(""));
    assert!(!uses_files_again("spare_bytes = 0\n"));
}

#[test]
fn verify_tells_what_is_no_damage_from_damage() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("q");
    let verify = || {
        let output = command(&["queue", "verify", "--dir"]).arg(&at).output().unwrap();
        let told = text(&output.stdout) + &text(&output.stderr);
        assert!(!told.contains("DAMAGED"), "{told}");
        (output.status.success(), told)
    };
    let (is_well, told) = verify();
    assert!(!is_well && told.contains("there is no queue in"), "{told}");
    assert!(!at.exists(), "it changes nothing");
    let queue = Queue::open(QueueOptions::at(&at)).unwrap();
    queue.create_topic("t", TopicOptions::default().level(Level::Buffered)).unwrap();
    let _ = queue.producer("t").unwrap().publish(&Publish::new(b"kept")).unwrap();
    let (is_well, told) = verify();
    assert!(!is_well && told.contains("is open"), "{told}");
    queue.close().unwrap();
    // As an interrupted deletion leaves it, after the control log has forgotten it.
    let left_over = at.join("topics/000000/lane-0");
    std::fs::create_dir_all(&left_over).unwrap();
    std::fs::write(left_over.join("00000000000000000001-0000000001.log"), [7; 8192]).unwrap();
    let (is_well, told) = verify();
    assert!(is_well && told.contains("000000: files of a deleted topic"), "{told}");
    assert!(told.contains("lane-0: 1 records"), "{told}");
    Queue::open(QueueOptions::at(&at)).unwrap().close().unwrap();
    assert!(!left_over.exists(), "an opening removes it");
}
