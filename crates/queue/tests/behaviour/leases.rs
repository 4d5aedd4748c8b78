//! Leases of different lengths, their listing, claims of single messages, and scans of what is not
//! acknowledged.

use crate::stage::{Stage, payloads, stream, take, take_payloads};
use rialto_queue::{
    Consumer, Delivery, DeliveryOrder, FetchOptions, GroupOptions, LEASE_MAX, LEASE_MIN,
    LEASED_MAX, Level, MessageId, Publish, Queue, QueueError, QueueOptions, Sharing, TopicOptions,
};
use std::collections::HashSet;
use std::time::Duration;

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn id(lane: u8, seq: u64) -> MessageId {
    MessageId { lane, seq }
}

/// A queue with a topic `t` that holds this many messages, named by their numbers.
fn staged(messages: u64) -> Stage {
    let stage = Stage::new();
    stage.queue().create_topic("t", TopicOptions { priorities: 2, ..stream() }).unwrap();
    for number in 1..=messages {
        stage.publish("t", number.to_string().as_bytes());
    }
    stage
}

fn unacknowledged(consumer: &Consumer) -> Vec<String> {
    let text = |message: rialto_queue::Message| {
        format!("{} {}", message.id(), String::from_utf8_lossy(message.payload()))
    };
    consumer.unacknowledged().unwrap().map(|message| text(message.unwrap())).collect()
}

#[test]
fn a_short_lease_ends_before_an_earlier_long_one() {
    let stage = staged(3);
    let consumer = stage.consumer("t", "g");
    let long = consumer.try_fetch_with(FetchOptions::new(1).ack_wait(s(3_600))).unwrap();
    let usual = consumer.try_fetch(1).unwrap();
    let short = consumer.try_fetch_with(FetchOptions::new(1).ack_wait(s(1))).unwrap();
    assert_eq!(payloads(&short.messages), ["3"]);
    stage.pass(s(2));
    assert_eq!(take_payloads(&consumer), ["3"], "the short lease is over");
    stage.pass(s(28));
    assert_eq!(take_payloads(&consumer), ["2"], "the group's lease is over");
    assert!(consumer.ack(&usual.messages[0]).is_err());
    stage.pass(s(3_600 - 31));
    consumer.ack(&long.messages[0]).unwrap();
    assert!(!take_payloads(&consumer).contains(&"1".to_owned()));
}

#[test]
fn an_extension_has_a_length_of_its_own_and_never_ends_a_lease_earlier() {
    let stage = staged(2);
    let consumer = stage.consumer("t", "g");
    let held = take(&consumer);
    consumer.extend_by(&held[0], s(100)).unwrap();
    // These end later anyway.
    consumer.extend(&held[0]).unwrap();
    consumer.extend_by(&held[1], s(1)).unwrap();
    stage.pass(s(29));
    assert!(take(&consumer).is_empty());
    stage.pass(s(1));
    assert_eq!(take_payloads(&consumer), ["2"]);
    stage.pass(s(69));
    assert!(!take_payloads(&consumer).contains(&"1".to_owned()));
    stage.pass(s(1));
    assert_eq!(take_payloads(&consumer), ["1"]);
}

#[test]
fn a_length_out_of_bounds_is_refused() {
    let stage = staged(1);
    let consumer = stage.consumer("t", "g");
    let fetch = |length| consumer.try_fetch_with(FetchOptions::new(1).ack_wait(length));
    let over = LEASE_MAX + LEASE_MIN;
    for length in [Duration::ZERO, LEASE_MIN / 2, over, Duration::MAX] {
        let refused = fetch(length).unwrap_err();
        assert!(matches!(refused, QueueError::LeaseLength { asked } if asked == length));
    }
    assert_eq!(
        fetch(over).unwrap_err().to_string(),
        "a lease cannot last 604800.001s; it lasts at least 1ms and at most 7 days"
    );
    let held = fetch(LEASE_MAX).unwrap().messages.remove(0);
    assert!(consumer.extend_by(&held, over).is_err());
    assert!(consumer.claim(held.id(), Some(over)).is_err());
    stage.pass(LEASE_MAX - LEASE_MIN);
    consumer.ack(&held).unwrap();
}

#[test]
fn a_fetch_stops_behind_its_own_number_of_bytes() {
    let stage = staged(3);
    let consumer = stage.consumer("t", "g");
    let fetched = consumer.try_fetch_with(FetchOptions::new(3).bytes_max(1)).unwrap();
    assert_eq!(payloads(&fetched.messages), ["1"]);
    assert_eq!(take_payloads(&consumer), ["2", "3"]);
}

#[test]
fn leased_messages_are_listed_page_by_page() {
    let stage = staged(5);
    stage.send("t", &Publish::new(b"high").priority(1));
    let begin = stage.now();
    let [one, two] = [stage.consumer("t", "g"), stage.consumer("t", "g")];
    let high = one.try_fetch_with(FetchOptions::new(1).ack_wait(s(5))).unwrap().messages;
    let first = take(&two);
    two.ack(&first[1]).unwrap();
    two.nack(&first[2], Some(s(9)), "").unwrap();
    let list = |after, max| stage.queue().leased("t", "g", after, max).unwrap();
    let all = list(None, 100);
    let ids: Vec<_> = all.iter().map(|it| it.id).collect();
    assert_eq!(ids, [id(0, 1), id(0, 4), id(0, 5), id(1, 1)]);
    let last = all.last().unwrap();
    assert_eq!((last.lease, last.consumer, last.attempt), (high[0].lease(), one.number(), 1));
    assert_eq!((last.deadline, last.published_at), (begin.after(s(5)), Some(begin)));
    assert_eq!((all[0].consumer, all[0].deadline), (two.number(), begin.after(s(30))));
    // The pages together are the whole.
    let (mut pages, mut after) = (Vec::new(), None);
    loop {
        let page = list(after, 2);
        let Some(last) = page.last() else { break };
        (after, _) = (Some(last.id), assert!(page.len() <= 2));
        pages.extend(page);
    }
    assert_eq!(pages, all);
    // An extension shows, and an ended lease is gone at once.
    two.extend_by(&first[0], s(60)).unwrap();
    stage.clock.advance(s(5));
    let left = list(None, 100);
    assert_eq!(left.len(), 3);
    assert_eq!(left[0].deadline, begin.after(s(60)));
    let unknown = stage.queue().leased("t", "none", None, 1);
    assert!(matches!(unknown, Err(QueueError::UnknownGroup { .. })));
}

#[test]
fn a_page_of_leased_messages_is_bounded() {
    let stage = staged(0);
    let batch: Vec<_> = (0..LEASED_MAX + 10).map(|_| Publish::new(b"x")).collect();
    stage.queue().producer("t").unwrap().send_batch(&batch).unwrap().wait().unwrap();
    let consumer = stage.consumer("t", "g");
    assert_eq!(take(&consumer).len(), LEASED_MAX + 10);
    let page = stage.queue().leased("t", "g", None, usize::MAX).unwrap();
    assert_eq!(page.len(), LEASED_MAX);
    let rest = stage.queue().leased("t", "g", page.last().map(|it| it.id), usize::MAX).unwrap();
    assert_eq!(rest.len(), 10);
}

#[test]
fn a_message_is_read_by_its_id_from_memory_and_from_disk() {
    let mut stage = staged(3);
    stage.send("t", &Publish::new(b"late").delay(s(60)));
    let read = |stage: &Stage, id| {
        let message = stage.queue().message("t", id).unwrap();
        message.map(|it| String::from_utf8(it.payload().to_vec()).unwrap())
    };
    for is_reopened in [false, true] {
        if is_reopened {
            stage.reopen();
        }
        assert_eq!(read(&stage, id(0, 2)).as_deref(), Some("2"));
        assert_eq!(read(&stage, id(255, 1)).as_deref(), Some("late"));
        for none in [id(0, 0), id(0, 4), id(1, 1), id(2, 1), id(254, 1), id(255, 2)] {
            assert_eq!(read(&stage, none), None, "{none}");
        }
    }
    stage.pass(s(61));
    stage.queue().step();
    assert_eq!(read(&stage, id(255, 1)), None);
    assert_eq!(read(&stage, id(0, 4)).as_deref(), Some("late"));
    assert!(stage.queue().purge("t").unwrap() > 0);
    assert_eq!(read(&stage, id(0, 2)), None);
    assert!(stage.queue().message("none", id(0, 1)).is_err());
}

#[test]
fn a_waiting_message_is_claimed_and_acknowledged_for_good() {
    let mut stage = staged(5);
    {
        let consumer = stage.consumer("t", "g");
        let gone = consumer.claim(id(0, 4), None).unwrap().unwrap();
        assert_eq!((gone.payload(), gone.attempt()), (&b"4"[..], 1));
        assert!(consumer.claim(id(0, 4), None).unwrap().is_none(), "it is leased");
        consumer.ack(&gone).unwrap();
        assert!(consumer.claim(id(0, 4), None).unwrap().is_none(), "it is acknowledged");
        // One that rests can be claimed, too, and keeps its attempts.
        let resting = consumer.try_fetch(1).unwrap().messages.remove(0);
        consumer.nack(&resting, Some(s(1_000)), "").unwrap();
        let again = consumer.claim(resting.id(), Some(s(5))).unwrap().unwrap();
        assert_eq!(again.attempt(), 2);
        stage.pass(s(5));
        assert_eq!(take_payloads(&consumer), ["1", "2", "3", "5"]);
        consumer.confirm().unwrap();
    }
    stage.reopen();
    let consumer = stage.consumer("t", "g");
    let left = take(&consumer);
    assert_eq!(payloads(&left), ["1", "2", "3", "5"]);
    for none in [id(0, 0), id(0, 9), id(1, 1), id(7, 1), id(255, 1)] {
        assert!(consumer.claim(none, None).unwrap().is_none(), "{none}");
    }
}

#[test]
fn attempts_of_a_claimed_message_survive_a_crash() {
    let mut stage = staged(3);
    let options = GroupOptions { attempts_max: 2, ..GroupOptions::default() };
    for attempt in 1..=2 {
        let consumer = stage.consumer_with("t", "g", options.clone());
        let claimed = consumer.claim(id(0, 2), None).unwrap().unwrap();
        assert_eq!(claimed.attempt(), attempt);
        consumer.confirm().unwrap();
        stage.crash();
    }
    let consumer = stage.consumer_with("t", "g", options);
    assert!(consumer.claim(id(0, 2), None).unwrap().is_none());
    stage.pass(s(1));
    let dead = stage.queue().dead_letters("t.dead", 9, 1 << 20).unwrap();
    assert_eq!(dead.iter().map(|it| it.payload().to_vec()).collect::<Vec<_>>(), [b"2"]);
    assert_eq!(take_payloads(&consumer), ["1", "3"]);
}

#[test]
fn a_claim_keeps_to_the_options_of_its_group() {
    let stage = Stage::new();
    stage.queue().create_topic("t", stream()).unwrap();
    for payload in [&b"a"[..], b"b"] {
        stage.send("t", &Publish::new(payload).key(b"k"));
    }
    stage.send("t", &Publish::new(b"c").expires_after(s(1)));
    stage.send("t", &Publish::new(b"d").header("kind", b"x"));
    let group = |name, options: GroupOptions| stage.consumer_with("t", name, options);
    let usual = GroupOptions::default;
    // One message of a key at a time.
    let keyed = group("keyed", GroupOptions { order: DeliveryOrder::PerKey, ..usual() });
    let second = keyed.claim(id(0, 2), None).unwrap().unwrap();
    assert!(keyed.claim(id(0, 1), None).unwrap().is_none());
    assert_eq!(take_payloads(&keyed), ["c", "d"]);
    keyed.ack(&second).unwrap();
    assert_eq!(take_payloads(&keyed), ["a"]);
    let single = GroupOptions { sharing: Sharing::SingleActive, ..usual() };
    let [active, idle] = [group("single", single.clone()), group("single", single)];
    assert!(idle.claim(id(0, 1), None).unwrap().is_none());
    assert!(active.claim(id(0, 1), None).unwrap().is_some());
    let once = group("once", GroupOptions { delivery: Delivery::AtMostOnce, ..usual() });
    assert!(once.claim(id(0, 1), None).unwrap().is_some());
    assert_eq!(take_payloads(&once), ["b", "c", "d"]);
    let filtered = GroupOptions { filter: Some("kind=x".parse().unwrap()), ..usual() };
    let filtered = group("filtered", filtered);
    assert!(filtered.claim(id(0, 1), None).unwrap().is_none());
    assert!(filtered.claim(id(0, 4), None).unwrap().is_some());
    // An expired message is not delivered.
    let late = group("late", usual());
    stage.clock.advance(s(2));
    assert!(late.claim(id(0, 3), None).unwrap().is_none());
    assert_eq!(take_payloads(&late), ["a", "b", "d"]);
}

#[test]
fn a_scan_visits_all_that_is_not_acknowledged() {
    let mut stage = staged(8);
    stage.send("t", &Publish::new(b"high").priority(1));
    stage.send("t", &Publish::new(b"soon").delay(s(60)));
    stage.send("t", &Publish::new(b"late").delay(s(600)));
    let options = GroupOptions { attempts_max: 3, ..GroupOptions::default() };
    let left =
        ["255:1 soon", "255:2 late", "1:1 high", "0:1 1", "0:3 3", "0:5 5", "0:7 7", "0:8 8"];
    {
        let consumer = stage.consumer_with("t", "g", options.clone());
        let held = consumer.try_fetch(7).unwrap().messages;
        // Number 1 stays leased, 3 rests, 5 waits again, 7 and 8 are new. The first is of priority 1.
        consumer.ack_leases(&[2, 4].map(|nth: usize| (held[nth].id(), held[nth].lease())));
        consumer.nack(&held[3], Some(s(1_000)), "").unwrap();
        consumer.nack(&held[5], None, "").unwrap();
        consumer.ack(&held[6]).unwrap();
        assert_eq!(unacknowledged(&consumer), left);
        assert_eq!(unacknowledged(&stage.consumer("t", "other")).len(), 11);
        consumer.confirm().unwrap();
    }
    stage.reopen();
    assert_eq!(unacknowledged(&stage.consumer_with("t", "g", options.clone())), left);
    stage.kill();
    assert_eq!(unacknowledged(&stage.consumer_with("t", "g", options.clone())), left);
    // Nothing was leased by that.
    let consumer = stage.consumer_with("t", "g", options);
    assert!(stage.queue().leased("t", "g", None, 10).unwrap().is_empty());
    stage.pass(s(61));
    let moved = unacknowledged(&consumer);
    assert_eq!((moved[0].as_str(), moved[1].as_str()), ("255:2 late", "1:1 high"));
    assert_eq!((moved.len(), moved[7].as_str()), (8, "0:9 soon"));
}

/// A message on its way from the lane of delayed messages to its priority is in neither.
#[test]
fn a_scan_does_not_miss_messages_that_are_being_moved() {
    const MESSAGES: u64 = 400;
    for level in [Level::Memory, Level::Buffered, Level::Synced] {
        let dir = tempfile::tempdir().unwrap();
        let queue = Queue::open(QueueOptions::at(dir.path())).unwrap();
        queue.create_topic("t", TopicOptions::stream().level(level)).unwrap();
        queue.create_group("t", "g", GroupOptions::default()).unwrap();
        let texts: Vec<_> = (0..MESSAGES).map(|number| number.to_string()).collect();
        let delayed = |(text, number): (_, u64)| {
            let text: &String = text;
            Publish::new(text.as_bytes()).delay(Duration::from_micros(500 * (number + 20)))
        };
        let batch: Vec<_> = texts.iter().zip(0..).map(delayed).collect();
        queue.producer("t").unwrap().send_batch(&batch).unwrap().wait().unwrap();
        let consumer = queue.consumer("t", "g").unwrap();
        let mut scans = 0;
        while queue.stats("t").unwrap().delayed > 0 || scans == 0 {
            let scan = consumer.unacknowledged().unwrap();
            let seen: HashSet<_> = scan.map(|it| it.unwrap().payload().to_vec()).collect();
            scans += 1;
            assert_eq!(seen.len() as u64, MESSAGES, "scan {scans} at level {level}");
        }
    }
}

#[test]
fn a_scan_skips_long_stretches_of_acknowledged_messages() {
    let stage = Stage::new();
    stage.queue().create_topic("t", stream()).unwrap();
    let batch: Vec<_> = (0..10_000).map(|_| Publish::new(b"x")).collect();
    stage.queue().producer("t").unwrap().send_batch(&batch).unwrap().wait().unwrap();
    let consumer = stage.consumer("t", "g");
    let held = consumer.try_fetch(8_000).unwrap().messages;
    assert!(consumer.ack_all(held.iter().filter(|it| it.id().seq % 4_000 != 1)).is_empty());
    let far = consumer.claim(id(0, 9_000), None).unwrap().unwrap();
    consumer.ack(&far).unwrap();
    let scan = consumer.unacknowledged().unwrap();
    let seen: Vec<_> = scan.map(|message| message.unwrap().id().seq).collect();
    let new = (8_001..=10_000).filter(|seq| *seq != 9_000);
    assert!(seen.into_iter().eq([1, 4_001].into_iter().chain(new)));
}

#[test]
fn a_scan_ends_with_the_first_error() {
    let stage = staged(3);
    let consumer = stage.consumer("t", "g");
    let mut scan = consumer.unacknowledged().unwrap();
    assert!(scan.next().unwrap().is_ok());
    stage.queue().delete_group("t", "g").unwrap();
    assert!(consumer.unacknowledged().is_err());
    // What a scan has begun, it ends.
    assert_eq!(scan.count(), 2);
}

/// Prints how long a scan takes:
/// `cargo test -p rialto-queue --test behaviour this_long -- --ignored --nocapture`.
#[test]
#[ignore = "it prints a duration, which no test can judge on a shared machine"]
fn a_scan_takes_this_long() {
    for batch in [1, 16, 512] {
        let dir = tempfile::tempdir().unwrap();
        let queue = Queue::open(QueueOptions::at(dir.path())).unwrap();
        let topic = TopicOptions { level: Level::Buffered, ..TopicOptions::stream() };
        queue.create_topic("t", topic).unwrap();
        queue.create_group("t", "g", GroupOptions::default()).unwrap();
        let producer = queue.producer("t").unwrap();
        let payload = [7; 300];
        for _ in 0..20_000 / batch {
            let messages: Vec<_> = (0..batch).map(|_| Publish::new(&payload)).collect();
            producer.send_batch(&messages).unwrap().wait().unwrap();
        }
        queue.close().unwrap();
        drop((producer, queue));
        let queue = Queue::open(QueueOptions::at(dir.path())).unwrap();
        let consumer = queue.consumer("t", "g").unwrap();
        for _ in 0..3 {
            let begin = std::time::Instant::now();
            let scan = consumer.unacknowledged().unwrap();
            let bytes: usize = scan.map(|message| message.unwrap().payload().len()).sum();
            println!("batches of {batch}: {bytes} bytes in {:?}", begin.elapsed());
        }
    }
}
