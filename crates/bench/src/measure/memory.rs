//! Memory of this process.

use std::fs;

/// Measures how much more memory of this process is resident at the peak than at the beginning.
/// Memory that was freed before and kept by the allocator is not seen when it is used again.
pub(crate) struct PeakMemory {
    before_bytes: f64,
}

impl PeakMemory {
    /// Begins; `None` where the system does not say.
    pub(crate) fn start() -> Option<PeakMemory> {
        // Begins the peak anew.
        fs::write("/proc/self/clear_refs", "5").ok()?;
        Some(PeakMemory { before_bytes: status_bytes("VmRSS:")? })
    }

    /// The growth at the peak so far, in bytes.
    pub(crate) fn growth_bytes(&self) -> Option<f64> {
        status_bytes("VmHWM:").map(|peak| (peak - self.before_bytes).max(0.0))
    }
}

/// The resident memory of this process, in bytes; `None` where the system does not say.
pub(crate) fn resident_bytes() -> Option<f64> {
    status_bytes("VmRSS:")
}

/// A line of the status of this process, in bytes.
fn status_bytes(field: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_freed_again_is_in_the_peak() {
        const BYTES: usize = 64 << 20;
        let Some(memory) = PeakMemory::start() else { return };
        drop(std::hint::black_box(vec![1_u8; BYTES]));
        let growth = memory.growth_bytes().expect("the system said so before");
        assert!(growth >= BYTES as f64 * 0.9, "{growth}");
    }
}
