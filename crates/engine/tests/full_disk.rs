//! A full disk without room for the next segment is logged once, and not retried with every group.

#![allow(clippy::unwrap_used)]

mod stage;

use rialto_disk::Faults;
use rialto_engine::{Health, Level, Producer, Stepped};
use stage::{Bench, Lines, flow, setting, settle};
use std::time::Duration;

/// One group for each call.
fn write(producer: &mut Producer, stepped: &mut Stepped) {
    settle(producer, stepped, &flow(40));
}

#[test]
fn a_failed_segment_is_retried_at_intervals_and_logged_once() {
    let lines = Lines::watch();
    let mut bench = Bench::new(1, Level::Synced);
    bench.config.segment_bytes = 512 << 10;
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    settle(&mut producer, &mut stepped, &setting());
    let used: usize = bench
        .disk
        .paths()
        .iter()
        .filter_map(|path| bench.disk.bytes_of(path))
        .map(|bytes| bytes.len())
        .sum();
    bench.disk.set_faults(Faults { capacity_bytes: Some(used as u64 + 4096), ..Faults::default() });
    while lines.with("cannot be made").is_empty() {
        write(&mut producer, &mut stepped);
        assert!(matches!(engine.health(), Health::Running), "{}", engine.health());
    }
    // A group is one write of each log; an attempt is several operations more.
    let before = bench.disk.operations();
    let groups = engine.stats().groups;
    for _ in 0..10 {
        write(&mut producer, &mut stepped);
    }
    let groups = engine.stats().groups - groups;
    assert_eq!(bench.disk.operations() - before, 2 * groups, "nothing but the groups is written");
    bench.clock.advance(Duration::from_millis(100));
    write(&mut producer, &mut stepped);
    assert!(bench.disk.operations() - before > 2 * (groups + 1), "it is tried again");
    assert_eq!(lines.with("cannot be made").len(), 1, "{:?}", lines.with(""));

    bench.disk.set_faults(Faults::default());
    bench.clock.advance(Duration::from_secs(60));
    stepped.run_until_idle();
    assert_eq!(lines.with("after all").len(), 1, "{:?}", lines.with(""));
    for _ in 0..100 {
        write(&mut producer, &mut stepped);
    }
    assert!(matches!(engine.health(), Health::Running), "{}", engine.health());
}
