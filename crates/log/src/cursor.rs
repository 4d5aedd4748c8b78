//! A cursor over the groups of one segment.

use crate::chain::Chain;
use crate::format::{BLOCK, Flaw, GROUP_HEADER_BYTES, GROUP_STORED_BYTES_MAX, GroupHeader};
use crate::mapped::Mapped;
use crate::maps::Maps;
use crate::scratch::Scratch;
use crate::sealing::{KeyRing, Unsealer};
use crate::segments::{Mark, Segment};
use rialto_disk::{Access, BLOCK_BYTES, Disk, DiskError, File};
use std::sync::Arc;

/// A position before a group of a segment, with the chain that the group must continue.
pub(crate) struct Cursor {
    file: Box<dyn File>,
    /// Instead of the window, where the segment is mapped.
    map: Option<Arc<Mapped>>,
    maps: Option<Maps>,
    /// As long as the longest group of the segment, so that a window that begins with a group holds
    /// it whole. Nothing before it is needed.
    window: Scratch,
    window_bytes: usize,
    window_at: u64,
    window_len: usize,
    pub(crate) offset: u64,
    pub(crate) chain: Chain,
    unsealer: Unsealer,
}

impl Cursor {
    /// A cursor before the first group of a segment.
    pub(crate) fn at_start(
        disk: &dyn Disk,
        segment: &Segment,
        keys: &KeyRing,
    ) -> Result<Self, DiskError> {
        Ok(Self {
            file: disk.open(&segment.path, Access::Read)?,
            map: None,
            maps: None,
            window: Scratch::NONE,
            window_bytes: window_bytes(segment),
            window_at: 0,
            window_len: 0,
            offset: BLOCK,
            chain: Chain::at_start(&segment.header, segment.checksum),
            unsealer: Unsealer::new(keys),
        })
    }

    /// From here on segments are mapped where possible.
    pub(crate) fn read_through(
        &mut self,
        maps: &Maps,
        disk: &dyn Disk,
        segment: &Segment,
    ) -> Result<(), DiskError> {
        self.map = maps.of(disk, segment)?;
        self.maps = Some(maps.clone());
        Ok(())
    }

    /// Moves to the first group of another segment, keeping the memory.
    pub(crate) fn enter(&mut self, disk: &dyn Disk, segment: &Segment) -> Result<(), DiskError> {
        self.file = disk.open(&segment.path, Access::Read)?;
        self.map = match &self.maps {
            Some(maps) => maps.of(disk, segment)?,
            None => None,
        };
        self.window_bytes = window_bytes(segment);
        self.window_len = 0;
        self.offset = BLOCK;
        self.chain = Chain::at_start(&segment.header, segment.checksum);
        Ok(())
    }

    /// A cursor before a group that was found earlier.
    pub(crate) fn at_mark(
        disk: &dyn Disk,
        segment: &Segment,
        mark: &Mark,
        keys: &KeyRing,
    ) -> Result<Self, DiskError> {
        let Mark { offset, chain } = mark.clone();
        Ok(Self { offset, chain, ..Self::at_start(disk, segment, keys)? })
    }

    /// Moves to the group that holds `seq`, or to its future position, reading headers only.
    pub(crate) fn seek(
        &mut self,
        segment: &Segment,
        seq: u64,
    ) -> Result<Result<(), Flaw>, DiskError> {
        let mark = segment.mark_before(seq);
        self.offset = mark.offset;
        self.chain = mark.chain;
        self.window_len = 0;
        let mut block = [0; BLOCK_BYTES];
        while self.chain.next_seq <= seq {
            if self.file.read_full_at(self.offset, &mut block)? < GROUP_HEADER_BYTES {
                return Ok(Err(Flaw::EndOfFile));
            }
            let checked = GroupHeader::decode(&block)
                .and_then(|(header, sum)| self.chain.check(&header).map(|()| (header, sum)));
            match checked {
                // An empty group ends at `seq - 1` and is skipped.
                Ok((header, _)) if header.records > 0 && header.last_seq() >= seq => break,
                Ok((header, checksum)) => self.advance(segment, &header, checksum),
                Err(flaw) => return Ok(Err(flaw)),
            }
        }
        Ok(Ok(()))
    }

    /// The group here with its checksum, after header, chain, body and records have been checked;
    /// or the flaw.
    pub(crate) fn group(&mut self) -> Result<Result<(GroupHeader, u32), Flaw>, DiskError> {
        if let Some(group) = self.mapped_group() {
            return Ok(Ok(group));
        }
        // Reading the file reports the flaw, if the file has it.
        self.map = None;
        if self.load(GROUP_HEADER_BYTES)? < GROUP_HEADER_BYTES {
            return Ok(Err(Flaw::EndOfFile));
        }
        let (header, checksum) = match GroupHeader::decode(self.here()) {
            Ok(decoded) => decoded,
            Err(flaw) => return Ok(Err(flaw)),
        };
        if let Err(flaw) = self.chain.check(&header) {
            return Ok(Err(flaw));
        }
        let end = GROUP_HEADER_BYTES + header.form.stored_bytes as usize;
        if self.load(end)? < end {
            return Ok(Err(Flaw::EndOfFile));
        }
        Ok(self.check_body(&header).map(|()| (header, checksum)))
    }

    /// As [`Cursor::group`], but a flaw is confirmed by another read: bytes that were read ahead
    /// may be outdated, and a disk may return wrong bytes once.
    pub(crate) fn group_read_twice(
        &mut self,
    ) -> Result<Result<(GroupHeader, u32), Flaw>, DiskError> {
        // Bytes that were read ahead do not count.
        let readings = if self.window_len > 0 { 3 } else { 2 };
        for _ in 1..readings {
            if let Ok(group) = self.group()? {
                return Ok(Ok(group));
            }
            self.window_len = 0;
        }
        self.group()
    }

    /// As [`Cursor::group`], in the mapping. `None` if there is none, or it has a flaw.
    fn mapped_group(&self) -> Option<(GroupHeader, u32)> {
        let map = self.map.as_ref()?;
        let decoded = GroupHeader::decode(map.fetch(self.offset, GROUP_HEADER_BYTES)?);
        let (header, checksum) = decoded.ok().filter(|(header, _)| header.form.is_plain())?;
        self.chain.check(&header).ok()?;
        if !map.is_checked(self.offset) {
            let end = GROUP_HEADER_BYTES + header.form.stored_bytes as usize;
            let body = map.fetch(self.offset, end)?.get(GROUP_HEADER_BYTES..end)?;
            header.check_stored(body).and_then(|()| header.check_records(body)).ok()?;
            map.set_checked(self.offset);
        }
        Some((header, checksum))
    }

    /// The mapping that groups are read in, if they are.
    pub(crate) fn map(&self) -> Option<&Arc<Mapped>> {
        self.map.as_ref()
    }

    /// Checks the body of the loaded group, and unseals it if it was sealed.
    fn check_body(&mut self, header: &GroupHeader) -> Result<(), Flaw> {
        let at = (self.offset - self.window_at) as usize;
        let group = &self.window[at..self.window_len];
        header.check_stored(&group[GROUP_HEADER_BYTES..][..header.form.stored_bytes as usize])?;
        if !header.form.is_plain() {
            self.unsealer.unseal(header, group)?;
        }
        header.check_records(self.body_at(self.offset, header))
    }

    /// The body of the group at `offset` that [`Cursor::group`] has returned last.
    pub(crate) fn body_at(&self, offset: u64, header: &GroupHeader) -> &[u8] {
        if !header.form.is_plain() {
            return self.unsealer.plain();
        }
        if let Some(map) = &self.map {
            return map
                .bytes(offset + GROUP_HEADER_BYTES as u64, header.form.stored_bytes as usize);
        }
        let start = (offset - self.window_at) as usize + GROUP_HEADER_BYTES;
        &self.window[start..start + header.form.stored_bytes as usize]
    }

    /// Advances over a group.
    pub(crate) fn advance(&mut self, segment: &Segment, header: &GroupHeader, checksum: u32) {
        self.offset += header.stored_bytes();
        self.chain.advance(header, checksum);
        segment.note(self.offset, &self.chain);
    }

    /// The header and the body, as they are stored, of the group here that [`Cursor::group`] has
    /// returned last.
    pub(crate) fn stored(&self, header: &GroupHeader) -> &[u8] {
        &self.here()[..GROUP_HEADER_BYTES + header.form.stored_bytes as usize]
    }

    pub(crate) fn file(&self) -> &dyn File {
        &*self.file
    }

    fn here(&self) -> &[u8] {
        &self.window[(self.offset - self.window_at) as usize..self.window_len]
    }

    /// Makes `bytes` bytes available here, unless the file ends before, and returns how many are.
    fn load(&mut self, bytes: usize) -> Result<usize, DiskError> {
        let window_end = self.window_at + self.window_len as u64;
        let inside = self.window_at <= self.offset && self.offset + bytes as u64 <= window_end;
        if self.window_len == 0 || !inside {
            self.window_len = 0;
            self.window_at = self.offset;
            let window = &mut self.window.taken()[..self.window_bytes];
            self.window_len = self.file.read_full_at(self.offset, window)?;
        }
        Ok(self.here().len())
    }
}

fn window_bytes(segment: &Segment) -> usize {
    (GROUP_STORED_BYTES_MAX as u64).min(segment.header.segment_bytes) as usize
}
