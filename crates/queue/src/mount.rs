//! Topics whose messages come from an external log, which is read as a stream, and
//! nothing is written twice.

use crate::control::{Control, GroupRecord, Record};
use crate::error::QueueError;
use crate::message::{Form, RawForm};
use crate::name::Name;
use crate::recovery::{QueueOpenReport, Rewound, restore_group};
use crate::shared::SharedQueue;
use crate::topic::{Lane, LaneCursor, Step, Topic, TopicOptions};
use rialto_clock::Timestamp;
use rialto_log::{Level, Sealing, Segments};
use std::sync::{Arc, Mutex, PoisonError};

/// An external log, which another part of this process writes.
///
/// Each of its records is a message, without key and headers, whose payload is the record as it is.
#[derive(Clone)]
pub struct MountedLog {
    /// The log.
    pub segments: Segments,
    /// The log that it is derived from, if it can be rebuilt: the epochs of that log decide which
    /// records are still the ones that groups have seen. `None` if it is not derived.
    pub made_of: Option<Segments>,
    /// The epochs of the logs that [`made_of`](MountedLog::made_of), or else this log, is a copy of: each
    /// with its salt, and the last record up to which the copy has the same history.
    pub copied_from: Vec<((u64, [u8; 16]), u64)>,
    /// The durability of acknowledgements; at least [`Level::Buffered`], because the log is on a
    /// disk.
    pub level: Level,
    /// How it is compressed and encrypted, and the dead letters of its groups likewise.
    pub sealing: Sealing,
    /// The last record that may be read now; [`Mount::advance`] raises it.
    pub visible: u64,
    /// The media type of the records.
    pub content_type: &'static str,
    /// The time of a record. It never decreases from record to record.
    pub time_of: fn(&[u8]) -> Timestamp,
}

impl MountedLog {
    fn truth(&self) -> &Segments {
        self.made_of.as_ref().unwrap_or(&self.segments)
    }

    /// The last record that is still what it was when these epochs were known: the log has the same
    /// history up to the end of the last one that it still has.
    fn last_of(&self, known: &[Epoch]) -> u64 {
        let now = self.truth().epochs();
        let common = known.iter().filter(|epoch| now.contains(epoch)).map(|(number, _)| *number);
        if let Some(epoch) = common.max() {
            return self.truth().end_of_epoch(epoch).unwrap_or(u64::MAX - 1);
        }
        let copied = self.copied_from.iter().filter(|(epoch, _)| known.contains(epoch));
        copied.map(|(_, end)| *end).max().unwrap_or(0)
    }

    fn epochs(&self) -> Vec<Epoch> {
        let mut epochs = self.truth().epochs();
        epochs.drain(..epochs.len().saturating_sub(EPOCHS_MAX));
        epochs
    }
}

/// An epoch of a log, and its salt.
pub(crate) type Epoch = (u64, [u8; 16]);

/// The number of epochs that are remembered. A log that was restored to an earlier one is read from
/// its beginning.
const EPOCHS_MAX: usize = 64;

/// The writer's handle of a topic that reads an external log.
pub struct Mount {
    topic: Arc<Topic>,
    rewound: Vec<Rewound>,
}

impl Mount {
    /// Allows reading up to this record. Costs a store, and a wake-up if a reader waits. A lower
    /// mark is ignored.
    #[inline]
    pub fn advance(&self, seq: u64) {
        self.topic.lanes[0].advance(seq);
    }

    /// The groups that were ahead of the end of the log and were rewound.
    #[must_use]
    pub fn rewound(&self) -> &[Rewound] {
        &self.rewound
    }
}

/// The connection of a topic to an external log.
pub(crate) struct Mounting {
    /// The last epochs of the log, or of what it is made of, when it was mounted last.
    pub(crate) epochs: Vec<Epoch>,
    /// `None` while it is not mounted in this process.
    present: Option<MountedTopic>,
}

struct MountedTopic {
    segments: Segments,
    form: RawForm,
    visible_at_first: u64,
    held: Mutex<LogUsage>,
}

/// The extent of the log when it was last read. It is read often and changes seldom.
#[derive(Clone, Copy, Default)]
struct LogUsage {
    first_seq: u64,
    segments: usize,
    bytes: u64,
    oldest: Option<Timestamp>,
}

impl Mounting {
    /// A topic from the control log, not mounted yet.
    pub(crate) fn absent(epochs: Vec<Epoch>) -> Self {
        Self { epochs, present: None }
    }

    pub(crate) fn is_absent(&self) -> bool {
        self.present.is_none()
    }

    pub(crate) fn form(&self) -> Form {
        self.present.as_ref().map_or(Form::Message, |present| Form::Raw(present.form))
    }

    /// Follows the deletions of the writer.
    pub(crate) fn follow_retention(&self, lane: &Lane) {
        if let Some(present) = &self.present {
            lane.drop_below(present.segments.first_seq());
        }
    }

    /// The number of records since it was mounted, up to `visible`.
    pub(crate) fn arrived(&self, visible: u64) -> u64 {
        self.present.as_ref().map_or(0, |present| visible.saturating_sub(present.visible_at_first))
    }
}

impl Topic {
    /// The bytes of the files of an external log, and when its oldest record came to be. A disk
    /// error is reported where records are read.
    pub(crate) fn held_elsewhere(&self) -> (u64, Option<Timestamp>) {
        let Some(present) = self.mounting.as_ref().and_then(|it| it.present.as_ref()) else {
            return (0, None);
        };
        let mut held = present.held.lock().unwrap_or_else(PoisonError::into_inner);
        let (first_seq, segments) = (present.segments.first_seq(), present.segments.count());
        if held.oldest.is_none() || (held.first_seq, held.segments) != (first_seq, segments) {
            let (bytes, oldest) = (present.segments.file_bytes(), self.published_at(0, first_seq));
            // After an error the figures of the last reading stand, and the next call reads again.
            if let (Ok(bytes), Ok(oldest)) = (bytes, oldest) {
                *held = LogUsage { first_seq, segments, bytes, oldest };
            }
        }
        (held.bytes, held.oldest)
    }

    /// The number of the first record of this time or a later one: what is between the first and
    /// the last is halved until one is left.
    pub(crate) fn first_at(&self, nth: usize, time: Timestamp) -> Result<u64, QueueError> {
        let lane = &self.lanes[nth];
        let (mut low, mut end) = (lane.first(), lane.visible() + 1);
        while low < end {
            let middle = low + (end - low) / 2;
            match LaneCursor::unmapped(nth, middle).step(self)? {
                Step::Message(message) if message.published_at() >= time => end = middle,
                Step::Message(_) => low = middle + 1,
                Step::Gap(_, first) => low = first,
                Step::End => end = middle,
            }
        }
        Ok(low)
    }
}

impl SharedQueue {
    /// Reads an external log as a topic of this name. Its groups continue from their progress.
    pub(crate) fn mount(&self, name: Name, log: MountedLog) -> Result<Mount, QueueError> {
        let _one_at_a_time = self.changing_catalogue();
        let before = match self.topic(name.as_str()) {
            Ok(topic) if topic.mounting.as_ref().is_some_and(Mounting::is_absent) => Some(topic),
            Ok(_) => return Err(QueueError::TopicExists(name)),
            Err(_) => None,
        };
        let _changing = self.control.as_ref().map(Control::changing);
        let known = before.as_ref().and_then(|topic| topic.mounting.as_ref());
        let left = known.map_or(log.visible, |known| log.last_of(&known.epochs));
        let end = left.min(log.visible) + 1;
        let epochs = log.epochs();
        let id = match &before {
            Some(topic) => topic.id,
            None => self.new_topic_id()?,
        };
        let options = TopicOptions {
            level: log.level.max(Level::Buffered),
            compression: log.sealing.compression,
            encryption: log.sealing.encryption,
            ..TopicOptions::stream()
        };
        let mut topic = Topic::new(id, name.clone(), options, self.runtime.clone(), None);
        topic.lanes[0].mount(log.segments.clone(), log.visible);
        let form = RawForm { content_type: log.content_type, time_of: log.time_of };
        let present = MountedTopic {
            segments: log.segments,
            form,
            visible_at_first: log.visible,
            held: Mutex::default(),
        };
        topic.mounting = Some(Mounting { epochs: epochs.clone(), present: Some(present) });
        let topic = Arc::new(topic);
        let mut report = QueueOpenReport::default();
        for group in before.iter().flat_map(|topic| topic.groups().clone()) {
            let (name, options) = (group.name.clone(), group.options());
            let record = GroupRecord { name, options, progress: group.image() };
            let group = restore_group(self, &topic, group.id, record, Some(end), &mut report);
            topic.add_group(&Arc::new(group));
        }
        // One record holds both, so that no crash leaves the new epochs with the old progress.
        self.record_durably(&Record::Mounted { id, name, epochs, end })?;
        self.put_topic(topic.clone());
        Ok(Mount { topic, rewound: report.rewound })
    }
}
