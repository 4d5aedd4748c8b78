//! A run: one making of statements for all members.

use crate::outbox::{OutboxRefusal, StatementRange};
use rialto_model::{MemberId, Seq, Timestamp};
use serde::{Deserialize, Serialize};

/// The most refused statements that a run remembers; further ones are counted only.
pub const REFUSED_MAX: usize = 1_000;

/// In how many runs a refused statement is tried.
pub const TRIES_MAX: u8 = 30;

/// Why a run was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunCause {
    /// The time of the day came, or had come while the venue was down.
    Daily {
        /// That time.
        due: Timestamp,
    },
    /// An operator asked for it.
    Demand {
        /// When.
        at: Timestamp,
    },
}

/// A statement that a member's outbox refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementRefusal {
    /// The member.
    pub member: MemberId,
    /// What the statement covers.
    pub range: StatementRange,
    /// Why it was refused.
    pub refusal: OutboxRefusal,
    /// In how many runs it was tried.
    pub tries: u8,
}

impl StatementRefusal {
    /// Whether the next run tries it again.
    #[must_use]
    pub fn is_owed(&self) -> bool {
        self.refusal.may_pass() && self.tries < TRIES_MAX
    }
}

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOutcome {
    /// The commands since the run before; none if `last` is not above `after`.
    pub range: StatementRange,
    /// Commands that no statement covers, because their events were gone.
    pub gap: Option<StatementRange>,
    /// The number of members whose statements are in their outboxes.
    pub members: u32,
    /// Statements that were refused, of this range and earlier ones.
    pub refused: Vec<StatementRefusal>,
    /// How many more were refused, and are forgotten.
    pub refused_more: u32,
}

impl RunOutcome {
    /// The statements that the next run tries again.
    pub fn owed(&self) -> impl Iterator<Item = StatementRefusal> + '_ {
        self.refused.iter().copied().filter(StatementRefusal::is_owed)
    }

    /// The sequences whose positions later runs need.
    pub(crate) fn needs(&self) -> impl Iterator<Item = Seq> + '_ {
        self.owed().map(|owed| owed.range.after).chain([self.range.last])
    }
}

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunStage {
    /// It has not ended.
    Running,
    /// It has ended.
    Completed(RunOutcome),
    /// It has failed, and made nothing; the reason.
    Failed(String),
}

impl RunStage {
    /// The word for it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            RunStage::Running => "running",
            RunStage::Completed(_) => "completed",
            RunStage::Failed(_) => "failed",
        }
    }
}

/// A run as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementRun {
    /// Its name.
    pub id: String,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// Where it stands.
    pub stage: RunStage,
}
