//! Dead letters: listed, redriven, and kept if they cannot be redriven.

use crate::stage::{Stage, stream, take, take_payloads};
use rialto_queue::{
    Consumer, DeadLetter, GroupOptions, Kind, Level, Message, Name, Publish, QueueError,
    QueueOptions, Redriven, Start, TopicOptions, dead_header,
};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn texts(letters: &[Message]) -> Vec<String> {
    letters.iter().map(|it| String::from_utf8(it.payload().to_vec()).unwrap()).collect()
}

/// A topic whose messages have all died once.
fn with_dead(options: TopicOptions, messages: &[Publish<'_>]) -> Stage {
    let stage = Stage::new();
    stage.queue().create_topic("jobs", options).unwrap();
    let once = GroupOptions { attempts_max: 1, ..GroupOptions::default() };
    let consumer = stage.consumer_with("jobs", "g", once);
    for message in messages {
        stage.send("jobs", message);
    }
    for message in take(&consumer) {
        consumer.nack(&message, None, "no").unwrap();
    }
    stage.queue().step();
    stage
}

const MANY: usize = 1 << 20;

fn any(_: &Name, _: u64) -> ControlFlow<(), bool> {
    ControlFlow::Continue(true)
}

#[test]
fn letters_go_back_once_as_they_were_published() {
    let red = Publish::new(b"red").priority(1).key(b"house-7").header("trace", b"9");
    let red = red.content_type("text/plain").schema_version(3);
    let mut stage = with_dead(stream().priorities(2), &[Publish::new(b"blue"), red]);
    let letters = stage.queue().dead_letters("jobs.dead", 10, MANY).unwrap();
    assert_eq!(texts(&letters), ["red", "blue"]);
    assert_eq!(stage.queue().stats("jobs.dead").unwrap().groups.len(), 0, "who looks leaves none");

    let sent = stage.queue().redrive("jobs.dead", 1, any).unwrap();
    assert_eq!(sent, Redriven { sent: 1, kept: 0 });
    assert_eq!(texts(&stage.queue().dead_letters("jobs.dead", 10, MANY).unwrap()), ["blue"]);
    stage.crash();
    assert_eq!(stage.queue().redrive("jobs.dead", 9, any).unwrap().sent, 1);
    assert_eq!(stage.queue().redrive("jobs.dead", 9, any).unwrap(), Redriven::default());
    assert!(stage.queue().dead_letters("jobs.dead", 10, MANY).unwrap().is_empty());

    let again = take(&stage.queue().consumer("jobs", "g").unwrap());
    let [red, blue] = &again[..] else { panic!("{again:?}") };
    assert_eq!((red.payload(), red.priority(), red.key()), (&b"red"[..], 1, &b"house-7"[..]));
    assert_eq!((red.content_type(), red.schema_version()), ("text/plain", 3));
    assert_eq!(red.headers().collect::<Vec<_>>(), [("trace", &b"9"[..])]);
    assert_eq!((blue.payload(), blue.priority()), (&b"blue"[..], 0));
}

#[test]
fn letters_that_cannot_go_back_stay() {
    let stage = with_dead(stream(), &[Publish::new(b"a")]);
    let forged = Publish::new(b"forged").header(dead_header::TOPIC, b"elsewhere");
    stage.send("jobs.dead", &forged);
    stage.send("jobs.dead", &Publish::new(b"of nowhere"));
    let nobody = |_: &Name, _: u64| ControlFlow::Continue(false);
    let kept = stage.queue().redrive("jobs.dead", 10, nobody).unwrap();
    assert_eq!(kept, Redriven { sent: 0, kept: 3 });
    let redriven = stage.queue().redrive("jobs.dead", 10, any).unwrap();
    assert_eq!(redriven, Redriven { sent: 1, kept: 2 });
    let left = stage.queue().dead_letters("jobs.dead", 10, MANY).unwrap();
    assert_eq!(texts(&left), ["forged", "of nowhere"]);
    // However often that is tried, they do not die again.
    for _ in 0..10 {
        assert_eq!(stage.queue().redrive("jobs.dead", 10, any).unwrap().kept, 2);
    }
    assert!(matches!(stage.queue().redrive("nothing", 1, any), Err(QueueError::UnknownTopic(_))));
}

#[test]
fn a_topic_that_cannot_be_written_keeps_no_letters_of_others_back() {
    let stage = with_dead(stream(), &[Publish::new(b"to the sick")]);
    stage.queue().create_topic("well", stream()).unwrap();
    let to_the_well = Publish::new(b"to the well").header(dead_header::TOPIC, b"well");
    stage.send("jobs.dead", &to_the_well);
    stage.disk.fail_write(1);
    let lost = stage.queue().producer("jobs").unwrap().publish(&Publish::new(b"lost"));
    assert!(matches!(lost, Err(QueueError::Failed { .. })));
    let redriven = stage.queue().redrive("jobs.dead", 10, any).unwrap();
    assert_eq!(redriven, Redriven { sent: 1, kept: 1 });
    assert_eq!(take_payloads(&stage.consumer("well", "g")), ["to the well"]);
    let left = stage.queue().dead_letters("jobs.dead", 10, MANY).unwrap();
    assert_eq!(texts(&left), ["to the sick"]);
}

#[test]
fn dead_letters_of_memory_topics_are_redriven_too() {
    let stage = with_dead(stream().level(Level::Memory), &[Publish::new(b"a")]);
    assert_eq!(stage.queue().redrive("jobs.dead", 10, any).unwrap().sent, 1);
    assert_eq!(take_payloads(&stage.queue().consumer("jobs", "g").unwrap()), ["a"]);
}

#[test]
fn the_list_of_dead_letters_is_bounded_in_bytes() {
    let payload = [b'x'; 1_000];
    let stage = with_dead(stream(), &[(); 10].map(|()| Publish::new(&payload)));
    let listed = || stage.queue().dead_letters("jobs.dead", 10, 3_000).unwrap().len();
    assert_eq!(listed(), 3);
    stage.queue().redrive("jobs.dead", 1, any).unwrap();
    assert_eq!(listed(), 3);
}

#[test]
fn letters_that_stay_hide_none_behind_them() {
    const KEPT: u64 = 70_000;
    let stage = with_dead(stream(), &[]);
    stage.queue().create_topic("jobs.dead", stream().level(Level::Memory)).unwrap();
    let of_nowhere = [(); 1_000].map(|()| Publish::new(b"of nowhere"));
    for _ in 0..KEPT / 1_000 {
        let _ = stage.queue().producer("jobs.dead").unwrap().send_batch(&of_nowhere).unwrap();
    }
    stage.send("jobs.dead", &Publish::new(b"a").header(dead_header::TOPIC, b"jobs"));
    let redriven = stage.queue().redrive("jobs.dead", 10, any).unwrap();
    assert_eq!(redriven, Redriven { sent: 1, kept: KEPT });
    assert_eq!(stage.queue().redrive("jobs.dead", 10, any).unwrap().sent, 0);
    let group = || stage.queue().stats("jobs.dead").unwrap().groups[0].clone();
    assert_eq!((group().outstanding, group().floors), (0, vec![1]), "nobody holds them");
}

#[test]
fn letters_are_sent_back_some_at_a_time_and_those_that_stay_are_met_once() {
    let stage = with_dead(stream(), &[]);
    stage.queue().create_topic("jobs.dead", stream()).unwrap();
    for nth in 0..30 {
        let origin = if nth % 3 == 0 { "jobs" } else { "nowhere" };
        stage.send("jobs.dead", &Publish::new(b"a").header(dead_header::TOPIC, origin.as_bytes()));
    }
    let (mut place, mut whole) = (Vec::new(), Redriven::default());
    for _ in 0..4 {
        let (redriven, next) = stage.queue().redrive_from("jobs.dead", &place, 3, any).unwrap();
        whole.sent += redriven.sent;
        whole.kept += redriven.kept;
        place = next;
    }
    assert_eq!((whole, place), (Redriven { sent: 10, kept: 20 }, vec![31]));
}

#[test]
fn only_dead_letters_are_listed_and_redriven() {
    let stage =
        with_dead(TopicOptions { kind: Kind::WorkQueue, ..stream() }, &[Publish::new(b"a")]);
    stage.queue().create_topic("facts", stream()).unwrap();
    stage.send("facts", &Publish::new(b"one"));
    for topic in ["jobs", "facts"] {
        let refused = stage.queue().redrive(topic, 1, any);
        assert!(matches!(refused, Err(QueueError::NoDeadLetters(_))), "{topic}: {refused:?}");
        let refused = stage.queue().dead_letters(topic, 10, MANY);
        assert!(matches!(refused, Err(QueueError::NoDeadLetters(_))), "{topic}: {refused:?}");
        let groups = stage.queue().stats(topic).unwrap().groups;
        assert!(groups.iter().all(|group| group.name.as_str() != "redrive"), "{topic}");
    }
    // A topic of another name is known by its letters.
    stage.queue().create_topic("lost", stream()).unwrap();
    assert!(stage.queue().dead_letters("lost", 10, MANY).unwrap().is_empty());
    let letter = Publish::new(b"a").header(dead_header::TOPIC, b"facts");
    stage.send("lost", &letter);
    assert_eq!(texts(&stage.queue().dead_letters("lost", 10, MANY).unwrap()), ["a"]);
    assert_eq!(stage.queue().redrive("lost", 1, any).unwrap().sent, 1);
}

#[test]
fn long_names_that_begin_alike_have_dead_letters_of_their_own() {
    let stage = Stage::new();
    let once = GroupOptions { attempts_max: 1, ..GroupOptions::default() };
    for end in ["a", "b"] {
        let topic = "x".repeat(127) + end;
        stage.queue().create_topic(&topic, stream()).unwrap();
        let consumer = stage.consumer_with(&topic, "g", once.clone());
        stage.publish(&topic, end.as_bytes());
        consumer.nack(&take(&consumer)[0], None, "").unwrap();
        stage.queue().step();
    }
    let topics = stage.queue().topics();
    let dead: Vec<_> = topics.iter().filter(|it| it.as_str().ends_with(".dead")).collect();
    assert_eq!(dead.len(), 2, "{topics:?}");
    for topic in dead {
        assert_eq!(stage.queue().dead_letters(topic.as_str(), 10, MANY).unwrap().len(), 1);
    }
}

/// Publishes messages of 1,000 bytes on `jobs` and has a group give them up.
fn give_up(stage: &Stage, group: &str, messages: usize) {
    let once = GroupOptions { attempts_max: 1, ..GroupOptions::default() };
    let consumer = stage.consumer_with("jobs", group, once);
    for _ in 0..messages {
        stage.publish("jobs", &[b'x'; 1_000]);
    }
    for message in take(&consumer) {
        consumer.nack(&message, None, "no").unwrap();
    }
    stage.queue().step();
}

/// How many dead letters of `jobs` there are, and how many are with their group still.
fn dead_and_dying(stage: &Stage) -> (u64, u64) {
    let dead = stage.queue().stats("jobs.dead").unwrap().messages;
    let groups = stage.queue().stats("jobs").unwrap().groups;
    (dead, groups.iter().map(|group| group.lag).sum())
}

#[test]
fn dead_letters_take_as_many_bytes_as_messages_may_and_the_rest_stays_with_the_group() {
    for level in Level::ALL {
        let mut stage = Stage::new();
        let options = TopicOptions { kind: Kind::WorkQueue, ..stream() };
        stage.queue().create_topic("jobs", options.bytes_max(11_000).level(level)).unwrap();
        give_up(&stage, "g", 5);
        give_up(&stage, "g", 5);
        assert_eq!(dead_and_dying(&stage), (10, 0), "{level}");
        // Each has headers besides, so that ten are the first that take as many.
        give_up(&stage, "g", 5);
        assert_eq!(dead_and_dying(&stage), (10, 5), "{level}: no more than the bound");
        if level == Level::Synced {
            stage.crash();
            take(&stage.queue().consumer("jobs", "g").unwrap());
            stage.pass(60 * SECOND);
            assert_eq!(dead_and_dying(&stage), (10, 5), "{level}: nor after a crash");
        }
        // Redriven dead letters make room, and none is lost before.
        assert_eq!(stage.queue().redrive("jobs.dead", 3, any).unwrap().sent, 3);
        stage.queue().step();
        let (dead, _) = dead_and_dying(&stage);
        assert_eq!(dead, 10, "{level}: three went, three came");
        stage.queue().purge("jobs.dead").unwrap();
        stage.queue().step();
        assert_eq!(dead_and_dying(&stage).0, 2, "{level}: the last that waited");
    }
}

#[test]
fn dead_letters_of_a_topic_without_a_bound_have_that_of_the_queue() {
    let mut stage = Stage::new();
    let bounded = QueueOptions { dead_letters_bytes_max: Some(3_000), ..stage.options() };
    stage.open_with(bounded);
    stage.queue().create_topic("jobs", stream()).unwrap();
    give_up(&stage, "g", 5);
    assert_eq!(dead_and_dying(&stage), (3, 2));
}

#[test]
fn dead_letters_wait_for_room_in_a_work_queue_that_they_are_to_go_to() {
    for bounds in [TopicOptions::messages_max, TopicOptions::bytes_max] {
        let stage = Stage::new();
        stage.queue().create_topic("jobs", stream()).unwrap();
        let target = TopicOptions { kind: Kind::WorkQueue, ..stream() };
        let max = if bounds(target.clone(), 2).bounds.messages.is_some() { 2 } else { 2_000 };
        stage.queue().create_topic("review", bounds(target, max)).unwrap();
        let review = stage.consumer("review", "r");
        let options = GroupOptions {
            attempts_max: 1,
            dead_letter: DeadLetter::Topic(Name::new("review").unwrap()),
            ..GroupOptions::default()
        };
        let consumer = stage.consumer_with("jobs", "g", options);
        (0..5).for_each(|_| stage.publish("jobs", &[b'x'; 1_000]));
        for message in take(&consumer) {
            consumer.nack(&message, None, "no").unwrap();
        }
        stage.queue().step();
        assert_eq!(stage.queue().stats("review").unwrap().messages, 2);
        for message in take(&review) {
            review.ack(&message).unwrap();
        }
        (0..3).for_each(|_| stage.queue().step());
        assert_eq!(stage.queue().stats("review").unwrap().messages, 2, "two more have come");
    }
}

#[test]
fn a_redrive_asks_permission_with_the_bytes_of_each_letter() {
    let stage = with_dead(stream(), &[Publish::new(&[b'x'; 1_000]), Publish::new(b"short")]);
    let small = |_: &Name, bytes: u64| ControlFlow::Continue(bytes < 1_000);
    let redriven = stage.queue().redrive("jobs.dead", 10, small).unwrap();
    assert_eq!(redriven, Redriven { sent: 1, kept: 1 });
}

#[test]
fn sending_back_ends_before_a_letter_for_which_there_is_no_room() {
    let stage = with_dead(stream(), &[b"a", b"b", b"c"].map(|text| Publish::new(text)));
    let sent = Cell::new(0);
    let one = |_: &Name, _: u64| match sent.replace(sent.get() + 1) {
        0 => ControlFlow::Continue(true),
        _ => ControlFlow::Break(()),
    };
    let (redriven, place) = stage.queue().redrive_from("jobs.dead", &[], 9, one).unwrap();
    assert_eq!((redriven, sent.get()), (Redriven { sent: 1, kept: 0 }, 2));
    let (redriven, _) = stage.queue().redrive_from("jobs.dead", &place, 9, any).unwrap();
    assert_eq!(redriven, Redriven { sent: 2, kept: 0 });
}

#[test]
fn a_redrive_asks_permission_only_for_letters_that_can_be_redriven() {
    let stage = with_dead(stream(), &[Publish::new(b"a")]);
    stage.queue().delete_topic("jobs").unwrap();
    let never = |_: &Name, _: u64| panic!("it was asked");
    let redriven = stage.queue().redrive("jobs.dead", 9, never).unwrap();
    assert_eq!(redriven, Redriven { sent: 0, kept: 1 });
}

#[test]
fn letters_that_were_sent_back_take_no_bytes_any_more() {
    let stage = with_dead(stream(), &[(); 3].map(|()| Publish::new(b"a")));
    let dead = || stage.queue().stats("jobs.dead").unwrap();
    stage.queue().redrive("jobs.dead", 2, any).unwrap();
    assert_eq!(dead().messages, 1);
    // Another group has not seen the last one.
    let other = stage.consumer("jobs.dead", "other");
    stage.queue().redrive("jobs.dead", 9, any).unwrap();
    assert_eq!((dead().messages, take(&other).len()), (1, 1));
}

#[test]
fn unread_dead_letters_are_not_dropped_for_others() {
    for options in [
        GroupOptions { start: Start::Next, ..GroupOptions::default() },
        GroupOptions { filter: Some("none=such".parse().unwrap()), ..GroupOptions::default() },
    ] {
        let stage = Stage::new();
        stage.queue().create_topic("jobs", stream().bytes_max(4_000)).unwrap();
        give_up(&stage, "g", 3);
        let alert = stage.consumer_with("jobs.dead", "alert", options);
        take(&alert).iter().for_each(|letter| alert.ack(letter).unwrap());
        give_up(&stage, "g", 5);
        let letters = stage.queue().dead_letters("jobs.dead", 10, MANY).unwrap();
        assert_eq!(letters[0].id().seq, 1, "the oldest is there");
    }
}

/// A group whose dead letters cannot be published, with at most two outstanding messages.
fn stuck(options: TopicOptions) -> (Stage, Consumer) {
    let stage = Stage::new();
    stage.queue().create_topic("jobs", options).unwrap();
    let options = GroupOptions {
        attempts_max: 1,
        outstanding_max: 2,
        dead_letter: DeadLetter::Topic(Name::new("nowhere").unwrap()),
        ..GroupOptions::default()
    };
    let consumer = stage.consumer_with("jobs", "g", options);
    (stage, consumer)
}

#[test]
fn a_stream_drops_pending_dead_letters_and_its_group_continues() {
    let (stage, consumer) = stuck(stream().messages_max(3));
    let mut taken = 0;
    for _ in 0..10 {
        (0..3).for_each(|_| stage.publish("jobs", b"x"));
        stage.pass(SECOND);
        for message in take(&consumer) {
            consumer.refuse(&message, "no").unwrap();
            taken += 1;
        }
    }
    assert!(taken >= 10, "{taken}: it stopped");
    let dead = stage.queue().stats("jobs").unwrap().groups[0].counts.dead;
    assert!(dead + 2 >= taken, "{dead} of {taken} were given up, and two wait at most");
}

#[test]
fn a_group_keeps_a_mebibyte_of_details_while_its_dead_letters_wait() {
    let stage = Stage::new();
    stage.queue().create_topic("jobs", stream()).unwrap();
    let dead_letter = DeadLetter::Topic(Name::new("later").unwrap());
    let options = GroupOptions { dead_letter, ..GroupOptions::default() };
    let consumer = stage.consumer_with("jobs", "g", options);
    (0..1_100).for_each(|_| stage.publish("jobs", b"x"));
    for message in take(&consumer) {
        consumer.refuse(&message, &"y".repeat(1_024)).unwrap();
    }
    let pending = || stage.queue().stats("jobs").unwrap().groups[0].dead_letters_pending;
    assert_eq!(pending(), 1_100);
    stage.queue().create_topic("later", stream()).unwrap();
    stage.pass(SECOND);
    assert_eq!(pending(), 0);
    let letters = take(&stage.consumer("later", "look"));
    let with_detail = letters.iter().filter(|it| it.header(dead_header::DETAIL).is_some());
    assert_eq!((letters.len(), with_detail.count()), (1_100, 1_024));
}
