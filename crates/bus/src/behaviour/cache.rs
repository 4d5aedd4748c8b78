//! Caches of answers to queries.

use crate::{Behaviour, BehaviourNow, Context, Handler, HandlerNow, Query, Request, Result};
use rialto_clock::{Clock, SystemClock};
use std::any::{Any, TypeId};
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A query whose answer may be cached.
pub trait Cacheable: Query<Response: Clone> {
    /// The cache key.
    type Key: Hash + Eq + Clone + Send + 'static;

    /// The key of this query, or `None` if its answer is not cached. If the answer depends on the
    /// principal, the key must include it.
    fn cache_key(&self, cx: &Context<'_>) -> Option<Self::Key>;
}

/// Caches answers to queries for some time. Failures are not cached.
///
/// It keeps at most `answers_max` answers of each type; the oldest makes room. Equal queries that
/// arrive while one is being answered are sent on. Put authorisation before it.
#[derive(Debug)]
pub struct Cache<C = SystemClock> {
    keep_for: Duration,
    answers_max: usize,
    clock: C,
    shelves: Mutex<HashMap<TypeId, Box<dyn Any + Send>>>,
}

/// The answers to one type of query.
struct Shelf<R: Cacheable> {
    answers: HashMap<R::Key, R::Response>,
    /// Every key of `answers` once, oldest first.
    ages: VecDeque<(Instant, R::Key)>,
}

impl<R: Cacheable> Shelf<R> {
    fn drop_oldest_while(&mut self, is_too_many: impl Fn(&Instant, usize) -> bool) {
        while let Some((since, key)) = self.ages.front()
            && is_too_many(since, self.ages.len())
        {
            self.answers.remove(key);
            self.ages.pop_front();
        }
    }
}

impl Cache {
    /// Keeps answers for this long by the system clock, at most `answers_max` of each type of
    /// query.
    #[must_use]
    pub fn new(keep_for: Duration, answers_max: usize) -> Cache {
        Cache::with_clock(keep_for, answers_max, SystemClock)
    }
}

impl<C: Clock> Cache<C> {
    /// The same by this clock.
    #[must_use]
    pub fn with_clock(keep_for: Duration, answers_max: usize, clock: C) -> Cache<C> {
        Cache { keep_for, answers_max, clock, shelves: Mutex::default() }
    }

    /// Runs `act` on the unexpired answers of this type.
    fn with_shelf<R: Cacheable, T>(&self, act: impl FnOnce(&mut Shelf<R>, Instant) -> T) -> T {
        let mut shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        let shelf = shelves.entry(TypeId::of::<R>()).or_insert_with(|| {
            Box::new(Shelf::<R> { answers: HashMap::new(), ages: VecDeque::new() })
        });
        let shelf = shelf
            .downcast_mut::<Shelf<R>>()
            .expect("the shelf of a type is made for that type, just above");
        // Read under the lock, so that ages are in order.
        let now = self.clock.monotonic();
        let keep_for = self.keep_for;
        shelf.drop_oldest_while(|since, _| now.saturating_duration_since(*since) >= keep_for);
        act(shelf, now)
    }

    fn find<R: Cacheable>(&self, key: &R::Key) -> Option<R::Response> {
        self.with_shelf::<R, _>(|shelf, _| shelf.answers.get(key).cloned())
    }

    fn keep<R: Cacheable>(&self, key: R::Key, answer: &R::Response) {
        if self.answers_max == 0 {
            return;
        }
        self.with_shelf::<R, _>(|shelf, now| {
            // Another caller with the same query was faster; the answer keeps its age.
            if shelf.answers.contains_key(&key) {
                return;
            }
            shelf.drop_oldest_while(|_, kept| kept >= self.answers_max);
            shelf.ages.push_back((now, key.clone()));
            shelf.answers.insert(key, answer.clone());
        });
    }
}

impl<R: Request + Cacheable, C: Clock> Behaviour<R> for Cache<C> {
    async fn call<N: Handler<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> Result<R::Response> {
        let Some(key) = request.cache_key(cx) else { return next.handle(request, cx).await };
        if let Some(answer) = self.find::<R>(&key) {
            return Ok(answer);
        }
        let answer = next.handle(request, cx).await?;
        self.keep::<R>(key, &answer);
        Ok(answer)
    }
}

impl<R: Request + Cacheable, C: Clock> BehaviourNow<R> for Cache<C> {
    fn call_now<N: HandlerNow<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> Result<R::Response> {
        let Some(key) = request.cache_key(cx) else { return next.handle_now(request, cx) };
        if let Some(answer) = self.find::<R>(&key) {
            return Ok(answer);
        }
        let answer = next.handle_now(request, cx)?;
        self.keep::<R>(key, &answer);
        Ok(answer)
    }
}
