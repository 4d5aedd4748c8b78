//! What a client may do with which topics.

use rialto_queue::NAME_BYTES_MAX;
use serde::{Deserialize, Serialize};
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

pub use rialto_api::QueueRight;

/// Matches one topic by its name or, with a `*` at the end, all topics with a prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TopicPattern(String);

/// Why a text is no [`TopicPattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "topics are named by their name, or by how it begins and a *: at most {NAME_BYTES_MAX} of the \
     characters a to z, A to Z, 0 to 9, `.`, `_` and `-`"
)]
pub struct InvalidPattern;

impl TopicPattern {
    /// Checks a pattern.
    ///
    /// # Errors
    /// No topic could have such a name.
    pub fn new(text: &str) -> Result<TopicPattern, InvalidPattern> {
        let name = text.strip_suffix('*').unwrap_or(text);
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let is_fit = name.len() <= NAME_BYTES_MAX && name.bytes().all(fits);
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

/// What a client may do with some topics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueGrant {
    /// The topics.
    pub topics: TopicPattern,
    /// What may be done with them.
    pub rights: Vec<QueueRight>,
    /// How many topics of these names there may be when the client creates one; the
    /// setting of [`QueueLimits`](crate::QueueLimits) if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topics_max: Option<u32>,
    /// How many groups these topics may have together when the client creates one; the
    /// setting of [`QueueLimits`](crate::QueueLimits) if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups_max: Option<u32>,
    /// How many bytes these topics may hold together when the client publishes; the
    /// setting of [`QueueLimits`](crate::QueueLimits) if left out.
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
