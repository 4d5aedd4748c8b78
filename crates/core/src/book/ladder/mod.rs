//! The prices of one side in order: a B+tree of wide nodes whose values are level numbers.
//!
//! Keys ascend from worst to best, so that the best level is the last entry of the last leaf and
//! goes in and out without moving others. Every node holds the least key that may stand below each
//! child, so leaves and inner nodes are one type and share all code.
//!
//! A leaf that runs low is merged with a neighbour, except the last one, where the touch moves back
//! and forth. Any two neighbours therefore hold more than a quarter of a node's width together,
//! which bounds the memory for a number of levels.

mod check;
mod node;

use super::level::NO_LEVEL;
use node::{Node, WIDTH};

/// A node with fewer entries looks for a neighbour to merge with ...
const LOW: usize = WIDTH / 4;
/// ... and merges if both fit into this, which leaves room before the next split.
const MERGED_MAX: usize = WIDTH * 3 / 4;
/// Far above the height that a billion levels need at an eighth of the width for each node.
const HEIGHT_MAX: usize = 12;
const NO_NODE: u32 = u32::MAX;

/// The path from the root to a leaf: at each height (the leaf's is 0), a node and an entry in it.
type Path = [(u32, usize); HEIGHT_MAX];

/// The position of a price in a ladder, valid until the next insertion or removal.
#[derive(Clone, Copy)]
pub(super) struct LadderPosition {
    leaf: u32,
    at: usize,
    /// The level at that price, or none.
    pub(super) level: u32,
}

pub(super) struct Ladder {
    nodes: Vec<Node>,
    /// Nodes given back, linked by their first value.
    free: u32,
    /// Nodes from here on have never been used.
    fresh: u32,
    root: u32,
    /// How many inner nodes stand above a leaf.
    height: usize,
    /// The leaf with the best prices.
    last: u32,
    len: usize,
    /// The last level of the last leaf, cached because it is read far more often than it changes.
    best: u32,
}

impl Ladder {
    pub(super) fn new() -> Ladder {
        Ladder {
            nodes: vec![Node::EMPTY],
            free: NO_NODE,
            fresh: 1,
            root: 0,
            height: 0,
            last: 0,
            len: 0,
            best: NO_LEVEL,
        }
    }

    /// Reserves and touches the memory that `levels` levels can need.
    pub(super) fn reserve(&mut self, levels: usize) {
        let nodes = levels / (LOW / 2) * 9 / 8 + HEIGHT_MAX;
        if self.nodes.len() < nodes {
            self.nodes.resize(nodes, Node::EMPTY);
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The best level, or none.
    #[inline]
    pub(super) fn best(&self) -> u32 {
        self.best
    }

    #[inline]
    fn update_best(&mut self) {
        let leaf = &self.nodes[self.last as usize];
        self.best = if self.len == 0 { NO_LEVEL } else { leaf.values[leaf.len().max(1) - 1] };
    }

    /// The position of `key`.
    #[inline]
    pub(super) fn seek(&self, key: i64) -> LadderPosition {
        let leaf = self.leaf(key);
        let node = &self.nodes[leaf as usize];
        let at = node.below(key);
        let level = if node.keys().get(at) == Some(&key) { node.values[at] } else { NO_LEVEL };
        LadderPosition { leaf, at, level }
    }

    /// The leaf that holds `key`, or would. Near the touch it needs no descent.
    #[inline]
    fn leaf(&self, key: i64) -> u32 {
        if self.is_in_last(key) {
            return self.last;
        }
        let mut at = self.root;
        for _ in 0..self.height {
            let node = &self.nodes[at as usize];
            at = node.values[node.child(key)];
        }
        at
    }

    /// Prefetches the leaf of `key`. The nodes above it are read: they are few, and so seldom far.
    #[inline]
    pub(super) fn prefetch(&self, key: i64) {
        if !self.is_in_last(key) {
            self.nodes[self.leaf(key) as usize].prefetch();
        }
    }

    /// The level `places` places behind the best one, if it is in the same leaf.
    #[inline]
    pub(super) fn behind_best(&self, places: usize) -> u32 {
        let leaf = &self.nodes[self.last as usize];
        match leaf.len().checked_sub(places + 1) {
            Some(at) => leaf.values[at],
            None => NO_LEVEL,
        }
    }

    #[inline]
    fn is_in_last(&self, key: i64) -> bool {
        let last = &self.nodes[self.last as usize];
        last.keys().first().is_some_and(|first| *first <= key)
    }

    /// As [`Ladder::leaf`], but records the path; the entry in the leaf is the one at or above
    /// `key`.
    fn path(&self, key: i64) -> Path {
        let mut path = [(NO_NODE, 0); HEIGHT_MAX];
        let mut at = self.root;
        for height in (1..=self.height).rev() {
            let node = &self.nodes[at as usize];
            let child = node.child(key);
            path[height] = (at, child);
            at = node.values[child];
        }
        path[0] = (at, self.nodes[at as usize].below(key));
        path
    }

    /// Adds a level at a position that [`Ladder::seek`] returned and that has none.
    #[inline]
    pub(super) fn insert(&mut self, spot: LadderPosition, key: i64, level: u32) {
        self.len += 1;
        let node = &mut self.nodes[spot.leaf as usize];
        if node.len() < WIDTH {
            node.insert(spot.at, key, level);
        } else {
            self.insert_full(key, level);
        }
        self.update_best();
    }

    /// Inserts below a full leaf: splits it, and every full node on the way up.
    #[inline(never)]
    fn insert_full(&mut self, key: i64, level: u32) {
        let path = self.path(key);
        let (mut key, mut value) = (key, level);
        for (height, (at, entry)) in path.into_iter().enumerate().take(self.height + 1) {
            // The new child goes behind the one that was split; a level goes where its key stands.
            let entry = if height == 0 { entry } else { entry + 1 };
            let node = &mut self.nodes[at as usize];
            if node.len() < WIDTH {
                node.insert(entry, key, value);
                return;
            }
            let right = self.split(at);
            let (into, entry) =
                if entry <= WIDTH / 2 { (at, entry) } else { (right, entry - WIDTH / 2) };
            self.nodes[into as usize].insert(entry, key, value);
            (key, value) = (self.nodes[right as usize].keys()[0], right);
            if at == self.last {
                self.last = right;
            }
        }
        let root = self.take_node();
        let node = &mut self.nodes[root as usize];
        node.insert(0, i64::MIN, self.root);
        node.insert(1, key, value);
        self.root = root;
        self.height += 1;
    }

    /// Moves the upper half of a full node into a new one.
    fn split(&mut self, at: u32) -> u32 {
        let right = self.take_node();
        let both = self.nodes.get_disjoint_mut([at as usize, right as usize]);
        let [node, new] = both.expect("a node just taken is another one");
        node.split_into(new);
        right
    }

    /// Removes the level at `key`, which must be there.
    #[inline]
    pub(super) fn remove(&mut self, key: i64) {
        let spot = self.seek(key);
        debug_assert_ne!(spot.level, NO_LEVEL, "the level to remove is in the ladder");
        self.len -= 1;
        let node = &mut self.nodes[spot.leaf as usize];
        node.remove(spot.at);
        let enough = if spot.leaf == self.last { 1 } else { LOW };
        if node.len() < enough {
            self.shrink(key);
        }
        self.update_best();
    }

    /// Merges or drops the leaf of `key`, and every node on the way up that has run low.
    #[inline(never)]
    fn shrink(&mut self, key: i64) {
        let path = self.path(key);
        for height in 0..self.height {
            let (at, _) = path[height];
            let (parent, entry) = path[height + 1];
            let len = self.nodes[at as usize].len();
            let spared = height == 0 && at == self.last && len > 0;
            if len >= LOW || spared {
                break;
            }
            if len == 0 {
                self.drop_child(parent, entry);
            } else if !(self.merge(parent, entry) || entry > 0 && self.merge(parent, entry - 1)) {
                break;
            }
        }
        while self.height > 0 && self.nodes[self.root as usize].len() <= 1 {
            let old = self.root;
            self.root = self.nodes[old as usize].values[0];
            self.height -= 1;
            self.give_node(old);
        }
        self.last = self.rightmost(self.root, self.height);
    }

    /// Merges the child at `entry` with the one after it, if there is one and both fit.
    fn merge(&mut self, parent: u32, entry: usize) -> bool {
        let children = &self.nodes[parent as usize];
        if entry + 1 >= children.len() {
            return false;
        }
        let (left, right) = (children.values[entry] as usize, children.values[entry + 1] as usize);
        if self.nodes[left].len() + self.nodes[right].len() > MERGED_MAX {
            return false;
        }
        let both = self.nodes.get_disjoint_mut([left, right]);
        let [left, right] = both.expect("the children of a node are different nodes");
        left.append(right);
        self.drop_child(parent, entry + 1);
        true
    }

    /// Removes a child from its parent and gives its node back. Its left neighbour takes over its
    /// range of keys, or the right one if it was the first.
    fn drop_child(&mut self, parent: u32, entry: usize) {
        let node = &mut self.nodes[parent as usize];
        let (least, child) = (node.keys()[0], node.values[entry]);
        node.remove(entry);
        node.set_least(least);
        self.give_node(child);
    }

    fn rightmost(&self, mut at: u32, height: usize) -> u32 {
        for _ in 0..height {
            let node = &self.nodes[at as usize];
            at = node.values[node.len().max(1) - 1];
        }
        at
    }

    fn take_node(&mut self) -> u32 {
        let at = if self.free != NO_NODE { self.free } else { self.fresh };
        if at as usize >= self.nodes.len() {
            self.nodes.push(Node::EMPTY);
        }
        if self.free != NO_NODE {
            self.free = self.nodes[at as usize].values[0];
        } else {
            self.fresh += 1;
        }
        self.nodes[at as usize] = Node::EMPTY;
        at
    }

    fn give_node(&mut self, at: u32) {
        self.nodes[at as usize].values[0] = self.free;
        self.free = at;
    }

    /// Where a walk from the best level starts.
    #[inline]
    pub(super) fn top(&self) -> Step {
        Step { leaf: self.last, left: self.nodes[self.last as usize].len() }
    }

    /// Where a walk starts from the first level that is worse than `key`.
    pub(super) fn worse_than(&self, key: i64) -> Step {
        let spot = self.seek(key);
        Step { leaf: spot.leaf, left: spot.at }
    }

    /// The next level of a walk from best to worst, or none.
    #[inline]
    pub(super) fn step(&self, step: &mut Step) -> u32 {
        if step.left == 0 && !self.leaf_below(step) {
            return NO_LEVEL;
        }
        step.left -= 1;
        self.nodes[step.leaf as usize].values[step.left]
    }

    /// Moves a walk that has used up its leaf to the leaf before it.
    fn leaf_below(&self, step: &mut Step) -> bool {
        let Some(&first) = self.nodes[step.leaf as usize].keys().first() else { return false };
        let path = self.path(first);
        let Some(fork) = (1..=self.height).find(|height| path[*height].1 > 0) else { return false };
        let (at, entry) = path[fork];
        step.leaf = self.rightmost(self.nodes[at as usize].values[entry - 1], fork - 1);
        step.left = self.nodes[step.leaf as usize].len();
        step.left > 0
    }
}

/// A position in a walk from best to worst.
#[derive(Clone, Copy)]
pub(super) struct Step {
    leaf: u32,
    /// Entries of the leaf that are still to come.
    left: usize,
}

#[cfg(test)]
mod tests;
