//! The last fills of every account, bounded for each and over all.

use crate::accounts::Account;
use crate::list::{Link, Linked, List};
use crate::view::Fill;

const ALL: usize = 0;
const OWN: usize = 1;

/// An account's fills, oldest first.
pub(crate) type FillList = List<OWN>;

#[derive(Debug)]
pub(crate) struct Node {
    fill: Fill,
    /// Slot of its account.
    account: u32,
    all: Link,
    own: Link,
}

impl Linked<ALL> for Node {
    fn link(&self) -> &Link {
        &self.all
    }
    fn link_mut(&mut self) -> &mut Link {
        &mut self.all
    }
}

impl Linked<OWN> for Node {
    fn link(&self) -> &Link {
        &self.own
    }
    fn link_mut(&mut self) -> &mut Link {
        &mut self.own
    }
}

#[derive(Debug)]
pub(crate) struct Fills {
    per_account: usize,
    total: usize,
    slab: Vec<Node>,
    free: Vec<u32>,
    all: List<ALL>,
}

impl Fills {
    pub(crate) fn new(per_account: usize, total: usize) -> Fills {
        let total = total.min(u32::MAX as usize - 1);
        Fills { per_account, total, slab: Vec::new(), free: Vec::new(), all: List::EMPTY }
    }

    /// Remembers a fill, and forgets the account's oldest or the oldest of all if there are too
    /// many then.
    pub(crate) fn push(&mut self, fill: Fill, account: u32, accounts: &mut [Account]) {
        let node = Node { fill, account, all: Link::LOOSE, own: Link::LOOSE };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slab[slot as usize] = node;
                slot
            }
            None => {
                self.slab.push(node);
                (self.slab.len() - 1) as u32
            }
        };
        self.all.push_back(&mut self.slab, slot);
        let own = &mut accounts[account as usize].fills;
        own.push_back(&mut self.slab, slot);
        if own.len() as usize > self.per_account
            && let Some(oldest) = own.first()
        {
            self.forget(oldest, accounts);
        }
        if self.all.len() as usize > self.total
            && let Some(oldest) = self.all.first()
        {
            self.forget(oldest, accounts);
        }
    }

    fn forget(&mut self, slot: u32, accounts: &mut [Account]) {
        let node = &self.slab[slot as usize];
        let owner = &mut accounts[node.account as usize];
        owner.forgotten_fills = node.fill.at.seq;
        owner.fills.remove(&mut self.slab, slot);
        self.all.remove(&mut self.slab, slot);
        self.free.push(slot);
    }

    /// An account's fills, newest first.
    pub(crate) fn newest_first<'a>(&'a self, account: &Account) -> impl Iterator<Item = &'a Fill> {
        account.fills.iter_back(&self.slab).map(|node| &node.fill)
    }
}
