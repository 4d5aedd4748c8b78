//! Topics that are compressed and encrypted.

use crate::stage::{Stage, stream, take, take_payloads};
use rialto_disk::Disk;
use rialto_queue::{Cipher, Compression, GroupOptions, KeyRing, Level, Publish, Queue, QueueError};
use std::path::Path;

const KEYS: &str = "1: 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const SECRET: &[u8] = b"the secret that nobody may see";

fn stage() -> Stage {
    let mut stage = Stage::new();
    stage.queue().close().unwrap();
    stage.keys = KeyRing::parse(KEYS, "the test").unwrap();
    stage.open();
    let options = stream().encryption(Cipher::Aes128Gcm).compression(Compression::Lz4);
    stage.queue().create_topic("secret", options).unwrap();
    stage
}

/// Every file of the queue.
fn files(stage: &Stage) -> Vec<std::path::PathBuf> {
    let lanes = (1..4).map(|id| format!("/queue/topics/{id:06}/lane-0"));
    let dirs = lanes.chain(["/queue/control".to_owned()]);
    dirs.flat_map(|dir| {
        let names = stage.disk.list(Path::new(&dir)).unwrap_or_default();
        names.into_iter().map(move |name| Path::new(&dir).join(name))
    })
    .collect()
}

#[test]
fn nothing_that_was_published_can_be_read_on_the_disk() {
    let mut stage = stage();
    stage.publish("secret", SECRET);
    let options = GroupOptions { attempts_max: 1, ..GroupOptions::default() };
    let consumer = stage.consumer_with("secret", "g", options);
    let mut transaction = stage.queue().begin();
    transaction.publish("secret", &Publish::new(SECRET).key(SECRET)).unwrap();
    transaction.commit().unwrap();
    for message in take(&consumer) {
        consumer.nack(&message, None, std::str::from_utf8(SECRET).unwrap()).unwrap();
    }
    drop(consumer);
    stage.reopen();
    assert_eq!(take(&stage.consumer("secret.dead", "look")).len(), 2);
    let files = files(&stage);
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let bytes = stage.disk.bytes_of(&file).unwrap_or_default();
        let found = bytes.windows(12).any(|window| window == &SECRET[..12]);
        assert!(!found, "{}", file.display());
    }
}

#[test]
fn without_its_key_a_queue_is_not_opened_and_the_key_is_named() {
    let mut stage = stage();
    stage.publish("secret", SECRET);
    stage.queue().close().unwrap();
    stage.keys = KeyRing::parse(&KEYS.replace("1: ", "2: "), "the test").unwrap();
    let Err(refused) = Queue::open_stepped(stage.options()) else { panic!("it was opened") };
    assert!(refused.to_string().contains("key 1"), "{refused}");
}

#[test]
fn keys_change_while_messages_of_the_old_ones_are_read() {
    let mut stage = stage();
    stage.publish("secret", b"old");
    let second = "2: ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100\ncurrent: 2";
    stage.keys.swap(&KeyRing::parse(&format!("{KEYS}\n{second}"), "the test").unwrap());
    stage.publish("secret", b"new");
    stage.reopen();
    assert_eq!(take_payloads(&stage.consumer("secret", "g")), ["old", "new"]);
}

#[test]
fn an_encrypted_topic_needs_a_key() {
    let stage = Stage::new();
    let options = stream().encryption(Cipher::ChaCha20Poly1305);
    let created = stage.queue().create_topic("secret", options);
    assert!(matches!(created, Err(QueueError::NoKey(_))));
}

#[test]
fn a_full_group_of_an_encrypted_topic_is_written() {
    let stage = stage();
    stage.queue().create_topic("full", stream().encryption(Cipher::Aes128Gcm)).unwrap();
    // Filled with such messages, a group has no room left for the tag of its cipher.
    let payload = [b'x'; 50];
    let messages = [(); 9_000].map(|()| Publish::new(&payload));
    let receipt = stage.queue().producer("full").unwrap().send_batch(&messages).unwrap();
    receipt.wait().unwrap();
    assert_eq!(take(&stage.consumer("full", "g")).len(), messages.len());
}

#[test]
fn every_compression_gives_back_what_was_published() {
    for compression in ["none", "lz4", "zstd", "gzip"] {
        let mut stage = Stage::new();
        let options = stream().compression(compression.parse().unwrap()).level(Level::Buffered);
        stage.queue().create_topic("t", options).unwrap();
        let payload = "again and again ".repeat(4000);
        stage.publish("t", payload.as_bytes());
        stage.reopen();
        assert_eq!(take_payloads(&stage.consumer("t", "g")), [payload.as_str()]);
    }
}
