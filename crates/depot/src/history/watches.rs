//! The watched folders, and which of their files were imported and are still there.

use crate::watcher::WatchSpec;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// A watch as history knows it. While records are read, one may stand for a watch whose image is still
/// to come; then it has no settings.
#[derive(Debug, Default)]
struct WatchState {
    spec: Option<WatchSpec>,
    is_enabled: bool,
    marks: BTreeSet<u128>,
}

/// All watches.
#[derive(Debug, Default)]
pub(crate) struct WatchStates {
    by_name: BTreeMap<String, WatchState>,
    /// The marks of all watches.
    marks: usize,
}

impl WatchStates {
    pub(super) fn set(&mut self, spec: WatchSpec, is_enabled: bool) {
        let watch = self.by_name.entry(spec.name.clone()).or_default();
        (watch.spec, watch.is_enabled) = (Some(spec), is_enabled);
    }

    pub(super) fn remove(&mut self, name: &str) {
        if let Some(watch) = self.by_name.remove(name) {
            self.marks -= watch.marks.len();
        }
    }

    pub(super) fn remember(&mut self, name: &str, marks: &[u128]) {
        let watch = self.by_name.entry(name.to_owned()).or_default();
        self.marks += marks.iter().filter(|mark| watch.marks.insert(**mark)).count();
    }

    pub(super) fn forget(&mut self, name: &str, marks: &[u128]) {
        let Some(watch) = self.by_name.get_mut(name) else { return };
        self.marks -= marks.iter().filter(|mark| watch.marks.remove(mark)).count();
    }

    /// A watch without settings was removed before its image was written.
    pub(super) fn finish_reading(&mut self) {
        self.by_name.retain(|_, watch| watch.spec.is_some());
        self.marks = self.by_name.values().map(|watch| watch.marks.len()).sum();
    }

    pub(super) fn weight(&self) -> usize {
        512 * self.by_name.len() + 19 * self.marks
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.by_name.keys().cloned().collect()
    }

    pub(super) fn marks_after(&self, name: &str, after: Option<u128>, max: usize) -> Vec<u128> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let watch = self.by_name.get(name);
        let marks = watch.into_iter().flat_map(|it| it.marks.range((from, Bound::Unbounded)));
        marks.copied().take(max).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// A watch and whether it is enabled.
    pub(crate) fn get(&self, name: &str) -> Option<(&WatchSpec, bool)> {
        let watch = self.by_name.get(name)?;
        Some((watch.spec.as_ref()?, watch.is_enabled))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&WatchSpec, bool)> {
        self.by_name.values().filter_map(|it| Some((it.spec.as_ref()?, it.is_enabled)))
    }

    /// Whether an import is remembered.
    pub(crate) fn has_mark(&self, name: &str, mark: u128) -> bool {
        self.by_name.get(name).is_some_and(|watch| watch.marks.contains(&mark))
    }

    /// The remembered imports of a watch, and of all watches.
    pub(crate) fn marks_of(&self, name: &str) -> (usize, usize) {
        (self.by_name.get(name).map_or(0, |watch| watch.marks.len()), self.marks)
    }

    /// The remembered imports of a watch that are not among these.
    pub(crate) fn marks_outside(
        &self,
        name: &str,
        seen: &std::collections::HashSet<u128>,
    ) -> Vec<u128> {
        let marks = self.by_name.get(name).map(|watch| &watch.marks).into_iter().flatten();
        marks.filter(|mark| !seen.contains(mark)).copied().collect()
    }
}
