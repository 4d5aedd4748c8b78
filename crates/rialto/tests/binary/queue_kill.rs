//! A venue's queue with producers and consumers in their own processes, all killed at random times:
//! confirmed messages exist once, and all are delivered.

use crate::running::chance::{Random, seed};
use crate::running::{PATIENCE, Running, command, configure, text};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const KILLS: u64 = 6;
const PRODUCERS: u64 = 2;
/// The lines of a producer between two kills.
const LINES: u64 = 400;

/// The printed lines of consumers, with their numbers of deliveries.
type Printed = Arc<Mutex<BTreeMap<String, u64>>>;

struct Processes {
    url: String,
    key: String,
}

impl Processes {
    fn queue(&self, arguments: &[&str]) -> Command {
        let mut command = command(&["queue", "--url", &self.url]);
        command.env("RIALTO_ADMIN_KEY", &self.key).args(arguments);
        command
    }

    fn done(&self, arguments: &[&str]) -> String {
        let output = self.queue(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Publishes lines up to number `until` of a producer, numbered from 1 on.
    fn produce(&self, producer: u64, until: u64) -> Child {
        let number = producer.to_string();
        let arguments = ["produce", "work", "--producer", &number, "--first", "1", "--batch", "20"];
        let mut child = self.queue(&arguments);
        let mut child = child
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        thread::spawn(move || {
            for number in 1..=until {
                // A killed process reads no more.
                if writeln!(input, "{producer}-{number}").is_err() {
                    return;
                }
            }
        });
        child
    }

    /// Consumes, and records the output, until it is killed or no more messages arrive.
    fn consume(&self, printed: &Printed, wait: &str) -> (Child, JoinHandle<()>) {
        let mut child = self.queue(&["consume", "work", "--group", "all", "--wait", wait]);
        let mut child = child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (out, printed) = (child.stdout.take().unwrap(), Arc::clone(printed));
        let reader = thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                *printed.lock().unwrap().entry(line).or_default() += 1;
            }
        });
        (child, reader)
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    child.wait().unwrap();
}

#[test]
fn confirmed_messages_exist_once_and_are_all_delivered() {
    let seed = seed();
    let mut random = Random::new(seed);
    let dir = tempfile::tempdir().unwrap();
    configure(dir.path(), "[queue]\nenabled = true\n");
    let mut venue = Running::serve(dir.path(), "synced");
    let mut processes = Processes { url: venue.url(), key: venue.admin_key() };
    processes.done(&["create", "work"]);
    // The leases of a killed consumer end after this time.
    processes.done(&["group", "work", "all", "--ack-wait", "1s", "--attempts-max", "0"]);
    let printed = Printed::default();
    for round in 1..=KILLS {
        let mut producers: Vec<_> =
            (1..=PRODUCERS).map(|producer| processes.produce(producer, round * LINES)).collect();
        let mut consumers =
            vec![processes.consume(&printed, "60s"), processes.consume(&printed, "60s")];
        random.pause(Duration::from_millis(300));
        let victim = random.below(3);
        match victim {
            0 => venue.kill(),
            1 => end(&mut producers[0]),
            _ => end(&mut consumers[0].0),
        }
        println!("seed {seed}: round {round}, victim {victim}");
        random.pause(Duration::from_millis(100));
        venue.kill();
        producers.iter_mut().for_each(end);
        for (mut child, reader) in consumers {
            end(&mut child);
            reader.join().unwrap();
        }
        venue = Running::serve(dir.path(), "synced");
        processes.url = venue.url();
    }

    // Each producer sends everything again, and completes this time.
    for producer in 1..=PRODUCERS {
        let status = processes.produce(producer, KILLS * LINES).wait().unwrap();
        assert!(status.success(), "seed {seed}: {status}");
    }
    let wanted: BTreeSet<_> = (1..=PRODUCERS)
        .flat_map(|producer| (1..=KILLS * LINES).map(move |number| format!("{producer}-{number}")))
        .collect();
    let mut held: Vec<_> = processes.done(&["tail", "work"]).lines().map(str::to_owned).collect();
    for producer in 1..=PRODUCERS {
        let prefix = format!("{producer}-");
        let numbers: Vec<u64> =
            held.iter().filter_map(|line| line.strip_prefix(&prefix)?.parse().ok()).collect();
        assert!(numbers.is_sorted(), "seed {seed}: producer {producer} is out of order");
    }
    held.sort();
    assert!(held.iter().eq(&wanted), "seed {seed}: {} of {} held", held.len(), wanted.len());

    let end = Instant::now() + PATIENCE;
    // What was printed by a consumer that was killed before its acknowledgement is delivered again.
    let lag = || {
        let told = processes.done(&["describe", "work", "--json"]);
        let topic: serde_json::Value = serde_json::from_str(&told).unwrap();
        topic["groups"][0]["lag"].as_str().unwrap().to_owned()
    };
    while printed.lock().unwrap().len() < wanted.len() || lag() != "0" {
        let count = printed.lock().unwrap().len();
        assert!(Instant::now() < end, "seed {seed}: {count} printed, a lag of {}", lag());
        let (mut child, reader) = processes.consume(&printed, "1s");
        assert!(child.wait().unwrap().success(), "seed {seed}");
        reader.join().unwrap();
    }
    // A message that was delivered twice was leased when its consumer, or the venue, was killed.
    let printed = printed.lock().unwrap();
    let again: u64 = printed.values().map(|times| times - 1).sum();
    assert!(again <= KILLS * 4 * 1_000, "seed {seed}: {again} handed out again");
    assert!(printed.keys().eq(&wanted), "seed {seed}");
    venue.terminate();
}
