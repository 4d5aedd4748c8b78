//! The core and the reference side by side, command by command.

use super::coverage::Coverage;
use super::coverage::no_cancel::in_no_cancel_period;
use super::dice::Dice;
use super::fold::Fold;
use super::generator::{Profile, step};
use super::invariants::{self, Holdings};
use super::subject::Subject;
use super::world::World;
use super::{Alteration, Reference};
use rialto_core::{EVENTS_PER_COMMAND, Limits, RULES_VERSIONS};
use rialto_model::{
    Attribution, Command, CommandKind, EngineId, Event, OrderId, Outcome, Restrict, Seq, Side,
    Timestamp,
};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

const ENGINE: EngineId = EngineId(7);

/// One sequence: everything in it follows from the seed, the profile and the steps' own seeds.
#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    pub profile: Profile,
    pub rules_version: u32,
    pub steps: Vec<u64>,
    pub altered: Option<Alteration>,
}

/// Where the two differ, or a rule is broken.
#[derive(Debug)]
pub struct Failure {
    pub message: String,
    pub journal: Vec<(Timestamp, Command)>,
    /// The reference as it stood then.
    pub reference: Box<Reference>,
}

impl Case {
    pub fn new(seed: u64, profile: Profile) -> Case {
        let steps = if profile == Profile::Deep { 24 } else { 150 };
        let rules_version = *RULES_VERSIONS.end();
        Case { seed, profile, rules_version, steps: Vec::new(), altered: None }.lasting(steps)
    }

    /// A sequence of this many steps.
    pub fn lasting(mut self, steps: usize) -> Case {
        let mut dice = Dice::new(self.seed ^ 0x5EED);
        self.steps = (0..steps).map(|_| dice.next()).collect();
        self
    }

    /// The same sequence in a venue that begins with another version of the rules.
    pub fn under(mut self, rules_version: u32) -> Case {
        self.rules_version = rules_version;
        self
    }

    fn world(&self) -> World {
        World { rules_version: self.rules_version, ..World::new(self.seed, self.profile) }
    }

    pub fn altered(mut self, alteration: Alteration) -> Case {
        self.altered = Some(alteration);
        self
    }

    /// Runs the sequence; a panic on the way is a failure too.
    pub fn run(&self) -> Result<Coverage, Failure> {
        let world = self.world();
        let mut lockstep = Lockstep::new(&world, self.altered);
        let result = catch_unwind(AssertUnwindSafe(|| lockstep.sequence(self, &world)));
        let message = match result {
            Ok(Ok(())) => return Ok(lockstep.coverage),
            Ok(Err(message)) => message,
            Err(panic) => words(panic.as_ref()),
        };
        let reference = Box::new(lockstep.reference);
        Err(Failure { message, journal: lockstep.journal, reference })
    }

    /// The limits and the commands of the sequence, for a record of how they are decided.
    pub fn journal(&self) -> (Limits, Vec<(Timestamp, Command)>) {
        let world = self.world();
        let mut lockstep = Lockstep::new(&world, self.altered);
        lockstep.sequence(self, &world).expect("core and reference agree");
        (world.limits, lockstep.journal)
    }

    /// Leaves steps out as long as the sequence still fails, by halves, quarters and so on.
    pub fn shrink(&self, mut failure: Failure) -> (Case, Failure) {
        let mut case = self.clone();
        let mut chunk = case.steps.len().div_ceil(2);
        let mut runs_left = 600;
        while chunk > 0 && runs_left > 0 {
            let mut from = 0;
            let mut shorter = false;
            while from < case.steps.len() && runs_left > 0 {
                runs_left -= 1;
                let mut fewer = case.clone();
                fewer.steps.drain(from..(from + chunk).min(case.steps.len()));
                match fewer.run() {
                    Err(smaller) => {
                        case = fewer;
                        failure = smaller;
                        shorter = true;
                    }
                    Ok(_) => from += chunk,
                }
            }
            if !shorter || chunk > case.steps.len() {
                chunk /= 2;
            }
        }
        (case, failure)
    }

    /// Runs the sequence; if it fails, shortens it and tells how to run it again.
    pub fn must_pass(&self) -> Coverage {
        let failure = match self.run() {
            Ok(coverage) => return coverage,
            Err(failure) => failure,
        };
        let (case, failure) = self.shrink(failure);
        let commands: String = failure
            .journal
            .iter()
            .enumerate()
            .map(|(index, (time, command))| format!("  {} at {time}: {command:?}\n", index + 1))
            .collect();
        panic!(
            "{:?} sequence of seed {} under rules version {}, shortened to {} of {} steps, fails:\n{}\nafter the commands\n{commands}",
            self.profile,
            self.seed,
            self.rules_version,
            case.steps.len(),
            self.steps.len(),
            failure.message,
        );
    }
}

/// The message of a panic.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "a panic without words".to_owned())
}

/// The core, the reference, a core restored from a snapshot on the way, and the fold of all events.
pub struct Lockstep {
    core: Subject,
    restored: Option<Subject>,
    pub reference: Reference,
    fold: Fold,
    pub coverage: Coverage,
    expiries: BTreeMap<OrderId, Timestamp>,
    pub journal: Vec<(Timestamp, Command)>,
    pub time: Timestamp,
    /// Comparing everything costs as much as there is; large sequences do it now and then only.
    compare_every: u64,
}

impl Lockstep {
    pub fn new(world: &World, altered: Option<Alteration>) -> Lockstep {
        let mut reference = Reference::new(ENGINE, world.rules_version, world.limits);
        reference.altered = altered;
        Lockstep {
            core: Subject::new(ENGINE, world.rules_version, world.limits),
            restored: None,
            reference,
            fold: Fold::default(),
            coverage: Coverage::default(),
            expiries: BTreeMap::new(),
            journal: Vec::new(),
            time: world.start,
            compare_every: 1,
        }
    }

    /// A world that is set up, for sequences written by hand.
    pub fn set_up(world: &World) -> Lockstep {
        let mut lockstep = Lockstep::new(world, None);
        lockstep.compare_every = 64;
        world.setup.iter().for_each(|command| {
            let outcome = lockstep.must(command);
            assert!(!outcome.is_rejected(), "{command:?}: {outcome:?}");
        });
        lockstep
    }

    /// Does what is due and then the command, which both must decide in the same way.
    pub fn must(&mut self, command: &Command) -> Outcome {
        let last = |lockstep: &mut Lockstep| {
            lockstep.due()?;
            lockstep.command(command)
        };
        last(self).unwrap_or_else(|difference| panic!("{command:?}: {difference}"))
    }

    /// Like [`Lockstep::must`], but without what is due before it.
    pub fn must_at_once(&mut self, command: &Command) -> Outcome {
        self.command(command).unwrap_or_else(|difference| panic!("{command:?}: {difference}"))
    }

    fn sequence(&mut self, case: &Case, world: &World) -> Result<(), String> {
        if case.profile == Profile::Deep {
            self.compare_every = 16;
        }
        for command in &world.setup {
            self.command(command)?;
        }
        for seed in &case.steps {
            let next = step(*seed, case.profile, &self.reference, self.time);
            self.pass(next.passes_ns)?;
            let mut dice = Dice::new(*seed ^ 0xB0B);
            for command in &next.commands {
                self.due()?;
                let often = if case.profile == Profile::Deep { 10 } else { 40 };
                if self.core.next_background_work() <= self.time && dice.chance(often) {
                    self.command(&Command::Tick)?;
                    self.due()?;
                }
                self.command(command)?;
                let seldom = if case.profile == Profile::Deep { 1 } else { 4 };
                let busy = self.reference.taking.is_some() || self.core.has_background_work();
                let often = if self.reference.held_up.is_empty() { 30 } else { 90 };
                if dice.chance(if busy { often } else { seldom }) {
                    self.snapshot()?;
                }
            }
        }
        self.due()?;
        self.compare()?;
        match &self.restored {
            Some(restored) if restored.state_hash() != self.core.state_hash() => {
                Err("the restored core ended with another state hash".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Lets time pass; what falls due meanwhile is done at its own time.
    pub fn pass(&mut self, nanoseconds: u64) -> Result<(), String> {
        let until = self.time.saturating_add(nanoseconds);
        while self.reference.next_due() <= until {
            self.time = self.time.max(self.reference.next_due());
            self.command(&Command::Tick)?;
        }
        self.time = until;
        Ok(())
    }

    /// Issues the Ticks that must come before any other command.
    pub fn due(&mut self) -> Result<(), String> {
        self.pass(0)
    }

    /// Gives both the same command and compares all that follows.
    pub fn command(&mut self, command: &Command) -> Result<Outcome, String> {
        self.journal.push((self.time, *command));
        let seq = Seq(self.journal.len() as u64);
        let affordable = self.reference.orders.len() < 200 || seq.0.is_multiple_of(16);
        let before = affordable.then(|| self.reference.clone());
        let rules_version = self.reference.rules_version;
        let links_before = self.reference.lists.clone();
        let bound = in_no_cancel_period(&self.reference, self.time);
        let amended = match command {
            Command::Amend(amend) => Some(amend),
            Command::AmendTrigger(asked) => Some(&asked.amend),
            _ => None,
        };
        let amended = amended.and_then(|it| self.reference.open_order(it.account, &it.order).ok());
        let by = attribution(seq, command);
        let (events, outcome) = self.reference.apply_attributed(seq, self.time, command, by);
        let (core_events, core_outcome) = self.core.apply(seq, self.time, command, by.as_ref());
        if core_events != events || core_outcome != outcome {
            return Err(difference(&core_events, &events)
                + &format!("\ncore answered {core_outcome:?}\nreference     {outcome:?}"));
        }
        if let Some(restored) = &mut self.restored {
            let again = restored.apply(seq, self.time, command, by.as_ref());
            if again != (core_events, core_outcome) {
                return Err(format!(
                    "the restored core decided otherwise: {again:?}\ninstead of {events:?}"
                ));
            }
        }
        for event in &events {
            self.check_alive(event)?;
        }
        if events.is_empty() {
            return Err("a command without an event".to_owned());
        }
        if self.reference.rules_version >= 2 && events.len() > EVENTS_PER_COMMAND {
            return Err(format!("a command with {} events", events.len()));
        }
        if let (Some(before), true) = (before, outcome.is_rejected()) {
            invariants::nothing_changed(&before, &self.reference)?;
        }
        if rules_version >= 2 {
            invariants::fees_are_covered(&events)?;
        }
        let touched = self.fold.apply(&events);
        // Orders that end with others do not count.
        let linked = if rules_version >= 9 { 3 } else { 1 };
        if touched > linked * super::ORDERS_PER_COMMAND {
            return Err(format!("one command touched {touched} orders of the book"));
        }
        self.coverage.note(command, &events, &outcome);
        if let Some(taker) = &self.reference.taking {
            self.coverage.note_suspended(command, taker);
        }
        self.coverage.note_restrictions(command, &events, &self.reference);
        self.coverage.note_no_cancel(command, &events, &bound);
        self.coverage.note_contracts(command, &events, &self.reference);
        self.coverage.note_triggers(command, &events, &self.reference);
        self.coverage.note_icebergs(command, &events, &self.reference);
        self.coverage.note_links(command, &events, &links_before, &self.reference);
        let before = (amended.as_ref(), &links_before[..]);
        self.coverage.note_amendments(command, &events, &outcome, before, &self.reference);
        self.coverage.note_five_levels(command, &events);
        self.coverage.note_waiting(command, &events, &self.reference);
        if let Command::MassCancel(which) = command
            && self.reference.leaves_orders(which.account)
        {
            self.coverage.saw("mass cancel left orders");
        }
        if matches!(events[0], Event::Amended(_)) && self.reference.has_background_work() {
            self.coverage.saw("amended while background work went on");
        }
        if self.core.next_due() != self.reference.next_due() {
            return Err(format!(
                "next_due is {}, not {}",
                self.core.next_due(),
                self.reference.next_due()
            ));
        }
        if self.core.next_background_work() != self.reference.next_background_work() {
            return Err(format!(
                "next_background_work is {}, not {}",
                self.core.next_background_work(),
                self.reference.next_background_work()
            ));
        }
        if self.core.has_background_work() != self.reference.has_background_work() {
            return Err("they disagree on background work".to_owned());
        }
        if seq.0.is_multiple_of(self.compare_every) {
            self.compare()?;
        }
        Ok(outcome)
    }

    /// Nothing trades once its time is over.
    fn check_alive(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Accepted(accepted) if accepted.terms.expire_at > Timestamp::ZERO => {
                self.expiries.insert(accepted.order, accepted.terms.expire_at);
            }
            Event::Trade(trade) => {
                let listed = self.reference.listed(trade.instrument);
                let listed = listed.expect("what trades is listed");
                let at = if trade.auction { listed.uncrossing_since } else { self.time };
                for order in [trade.maker_order, trade.taker_order] {
                    if self.expiries.get(&order).is_some_and(|end| *end <= at) {
                        return Err(format!("order {order} trades though its time is over"));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Compares what the core tells of its state with the reference and the fold, and checks the
    /// invariants on the core's own figures.
    pub fn compare(&self) -> Result<(), String> {
        self.core.check()?;
        let core = self.core.holdings();
        let reference = Holdings::of(&self.reference);
        if core != reference {
            return Err(format!("core      {core:?}\nreference {reference:?}"));
        }
        invariants::check(&core, &self.reference)?;
        if self.core.restrictions() != restrictions(&self.reference) {
            return Err("they disagree on restrictions".to_owned());
        }
        if self.core.withdrawals() != self.reference.held {
            return Err("they disagree on the withdrawals that are held".to_owned());
        }
        let ended = self.reference.finished_orders();
        if self.core.ended_orders() != ended {
            let told = self.core.ended_orders();
            return Err(format!("orders that ended: core {told:?}\nreference {ended:?}"));
        }
        if !self.core.has_timetables(&self.reference.timetables) {
            return Err(format!("they disagree on {:?}", self.reference.timetables));
        }
        if self.fold.balances() != core.balances {
            return Err(format!(
                "events tell of {:?}\ncore holds     {:?}",
                self.fold.balances(),
                core.balances
            ));
        }
        let triggers: BTreeMap<_, _> =
            core.orders.iter().filter_map(|order| Some((order.id, order.trigger?))).collect();
        if *self.fold.triggers() != triggers {
            let told = self.fold.triggers();
            return Err(format!("events tell of {told:?}\ncore holds     {triggers:?}"));
        }
        let timers = self.reference.accounts.iter();
        let timers: BTreeMap<_, _> =
            timers.filter_map(|(id, account)| Some((*id, account.dead_man?))).collect();
        if self.core.dead_man_timers() != timers {
            return Err(format!("core {:?}, reference {timers:?}", self.core.dead_man_timers()));
        }
        for listed in &self.reference.instruments {
            let id = listed.instrument.id;
            if self.core.instrument(id) != (listed.instrument, listed.last_price) {
                return Err(format!("they disagree on {:?}", listed.instrument));
            }
            if self.core.calendar_of(id) != listed.calendar {
                return Err(format!("they disagree on the calendar of {id}"));
            }
            for side in [Side::Buy, Side::Sell] {
                let told = self.fold.queue(id, side);
                let held: Vec<_> =
                    core.queue(id, side).map(|o| (o.id, o.price, o.remaining)).collect();
                if told != held {
                    return Err(format!("events tell of {told:?}\ncore holds     {held:?}"));
                }
            }
        }
        Ok(())
    }

    /// Goes on from here with a second core, restored from a snapshot of the first.
    pub fn snapshot(&mut self) -> Result<(), String> {
        let bytes = self.core.snapshot();
        let restored = Subject::restore(&bytes)?;
        if restored.snapshot() != bytes {
            return Err("the snapshot of a restored core differs".to_owned());
        }
        if restored.state_hash() != self.core.state_hash() {
            return Err("a restored core has another state hash".to_owned());
        }
        restored.check()?;
        self.restored = Some(restored);
        self.coverage.saw("snapshot and restore");
        if self.reference.taking.is_some() {
            self.coverage.saw("snapshot with a taker at work");
        }
        if !self.reference.held.is_empty() {
            self.coverage.saw("snapshot with a withdrawal");
        }
        if self.reference.has_background_work() {
            self.coverage.saw("snapshot with background work");
        }
        if !self.reference.auctions.is_empty() {
            self.coverage.saw("snapshot while an auction trades");
        }
        if !self.reference.lists_to_read.is_empty() {
            self.coverage.saw("snapshot with lists to read");
        }
        if self.coverage.has_amended_exit(&self.reference) {
            self.coverage.saw("snapshot with an amended exit");
        }
        if !self.reference.triggering.is_empty() {
            self.coverage.saw("snapshot with triggered orders");
        }
        if !self.reference.walks.is_empty() {
            self.coverage.saw("snapshot with a walk");
        }
        if self.reference.timetables.iter().any(|timetable| !timetable.ahead().is_empty()) {
            self.coverage.saw("snapshot with a timetable");
        }
        if !self.reference.held_up.is_empty() {
            self.coverage.saw("snapshot with a mass cancel held up");
        }
        Ok(())
    }
}

/// Every other operator's command has an attribution.
fn attribution(seq: Seq, command: &Command) -> Option<Attribution> {
    let is_members = matches!(
        command.kind(),
        CommandKind::Tick
            | CommandKind::Place
            | CommandKind::Cancel
            | CommandKind::Amend
            | CommandKind::AmendTrigger
            | CommandKind::MassCancel
            | CommandKind::Disconnect
            | CommandKind::SetDeadMan
            | CommandKind::HoldWithdrawal
    );
    let reason = format!("command {seq}").parse().expect("it prints");
    let by = "operator".parse().expect("it prints");
    (!is_members && seq.0.is_multiple_of(2)).then_some(Attribution { by, reason })
}

/// What is restricted, in the order of targets.
fn restrictions(reference: &Reference) -> Vec<Restrict> {
    let mut all = reference.restrictions.clone();
    all.sort_by_key(|set| (set.target, set.by_member));
    all
}

/// The first event that differs, with its number.
fn difference(core: &[Event], reference: &[Event]) -> String {
    let at = core.iter().zip(reference).take_while(|(core, reference)| core == reference).count();
    format!(
        "of {} and {} events number {} differs:\ncore      {:?}\nreference {:?}",
        core.len(),
        reference.len(),
        at + 1,
        core.get(at),
        reference.get(at)
    )
}
