//! The producers' side of a topic, where messages get their numbers.

use super::extents::Extents;
use super::producers::Producers;
use rialto_clock::Timestamp;
use rialto_log::Group;
use std::collections::VecDeque;

/// The reason that a topic accepts no more messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Deleted,
    Closed,
    Failed(String),
}

/// A lane as producers see it.
#[derive(Default)]
pub(crate) struct LaneFilling {
    pub(crate) next_seq: u64,
    pub(crate) open: Option<Group>,
    pub(crate) full: VecDeque<Group>,
    /// The number of full groups so far.
    pub(crate) filled: u64,
    pub(crate) extents: Extents,
    /// The time of the last message: times within a lane never decrease.
    pub(crate) last_time: Timestamp,
    /// The oldest message that was read, and its time.
    pub(crate) oldest: Option<(u64, Timestamp)>,
}

/// The state that producers change, under one lock.
pub(crate) struct Filling {
    pub(crate) lanes: Vec<LaneFilling>,
    pub(crate) producers: Producers,
    /// The bytes that wait to be written.
    pub(crate) pending_bytes: usize,
    /// Whether a write of the topic is queued or in progress.
    pub(crate) is_scheduled: bool,
    pub(crate) sync_wanted: bool,
    pub(crate) end: Option<End>,
    pub(crate) published_messages: u64,
    pub(crate) published_bytes: u64,
    pub(crate) refused: u64,
    pub(crate) duplicates: u64,
}

impl Filling {
    /// The reason that nothing can be written any more.
    pub(crate) fn failure(&self) -> Option<String> {
        match &self.end {
            Some(End::Failed(reason)) => Some(reason.clone()),
            _ => None,
        }
    }

    pub(crate) fn new(lanes: usize) -> Self {
        let lane = || LaneFilling { next_seq: 1, ..LaneFilling::default() };
        Self {
            lanes: std::iter::repeat_with(lane).take(lanes).collect(),
            producers: Producers::default(),
            pending_bytes: 0,
            is_scheduled: false,
            sync_wanted: false,
            end: None,
            published_messages: 0,
            published_bytes: 0,
            refused: 0,
            duplicates: 0,
        }
    }
}
