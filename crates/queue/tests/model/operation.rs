//! The operations on a queue, and their generation.
//!
//! Operations refer to objects by numbers modulo their count, so that a history stays valid when
//! parts of it are left out.

use proptest::prelude::*;
use rialto_queue::{
    DeadLetter, Delivery, DeliveryOrder, GroupOptions, Kind, Level, Name, Publish, Sharing,
    SlowReaderPolicy, Start, Timestamp, TopicOptions,
};
use std::time::Duration;

/// When every history begins.
pub(crate) const BEGIN_NS: u64 = 1_700_000_000_000_000_000;

/// A dead-letter topic other than the default.
pub(crate) const GRAVES: &str = "graves";

const SEGMENT_BYTES: u64 = (1 << 20) + 8192;

/// The attributes of a message.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) key: &'static str,
    pub(crate) priority: u8,
    pub(crate) delay: Option<Duration>,
    pub(crate) expires_after: Option<Duration>,
    pub(crate) kind: Option<&'static str>,
    pub(crate) content_type: &'static str,
    pub(crate) schema_version: u32,
}

impl Shape {
    pub(crate) fn publish<'a>(&'a self, payload: &'a str) -> Publish<'a> {
        let mut publish = Publish::new(payload.as_bytes())
            .key(self.key.as_bytes())
            .priority(self.priority)
            .content_type(self.content_type)
            .schema_version(self.schema_version);
        if let Some(kind) = self.kind {
            publish = publish.header("kind", kind.as_bytes());
        }
        if let Some(delay) = self.delay {
            publish = publish.delay(delay);
        }
        if let Some(after) = self.expires_after {
            publish = publish.expires_after(after);
        }
        publish
    }
}

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// In good order, after its consumers.
    Left,
    /// In good order, while consumers have messages.
    Closed,
    /// It is killed.
    Killed,
    /// The power fails, after everything was confirmed.
    Crashed,
}

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Publish(usize, Shape),
    PublishBatch(usize, Vec<Shape>),
    /// With the producer's next number.
    PublishNumbered(usize, u64, Shape),
    /// What was sent with a number is sent again.
    PublishAgain(usize),
    CreateGroup(usize, usize, GroupOptions),
    DeleteGroup(usize, usize),
    Join(usize, usize),
    Leave(usize),
    /// With a lease length of its own, or the group's.
    Fetch(usize, usize, Option<Duration>),
    /// Leases one message out of turn: of the lane, counted back from its newest.
    Claim(usize, u8, u64, Option<Duration>),
    Ack(usize),
    AckAll(usize),
    AckThrough(usize),
    Nack(usize, Option<Duration>),
    Refuse(usize),
    ReturnUnseen(usize),
    Extend(usize, Option<Duration>),
    Transaction(Vec<usize>, Vec<(usize, Shape)>),
    OpenReader(usize, Start),
    Read(usize, usize),
    /// A reader is opened where another one is.
    FollowReader(usize),
    Pass(Duration),
    Purge(usize),
    DeleteTopic(usize),
    End(Ending),
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn shape() -> impl Strategy<Value = Shape> {
    let delay = prop_oneof![4 => Just(None), 1 => (0_u64..8).prop_map(|it| Some(ms(it * 500)))];
    let expires = prop_oneof![5 => Just(None), 1 => (1_u64..40).prop_map(|it| Some(ms(it * 1000)))];
    let kind = prop::sample::select(vec![None, Some("a"), Some("b")]);
    // One more than there are priorities in most topics.
    let priority = prop_oneof![8 => 0_u8..2, 1 => 2_u8..4];
    let key = prop::sample::select(vec!["", "x", "y"]);
    (key, priority, delay, expires, kind, any::<bool>()).prop_map(
        |(key, priority, delay, expires_after, kind, is_typed)| Shape {
            key,
            priority,
            delay,
            expires_after,
            kind,
            content_type: if is_typed { "text/plain" } else { "" },
            schema_version: u32::from(is_typed),
        },
    )
}

fn start() -> impl Strategy<Value = Start> {
    prop_oneof![
        3 => Just(Start::Oldest),
        1 => Just(Start::Next),
        1 => (0_u64..12).prop_map(Start::Seq),
        1 => (0_u64..60).prop_map(|it| Start::At(Timestamp(BEGIN_NS + it * 1_000_000_000))),
    ]
}

fn group_options() -> impl Strategy<Value = GroupOptions> {
    let dead_letter = prop_oneof![
        3 => Just(DeadLetter::Own),
        1 => Just(DeadLetter::Drop),
        1 => Just(DeadLetter::Topic(Name::new(GRAVES).unwrap())),
    ];
    let filter =
        prop::sample::select(vec![None, None, Some("kind=a"), Some("!kind"), Some("kind")]);
    let longest = Some(ms(2_000));
    let retry = prop::sample::select(vec![
        (0, None),
        (0, None),
        (2_000, None),
        (2_000, longest),
        (700, longest),
    ]);
    let outstanding_max = prop::sample::select(vec![2, 4, 100, 100]);
    let often = |other: u32| prop_oneof![other => Just(false), 1 => Just(true)];
    (
        (start(), any::<bool>(), often(4), often(5), prop::sample::select(vec![10_000, 30_000])),
        (0_u16..4, retry, dead_letter, outstanding_max, filter),
    )
        .prop_map(|((start, per_key, single, at_most_once, ack_wait), rest)| {
            let (
                attempts_max,
                (retry_delay, retry_delay_max),
                dead_letter,
                outstanding_max,
                filter,
            ) = rest;
            GroupOptions {
                start,
                order: if per_key { DeliveryOrder::PerKey } else { DeliveryOrder::None },
                sharing: if single { Sharing::SingleActive } else { Sharing::Competing },
                delivery: if at_most_once { Delivery::AtMostOnce } else { Delivery::AtLeastOnce },
                ack_wait: ms(ack_wait),
                attempts_max,
                retry_delay: ms(retry_delay),
                retry_delay_max,
                dead_letter,
                outstanding_max,
                filter: filter.map(|it| it.parse().unwrap()),
            }
        })
}

/// The topics of a history: a stream, a work queue, and a stream of memory.
pub(crate) fn topics() -> impl Strategy<Value = Vec<TopicOptions>> {
    let overtaken = prop::sample::select(vec![
        SlowReaderPolicy::Oldest,
        SlowReaderPolicy::Newest,
        SlowReaderPolicy::CutOff,
        SlowReaderPolicy::Conflated { behind: 0 },
        SlowReaderPolicy::Conflated { behind: 3 },
    ]);
    let bound = || prop::option::of(1_u64..9);
    let level = prop_oneof![3 => Just(Level::Synced), 1 => Just(Level::Buffered)];
    (overtaken, bound(), bound(), bound(), level, 1_u8..4, 1_u8..3).prop_map(
        |(overtaken, stream, work, memory, level, priorities, work_priorities)| {
            let topic = |kind, level, messages: Option<u64>, priorities| {
                let mut options = TopicOptions {
                    kind,
                    level,
                    priorities,
                    overtaken,
                    segment_bytes: SEGMENT_BYTES,
                    ..TopicOptions::default()
                };
                options.bounds.messages = messages;
                options
            };
            vec![
                topic(Kind::Stream, level, stream, priorities),
                topic(Kind::WorkQueue, Level::Synced, work, work_priorities),
                topic(Kind::Stream, Level::Memory, memory, 2),
            ]
        },
    )
}

fn operation() -> impl Strategy<Value = Operation> {
    let n = || 0_usize..64;
    let pass = prop::sample::select(vec![1, 500, 1_000, 2_000, 5_000, 10_000, 31_000]);
    let length = || {
        let seconds = prop::sample::select(vec![1_u64, 3, 20, 40, 90]);
        prop_oneof![2 => Just(None), 1 => seconds.prop_map(|it| Some(ms(it * 1_000)))]
    };
    let nack_delay = prop::option::of((0_u64..8).prop_map(|it| ms(it * 1_000)));
    let ending = prop::sample::select(vec![
        Ending::Left,
        Ending::Closed,
        Ending::Killed,
        Ending::Crashed,
        Ending::Crashed,
    ]);
    let some_acks = prop::collection::vec(n(), 0..3);
    let some_messages = prop::collection::vec((n(), shape()), 0..3);
    prop_oneof![
        20 => (n(), shape()).prop_map(|(topic, it)| Operation::Publish(topic, it)),
        5 => (n(), prop::collection::vec(shape(), 1..6))
            .prop_map(|(topic, them)| Operation::PublishBatch(topic, them)),
        4 => (n(), 1_u64..3, shape())
            .prop_map(|(topic, id, it)| Operation::PublishNumbered(topic, id, it)),
        3 => n().prop_map(Operation::PublishAgain),
        4 => (n(), n(), group_options())
            .prop_map(|(topic, group, it)| Operation::CreateGroup(topic, group, it)),
        1 => (n(), n()).prop_map(|(topic, group)| Operation::DeleteGroup(topic, group)),
        5 => (n(), n()).prop_map(|(topic, group)| Operation::Join(topic, group)),
        2 => n().prop_map(Operation::Leave),
        20 => (n(), 1_usize..6, length())
            .prop_map(|(consumer, max, length)| Operation::Fetch(consumer, max, length)),
        3 => (n(), 0_u8..3, 0_u64..8, length())
            .prop_map(|(consumer, lane, back, length)| Operation::Claim(consumer, lane, back, length)),
        8 => n().prop_map(Operation::Ack),
        2 => n().prop_map(Operation::AckAll),
        2 => n().prop_map(Operation::AckThrough),
        8 => (n(), nack_delay).prop_map(|(held, delay)| Operation::Nack(held, delay)),
        2 => n().prop_map(Operation::Refuse),
        4 => n().prop_map(Operation::ReturnUnseen),
        4 => (n(), length()).prop_map(|(held, length)| Operation::Extend(held, length)),
        6 => (some_acks, some_messages)
            .prop_map(|(acks, messages)| Operation::Transaction(acks, messages)),
        2 => (n(), start()).prop_map(|(topic, start)| Operation::OpenReader(topic, start)),
        4 => (n(), 1_usize..8).prop_map(|(reader, max)| Operation::Read(reader, max)),
        1 => n().prop_map(Operation::FollowReader),
        12 => pass.prop_map(|it| Operation::Pass(ms(it))),
        1 => n().prop_map(Operation::Purge),
        1 => n().prop_map(Operation::DeleteTopic),
        4 => ending.prop_map(Operation::End),
    ]
}

/// A history of at most this many operations.
pub(crate) fn history(operations_max: usize) -> impl Strategy<Value = Vec<Operation>> {
    prop::collection::vec(operation(), 1..operations_max)
}
