//! The audit trail: who operated the venue, and why.

use crate::text::Str;
use rialto_model::{
    AccountId, CommandKind, CurrencyCode, Decimal, InstrumentState, MemberId, Reference,
    Restriction, Seq, Symbol, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Why an operator sends a command.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperatorQuery<'a> {
    /// The reason for the audit trail, at most 100 bytes of printable text.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Str<'a>>,
}

/// Which part of the audit trail to read.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditQuery {
    /// The first sequence; by default, and at the earliest, the first of the event log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_seq: Option<Seq>,
    /// The most rows of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditOutcome {
    /// It took effect.
    Done,
    /// It had taken effect earlier, and changed nothing.
    Repeated,
    /// It was refused, and changed nothing.
    Refused,
}

/// A command of an operator.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuditInfo {
    /// The sequence of the command.
    pub seq: Seq,
    /// The time of the command.
    pub time: Timestamp,
    /// The kind of the command.
    pub command: CommandKind,
    /// Who sent it: the id of a key, or `admin` for the admin key.
    pub by: String,
    /// The sender's reason, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What became of it.
    pub outcome: AuditOutcome,
    /// The code of the refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Cow<'static, str>>,
    /// The member that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberId>,
    /// The account that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// The name that it gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The symbol of the instrument that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Symbol>,
    /// The phase that the instrument came into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<InstrumentState>,
    /// The restriction that it set or lifted; that of the venue names no member, account or
    /// instrument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restriction: Option<Restriction>,
    /// Whether the restriction also cancelled what was open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel: Option<bool>,
    /// When the transition that it moved was planned to begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned: Option<Timestamp>,
    /// When the transition that it moved begins now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<Timestamp>,
    /// When the halt ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The code of the currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<CurrencyCode>,
    /// The amount that it moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Decimal>,
    /// The reference of the transfer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// The version of the rules that it put in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}

/// A page of the audit trail.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuditAnswer {
    /// Commands of operators, oldest first. There may be none, though more follow.
    pub entries: Vec<AuditInfo>,
    /// The `from_seq` of the next page.
    pub next_seq: Seq,
    /// Whether there are commands from `next_seq` on.
    pub more: bool,
}
