//! A workload that can be repeated without end: it leaves the book empty.

use super::commands::{commands, order_id};
use super::operation::{Operation, Workload};
use super::reference::{ReferenceBook, Tally};
use super::{exchange_core_mix, opening};
use rialto_model::{Command, OrderId, OrderRef};

/// exchange-core's mix, and behind it the cancels of all that still rests. The next round is the
/// same with other order ids.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// One round, as operations on an empty book.
    pub round: Workload,
    commands: Vec<Command>,
    placed: u64,
    rounds: u64,
}

impl Cycle {
    /// Rounds of about `commands` commands each.
    pub fn of_mix(seed: u64, resting: usize, commands_each: usize) -> Cycle {
        let mix = exchange_core_mix(seed, resting, commands_each);
        let mut operations = mix.operations;
        operations.extend(still_resting(&operations));
        let name = format!("{}, emptied in the end", mix.name);
        let round = Workload::new(name, 0, operations);
        let is_placed = |operation: &&Operation| matches!(operation, Operation::Place { .. });
        let placed = round.operations.iter().filter(is_placed).count() as u64;
        Cycle { commands: commands(&round), round, placed, rounds: 0 }
    }

    /// The commands before the first round.
    pub fn opening(&self) -> Vec<Command> {
        opening(&self.round)
    }

    /// Commands of a round.
    pub fn commands_per_round(&self) -> u64 {
        self.commands.len() as u64
    }

    /// The commands of the next round.
    pub fn next_round(&mut self) -> impl Iterator<Item = Command> + '_ {
        let by = self.rounds * self.placed;
        self.rounds += 1;
        self.commands.iter().map(move |command| shifted(*command, by))
    }

    /// Trades and their quantity over some rounds; their digest is of one round only.
    pub fn trades(&self, rounds: u64) -> (u64, i128) {
        let Tally { trades, traded_quantity, .. } = self.round.expected.tally;
        (trades * rounds, traded_quantity * i128::from(rounds))
    }
}

fn still_resting(operations: &[Operation]) -> Vec<Operation> {
    let mut book = ReferenceBook::default();
    let mut ids = Vec::new();
    for operation in operations {
        book.apply(operation, &mut |_| {});
        if let Operation::Place { id, .. } = operation {
            ids.push(*id);
        }
    }
    ids.retain(|id| book.get(*id).is_some());
    ids.into_iter().map(|id| Operation::Cancel { id }).collect()
}

/// The command for orders that were placed `by` later.
pub(crate) fn shifted(command: Command, by: u64) -> Command {
    let later = |order: OrderRef| match order {
        OrderRef::Id(id) => OrderRef::Id(order_id(OrderId(id.counter() + by))),
        other => other,
    };
    match command {
        Command::Cancel { account, order } => Command::Cancel { account, order: later(order) },
        Command::Amend(mut amend) => {
            amend.order = later(amend.order);
            Command::Amend(amend)
        }
        other => other,
    }
}
