//! Time slices.
//!
//! Linux lets a running thread finish its slice, of some milliseconds, before one that wakes up takes
//! its place. Where threads hand an order on to each other, each of them waits for such a slice if
//! others compute. Since Linux 6.12 a thread can ask for slices of another length, and one with a
//! shorter slice runs at once when it wakes up. Its share of the processor stays the same.

/// The slice of a thread that [wakes promptly](wake_promptly), in nanoseconds. It is the shortest that
/// Linux takes.
pub const SLICE_NS: u64 = 100_000;

/// Asks for short slices of the calling thread, so that it runs soon after it wakes up although others
/// compute. Threads that it starts inherit them. Returns whether it has them.
pub fn wake_promptly() -> bool {
    linux::set_slice(SLICE_NS);
    time_slice_ns() == Some(SLICE_NS)
}

/// The slice of the calling thread in nanoseconds, if the system tells it.
#[must_use]
pub fn time_slice_ns() -> Option<u64> {
    linux::attributes().map(|attributes| attributes.sched_runtime).filter(|slice| *slice > 0)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::size_of;

    const OWN: libc::pid_t = 0;

    /// How the calling thread is scheduled.
    pub(super) fn attributes() -> Option<libc::sched_attr> {
        let mut attributes = EMPTY;
        let bytes = size_of::<libc::sched_attr>() as libc::c_uint;
        let (flags, target) = (0 as libc::c_uint, &raw mut attributes);
        // SAFETY: the kernel writes at most `bytes` bytes to the attributes, which are that long.
        let done = unsafe { libc::syscall(libc::SYS_sched_getattr, OWN, target, bytes, flags) };
        (done == 0).then_some(attributes)
    }

    /// Sets the slice, and nothing else. Other policies than the usual one know no slices.
    pub(super) fn set_slice(slice_ns: u64) {
        let Some(mut attributes) = attributes() else { return };
        if attributes.sched_policy != libc::SCHED_OTHER as u32 {
            return;
        }
        attributes.size = EMPTY.size;
        attributes.sched_runtime = slice_ns;
        let (flags, source) = (0 as libc::c_uint, &raw const attributes);
        // SAFETY: the kernel reads as many bytes as the attributes say that they have.
        unsafe { libc::syscall(libc::SYS_sched_setattr, OWN, source, flags) };
    }

    const EMPTY: libc::sched_attr = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
}

#[cfg(not(target_os = "linux"))]
mod linux {
    pub(super) struct Attributes {
        pub(super) sched_runtime: u64,
    }

    pub(super) fn attributes() -> Option<Attributes> {
        None
    }

    pub(super) fn set_slice(_: u64) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::lower_priority;

    #[test]
    fn a_thread_gets_short_slices_and_keeps_its_priority() {
        lower_priority(3);
        if !wake_promptly() {
            eprintln!("skipped: this kernel has slices of one length");
            return;
        }
        assert_eq!(time_slice_ns(), Some(SLICE_NS));
        assert_eq!(linux::attributes().map(|it| it.sched_nice), Some(3));
        let of_a_started_one = std::thread::spawn(time_slice_ns).join();
        assert_eq!(of_a_started_one.ok().flatten(), Some(SLICE_NS));
    }
}
