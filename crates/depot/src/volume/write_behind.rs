//! Writes full buffers in a thread, while the next one is filled and hashed.

use super::VolumeError;
use super::buffers::Buffer;
use super::output::{Created, lock};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

/// The most full buffers that wait for the thread.
const WAITING_MAX: usize = 1;

/// The thread of one file. Hashing a block takes about as long as writing it, so that a large file
/// takes half the time.
pub(super) struct WriteBehind {
    created: Arc<Mutex<Created>>,
    /// None if no thread could be made: every buffer is then written at once.
    running: Option<Running>,
}

struct Running {
    sender: SyncSender<Full>,
    thread: JoinHandle<Result<(), VolumeError>>,
}

struct Full {
    buffer: Buffer,
    filled: usize,
    offset: u64,
}

impl WriteBehind {
    pub(super) fn new(created: Arc<Mutex<Created>>) -> Self {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let writes = Arc::clone(&created);
        let thread = Builder::new()
            .name("depot-write".to_owned())
            .spawn(move || write_all(&receiver, &writes));
        Self { created, running: thread.ok().map(|thread| Running { sender, thread }) }
    }

    /// Hands a buffer over. An error may be of an earlier one.
    pub(super) fn write(
        &mut self,
        mut buffer: Buffer,
        filled: usize,
        offset: u64,
    ) -> Result<(), VolumeError> {
        let Some(running) = &self.running else {
            return lock(&self.created).write(&mut buffer, filled, offset);
        };
        // The thread ends early with an error only.
        match running.sender.send(Full { buffer, filled, offset }) {
            Ok(()) => Ok(()),
            Err(_) => self.join(),
        }
    }

    /// Returns when everything is written.
    pub(super) fn end(mut self) -> Result<(), VolumeError> {
        self.join()
    }

    fn join(&mut self) -> Result<(), VolumeError> {
        let Some(Running { sender, thread }) = self.running.take() else { return Ok(()) };
        drop(sender);
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn write_all(receiver: &Receiver<Full>, created: &Mutex<Created>) -> Result<(), VolumeError> {
    receiver.iter().try_for_each(|Full { mut buffer, filled, offset }| {
        lock(created).write(&mut buffer, filled, offset)
    })
}
