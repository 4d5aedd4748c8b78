//! Thread priorities.

/// Lowers the priority of the calling thread by 0 to 19, on systems that support it.
pub fn lower_priority(nice: u8) {
    // On Linux, priorities are per thread, and `None` is the calling one. If the system refuses,
    // the priority stays.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, i32::from(nice));
    #[cfg(not(target_os = "linux"))]
    let _ = nice;
}
