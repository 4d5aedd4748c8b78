//! Reused buffers: most runs need one for a moment, and a thread executes them one after the other.

use std::cell::RefCell;

/// The most buffers that a thread keeps, and the largest size of each.
const BUFFERS_MAX: usize = 64;
const BYTES_MAX: usize = 4096;
/// Room for the entries of a short flow without waits.
const BYTES: usize = 160;

thread_local! {
    static BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// An empty buffer with some room.
pub(crate) fn buffer() -> Vec<u8> {
    // A thread that ends has none any more.
    let spare = BUFFERS.try_with(|buffers| buffers.borrow_mut().pop()).ok().flatten();
    spare.unwrap_or_else(|| Vec::with_capacity(BYTES))
}

/// Keeps a buffer for reuse.
pub(crate) fn give_back(mut buffer: Vec<u8>) {
    if !(1..=BYTES_MAX).contains(&buffer.capacity()) {
        return;
    }
    buffer.clear();
    let _ = BUFFERS.try_with(|buffers| {
        let mut buffers = buffers.borrow_mut();
        if buffers.len() < BUFFERS_MAX {
            buffers.push(buffer);
        }
    });
}
