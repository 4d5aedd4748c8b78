//! Changes that the system reports. They only say where to look.

use super::signal::Signal;
use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{Config, RecommendedWatcher, RecursiveMode, Watcher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The folders whose changes are reported, and the threads that are told.
type Followed = Arc<RwLock<Vec<(PathBuf, Arc<Signal>)>>>;

/// The reports of the system, on one thread.
pub(super) struct Events {
    followed: Followed,
    /// `None` if the system has none to give.
    watcher: Mutex<Option<RecommendedWatcher>>,
}

impl Events {
    pub(super) fn new() -> Self {
        let followed = Followed::default();
        let told = followed.clone();
        // A watcher that follows links would report what is outside the folder.
        let config = Config::default().with_follow_symlinks(false);
        let tell = move |event: notify::Result<notify::Event>| tell(&told, event);
        let watcher = RecommendedWatcher::new(tell, config)
            .inspect_err(|error| tracing::warn!("changes of folders are not reported: {error}"));
        Self { followed, watcher: Mutex::new(watcher.ok()) }
    }

    /// Asks for the changes of a folder. Returns whether they are reported from now on.
    pub(super) fn follow(&self, folder: &Path, goes_below: bool, signal: &Arc<Signal>) -> bool {
        self.forget(folder);
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(watcher) = watcher.as_mut() else { return false };
        let mode = if goes_below { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
        let mut followed = self.followed.write().unwrap_or_else(PoisonError::into_inner);
        followed.push((folder.to_owned(), signal.clone()));
        drop(followed);
        match watcher.watch(folder, mode) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!("changes of {folder:?} are noticed by period only: {error}");
                false
            }
        }
    }

    /// Asks for no more changes of a folder.
    pub(super) fn forget(&self, folder: &Path) {
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        let mut followed = self.followed.write().unwrap_or_else(PoisonError::into_inner);
        let before = followed.len();
        followed.retain(|(other, _)| other != folder);
        let was_followed = followed.len() < before;
        // Its thread takes the list to report, so that it is not held here.
        drop(followed);
        if let (true, Some(watcher)) = (was_followed, watcher.as_mut()) {
            // A folder that is gone is not watched any more.
            let _ = watcher.unwatch(folder);
        }
    }

    /// Ends all reports.
    pub(super) fn stop(&self) {
        let watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(watcher);
        self.followed.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Whether a file may have arrived: writes that have not ended and reads do not matter.
fn may_matter(kind: &EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) | EventKind::Remove(_) => false,
        EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_)) => false,
        EventKind::Create(_) | EventKind::Modify(_) | EventKind::Any | EventKind::Other => true,
    }
}

fn tell(followed: &Followed, event: notify::Result<notify::Event>) {
    let followed = followed.read().unwrap_or_else(PoisonError::into_inner);
    let Ok(event) = event.inspect_err(|error| tracing::debug!("reports of changes: {error}"))
    else {
        return followed.iter().for_each(|(_, signal)| signal.scan());
    };
    // The queue of the system overflowed: what was lost is found by scans.
    if event.need_rescan() {
        return followed.iter().for_each(|(_, signal)| signal.scan());
    }
    if !may_matter(&event.kind) {
        return;
    }
    for path in &event.paths {
        for (folder, signal) in followed.iter() {
            match path.strip_prefix(folder) {
                Ok(path) if path.as_os_str().is_empty() => signal.scan(),
                Ok(path) => signal.look(path),
                Err(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::WatcherOptions;
    use super::super::signal::Call;
    use super::*;
    use notify::Event;
    use notify::event::{CreateKind, Flag};
    use std::time::Duration;

    fn followed() -> (Followed, Arc<Signal>) {
        let signal = Arc::new(Signal::new(&WatcherOptions::default()));
        let one = vec![(PathBuf::from("/in"), signal.clone())];
        (Arc::new(RwLock::new(one)), signal)
    }

    #[test]
    fn a_file_that_arrives_is_looked_at_in_its_folder_alone() {
        let (followed, signal) = followed();
        for path in ["/in/x/a.csv", "/other/b.csv"] {
            tell(
                &followed,
                Ok(Event::new(EventKind::Create(CreateKind::File)).add_path(path.into())),
            );
        }
        assert_eq!(signal.wait(Duration::ZERO), Call::Look(vec!["x/a.csv".into()]));
    }

    #[test]
    fn an_overflow_of_the_systems_queue_is_a_scan() {
        let (followed, signal) = followed();
        tell(&followed, Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)));
        assert_eq!(signal.wait(Duration::ZERO), Call::Scan);
    }
}
