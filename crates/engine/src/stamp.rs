//! The time that commands are stamped with: the monotonic clock, from its last agreement with the
//! wall clock.

use rialto_clock::{Clock, Timestamp};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// While stamped time is ahead of the wall clock it follows, it runs slower by one part in this many:
/// it never goes back, and timers stay within a tenth of what they say.
const SLEW_PARTS: u32 = 10;

/// What an engine makes of the machine's clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReport {
    /// The time that a command would be stamped with now.
    pub time: Timestamp,
    /// By how many nanoseconds the wall clock is ahead of that time, if it stepped by more than
    /// [`EngineConfig::clock_step_max`](crate::EngineConfig::clock_step_max) and is not followed.
    pub unfollowed_ns: Option<i64>,
    /// Steps that were not followed since the start.
    pub steps: u64,
}

/// One reading of both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// What to stamp with. It never goes back.
    pub(crate) time: Timestamp,
    /// What has passed by the monotonic clock since the engine was started, for timers.
    pub(crate) passed: Duration,
}

/// Reads the clocks of an engine. All its threads share it.
pub(crate) struct StampClock {
    source: Arc<dyn Clock>,
    begin: Instant,
    step_max: Duration,
    state: Mutex<State>,
}

struct State {
    /// When both clocks agreed last: the wall clock is followed if it shows what has passed since.
    agreed: Reading,
    /// The last reading given out.
    last: Reading,
    /// How far ahead the wall clock is, if it is not followed.
    unfollowed_ns: Option<i64>,
    steps: u64,
}

impl StampClock {
    /// Begins where the wall clock stands, and not before `journaled`, the last time in the journal. A
    /// wall clock that is behind it by more than `step_max` is one that stepped back.
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

    /// What is kept is whole after every assignment.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The monotonic clock's part of a reading alone.
    pub(crate) fn passed(&self) -> Duration {
        self.source.monotonic().saturating_duration_since(self.begin)
    }

    pub(crate) fn read(&self) -> Reading {
        self.read_in(&mut self.state())
    }

    /// The clocks are read under the lock, so that one thread's reading is never older than another's
    /// before it.
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

    /// Follows the wall clock from now on, wherever it stands.
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
