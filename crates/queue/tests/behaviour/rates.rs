//! How much goes in and out in a second.

use crate::stage::{Stage, stream};
use rialto_queue::{Publish, RATE_WINDOW, Rate, TopicOptions};
use std::time::Duration;

#[test]
fn rates_tell_what_went_in_and_out_in_the_last_while() {
    let stage = Stage::new();
    stage.queue().create_topic("t", stream()).unwrap();
    let (one, two) = (stage.consumer("t", "one"), stage.consumer("t", "two"));
    let bytes = Publish::new(b"12345678").bytes() as f64;
    // Two messages a second; the first group takes each, the second a single one a second.
    for _ in 0..30 {
        stage.pass(Duration::from_secs(1));
        stage.publish("t", b"12345678");
        stage.publish("t", b"12345678");
        assert_eq!(one.ack_all(&one.try_fetch(2).unwrap().messages), []);
        assert_eq!(two.ack_all(&two.try_fetch(1).unwrap().messages), []);
    }
    stage.pass(Duration::from_secs(1));
    let stats = stage.queue().stats("t").unwrap();
    let rate = |messages: f64| Rate {
        over: RATE_WINDOW,
        messages_per_second: messages,
        bytes_per_second: messages * bytes,
    };
    assert_eq!(stats.published_rate, rate(2.0));
    assert_eq!(stats.groups[0].delivered_rate, rate(2.0));
    assert_eq!(stats.groups[1].delivered_rate, rate(1.0));
    assert_eq!(stats.delivered_rate(), rate(3.0));
    assert_eq!(stats.groups[1].delivered_bytes, 30 * bytes as u64);

    stage.pass(Duration::from_secs(5));
    assert_eq!(stage.queue().stats("t").unwrap().published_rate.messages_per_second, 1.0);
    stage.pass(Duration::from_secs(30));
    assert_eq!(stage.queue().stats("t").unwrap().published_rate.messages_per_second, 0.0);
}

#[test]
fn a_rate_of_what_is_new_is_about_the_time_that_it_is_there() {
    let stage = Stage::new();
    stage.queue().create_topic("t", stream()).unwrap();
    stage.publish("t", b"one");
    assert_eq!(stage.queue().stats("t").unwrap().published_rate, Rate::default());
    stage.pass(Duration::from_secs(2));
    let rate = stage.queue().stats("t").unwrap().published_rate;
    assert_eq!((rate.over, rate.messages_per_second), (Duration::from_secs(2), 0.5));
}

#[test]
fn the_oldest_message_has_its_age_also_after_a_restart() {
    let mut stage = Stage::new();
    stage.queue().create_topic("t", TopicOptions::work_queue()).unwrap();
    let age = |stage: &Stage| stage.queue().stats("t").unwrap().oldest_age;
    assert_eq!(age(&stage), None);
    let consumer = stage.consumer("t", "all");
    stage.publish("t", b"stuck");
    stage.pass(Duration::from_secs(100));
    stage.publish("t", b"fresh");
    stage.pass(Duration::from_secs(1));
    let seconds = |age: Option<Duration>| age.unwrap().as_secs();
    assert_eq!(seconds(age(&stage)), 101);
    drop(consumer);
    stage.kill();
    assert_eq!(seconds(age(&stage)), 101);
    let consumer = stage.consumer("t", "all");
    assert_eq!(consumer.ack_all(&consumer.try_fetch(1).unwrap().messages), []);
    stage.pass(Duration::from_secs(1));
    assert_eq!(seconds(age(&stage)), 2);
    assert_eq!(consumer.ack_all(&consumer.try_fetch(1).unwrap().messages), []);
    stage.pass(Duration::from_secs(1));
    assert_eq!(age(&stage), None);
}
