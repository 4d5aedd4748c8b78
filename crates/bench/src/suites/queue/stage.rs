//! A queue for one case, with one topic at a time.

use super::messages::{FIRST_SEQ, Messages};
use crate::error::{BenchError, broken, verify};
use crate::measure::Clock;
use crate::suite::{Context, FreshDirectory};
use rialto_queue::{
    Consumer, GroupOptions, KeyRing, Level, Producer, Publish, Queue, QueueOptions, Read, Reader,
    Start, TopicOptions,
};
use std::time::Duration;

const TOPIC: &str = "bench";
/// A timeout that fails the run.
const PATIENCE: Duration = Duration::from_secs(30);
/// The messages of one fetch.
const FETCH: usize = 500;
/// The key of encrypted topics.
const KEYS: &str = "1: 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// A queue with a topic.
pub(super) struct Stage {
    pub(super) case: String,
    queue: Queue,
    /// After the queue, so that it is removed when the queue is closed.
    directory: Option<FreshDirectory>,
}

/// The options of a topic at a level; files are small if the work is.
pub(super) fn topic(context: &Context<'_>, level: Level) -> TopicOptions {
    let segment_bytes = context.sized(64 << 20, 2 << 20);
    TopicOptions { segment_bytes, ..TopicOptions::stream().level(level) }
}

impl Stage {
    /// In memory, with prepared buffers, without a topic.
    pub(super) fn in_memory(case: &str, buffers_bytes: usize) -> Result<Stage, BenchError> {
        let options = QueueOptions { buffers_bytes, ..QueueOptions::in_memory() };
        let queue = Queue::open(options).map_err(broken(case, "open a queue"))?;
        Ok(Stage { case: case.to_string(), queue, directory: None })
    }

    /// With a topic at a level, in memory or in its own directory.
    pub(super) fn at(
        context: &mut Context<'_>,
        case: &str,
        level: Level,
    ) -> Result<Stage, BenchError> {
        let options = topic(context, level);
        if level != Level::Memory {
            return Stage::on_disk(context, case, options);
        }
        let stage = Stage::in_memory(case, 0)?;
        stage.create(options)?;
        Ok(stage)
    }

    /// In its own directory, with a topic.
    pub(super) fn on_disk(
        context: &mut Context<'_>,
        case: &str,
        options: TopicOptions,
    ) -> Result<Stage, BenchError> {
        Stage::on_disk_with(context, case, options, |_| {})
    }

    /// The same with other options of the queue.
    pub(super) fn on_disk_with(
        context: &mut Context<'_>,
        case: &str,
        options: TopicOptions,
        change: impl Fn(&mut QueueOptions),
    ) -> Result<Stage, BenchError> {
        let directory = context.fresh_directory()?;
        let queue = open(case, &directory, change)?;
        let stage = Stage { case: case.to_string(), queue, directory: Some(directory) };
        stage.create(options)?;
        Ok(stage)
    }

    /// The queue.
    pub(super) fn queue(&self) -> Queue {
        self.queue.clone()
    }

    /// The directory, if it is on disk.
    pub(super) fn directory(&self) -> Option<&FreshDirectory> {
        self.directory.as_ref()
    }

    /// Creates the topic, and publishes one message that is not counted, because a topic creates
    /// its first file with its first message.
    pub(super) fn create(&self, options: TopicOptions) -> Result<(), BenchError> {
        let failed = || broken(&self.case, "make a topic");
        self.queue.create_topic(TOPIC, options).map_err(failed())?;
        let first = self.producer()?.publish(&Publish::new(b"first")).map_err(failed())?;
        let seq = first.id().map(|id| id.seq);
        verify(&self.case, "the number of the first message", seq, Some(FIRST_SEQ - 1))
    }

    /// Deletes the topic with its messages.
    pub(super) fn delete(&self) -> Result<(), BenchError> {
        self.queue.delete_topic(TOPIC).map_err(broken(&self.case, "delete the topic"))
    }

    /// Closes and reopens the queue, if it is on disk, so that nothing is in memory.
    pub(super) fn reopen(&mut self) -> Result<(), BenchError> {
        self.reopen_with(|_| {})
    }

    /// The same with this bound of mapped files.
    pub(super) fn reopen_mapping(&mut self, segments_max: usize) -> Result<(), BenchError> {
        self.reopen_with(|options| options.mapped_segments_max = segments_max)
    }

    fn reopen_with(&mut self, change: impl Fn(&mut QueueOptions)) -> Result<(), BenchError> {
        self.close()?;
        if let Some(directory) = &self.directory {
            self.queue = open(&self.case, directory, change)?;
        }
        Ok(())
    }

    /// Closes the queue.
    pub(super) fn close(&self) -> Result<(), BenchError> {
        self.queue.close().map_err(broken(&self.case, "close the queue"))
    }

    pub(super) fn producer(&self) -> Result<Producer, BenchError> {
        self.queue.producer(TOPIC).map_err(broken(&self.case, "make a producer"))
    }

    /// A reader from a message on.
    pub(super) fn reader(&self, seq: u64) -> Result<Reader, BenchError> {
        self.queue.reader(TOPIC, Start::Seq(seq)).map_err(broken(&self.case, "make a reader"))
    }

    /// Creates a group that begins with the first counted message.
    pub(super) fn create_group(&self, group: &str) -> Result<(), BenchError> {
        let options = GroupOptions { start: Start::Seq(FIRST_SEQ), ..GroupOptions::default() };
        let failed = broken(&self.case, "make a group");
        self.queue.create_group(TOPIC, group, options).map_err(failed)
    }

    pub(super) fn consumer(&self, group: &str) -> Result<Consumer, BenchError> {
        self.queue.consumer(TOPIC, group).map_err(broken(&self.case, "make a consumer"))
    }

    /// Sends all messages one by one and waits until the last is confirmed, and with it all others.
    /// Returns the seconds.
    pub(super) fn send(&self, messages: &Messages) -> Result<f64, BenchError> {
        let failed = || broken(&self.case, "publish a message");
        let producer = self.producer()?;
        let clock = Clock::start();
        let mut last = None;
        for position in 0..messages.count {
            let message = Publish::new(messages.payload(position));
            last = Some(producer.send(&message).map_err(failed())?);
        }
        if let Some(last) = last {
            last.wait().map_err(failed())?;
        }
        Ok(seconds(&clock))
    }

    /// Reads all messages and compares every byte. Returns the seconds.
    pub(super) fn read(&self, messages: &Messages) -> Result<f64, BenchError> {
        let failed = || broken(&self.case, "read a message");
        let mut reader = self.reader(FIRST_SEQ)?;
        let clock = Clock::start();
        let mut received = 0;
        while let Some(read) = reader.try_next().map_err(failed())? {
            if let Read::Message(message) = read {
                messages.check(&self.case, received, &message)?;
                received += 1;
            }
        }
        let seconds = seconds(&clock);
        verify(&self.case, "the number of messages read", received, messages.count)?;
        Ok(seconds)
    }

    /// Consumes all messages as the only member of a group, compares every byte and acknowledges
    /// them. Waits for messages that are not published yet. Returns the seconds.
    pub(super) fn consume(&self, group: &str, messages: &Messages) -> Result<f64, BenchError> {
        let consumer = self.consumer(group)?;
        let clock = Clock::start();
        let mut received = 0;
        while received < messages.count {
            let fetched =
                consumer.fetch(FETCH, PATIENCE).map_err(broken(&self.case, "fetch messages"))?;
            if fetched.messages.is_empty() {
                break;
            }
            for message in &fetched.messages {
                messages.check(&self.case, received, message)?;
                received += 1;
            }
            let lost = consumer.ack_all(&fetched.messages);
            verify(&self.case, "acknowledgements that were refused", lost.len(), 0)?;
        }
        let seconds = seconds(&clock);
        verify(&self.case, "the number of messages fetched", received, messages.count)?;
        Ok(seconds)
    }
}

fn open(
    case: &str,
    directory: &FreshDirectory,
    change: impl Fn(&mut QueueOptions),
) -> Result<Queue, BenchError> {
    let keys = KeyRing::parse(KEYS, "the key of the benchmark");
    let keys = keys.map_err(broken(case, "read the key"))?;
    let mut options = QueueOptions { keys, ..QueueOptions::at(directory.path()) };
    change(&mut options);
    Queue::open(options).map_err(broken(case, "open a queue"))
}

/// Seconds since a clock was started, never zero.
pub(super) fn seconds(clock: &Clock) -> f64 {
    clock.now_ns().max(1) as f64 / 1e9
}
