//! The machine that a program runs on.

use serde::Serialize;
use std::fs;
use std::path::Path;

/// The machine, and the file system under some data. A value that cannot be determined is
/// `unknown`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Model of the processor.
    pub cpu: String,
    /// Processors that this process may use at once.
    pub cores: usize,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Release of the operating system's kernel.
    pub kernel: String,
    /// File system of the data directory: type, source and options of its mount.
    pub file_system: String,
}

const UNKNOWN: &str = "unknown";

impl Host {
    /// Looks at the machine and at the file system under `data_dir`.
    #[must_use]
    pub fn of(data_dir: &Path) -> Host {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let known = |found: Option<String>| found.unwrap_or_else(|| UNKNOWN.to_string());
        let kernel = read("/proc/sys/kernel/osrelease").trim().to_string();
        let directory = existing(data_dir);
        Host {
            cpu: known(field(&read("/proc/cpuinfo"), "model name")),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_mib: memory_mib(&read("/proc/meminfo")).unwrap_or(0),
            kernel: if kernel.is_empty() { UNKNOWN.to_string() } else { kernel },
            file_system: known(mount_of(&read("/proc/self/mountinfo"), &directory)),
        }
    }
}

/// The directory itself, or the nearest above it that exists: data may not be there yet.
fn existing(directory: &Path) -> String {
    let absolute = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
    let found = absolute.ancestors().find_map(|ancestor| ancestor.canonicalize().ok());
    found.unwrap_or(absolute).to_string_lossy().into_owned()
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_string())
}

fn memory_mib(meminfo: &str) -> Option<u64> {
    let total = field(meminfo, "MemTotal")?;
    let kib: u64 = total.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}

/// Type, source and options of the mount that a path is on: the deepest mount point above it, and
/// of several there the last.
fn mount_of(mountinfo: &str, path: &str) -> Option<String> {
    let mounts = mountinfo.lines().filter_map(|line| {
        // "36 35 98:0 /root /mount/point options tags... - type source super-options"
        let (left, right) = line.split_once(" - ")?;
        let left: Vec<&str> = left.split(' ').collect();
        let right: Vec<&str> = right.split(' ').collect();
        Some((*left.get(4)?, *left.get(5)?, *right.first()?, *right.get(1)?))
    });
    let (_, options, kind, source) = mounts
        .filter(|(point, ..)| Path::new(path).starts_with(point))
        .max_by_key(|(point, ..)| point.len())?;
    Some(format!("{kind} on {source} ({options})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
21 1 254:0 / / rw,relatime - ext4 /dev/vda rw
22 21 0:19 / /data rw,noatime - xfs /dev/vdb rw
23 21 0:20 / /data/tmp rw - tmpfs tmpfs rw,size=1k
24 21 0:21 / /database rw - btrfs /dev/vdc rw
";

    #[test]
    fn the_deepest_mount_above_a_path_is_its_file_system() {
        let of = |path| mount_of(MOUNTS, path);
        assert_eq!(of("/data/venue").as_deref(), Some("xfs on /dev/vdb (rw,noatime)"));
        assert_eq!(of("/data/tmp/x").as_deref(), Some("tmpfs on tmpfs (rw)"));
        assert_eq!(of("/home").as_deref(), Some("ext4 on /dev/vda (rw,relatime)"));
    }

    #[test]
    fn a_missing_directory_is_on_the_disk_of_its_parent() {
        let parent = existing(Path::new("."));
        assert_eq!(existing(Path::new("./not/there/yet")), parent);
    }

    #[test]
    fn memory_is_read_from_kibibytes() {
        assert_eq!(memory_mib("MemTotal:       24576000 kB\nMemFree: 1 kB\n"), Some(24_000));
    }
}
