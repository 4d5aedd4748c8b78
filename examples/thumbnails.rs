//! Workers that make small pictures of large ones: each picture is handed to one worker, and the small
//! one exists together with the end of the large one. A picture that cannot be read becomes a dead
//! letter. `cargo run -p rialto-examples --bin thumbnails`.

use rialto_depot::{
    Claim, ClaimOptions, Depot, DepotOptions, Directory, DirectoryKind, FileName, NewFile, Quota,
    TenantName,
};
use std::error::Error;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const WORKERS: usize = 4;
const PICTURES: u32 = 20;
/// How many pixels become one, in each direction.
const REDUCTION: usize = 8;

fn main() -> Outcome<()> {
    let directory = tempfile::tempdir()?;
    let depot = Depot::open(DepotOptions::at(directory.path()))?;
    let gallery = TenantName::new("gallery")?;
    depot.create_tenant(&gallery, Quota::default())?;
    let shelf = Directory::new("thumbnails")?;
    depot.set_directory(&gallery, &shelf, Some(DirectoryKind::Shelf), Quota::default())?;
    for number in 0..PICTURES {
        put(&depot, &gallery, &format!("{number:02}.pgm"), &picture(256, 160, number))?;
    }
    put(&depot, &gallery, "broken.pgm", b"not a picture")?;

    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..WORKERS).map(|_| scope.spawn(|| work(&depot, &gallery))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a worker panicked")?)
    })?;

    let kept = depot.kept_files(&gallery, "thumbnails/", None, 1_000)?;
    let bytes: u64 = kept.iter().map(|file| file.record.bytes).sum();
    println!("{} thumbnails of {bytes} bytes", kept.len());
    // The queue moves a refused picture to the dead letters within moments.
    let mut dead = depot.dead_files(&gallery, 10)?;
    let end = Instant::now() + Duration::from_secs(10);
    while dead.is_empty() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
        dead = depot.dead_files(&gallery, 10)?;
    }
    for dead in dead {
        println!("{} was refused: {}", dead.record.path(), dead.detail);
    }
    Ok(())
}

fn put(depot: &Depot, tenant: &TenantName, name: &str, content: &[u8]) -> Outcome<()> {
    let file = NewFile::new(Directory::new("pictures")?, FileName::new(name)?);
    depot.put_bytes(tenant, file, content)?;
    Ok(())
}

/// Claims pictures until none is left.
fn work(depot: &Depot, tenant: &TenantName) -> Outcome<()> {
    let options = ClaimOptions::up_to(4).lasting(Duration::from_secs(30));
    loop {
        let claims = depot.claim(tenant, &options)?;
        if claims.is_empty() {
            return Ok(());
        }
        for claim in &claims {
            let content = depot.read_claimed(claim)?.read_all()?;
            match reduced(&content) {
                Some(small) => complete(depot, claim, &small)?,
                None => depot.refuse(claim.token(), "it is not a picture in the format PGM")?,
            }
        }
    }
}

fn complete(depot: &Depot, claim: &Claim, small: &[u8]) -> Outcome<()> {
    let file = NewFile::new(Directory::new("thumbnails")?, claim.file().name.clone());
    let mut upload = depot.begin_result(claim.token(), file)?;
    upload.write(small)?;
    depot.complete_with(claim.token(), vec![upload.finish_result()?])?;
    Ok(())
}

/// A grey picture in the binary format PGM.
fn picture(width: usize, height: usize, seed: u32) -> Vec<u8> {
    let mut bytes = format!("P5 {width} {height} 255\n").into_bytes();
    let shade = |nth: usize| (nth as u32).wrapping_mul(seed + 31).to_le_bytes()[1];
    bytes.extend((0..width * height).map(shade));
    bytes
}

/// The picture with the mean of each square of pixels, or `None` if it is not one.
fn reduced(content: &[u8]) -> Option<Vec<u8>> {
    let header = content.iter().position(|byte| *byte == b'\n')?;
    let fields: Vec<_> = std::str::from_utf8(&content[..header]).ok()?.split(' ').collect();
    let ["P5", width, height, "255"] = fields[..] else { return None };
    let (width, height): (usize, usize) = (width.parse().ok()?, height.parse().ok()?);
    let pixels = &content[header + 1..];
    if pixels.len() != width.checked_mul(height)? {
        return None;
    }
    let (columns, rows) = (width / REDUCTION, height / REDUCTION);
    let mut small = format!("P5 {columns} {rows} 255\n").into_bytes();
    for row in 0..rows {
        for column in 0..columns {
            let first = row * REDUCTION * width + column * REDUCTION;
            let lines = (0..REDUCTION).map(|line| &pixels[first + line * width..][..REDUCTION]);
            let sum: usize = lines.flatten().map(|pixel| usize::from(*pixel)).sum();
            small.push((sum / (REDUCTION * REDUCTION)) as u8);
        }
    }
    Some(small)
}
