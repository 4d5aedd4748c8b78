//! A tick continues a suspended taker, does what is due, and then background work.

use crate::limits::{CALENDARS_MAX, ORDERS_PER_COMMAND};
use crate::timetable::{HALT_ITEM, change_item};
use crate::{Core, EventSink};
use rialto_model::{DoneReason, Event, InstrumentState, Outcome};

impl Core {
    pub(crate) fn tick<S: EventSink>(&mut self, sink: &mut S) -> Outcome {
        if !self.rules_since(2) {
            return self.tick_of_version_1(sink);
        }
        let mut budget = ORDERS_PER_COMMAND;
        let taker = self.urgent.take();
        let mut noticed = taker.is_some();
        // Before rules version 5 what is due waited for another tick, behind background work.
        let is_free = taker.is_none() || self.rules_since(5);
        match taker {
            Some(taker) if taker.expire_at <= self.time => {
                self.end_taker(&taker, DoneReason::Expired, taker.remaining(), sink);
            }
            Some(taker) => {
                self.send_to_match(taker, &mut budget, sink);
            }
            None => {}
        }
        if is_free && self.urgent.is_none() {
            noticed |= self.make_due(&mut budget, sink);
        }
        noticed |= self.work_in_turns(&mut budget, sink);
        self.settle_due();
        if !noticed {
            sink.event(&Event::Ticked);
        }
        Outcome::Done
    }

    /// The time of an instrument's call, halt or limit state is over.
    fn end_timed_state<S: EventSink>(&mut self, at: u16, sink: &mut S) {
        match self.markets[usize::from(at)].state() {
            InstrumentState::Halted => self.end_halt(at, sink),
            InstrumentState::Open => self.end_limit_state(at, sink),
            _ => self.end_call(at, sink),
        }
    }

    /// Fires dead-man timers, ends calls, halts and limit states, and makes transitions that are due, the earliest first.
    /// Returns whether there were events.
    fn make_due<S: EventSink>(&mut self, budget: &mut u32, sink: &mut S) -> bool {
        let mut noticed = false;
        while *budget > 0 {
            let change = self.phase_changes.first().filter(|(due, _)| *due <= self.time);
            let timer = self.dead_men.first().filter(|(due, _)| *due <= self.time);
            noticed |= match (timer, change) {
                (Some((due, account)), change) if change.is_none_or(|change| due <= change.0) => {
                    self.dead_men.remove(account);
                    *budget -= 1;
                    self.sweep_for_dead_man(account, sink);
                    true
                }
                (_, Some((_, item))) if item < CALENDARS_MAX as u32 => {
                    self.make_transition(item as usize, budget, sink)
                }
                (_, Some((_, HALT_ITEM))) => self.go_on_halting(budget, sink),
                (_, Some((_, item))) => {
                    *budget -= 1;
                    self.end_timed_state((item - change_item(0)) as u16, sink);
                    true
                }
                (_, None) => break,
            };
        }
        noticed
    }
}
