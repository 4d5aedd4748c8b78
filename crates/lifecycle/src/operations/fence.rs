//! Fences of which one side is nearly free, because the other sends an interrupt to all processors.

use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};

/// Whether the system does the work of the light side. Set before the first counter exists.
static IS_ASYMMETRIC: AtomicBool = AtomicBool::new(false);

/// Tells the system what is wanted of it. Light fences are dear unless this came before them.
pub(super) fn prepare() {
    #[cfg(target_os = "linux")]
    {
        use std::sync::OnceLock;
        static PREPARED: OnceLock<()> = OnceLock::new();
        PREPARED.get_or_init(|| {
            use rustix::thread::{MembarrierCommand, membarrier};
            let registered = membarrier(MembarrierCommand::RegisterPrivateExpedited);
            IS_ASYMMETRIC.store(registered.is_ok(), Ordering::Release);
        });
    }
}

/// Together with a [`heavy`] one this does what two sequentially consistent fences do. Two light
/// ones do nothing together.
#[inline]
pub(super) fn light() {
    if IS_ASYMMETRIC.load(Ordering::Relaxed) {
        // The processor may still be holding back what was stored. The heavy side sees to that, so
        // only the compiler has to keep the order.
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// Makes every thread of the process pass a fence, at some point between the call and the return.
/// It takes microseconds.
pub(super) fn heavy() {
    fence(Ordering::SeqCst);
    #[cfg(target_os = "linux")]
    if IS_ASYMMETRIC.load(Ordering::Relaxed) {
        use rustix::thread::{MembarrierCommand, membarrier};
        if membarrier(MembarrierCommand::PrivateExpedited).is_err() {
            // It was granted, so a filter of system calls must have come since. No processor holds
            // a store back for nearly as long as this.
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        fence(Ordering::SeqCst);
    }
}
