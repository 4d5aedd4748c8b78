//! Whether the venue lives, is ready, and how its parts are.

use crate::text::Whole;
use rialto_model::{Seq, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Every part of the process.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HealthAnswer {
    /// Whether the process can still do its work.
    pub alive: bool,
    /// Whether it takes commands.
    pub ready: bool,
    /// Whether it is stopping.
    pub stopping: bool,
    /// `running`, `stalled`, `draining`, `stopped` or `failed`.
    pub engine: Cow<'static, str>,
    /// What an answer waits for, unless its request says otherwise.
    pub durability: Cow<'static, str>,
    /// What is left of the disk.
    pub storage: StorageInfo,
    /// The parts of the process.
    pub components: Vec<ComponentInfo>,
}

/// What is left of the disk, and what fills it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StorageInfo {
    /// `enough`, `low` or `reserved`.
    pub level: Cow<'static, str>,
    /// Bytes that are free.
    pub free_bytes: Whole,
    /// Bytes in all.
    pub total_bytes: Option<Whole>,
    /// Bytes of each part, and of what is not the venue's; null where that is not known.
    pub used_bytes: BTreeMap<Cow<'static, str>, Option<Whole>>,
}

/// A part of the process.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComponentInfo {
    /// Its name.
    pub name: String,
    /// `up`, or what else it is.
    pub state: Cow<'static, str>,
    /// Since when.
    pub since: Option<Timestamp>,
    /// How often it was started again.
    pub restarts: u64,
    /// Why it is not up.
    pub reason: Option<String>,
}

/// Whether commands are taken and queries answered from the present.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReadyAnswer {
    /// Whether it is ready.
    pub ready: bool,
    /// As in `GET /v1/health`.
    pub engine: Cow<'static, str>,
    /// Why it is not ready.
    pub reason: Option<String>,
    /// The last command that the engine released.
    pub released_seq: Seq,
    /// The last command that queries know of.
    pub feed_seq: Seq,
}

/// Whether the process can still do its work, or only a new one helps.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AliveAnswer {
    /// Whether it can.
    pub alive: bool,
}
