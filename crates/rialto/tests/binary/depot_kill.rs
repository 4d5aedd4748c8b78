//! A venue with a watched folder, killed under load: each file that was dropped is accepted once, or is
//! still in the folder; none is lost, and none that was completed is handed out again.

use crate::asking::{Client, Credentials};
use crate::running::chance::{Random, seed};
use crate::running::{PATIENCE, Running, configure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const KILLS: u64 = 20;
/// The files that may be in the folder at a time.
const DROPPED_MAX: usize = 200;

/// What the worker saw.
#[derive(Default)]
struct Seen {
    /// The id of each file by its name.
    ids: BTreeMap<String, String>,
    /// The files whose completion was acknowledged.
    completed: BTreeSet<String>,
    /// The files whose completion was asked for and not answered: the venue was killed meanwhile.
    /// Each is completed or will be handed out again.
    in_doubt: BTreeSet<String>,
    /// What must not happen.
    wrong: Vec<String>,
}

fn client(url: &str, key: &str) -> Client {
    Client::new(url, Credentials::Admin(key.to_owned()))
}

/// Claims files and completes them, until there are none or the venue is gone. Returns how many.
fn work(client: &Client, seen: &Mutex<Seen>, wait_ms: u64) -> Result<usize, rialto::Error> {
    let body = json!({"limit": 20, "wait_ms": wait_ms, "duration_ms": 1_000, "content": true});
    let claimed = client.call("POST", "/v1/depot/acme/claims", Some(&body))?;
    let claims = claimed["claims"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    {
        let mut seen = seen.lock().unwrap();
        for claim in claims {
            let (name, id) = (text(&claim["file"]["name"]), text(&claim["file"]["id"]));
            if seen.completed.contains(&name) {
                seen.wrong.push(format!("{name} was completed and handed out again"));
            }
            if claim["content"] != base64_of(&name) {
                seen.wrong.push(format!("{name} has the content {}", claim["content"]));
            }
            let first = seen.ids.entry(name.clone()).or_insert_with(|| id.clone()).clone();
            if first != id {
                seen.wrong.push(format!("{name} was accepted as {first} and as {id}"));
            }
        }
    }
    if claims.is_empty() {
        return Ok(0);
    }
    let names: Vec<_> = claims.iter().map(|claim| text(&claim["file"]["name"])).collect();
    let tokens: Vec<_> = claims.iter().map(|claim| text(&claim["claim"])).collect();
    let ended = client.call("POST", "/v1/depot/claims/complete", Some(&json!({"claims": tokens})));
    let mut seen = seen.lock().unwrap();
    let ended = ended.inspect_err(|_| seen.in_doubt.extend(names.iter().cloned()))?;
    let lost = ended["lost"].as_array().unwrap();
    for (name, token) in names.into_iter().zip(tokens) {
        if !lost.contains(&json!(token)) {
            seen.in_doubt.remove(&name);
            seen.completed.insert(name);
        }
    }
    Ok(claims.len())
}

/// Each file holds its name: eight digits and a line feed.
fn base64_of(name: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let content = format!("{name}\n").into_bytes();
    let groups = content.chunks(3).flat_map(|group| {
        let bits = group.iter().fold(0, |bits, byte| (bits << 8) | usize::from(*byte));
        [18, 12, 6, 0].map(|shift| char::from(DIGITS[(bits >> shift) & 63]))
    });
    groups.collect()
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder)
        .unwrap()
        .filter(|entry| !is_hidden(&entry.as_ref().unwrap().path()))
        .count()
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().unwrap().to_string_lossy().starts_with('.')
}

/// Drops files into a folder, each whole under its name at once.
fn drop_files(folder: &Path, dropped: &AtomicU64, stop: &AtomicBool) {
    while !stop.load(SeqCst) {
        if count(folder) >= DROPPED_MAX {
            thread::yield_now();
            continue;
        }
        let name = format!("{:08}", dropped.load(SeqCst));
        let begun: PathBuf = folder.join(format!(".{name}"));
        fs::write(&begun, format!("{name}\n")).unwrap();
        fs::rename(&begun, folder.join(&name)).unwrap();
        dropped.fetch_add(1, SeqCst);
    }
}

#[test]
fn every_dropped_file_is_accepted_once_whenever_the_venue_is_killed() {
    let seed = seed();
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("drop");
    fs::create_dir(&folder).unwrap();
    configure(
        dir.path(),
        &format!("[depot]\nenabled = true\nattempts_max = 0\nwatch_roots = [{folder:?}]\n"),
    );
    let mut venue = Running::serve(dir.path(), "synced");
    let key = venue.admin_key();
    let watch = json!({"name": "drop", "folder": folder, "tenant": "acme"});
    let first = client(&venue.url(), &key);
    first.call("POST", "/v1/depot/watches", Some(&watch)).unwrap();
    let tenant = json!({"files_max": "0"});
    first.call("PUT", "/v1/depot/tenants/acme", Some(&tenant)).unwrap();

    let (dropped, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let dropper = {
        let (folder, dropped, stop) = (folder.clone(), Arc::clone(&dropped), Arc::clone(&stop));
        thread::spawn(move || drop_files(&folder, &dropped, &stop))
    };
    let seen = Arc::new(Mutex::new(Seen::default()));
    for _ in 0..KILLS {
        // The worker runs until the venue is gone.
        let worker = {
            let (url, key, seen) = (venue.url(), key.clone(), Arc::clone(&seen));
            thread::spawn(move || {
                let client = client(&url, &key);
                while work(&client, &seen, 200).is_ok() {}
            })
        };
        // Files settle for half a second; the kill comes while they are imported and completed.
        let before = seen.lock().unwrap().completed.len();
        let end = Instant::now() + PATIENCE;
        while seen.lock().unwrap().completed.len() == before {
            assert!(Instant::now() < end, "nothing is completed");
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(random.below(300)));
        venue.kill();
        worker.join().unwrap();
        venue = Running::serve(dir.path(), "synced");
    }
    stop.store(true, SeqCst);
    dropper.join().unwrap();

    // Everything that is left is imported and completed.
    let last = client(&venue.url(), &key);
    let dropped = usize::try_from(dropped.load(SeqCst)).unwrap();
    let end = Instant::now() + PATIENCE;
    loop {
        let left = (count(&folder), files(&last));
        let ended = {
            let seen = seen.lock().unwrap();
            seen.completed.len() + seen.in_doubt.len()
        };
        if ended == dropped && left == (0, 0) {
            break;
        }
        assert!(
            Instant::now() < end,
            "{ended} of {dropped} completed, left in the folder and at the venue: {left:?}"
        );
        work(&last, &seen, 200).unwrap();
    }
    // The venue knows of no file any more, so a file in doubt is a completed one.
    let seen = seen.lock().unwrap();
    assert_eq!(seen.wrong, [""; 0], "seed {seed}");
    assert_eq!(seen.ids.len(), dropped);
    println!("{dropped} files, {KILLS} kills, {} completions in doubt", seen.in_doubt.len());
}

/// The number of the files that wait at the venue or are claimed.
fn files(client: &Client) -> usize {
    let files = client.get("/v1/depot/acme/files").unwrap();
    files["files"].as_array().unwrap().len()
}
