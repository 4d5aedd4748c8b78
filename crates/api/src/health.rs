//! Whether the venue is alive and ready, and the state of its components.

use crate::text::U64Text;
use rialto_model::{Seq, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The state of the process and its components.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HealthAnswer {
    /// Whether the process can continue without a restart.
    pub alive: bool,
    /// Whether it takes commands.
    pub ready: bool,
    /// Whether it is stopping.
    pub stopping: bool,
    /// `running`, `stalled`, `draining`, `stopped` or `failed`.
    pub engine: Cow<'static, str>,
    /// The durability that an answer waits for by default.
    pub durability: Cow<'static, str>,
    /// The disk space.
    pub storage: StorageInfo,
    /// Why the depot refuses everything, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depot_failure: Option<String>,
    /// The components of the process.
    pub components: Vec<ComponentInfo>,
}

/// The disk space: free, total and used by each part.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StorageInfo {
    /// `enough`, `low` or `reserved`.
    pub level: Cow<'static, str>,
    /// Bytes that are free.
    pub free_bytes: U64Text,
    /// Bytes in all.
    pub total_bytes: Option<U64Text>,
    /// Bytes used by each part of the venue and by other files; null where not known.
    pub used_bytes: BTreeMap<Cow<'static, str>, Option<U64Text>>,
}

/// A component of the process.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComponentInfo {
    /// Its name.
    pub name: String,
    /// The component's state, such as `up`.
    pub state: Cow<'static, str>,
    /// The time of the last change of state.
    pub since: Option<Timestamp>,
    /// The number of restarts.
    pub restarts: u64,
    /// The reason that it is not up.
    pub reason: Option<String>,
}

/// Whether commands are accepted and queries are up to date.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReadyAnswer {
    /// Whether the venue is ready.
    pub ready: bool,
    /// As in `GET /v1/health`.
    pub engine: Cow<'static, str>,
    /// The reason that the venue is not ready.
    pub reason: Option<String>,
    /// The sequence of the last command that the engine released.
    pub released_seq: Seq,
    /// The sequence that queries are complete up to.
    pub feed_seq: Seq,
}

/// Whether the process can continue, or needs a restart.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AliveAnswer {
    /// Whether the process can continue.
    pub alive: bool,
}
