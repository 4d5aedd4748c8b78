//! One node of the ladder: sorted keys, and a value for each.

use crate::book::prefetch;

/// Bytes in a cache line.
const LINE: usize = 64;

/// Entries in a node. 64 keys are eight cache lines, of which a search touches three.
pub(super) const WIDTH: usize = 64;

/// It is not aligned to a cache line, which was measured to gain nothing and would keep the
/// allocator from growing the ladder in place.
#[derive(Clone)]
pub(super) struct Node {
    keys: [i64; WIDTH],
    pub(super) values: [u32; WIDTH],
    len: u32,
}

impl Node {
    pub(super) const EMPTY: Node = Node { keys: [0; WIDTH], values: [0; WIDTH], len: 0 };

    #[inline]
    pub(super) fn len(&self) -> usize {
        (self.len as usize).min(WIDTH)
    }

    #[inline]
    pub(super) fn keys(&self) -> &[i64] {
        &self.keys[..self.len()]
    }

    /// Prefetches every cache line of the node.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch(&self.len);
        self.keys.iter().step_by(LINE / size_of::<i64>()).for_each(prefetch);
        self.values.iter().step_by(LINE / size_of::<u32>()).for_each(prefetch);
    }

    /// How many keys are below `key`. (Asking the last key of every line and then all of one line,
    /// which has fewer loads that wait for one another, was measured and is no faster.)
    #[inline]
    pub(super) fn below(&self, key: i64) -> usize {
        self.keys().partition_point(|other| *other < key)
    }

    /// The child whose range includes `key`.
    #[inline]
    pub(super) fn child(&self, key: i64) -> usize {
        self.keys().partition_point(|other| *other <= key).max(1) - 1
    }

    #[inline]
    pub(super) fn insert(&mut self, at: usize, key: i64, value: u32) {
        let len = self.len();
        self.keys[..=len].copy_within(at..len, at + 1);
        self.values[..=len].copy_within(at..len, at + 1);
        self.keys[at] = key;
        self.values[at] = value;
        self.len += 1;
    }

    #[inline]
    pub(super) fn remove(&mut self, at: usize) {
        let len = self.len();
        self.keys[..len].copy_within(at + 1.., at);
        self.values[..len].copy_within(at + 1.., at);
        self.len -= 1;
    }

    /// Lowers the least key that may stand below the first child.
    pub(super) fn set_least(&mut self, key: i64) {
        if let [first, ..] = &mut self.keys[..self.len as usize] {
            *first = key;
        }
    }

    /// Moves the upper half of a full node into another, overwriting it.
    pub(super) fn split_into(&mut self, right: &mut Node) {
        let half = WIDTH / 2;
        *right = Node { len: half as u32, ..Node::EMPTY };
        right.keys[..half].copy_from_slice(&self.keys[half..]);
        right.values[..half].copy_from_slice(&self.values[half..]);
        self.len = half as u32;
    }

    /// Adds all entries of the node on the right; both must fit.
    pub(super) fn append(&mut self, right: &Node) {
        let (kept, moved) = (self.len(), right.len());
        self.keys[kept..kept + moved].copy_from_slice(right.keys());
        self.values[kept..kept + moved].copy_from_slice(&right.values[..moved]);
        self.len += moved as u32;
    }
}
