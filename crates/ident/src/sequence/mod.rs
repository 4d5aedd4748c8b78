//! Tickets: time and sequence in one word, counted up.
//!
//! A ticket is the time since the epoch above the sequence. All tickets of a generator come from one
//! word that only ever grows, so they are distinct and ascend whatever the clock does; adding past
//! the end of a millisecond's sequence carries into the next millisecond by itself. What is left to
//! decide is whether the word may be where it is: at the clock, or ahead of it.
//!
//! While it is at the clock, a ticket is one `fetch_add`, which under contention always succeeds
//! where a compare-and-exchange would go round again. It cannot be taken back, so a *gate* beside
//! the word says for which millisecond that may be done. Everything else (a new millisecond, a full
//! one, a clock that stepped back, a batch) goes the slow way, which looks before it takes. Nothing
//! but the number of tickets that are thrown away depends on the gate being right.

mod word;

#[cfg(test)]
mod model;

pub(crate) use word::Word;

use crate::clock::BlockingTimer;
use crate::error::IdError;
use crate::layout::{Layout, Part};
use crate::policy::{Cause, Policy, Verdict};
use std::sync::atomic::{AtomicU64, Ordering};

/// No millisecond of any layout, and none that is before an epoch of this era either.
const CLOSED: u64 = 1 << 63;

/// On a cache line of its own: on x86 lines are fetched in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Padded<W>(W);

#[derive(Debug)]
pub(crate) struct Sequence<W = AtomicU64> {
    /// The next ticket. It never goes down.
    next: Padded<W>,
    /// The millisecond, since the epoch, whose tickets may be taken by `fetch_add`.
    gate: Padded<W>,
    /// The latest millisecond that the clock has been seen at. A clock that says less than it said
    /// to somebody before has stepped back.
    seen: W,
    sequence_bits: u32,
    epoch_ms: u64,
    time_max: u64,
    policy: Policy,
}

impl<W: Word> Sequence<W> {
    /// A sequence whose tickets are `from` or greater.
    pub(crate) fn new(layout: &Layout, policy: Policy, from: u64) -> Sequence<W> {
        Sequence {
            next: Padded(W::new(from)),
            gate: Padded(W::new(CLOSED)),
            // A clock that has not come to where the generator before was has stepped back, too.
            seen: W::new(from >> layout.sequence_bits()),
            sequence_bits: layout.sequence_bits(),
            epoch_ms: layout.epoch().unix_ms(),
            time_max: layout.max(Part::Time),
            policy,
        }
    }

    #[inline]
    pub(crate) fn take(&self, clock: &impl BlockingTimer) -> Result<u64, IdError> {
        let unit = clock.now_ms().wrapping_sub(self.epoch_ms);
        // Whoever opened the gate had raised the word to this millisecond before, and that is seen
        // with the gate.
        if self.gate.0.load(Ordering::Acquire) == unit {
            let ticket = self.next.0.fetch_add(1, Ordering::Relaxed);
            if self.unit_of(ticket) == unit {
                return Ok(ticket);
            }
            return self.settle(ticket, clock);
        }
        self.take_many(1, clock)
    }

    /// Takes `count` tickets in a row, at least one, and returns the first.
    #[inline(never)]
    pub(crate) fn take_many(&self, count: u32, clock: &impl BlockingTimer) -> Result<u64, IdError> {
        let count = u64::from(count);
        loop {
            let (unit, cause) = self.look(clock)?;
            let next = self.next.0.load(Ordering::Relaxed);
            let first = next.max(unit << self.sequence_bits);
            let last = first + (count - 1);
            self.check(last)?;
            let ahead = self.unit_of(last).saturating_sub(unit);
            let verdict = match ahead {
                0 => Verdict::Take,
                _ => self.policy.judge(cause, ahead),
            };
            if verdict == Verdict::Refuse {
                return Err(refused(cause, ahead));
            }
            let taken = self.next.0.compare_exchange(next, last + 1, Ordering::Relaxed);
            if taken.is_err() {
                continue;
            }
            if ahead == 0 {
                self.gate.0.store(unit, Ordering::Release);
            }
            return self.carry_out(verdict, cause, first, last, clock);
        }
    }

    /// Decides about a ticket that was taken through the gate and is behind it.
    #[cold]
    fn settle(&self, ticket: u64, clock: &impl BlockingTimer) -> Result<u64, IdError> {
        self.gate.0.store(CLOSED, Ordering::Relaxed);
        self.check(ticket)?;
        let (unit, cause) = self.look(clock)?;
        let ahead = self.unit_of(ticket).saturating_sub(unit);
        let verdict = match ahead {
            0 => Verdict::Take,
            _ => self.policy.judge(cause, ahead),
        };
        self.carry_out(verdict, cause, ticket, ticket, clock)
    }

    /// Hands out tickets that are taken already, when the policy lets them go.
    fn carry_out(
        &self,
        verdict: Verdict,
        cause: Cause,
        first: u64,
        last: u64,
        clock: &impl BlockingTimer,
    ) -> Result<u64, IdError> {
        let is_let_go = match verdict {
            Verdict::Take => true,
            Verdict::Refuse => false,
            Verdict::Wait { at_most, then_take } => {
                clock.wait_until(self.epoch_ms + self.unit_of(last), at_most) || then_take
            }
        };
        if is_let_go {
            return Ok(first);
        }
        let (unit, _) = self.look(clock)?;
        Err(refused(cause, self.unit_of(last).saturating_sub(unit)))
    }

    /// The clock's time since the epoch, and why a ticket would be ahead of it if it were.
    fn look(&self, clock: &impl BlockingTimer) -> Result<(u64, Cause), IdError> {
        // Read before the clock: another thread's later reading must not make ours look like a step
        // back.
        let seen = self.seen.load(Ordering::Acquire);
        let now_ms = clock.now_ms();
        let unit = now_ms
            .checked_sub(self.epoch_ms)
            .ok_or(IdError::BeforeEpoch { now_ms, epoch_ms: self.epoch_ms })?;
        if unit > self.time_max {
            return Err(self.after_last_time());
        }
        if unit > seen {
            self.seen.fetch_max(unit, Ordering::Release);
        }
        Ok((unit, if unit < seen { Cause::SteppedBack } else { Cause::Exhausted }))
    }

    fn check(&self, last: u64) -> Result<(), IdError> {
        if self.unit_of(last) > self.time_max { Err(self.after_last_time()) } else { Ok(()) }
    }

    fn after_last_time(&self) -> IdError {
        IdError::AfterLastTime { last_ms: self.epoch_ms.saturating_add(self.time_max) }
    }

    /// The millisecond, since the epoch, that the next ticket is in if the clock stands still.
    pub(crate) fn next_unit(&self) -> u64 {
        self.unit_of(self.next.0.load(Ordering::Relaxed))
    }

    #[inline]
    fn unit_of(&self, ticket: u64) -> u64 {
        ticket >> self.sequence_bits
    }
}

fn refused(cause: Cause, ahead_ms: u64) -> IdError {
    match cause {
        Cause::Exhausted => IdError::Exhausted { ahead_ms },
        Cause::SteppedBack => IdError::SteppedBack { ahead_ms },
    }
}
