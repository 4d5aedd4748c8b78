//! Priorities of threads.

/// Lowers the priority of the calling thread by 0 to 19, where the system does that for one thread.
pub fn lower_priority(nice: u8) {
    // On Linux a priority is a thread's own, and no process is that of the caller. A system that
    // refuses leaves the thread as it was.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, i32::from(nice));
    #[cfg(not(target_os = "linux"))]
    let _ = nice;
}
