//! The catalogue of topics and groups.

use super::{GROUPS_MAX, SharedQueue, TOPICS_MAX, lock, topic_dir};
use crate::control::{Control, Json, Record};
use crate::dead_letters;
use crate::error::QueueError;
use crate::group::{DeadLetter, Group, GroupOptions, GroupState, Start};
use crate::mount::Mounting;
use crate::name::Name;
use crate::topic::{
    DELAYED_LANE, End, Lane, LaneCursor, PRIORITIES_MAX, Step, Topic, TopicOptions,
};
use rialto_log::Level;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl SharedQueue {
    /// Writes to the control log, durably, and blocks until that is done.
    pub(crate) fn record_durably(&self, record: &Record<'_>) -> Result<(), QueueError> {
        let Some(control) = &self.control else { return Ok(()) };
        control.note(record)?;
        control.want_sync();
        self.control_step();
        control.check()
    }

    /// Creates a topic, or finds it if there is one of this name with these options.
    pub(crate) fn create_topic(
        &self,
        name: Name,
        options: TopicOptions,
    ) -> Result<Arc<Topic>, QueueError> {
        options.check()?;
        let _changing = lock(&self.changing);
        if let Ok(topic) = self.topic(name.as_str()) {
            let is_same = topic.options == options && topic.mounting.is_none();
            return if is_same { Ok(topic) } else { Err(QueueError::TopicExists(name)) };
        }
        let mut options = options;
        if self.dir.is_none() {
            options.level = Level::Memory;
        }
        if options.encryption.is_some() && self.runtime.keys.current().is_none() {
            return Err(QueueError::NoKey(name));
        }
        let id = self.new_topic_id()?;
        let _changing = self.control.as_ref().map(Control::changing);
        self.record_durably(&Record::Topic { id, name: name.clone(), options: options.clone() })?;
        let dir = self.dir.as_deref().map(|dir| topic_dir(dir, id));
        Ok(self.add_topic(Topic::new(id, name, options, self.runtime.clone(), dir.as_deref())))
    }

    /// An id for a new topic.
    pub(crate) fn new_topic_id(&self) -> Result<u32, QueueError> {
        if self.read_topics().len() >= TOPICS_MAX {
            return Err(QueueError::TooMany { what: "topics", limit: TOPICS_MAX });
        }
        Ok(self.next_id.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn delete_topic(&self, name: &str) -> Result<(), QueueError> {
        let _changing = lock(&self.changing);
        let topic = self.topic(name)?;
        // Of an external log that is not mounted, only the groups are deleted.
        if !topic.mounting.as_ref().is_some_and(Mounting::is_absent) {
            topic.check_own()?;
        }
        let _changing = self.control.as_ref().map(Control::changing);
        self.record_durably(&Record::TopicDeleted { id: topic.id })?;
        self.write_topics().remove(name);
        topic.end(End::Deleted);
        for group in topic.forget_groups() {
            group.delete();
        }
        // The files are removed even if their last write fails. Files that cannot be removed now
        // are removed at the next opening.
        let closed = topic.lanes.iter().map(Lane::close).fold(Ok(()), Result::and);
        self.remove_files(topic.id).and(closed)
    }

    pub(super) fn remove_files(&self, id: u32) -> Result<(), QueueError> {
        match (&self.dir, &self.runtime.disk) {
            (Some(dir), Some(disk)) => remove_topic_dir(disk.as_ref(), &topic_dir(dir, id)),
            _ => Ok(()),
        }
    }

    /// The group of this name, which is created if there is none.
    pub(crate) fn group(
        &self,
        topic: &Arc<Topic>,
        name: &Name,
        options: Option<GroupOptions>,
    ) -> Result<Arc<Group>, QueueError> {
        // A group of a dead-letter topic drops messages instead of dead-lettering them again,
        // unless its options name a topic.
        if let Some(options) = &options {
            options.check().map_err(QueueError::GroupOptions)?;
        }
        let options = options.map(|mut options| {
            if dead_letters::is_dead(&topic.name) && options.dead_letter == DeadLetter::Own {
                options.attempts_max = 0;
            }
            options
        });
        let find = || topic.groups().iter().find(|group| group.name == *name).cloned();
        let _changing = lock(&self.changing);
        topic.check_open()?;
        if let Some(group) = find() {
            let is_same = options.is_none_or(|options| group.options() == options);
            let (topic, name) = (topic.name.clone(), name.clone());
            return if is_same {
                Ok(group)
            } else {
                Err(QueueError::GroupExists { topic, group: name })
            };
        }
        let Some(options) = options else {
            let (topic, group) = (topic.name.clone(), name.to_string());
            return Err(QueueError::UnknownGroup { topic, group });
        };
        if let DeadLetter::Topic(dead) = &options.dead_letter
            && let Ok(dead) = self.topic(dead.as_str())
        {
            dead.check_own()?;
        }
        if topic.groups().len() >= GROUPS_MAX {
            return Err(QueueError::TooMany { what: "groups", limit: GROUPS_MAX });
        }
        let floors = (0..usize::from(topic.options.priorities))
            .map(|nth| self.start(topic, nth, options.start))
            .collect::<Result<Vec<_>, _>>()?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let record = Record::GroupWith {
            topic: topic.id,
            id,
            name: name.clone(),
            options: Json(options.clone()),
            floors: floors.clone(),
        };
        let _changing = self.control.as_ref().map(Control::changing);
        self.record_durably(&record)?;
        let state = GroupState::new(options, &floors, self.keeps(topic));
        let group = Arc::new(Group::new(id, name.clone(), topic.clone(), state));
        topic.add_group(&group);
        // If it is the only group and does not begin with the oldest message, the messages before
        // are released.
        topic.release_done();
        Ok(group)
    }

    /// Whether the progress of a topic's groups is recorded.
    pub(crate) fn keeps(&self, topic: &Topic) -> bool {
        self.control.is_some() && topic.level() != Level::Memory
    }

    pub(crate) fn delete_group(&self, topic: &Arc<Topic>, name: &str) -> Result<(), QueueError> {
        let _changing = lock(&self.changing);
        let found = topic.groups().iter().find(|group| group.name.as_str() == name).cloned();
        let group = found.ok_or_else(|| QueueError::UnknownGroup {
            topic: topic.name.clone(),
            group: name.to_owned(),
        })?;
        let _changing = self.control.as_ref().map(Control::changing);
        if topic.drops_acknowledged() {
            // Its dropped messages follow from its groups, of which this may be the last.
            self.record_dropped(topic, topic.firsts())?;
        }
        self.record_durably(&Record::GroupDeleted { topic: topic.id, id: group.id })?;
        group.delete();
        topic.remove_group(group.id);
        Ok(())
    }

    /// Drops all messages of a topic, durably.
    pub(crate) fn purge(&self, topic: &Arc<Topic>) -> Result<u64, QueueError> {
        let _changing = lock(&self.changing);
        topic.check_own()?;
        topic.check_open()?;
        let ends = topic.ends();
        let _changing = self.control.as_ref().map(Control::changing);
        self.record_dropped(topic, ends.clone())?;
        topic.purge(&ends)
    }

    fn record_dropped(&self, topic: &Topic, below: Vec<u64>) -> Result<(), QueueError> {
        if self.keeps(topic) {
            self.record_durably(&Record::Dropped { topic: topic.id, below })
        } else {
            Ok(())
        }
    }

    /// The number of the first message for a start option.
    pub(crate) fn start(&self, topic: &Topic, nth: usize, start: Start) -> Result<u64, QueueError> {
        let lane = &topic.lanes[nth];
        Ok(match start {
            Start::Oldest => lane.first(),
            Start::Next => lane.visible() + 1,
            Start::Seq(seq) => seq.min(lane.visible() + 1).max(lane.first()),
            Start::At(time) if topic.mounting.is_some() => topic.first_at(nth, time)?,
            Start::At(time) => {
                let mut cursor = LaneCursor::new(nth, topic.first_near(nth, time));
                loop {
                    match cursor.step(topic)? {
                        Step::Message(message) if message.published_at() >= time => {
                            break message.id().seq;
                        }
                        Step::End => break cursor.next(),
                        Step::Message(_) | Step::Gap(..) => {}
                    }
                }
            }
        })
    }
}

/// Removes the files of deleted topics that could not be removed when they were deleted. Ids from
/// `next_id` on were never assigned by this control log: if an older control log was restored, the
/// topics of the newer one stay.
pub(crate) fn remove_orphans(
    disk: &dyn rialto_disk::Disk,
    dir: &std::path::Path,
    next_id: u32,
    is_known: impl Fn(u32) -> bool,
) {
    let names = match disk.list_dirs(&dir.join("topics")) {
        Ok(names) => names,
        Err(error) if error.is_not_found() => return,
        Err(error) => return warn_of_leftover(&error.into()),
    };
    let ids = names.iter().filter_map(|name| name.parse::<u32>().ok());
    for id in ids.filter(|id| *id < next_id && !is_known(*id)) {
        // The next opening tries again.
        if let Err(error) = remove_topic_dir(disk, &topic_dir(dir, id)) {
            warn_of_leftover(&error);
        }
    }
}

/// Files of a deleted topic take up the disk until they can be removed.
pub(super) fn warn_of_leftover(error: &QueueError) {
    tracing::warn!("files of a deleted topic are left until the next start: {error}");
}

/// Removes the files of a topic that is gone, and their directories.
pub(crate) fn remove_topic_dir(
    disk: &dyn rialto_disk::Disk,
    dir: &std::path::Path,
) -> Result<(), QueueError> {
    let mut removed = Ok(());
    for lane in (0..PRIORITIES_MAX).chain([DELAYED_LANE]) {
        let dir = crate::topic::lane_dir(dir, lane);
        let files = match disk.list(&dir) {
            Ok(files) => files,
            Err(error) if error.is_not_found() => continue,
            Err(error) => {
                removed = Err(error.into());
                continue;
            }
        };
        for file in files {
            match disk.remove(&dir.join(file)) {
                Err(error) if !error.is_not_found() => removed = Err(error.into()),
                _ => {}
            }
        }
        // A directory that is not empty, or stays, does no harm.
        let _ = disk.remove_dir(&dir);
    }
    // The same goes for that of the topic: the next opening finds it and tries again.
    let _ = disk.remove_dir(dir);
    removed
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_disk::RealDisk;

    #[test]
    fn a_directory_that_cannot_be_listed_is_an_error_unless_it_is_missing() {
        let topic = tempfile::tempdir().unwrap();
        let lane = |nth| crate::topic::lane_dir(topic.path(), nth);
        std::fs::create_dir(lane(1)).unwrap();
        std::fs::write(lane(1).join("file"), "").unwrap();
        // A file in the place of a directory cannot be listed.
        std::fs::write(lane(0), "").unwrap();
        assert!(remove_topic_dir(&RealDisk::new(), topic.path()).is_err());
        assert!(!lane(1).exists(), "the other lanes are removed");

        std::fs::remove_file(lane(0)).unwrap();
        remove_topic_dir(&RealDisk::new(), topic.path()).unwrap();
        assert!(!topic.path().exists());
    }
}
