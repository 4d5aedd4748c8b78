use super::*;
use std::collections::BTreeMap;

fn walk(ladder: &Ladder) -> Vec<u32> {
    let mut step = ladder.top();
    std::iter::from_fn(|| Some(ladder.step(&mut step)).filter(|level| *level != NO_LEVEL)).collect()
}

fn find(ladder: &Ladder, key: i64) -> u32 {
    ladder.seek(key).level
}

fn insert(ladder: &mut Ladder, key: i64, level: u32) {
    let spot = ladder.seek(key);
    ladder.insert(spot, key, level);
}

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Grows and shrinks a ladder at random and compares it with a map all along.
fn agrees_with_a_map(keys: u64, steps: usize, seed: u64) {
    let (mut ladder, mut model, mut state) = (Ladder::new(), BTreeMap::new(), seed);
    for step in 0..steps {
        // Phases of growth and shrinking alternate, so that the tree grows tall and falls again.
        let tide = if (step / (keys as usize * 2)) & 1 == 0 { 3 } else { 1 };
        let key = random(&mut state) % keys;
        let key = key as i64 * 1_000_003 - 7;
        if random(&mut state) % 4 < tide {
            let level = step as u32 + 1;
            if *model.entry(key).or_insert(level) == level {
                insert(&mut ladder, key, level);
            }
        } else if model.remove(&key).is_some() {
            ladder.remove(key);
        } else if let Some((best, level)) = model.pop_last() {
            assert_eq!(ladder.best(), level, "seed {seed} step {step}");
            ladder.remove(best);
        }
        assert_eq!(ladder.best(), model.last_key_value().map_or(NO_LEVEL, |(_, level)| *level));
        if step % 997 == 0 {
            let expected: Vec<_> = model.iter().rev().map(|(key, level)| (*key, *level)).collect();
            assert_eq!(ladder.check(), Ok(expected), "seed {seed} step {step}");
            assert_eq!(walk(&ladder), model.values().rev().copied().collect::<Vec<_>>());
            assert_eq!(find(&ladder, key), model.get(&key).copied().unwrap_or(NO_LEVEL));
        }
    }
}

#[test]
fn agrees_with_a_map_of_a_few_prices() {
    (1..=4).for_each(|seed| agrees_with_a_map(200, 10_000, seed));
}

#[test]
fn agrees_with_a_map_of_many_prices() {
    agrees_with_a_map(20_000, 200_000, 5);
}

#[test]
fn prices_in_rising_and_falling_order_go_in_and_out() {
    for flip in [1, -1] {
        let mut ladder = Ladder::new();
        (1..=10_000).for_each(|key| insert(&mut ladder, key * flip, key as u32));
        assert_eq!(ladder.check().map(|all| all.len()), Ok(10_000));
        (1..=10_000).for_each(|key| ladder.remove(key * flip));
        assert_eq!((ladder.check(), ladder.best()), (Ok(vec![]), NO_LEVEL));
    }
}

#[test]
fn the_ends_of_the_range_are_prices_like_any_other() {
    let mut ladder = Ladder::new();
    let keys: Vec<i64> =
        (0..500).map(|n| i64::MIN + n).chain((0..500).map(|n| i64::MAX - n)).collect();
    keys.iter().enumerate().for_each(|(n, key)| insert(&mut ladder, *key, n as u32 + 1));
    assert_eq!(ladder.check().map(|all| all.len()), Ok(1_000));
    assert_eq!((find(&ladder, i64::MIN), find(&ladder, i64::MAX)), (1, 501));
    keys.iter().for_each(|key| ladder.remove(*key));
    assert_eq!(ladder.len(), 0);
}

#[test]
fn a_range_that_is_emptied_and_used_again_is_found_whichever_node_it_falls_to() {
    // Rising prices leave leaves of 32, and three levels of nodes; seven in eight gaps are then
    // filled, so that a leaf that runs low finds its neighbours too full to merge with.
    let mut ladder = Ladder::new();
    let mut keys: BTreeMap<i64, u32> = (0..8_000).map(|n| (n * 10, n as u32 + 1)).collect();
    keys.iter().for_each(|(key, level)| insert(&mut ladder, *key, *level));
    for n in (0..8_000).filter(|n| n % 8 != 0) {
        insert(&mut ladder, n * 10 + 5, 1);
        keys.insert(n * 10 + 5, 1);
    }
    assert_eq!(ladder.height, 2);
    for start in (0..80_000).step_by(320) {
        let range: Vec<i64> = keys.range(start..start + 320).map(|(key, _)| *key).collect();
        for key in range {
            ladder.remove(key);
            keys.remove(&key);
        }
        insert(&mut ladder, start, 7);
        keys.insert(start, 7);
        let expected = keys.iter().rev().map(|(key, level)| (*key, *level)).collect();
        assert_eq!(ladder.check(), Ok(expected), "after the range from {start}");
    }
}

#[test]
fn a_reserved_ladder_does_not_grow_however_its_levels_come_and_go() {
    let levels = 5_000;
    let mut ladder = Ladder::new();
    ladder.reserve(levels);
    let nodes = ladder.nodes.len();
    // Region after region is filled up and then thinned out to one level in forty. If thin leaves
    // did not merge, each region would leave all of its leaves behind.
    let mut key = 0;
    for _ in 0..30 {
        let first = key;
        while ladder.len() < levels {
            insert(&mut ladder, key, 1);
            key += 1;
        }
        (first..key).filter(|key| key % 40 != 0).for_each(|key| ladder.remove(key));
    }
    assert!(ladder.len() > levels / 3, "{} levels are too few", ladder.len());
    assert_eq!(ladder.nodes.len(), nodes);
    assert!(ladder.check().is_ok());
}
