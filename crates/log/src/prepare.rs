//! Prepares the next segment before it is needed.

use crate::format::{Ground, SegmentHeader};
use crate::reserve::Reserve;
use crate::segments::Segment;
use crate::spares::SpareFiles;
use rialto_disk::{Access, AlignedBuf, BLOCK_BYTES, Disk, DiskError, File, IoMode, Operation};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many bytes of zeros one step of a preparation writes: few enough that a synchronous write
/// that comes meanwhile does not wait long.
const STEP_BYTES: usize = 256 << 10;

/// How the space of a segment is allocated before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Space {
    /// Zeros are written, because only then do later writes change no metadata: synchronous ones
    /// take two thirds of the time. It doubles the bytes written, unless there are [`SpareFiles`].
    #[default]
    Zeroed,
    /// The file system reserves it, which is fast. For a log that is written without waiting for
    /// the device and synced at intervals. Zeros are written if the file system cannot reserve
    /// space.
    Reserved,
}

/// The suffix of files that are not part of the log yet and are removed at the next opening.
pub(crate) const TMP_SUFFIX: &str = ".tmp";

/// The directory of a log, and the size of its segments.
pub(crate) struct Directory {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) path: PathBuf,
    /// The size of segments; where they grow, the largest.
    pub(crate) segment_bytes: u64,
    /// The size of the first segment, if segments grow.
    pub(crate) first_segment_bytes: Option<u64>,
    pub(crate) space: Space,
    pub(crate) spares: SpareFiles,
    pub(crate) reserve: Reserve,
    next_tmp: AtomicU64,
}

impl Directory {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        path: PathBuf,
        (segment_bytes, first_segment_bytes): (u64, Option<u64>),
        space: Space,
        spares: SpareFiles,
        reserve: Reserve,
    ) -> Self {
        let next_tmp = AtomicU64::new(0);
        Self { disk, path, segment_bytes, first_segment_bytes, space, spares, reserve, next_tmp }
    }

    /// The size of the first segment of an opening.
    pub(crate) fn first_bytes(&self) -> u64 {
        self.first_segment_bytes.map_or(self.segment_bytes, |first| first.min(self.segment_bytes))
    }

    /// The size of the segment after one of this size.
    pub(crate) fn bytes_after(&self, bytes: u64) -> u64 {
        match self.first_segment_bytes {
            None => self.segment_bytes,
            Some(_) => bytes.saturating_mul(2).clamp(self.first_bytes(), self.segment_bytes),
        }
    }

    /// A temporary name in the directory, which is not part of the log.
    pub(crate) fn tmp_path(&self, what: &str) -> PathBuf {
        let nth = self.next_tmp.fetch_add(1, Ordering::Relaxed);
        self.path.join(format!("{what}-{nth}{TMP_SUFFIX}"))
    }
}

/// Makes segments away from the writer, so that rolling to the next one costs a few small syncs
/// instead of the writing of a whole file of zeros.
///
/// It may live on any thread. Hand what it makes to [`Writer::accept`](crate::Writer::accept).
#[derive(Clone)]
pub struct SegmentPreparer {
    pub(crate) directory: Arc<Directory>,
    /// The size of the prepared segment.
    pub(crate) segment_bytes: u64,
}

/// A segment in the making.
pub struct Preparation {
    directory: Arc<Directory>,
    file: Box<dyn File>,
    path: PathBuf,
    zeros: AlignedBuf,
    bytes: u64,
    done: u64,
    ground: Ground,
}

/// A file whose space was written or reserved, ready to become a segment.
pub struct PreparedSegment {
    directory: Arc<Directory>,
    /// Nothing while its log is at rest.
    file: Option<Box<dyn File>>,
    path: PathBuf,
    bytes: u64,
    ground: Ground,
}

impl SegmentPreparer {
    /// Prepares a whole segment. A failure does not affect the writer, which will try itself.
    pub fn prepare(&self) -> Result<PreparedSegment, DiskError> {
        let mut preparation = self.begin()?;
        loop {
            preparation = match preparation.step()? {
                Ok(prepared) => return Ok(prepared),
                Err(unfinished) => unfinished,
            };
        }
    }

    /// Begins to prepare a segment step by step, so that other writes can use the disk in between.
    pub fn begin(&self) -> Result<Preparation, DiskError> {
        let Directory { disk, spares, space, .. } = &*self.directory;
        let (directory, bytes) = (self.directory.clone(), self.segment_bytes);
        // Spare files have the size of segments that no longer grow.
        let spare = (bytes == directory.segment_bytes).then(|| spares.take(&directory)).flatten();
        if let Some(path) = spare {
            if let Ok(file) = disk.open(&path, Access::Direct) {
                let (zeros, ground, done) = (AlignedBuf::zeroed(0), Ground::Used, bytes);
                return Ok(Preparation { directory, file, path, zeros, bytes, done, ground });
            }
            // It is not part of the log, so that an operator may have removed it to make room. Then
            // a new file is made.
            let _ = disk.remove(&path);
        }
        if self.directory.must_use_reserve() {
            let full = std::io::ErrorKind::StorageFull;
            return Err(DiskError::io(Operation::Create, &self.directory.path, full));
        }
        let path = self.directory.tmp_path("prepare");
        let file = spares.or_else(|| disk.create(&path, Access::Direct))?;
        let zeros = AlignedBuf::zeroed(STEP_BYTES.min(bytes as usize));
        let ground = Ground::Zeros;
        let mut preparation = Preparation { directory, file, path, zeros, bytes, done: 0, ground };
        if *space == Space::Reserved {
            match spares.or_else(|| preparation.file.reserve(bytes)) {
                Ok(true) => {
                    (preparation.done, preparation.ground) = (bytes, Ground::Reserved);
                }
                Ok(false) => {}
                Err(error) => return Err(preparation.failed(error)),
            }
        }
        Ok(preparation)
    }

    /// Makes a segment from the prepared file; from a new file if there is none or it was removed;
    /// or from the reserve if the disk is full.
    pub(crate) fn install(
        &self,
        prepared: Option<PreparedSegment>,
        header: SegmentHeader,
    ) -> Result<ActiveSegment, DiskError> {
        // An error names the segment: the temporary file is gone when an operator looks for it.
        let path = self.directory.path.join(header.name.to_string());
        match prepared.map(|prepared| prepared.install(header.clone())) {
            Some(Err(error)) if error.is_not_found() => {}
            Some(installed) => return installed.map_err(|error| error.renamed(path)),
            None => {}
        }
        self.make_now(header).map_err(|error| error.renamed(path))
    }

    /// Makes a segment of a new file, or of the reserve.
    fn make_now(&self, header: SegmentHeader) -> Result<ActiveSegment, DiskError> {
        // Writing zeros until the disk is full would leave no room for others.
        if self.directory.must_use_reserve() {
            return self.take_from_reserve(header);
        }
        match self.prepare() {
            Err(error) if error.is_out_of_space() && self.directory.reserve.is_ready() => {
                self.take_from_reserve(header)
            }
            prepared => {
                let active = prepared?.install(header)?;
                // There is room again; if not, the next segment is another chance.
                if let Err(error) = self.directory.fill_reserve() {
                    tracing::warn!("a reserved file of the log cannot be made: {error}");
                }
                Ok(active)
            }
        }
    }

    fn take_from_reserve(&self, header: SegmentHeader) -> Result<ActiveSegment, DiskError> {
        let Some(path) = self.directory.reserve.take() else {
            return self.prepare()?.install(header);
        };
        tracing::warn!("the disk is full: the log goes on in the reserved file {}", path.display());
        let file = self.directory.disk.open(&path, Access::Direct)?;
        let (directory, file, ground) = (self.directory.clone(), Some(file), Ground::Reserved);
        let bytes = directory.segment_bytes;
        PreparedSegment { directory, file, path, bytes, ground }.install(header)
    }
}

impl Preparation {
    /// Writes some more zeros; the last step syncs them and yields the segment, the others give the
    /// preparation back.
    pub fn step(mut self) -> Result<Result<PreparedSegment, Self>, DiskError> {
        let left = self.bytes - self.done;
        let bytes = left.min(self.zeros.len() as u64);
        if bytes > 0 {
            let zeros = &self.zeros[..bytes as usize];
            let write = || self.file.write_all_at(self.done, zeros);
            if let Err(error) = self.directory.spares.or_else(write) {
                return Err(self.failed(error));
            }
        }
        self.done += bytes;
        if self.done < self.bytes {
            return Ok(Err(self));
        }
        if let Err(error) = self.file.sync_data() {
            return Err(self.failed(error));
        }
        let Self { directory, file, path, bytes, ground, .. } = self;
        Ok(Ok(PreparedSegment { directory, file: Some(file), path, bytes, ground }))
    }

    /// The size of the segment that is made.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes of the segment that are done.
    pub fn done_bytes(&self) -> u64 {
        self.done
    }

    /// Removes the file, because the disk may be full.
    fn failed(self, error: DiskError) -> DiskError {
        // If it cannot be removed either, the next opening removes it.
        let _ = self.discard();
        error
    }

    /// Gives it up.
    pub fn discard(self) -> Result<(), DiskError> {
        self.directory.disk.remove(&self.path)
    }
}

/// A segment that a writer appends to.
pub(crate) struct ActiveSegment {
    pub(crate) segment: Arc<Segment>,
    /// How synchronous writes reach the device.
    pub(crate) mode: IoMode,
    /// Nothing while the log is at rest.
    files: Option<SegmentFiles>,
}

pub(crate) struct SegmentFiles {
    /// Writes that need not be durable on return. With `synced` it is the same file twice: both are
    /// direct, or both are buffered.
    pub(crate) direct: Box<dyn File>,
    /// Writes that must be.
    pub(crate) synced: Box<dyn File>,
}

impl ActiveSegment {
    /// The open file, which is opened if it is not.
    pub(crate) fn files(&mut self, disk: &dyn Disk) -> Result<&SegmentFiles, DiskError> {
        match &mut self.files {
            Some(files) => Ok(files),
            none => {
                let path = &self.segment.path;
                let synced = disk.open(path, Access::DirectSync)?;
                let is_direct = synced.mode() == IoMode::DirectSync;
                let access = if is_direct { Access::Direct } else { Access::Buffered };
                let direct = disk.open(path, access)?;
                Ok(none.insert(SegmentFiles { direct, synced }))
            }
        }
    }

    /// Closes the file until it is written again.
    pub(crate) fn release(&mut self) {
        self.files = None;
    }
}

impl PreparedSegment {
    /// Gives the file its header and its name. When this returns the segment is durable, but it is
    /// no part of the log before HEAD names it.
    pub(crate) fn install(self, header: SegmentHeader) -> Result<ActiveSegment, DiskError> {
        let header = SegmentHeader { ground: self.ground, segment_bytes: self.bytes, ..header };
        let Directory { disk, path: dir, .. } = &*self.directory;
        let mut buf = AlignedBuf::zeroed(BLOCK_BYTES);
        let block =
            buf.first_chunk_mut::<BLOCK_BYTES>().expect("the buffer was made one block long");
        let checksum = header.encode(block);
        let file = match self.file {
            Some(file) => file,
            None => disk.open(&self.path, Access::Direct)?,
        };
        file.write_all_at(0, &buf)?;
        file.sync_data()?;
        let path = dir.join(header.name.to_string());
        disk.rename(&self.path, &path)?;
        disk.sync_dir(dir)?;
        let synced = disk.open(&path, Access::DirectSync)?;
        // The prepared file would report its errors under the name that it had.
        let unsynced = match synced.mode() {
            IoMode::DirectSync => Access::Direct,
            IoMode::Direct | IoMode::Buffered => Access::Buffered,
        };
        let direct = disk.open(&path, unsynced)?;
        Ok(ActiveSegment {
            segment: Arc::new(Segment::new(path, header, checksum)),
            mode: synced.mode(),
            files: Some(SegmentFiles { direct, synced }),
        })
    }

    /// Closes the file until it gets its name.
    pub(crate) fn release(&mut self) {
        self.file = None;
    }

    /// Removes an unneeded segment, if it still exists.
    pub(crate) fn discard(self) -> Result<(), DiskError> {
        match self.directory.disk.remove(&self.path) {
            Err(error) if error.is_not_found() => Ok(()),
            removed => removed,
        }
    }

    pub(crate) fn is_of(&self, directory: &Arc<Directory>) -> bool {
        Arc::ptr_eq(&self.directory, directory)
    }
}
