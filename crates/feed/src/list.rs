//! Doubly linked lists threaded through the elements of a slab: order at the cost of two indices.

/// Stands where there is no neighbour.
pub(crate) const NONE: u32 = u32::MAX;

/// The neighbours of an element in one list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    previous: u32,
    next: u32,
}

impl Link {
    /// An element that is in no list.
    pub(crate) const LOOSE: Link = Link { previous: NONE, next: NONE };
}

/// An element that can be in one list for each value of `WHICH`.
pub(crate) trait Linked<const WHICH: usize> {
    /// Its neighbours.
    fn link(&self) -> &Link;
    /// Its neighbours, to change them.
    fn link_mut(&mut self) -> &mut Link;
}

/// A list of slots of a slab. An element must not be in two lists of the same `WHICH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List<const WHICH: usize> {
    first: u32,
    last: u32,
    len: u32,
}

impl<const WHICH: usize> List<WHICH> {
    /// The list without elements.
    pub(crate) const EMPTY: Self = List { first: NONE, last: NONE, len: 0 };

    /// How many elements it has.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// The slot of the first element.
    pub(crate) fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    /// Puts `slot` behind all others.
    pub(crate) fn push_back<T: Linked<WHICH>>(&mut self, slab: &mut [T], slot: u32) {
        *slab[slot as usize].link_mut() = Link { previous: self.last, next: NONE };
        match self.last {
            NONE => self.first = slot,
            last => slab[last as usize].link_mut().next = slot,
        }
        self.last = slot;
        self.len += 1;
    }

    /// Takes `slot` out, wherever it stands.
    pub(crate) fn remove<T: Linked<WHICH>>(&mut self, slab: &mut [T], slot: u32) {
        let link = std::mem::replace(slab[slot as usize].link_mut(), Link::LOOSE);
        match link.previous {
            NONE => self.first = link.next,
            previous => slab[previous as usize].link_mut().next = link.next,
        }
        match link.next {
            NONE => self.last = link.previous,
            next => slab[next as usize].link_mut().previous = link.previous,
        }
        self.len -= 1;
    }

    /// The elements from first to last.
    pub(crate) fn iter<'a, T: Linked<WHICH>>(
        &self,
        slab: &'a [T],
    ) -> impl Iterator<Item = &'a T> + use<'a, T, WHICH> {
        walk(slab, self.first, |link| link.next)
    }

    /// The elements from last to first.
    pub(crate) fn iter_back<'a, T: Linked<WHICH>>(
        &self,
        slab: &'a [T],
    ) -> impl Iterator<Item = &'a T> + use<'a, T, WHICH> {
        walk(slab, self.last, |link| link.previous)
    }
}

fn walk<const WHICH: usize, T: Linked<WHICH>>(
    slab: &[T],
    start: u32,
    step: fn(&Link) -> u32,
) -> impl Iterator<Item = &T> {
    let mut at = start;
    std::iter::from_fn(move || {
        let element = (at != NONE).then(|| &slab[at as usize])?;
        at = step(element.link());
        Some(element)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Element(u32, Link);

    impl Linked<0> for Element {
        fn link(&self) -> &Link {
            &self.1
        }
        fn link_mut(&mut self) -> &mut Link {
            &mut self.1
        }
    }

    fn values(list: &List<0>, slab: &[Element]) -> (Vec<u32>, Vec<u32>) {
        (list.iter(slab).map(|e| e.0).collect(), list.iter_back(slab).map(|e| e.0).collect())
    }

    #[test]
    fn elements_leave_from_either_end_and_the_middle() {
        let mut slab: Vec<_> = (0..4).map(|value| Element(value, Link::LOOSE)).collect();
        let mut list = List::EMPTY;
        for slot in [2, 0, 3, 1] {
            list.push_back(&mut slab, slot);
        }
        assert_eq!(values(&list, &slab), (vec![2, 0, 3, 1], vec![1, 3, 0, 2]));
        list.remove(&mut slab, 0);
        assert_eq!(values(&list, &slab), (vec![2, 3, 1], vec![1, 3, 2]));
        list.remove(&mut slab, 2);
        list.remove(&mut slab, 1);
        assert_eq!(values(&list, &slab), (vec![3], vec![3]));
        list.remove(&mut slab, 3);
        assert_eq!((list.first(), list.len()), (None, 0));
    }
}
