//! Scans of rows in memory and below it.

use super::*;
use crate::history::record::TenantNumber;

/// Rows in memory that refuse to be looked through without an end.
#[derive(Default)]
struct Ranges(MemoryRows);

impl Rows for Ranges {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, IndexError> {
        self.0.get(key)
    }

    fn range<'a>(
        &'a self,
        from: Bound<&[u8]>,
        end: Bound<&[u8]>,
    ) -> Box<dyn Iterator<Item = Result<Row, IndexError>> + 'a> {
        assert!(matches!(end, Bound::Excluded(_)), "removed rows behind the range would be read");
        self.0.range(from, end)
    }

    fn write(&self, changes: &Changes) -> Result<(), IndexError> {
        self.0.write(changes)
    }

    fn invalidate(&self) {
        self.0.invalidate();
    }
}

fn scanned(index: &ColdIndex, prefix: &Key, from: Bound<&Key>) -> Vec<u8> {
    let mut found = Vec::new();
    index.scan(prefix, from, |_, value: u8| {
        found.push(value);
        true
    });
    assert_eq!(index.failure(), None);
    found
}

#[test]
fn a_scan_merges_what_is_stored_and_what_is_not_and_ends_with_its_prefix() {
    let mut index = ColdIndex::of(Arc::new(Ranges::default()));
    let tenant = TenantNumber(u32::MAX);
    let key = |path: &str| Key::kept(tenant, path);
    for (value, path) in ["a", "in/b", "in/c", "in/d", "in0"].into_iter().enumerate() {
        index.put(key(path), &(value as u8));
    }
    index.begin_saving();
    index.remove(key("in/c"));
    index.put(key("in/d"), &13_u8);
    index.put(key("in/e"), &14_u8);
    let all = scanned(&index, &key(""), Bound::Unbounded);
    assert_eq!(all, [0, 1, 13, 14, 4]);
    index.spill();
    index.end_saving();
    index.put(key("in/\u{10FFFF}"), &15_u8);
    index.remove(key("in/e"));
    let below = key("in/");
    assert_eq!(scanned(&index, &below, Bound::Unbounded), [13, 15]);
    assert_eq!(scanned(&index, &below, Bound::Excluded(&key("in/d"))), [15]);
    assert_eq!(scanned(&index, &below, Bound::Included(&key("in/d"))), [13, 15]);
    // From beyond the prefix, nothing is left.
    assert!(scanned(&index, &below, Bound::Excluded(&key("in0"))).is_empty());
    assert!(scanned(&index, &below, Bound::Included(&key("z"))).is_empty());
    assert!(scanned(&index, &Key::ends(), Bound::Unbounded).is_empty());
}
