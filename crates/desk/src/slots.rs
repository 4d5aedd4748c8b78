//! Slots: each one connects a reply with the task that waits for it, in either order of arrival.

use rialto_engine::Reply;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A fixed number of slots. A request allocates nothing.
pub(crate) struct Slots {
    slots: Box<[Mutex<Slot>]>,
    free: Mutex<Vec<u32>>,
}

#[derive(Debug, Default)]
enum Slot {
    /// Free, or its task has not polled yet.
    #[default]
    Quiet,
    Waiting(Waker),
    Arrived(Reply),
    /// Its task has gone; the reply frees the slot.
    Abandoned,
}

impl Slots {
    pub(crate) fn new(count: usize) -> Slots {
        // A producer's capacity is far below 32 bits, so that nothing is truncated.
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Slots {
            slots: (0..count).map(|_| Mutex::default()).collect(),
            free: Mutex::new((0..count).rev().collect()),
        }
    }

    pub(crate) fn take(&self) -> Option<u32> {
        lock(&self.free).pop()
    }

    pub(crate) fn give_back(&self, slot: u32) {
        lock(&self.free).push(slot);
    }

    fn slot(&self, slot: u32) -> MutexGuard<'_, Slot> {
        lock(&self.slots[slot as usize])
    }

    /// Passes a reply to the task that waits for it.
    pub(crate) fn deliver(&self, reply: Reply) {
        let number = reply.token as u32;
        let before = std::mem::replace(&mut *self.slot(number), Slot::Arrived(reply));
        match before {
            Slot::Waiting(waker) => waker.wake(),
            Slot::Quiet => {}
            Slot::Arrived(_) => debug_assert!(false, "a second reply to one command"),
            Slot::Abandoned => {
                *self.slot(number) = Slot::Quiet;
                self.give_back(number);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while it holds one of these locks, so that the state is consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the reply to one command.
pub(crate) struct Ticket {
    slots: Arc<Slots>,
    /// `None` once the reply is taken and the slot is free.
    slot: Option<u32>,
}

impl Ticket {
    pub(crate) fn new(slots: Arc<Slots>, slot: u32) -> Ticket {
        Ticket { slots, slot: Some(slot) }
    }
}

impl Future for Ticket {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Reply> {
        let Some(number) = self.slot else { return Poll::Pending };
        let slots = Arc::clone(&self.slots);
        let mut slot = slots.slot(number);
        match std::mem::take(&mut *slot) {
            Slot::Arrived(reply) => {
                drop(slot);
                slots.give_back(number);
                self.slot = None;
                Poll::Ready(reply)
            }
            Slot::Waiting(waker) if waker.will_wake(context.waker()) => {
                *slot = Slot::Waiting(waker);
                Poll::Pending
            }
            _ => {
                *slot = Slot::Waiting(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let Some(number) = self.slot else { return };
        let slots = &self.slots;
        let mut slot = slots.slot(number);
        match *slot {
            Slot::Arrived(_) => {
                *slot = Slot::Quiet;
                drop(slot);
                slots.give_back(number);
            }
            _ => *slot = Slot::Abandoned,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_engine::{Answer, Execution};
    use rialto_model::{Outcome, Seq, Timestamp};
    use std::task::Wake;

    #[derive(Default)]
    struct Counted(std::sync::atomic::AtomicUsize);

    impl Wake for Counted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
    }

    fn reply(slot: u32) -> Reply {
        let (seq, time, execution) = (Seq(7), Timestamp(8), Execution::default());
        let answer = Answer { seq, time, outcome: Outcome::Done, execution };
        Reply { token: u64::from(slot), answer: Ok(answer) }
    }

    fn ticket(slots: &Arc<Slots>) -> Ticket {
        Ticket::new(Arc::clone(slots), slots.take().unwrap())
    }

    fn free(slots: &Slots) -> usize {
        slots.free.lock().unwrap().len()
    }

    #[test]
    fn a_reply_reaches_its_waiter_before_and_after_the_first_poll() {
        let slots = Arc::new(Slots::new(2));
        let counted = Arc::new(Counted::default());
        let waker = Waker::from(Arc::clone(&counted));
        let mut context = Context::from_waker(&waker);

        let mut early = ticket(&slots);
        let number = early.slot.unwrap();
        slots.deliver(reply(number));
        assert!(Pin::new(&mut early).poll(&mut context).is_ready());

        let mut late = ticket(&slots);
        let number = late.slot.unwrap();
        assert!(Pin::new(&mut late).poll(&mut context).is_pending());
        slots.deliver(reply(number));
        assert_eq!(counted.0.load(std::sync::atomic::Ordering::SeqCst), 1);
        assert_eq!(Pin::new(&mut late).poll(&mut context), Poll::Ready(reply(number)));
        drop((early, late));
        assert_eq!(free(&slots), 2);
    }

    #[test]
    fn an_abandoned_slot_is_free_only_after_its_reply() {
        let slots = Arc::new(Slots::new(1));
        let gone = ticket(&slots);
        let number = gone.slot.unwrap();
        drop(gone);
        assert_eq!(free(&slots), 0, "its reply could reach the next user");
        slots.deliver(reply(number));
        assert_eq!(free(&slots), 1);

        let gone = ticket(&slots);
        slots.deliver(reply(number));
        drop(gone);
        assert_eq!(free(&slots), 1);
    }

    #[test]
    fn without_a_free_slot_nothing_is_taken() {
        let slots = Slots::new(1);
        assert_eq!(slots.take(), Some(0));
        assert_eq!(slots.take(), None);
    }
}
