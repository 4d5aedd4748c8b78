//! Packed batches: messages survive packing, stored bytes are not copied, and no untrusted bytes
//! make the reader panic.

use proptest::prelude::*;
use rialto_queue::packed::{
    InvalidPacked, Packed, PackedLeases, PackedWriter, Piece, pack_fetched, pack_messages,
};
use rialto_queue::{
    GroupOptions, Message, Publish, Queue, QueueOptions, Read, Start, TopicOptions,
};
use std::time::Duration;

fn joined(pieces: &[Piece]) -> Vec<u8> {
    pieces.iter().flat_map(AsRef::as_ref).copied().collect()
}

/// A queue with a topic that has a group; it is in memory.
fn with_group() -> Queue {
    let queue = Queue::open_stepped(QueueOptions::in_memory()).unwrap();
    queue.create_topic("jobs", TopicOptions::default().priorities(2)).unwrap();
    queue.create_group("jobs", "all", GroupOptions::default()).unwrap();
    queue
}

fn send(queue: &Queue, messages: &[Publish<'_>]) {
    let _sent = queue.producer("jobs").unwrap().send_batch(messages).unwrap();
    queue.step();
}

#[test]
fn a_batch_to_be_published_has_the_bytes_that_the_page_shows() {
    let page = include_str!("../../../../docs/formats/messages.md");
    let shown = page.split("```").nth(1).unwrap();
    let digits: String = shown.split_whitespace().collect();
    let shown: Vec<u8> = (0..digits.len() / 2)
        .map(|nth| u8::from_str_radix(&digits[2 * nth..2 * nth + 2], 16).unwrap())
        .collect();
    let mut writer = PackedWriter::new();
    writer.push(&Publish::new(b"hi").key(b"k"));
    assert_eq!(writer.bytes(), shown);
    assert_eq!(shown.len(), 136);
}

#[test]
fn published_packed_messages_are_fetched_packed_with_leases() {
    let queue = with_group();
    let mut writer = PackedWriter::new();
    let long = vec![7; 40_000];
    writer.push(&Publish::new(b"one").key(b"k").header("a", b"\xff").header("b", b""));
    writer.push(&Publish::new(&long).content_type("text/plain").schema_version(9).priority(1));
    writer.push(&Publish::new(b"").expires_after(Duration::from_secs(3_600)));
    writer.push(&Publish::new(b"later").delay(Duration::from_secs(3_600)));
    let packed = Packed::read(writer.bytes()).unwrap();
    packed.check_new().unwrap();
    let messages: Vec<_> = packed.messages().map(|message| message.to_publish()).collect();
    send(&queue, &messages);

    let consumer = queue.consumer("jobs", "all").unwrap();
    let fetched = consumer.try_fetch(10).unwrap();
    assert_eq!(fetched.messages.len(), 3, "one is delayed");
    let bytes = joined(&pack_fetched(&fetched, 77));
    let packed = Packed::read(bytes).unwrap();
    assert_eq!((packed.len(), packed.epoch(), packed.missed()), (3, 77, 0));
    assert_eq!(packed.check_new(), Err(InvalidPacked::NotNew(0)));
    let mut leases = PackedLeases::new(packed.epoch());
    for (given, packed) in fetched.messages.iter().zip(packed.messages()) {
        assert_eq!((given.id(), given.lease(), 1), (packed.id(), packed.lease(), packed.attempt()));
        assert_eq!(given.payload(), packed.payload());
        assert_eq!(given.key(), packed.key());
        assert_eq!(given.content_type(), packed.content_type());
        assert_eq!(given.schema_version(), packed.schema_version());
        assert_eq!(given.priority(), packed.priority());
        assert_eq!(given.published_at(), packed.published_at());
        assert!(given.headers().eq(packed.headers()));
        leases.push(packed.id(), packed.lease());
    }
    let mut bytes = Vec::new();
    leases.write(&mut bytes);
    let leases = PackedLeases::read(&bytes).unwrap();
    assert_eq!((leases.epoch(), leases.len()), (77, 3));
    for (id, lease) in leases.iter() {
        consumer.ack_lease(id, lease).unwrap();
    }
    assert_eq!(queue.stats("jobs").unwrap().groups[0].counts.acked, 3);
}

#[test]
fn messages_that_lie_together_go_out_as_they_lie() {
    let queue = with_group();
    let payload = vec![1; 4_000];
    send(&queue, &vec![Publish::new(&payload); 100]);
    let mut reader = queue.reader("jobs", Start::Oldest).unwrap();
    let mut messages: Vec<Message> = Vec::new();
    while let Some(Read::Message(message)) = reader.try_next().unwrap() {
        messages.push(message);
    }
    let pieces = pack_messages(&messages, 3);
    let [Piece::Made(made), Piece::Stored(stored)] = &pieces[..] else { panic!("{pieces:?}") };
    assert_eq!(made.len(), 64);
    let stored = stored.as_ref().as_ptr_range();
    let payload = messages[99].payload().as_ptr_range();
    assert!(stored.start < payload.start && payload.end <= stored.end, "it was copied");

    // A gap begins another run, and so does another order.
    messages.remove(50);
    messages.swap(10, 11);
    let packed = Packed::read(joined(&pack_messages(&messages, 0))).unwrap();
    let ids: Vec<_> = packed.messages().map(|message| message.id()).collect();
    let expected: Vec<_> = messages.iter().map(Message::id).collect();
    assert_eq!(ids, expected);
}

#[test]
fn nothing_packed_is_a_batch_of_nothing() {
    let packed = Packed::read(joined(&pack_messages(&[], 5))).unwrap();
    assert_eq!((packed.len(), packed.missed(), packed.messages().count()), (0, 5, 0));
}

/// Batches that are well-formed, to be spoilt.
fn batch(payloads: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = PackedWriter::new();
    for payload in payloads {
        writer.push(&Publish::new(payload).key(b"key").header("name", b"value"));
    }
    writer.bytes().to_vec()
}

fn read_all(bytes: &[u8]) {
    if let Ok(packed) = Packed::read(bytes) {
        assert_eq!(packed.messages().count(), packed.len());
        for message in packed.messages() {
            let _ = message.to_publish().bytes();
        }
        let _ = packed.check_new();
    }
    if let Ok(leases) = PackedLeases::read(bytes) {
        let _ = leases.iter().take(100).count();
    }
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_stumble(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_all(&bytes);
        for magic in [b"RMSG\x01\0\0\0", b"RLSE\x01\0\0\0"] {
            read_all(&[&magic[..], &bytes].concat());
        }
    }

    #[test]
    fn a_batch_that_is_cut_short_is_refused_and_one_that_is_spoilt_is_read_without_a_stumble(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..5),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = batch(&payloads);
        let at = at.index(bytes.len());
        prop_assert!(Packed::read(&bytes[..at]).is_err());
        bytes[at] = byte;
        read_all(&bytes);
    }
}
