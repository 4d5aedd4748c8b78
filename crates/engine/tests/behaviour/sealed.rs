//! A venue whose files are compressed and encrypted.

use crate::stage::{Bench, LONG, finish, flow, send, setting, settle, start, told};
use rialto_core::StateHash;
use rialto_disk::Disk;
use rialto_engine::{
    At, Cipher, Compression, EngineConfig, KeyRing, Level, Sealing, replay_to, verify,
};
use rialto_model::Seq;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SEALING: Sealing =
    Sealing { compression: Compression::Lz4, encryption: Some(Cipher::Aes256Gcm) };

fn keys(text: &str) -> KeyRing {
    KeyRing::parse(text, "the test").unwrap()
}

fn key(id: u64, digit: &str) -> String {
    format!("{id}: {}\n", digit.repeat(64))
}

fn bench(seed: u64, sealing: Sealing, keys: KeyRing) -> Bench {
    let mut bench = Bench::new(seed, Level::Synced);
    bench.config = EngineConfig { sealing, keys, ..bench.config };
    bench
}

/// A run that ends with a snapshot; returns its last sequence and state.
fn live(bench: &Bench, commands: u64) -> (Seq, StateHash) {
    let (engine, mut stepped, report) = bench.start();
    let mut producer = engine.producer();
    if report.last == Seq::ZERO {
        settle(&mut producer, &mut stepped, &setting());
    }
    let last =
        settle(&mut producer, &mut stepped, &flow(commands)).last().unwrap().answer.unwrap().seq;
    let ticket = engine.request_snapshot();
    stepped.run_until_idle();
    assert_eq!(ticket.wait(LONG), Ok(last));
    finish(&engine, &mut stepped);
    drop((producer, stepped, engine));
    let disk = bench.shared_disk();
    let core = replay_to(&disk, &bench.config.data_dir, &bench.config.keys, At::Seq(last)).unwrap();
    (last, core.state_hash())
}

fn files(bench: &Bench) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for dir in ["journal", "events", "snapshots"] {
        let dir = bench.config.data_dir.join(dir);
        for name in bench.disk.list(&dir).unwrap() {
            files.push((dir.join(&name), bench.disk.bytes_of(&dir.join(&name)).unwrap()));
        }
    }
    files
}

fn mentions(bench: &Bench, text: &str) -> Vec<PathBuf> {
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    files(bench).into_iter().filter(|(_, bytes)| holds(bytes)).map(|(path, _)| path).collect()
}

#[test]
fn sealing_changes_nothing_but_what_is_on_the_disk() {
    let plain = bench(1, Sealing::NONE, KeyRing::empty());
    let sealed = bench(1, SEALING, keys(&key(1, "a")));
    assert_eq!(live(&plain, 300), live(&sealed, 300));
    assert!(mentions(&plain, "BTC-USD").len() >= 3);
    assert_eq!(mentions(&sealed, "BTC-USD"), Vec::<PathBuf>::new());

    // Restart from the snapshot, continue, and check every byte.
    let (last, state) = live(&sealed, 100);
    let dir = &sealed.config.data_dir;
    let report = verify(&sealed.shared_disk(), dir, &sealed.config.keys, |_, _| {}).unwrap();
    assert_eq!((report.last, report.state_hash), (last, state));
    assert_eq!(report.snapshots.len(), 3);
}

#[test]
fn without_its_key_a_venue_does_not_start_and_names_the_key() {
    let mut bench = bench(2, SEALING, keys(&key(7, "a")));
    live(&bench, 50);
    let before = files(&bench);
    let wrong = "restore the file from a copy";
    for (keys, says) in [(key(8, "a"), "key 7"), (key(7, "b"), wrong)] {
        bench.config.keys = self::keys(&keys);
        let error = told(&bench.try_start().err().expect("it cannot be read"));
        assert!(error.contains(says) && error.contains("/venue/journal"), "{error}");
        let verified =
            verify(&bench.shared_disk(), &bench.config.data_dir, &bench.config.keys, |_, _| {});
        assert!(told(&verified.unwrap_err()).contains(says));
    }
    assert!(files(&bench) == before, "a refusal changes nothing");
    bench.config.keys = keys(&key(7, "a"));
    live(&bench, 1);
}

#[test]
fn a_snapshot_without_its_key_is_refused_by_name() {
    let mut bench = bench(3, SEALING, keys(&key(7, "a")));
    live(&bench, 50);
    // The journal continues with another key, and only the snapshot still needs the first.
    let both = key(7, "a") + &key(8, "b") + "current: 8\n";
    bench.config.keys = keys(&both);
    let (engine, mut stepped, _) = bench.start();
    settle(&mut engine.producer(), &mut stepped, &flow(5));
    finish(&engine, &mut stepped);
    drop((stepped, engine));
    bench.config.keys = keys(&key(8, "b"));
    let error = told(&bench.try_start().err().expect("the snapshot cannot be read"));
    assert!(error.contains(".snapshot") && error.contains("key 7"), "{error}");
}

#[test]
fn each_life_may_use_another_key_and_another_cipher() {
    let mut bench = bench(4, Sealing::NONE, KeyRing::empty());
    live(&bench, 50);
    let mut text = String::new();
    for (id, cipher) in (1..).zip(Cipher::ALL) {
        text += &key(id, &id.to_string());
        bench.config.keys = keys(&format!("{text}current: {id}\n"));
        bench.config.sealing = Sealing { encryption: Some(cipher), ..SEALING };
        live(&bench, 50);
    }
    bench.config.sealing = Sealing::NONE;
    let (last, state) = live(&bench, 50);
    let dir = &bench.config.data_dir;
    let report = verify(&bench.shared_disk(), dir, &bench.config.keys, |_, _| {}).unwrap();
    assert_eq!((report.last, report.state_hash), (last, state));
}

#[test]
fn a_backup_is_sealed_as_the_venue_is() {
    let bench = bench(5, SEALING, keys(&key(1, "a")));
    let disk: Arc<dyn Disk> = bench.shared_disk();
    let (engine, _) = start(&bench.config, &disk);
    let mut producer = engine.producer();
    send(&mut producer, &setting());
    let last = send(&mut producer, &flow(300)).last().unwrap().answer.unwrap().seq;
    let copy = Path::new("/copy");
    assert_eq!(engine.backup(copy).unwrap(), last);
    drop((producer, engine));
    let report = verify(&disk, copy, &bench.config.keys, |_, _| {}).unwrap();
    assert_eq!((report.last, report.snapshots.len()), (last, 2));
    let copied = EngineConfig { data_dir: copy.to_owned(), ..bench.config.clone() };
    let copied = Bench { config: copied, ..bench };
    assert_eq!(mentions(&copied, "BTC-USD"), Vec::<PathBuf>::new());
    let (_, report) = start(&copied.config, &disk);
    assert_eq!((report.last, report.replayed), (last, 0));
}
