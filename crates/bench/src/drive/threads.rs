//! Work on threads, whose panics go on where they are waited for.

use std::thread::ScopedJoinHandle;

/// What a thread came to.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Does one thing on a thread of its own, and the other meanwhile on this one.
pub(crate) fn both<A: Send, B>(
    other: impl FnOnce() -> A + Send,
    own: impl FnOnce() -> B,
) -> (A, B) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(other);
        let own = own();
        (joined(thread), own)
    })
}
