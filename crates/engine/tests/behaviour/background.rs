//! Operations of many commands run in the background: the sequencer interleaves ticks.

use crate::stage::{Bench, events, finish, flow, limit, setting, settle, until};
use rialto_engine::{KeyRing, Level, Step, verify};
use rialto_model::{AccountId, Command, MassCancel, Seq, Side, Timestamp};

/// Good-till-date orders for eight ticks.
const MANY: u64 = 2_000;

fn many() -> Vec<Command> {
    let order = |_| until(Timestamp(5_000), limit(1, Side::Sell, 2_000, 1));
    (0..MANY).map(order).collect()
}

#[test]
fn commands_do_not_wait_for_orders_that_expire() {
    let bench = Bench::new(21, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    settle(&mut producer, &mut stepped, &setting());
    let last = settle(&mut producer, &mut stepped, &many()).last().unwrap().answer.unwrap().seq;
    bench.clock.set(Timestamp(9_000));
    let commands = flow(20);
    for command in &commands {
        producer.submit(1, command, None).unwrap();
    }
    stepped.step(Step::Sequencer);
    // All commands, and one tick after them.
    assert_eq!(engine.marks().applied, Seq(last.0 + 20 + 1));
    stepped.run_until_idle();
    assert_eq!(engine.marks().applied, Seq(last.0 + 20 + 8));
}

#[test]
fn a_venue_is_sound_after_a_start_in_the_middle_of_background_work() {
    let bench = Bench::new(22, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    settle(&mut producer, &mut stepped, &setting());
    settle(&mut producer, &mut stepped, &many());
    let (account, instrument, side) = (AccountId(1), None, None);
    let cancel = Command::MassCancel(MassCancel { account, instrument, side });
    producer.submit(1, &cancel, None).unwrap();
    stepped.step(Step::Sequencer);
    stepped.step(Step::Journal);
    let ticket = engine.request_snapshot();
    stepped.run_until_idle();
    assert!(ticket.wait(crate::stage::LONG).is_ok());
    let last = engine.marks().applied;
    let before = events(&engine, Seq(1), last);
    finish(&engine, &mut stepped);
    drop((producer, engine, stepped));

    let (engine, mut stepped, report) = bench.start();
    assert_eq!(report.last, last);
    assert_eq!(events(&engine, Seq(1), last), before);
    finish(&engine, &mut stepped);
    drop((engine, stepped));
    let (disk, dir) = (bench.shared_disk(), &bench.config.data_dir);
    verify(&disk, dir, &KeyRing::empty(), |_, _| {}).unwrap();
}
