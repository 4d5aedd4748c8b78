//! Waiting on a thread for a future.

use std::cell::Cell;
use std::pin::pin;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long a thread spins before it sleeps. Sleeping and waking take tens of microseconds, and
/// longer on a shared host.
const LOOK_OUT: Duration = Duration::from_micros(30);

/// The most waits in a row without spinning after spins were in vain.
const SKIPPED_MAX: u32 = 256;

const AWAKE: u8 = 0;
const ASLEEP: u8 = 1;
const WOKEN: u8 = 2;

/// The number of threads that spin.
static LOOKING: AtomicUsize = AtomicUsize::new(0);

/// A waiting thread, as its wakers see it.
struct ParkedThread {
    thread: Thread,
    state: AtomicU8,
}

impl Wake for ParkedThread {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(WOKEN, Ordering::AcqRel) == ASLEEP {
            self.thread.unpark();
        }
    }
}

impl ParkedThread {
    fn is_woken(&self) -> bool {
        self.state.load(Ordering::Acquire) == WOKEN
    }

    /// Sleeps until it is woken. False if `deadline` came first.
    fn sleep(&self, deadline: Option<Instant>) -> bool {
        let asleep =
            self.state.compare_exchange(AWAKE, ASLEEP, Ordering::AcqRel, Ordering::Acquire);
        if asleep.is_err() {
            return true;
        }
        while !self.is_woken() {
            match deadline {
                None => thread::park(),
                Some(at) => match at.checked_duration_since(Instant::now()) {
                    None | Some(Duration::ZERO) => return false,
                    Some(left) => thread::park_timeout(left),
                },
            }
        }
        true
    }
}

/// A thread's record of whether spinning pays.
#[derive(Clone, Copy, Default)]
struct SpinBudget {
    /// The number of waits without spinning before the next try.
    skip: u32,
    /// The value of `skip` after the next spin in vain.
    skip_next: u32,
}

impl SpinBudget {
    /// Spins for a short time, if that was useful lately and less than half of the processors spin.
    fn look_out(&mut self, sleeper: &ParkedThread) -> bool {
        static PROCESSORS: OnceLock<usize> = OnceLock::new();
        let processors = *PROCESSORS
            .get_or_init(|| thread::available_parallelism().map_or(1, std::num::NonZero::get));
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        let woken = LOOKING.fetch_add(1, Ordering::Relaxed) < processors / 2 && {
            let end = Instant::now() + LOOK_OUT;
            loop {
                if sleeper.is_woken() {
                    break true;
                }
                if Instant::now() >= end {
                    break false;
                }
                (0..8).for_each(|_| std::hint::spin_loop());
            }
        };
        LOOKING.fetch_sub(1, Ordering::Relaxed);
        self.skip_next = if woken { 0 } else { (self.skip_next * 2).clamp(1, SKIPPED_MAX) };
        self.skip = self.skip_next;
        woken
    }
}

thread_local! {
    /// Taken while it is in use: a future may wait for another on the same thread.
    static SLEEPER: Cell<Option<Arc<ParkedThread>>> = const { Cell::new(None) };
    static PATIENCE: Cell<SpinBudget> = const { Cell::new(SpinBudget { skip: 0, skip_next: 0 }) };
}

/// Waits on this thread for a future, at most until `deadline`.
pub(crate) fn block_on<T>(future: impl Future<Output = T>, deadline: Option<Instant>) -> Option<T> {
    let sleeper = SLEEPER.take().unwrap_or_else(|| {
        Arc::new(ParkedThread { thread: thread::current(), state: AtomicU8::new(AWAKE) })
    });
    let value = block(&sleeper, future, deadline);
    SLEEPER.set(Some(sleeper));
    value
}

fn block<T>(
    sleeper: &Arc<ParkedThread>,
    future: impl Future<Output = T>,
    deadline: Option<Instant>,
) -> Option<T> {
    let mut future = pin!(future);
    let waker = Waker::from(sleeper.clone());
    let mut context = Context::from_waker(&waker);
    loop {
        // A wake-up from here on is noticed after the future was polled.
        sleeper.state.swap(AWAKE, Ordering::AcqRel);
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
        let mut patience = PATIENCE.get();
        let is_woken = patience.look_out(sleeper);
        PATIENCE.set(patience);
        if !is_woken && !sleeper.sleep(deadline) {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waiting::Waiters;
    use std::sync::atomic::AtomicU64;

    /// A number that one thread raises and another waits for.
    #[derive(Default)]
    struct Mark(AtomicU64, Waiters);

    impl Mark {
        fn raise(&self, to: u64) {
            self.0.store(to, Ordering::Release);
            self.1.wake_through(to);
        }

        async fn reached(&self, number: u64) {
            std::future::poll_fn(|context| {
                if self.0.load(Ordering::Acquire) >= number {
                    return Poll::Ready(());
                }
                self.1.register(number, context.waker());
                match self.0.load(Ordering::Acquire) >= number {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            })
            .await;
        }
    }

    #[test]
    fn two_threads_that_wait_for_each_other_never_miss_each_other() {
        let (here, there) = (Mark::default(), Mark::default());
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..=20_000 {
                    block_on(here.reached(number), None);
                    there.raise(number);
                }
            });
            for number in 1..=20_000 {
                here.raise(number);
                block_on(there.reached(number), None);
            }
        });
        assert_eq!(there.0.load(Ordering::Relaxed), 20_000);
    }

    #[test]
    fn a_wait_ends_at_its_deadline() {
        let deadline = Instant::now() + Duration::from_millis(2);
        assert_eq!(block_on(Mark::default().reached(1), Some(deadline)), None);
        assert!(Instant::now() >= deadline);
    }

    #[test]
    fn a_future_that_waits_for_another_on_its_thread_is_not_forgotten() {
        let (outer, inner) = (Mark::default(), Mark::default());
        let mut is_first = true;
        let future = std::future::poll_fn(|context| {
            if !std::mem::take(&mut is_first) {
                return Poll::Ready(());
            }
            // It is woken while it waits for something else.
            outer.1.register(1, context.waker());
            outer.raise(1);
            inner.raise(1);
            block_on(inner.reached(1), None);
            Poll::Pending
        });
        assert_eq!(block_on(future, Some(Instant::now() + Duration::from_secs(20))), Some(()));
    }
}
