//! Priorities.

/// Sets the nice value of the calling thread, 1 to 19; 0 leaves it. Threads that it starts inherit it.
pub fn lower_priority(nice: u8) {
    // On Linux, priorities are per thread, and `None` is the calling one. If the system refuses,
    // the priority stays.
    #[cfg(target_os = "linux")]
    if nice > 0 {
        let _ = rustix::process::setpriority_process(None, i32::from(nice));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = nice;
}
