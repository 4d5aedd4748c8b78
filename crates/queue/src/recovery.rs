//! Opens a queue: reads the control log and the topics, and reconciles them.

use crate::control::{Control, ControlState, GroupRecord, TopicRecord};
use crate::error::QueueError;
use crate::group::{Group, GroupState, Progress};
use crate::mount::Mounting;
use crate::name::Name;
use crate::runtime::Runtime;
use crate::sabotage::Sabotage;
use crate::shared::{SharedQueue, topic_dir};
use crate::topic::{LaneCursor, Step, TRANSACTIONS, Topic, lane_dir};
use rialto_log::Level;
use std::path::Path;
use std::sync::Arc;

/// A group that was ahead of its topic, because the topic lost unsynced messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewound {
    /// The topic.
    pub topic: Name,
    /// The group.
    pub group: Name,
    /// The lane.
    pub lane: u8,
    /// The number from which it continues.
    pub next: u64,
}

/// The report of an opening.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueOpenReport {
    /// The number of topics.
    pub topics: usize,
    /// The number of groups.
    pub groups: usize,
    /// The groups that were rewound.
    pub rewound: Vec<Rewound>,
    /// The number of transactions of which a topic may have lost messages; the messages were
    /// published again.
    pub transactions: usize,
}

/// Opens the queue in a directory.
pub(crate) fn open(
    runtime: Arc<Runtime>,
    dir: &Path,
    control_segment_bytes: u64,
) -> Result<(SharedQueue, QueueOpenReport), QueueError> {
    let (control, state) = Control::open(&runtime, &dir.join("control"), control_segment_bytes)?;
    let ControlState { topics, deleted, transactions, numbers, next_id, .. } = state;
    let core = SharedQueue::new(runtime.clone(), Some(dir.to_owned()), Some(control), next_id);
    let mut report = QueueOpenReport { topics: topics.len(), ..QueueOpenReport::default() };
    for (id, record) in topics {
        open_topic(&core, id, record, &mut report)?;
    }
    let disk = runtime.disk.as_ref().expect("a queue in a directory has a disk");
    for id in deleted {
        crate::shared::remove_topic_dir(disk.as_ref(), &topic_dir(dir, id))?;
    }
    crate::shared::remove_orphans(disk.as_ref(), dir, next_id, |id| core.topic_of(id).is_some());
    for (producer, number) in numbers {
        core.transaction_numbers().remember(&producer, number, true);
    }
    report.transactions = transactions.len();
    for mut transaction in transactions {
        // Messages of topics in memory are lost, and may have been acknowledged long ago.
        transaction.messages.retain(|moved| {
            core.topic_of(moved.topic).is_some_and(|topic| topic.level() != Level::Memory)
        });
        if !runtime.sabotage.is(Sabotage::ForgetTransactions) {
            core.deliver(transaction)?;
        }
    }
    // Clamped progress must be recorded before lost numbers are assigned again.
    if !runtime.sabotage.is(Sabotage::SkipOpeningCheckpoint) {
        core.checkpoint()?;
    }
    Ok((core, report))
}

fn open_topic(
    core: &SharedQueue,
    id: u32,
    record: TopicRecord,
    report: &mut QueueOpenReport,
) -> Result<(), QueueError> {
    let TopicRecord { name, options, mounted, groups, delayed, below, upto, last } = record;
    let runtime = &core.runtime;
    if let Some(epochs) = mounted {
        // Its groups are reconciled when it is mounted.
        let mut topic = Topic::new(id, name, options, runtime.clone(), None);
        topic.mounting = Some(Mounting::absent(epochs));
        let topic = core.add_topic(topic);
        for (id, group) in groups {
            report.groups += 1;
            topic.add_group(&Arc::new(restore_group(core, &topic, id, group, None, report)));
        }
        return Ok(());
    }
    let dir = core.dir.as_deref().map(|dir| topic_dir(dir, id));
    let topic = Topic::new(id, name, options, runtime.clone(), dir.as_deref());
    if let (Some(dir), Some(disk)) = (&dir, &runtime.disk)
        && topic.level() != Level::Memory
    {
        for (nth, lane) in topic.lanes.iter().enumerate() {
            let dir = lane_dir(dir, lane.number);
            if disk.list(&dir).is_ok_and(|files| !files.is_empty()) {
                topic.adopt(nth)?;
            }
        }
        for (nth, producer, number) in last {
            topic.restore_producer(nth, producer, number);
        }
        let is_read = !runtime.sabotage.is(Sabotage::ForgetProducers);
        for nth in (0..topic.lanes.len()).filter(|_| is_read) {
            read_producers(&topic, nth, upto.get(nth).copied().unwrap_or(1))?;
        }
        topic.numbers_recorded(&upto);
        for (lane, below) in topic.lanes.iter().zip(below) {
            // Messages after the end were lost, and their numbers are assigned again.
            lane.drop_below(below.min(lane.visible() + 1));
        }
    }
    let topic = core.add_topic(topic);
    for (id, group) in groups {
        report.groups += 1;
        let end = Some(u64::MAX);
        topic.add_group(&Arc::new(restore_group(core, &topic, id, group, end, report)));
    }
    // Dropped messages stay dropped even if their file still holds them.
    topic.release_done();
    topic.retain()?;
    let nth = topic.lanes.len() - 1;
    let lane = &topic.lanes[nth];
    let delayed =
        if runtime.sabotage.is(Sabotage::MoveTwice) { Progress::default() } else { delayed };
    topic.delayed().restore(&delayed, lane.first(), lane.visible() + 1);
    Ok(())
}

/// Reads what numbered producers have sent since the control log last recorded it.
fn read_producers(topic: &Topic, nth: usize, from: u64) -> Result<(), QueueError> {
    let mut cursor = LaneCursor::unmapped(nth, from.max(topic.lanes[nth].first()));
    loop {
        match cursor.step(topic)? {
            Step::Message(message) => {
                let header = message.parts().header;
                let (producer, number) = (header.producer.get(), header.producer_sequence.get());
                // A delayed message was numbered in its own lane and moved here by a transaction,
                // so that it proves nothing about other messages of this lane, which may have been
                // lost.
                let moved = header.transaction.get() != 0;
                let counted = if moved { topic.lanes.len() - 1 } else { nth };
                if producer != 0 {
                    topic.restore_producer(counted as u8, producer, number);
                }
                if header.transaction.get() != 0 {
                    topic.restore_producer(nth as u8, TRANSACTIONS, header.transaction.get());
                }
            }
            Step::Gap(..) => {}
            Step::End => return Ok(()),
        }
    }
}

/// Restores a group. Progress from `end` on, or beyond the topic's messages, refers to lost
/// messages and is dropped.
pub(crate) fn restore_group(
    core: &SharedQueue,
    topic: &Arc<Topic>,
    id: u32,
    record: GroupRecord,
    end: Option<u64>,
    report: &mut QueueOpenReport,
) -> Group {
    let GroupRecord { name, options, mut progress } = record;
    let keeps = core.keeps(topic);
    let lanes = 0..topic.options.priorities;
    if !keeps {
        let floors: Vec<u64> = lanes.map(|_| 1).collect();
        return Group::new(id, name, topic.clone(), GroupState::new(options, &floors, keeps));
    }
    // The control log cannot have recorded a lane that the topic does not have.
    let priorities = topic.options.priorities;
    progress.done.retain(|(lane, _)| *lane < priorities);
    progress.seen.retain(|(lane, _)| *lane < priorities);
    progress.tried.retain(|(id, ..)| id.lane < priorities);
    let mut floors = Vec::new();
    for lane in lanes {
        let nth = usize::from(lane);
        let end = end.map(|end| end.min(topic.lanes[nth].visible() + 1));
        if let Some(end) = end
            && !core.runtime.sabotage.is(Sabotage::KeepLostProgress)
            && progress.forget_from(lane, end)
        {
            let (topic, group) = (topic.name.clone(), name.clone());
            report.rewound.push(Rewound { topic, group, lane, next: end });
        }
        // Messages that were dropped unacknowledged are reported as missed when the group reaches
        // them.
        floors.push(progress.floor(lane));
    }
    let mut state = GroupState::new(options, &floors, keeps);
    state.restore(&progress);
    Group::new(id, name, topic.clone(), state)
}
