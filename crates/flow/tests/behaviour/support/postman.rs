//! A forwarder with set answers, which records its deliveries.

use rialto_flow::outbox::{ForwardError, Forwarder};
use rialto_flow::store::OutboxMessage;
use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

/// The answer to a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Answer {
    #[default]
    Take,
    Fail,
    Refuse,
    Panic,
    /// There is no answer until it is changed to another.
    Hang,
}

#[derive(Clone, Default)]
pub(crate) struct Postman(Arc<Mutex<Round>>);

#[derive(Default)]
struct Round {
    answers: HashMap<String, Answer>,
    usual: Answer,
    attempts: HashMap<String, usize>,
    delivered: Vec<String>,
    under_way: HashMap<String, usize>,
    most: usize,
    most_of_one: usize,
    wakers: Vec<Waker>,
}

impl Round {
    fn answer(&self, key: &str) -> Answer {
        self.answers.get(key).copied().unwrap_or(self.usual)
    }
}

/// Counts a message as in progress until it is dropped.
struct UnderWay(Postman, String);

impl Drop for UnderWay {
    fn drop(&mut self) {
        let Self(postman, key) = self;
        let mut round = postman.round();
        if let Some(count) = round.under_way.get_mut(key) {
            *count -= 1;
        }
    }
}

impl Postman {
    fn round(&self) -> MutexGuard<'_, Round> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn answer(&self, key: &str, answer: Answer) {
        let mut round = self.round();
        round.answers.insert(key.to_owned(), answer);
        round.wakers.drain(..).for_each(Waker::wake);
    }

    pub(crate) fn hang_all(&self) {
        self.round().usual = Answer::Hang;
    }

    pub(crate) fn release_all(&self) {
        let mut round = self.round();
        round.usual = Answer::Take;
        round.wakers.drain(..).for_each(Waker::wake);
    }

    pub(crate) fn delivered(&self) -> Vec<String> {
        self.round().delivered.clone()
    }

    pub(crate) fn attempts(&self, key: &str) -> usize {
        self.round().attempts.get(key).copied().unwrap_or(0)
    }

    pub(crate) fn under_way(&self) -> usize {
        self.round().under_way.values().sum()
    }

    pub(crate) fn most_under_way(&self) -> usize {
        self.round().most
    }

    pub(crate) fn most_under_way_of_one_message(&self) -> usize {
        self.round().most_of_one
    }

    fn set_out(&self, key: &str) -> UnderWay {
        let mut round = self.round();
        *round.attempts.entry(key.to_owned()).or_default() += 1;
        let count = round.under_way.entry(key.to_owned()).or_default();
        *count += 1;
        let of_one = *count;
        let all = round.under_way.values().sum();
        round.most_of_one = round.most_of_one.max(of_one);
        round.most = round.most.max(all);
        UnderWay(self.clone(), key.to_owned())
    }
}

impl Forwarder for Postman {
    async fn forward(&self, message: &OutboxMessage) -> Result<(), ForwardError> {
        let _under_way = self.set_out(&message.key);
        let answer = poll_fn(|cx| {
            let mut round = self.round();
            match round.answer(&message.key) {
                Answer::Hang => {
                    round.wakers.push(cx.waker().clone());
                    Poll::Pending
                }
                answer => Poll::Ready(answer),
            }
        })
        .await;
        match answer {
            Answer::Fail => Err(ForwardError::failed("the line is dead")),
            Answer::Refuse => Err(ForwardError::refused("no such account")),
            Answer::Panic => panic!("the postman fell"),
            Answer::Take | Answer::Hang => {
                self.round().delivered.push(message.key.clone());
                Ok(())
            }
        }
    }
}
