//! The directories that are known to exist.

use std::collections::HashMap;
use std::hash::Hash;

/// The end of the list.
const NONE: u32 = u32::MAX;

/// A bounded set that forgets the member that was used longest ago. Every operation takes constant
/// time: members are linked in the order of their last use.
///
/// ```
/// use rialto_depot::volume::KnownDirs;
///
/// let mut known = KnownDirs::new(2);
/// known.insert(1);
/// known.insert(2);
/// assert!(known.contains(&1));
/// known.insert(3);
/// assert!(known.contains(&1) && !known.contains(&2));
/// ```
#[derive(Debug)]
pub struct KnownDirs<K> {
    slots: HashMap<K, u32>,
    links: Vec<Link<K>>,
    newest: u32,
    oldest: u32,
    max: usize,
}

#[derive(Debug)]
struct Link<K> {
    key: K,
    newer: u32,
    older: u32,
}

impl<K: Hash + Eq + Clone> KnownDirs<K> {
    /// A set of at most `max` members, at least one.
    #[must_use]
    pub fn new(max: usize) -> Self {
        let max = max.clamp(1, NONE as usize - 1);
        Self { slots: HashMap::new(), links: Vec::new(), newest: NONE, oldest: NONE, max }
    }

    /// The number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether `key` is a member; this is a use of it.
    pub fn contains(&mut self, key: &K) -> bool {
        let Some(slot) = self.slots.get(key).copied() else { return false };
        self.use_again(slot);
        true
    }

    /// Adds a member, and forgets the one that was used longest ago if there are too many.
    pub fn insert(&mut self, key: K) {
        if let Some(slot) = self.slots.get(&key).copied() {
            self.use_again(slot);
            return;
        }
        let slot = if self.slots.len() < self.max {
            self.links.push(Link { key: key.clone(), newer: NONE, older: NONE });
            (self.links.len() - 1) as u32
        } else {
            let slot = self.oldest;
            self.unlink(slot);
            let forgotten = std::mem::replace(&mut self.links[slot as usize].key, key.clone());
            self.slots.remove(&forgotten);
            slot
        };
        self.slots.insert(key, slot);
        self.link_newest(slot);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.links.clear();
        (self.newest, self.oldest) = (NONE, NONE);
    }

    fn use_again(&mut self, slot: u32) {
        if self.newest != slot {
            self.unlink(slot);
            self.link_newest(slot);
        }
    }

    fn unlink(&mut self, slot: u32) {
        let Link { newer, older, .. } = self.links[slot as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.links[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.links[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, slot: u32) {
        let older = std::mem::replace(&mut self.newest, slot);
        let link = &mut self.links[slot as usize];
        (link.newer, link.older) = (NONE, older);
        match older {
            NONE => self.oldest = slot,
            older => self.links[older as usize].newer = slot,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same set with a scan for the member that was used longest ago.
    struct Naive {
        members: Vec<u16>,
        max: usize,
    }

    impl Naive {
        fn contains(&mut self, key: u16) -> bool {
            let Some(at) = self.members.iter().position(|member| *member == key) else {
                return false;
            };
            self.members.remove(at);
            self.members.push(key);
            true
        }

        fn insert(&mut self, key: u16) {
            if !self.contains(key) {
                self.members.push(key);
                if self.members.len() > self.max {
                    self.members.remove(0);
                }
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn it_remembers_what_a_scan_would(
            max in 1_usize..9,
            uses in proptest::collection::vec((0_u16..16, proptest::bool::ANY), 0..300),
        ) {
            let mut known = KnownDirs::new(max);
            let mut naive = Naive { members: Vec::new(), max };
            for (key, adds) in uses {
                if adds {
                    known.insert(key);
                    naive.insert(key);
                } else {
                    assert_eq!(known.contains(&key), naive.contains(key));
                }
                assert_eq!(known.len(), naive.members.len());
                assert!(known.len() <= max && known.links.len() <= max);
            }
            known.clear();
            assert!(known.is_empty() && !known.contains(&1));
        }
    }
}
