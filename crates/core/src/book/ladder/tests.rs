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
        // The tide turns now and then, so that the tree grows tall and falls again.
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
fn a_reserved_ladder_does_not_grow_however_its_levels_come_and_go() {
    let levels = 5_000_usize;
    let mut ladder = Ladder::new();
    ladder.reserve(levels);
    let nodes = ladder.nodes.len();
    let mut state = 11;
    let mut keys = Vec::new();
    for _ in 0..200_000 {
        if keys.len() < levels && random(&mut state) & 7 != 0 {
            // Sometimes at the touch, sometimes anywhere; never twice, thanks to the counter.
            let key = ((random(&mut state) << 20) as i64) + keys.len() as i64;
            if find(&ladder, key) == NO_LEVEL {
                insert(&mut ladder, key, 1);
                keys.push(key);
            }
        } else if random(&mut state) & 3 == 0 && keys.len() > levels / 2 {
            keys.sort_unstable();
            // Leaves one level in ten where there were many.
            let all = std::mem::take(&mut keys);
            for (n, key) in all.into_iter().enumerate() {
                if n % 10 == 0 { keys.push(key) } else { ladder.remove(key) }
            }
        } else if !keys.is_empty() {
            let at = random(&mut state) as usize % keys.len();
            ladder.remove(keys.swap_remove(at));
        }
    }
    assert_eq!(ladder.nodes.len(), nodes);
}
