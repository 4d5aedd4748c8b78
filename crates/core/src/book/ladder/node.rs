//! One node of the ladder: sorted keys, and a value for each.

/// Entries in a node. 64 keys are eight cache lines, of which a search touches three.
pub(super) const WIDTH: usize = 64;

#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Node {
    pub(super) keys: [i64; WIDTH],
    pub(super) values: [u32; WIDTH],
    pub(super) len: u32,
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

    /// How many keys are below `key`.
    #[inline]
    pub(super) fn below(&self, key: i64) -> usize {
        self.keys().partition_point(|other| *other < key)
    }

    /// The child below which `key` stands, or would.
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
}
