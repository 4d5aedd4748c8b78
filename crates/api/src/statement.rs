//! Statements of accounts, which the operator has made for all members.

use rialto_model::{MemberId, Seq, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A run of statements, begun by the operator or by the time of the day.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StatementRunInfo {
    /// Its name.
    pub id: String,
    /// `running`, `completed` or `failed`.
    pub state: String,
    /// When it began: nanoseconds since 1970, as text.
    pub started_at: Timestamp,
    /// When it ended; null while it runs.
    pub ended_at: Option<Timestamp>,
    /// The first command that its statements cover; null while it runs, and if there was none.
    pub first_seq: Option<Seq>,
    /// The last command that its statements cover; null while it runs, and if there was none.
    pub last_seq: Option<Seq>,
    /// The number of members whose statements are in their outboxes.
    pub members: u32,
    /// The refused statements: the first 1,000.
    pub refused: Vec<RefusedStatement>,
    /// How many more were refused.
    pub refused_more: u32,
    /// Commands before `first_seq` that no statement covers, because their events were gone; null
    /// if there are none.
    pub gap: Option<StatementGap>,
    /// Why it failed; null unless it did.
    pub reason: Option<String>,
}

/// A statement that the outbox of its member refused.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RefusedStatement {
    /// The member.
    pub member: MemberId,
    /// The first command that it covers.
    pub first_seq: Seq,
    /// The last command that it covers.
    pub last_seq: Seq,
    /// Why: `tenant_closed`, `quota_reached`, `path_taken`, `too_large`, `too_many_tenants`,
    /// `events_gone`, `does_not_add_up` or `other`.
    pub code: String,
    /// Whether the next run tries it again.
    pub again: bool,
}

/// Commands that no statement covers.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StatementGap {
    /// The first of them.
    pub first_seq: Seq,
    /// The last of them.
    pub last_seq: Seq,
}

/// One run of statements.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StatementRunAnswer {
    /// The run.
    pub run: StatementRunInfo,
}

/// The last runs of statements.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StatementRunsAnswer {
    /// The runs, newest first.
    pub runs: Vec<StatementRunInfo>,
}

/// How many runs of statements to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatementRunsQuery {
    /// The most rows of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}
