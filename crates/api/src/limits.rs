//! Limits of the interface. A request above one is refused.

/// Most messages of a topic in one request or answer, and most leases in one request.
pub const MESSAGES_MAX: usize = 1_000;
/// Longest name of a topic, in bytes.
pub const TOPIC_NAME_BYTES_MAX: usize = 128;
/// Most headers of a message of a topic.
pub const HEADERS_MAX: usize = 64;
/// Longest filter of a group, in bytes.
pub const FILTER_BYTES_MAX: usize = 1_000;
/// Longest detail of a nack, in bytes.
pub const DETAIL_BYTES_MAX: usize = 1_000;
/// Largest file of a topic.
pub const SEGMENT_BYTES_MAX: u64 = 1 << 30;
/// Longest name of a tenant of the depot, in bytes.
pub const TENANT_NAME_BYTES_MAX: usize = 63;
/// Most claims of files in one request or answer.
pub const CLAIMS_MAX: usize = 1_000;
