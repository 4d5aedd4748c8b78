//! The memory of nearly empty topics. It is the only test of this program, because it counts the
//! memory of the whole process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_queue::{Level, Publish, Queue, QueueOptions, TopicOptions};

const MIB: i64 = 1 << 20;

/// The memory of this process that is in use, in bytes.
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<i64>().unwrap() << 10
}

#[test]
fn topics_with_little_in_them_take_little() {
    let before = resident();
    let queue = Queue::open_stepped(QueueOptions::in_memory()).unwrap();
    for name in (0..100).map(|nth| format!("t{nth}")) {
        queue.create_topic(&name, TopicOptions::stream().level(Level::Memory)).unwrap();
        let _ = queue.producer(&name).unwrap().send(&Publish::new(b"alone")).unwrap();
    }
    let taken = resident() - before;
    assert!(taken < 16 * MIB, "{taken} bytes hold a message in each of 100 topics");
}
