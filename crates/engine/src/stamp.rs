//! The time of commands: the monotonic clock, from its last agreement with the wall clock.

use rialto_clock::{Clock, Timestamp};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// While stamped time is ahead of the followed wall clock, it runs slower by one part in this many.
/// So it never goes back, and timers are accurate to a tenth.
const SLEW_PARTS: u32 = 10;

/// The state of an engine's clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReport {
    /// The time that a command would get now.
    pub time: Timestamp,
    /// The wall clock's lead over that time in nanoseconds, if it stepped by more than
    /// [`EngineConfig::clock_step_max`](crate::EngineConfig::clock_step_max) and is not followed.
    pub unfollowed_ns: Option<i64>,
    /// The number of steps that were not followed since the start.
    pub steps: u64,
}

/// One reading of both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// The time for stamps. It never goes back.
    pub(crate) time: Timestamp,
    /// The monotonic time since the engine's start, for timers.
    pub(crate) passed: Duration,
}

/// The clock of an engine, shared by all its threads.
pub(crate) struct StampClock {
    source: Arc<dyn Clock>,
    begin: Instant,
    step_max: Duration,
    state: Mutex<State>,
}

struct State {
    /// The last agreement of both clocks: the wall clock is followed if it shows the same elapsed
    /// time since.
    agreed: Reading,
    /// The last reading.
    last: Reading,
    /// The wall clock's lead, if it is not followed.
    unfollowed_ns: Option<i64>,
    steps: u64,
}

impl StampClock {
    /// Begins at the wall clock, and not before `journaled`, the last time in the journal. A wall
    /// clock that is behind it by more than `step_max` counts as one that stepped back.
    pub(crate) fn new(source: Arc<dyn Clock>, step_max: Duration, journaled: Timestamp) -> Self {
        let (begin, passed, wall) = (source.monotonic(), Duration::ZERO, source.now());
        let behind = Duration::from_nanos(journaled.0.saturating_sub(wall.0));
        let agreed = if behind > step_max { journaled } else { wall };
        let state = State {
            agreed: Reading { time: agreed, passed },
            last: Reading { time: journaled.max(wall), passed },
            unfollowed_ns: None,
            steps: 0,
        };
        Self { source, begin, step_max, state: Mutex::new(state) }
    }

    /// The state is consistent after every assignment.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Only the monotonic part of a reading.
    pub(crate) fn passed(&self) -> Duration {
        self.source.monotonic().saturating_duration_since(self.begin)
    }

    pub(crate) fn read(&self) -> Reading {
        self.read_in(&mut self.state())
    }

    /// The clocks are read under the lock, so that readings of all threads are in order.
    fn read_in(&self, state: &mut State) -> Reading {
        let (passed, wall) = (self.passed(), self.source.now());
        let running = state.agreed.time.after(passed.saturating_sub(state.agreed.passed));
        let target = if wall.0.abs_diff(running.0) <= nanos(self.step_max) {
            if state.unfollowed_ns.take().is_some() {
                tracing::info!("the wall clock agrees with the venue's time again: it is followed");
            }
            state.agreed = Reading { time: wall, passed };
            wall
        } else {
            let ahead = i128::from(wall.0) - i128::from(running.0);
            let ahead = i64::try_from(ahead).unwrap_or(if ahead < 0 { i64::MIN } else { i64::MAX });
            if state.unfollowed_ns.replace(ahead).is_none() {
                state.steps += 1;
                tracing::error!(
                    "the wall clock stepped: it is {:.3} s {} the venue's time, more than \
                     engine.clock_step_max_ms, and is not followed. The venue goes on by the \
                     monotonic clock. Set the wall clock right, or if it is right: rialto admin \
                     clock accept",
                    ahead.unsigned_abs() as f64 / 1e9,
                    if ahead < 0 { "behind" } else { "ahead of" },
                );
            }
            running
        };
        let since = passed.saturating_sub(state.last.passed);
        let slowed = state.last.time.after(since - since / SLEW_PARTS);
        let time = if target < state.last.time { slowed } else { target };
        state.last = Reading { time, passed };
        state.last
    }

    /// Follows the wall clock from now on.
    pub(crate) fn accept(&self) -> ClockReport {
        let mut state = self.state();
        let before = self.read_in(&mut state).time;
        if let Some(ahead) = state.unfollowed_ns.take() {
            let agreed = Reading { time: self.source.now(), passed: self.passed() };
            state.agreed = agreed;
            tracing::warn!(
                "an operator accepted the wall clock, {:.3} s {} the venue's time {before}",
                ahead.unsigned_abs() as f64 / 1e9,
                if ahead < 0 { "behind" } else { "ahead of" },
            );
        }
        self.report_in(&mut state)
    }

    pub(crate) fn report(&self) -> ClockReport {
        self.report_in(&mut self.state())
    }

    fn report_in(&self, state: &mut State) -> ClockReport {
        let time = self.read_in(state).time;
        ClockReport { time, unfollowed_ns: state.unfollowed_ns, steps: state.steps }
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
