//! Measures the log on a real directory, beside the raw figures of the same disk in the same run.
//!
//! `cargo run --release -p rialto-log --example throughput -- DIR [MIB]`
//!
//! Writes at most MIB (256 unless told) per case into fresh directories under DIR and removes them.

#![allow(clippy::print_stdout, reason = "the output is the point of a measurement")]

use rialto_disk::{Access, AlignedBuf, Disk, File, RealDisk};
use rialto_log::{Cipher, Commit, Compression, Group, KeyRing, Options, Reader, Sealing, open};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const RECORD_BYTES: usize = 80;
const GROUPS_MAX: usize = 2000;
/// The most bytes on which each way of sealing is measured.
const SEALED_BYTES_MAX: usize = 64 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let base = PathBuf::from(arguments.next().ok_or("name a directory to measure in")?);
    let mib: usize = arguments.next().map_or(Ok(256), |text| text.parse())?;
    let base = base.join(format!("throughput-{}", std::process::id()));
    let measured = measure(&base, mib << 20);
    std::fs::remove_dir_all(&base)?;
    measured
}

fn measure(base: &Path, bytes: usize) -> Result<(), Box<dyn Error>> {
    append_in_memory()?;
    for (nth, group_bytes) in [4 << 10, 64 << 10, 1 << 20].into_iter().enumerate() {
        let groups = (bytes / group_bytes).clamp(1, GROUPS_MAX);
        let raw = raw_writes(&base.join(format!("raw-{nth}")), group_bytes, groups)?;
        report("raw write", group_bytes, raw, 0);
        let dir = base.join(format!("log-{nth}"));
        let (log, records) = log_writes(&dir, group_bytes, groups)?;
        report("synced group", group_bytes, log, records);
    }
    read_back(&base.join("read"), bytes)?;
    seal_and_read(&base.join("sealed"), bytes.min(SEALED_BYTES_MAX))
}

/// Appends to a reused group, without any disk.
fn append_in_memory() -> Result<(), Box<dyn Error>> {
    let mut group = Group::new(1 << 20);
    let record = [7; RECORD_BYTES];
    let (rounds, mut records) = (200, 0u64);
    let begun = Instant::now();
    for _ in 0..rounds {
        group.begin(records + 1);
        while group.append(std::hint::black_box(&record)).is_ok() {}
        records += u64::from(group.records());
    }
    let ns = begun.elapsed().as_nanos() as f64 / records as f64;
    println!("append {RECORD_BYTES}-byte records: {ns:.1} ns each");
    Ok(())
}

/// The latencies of synchronous writes over zeros, in nanoseconds.
fn raw_writes(path: &Path, bytes: usize, count: usize) -> Result<Vec<u64>, Box<dyn Error>> {
    let disk = RealDisk::new();
    disk.create_dir_all(path)?;
    let path = path.join("raw");
    let zeros = AlignedBuf::zeroed(1 << 20);
    let file: Box<dyn File> = disk.create(&path, Access::Direct)?;
    let total = (bytes * count).next_multiple_of(zeros.len());
    for at in (0..total).step_by(zeros.len()) {
        file.write_all_at(at as u64, &zeros)?;
    }
    file.sync_data()?;
    let file = disk.open(&path, Access::DirectSync)?;
    let mut buf = AlignedBuf::zeroed(bytes);
    buf.fill(1);
    let mut latencies = Vec::with_capacity(count);
    for nth in 0..count {
        let begun = Instant::now();
        file.write_all_at((nth * bytes) as u64, &buf)?;
        latencies.push(begun.elapsed().as_nanos() as u64);
    }
    disk.remove(&path)?;
    Ok(latencies)
}

/// The latencies of [`Commit::Synced`] writes, and how many records they held.
fn log_writes(
    dir: &Path,
    group_bytes: usize,
    groups: usize,
) -> Result<(Vec<u64>, u64), Box<dyn Error>> {
    let segment_bytes = (group_bytes * (groups + 1) + 8192).next_multiple_of(1 << 20) as u64;
    let options = Options { segment_bytes, ..Options::new([1; 16]) };
    let (mut writer, _) = open(Arc::new(RealDisk::new()), dir, options)?;
    let mut group = Group::new(group_bytes);
    let mut latencies = Vec::with_capacity(groups);
    for _ in 0..groups {
        group.begin(writer.next_seq());
        while group.append(&[7; RECORD_BYTES]).is_ok() {}
        let begun = Instant::now();
        writer.write(&mut group, Commit::Synced)?;
        latencies.push(begun.elapsed().as_nanos() as u64);
    }
    let mode = writer.io_mode();
    let last = writer.close()?;
    println!("log of {} KiB groups written in mode {mode:?}", group_bytes >> 10);
    Ok((latencies, last.seq))
}

/// Writes a log and reads it twice: the first reading fills the page cache, the second is measured.
fn read_back(dir: &Path, bytes: usize) -> Result<(), Box<dyn Error>> {
    let segment_bytes = 64 << 20;
    let options = Options { segment_bytes, ..Options::new([1; 16]) };
    let (mut writer, _) = open(Arc::new(RealDisk::new()), dir, options)?;
    let mut group = Group::new(64 << 10);
    let mut written = 0;
    while written < bytes {
        group.begin(writer.next_seq());
        while group.append(&(writer.next_seq() as u128).to_le_bytes().repeat(5)).is_ok() {}
        written += group.stored_bytes();
        writer.write(&mut group, Commit::Written)?;
    }
    writer.sync()?;
    let segments = writer.segments();
    for round in ["cold or warm", "warm"] {
        let begun = Instant::now();
        let mut reader = Reader::open(&segments, 1)?;
        let (mut records, mut sum) = (0u64, 0u64);
        while let Some(group) = reader.next_group()? {
            for (_, record) in group {
                records += 1;
                sum = sum.wrapping_add(u64::from(record[0]) + record.len() as u64);
            }
        }
        assert_eq!(records, segments.durable_seq(), "every record must have been read");
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "read ({round}): {:.2} GB/s, {:.1} M records/s of {RECORD_BYTES} bytes (sum {sum})",
            written as f64 / seconds / 1e9,
            records as f64 / seconds / 1e6,
        );
    }
    Ok(())
}

/// Each way of sealing, on records of which a part is noise: how fast groups are written without a
/// sync, and read.
fn seal_and_read(dir: &Path, bytes: usize) -> Result<(), Box<dyn Error>> {
    let keys = KeyRing::parse(&format!("1: {}", "5a".repeat(32)), "the example")?;
    let compressions = [
        Compression::None,
        Compression::Lz4,
        Compression::Zstd { level: 3 },
        Compression::Gzip { level: 6 },
    ];
    let compressed = compressions.map(|compression| Sealing { compression, encryption: None });
    let encrypted = Cipher::ALL.map(|cipher| Sealing { encryption: Some(cipher), ..Sealing::NONE });
    let both = Sealing { compression: Compression::Lz4, encryption: Some(Cipher::Aes256Gcm) };
    for sealing in compressed.into_iter().chain(encrypted).chain([both]) {
        for group_bytes in [64 << 10, 1 << 20] {
            let options = Options {
                segment_bytes: (bytes + (8 << 20)) as u64,
                sealing,
                keys: keys.clone(),
                ..Options::new([1; 16])
            };
            std::fs::create_dir_all(dir)?;
            let (mut writer, _) = open(Arc::new(RealDisk::new()), dir, options)?;
            let mut group = Group::new(group_bytes);
            let (mut written, mut noise) = (0, 1u64);
            let mut writing = 0.0;
            while written < bytes {
                group.begin(writer.next_seq());
                loop {
                    noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let mut record = [7; RECORD_BYTES];
                    for (nth, part) in record.chunks_exact_mut(16).enumerate() {
                        part[..8].copy_from_slice(&noise.rotate_left(nth as u32).to_le_bytes());
                    }
                    if group.append(&record).is_err() {
                        break;
                    }
                }
                written += group.body_bytes();
                let begun = Instant::now();
                writer.write(&mut group, Commit::Written)?;
                writing += begun.elapsed().as_secs_f64();
            }
            writer.sync()?;
            let segments = writer.segments();
            let begun = Instant::now();
            let mut reader = Reader::open(&segments, 1)?;
            let mut read = 0;
            while let Some(group) = reader.next_group()? {
                read += group.framed().len();
            }
            let reading = begun.elapsed().as_secs_f64();
            assert_eq!(read, written, "every record must have been read");
            let cipher = sealing.encryption.map_or("none", Cipher::name);
            println!(
                "sealed {:8} {cipher:18} {:5} KiB: written {:.2} GB/s, read {:.2} GB/s",
                sealing.compression.to_string(),
                group_bytes >> 10,
                written as f64 / writing / 1e9,
                read as f64 / reading / 1e9,
            );
            writer.close()?;
            std::fs::remove_dir_all(dir)?;
        }
    }
    Ok(())
}

fn report(what: &str, group_bytes: usize, mut latencies: Vec<u64>, records: u64) {
    let total: u64 = latencies.iter().sum();
    let count = latencies.len();
    latencies.sort_unstable();
    let at = |share: usize| latencies[(count - 1) * share / 100] as f64 / 1e3;
    let seconds = total as f64 / 1e9;
    println!(
        "{what:12} {:5} KiB x {count}: p50 {:.0} us, p99 {:.0} us, {:.0}/s, {:.0} MB/s, {:.2} M records/s",
        group_bytes >> 10,
        at(50),
        at(99),
        count as f64 / seconds,
        (group_bytes * count) as f64 / seconds / 1e6,
        records as f64 / seconds / 1e6,
    );
}
