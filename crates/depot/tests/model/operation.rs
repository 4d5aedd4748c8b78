//! The operations on a pool, and their generation.
//!
//! Operations refer to objects by numbers modulo their count, so that a history stays valid when
//! parts of it are left out.

use proptest::prelude::*;
use rialto_depot::{DirectoryKind, Quota};
use std::time::Duration;

pub(crate) const TENANTS: [&str; 3] = ["acme", "beta", "corp"];
pub(crate) const DIRECTORIES: [&str; 4] = ["", "in", "in/deep", "out"];
pub(crate) const NAMES: [&str; 3] = ["a", "b", "c"];
pub(crate) const KEYS: [&str; 2] = ["k", "l"];

/// A file that a client wants to store.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) directory: usize,
    pub(crate) name: Option<usize>,
    pub(crate) bytes: usize,
    /// Tells contents of the same length apart.
    pub(crate) variant: u64,
    pub(crate) priority: u8,
    pub(crate) key: Option<usize>,
    pub(crate) deliver_after: Option<Duration>,
    pub(crate) expires_after: Option<Duration>,
    pub(crate) if_absent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Enable,
    Disable,
    Drain,
    Delete,
}

/// What a worker does with a claim.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Complete,
    CompleteWith(Vec<Shape>),
    Fail(Option<Duration>),
    Refuse,
    GiveBack,
    Renew(Duration),
}

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Create(usize, Quota),
    SetStage(usize, Stage),
    SetQuota(usize, Quota),
    SetDirectory(usize, usize, Option<DirectoryKind>, Quota),
    Put(usize, Shape),
    Begin(usize, Shape),
    Finish(usize),
    Abandon(usize),
    Claim(usize, usize, Option<Duration>),
    ClaimAny(usize),
    Answer(usize, Answer),
    CompleteAll(usize),
    Delete(usize, usize),
    Redrive(usize),
    Pass(Duration),
    Reopen,
}

fn quota() -> impl Strategy<Value = Quota> {
    let limit = |most: u64| prop_oneof![2 => Just(0), 1 => 1..=most];
    (limit(6), limit(12_000)).prop_map(|(files_max, bytes_max)| Quota { files_max, bytes_max })
}

fn seconds(most: u64) -> impl Strategy<Value = Duration> {
    (1..=most).prop_map(Duration::from_secs)
}

fn rarely<T: Clone + std::fmt::Debug>(
    some: impl Strategy<Value = T>,
) -> impl Strategy<Value = Option<T>> {
    proptest::option::weighted(0.2, some)
}

fn shape() -> impl Strategy<Value = Shape> {
    let bytes = prop_oneof![2 => 0..300_usize, 1 => 1_001..4_000_usize];
    let what = (0..DIRECTORIES.len(), proptest::option::weighted(0.8, 0..NAMES.len()), bytes);
    let how = (0..2_u64, 0..2_u8, rarely(0..KEYS.len()), rarely(seconds(100)));
    let rest = (rarely(seconds(200)), proptest::bool::weighted(0.2));
    (what, how, rest).prop_map(|(what, how, rest)| {
        let ((directory, name, bytes), (variant, priority, key, deliver_after)) = (what, how);
        let (expires_after, if_absent) = rest;
        Shape {
            directory,
            name,
            bytes,
            variant,
            priority,
            key,
            deliver_after,
            expires_after,
            if_absent,
        }
    })
}

fn kind() -> impl Strategy<Value = Option<DirectoryKind>> {
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(DirectoryKind::Work)),
        2 => Just(Some(DirectoryKind::Shelf)),
    ]
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        3 => Just(Answer::Complete),
        2 => proptest::collection::vec(shape(), 1..4).prop_map(Answer::CompleteWith),
        3 => rarely(seconds(60)).prop_map(Answer::Fail),
        1 => Just(Answer::Refuse),
        1 => Just(Answer::GiveBack),
        1 => seconds(120).prop_map(Answer::Renew),
    ]
}

fn operation() -> impl Strategy<Value = Operation> {
    let tenant = || prop_oneof![4 => Just(0_usize), 1 => 1..TENANTS.len()];
    let any = 0..1_000_usize;
    let stage = prop_oneof![
        4 => Just(Stage::Enable),
        1 => Just(Stage::Disable),
        1 => Just(Stage::Drain),
        1 => Just(Stage::Delete),
    ];
    prop_oneof![
        1 => (tenant(), quota()).prop_map(|(tenant, quota)| Operation::Create(tenant, quota)),
        2 => (tenant(), stage).prop_map(|(tenant, stage)| Operation::SetStage(tenant, stage)),
        1 => (tenant(), quota()).prop_map(|(tenant, quota)| Operation::SetQuota(tenant, quota)),
        3 => (tenant(), 0..DIRECTORIES.len(), kind(), quota()).prop_map(
            |(tenant, directory, kind, quota)| {
                Operation::SetDirectory(tenant, directory, kind, quota)
            }
        ),
        12 => (tenant(), shape()).prop_map(|(tenant, shape)| Operation::Put(tenant, shape)),
        3 => (tenant(), shape()).prop_map(|(tenant, shape)| Operation::Begin(tenant, shape)),
        3 => any.clone().prop_map(Operation::Finish),
        1 => any.clone().prop_map(Operation::Abandon),
        6 => (tenant(), 1..4_usize, rarely(seconds(120)))
            .prop_map(|(tenant, max, duration)| Operation::Claim(tenant, max, duration)),
        3 => (1..4_usize).prop_map(Operation::ClaimAny),
        12 => (any.clone(), answer()).prop_map(|(nth, answer)| Operation::Answer(nth, answer)),
        1 => tenant().prop_map(Operation::CompleteAll),
        3 => (tenant(), any).prop_map(|(tenant, nth)| Operation::Delete(tenant, nth)),
        2 => tenant().prop_map(Operation::Redrive),
        4 => seconds(90).prop_map(Operation::Pass),
        2 => Just(Operation::Reopen),
    ]
}

pub(crate) fn history(operations_max: usize) -> impl Strategy<Value = Vec<Operation>> {
    proptest::collection::vec(operation(), 1..=operations_max)
}
