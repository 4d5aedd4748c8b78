//! The thread that writes lines.

use super::limiter::{Limiter, WINDOW};
use super::line::Line;
use crate::config::LogFormat;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime};
use tracing::Level;

/// The target of lines about the log itself.
const TARGET: &str = "rialto::logging";
/// Lines that wait to be written; more are left out and counted.
const QUEUED_MAX: usize = 1_024;
/// Lines that are kept while they are held back: the newest.
const HELD_MAX: usize = 1_024;
/// The interval at which suppressed lines are reported.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The longest wait of the process's end for an unread standard error.
const FLUSH_WITHIN: Duration = Duration::from_secs(1);

enum Message {
    Line(String),
    Hold,
    Release,
    Flush(SyncSender<()>),
    /// A flush that also reports suppressed lines.
    End(SyncSender<()>),
}

/// The way to the thread.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    sender: SyncSender<Message>,
    left_out: Arc<AtomicU64>,
}

impl Queue {
    /// Starts the thread, which writes to `out`.
    pub(super) fn start(
        limiter: Arc<Limiter>,
        format: LogFormat,
        out: impl Write + Send + 'static,
    ) -> io::Result<Queue> {
        let (sender, receiver) = sync_channel(QUEUED_MAX);
        let left_out = Arc::<AtomicU64>::default();
        let writer = Writer { out, format, limiter, left_out: Arc::clone(&left_out), held: None };
        let thread = std::thread::Builder::new().name("log".to_string());
        thread.spawn(move || writer.run(&receiver))?;
        Ok(Queue { sender, left_out })
    }

    /// Adds a line, or counts it as left out.
    pub(super) fn push(&self, line: String) {
        if self.sender.try_send(Message::Line(line)).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// From now on lines are held back.
    pub(super) fn hold(&self) {
        let _ = self.sender.send(Message::Hold);
        self.flush();
    }

    /// Writes the buffered lines.
    pub(super) fn release(&self) {
        let _ = self.sender.send(Message::Release);
        self.flush();
    }

    /// Waits, for a bounded time, until all lines pushed before are written.
    pub(super) fn flush(&self) {
        self.wait_for(Message::Flush);
    }

    /// The same, and reports suppressed lines.
    pub(super) fn end(&self) {
        self.wait_for(Message::End);
    }

    fn wait_for(&self, message: impl FnOnce(SyncSender<()>) -> Message) {
        let (done, is_done) = sync_channel(1);
        if self.sender.try_send(message(done)).is_ok() {
            let _ = is_done.recv_timeout(FLUSH_WITHIN);
        }
    }
}

struct Writer<W> {
    out: W,
    format: LogFormat,
    limiter: Arc<Limiter>,
    left_out: Arc<AtomicU64>,
    held: Option<VecDeque<String>>,
}

impl<W: Write> Writer<W> {
    fn run(mut self, messages: &Receiver<Message>) {
        let mut look_at = Instant::now() + LOOK_EVERY;
        loop {
            match messages.recv_timeout(look_at.saturating_duration_since(Instant::now())) {
                Ok(Message::Line(line)) => self.write(line),
                Ok(Message::Hold) => self.held = Some(VecDeque::new()),
                Ok(Message::Release) => {
                    for line in self.held.take().unwrap_or_default() {
                        self.write(line);
                    }
                }
                Ok(Message::Flush(done)) => {
                    let _ = done.send(());
                }
                Ok(Message::End(done)) => {
                    self.tell_left_out(true);
                    let _ = done.send(());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if Instant::now() >= look_at {
                self.tell_left_out(false);
                look_at = Instant::now() + LOOK_EVERY;
            }
        }
    }

    fn write(&mut self, line: String) {
        match &mut self.held {
            Some(held) => {
                if held.len() == HELD_MAX {
                    held.pop_front();
                    self.left_out.fetch_add(1, Ordering::Relaxed);
                }
                held.push_back(line);
            }
            // A closed standard error cannot be reported anywhere.
            None => {
                let _ = self.out.write_all(line.as_bytes());
            }
        }
    }

    fn tell_left_out(&mut self, all: bool) {
        for (site, count) in self.limiter.ended(Instant::now(), all) {
            let (lines, window) = (super::limiter::LINES_MAX, WINDOW.as_secs());
            let (file, at) = (site.file().unwrap_or("?"), site.line().unwrap_or(0));
            let mut line = Line::new(self.format);
            line.message(&format!(
                "lines were left out: one call site may log {lines} in {window} s"
            ));
            line.plain("suppressed", count);
            line.text("of_target", site.target());
            line.text("of_level", site.level().as_str());
            line.text("at", &format!("{file}:{at}"));
            self.write(line.end(SystemTime::now(), Level::WARN, TARGET));
        }
        if self.held.is_some() {
            return;
        }
        let count = self.left_out.swap(0, Ordering::Relaxed);
        if count > 0 {
            let mut line = Line::new(self.format);
            line.message("lines were left out: they came faster than they are read");
            line.plain("suppressed", count);
            self.write(line.end(SystemTime::now(), Level::WARN, TARGET));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    /// An output that another thread reads.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Shared {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// An output that blocks until it is opened.
    struct Stuck(std::sync::mpsc::Receiver<()>, Shared);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            self.1.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn held_lines_come_out_at_the_end_the_newest_of_them() {
        let out = Shared::default();
        let queue = Queue::start(Arc::default(), LogFormat::Text, out.clone()).unwrap();
        queue.push("before\n".into());
        queue.hold();
        assert_eq!(out.text(), "before\n");
        for number in 0..HELD_MAX + 2 {
            queue.push(format!("{number}\n"));
            // No more are pushed at once than the queue takes.
            if number % 100 == 0 {
                queue.flush();
            }
        }
        queue.flush();
        assert_eq!(out.text(), "before\n");
        queue.release();
        let text = out.text();
        let mut lines = text.lines();
        assert_eq!((lines.next(), lines.next()), (Some("before"), Some("2")));
        assert_eq!(lines.count(), HELD_MAX - 1);
    }

    #[test]
    fn an_unread_output_blocks_no_thread_and_lost_lines_are_counted() {
        let (go_on, told) = channel();
        let out = Shared::default();
        let queue =
            Queue::start(Arc::default(), LogFormat::Text, Stuck(told, out.clone())).unwrap();
        for _ in 0..QUEUED_MAX * 3 {
            queue.push("x\n".into());
        }
        assert!(queue.left_out.load(Ordering::Relaxed) >= QUEUED_MAX as u64);
        drop(go_on);
        let end = Instant::now() + Duration::from_secs(60);
        while !out.text().contains("faster than they are read") {
            assert!(Instant::now() < end, "it was never told");
            std::thread::yield_now();
        }
    }
}
