//! Every guarantee of the queue is broken on purpose, and the histories must detect it.

use super::life::{Coverage, live};
use rialto_queue::{Level, Sabotage};

/// How many histories a defect may stay unnoticed.
const SEEDS: u64 = 400;
/// The first history in which a group had come further than what survived of a topic, and new
/// messages then took the numbers of the lost ones: thousands of histories have none.
const LOST_PROGRESS: u64 = 3_491;

fn is_caught(sabotage: Sabotage) {
    let levels = [Level::Synced, Level::Buffered];
    let mut histories = (0..SEEDS).flat_map(|seed| levels.map(|level| (seed, level)));
    let caught = histories.find(|(seed, level)| {
        live(*seed, *level, Some(sabotage), &mut Coverage::default()).is_err()
    });
    assert!(caught.is_some(), "{sabotage:?} went unnoticed");
}

#[test]
fn messages_that_are_not_synced_are_missed() {
    is_caught(Sabotage::SkipSync);
}

#[test]
fn a_transaction_that_is_delivered_before_it_is_durable_is_noticed() {
    is_caught(Sabotage::DeliverBeforeSync);
}

#[test]
fn an_opening_that_does_not_write_down_what_it_found_is_noticed() {
    is_caught(Sabotage::SkipOpeningCheckpoint);
}

#[test]
fn acknowledgements_that_are_forgotten_are_noticed() {
    is_caught(Sabotage::ForgetAcks);
}

#[test]
fn progress_on_messages_that_were_lost_is_noticed() {
    let life = |sabotage| live(LOST_PROGRESS, Level::Buffered, sabotage, &mut Coverage::default());
    life(None).unwrap();
    assert!(life(Some(Sabotage::KeepLostProgress)).is_err(), "lost progress went unnoticed");
}

#[test]
fn duplicates_that_are_taken_are_noticed() {
    is_caught(Sabotage::TakeDuplicates);
}

#[test]
fn producers_that_are_forgotten_are_noticed() {
    is_caught(Sabotage::ForgetProducers);
}

#[test]
fn transactions_that_are_forgotten_are_noticed() {
    is_caught(Sabotage::ForgetTransactions);
}

#[test]
fn transactions_that_are_delivered_twice_are_noticed() {
    is_caught(Sabotage::DeliverTwice);
}

#[test]
fn messages_that_come_early_are_noticed() {
    is_caught(Sabotage::MoveEarly);
}

#[test]
fn delayed_messages_that_come_twice_are_noticed() {
    is_caught(Sabotage::MoveTwice);
}

#[test]
fn two_messages_of_a_key_at_once_are_noticed() {
    is_caught(Sabotage::IgnoreKeys);
}

#[test]
fn a_message_in_two_hands_is_noticed() {
    is_caught(Sabotage::ForgetLeases);
}

#[test]
fn transactions_that_a_revival_forgets_are_noticed() {
    is_caught(Sabotage::ReviveWithoutTransactions);
}

#[test]
fn confirmations_of_what_is_not_kept_are_noticed() {
    is_caught(Sabotage::ConfirmWhileFailed);
}
