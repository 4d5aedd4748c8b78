//! `rialto depot claim` in the real binary: commands that run on files, and files that are moved.

use crate::pool::{Pool, on_both};
use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};

/// The delay before a failed file is handed out again, by default.
const RETRY_DELAY: Duration = Duration::from_secs(5);

/// Runs a worker on one file whose claim must be renewed. On a busy machine a renewal may be too
/// late, but not in every attempt.
fn work_on_one(pool: &Pool, script: &str, more: &[&str]) -> (i32, String) {
    let more = [more, &["--limit", "1", "--wait", "30s"]].concat();
    let mut worked = (0..4).map(|_| pool.work(script, &more)).inspect(|it| println!("{it:?}"));
    worked.find(|(code, _)| *code == 0).expect("no claim was renewed")
}

#[test]
fn a_command_gets_the_file_and_what_is_known_of_it() {
    on_both(|pool| {
        let more = ["--directory", "in", "--meta", "desk=fx", "--content-type", "text/csv"];
        let id = pool.put("a.csv", "1,2,3", &more);
        let (seen, copy) = (pool.word("seen"), pool.word("copy"));
        let script = pool.write(
        "script.sh",
        format!(
            "cp \"$2\" {copy}; basename \"$2\" >{seen}\n\
             echo \"$1 $RIALTO_FILE_ID $RIALTO_FILE_TENANT $RIALTO_FILE_PATH $RIALTO_FILE_DIRECTORY \
             $RIALTO_FILE_NAME $RIALTO_FILE_BYTES $RIALTO_FILE_CONTENT_TYPE $RIALTO_FILE_ATTEMPTS \
             $RIALTO_FILE_METADATA\" >>{seen}"
        ),
    );
        let command = format!("sh {script} first");
        assert_eq!(pool.work(&command, &["--tenant", "acme"]), (0, "1 completed\n".to_owned()));
        assert_eq!(fs::read(copy).unwrap(), b"1,2,3");
        assert_eq!(
            fs::read_to_string(seen).unwrap(),
            format!("a.csv\nfirst {id} acme in/a.csv in a.csv 5 text/csv 1 {{\"desk\":\"fx\"}}\n")
        );
        assert_eq!(pool.paths(&[]).len(), 0);
    });
}

#[test]
fn the_files_of_all_tenants_are_claimed_unless_one_is_named() {
    on_both(|pool| {
        let file = pool.write("a", "abc");
        for tenant in ["acme", "blue", "coral"] {
            pool.done(&["put", &file, "--tenant", tenant]);
        }
        assert_eq!(pool.work("true", &["--tenant", "blue"]), (0, "1 completed\n".to_owned()));
        assert_eq!(pool.work("true", &["--limit", "1"]), (0, "1 completed\n".to_owned()));
        assert_eq!(pool.work("true", &[]), (0, "1 completed\n".to_owned()));
        assert_eq!(pool.work("true", &["--tenant", "nobody"]).0, 2);
    });
}

#[test]
fn a_command_that_fails_fails_the_file_with_its_last_line() {
    on_both(|pool| {
        for name in ["a", "b", "c"] {
            pool.put(name, name, &[]);
        }
        let begun = Instant::now();
        let bad = "f() { grep -q b \"$1\" || return 0; echo one >&2; echo 'no such column' >&2; return 3; }; f";
        let (code, told) = pool.work(bad, &[]);
        assert_eq!(code, 1);
        assert!(told.contains(" b failed: no such column\n"), "{told}");
        assert!(told.contains("1 completed, 1 failed"), "{told}");
        // The failed one waits for its next attempt.
        assert_eq!(pool.paths(&[]), ["b", "c"]);
        let (code, told) = pool.work("true", &[]);
        if told == "2 completed\n" {
            // On a busy machine the next attempt has come.
            assert!(begun.elapsed() >= RETRY_DELAY, "{:?}", begun.elapsed());
            pool.put("b", "b", &[]);
        } else {
            assert_eq!((code, told.as_str()), (0, "1 completed\n"));
        }
        let (code, told) = pool.work("exit 7 #", &["--wait", "20s", "--limit", "1"]);
        assert_eq!(code, 1);
        assert!(told.contains("the command exited with status 7"), "{told}");
    });
}

#[test]
fn work_goes_on_after_a_failure_if_it_should() {
    on_both(|pool| {
        for name in ["a", "b", "c"] {
            pool.put(name, name, &[]);
        }
        let (code, told) = pool.work("grep -q c", &["--keep-going"]);
        assert_eq!(code, 1);
        assert!(told.contains("1 completed, 2 failed"), "{told}");
    });
}

#[test]
fn a_claim_is_renewed_while_results_are_sent() {
    // The results take twice as long as the claim lasts.
    let pool = Pool::there("tenant_bytes_per_second = 200_000\n");
    pool.done(&["tenant", "create", "acme"]);
    pool.done(&["tenant", "directory", "acme", "out", "--kind", "shelf"]);
    pool.put("a", "abc", &[]);
    let make = "f() { mkdir $RIALTO_RESULTS/out; \
                head -c 1600000 /dev/zero >$RIALTO_RESULTS/out/large; }; f";
    let worked = work_on_one(&pool, make, &["--for", "4s"]);
    assert_eq!(worked, (0, "1 completed\n".to_owned()));
    assert_eq!(pool.paths(&[]), ["out/large"]);
}

#[test]
fn results_are_stored_with_the_completion_of_their_file() {
    on_both(|pool| {
        pool.done(&["tenant", "create", "acme"]);
        pool.done(&["tenant", "directory", "acme", "out", "--kind", "shelf"]);
        pool.put("a", "abc", &["--directory", "in"]);
        let make = "f() { mkdir -p $RIALTO_RESULTS/out/x $RIALTO_RESULTS/next; \
                tr a-c A-C <\"$1\" >$RIALTO_RESULTS/out/x/a.up; \
                cp \"$1\" $RIALTO_RESULTS/next/a; }; f";
        let one = ["--limit", "1"];
        assert_eq!(pool.work(make, &one), (0, "1 completed\n".to_owned()));
        assert_eq!(pool.paths(&[]), ["next/a", "out/x/a.up"]);
        let get = ["get", "--path", "out/x/a.up", "--tenant", "acme"];
        assert_eq!(pool.done(&get), "ABC");

        // One result that cannot be stored: none is, and the file is not completed.
        let bad = "f() { mkdir $RIALTO_RESULTS/out; echo 1 >$RIALTO_RESULTS/out/b; \
               ln -s /etc/passwd $RIALTO_RESULTS/out/c; }; f";
        let (code, told) = pool.work(bad, &one);
        assert_eq!(code, 1);
        assert!(told.contains("neither a file nor a directory"), "{told}");
        assert_eq!(pool.paths(&[]), ["next/a", "out/x/a.up"]);
        pool.done(&["tenant", "directory", "acme", "out", "--files-max", "2"]);
        let many = "f() { mkdir $RIALTO_RESULTS/out; touch $RIALTO_RESULTS/out/b $RIALTO_RESULTS/out/c; }; f";
        let (code, told) = pool.work(many, &["--limit", "1", "--wait", "30s"]);
        assert_eq!(code, 1);
        assert!(told.contains("the quota of the directory \"out\""), "{told}");
        assert_eq!(pool.paths(&[]), ["next/a", "out/x/a.up"]);
    });
}

#[test]
fn workers_run_at_the_same_time() {
    on_both(|pool| {
        pool.put("a", "a", &[]);
        pool.put("b", "b", &[]);
        // Each command waits for the other one.
        let (one, other) = (pool.fifo("one"), pool.fifo("other"));
        let script = format!(
            "case $RIALTO_FILE_NAME in a) echo >{one}; read line <{other};; \
         b) read line <{one}; echo >{other};; esac"
        );
        let meet = format!("timeout 120 sh {}", pool.write("meet.sh", script));
        assert_eq!(pool.work(&meet, &["--workers", "2"]), (0, "2 completed\n".to_owned()));
    });
}

#[test]
fn one_process_has_a_pool_and_a_killed_worker_s_file_is_handed_out_again() {
    let pool = Pool::new();
    let id = pool.put("a", "abc", &[]);
    let fifo = pool.fifo("gate");
    let mut worker = pool.worker(&pool.waiting(&fifo), &[]);
    worker.wait_for("started");
    let file = pool.word("a");
    let (code, told) = pool.refused(&["put", &file, "--tenant", "acme"]);
    assert_eq!(code, 1);
    assert!(told.contains(&format!("{}", worker.id())), "{told}");

    worker.signal("KILL");
    // The command outlives it, and does not keep the pool.
    let shown = pool.until_done(&["show", &id, "--tenant", "acme", "--json"]);
    assert!(shown.contains("\"state\":\"waiting\""), "{shown}");
    pool.release("gate");
    worker.wait();
    let seen = pool.word("seen");
    let script = format!("echo $RIALTO_FILE_ID $RIALTO_FILE_ATTEMPTS >{seen} #");
    assert_eq!(pool.work(&script, &["--wait", "30s", "--limit", "1"]).0, 0);
    assert_eq!(fs::read_to_string(seen).unwrap(), format!("{id} 2\n"));
}

#[test]
fn a_claim_is_renewed_while_the_command_runs() {
    let pool = Pool::new();
    let id = pool.put("a", "abc", &[]);
    // The command lasts longer than the claim would.
    let (code, told) = work_on_one(&pool, "sleep 4 #", &["--for", "2s"]);
    assert_eq!((code, told.as_str()), (0, "1 completed\n"));
    assert_eq!(pool.refused(&["show", &id, "--tenant", "acme"]).0, 2);
}

#[test]
fn a_signal_lets_the_running_command_end() {
    let pool = Pool::new();
    pool.put("a", "abc", &[]);
    pool.put("b", "abc", &[]);
    let fifo = pool.fifo("gate");
    let mut worker = pool.worker(&pool.waiting(&fifo), &["--wait", "1h"]);
    worker.wait_for("started");
    worker.signal("TERM");
    worker.wait_for("no more files are claimed");
    pool.release("gate");
    assert!(worker.wait().success(), "{:?}", worker.said);
    assert!(worker.said.contains(&"1 completed".to_owned()), "{:?}", worker.said);
    assert_eq!(pool.paths(&[]), ["b"]);
}

#[test]
fn files_are_moved_to_a_directory_once() {
    let pool = Pool::new();
    let small = pool.put("a.csv", "abc", &["--directory", "in"]);
    let content = vec![7; 3 << 20];
    let big = pool.put("b.bin", &content, &[]);
    let inbox = pool.word("inbox");
    let into = ["claim", "--tenant", "acme", "--into", &inbox];
    assert_eq!(pool.refused(&into).0, 1);
    fs::create_dir(&inbox).unwrap();
    let (saved, other) = (format!("inbox/{small}-a.csv"), format!("inbox/{big}-b.bin"));
    // Something else is in the way: it stays, and so does the file of the pool.
    fs::write(pool.path(&saved), "old").unwrap();
    let (code, told) = pool.refused(&into);
    assert_eq!(code, 1);
    assert!(told.contains("exists and holds something else"), "{told}");
    assert_eq!(fs::read(pool.path(&saved)).unwrap(), b"old");
    assert_eq!(pool.object(&["show", &small, "--tenant", "acme"])["attempts"], json!(0));
    // What a killed process had moved is recognised.
    fs::write(pool.path(&saved), "abc").unwrap();
    pool.done(&into);
    assert!(fs::read(pool.path(&other)).unwrap() == content);
    assert_eq!(fs::read_dir(&inbox).unwrap().count(), 2);
    assert_eq!((pool.paths(&[]).len(), pool.stored_files()), (0, 0));
    let (code, told) = pool.refused(&["claim", "--into", &pool.word("a.csv")]);
    assert_eq!((code, told.contains("is not a directory")), (2, true), "{told}");
}

#[test]
fn damaged_files_are_not_moved() {
    let pool = Pool::new();
    pool.put("big", vec![7; 3 << 20], &[]);
    pool.flip_bit(10);
    let inbox = pool.word("inbox");
    fs::create_dir(&inbox).unwrap();
    let (code, told) = pool.refused(&["claim", "--into", &inbox]);
    assert_eq!(code, 1);
    assert!(told.contains("block 0 of"), "{told}");
    assert_eq!(fs::read_dir(&inbox).unwrap().count(), 0);
    assert_eq!(pool.paths(&[]), ["big"]);
}
