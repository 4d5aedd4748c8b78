//! Workers: claim files, and end each as completed or failed.

use super::any_pool::{AnyPool, ClaimRequest, Claimed, Range, ReadError};
use super::exec::{Exec, Outcome};
use super::saving::Saving;
use super::shown::printable;
use crate::Error;
use crate::stop::Stop;
use crate::terminal::note;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait in one claim, so that a signal is noticed.
const WAIT_MAX: Duration = Duration::from_millis(200);

/// Workers that share a number of files.
pub(super) struct Workers<'a> {
    pool: &'a dyn AnyPool,
    request: ClaimRequest<'a>,
    keep_going: bool,
    stop: Stop,
    has_told_stop: AtomicBool,
    /// The files that may still be claimed.
    left: AtomicU64,
    /// Whether no more files are claimed.
    has_ended: AtomicBool,
    completed: AtomicU64,
    failed: AtomicU64,
}

impl<'a> Workers<'a> {
    pub(super) fn new(
        pool: &'a dyn AnyPool,
        request: ClaimRequest<'a>,
        limit: Option<u64>,
        keep_going: bool,
        stop: Stop,
    ) -> Workers<'a> {
        Workers {
            pool,
            request,
            keep_going,
            stop,
            has_told_stop: AtomicBool::new(false),
            left: AtomicU64::new(limit.unwrap_or(u64::MAX)),
            has_ended: AtomicBool::new(false),
            completed: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    }

    /// Runs the command on files, in this many threads.
    pub(super) fn run(&self, threads: usize, exec: &Exec) -> Result<(), Error> {
        thread::scope(|scope| {
            let work = || {
                let done = self.run_one_by_one(exec);
                if done.is_err() {
                    self.has_ended.store(true, Relaxed);
                }
                done
            };
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut done = work();
            for other in others {
                let panicked = |_| Err(Error::Failed("a worker panicked".to_owned()));
                done = done.and(other.join().unwrap_or_else(panicked));
            }
            done
        })
    }

    fn run_one_by_one(&self, exec: &Exec) -> Result<(), Error> {
        while let Some(claimed) = self.claim(1)?.pop() {
            let mut keeper = Keeper::new(self, std::slice::from_ref(&claimed));
            match exec.run(self.pool, &claimed, &mut keeper) {
                Ok(Outcome::Completed) => self.note_completed(1),
                Ok(Outcome::Failed(reason)) => self.fail(&claimed, &reason),
                Err(error) => {
                    self.give_back(&claimed);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Moves files to a directory, several with one sync of the directory.
    pub(super) fn save(&self, saving: &Saving, together: usize) -> Result<(), Error> {
        loop {
            let claims = self.claim(together)?;
            if claims.is_empty() {
                return Ok(());
            }
            let mut keeper = Keeper::new(self, &claims);
            let mut saved = Vec::with_capacity(claims.len());
            let mut stopped = Ok(());
            for claimed in &claims {
                if stopped.is_err() || self.has_ended.load(Relaxed) {
                    self.give_back(claimed);
                    continue;
                }
                match saving.save(claimed, &mut keeper) {
                    Ok(()) => saved.push(claimed),
                    Err(ReadError::Content(error)) => self.fail(claimed, &error.to_string()),
                    Err(ReadError::Sink(error)) => {
                        self.give_back(claimed);
                        stopped = Err(error);
                    }
                }
            }
            if let Err(error) = saving.sync() {
                saved.iter().for_each(|claimed| self.give_back(claimed));
                return stopped.and(Err(error));
            }
            let tokens: Vec<_> = saved.iter().map(|claimed| claimed.token.as_str()).collect();
            for (claimed, result) in saved.iter().zip(self.pool.complete(&tokens)?) {
                match result {
                    Ok(()) => self.note_completed(1),
                    Err(error) => self.fail(claimed, &error.to_string()),
                }
            }
            stopped?;
        }
    }

    /// Claims at most `files_max` files. There is none if the limit is reached, the run ends, or none
    /// came in time.
    fn claim(&self, files_max: usize) -> Result<Vec<Claimed>, Error> {
        let begin = Instant::now();
        let files_max = self.take_from_limit(files_max);
        if files_max == 0 {
            return Ok(Vec::new());
        }
        while !self.has_ended.load(Relaxed) && !self.stop.wait(Duration::ZERO) {
            let left = self.request.wait.saturating_sub(begin.elapsed());
            let wait = left.min(WAIT_MAX);
            let claims = self.pool.claim(&ClaimRequest { files_max, wait, ..self.request })?;
            if !claims.is_empty() || left.is_zero() {
                self.put_back_to_limit(files_max - claims.len().min(files_max));
                return Ok(claims);
            }
        }
        self.put_back_to_limit(files_max);
        Ok(Vec::new())
    }

    /// Says once that a signal asked to stop, while a file is worked on.
    fn tell_stop(&self) {
        if self.stop.wait(Duration::ZERO) && !self.has_told_stop.swap(true, Relaxed) {
            note(format_args!("no more files are claimed; the claimed ones are finished first"));
        }
    }

    fn take_from_limit(&self, files_max: usize) -> usize {
        let take = |left: u64| Some(left - left.min(files_max as u64));
        let before = self.left.fetch_update(Relaxed, Relaxed, take).unwrap_or(0);
        before.min(files_max as u64) as usize
    }

    fn put_back_to_limit(&self, files: usize) {
        self.left.fetch_add(files as u64, Relaxed);
    }

    fn note_completed(&self, files: u64) {
        self.completed.fetch_add(files, Relaxed);
    }

    fn fail(&self, claimed: &Claimed, reason: &str) {
        self.failed.fetch_add(1, Relaxed);
        let (name, why) = (printable(claimed.name.as_str()), printable(reason));
        note(format_args!("{} {name} failed: {why}", claimed.id));
        if let Err(error) = self.pool.fail(&claimed.token, reason, None) {
            note(format_args!("{} cannot be given back as failed: {error}", claimed.id));
        }
        if !self.keep_going {
            self.has_ended.store(true, Relaxed);
        }
    }

    fn give_back(&self, claimed: &Claimed) {
        if let Err(error) = self.pool.give_back(&claimed.token) {
            note(format_args!("{} cannot be returned: {error}", claimed.id));
        }
    }

    /// Says what was done, and fails if a file has failed.
    pub(super) fn end(&self, done: Result<(), Error>) -> Result<(), Error> {
        let (completed, failed) = (self.completed.load(Relaxed), self.failed.load(Relaxed));
        if failed == 0 {
            note(format_args!("{completed} completed"));
            return done;
        }
        done.and(Err(Error::Failed(format!("{completed} completed, {failed} failed"))))
    }
}

/// Renews claims in time.
pub(super) struct Keeper<'a> {
    workers: &'a Workers<'a>,
    claims: &'a [Claimed],
    /// A third of the duration: two renewals may be late before a claim ends.
    every: Duration,
    next: Instant,
}

impl<'a> Keeper<'a> {
    fn new(workers: &'a Workers<'a>, claims: &'a [Claimed]) -> Self {
        let every = workers.request.duration / 3;
        Self { workers, claims, every, next: Instant::now() + every }
    }

    /// Renews the claims if it is time to. Fails if that of the current file was lost; a loss of
    /// another is noticed when its file is completed.
    pub(super) fn keep(&mut self, current: &Claimed) -> Result<(), Error> {
        self.workers.tell_stop();
        let now = Instant::now();
        if now < self.next {
            return Ok(());
        }
        self.next = now + self.every;
        let (pool, duration) = (self.workers.pool, self.workers.request.duration);
        let mut kept = Ok(());
        for claimed in self.claims {
            let renewed = pool.renew(&claimed.token, duration).map(drop);
            if claimed.token == current.token {
                kept = renewed;
            }
        }
        kept
    }

    /// The time until the next renewal.
    pub(super) fn time_left(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Gives the content of a claimed file to `write`, and keeps its claim. A claim that is lost is a
    /// content that cannot be read.
    pub(super) fn read(
        &mut self,
        current: &Claimed,
        mut write: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), ReadError> {
        let pool = self.workers.pool;
        let mut is_lost = false;
        let read = pool.read(&current.tenant, current.id, Range::ALL, &mut |bytes| {
            self.keep(current).inspect_err(|_| is_lost = true)?;
            write(bytes)
        });
        match read {
            Err(ReadError::Sink(error)) if is_lost => Err(ReadError::Content(error)),
            read => read,
        }
    }
}
