//! Segmented append-only log: groups, checksums, group commit, recovery, readers, retention.
