//! What a key may do with which topics of queues.

use crate::limits::TOPIC_NAME_BYTES_MAX;
use rialto_model::enumeration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The prefix of the names of the venue's own topics. Clients cannot create such a topic, and only a
/// pattern with this prefix matches one: the pattern `*` does not.
pub const VENUE_TOPICS: &str = "venue.";

/// Whether the name of a topic is reserved for the venue. The name `venue` is reserved too, because its
/// dead letters would be in `venue.dead`.
#[must_use]
pub fn is_of_venue(topic: &str) -> bool {
    topic.starts_with(VENUE_TOPICS) || VENUE_TOPICS.strip_suffix('.') == Some(topic)
}

enumeration! {
    /// A right on topics.
    pub enum QueueRight {
        /// Publish on it.
        Produce = 0, "produce";
        /// Read it, and fetch messages as a member of its groups.
        Consume = 1, "consume";
        /// Create and delete it and its groups.
        Admin = 2, "admin";
    }
}

/// Matches one topic by its name or, with a `*` at the end, all topics with a prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TopicPattern(String);

/// Why a text is no [`TopicPattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidPattern;

impl fmt::Display for InvalidPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "topics are named by their name, or by how it begins and a *: at most \
             {TOPIC_NAME_BYTES_MAX} of the characters a to z, A to Z, 0 to 9, `.`, `_` and `-`"
        )
    }
}

impl std::error::Error for InvalidPattern {}

impl JsonSchema for TopicPattern {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "TopicPattern".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string", "pattern": format!("^[A-Za-z0-9._-]{{0,{TOPIC_NAME_BYTES_MAX}}}\\*?$"),
            "minLength": 1, "maxLength": TOPIC_NAME_BYTES_MAX + 1
        })
    }
}

impl TopicPattern {
    /// Checks a pattern.
    ///
    /// # Errors
    /// No topic could have such a name.
    pub fn new(text: &str) -> Result<TopicPattern, InvalidPattern> {
        let name = text.strip_suffix('*').unwrap_or(text);
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let is_fit = name.len() <= TOPIC_NAME_BYTES_MAX && name.bytes().all(fits);
        if is_fit && !text.is_empty() {
            Ok(TopicPattern(text.to_owned()))
        } else {
            Err(InvalidPattern)
        }
    }

    /// Whether the topic matches.
    #[must_use]
    pub fn matches(&self, topic: &str) -> bool {
        if topic.starts_with(VENUE_TOPICS) && !self.0.starts_with(VENUE_TOPICS) {
            return false;
        }
        match self.0.strip_suffix('*') {
            Some(beginning) => topic.starts_with(beginning),
            None => topic == self.0,
        }
    }
}

impl fmt::Display for TopicPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for TopicPattern {
    type Error = InvalidPattern;

    fn try_from(text: String) -> Result<TopicPattern, InvalidPattern> {
        TopicPattern::new(&text)
    }
}

impl From<TopicPattern> for String {
    fn from(pattern: TopicPattern) -> String {
        pattern.0
    }
}

/// What a key may do with topics of queues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueGrant {
    /// The name of a topic, or how it begins and a `*`.
    pub topics: TopicPattern,
    /// `produce`, `consume` and `admin`.
    pub rights: Vec<QueueRight>,
    /// Most topics that may match when the key creates one; left out, a setting of the venue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topics_max: Option<u32>,
    /// Most groups of these topics when the key creates one; left out, a setting of the venue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups_max: Option<u32>,
    /// Most bytes that these topics may keep when the key publishes; left out, a setting of the venue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_max: Option<u64>,
}

impl QueueGrant {
    /// Whether it gives this right to this topic.
    #[must_use]
    pub fn allows(&self, right: QueueRight, topic: &str) -> bool {
        self.rights.contains(&right) && self.topics.matches(topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_one_topic_or_all_that_begin_so() {
        let means = |pattern: &str, topic| TopicPattern::new(pattern).unwrap().matches(topic);
        assert!(means("orders", "orders") && !means("orders", "orders.eu"));
        assert!(means("orders.*", "orders.eu") && !means("orders.*", "orders"));
        assert!(means("*", "anything"));
        assert!(means("venue.*", "venue.events") && means("venue.events", "venue.events"));
        for other in ["*", "v*", "venue*"] {
            assert!(!means(other, "venue.events"), "{other:?}");
        }
        for bad in ["", "a*b", "**", "a b", "é*", &"x".repeat(129)] {
            assert!(TopicPattern::new(bad).is_err(), "{bad:?}");
        }
    }
}
