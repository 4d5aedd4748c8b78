//! Validation of a whole ladder.

use super::{Ladder, NO_LEVEL};

impl Ladder {
    /// Checks the shape of the whole tree; returns its levels from best to worst, or what is wrong.
    pub(in crate::book) fn check(&self) -> Result<Vec<(i64, u32)>, &'static str> {
        let mut entries = Vec::with_capacity(self.len);
        self.check_below(self.root, self.height, (i64::MIN, i64::MAX), &mut entries)?;
        if entries.len() != self.len {
            return Err("the ladder's count differs from its entries");
        }
        if self.rightmost(self.root, self.height) != self.last {
            return Err("the last leaf is not the rightmost one");
        }
        if entries.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return Err("the keys do not ascend");
        }
        if entries.last().map_or(NO_LEVEL, |entry| entry.1) != self.best {
            return Err("the best level is not the last one");
        }
        entries.reverse();
        Ok(entries)
    }

    fn check_below(
        &self,
        at: u32,
        height: usize,
        (least, most): (i64, i64),
        entries: &mut Vec<(i64, u32)>,
    ) -> Result<(), &'static str> {
        let node = &self.nodes[at as usize];
        if node.len() == 0 && self.height > 0 {
            return Err("a node below the root is empty");
        }
        if node.keys().iter().any(|key| *key < least || *key > most) {
            return Err("a key is outside the range of its node");
        }
        for entry in 0..node.len() {
            if height == 0 {
                entries.push((node.keys()[entry], node.values[entry]));
            } else {
                let most = node.keys().get(entry + 1).map_or(most, |next| next - 1);
                let range = (node.keys()[entry], most);
                self.check_below(node.values[entry], height - 1, range, entries)?;
            }
        }
        Ok(())
    }
}
