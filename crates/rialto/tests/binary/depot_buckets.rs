//! A pool whose volume is a bucket, in the real binary: the bucket is the depot of a venue over S3.

use crate::running::{PATIENCE, Running, command, configure, text};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// A venue with a bucket `cold`, and a key to it.
struct Store {
    dir: tempfile::TempDir,
    running: Running,
    listen: String,
    admin: String,
    key: (String, String),
}

impl Store {
    fn start() -> Store {
        let dir = tempfile::tempdir().unwrap();
        // An address of its own of 127.0.0.0/8: its port is free at the next start.
        static STORES: AtomicU8 = AtomicU8::new(1);
        let [.., high, low] = std::process::id().to_be_bytes();
        let own = format!("127.{}.{high}.{low}:0", STORES.fetch_add(1, Ordering::Relaxed));
        configure(dir.path(), &Store::config(&own));
        let running = Running::serve(dir.path(), "synced");
        let listen = running.line("S3 on ").split("S3 on http://").nth(1).unwrap().to_owned();
        let admin = running.admin_key();
        let mut store = Store { dir, running, listen, admin, key: Default::default() };
        store.ask(&["admin", "member", "m"]);
        let made = store.ask(&["admin", "key", "create", "1", "--scopes", "admin", "--json"]);
        let made: Value = serde_json::from_str(&made).unwrap();
        let word = |name: &str| made[name].as_str().unwrap().to_owned();
        store.key = (word("id"), word("secret"));
        store.ask(&["depot", "tenant", "create", "cold"]);
        store.ask(&["depot", "tenant", "directory", "cold", "", "--kind", "shelf"]);
        // The next start has the same address.
        configure(store.dir.path(), &Store::config(&store.listen));
        store
    }

    fn config(listen: &str) -> String {
        format!("[depot]\nenabled = true\n[s3]\nenabled = true\nlisten = {listen:?}\n")
    }

    fn ask(&self, words: &[&str]) -> String {
        let mut command = command(words);
        command.args(["--url", &self.running.url()]).env("RIALTO_ADMIN_KEY", &self.admin);
        let asked = command.output().unwrap();
        assert!(asked.status.success(), "{words:?}: {}", text(&asked.stderr));
        text(&asked.stdout)
    }

    /// The keys of the bucket below this directory.
    fn keys(&self, directory: &str) -> Vec<String> {
        let listed = self.ask(&["depot", "ls", "--tenant", "cold", "--json"]);
        let path = |line: &str| {
            let file: Value = serde_json::from_str(line).unwrap();
            file["path"].as_str().unwrap().to_owned()
        };
        listed.lines().map(path).filter(|path| path.starts_with(directory)).collect()
    }

    fn kill(&mut self) {
        self.running.kill();
    }

    fn start_again(&mut self) {
        self.running = Running::serve(self.dir.path(), "synced");
    }

    /// What a process needs to use the bucket.
    fn let_use(&self, command: &mut Command) {
        store_env(command, &self.key);
    }
}

/// A pool in a directory of its own.
struct Owner {
    dir: tempfile::TempDir,
}

impl Owner {
    /// A pool with the bucket as its only volume that takes files.
    fn new(store: &Store) -> Owner {
        let owner = Owner { dir: tempfile::tempdir().unwrap() };
        owner.done(store, &owner.mount(store, "cold"));
        owner.done(store, &["volume", "drain", "main"].map(str::to_owned));
        owner
    }

    fn mount(&self, store: &Store, name: &str) -> Vec<String> {
        let endpoint = format!("http://{}", store.listen);
        let words = ["volume", "mount", name, "--bucket", "cold", "--prefix", "pools/one"];
        let more = ["--endpoint", &endpoint, "--region", "us-east-1", "--allow-http"];
        [&words[..], &more[..]].concat().into_iter().map(str::to_owned).collect()
    }

    fn command(&self, store: &Store, words: &[impl AsRef<str>]) -> Command {
        let mut command = command(&["depot"]);
        command
            .args(words.iter().map(AsRef::as_ref))
            .arg("--dir")
            .arg(self.dir.path().join("pool"));
        store.let_use(&mut command);
        command
    }

    fn run(&self, store: &Store, words: &[impl AsRef<str>]) -> Output {
        self.command(store, words).output().unwrap()
    }

    fn done(&self, store: &Store, words: &[impl AsRef<str> + std::fmt::Debug]) -> String {
        let output = self.run(store, words);
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn write(&self, name: &str, content: &[u8]) -> String {
        let path: PathBuf = self.dir.path().join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn content(bytes: u32) -> Vec<u8> {
    (0..bytes).map(|nth| (nth % 251) as u8).collect()
}

#[test]
fn files_in_a_bucket_are_put_read_claimed_completed_removed_and_verified() {
    let store = Store::start();
    let owner = Owner::new(&store);
    let (small, large) = (content(40_000), content(21 << 20));
    let small_file = owner.write("small", &small);
    let large_file = owner.write("large", &large);
    let put = |file: &str| owner.done(&store, &["put", file, "--tenant", "acme"]).trim().to_owned();
    let (first, second) = (put(&small_file), put(&large_file));
    assert_eq!(store.keys("pools/one/files/").len(), 2);
    let listed = owner.done(&store, &["volume", "ls"]);
    assert!(listed.contains("s3://cold/pools/one") && listed.contains("no limit"), "{listed}");
    assert!(!listed.contains(&store.key.1));

    let back = owner.run(&store, &["get", &second, "--tenant", "acme"]);
    assert!(back.stdout == large, "{}", text(&back.stderr));
    let range = ["get", &second, "--tenant", "acme", "--offset", "1048570", "--length", "8000000"];
    let back = owner.run(&store, &range);
    assert!(back.stdout == large[1_048_570..9_048_570], "{}", text(&back.stderr));
    // Without credentials the volume is absent, and nothing is lost.
    let mut without = command(&["depot", "get", &first, "--tenant", "acme"]);
    let without = without.arg("--dir").arg(owner.dir.path().join("pool")).output().unwrap();
    let told = text(&without.stderr);
    assert!(!without.status.success() && told.contains("RIALTO_BUCKET_ACCESS_KEY_ID"), "{told}");

    let out = owner.dir.path().join("out");
    fs::create_dir(&out).unwrap();
    let into = ["claim", "--tenant", "acme", "--into", out.to_str().unwrap()];
    owner.done(&store, &into);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 2);
    assert_eq!(store.keys("pools/one/files/").len(), 0);
    let third = put(&large_file);
    let verified = owner.done(&store, &["verify"]);
    assert!(verified.contains("1 files") && verified.contains("0 files damaged"), "{verified}");
    owner.done(&store, &["rm", &third, "--tenant", "acme"]);
    assert_eq!(store.keys("pools/one/files/").len(), 0);
    assert_eq!(store.keys("pools/one/"), ["pools/one/VOLUME"]);
    // The prefix is that of this pool.
    let other = Owner { dir: tempfile::tempdir().unwrap() };
    let refused = other.run(&store, &other.mount(&store, "mine"));
    assert!(!refused.status.success());
    assert!(
        text(&refused.stderr).contains("without files, as after a mount"),
        "{}",
        text(&refused.stderr)
    );
}

#[test]
fn a_bucket_that_dies_in_the_middle_of_an_upload_costs_that_upload_alone() {
    let mut store = Store::start();
    let owner = Owner::new(&store);
    let file = owner.write("small", &content(40_000));
    let kept = owner.done(&store, &["put", &file, "--tenant", "acme"]);
    // A part is there when the rest of the content comes.
    let mut put = owner.command(&store, &["put", "-", "--tenant", "acme", "--name", "large"]);
    put.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut put = put.spawn().unwrap();
    let mut input = put.stdin.take().unwrap();
    input.write_all(&content(12 << 20)).unwrap();
    let end = Instant::now() + PATIENCE;
    while store.keys(".multipart/").is_empty() {
        assert!(Instant::now() < end, "no part arrived");
        thread::sleep(Duration::from_millis(50));
    }
    store.kill();
    let begin = Instant::now();
    // A command that gives up does not read the rest.
    let _ = input.write_all(&content(30 << 20));
    drop(input);
    let output = put.wait_with_output().unwrap();
    let told = text(&output.stderr);
    assert!(!output.status.success() && told.contains("volume cold"), "{told}");
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    // While it is away the other file cannot be read, and is not lost.
    let away = owner.run(&store, &["get", kept.trim(), "--tenant", "acme"]);
    assert!(!away.status.success(), "{}", text(&away.stderr));
    store.start_again();
    let back = owner.run(&store, &["get", kept.trim(), "--tenant", "acme"]);
    assert!(back.stdout == content(40_000), "{}", text(&back.stderr));
    assert_eq!(store.keys("pools/one/files/").len(), 1);
    let listed = owner.done(&store, &["ls", "--tenant", "acme", "--json"]);
    assert_eq!(listed.lines().count(), 1, "{listed}");
}

#[test]
fn a_venue_keeps_files_in_the_bucket_and_goes_on_without_it() {
    let mut store = Store::start();
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "[depot]\nenabled = true\ninline_bytes_max = 0\n");
    let config = dir.path().join("rialto.toml");
    let key = store.key.clone();
    let serve = || {
        let mut serve = command(&["serve", "--level", "synced", "--config"]);
        serve.arg(&config);
        store_env(&mut serve, &key);
        let mut running = Running::spawn(serve);
        running.wait_for("listening on");
        running
    };
    let mut venue = serve();
    let admin = venue.admin_key();
    let ask = |venue: &Running, words: &[String]| {
        let mut ask = command(&["depot"]);
        ask.args(words).args(["--url", &venue.url()]).env("RIALTO_ADMIN_KEY", &admin);
        ask.output().unwrap()
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let done = |venue: &Running, these: &[String]| {
        let output = ask(venue, these);
        assert!(output.status.success(), "{these:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let owner = Owner { dir: tempfile::tempdir().unwrap() };
    done(&venue, &owner.mount(&store, "cold"));
    done(&venue, &words(&["volume", "drain", "main"]));
    let file = owner.write("a", &content(3 << 20));
    let id = done(&venue, &words(&["put", &file, "--tenant", "acme"]));
    assert_eq!(store.keys("pools/one/files/").len(), 1);
    venue.terminate();
    let mut venue = serve();
    let back = ask(&venue, &words(&["get", id.trim(), "--tenant", "acme"]));
    assert!(back.stdout == content(3 << 20), "{}", text(&back.stderr));
    let listed = done(&venue, &words(&["volume", "ls", "--json"]));
    assert!(listed.contains("\"prefix\":\"pools/one\"") && !listed.contains(&store.key.1));
    let cold: Value = serde_json::from_str(listed.lines().last().unwrap()).unwrap();
    assert_eq!((&cold["free_bytes"], &cold["total_bytes"]), (&Value::Null, &Value::Null));
    store.kill();
    // Clearly refused, without another volume; and stored, with one.
    let refused = ask(&venue, &words(&["put", &file, "--tenant", "acme"]));
    assert!(text(&refused.stderr).contains("volume"), "{}", text(&refused.stderr));
    assert!(!refused.status.success());
    done(&venue, &words(&["volume", "drain", "main", "--undo"]));
    done(&venue, &words(&["put", &file, "--tenant", "acme"]));
    store.start_again();
    let end = Instant::now() + PATIENCE;
    while !done(&venue, &words(&["volume", "ls"]))
        .lines()
        .any(|it| it.starts_with("cold") && it.contains("  up  "))
    {
        assert!(Instant::now() < end, "the bucket was not used again");
        thread::sleep(Duration::from_millis(200));
    }
    // The files of the bucket move to the directory, and the bucket is the pool's no more.
    done(&venue, &words(&["volume", "drain", "cold"]));
    while !store.keys("pools/one/files/").is_empty() {
        assert!(Instant::now() < end, "the bucket was not drained");
        thread::sleep(Duration::from_millis(200));
    }
    done(&venue, &words(&["volume", "unmount", "cold"]));
    let back = ask(&venue, &words(&["get", id.trim(), "--tenant", "acme"]));
    assert!(back.stdout == content(3 << 20), "{}", text(&back.stderr));
    venue.terminate();
    let said = venue.said.join("\n");
    assert!(!said.contains(&store.key.1), "a line has the secret");
}

fn store_env(command: &mut Command, key: &(String, String)) {
    command.env("RIALTO_BUCKET_ACCESS_KEY_ID", &key.0);
    command.env("RIALTO_BUCKET_SECRET_ACCESS_KEY", &key.1);
}
