//! Printing and counting the messages that were read.

use super::shown::{Form, Shown};
use crate::Error;
use rustix::fs::FileType;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;

/// Standard output, which may be a pipe whose reader closes it.
pub(super) struct Printing {
    form: Form,
    out: BufWriter<Counted>,
    /// The output's position at the begin of the batch, and after each of its messages.
    begin: u64,
    ends: Vec<u64>,
}

/// A file, and the number of bytes written to it.
struct Counted {
    file: File,
    bytes: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Printing {
    pub(super) fn open(form: Form) -> Result<Printing, Error> {
        // Past the buffer of the standard output: what that holds is not known.
        let opened = io::stdout().as_fd().try_clone_to_owned();
        let file = File::from(opened.map_err(Error::file("write", "the standard output"))?);
        let out = BufWriter::new(Counted { file, bytes: 0 });
        Ok(Printing { form, out, begin: 0, ends: Vec::new() })
    }

    /// Begins a batch with the next message.
    pub(super) fn begin(&mut self) {
        self.begin = self.given();
        self.ends.clear();
    }

    pub(super) fn print(&mut self, message: &Shown<'_>) -> io::Result<()> {
        self.form.print(&mut self.out, message)?;
        self.ends.push(self.given());
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// The number of messages of the batch that were read from the output, at least in part. Bytes
    /// that are still in a pipe were not read; bytes written to anything else count as read.
    pub(super) fn looked_at(&self) -> usize {
        let read = self.out.get_ref().bytes - self.out.get_ref().unread();
        if read <= self.begin { 0 } else { 1 + self.ends.partition_point(|end| *end < read) }
    }

    fn given(&self) -> u64 {
        self.out.get_ref().bytes + self.out.buffer().len() as u64
    }
}

impl Counted {
    /// The unread bytes in the pipe.
    fn unread(&self) -> u64 {
        let is_pipe = rustix::fs::fstat(&self.file)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo);
        if is_pipe { rustix::io::ioctl_fionread(&self.file).unwrap_or_default() } else { 0 }
    }
}
