//! Many groups on one topic: ten that consume, and a thousand idle ones.

use super::messages::{Content, Messages};
use super::rounds::{Trial, case};
use super::stage::{self, Stage, seconds};
use crate::drive::joined;
use crate::error::BenchError;
use crate::measure::Clock;
use crate::report::{Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_queue::Level;

const BYTES: usize = 1_024;
const ACTIVE: u64 = 10;
const IDLE: u64 = 1_000;

const ALL_AT_ONCE: &str = "One thread publishes while each group has a thread that fetches 500 at a \
    time, compares every byte and acknowledges; from the first send until the last acknowledgement. \
    A delivery is one message to one group.";
const NOBODY: &str = "Groups that exist and that nobody consumes as a member of. Both of a pair ran \
    right after each other. Everything is read and compared afterwards.";

pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    outcome.take(active(context));
    for level in [Level::Memory, Level::Buffered] {
        outcome.take(idle(context, level));
    }
}

fn active(context: &mut Context<'_>) -> Result<Row, BenchError> {
    let count = context.sized(300_000, 300);
    let case = case(format!("{count} x 1 KiB, {ACTIVE} groups consume"));
    let messages = Messages::new(Content::Noise, BYTES, count);
    let trial = Trial::new(case, Level::Memory, messages).note(ALL_AT_ONCE);
    let stage = Stage::in_memory(&trial.name, 0)?;
    let groups: Vec<String> = (0..ACTIVE).map(|group| format!("group-{group}")).collect();
    let [rate] = trial.rounds(context, 3, |context| {
        stage.create(stage::topic(context, Level::Memory))?;
        groups.iter().try_for_each(|group| stage.create_group(group))?;
        let clock = Clock::start();
        let ends: Vec<_> = std::thread::scope(|scope| {
            let (stage, messages) = (&stage, &trial.messages);
            let consume = |group| scope.spawn(move || stage.consume(group, messages));
            let mut threads: Vec<_> = groups.iter().map(String::as_str).map(consume).collect();
            threads.push(scope.spawn(|| stage.send(messages)));
            threads.into_iter().map(joined).collect()
        });
        let seconds = seconds(&clock);
        ends.into_iter().try_for_each(|end| end.map(drop))?;
        stage.delete()?;
        Ok([(count * ACTIVE) as f64 / seconds])
    })?;
    let row = trial.rate("deliveries to all groups", rate);
    Ok(row.check("deliveries", count * ACTIVE).target(3e6))
}

fn idle(context: &mut Context<'_>, level: Level) -> Result<Row, BenchError> {
    let count = context.sized(300_000, 300);
    let many = context.sized(IDLE, 20);
    let case = case(format!("{count} x 1 KiB, {many} idle groups against one"));
    let messages = Messages::new(Content::Noise, BYTES, count);
    let trial = Trial::new(case, level, messages).note(NOBODY);
    let mut is_one_first = false;
    let [ratio] = trial.rounds(context, 3, |context| {
        let mut rate = |groups| writers_rate(context, &trial, groups);
        is_one_first = !is_one_first;
        let (one, all) = match is_one_first {
            true => (rate(1)?, rate(many)?),
            false => {
                let all = rate(many)?;
                (rate(1)?, all)
            }
        };
        Ok([all / one])
    })?;
    Ok(trial.row("writer's rate over that with one group", ratio, Unit::Ratio).target(0.9))
}

/// Messages a second of one thread that publishes on a topic with some groups.
fn writers_rate(context: &mut Context<'_>, trial: &Trial, groups: u64) -> Result<f64, BenchError> {
    let stage = trial.stage(context)?;
    (0..groups).try_for_each(|group| stage.create_group(&format!("group-{group}")))?;
    let seconds = stage.send(&trial.messages)?;
    stage.read(&trial.messages)?;
    stage.close()?;
    Ok(trial.per_second(seconds))
}
