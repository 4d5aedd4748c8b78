//! One history: lives of an engine on one disk, and their ends.

use super::auctions;
use super::coverage::Coverage;
use super::invariants;
use super::oracle::Oracle;
use super::random::Random;
use super::shadow::Shadow;
use super::traffic::{LongWork, Traffic, attribution};
use super::trouble::{Damage, NEVER, Trouble};
use crate::stage::{self, Bench};
use rialto_core::RULES_VERSIONS;
use rialto_disk::Faults;
use rialto_engine::{
    Cipher, Compression, Engine, EngineConfig, EventReader, Health, KeyRing, Level, Producer,
    RecoveryReport, Sabotage, Sealing, Step, Stepped, verify,
};
use rialto_model::{Command, Outcome, Seq, Timestamp};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SEGMENT_BYTES: u64 = 512 << 10;
/// Three of this many histories have work of many ticks: one long takers, two auctions.
const DEEP_EVERY: u64 = 25;
/// The most failed starts in a row.
const STARTS_MAX: usize = 20;

/// The end of a life, if the disk does not end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Kill,
    PowerLoss,
    Shutdown,
}

struct Client {
    producer: Producer,
    sent: HashMap<u64, (Command, Option<Level>)>,
}

pub(crate) struct History<'a> {
    pub(crate) coverage: &'a mut Coverage,
    pub(crate) random: Random,
    pub(crate) bench: Bench,
    shadow: Shadow,
    next_token: u64,
    traffic: Traffic,
    /// A history of thousands of commands, so that it has whole spans of the chain.
    long: bool,
    /// Its work of many ticks.
    long_work: LongWork,
    /// The venue's time and the monotonic clock at the begin of this life.
    began: (Timestamp, Duration),
    /// Damage of stored data or of a read.
    pub(crate) damage: Option<Damage>,
    /// A violation seen during a hang.
    pub(crate) violation: Arc<Mutex<Option<String>>>,
}

/// Every second history is encrypted or compressed: the guarantees are the same.
const SEALINGS: [Sealing; 4] = {
    let compression = Compression::Zstd { level: 1 };
    let encryption = Some(Cipher::Aes256Gcm);
    [
        Sealing::NONE,
        Sealing::NONE,
        Sealing { compression: Compression::Lz4, encryption: None },
        Sealing { compression, encryption },
    ]
};

fn keys() -> KeyRing {
    KeyRing::parse(&format!("1: {}", "5a".repeat(32)), "the simulation")
        .expect("the text is that of one key")
}

/// Runs a history. The error is the violation.
pub(crate) fn live(
    seed: u64,
    sabotage: Option<Sabotage>,
    coverage: &mut Coverage,
) -> Result<(), String> {
    let mut random = Random::new(seed);
    let level = random.pick(&[Level::Memory, Level::Buffered, Level::Synced, Level::Synced]);
    let mut bench = Bench::new(seed, level);
    bench.config = EngineConfig {
        segment_bytes: SEGMENT_BYTES,
        snapshot_every: random.pick(&[20, 100, u64::MAX]),
        snapshots_kept: 1 + random.below(2) as usize,
        producer_capacity: 64,
        event_ring_blocks: 2 + random.below(3) as usize,
        sealing: random.pick(&SEALINGS),
        keys: keys(),
        rules_version: random.pick(&[1, *RULES_VERSIONS.end()]),
        sabotage,
        ..bench.config
    };
    let long_work = match seed % DEEP_EVERY {
        11 => LongWork::Takers,
        4 | 16 => LongWork::Auctions,
        8 | 20 => LongWork::Triggers,
        _ => LongWork::None,
    };
    let mut history = History {
        coverage,
        shadow: Shadow::new(level),
        long: seed % 50 == 7,
        random,
        bench,
        next_token: 0,
        traffic: Traffic::new(long_work),
        long_work,
        began: (Timestamp::ZERO, Duration::ZERO),
        damage: None,
        violation: Arc::default(),
    };
    for _ in 0..2 + history.random.below(3) {
        if !history.one_life()? {
            return Ok(());
        }
    }
    history.last_words()
}

impl History<'_> {
    /// False: the history ends for a permitted reason.
    fn one_life(&mut self) -> Result<bool, String> {
        let troubles = self.troubles();
        self.afflict(&troubles);
        let lies_before = self.bench.disk.lies_told();
        let Some((engine, mut stepped)) = self.begin(&troubles)? else { return Ok(false) };
        let engine = Arc::new(engine);
        self.began = (engine.clock().time, self.bench.clock.passed());
        let mut clients: Vec<Client> = (0..1 + self.random.below(3))
            .map(|_| Client { producer: engine.producer(), sent: HashMap::new() })
            .collect();
        let mut reader = engine.events(Seq(1 + self.random.below(30)));
        let acts = match (self.long, self.long_work) {
            (true, _) => 2_000,
            (_, LongWork::None) => 120,
            (_, LongWork::Takers) => 500,
            (_, LongWork::Auctions | LongWork::Triggers) => 800,
        };
        let mut left = 20 + self.random.below(acts);
        while left > 0 {
            left -= 1;
            if self.traffic.has_sent_work() {
                if matches!(self.long_work, LongWork::Auctions | LongWork::Triggers) {
                    self.work_some(&engine, &mut stepped);
                }
                // A life ends while an order is suspended, while an instrument uncrosses, or while
                // triggered orders are being entered.
                if self.random.percent(70) {
                    left = left.min(self.random.below(15));
                }
            }
            self.act(&troubles, &engine, &mut stepped, &mut clients, &mut reader)?;
            if matches!(engine.health(), Health::Failed(_)) {
                break;
            }
        }
        self.end(&troubles, engine, stepped, clients, reader)?;
        self.notice_damage();
        if self.bench.disk.lies_told() > lies_before {
            return self.after_a_lie();
        }
        Ok(true)
    }

    /// Starts with these troubles of the disk, and checks the result.
    fn begin(&mut self, troubles: &[Trouble]) -> Result<Option<(Engine, Stepped)>, String> {
        let mut required = self.shadow.survives_kill;
        let mut last = String::new();
        for _ in 0..STARTS_MAX {
            let (engine, stepped, report) = match self.bench.try_start() {
                Ok(started) => started,
                Err(error) => {
                    let told = stage::told(&error);
                    self.coverage.refusals += 1;
                    self.notice_damage();
                    if self.damage.is_some() {
                        return named(&told).map(|()| None);
                    }
                    if troubles.is_empty() {
                        return Err(format!("refused without a reason: {told}"));
                    }
                    named(&told)?;
                    if told.contains("crashed") {
                        self.bench.disk.restart();
                        required = self.shadow.survives_power;
                    } else {
                        self.bench.disk.kill();
                    }
                    self.bench.disk.set_faults(Faults::default());
                    if self.bench.disk.lies_told() > 0 {
                        return Ok(None);
                    }
                    last = told;
                    continue;
                }
            };
            self.coverage.started(&report);
            // The oracle reads without faults.
            self.bench.disk.fail_read(NEVER);
            self.bench.disk.stale_read(NEVER);
            self.notice_damage();
            if !self.check(&engine, &stepped, &report, required)? {
                return Ok(None);
            }
            for trouble in troubles {
                match *trouble {
                    Trouble::FailedRead(nth) => self.bench.disk.fail_read(nth),
                    Trouble::StaleRead(nth) => self.bench.disk.stale_read(nth),
                    _ => {}
                }
            }
            self.shadow.recovered(report.last);
            return Ok(Some((engine, stepped)));
        }
        Err(format!("with {troubles:?} the engine does not start any more: {last}"))
    }

    /// Checks the state after a start; false if a flipped bit ends the history.
    fn check(
        &mut self,
        engine: &Engine,
        stepped: &Stepped,
        report: &RecoveryReport,
        required: Seq,
    ) -> Result<bool, String> {
        // Damage of data that is not proven to be synced looks like an incomplete write. No more
        // than that may be missing, and cut bytes must be reported.
        let excused = match self.damage {
            Some(Damage::Flipped) => report.journal_cut.is_some(),
            Some(Damage::Missing) => true,
            None => false,
        };
        let required = if excused { required.min(self.shadow.proven) } else { required };
        invariants::nothing_promised_is_lost(required, report)?;
        let lost = excused && report.last < self.shadow.survives_power;
        self.coverage.unproven_lost += u64::from(lost);
        if self.damage.is_none() && self.bench.disk.lies_told() == 0 {
            invariants::little_time_is_lost(&self.shadow, &self.bench.config, report)?;
        }
        let journal = self.bench.config.data_dir.join("journal");
        let oracle = match Oracle::of_journal(
            &self.bench.shared_disk(),
            &journal,
            &keys(),
            self.bench.config.rules_version,
        ) {
            Ok(oracle) => oracle,
            Err(told) if self.damage.is_some() => return named(&told).map(|()| false),
            Err(_) if self.bench.disk.is_down() => return Ok(true),
            Err(told) => return Err(format!("the journal cannot be read: {told}")),
        };
        self.coverage.found_in_work(&oracle, report);
        if oracle.last() != report.last {
            return Err(format!("the report says {}, the journal {}", report.last, oracle.last()));
        }
        invariants::replies_were_true(&self.shadow, &oracle)?;
        invariants::shown_events_are_facts(&self.shadow, &oracle)?;
        invariants::state_is_the_oracles(stepped, &oracle)?;
        invariants::ledger_balances(&oracle)?;
        match invariants::event_log_is_the_oracles(engine, &oracle) {
            // Damage of an old event is reported by its reader, with file and offset.
            Err(told) if self.damage.is_some() => return named(&told).map(|()| false),
            result => result?,
        }
        Ok(self.damage.is_none())
    }

    /// Takes one random action.
    fn act(
        &mut self,
        troubles: &[Trouble],
        engine: &Arc<Engine>,
        stepped: &mut Stepped,
        clients: &mut [Client],
        reader: &mut EventReader,
    ) -> Result<(), String> {
        match self.random.below(100) {
            0..40 => {
                let is_deep = self.long_work != LongWork::None;
                let burst = match (self.long, is_deep) {
                    (false, true) if self.traffic.is_in_order() => 60,
                    (true, _) => 1 + self.random.below(60),
                    _ => 1 + self.random.below(4),
                };
                for _ in 0..burst {
                    let now = Timestamp(self.bench.clock.passed().as_nanos() as u64);
                    let command = self.traffic.command(&mut self.random, now);
                    let level = self.random.percent(10).then(|| self.random.pick(&Level::ALL));
                    let client = if self.traffic.is_in_order() {
                        0
                    } else {
                        self.random.below(clients.len() as u64) as usize
                    };
                    let client = &mut clients[client];
                    let (producer, token) = (&mut client.producer, self.next_token);
                    let submitted = match attribution(&command) {
                        Some(by) => producer.submit_attributed(token, &command, level, &by),
                        None => producer.submit(token, &command, level),
                    };
                    if submitted.is_ok() {
                        client.sent.insert(self.next_token, (command, level));
                        self.next_token += 1;
                        self.traffic.taken();
                    }
                }
                if self.traffic.is_in_order() && self.long_work == LongWork::Auctions {
                    // Thousands of orders come in between two other acts.
                    self.step_in_turn(engine, stepped);
                    self.listen(engine, clients, reader)?;
                }
            }
            40..86 => {
                let step = self.random.pick(&[
                    Step::Sequencer,
                    Step::Sequencer,
                    Step::Journal,
                    Step::Journal,
                    Step::Events,
                    Step::Follower,
                    Step::Preparer,
                ]);
                let hangs = troubles.contains(&Trouble::Hangs) && self.random.percent(20);
                if hangs && matches!(step, Step::Journal | Step::Events) {
                    self.hang(engine);
                }
                stepped.step(step);
                self.bench.disk.hang_never();
                self.shadow.marks(engine.marks(), self.bench.clock.passed());
                if let Some(violation) =
                    self.violation.lock().expect("no thread panics with it").take()
                {
                    return Err(violation);
                }
            }
            86..87 if troubles.contains(&Trouble::FlipWhileRunning) => {
                self.flip_a_bit();
                self.coverage.flips_while_running += u64::from(self.damage.is_some());
            }
            87..88 => {
                // A larger step than is followed, in either direction.
                let hours = self.random.pick(&[-2, -1, 1, 2]);
                self.bench.clock.step(hours * 3_600_000_000_000);
                self.coverage.steps_of_the_clock += 1;
            }
            88..93 => self.bench.clock.advance(Duration::from_nanos(self.random.below(2_000))),
            93..94 => self.bench.clock.advance(Duration::from_secs(2)),
            94..95 => drop(engine.request_snapshot()),
            _ => {}
        }
        if self.random.percent(30) {
            self.listen(engine, clients, reader)?;
        }
        Ok(())
    }

    /// Gives what ends by itself the time, and takes some slices of the work.
    fn work_some(&mut self, engine: &Engine, stepped: &mut Stepped) {
        self.bench.clock.advance(auctions::pause(&mut self.random));
        for _ in 0..self.random.below(10) {
            if self.random.percent(20) {
                drop(engine.request_snapshot());
            }
            self.step_in_turn(engine, stepped);
        }
    }

    fn step_in_turn(&mut self, engine: &Engine, stepped: &mut Stepped) {
        for step in [Step::Sequencer, Step::Journal, Step::Events, Step::Follower] {
            stepped.step(step);
            self.shadow.marks(engine.marks(), self.bench.clock.passed());
        }
    }

    /// Receives replies and events.
    fn listen(
        &mut self,
        engine: &Engine,
        clients: &mut [Client],
        reader: &mut EventReader,
    ) -> Result<(), String> {
        for client in clients {
            while let Some(reply) = client.producer.try_reply() {
                let (command, level) =
                    client.sent.remove(&reply.token).ok_or("a reply to nothing")?;
                self.shadow.reply(&reply, command, level);
                if let Ok(answer) = &reply.answer {
                    self.coverage.extremes.decided(&command, &answer.outcome);
                    if let (Command::SetRulesVersion { .. }, Outcome::Done) =
                        (command, answer.outcome)
                        && engine.last_snapshot().next() < answer.seq
                    {
                        let seq = answer.seq;
                        return Err(format!("the rules changed at {seq} without a snapshot"));
                    }
                }
                invariants::time_is_the_monotonic_clocks(&reply, self.began, &self.bench)?;
            }
        }
        let down = self.bench.disk.is_down();
        loop {
            match reader.try_next() {
                Ok(Some(batch)) => {
                    for record in batch.iter() {
                        self.shadow.event(record.seq, record.bytes)?;
                    }
                }
                Ok(None) => break,
                // A disk that is down, or has a read fault, affects readers too; readers report
                // damage by name.
                Err(error) => {
                    let told = stage::told(&error);
                    self.notice_damage();
                    if self.damage.is_some() {
                        named(&told)?;
                    } else if !down && !told.contains("cannot read") && !told.contains("crashed") {
                        return Err(told);
                    }
                    break;
                }
            }
        }
        self.shadow.marks(engine.marks(), self.bench.clock.passed());
        Ok(())
    }

    fn end(
        &mut self,
        troubles: &[Trouble],
        engine: Arc<Engine>,
        mut stepped: Stepped,
        mut clients: Vec<Client>,
        mut reader: EventReader,
    ) -> Result<(), String> {
        let end = self.random.pick(&[End::Kill, End::PowerLoss, End::Shutdown]);
        if end == End::Shutdown {
            engine.close_intake();
            stepped.run_until_idle();
            match engine.health() {
                Health::Stopped => {}
                Health::Failed(_) if !troubles.is_empty() => {}
                health => return Err(format!("a shutdown ended {health}")),
            }
        }
        let failed = matches!(engine.health(), Health::Failed(_));
        self.coverage.failures += u64::from(failed);
        self.coverage.shutdowns += u64::from(matches!(engine.health(), Health::Stopped));
        if failed && troubles.is_empty() {
            return Err(format!("without trouble: {}", engine.health()));
        }
        self.listen(&engine, &mut clients, &mut reader)?;
        if end == End::Shutdown {
            // Every submission is answered.
            if let Some(client) = clients.iter().find(|client| !client.sent.is_empty()) {
                return Err(format!("{} submissions were never answered", client.sent.len()));
            }
        }
        drop((clients, reader, stepped, engine));
        if self.bench.disk.is_down() {
            self.bench.disk.restart();
            self.shadow.survives_kill = self.shadow.survives_power;
        } else if end == End::PowerLoss || (failed && self.random.percent(50)) {
            self.bench.disk.crash();
            self.shadow.survives_kill = self.shadow.survives_power;
        } else {
            self.bench.disk.kill();
        }
        Ok(())
    }

    /// A sync that lied may have lost anything since. The rest must be a venue, or be refused by
    /// name; the history ends there.
    fn after_a_lie(&mut self) -> Result<bool, String> {
        self.coverage.lies += 1;
        self.damage = Some(Damage::Missing);
        self.bench.disk.set_faults(Faults::default());
        self.bench.disk.restart();
        match self.bench.try_start() {
            Err(error) => named(&stage::told(&error))?,
            Ok((engine, stepped, report)) => {
                self.shadow.recovered(report.last);
                self.check(&engine, &stepped, &report, Seq::ZERO)?;
            }
        }
        Ok(false)
    }

    /// The end of a history: a start without faults, a shutdown, and a verification of every byte.
    fn last_words(mut self) -> Result<(), String> {
        self.afflict(&[]);
        self.bench.disk.set_faults(Faults::default());
        let Some((engine, mut stepped)) = self.begin(&[])? else { return Ok(()) };
        engine.close_intake();
        stepped.run_until_idle();
        let last = engine.marks().applied;
        drop((stepped, engine));
        self.bench.disk.crash();
        let report =
            verify(&self.bench.shared_disk(), &self.bench.config.data_dir, &keys(), |_, _| {})
                .map_err(|error| stage::told(&error))?;
        if (report.last, report.events_last) != (last, last) {
            return Err(format!("a shutdown at {last} left {report:?}"));
        }
        Ok(())
    }
}

/// A refusal names its file or directory.
fn named(told: &str) -> Result<(), String> {
    if told.contains("/venue") { Ok(()) } else { Err(format!("a refusal without a file: {told}")) }
}
