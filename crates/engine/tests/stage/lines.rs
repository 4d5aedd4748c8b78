//! Captured log lines.

use std::fmt::{Debug, Write};
use std::sync::{Mutex, OnceLock};
use std::thread::{self, ThreadId};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// The log lines of all threads of the test binary. One subscriber per thread would miss lines
/// whose call site another thread used first.
static LOGGED: Mutex<Vec<(ThreadId, String)>> = Mutex::new(Vec::new());

/// The lines of this thread from now on.
pub(crate) struct Lines {
    thread: ThreadId,
    from: usize,
}

impl Lines {
    pub(crate) fn watch() -> Lines {
        static SUBSCRIBED: OnceLock<()> = OnceLock::new();
        SUBSCRIBED.get_or_init(|| tracing::subscriber::set_global_default(Collector).unwrap());
        Lines { thread: thread::current().id(), from: LOGGED.lock().unwrap().len() }
    }

    /// The lines so far that contain this.
    pub(crate) fn with(&self, text: &str) -> Vec<String> {
        let logged = LOGGED.lock().unwrap();
        let own = logged[self.from..].iter().filter(|(thread, _)| *thread == self.thread);
        own.filter(|(_, line)| line.contains(text)).map(|(_, line)| line.clone()).collect()
    }
}

struct Collector;

struct Message<'a>(&'a mut String);

impl Visit for Message<'_> {
    fn record_debug(&mut self, _: &Field, value: &dyn Debug) {
        write!(self.0, "{value:?}").unwrap();
    }
}

impl Subscriber for Collector {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = format!("{} ", event.metadata().level());
        event.record(&mut Message(&mut line));
        LOGGED.lock().unwrap().push((thread::current().id(), line));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
