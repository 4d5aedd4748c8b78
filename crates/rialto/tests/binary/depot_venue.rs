//! The depot of a venue in the real binary: its configuration, a disk that is nearly full, and two
//! processes on one pool.

use crate::pool::Pool;
use crate::running::{Running, command, configure, text};
use serde_json::json;
use std::fs;

#[test]
fn the_settings_of_the_depot_are_those_of_the_file() {
    let pool = Pool::there("inline_bytes_max = 0\nupload_bytes_max = 1_000\nattempts_max = 1\n");
    pool.put("a", "abc", &[]);
    // Nothing is inline.
    pool.has_stored_files(1);
    let file = pool.write("b", vec![b'x'; 1_001]);
    let (code, told) = pool.refused(&["put", &file, "--tenant", "acme"]);
    assert_eq!((code, told.contains("more than 1000 bytes")), (2, true), "{told}");
    assert_eq!(pool.work("false", &[]).0, 1);
    // When the delay after its only attempt is over.
    pool.dead_letter();
    let none = tempfile::tempdir().unwrap();
    configure(none.path(), "");
    let venue = Running::serve(none.path(), "synced");
    let mut list = command(&["depot", "tenant", "ls", "--url", &venue.url()]);
    let output = list.env("RIALTO_ADMIN_KEY", venue.admin_key()).output().unwrap();
    assert_eq!(output.status.code(), Some(6));
    assert!(text(&output.stderr).contains("no_depot"), "{output:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn the_threads_of_the_depot_and_of_s3_have_a_lower_priority_than_those_of_orders() {
    let dir = tempfile::tempdir().unwrap();
    let s3 =
        if cfg!(feature = "s3") { "[s3]\nenabled = true\nlisten = \"127.0.0.1:0\"\n" } else { "" };
    configure(dir.path(), &format!("shared_nice = 9\n\n[depot]\nenabled = true\n\n{s3}"));
    let venue = Running::serve(dir.path(), "synced");
    let last = if cfg!(feature = "s3") { "s3" } else { "depot-" };
    let nice_of = |threads: &[(String, i64)], name: &str| {
        let found = threads.iter().filter(|(thread, _)| thread.starts_with(name));
        found.map(|(_, nice)| *nice).collect::<Vec<_>>()
    };
    let is_lowered = |threads: &[(String, i64)], name: &str| {
        let nice = nice_of(threads, name);
        !nice.is_empty() && nice.iter().all(|nice| *nice == 9)
    };
    // A thread lowers its priority itself, and may not have begun yet.
    let mut threads = threads_of(venue.id());
    for name in ["depot-", "queue-", last] {
        let began = std::time::Instant::now();
        while !is_lowered(&threads, name) {
            assert!(began.elapsed() < crate::running::PATIENCE, "{name}: {threads:?}");
            std::thread::sleep(std::time::Duration::from_millis(50));
            threads = threads_of(venue.id());
        }
    }
    for name in ["depot-", "queue-", last] {
        assert!(is_lowered(&threads, name), "{name}: {threads:?}");
    }
    let orders = nice_of(&threads, "sequencer");
    assert!(!orders.is_empty() && orders.iter().all(|nice| *nice < 9), "{threads:?}");
}

/// Name and nice value of each thread of a process.
#[cfg(target_os = "linux")]
fn threads_of(process: u32) -> Vec<(String, i64)> {
    let thread = |path: &std::path::Path| {
        let name = fs::read_to_string(path.join("comm")).ok()?.trim().to_owned();
        let stat = fs::read_to_string(path.join("stat")).ok()?;
        // After the name in parentheses, which may contain anything, it is the 17th field.
        let nice = stat.rsplit(')').next()?.split_whitespace().nth(16)?.parse().ok()?;
        Some((name, nice))
    };
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    tasks.filter_map(|task| thread(&task.ok()?.path())).collect()
}

#[test]
fn on_a_disk_that_is_nearly_full_files_are_refused_and_work_goes_on() {
    let mut pool = Pool::there("");
    let (first, second) = (pool.put("a", "abc", &[]), pool.put("b", "def", &[]));
    pool.restart("[storage]\ntopics_free_bytes_min = 1_000_000_000_000_000_000\n");
    let file = pool.word("a");
    let (code, told) = pool.refused(&["put", &file, "--tenant", "acme"]);
    assert_eq!((code, told.contains("little room left")), (1, true), "{told}");
    assert_eq!(pool.done(&["get", &first, "--tenant", "acme"]), "abc");
    let claimed = pool.object(&["claim", "--tenant", "acme"]);
    assert_eq!(claimed["file"]["id"], first);
    pool.done(&["complete", claimed["token"].as_str().unwrap()]);
    pool.done(&["rm", &second, "--tenant", "acme"]);
    assert_eq!(pool.paths(&[]).len(), 0);
    // Results are new files, and their input stays.
    pool.restart("");
    let third = pool.put("c", "abc", &[]);
    pool.restart("[storage]\ntopics_free_bytes_min = 1_000_000_000_000_000_000\n");
    let claimed = pool.object(&["claim", "--tenant", "acme"]);
    let token = claimed["token"].as_str().unwrap();
    assert_eq!(pool.refused(&["complete", token, "--with", &file]).0, 1);
    assert_eq!(pool.object(&["show", &third, "--tenant", "acme"])["state"], "claimed");
}

#[test]
fn a_second_process_on_a_pool_is_refused_with_the_name_of_the_first() {
    let mut pool = Pool::there("");
    pool.put("a", "abc", &[]);
    let dir = pool.pool_dir();
    let list = ["depot", "ls", "--tenant", "acme", "--dir", dir.to_str().unwrap()];
    let output = command(&list).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    let id = pool.venue().running.id();
    assert!(told.contains(&format!("is in use by process {id}")), "{told}");
    // The other way around: a venue on a pool that a worker has open.
    pool.venue().running.terminate();
    let fifo = pool.fifo("fifo");
    let mut worker = command(&["depot", "claim", "--exec", &pool.waiting(&fifo)]);
    worker.arg("--dir").arg(&dir);
    let mut worker = Running::spawn(worker);
    worker.wait_for("started");
    let config = pool.word("rialto.toml");
    let output = command(&["serve", "--config", &config, "--level", "synced"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let told = text(&output.stderr) + &text(&output.stdout);
    assert!(told.contains(&format!("is in use by process {}", worker.id())), "{told}");
    pool.release("fifo");
    assert!(worker.wait().success());
}

#[test]
fn a_rate_bounds_what_a_tenant_stores() {
    let pool = Pool::there("tenant_bytes_per_second = 100\nrate_wait_ms = 0\n");
    // It comes in one piece.
    let file = pool.write("a", vec![b'x'; 6_000]);
    pool.done(&["put", &file, "--tenant", "acme"]);
    let (code, told) = pool.refused(&["put", &file, "--tenant", "acme"]);
    assert_eq!((code, told.contains("at most 100 bytes a second")), (1, true), "{told}");
    pool.done(&["put", &file, "--tenant", "other"]);
    assert_eq!(pool.object(&["tenant", "show", "acme"])["files"], json!("1"));
}

#[test]
fn the_doctor_warns_of_a_volume_on_the_file_system_of_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let doctor = |more: &[&str]| {
        let data = dir.path().to_str().unwrap();
        let output = command(&["doctor", data, "--json"]).args(more).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        report["advice"].to_string().contains("on one file system")
    };
    assert!(!doctor(&[]));
    // On every Linux, so that another file system is there.
    assert!(!doctor(&["--volume", "/dev/shm"]));
    let other = dir.path().join("other");
    fs::create_dir(&other).unwrap();
    assert!(doctor(&["--volume", other.to_str().unwrap()]));
    fs::create_dir_all(dir.path().join("depot/volume")).unwrap();
    assert!(doctor(&[]));
}
