//! A naive model of an outbox with an inbox, and the comparison of a store with it.

use proptest::prelude::*;
use rialto_flow::Timestamp;
use rialto_flow::outbox::{InboxStore, OutboxStore};
use rialto_flow::store::{
    Accepted, Backlog, ClaimedMessage, DeliveryResult, InboxMark, MessageNumber, OutboxMessage,
};
use std::time::Duration;

/// Both traits at once.
pub(crate) trait Both: OutboxStore + InboxStore {}
impl<T: OutboxStore + InboxStore> Both for T {}

/// An operation on a store.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Accept {
        mark: Option<u8>,
        keep: u64,
        keys: Vec<Option<u8>>,
    },
    Claim {
        lease: u64,
        max: usize,
    },
    /// Settles the nth of all claims ever made.
    Settle {
        nth: usize,
        how: u8,
        pause: u64,
    },
    Bury {
        nth: usize,
        requeue: bool,
    },
    Advance(u64),
    Maintain,
    /// Opens the store again, after a crash.
    Reopen,
}

pub(crate) fn acts() -> impl Strategy<Value = Vec<Act>> {
    let keys = prop::collection::vec(prop::option::weighted(0.7, 0..3_u8), 0..4);
    let act = prop_oneof![
        3 => (prop::option::of(0..4_u8), 0..30_u64, keys)
            .prop_map(|(mark, keep, keys)| Act::Accept { mark, keep, keys }),
        4 => (1..20_u64, 1..4_usize).prop_map(|(lease, max)| Act::Claim { lease, max }),
        5 => (0..30_usize, 0..4_u8, 0..20_u64)
            .prop_map(|(nth, how, pause)| Act::Settle { nth, how, pause }),
        2 => (0..5_usize, any::<bool>()).prop_map(|(nth, requeue)| Act::Bury { nth, requeue }),
        3 => (0..15_u64).prop_map(Act::Advance),
        1 => Just(Act::Maintain),
        1 => Just(Act::Reopen),
    ];
    prop::collection::vec(act, 1..60)
}

#[derive(Clone, Debug)]
struct StoredMessage {
    number: u64,
    message: OutboxMessage,
    attempts: u32,
    due: u64,
    dead: bool,
    claim: Option<(u64, u64)>,
}

/// A naive model of the stores.
#[derive(Default)]
struct Model {
    now: u64,
    next: u64,
    tokens: u64,
    kept: Vec<StoredMessage>,
    marks: Vec<(u8, u64)>,
}

impl Model {
    fn backlog(&self) -> Backlog {
        let dead = self.kept.iter().filter(|kept| kept.dead).count();
        Backlog { waiting: self.kept.len() - dead, dead }
    }

    fn accept(&mut self, mark: Option<u8>, keep: u64, messages: &[OutboxMessage]) -> Accepted {
        if let Some(mark) = mark {
            if self.marks.iter().any(|(known, _)| *known == mark) {
                return Accepted::Duplicate;
            }
            self.marks.push((mark, self.now + keep));
        }
        for message in messages {
            let (number, message) = (self.next, message.clone());
            self.next += 1;
            self.kept.push(StoredMessage {
                number,
                message,
                attempts: 0,
                due: 0,
                dead: false,
                claim: None,
            });
        }
        Accepted::New
    }

    /// Whether another message of its ordering key stands before this one.
    fn waits(&self, kept: &StoredMessage) -> bool {
        let of_key = |other: &&StoredMessage| {
            kept.message.ordering_key.is_some()
                && other.message.ordering_key == kept.message.ordering_key
                && !other.dead
                && other.number != kept.number
        };
        let mut others = self.kept.iter().filter(of_key);
        kept.claim.is_none()
            && others.any(|other| other.claim.is_some() || other.number < kept.number)
    }

    fn due(&self) -> Vec<(u64, u64)> {
        let ready = self.kept.iter().filter(|kept| !kept.dead && !self.waits(kept));
        let mut due: Vec<_> = ready
            .map(|kept| {
                (kept.claim.map_or(kept.due, |(_, until)| until.max(kept.due)), kept.number)
            })
            .collect();
        due.sort_unstable();
        due
    }

    fn claim(&mut self, lease: u64, max: usize) -> Vec<(u64, u32)> {
        let due = self.due();
        let due = due.into_iter().filter(|(at, _)| *at <= self.now).take(max);
        let mut numbers: Vec<_> = due.map(|(_, number)| number).collect();
        numbers.sort_unstable();
        let until = self.now + lease;
        numbers
            .into_iter()
            .map(|number| {
                self.tokens += 1;
                let claim = Some((self.tokens, until));
                let kept = self.kept.iter_mut().find(|kept| kept.number == number).unwrap();
                kept.claim = claim;
                (number, kept.attempts)
            })
            .collect()
    }

    /// Settles a claim; `token` is the model's own.
    fn settle(&mut self, token: u64, delivery: &DeliveryResult) -> bool {
        let held = |kept: &StoredMessage| kept.claim.is_some_and(|(held, _)| held == token);
        let Some(at) = self.kept.iter().position(held) else { return false };
        let kept = &mut self.kept[at];
        kept.claim = None;
        kept.attempts += 1;
        match delivery {
            DeliveryResult::Forwarded => drop(self.kept.remove(at)),
            DeliveryResult::Retry { at } => kept.due = at.0,
            DeliveryResult::Dead { .. } => kept.dead = true,
        }
        true
    }
}

/// Does the same to a store, whose first message gets the number `first`, and to the model. `reopen`
/// crashes the store and opens it again, if it can.
pub(crate) fn check(
    acts: &[Act],
    mut store: Box<dyn Both>,
    first: u64,
    reopen: Option<&dyn Fn(u8) -> Box<dyn Both>>,
) {
    let mut model = Model { next: first, ..Model::default() };
    let mut claims: Vec<(ClaimedMessage, u64)> = Vec::new();
    let mut life = 1;
    for act in acts {
        match act {
            Act::Accept { mark, keep, keys } => {
                let messages: Vec<_> = keys
                    .iter()
                    .map(|key| {
                        let ordering_key = key.map(|key| key.to_string());
                        OutboxMessage { ordering_key, ..OutboxMessage::new("to", [7; 900]) }
                    })
                    .collect();
                let keep_until = Timestamp(model.now + keep);
                let marks = mark.map(|mark| InboxMark {
                    from: "x".into(),
                    key: mark.to_string(),
                    keep_until,
                });
                let expected = model.accept(*mark, *keep, &messages);
                assert_eq!(store.accept(marks.into_iter().collect(), messages), Ok(expected));
            }
            Act::Claim { lease, max } => {
                let tokens = model.tokens;
                let expected = model.claim(*lease, *max);
                let lease = Duration::from_nanos(*lease);
                let claimed = store.claim_messages(Timestamp(model.now), lease, *max).unwrap();
                let seen: Vec<_> = claimed.iter().map(|it| (it.number.0, it.attempts)).collect();
                assert_eq!(seen, expected);
                claims.extend(claimed.into_iter().zip(tokens + 1..));
            }
            Act::Settle { nth, how, pause } => {
                if claims.is_empty() {
                    continue;
                }
                let (claim, token) = &claims[nth % claims.len()];
                let delivery = match how {
                    0 | 1 => DeliveryResult::Forwarded,
                    2 => DeliveryResult::Retry { at: Timestamp(model.now + pause) },
                    _ => DeliveryResult::Dead { reason: "no".to_owned() },
                };
                let expected = model.settle(*token, &delivery);
                assert_eq!(store.settle(claim, delivery), Ok(expected));
                store.commit_messages().unwrap();
            }
            Act::Bury { nth, requeue } => {
                let number = MessageNumber(first + *nth as u64);
                let at = model.kept.iter().position(|it| it.number == number.0 && it.dead);
                if let Some(at) = at {
                    let old = model.kept.remove(at);
                    let (attempts, due, dead) = (0, 0, false);
                    if *requeue {
                        model.kept.push(StoredMessage { attempts, due, dead, ..old });
                    }
                }
                let done = if *requeue { store.requeue(number) } else { store.discard(number) };
                assert_eq!(done, Ok(at.is_some()));
            }
            Act::Advance(by) => model.now += by,
            Act::Maintain => {
                model.marks.retain(|(_, until)| *until >= model.now);
                store.maintain_messages(Timestamp(model.now)).unwrap();
            }
            Act::Reopen => {
                if let Some(reopen) = reopen {
                    life += 1;
                    drop(store);
                    store = reopen(life);
                    // Marks that were forgotten may come back with the log; they go again.
                    store.maintain_messages(Timestamp(model.now)).unwrap();
                    model.marks.retain(|(_, until)| *until >= model.now);
                    model.kept.iter_mut().for_each(|kept| kept.claim = None);
                    claims.clear();
                }
            }
        }
        assert_eq!(store.backlog(), Ok(model.backlog()), "after {act:?}");
        let due = model.due().first().map(|(at, _)| Timestamp(*at));
        assert_eq!(store.next_due(), Ok(due), "after {act:?}");
        let dead = store.dead_letters(None, 100).unwrap();
        let mut expected: Vec<_> =
            model.kept.iter().filter(|it| it.dead).map(|it| (it.number, it.attempts)).collect();
        expected.sort_unstable();
        let seen: Vec<_> = dead.iter().map(|it| (it.number.0, it.attempts)).collect();
        assert_eq!(seen, expected, "after {act:?}");
        for mark in 0..4 {
            let known = model.marks.iter().any(|(known, _)| *known == mark);
            assert_eq!(store.is_marked("x", &mark.to_string()), Ok(known), "after {act:?}");
        }
    }
}
