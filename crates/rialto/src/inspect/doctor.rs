//! `rialto doctor`: measures the machine and gives advice.

use super::output;
use super::sync_rate::{self, SyncRate};
use crate::Error;
use rialto_disk::{Disk, IoMode, RealDisk};
use rialto_engine::Level;
use rialto_workload::Host;
use rustix::process::{Resource, getrlimit};
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The free space below which the journal will soon have none.
const FREE_BYTES_LOW: u64 = 2 << 30;
/// The volume that the depot of a venue makes, in the data directory.
const VOLUME_DIR: &str = "depot/volume";
/// The least descriptors that a venue needs for connections and segments.
const OPEN_FILES_LOW: u64 = 4_096;

/// Measures disk, clock and limits of the machine, and judges them for a durability level.
///
/// Takes a few seconds. Writes a file of 16 MiB in the directory and removes it.
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// The data directory; if it does not exist, its nearest existing parent is measured.
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// A directory of the depot's bytes, which may be on a disk of its own; may be given several times.
    /// That of DIR, depot/volume, is known.
    #[arg(long = "volume", value_name = "DIR")]
    volumes: Vec<PathBuf>,
    /// The durability level to judge by: memory, buffered or synced.
    #[arg(long, default_value_t = Level::Synced)]
    level: Level,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// The findings.
struct Findings {
    dir: PathBuf,
    machine: Host,
    free_bytes: u64,
    sync: SyncRate,
    clock_source: String,
    clock_step_ns: u64,
    open_files: Option<u64>,
    locked_bytes: Option<u64>,
    /// The volumes of the depot on the file system of the journal.
    shared_volumes: Vec<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// The directory cannot be written.
pub fn run(args: &DoctorArgs) -> Result<(), Error> {
    let findings = examine(&args.dir, &args.volumes)?;
    let advice = findings.advice(args.level);
    if args.json {
        output::print_json(&findings.json(args.level, &advice));
        return Ok(());
    }
    output::print_pairs(&findings.pairs());
    output::print("\n");
    advice.iter().for_each(|sentence| output::print(&format!("- {sentence}\n")));
    Ok(())
}

fn examine(wanted: &Path, volumes: &[PathBuf]) -> Result<Findings, Error> {
    let absolute = std::path::absolute(wanted).map_err(Error::file("find", wanted))?;
    let dir = absolute.ancestors().find(|ancestor| ancestor.is_dir());
    let dir = dir.map_or_else(|| PathBuf::from("/"), Path::to_owned);
    let free_bytes =
        RealDisk::new().free_bytes(&dir).map_err(|error| Error::Failed(error.to_string()))?;
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let clock_source = std::fs::read_to_string(source).unwrap_or_default().trim().to_owned();
    Ok(Findings {
        machine: Host::of(&dir),
        free_bytes,
        sync: sync_rate::measure(&dir)?,
        clock_source: if clock_source.is_empty() { "unknown".into() } else { clock_source },
        clock_step_ns: clock_step_ns(),
        open_files: getrlimit(Resource::Nofile).current,
        locked_bytes: getrlimit(Resource::Memlock).current,
        shared_volumes: on_file_system_of(&dir, volumes)?,
        dir,
    })
}

/// The volumes that share a file system with the data directory: the depot's own there, if there is one,
/// and those of the operator.
fn on_file_system_of(dir: &Path, volumes: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let device =
        |path: &Path| std::fs::metadata(path).map(|it| it.dev()).map_err(Error::file("find", path));
    let own = dir.join(VOLUME_DIR);
    let own = own.is_dir().then_some(own);
    let journal = device(dir)?;
    let mut shared = Vec::new();
    for volume in own.iter().chain(volumes) {
        if device(volume)? == journal {
            shared.push(volume.clone());
        }
    }
    Ok(shared)
}

/// The smallest step observed of the clock.
fn clock_step_ns() -> u64 {
    let mut least = u64::MAX;
    for _ in 0..1_000 {
        let began = Instant::now();
        let step = loop {
            let step = began.elapsed().as_nanos();
            if step > 0 {
                break step;
            }
        };
        least = least.min(u64::try_from(step).unwrap_or(u64::MAX));
    }
    least
}

fn mode_name(mode: IoMode) -> &'static str {
    match mode {
        IoMode::Buffered => "buffered writes and a sync each: direct I/O is refused here",
        IoMode::Direct => "direct writes and a sync each",
        IoMode::DirectSync => "direct, synchronous writes",
    }
}

fn limit(value: Option<u64>) -> String {
    value.map_or_else(|| "unlimited".to_owned(), |value| value.to_string())
}

fn bytes_limit(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "unlimited".to_owned(), |bytes| format!("{} KiB", bytes >> 10))
}

impl Findings {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        let mut pairs = vec![
            ("directory", self.dir.display().to_string()),
            ("file system", self.machine.file_system.clone()),
            ("free space", format!("{:.1} GiB", self.free_bytes as f64 / f64::from(1 << 30))),
            ("writes", mode_name(self.sync.mode).to_owned()),
        ];
        for (name, at) in
            ["sync of 4 KiB", "sync of 64 KiB", "sync of 1 MiB"].into_iter().zip(&self.sync.sizes)
        {
            let (p50, p99) = (at.p50.as_secs_f64() * 1e6, at.p99.as_secs_f64() * 1e6);
            let rate = at.bytes as f64 / at.p50.as_secs_f64().max(1e-9) / f64::from(1 << 20);
            let value =
                format!("p50 {p50:.0} us, p99 {p99:.0} us ({} writes, {rate:.0} MiB/s)", at.writes);
            pairs.push((name, value));
        }
        pairs.extend([
            ("clock", format!("{}, steps of {} ns", self.clock_source, self.clock_step_ns)),
            ("processor", format!("{}, {} cores", self.machine.cpu, self.machine.cores)),
            ("memory", format!("{:.1} GiB", self.machine.memory_mib as f64 / 1_024.0)),
            ("open files", limit(self.open_files)),
            ("locked memory", bytes_limit(self.locked_bytes)),
        ]);
        pairs
    }

    /// The advice that follows from the figures, most important first.
    fn advice(&self, level: Level) -> Vec<String> {
        let [_, usual, greatest] = &self.sync.sizes[..] else { return Vec::new() };
        let sync_us = usual.p50.as_secs_f64() * 1e6;
        let tail_us = usual.p99.as_secs_f64() * 1e6;
        let mut advice = vec![match level {
            Level::Synced => format!(
                "At level synced an acknowledgement takes about two syncs: about {:.0} us on this \
                 disk. One sync of a hundred takes {tail_us:.0} us or more. Commands that arrive \
                 during a write share the next sync, so that throughput falls less. \
                 `rialto bench durability` measures both levels on this machine.",
                sync_us * 2.0
            ),
            Level::Buffered => "At level buffered an acknowledgement does not wait for the disk: \
                 the end of the process loses nothing, a power failure what was written since \
                 the last flush."
                .to_owned(),
            Level::Memory => "At level memory an acknowledgement promises nothing beyond the life \
                 of the process; the speed of the disk only bounds how far the journal lags."
                .to_owned(),
        }];
        let bytes_s = greatest.bytes as f64 / greatest.p50.as_secs_f64().max(1e-9);
        advice.push(format!(
            "In groups of 1 MiB the disk syncs {:.0} MiB/s: about {:.1} million orders a second at \
             96 bytes each. The event log needs a part of it.",
            bytes_s / f64::from(1 << 20),
            bytes_s / 96.0 / 1e6
        ));
        if usual.p50.as_secs_f64() > 0.002 {
            advice.push(format!(
                "A sync of {:.1} ms is slow: look for a disk with a write cache that survives \
                 power loss, or choose buffered.",
                sync_us / 1e3
            ));
        }
        if self.sync.mode == IoMode::Buffered {
            advice.push(
                "The file system refuses direct I/O, so that every group is written and then \
                 synced; ext4 or xfs on a disk of their own are faster."
                    .to_owned(),
            );
        }
        if self.machine.file_system.starts_with("tmpfs") {
            advice.push(
                "This directory lies in memory: a restart of the machine loses everything at \
                 every level."
                    .to_owned(),
            );
        }
        for volume in &self.shared_volumes {
            advice.push(format!(
                "The volume {} and the journal are on one file system: a sync of files writes all of \
                 it back, and delays the journal. Mount a volume on another disk and drain this one, or \
                 limit depot.bytes_per_second.",
                volume.display()
            ));
        }
        if self.free_bytes < FREE_BYTES_LOW {
            advice.push(
                "There is little free space; when it runs out, the venue stops rather than lose \
                 what it acknowledged."
                    .to_owned(),
            );
        }
        if !matches!(self.clock_source.as_str(), "tsc" | "kvm-clock" | "arch_sys_counter") {
            advice.push(format!(
                "The clock source {} is slow to read or unknown; time stamps may cost more than \
                 with tsc or kvm-clock.",
                self.clock_source
            ));
        }
        if self.open_files.is_some_and(|limit| limit < OPEN_FILES_LOW) {
            advice.push(format!(
                "Only {} files may be open at once, connections included; raise it with \
                 `ulimit -n`.",
                limit(self.open_files)
            ));
        }
        if self.machine.cores < 4 {
            advice.push(format!(
                "With {} cores the sequencer, the journal and the connections share processors; \
                 latencies at high load will show it.",
                self.machine.cores
            ));
        }
        advice
    }

    fn json(&self, level: Level, advice: &[String]) -> Value {
        let sizes: Vec<Value> = self
            .sync
            .sizes
            .iter()
            .map(|at| {
                json!({
                    "bytes": at.bytes,
                    "writes": at.writes,
                    "p50_ns": at.p50.as_nanos() as u64,
                    "p99_ns": at.p99.as_nanos() as u64,
                })
            })
            .collect();
        json!({
            "dir": self.dir.display().to_string(),
            "level": level.name(),
            "file_system": self.machine.file_system,
            "free_bytes": self.free_bytes,
            "direct_io": self.sync.mode != IoMode::Buffered,
            "syncs": sizes,
            "clock_source": self.clock_source,
            "clock_step_ns": self.clock_step_ns,
            "cores": self.machine.cores,
            "cpu": self.machine.cpu,
            "memory_mib": self.machine.memory_mib,
            "open_files_max": self.open_files,
            "locked_bytes_max": self.locked_bytes,
            "shared_volumes": self.shared_volumes,
            "advice": advice,
        })
    }
}
