//! The command line.

mod admin;
#[cfg(feature = "bench")]
mod bench;
mod calendar;
mod calendars;
mod configuration;
mod connection;
mod kill;
mod linked;
mod market;
mod order;
mod serve;
pub(crate) use serve::tell_opening;
mod show;
mod withdrawal;

use crate::Error;
use crate::terminal::note;
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// A trading venue in one binary.
#[derive(Debug, Parser)]
#[command(name = "rialto", version = crate::VERSION, propagate_version = true)]
#[command(max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a venue.
    Serve(serve::Args),
    /// Run a venue with three markets and simulated members, and watch it.
    Demo(crate::demo::Args),
    /// Print every setting with its default, or check a file.
    Config(configuration::Args),
    /// Check the file of a trading calendar, and show its days.
    Calendar(calendar::Args),
    /// Show the calendars that a venue runs by, and what they will do next.
    Calendars(calendars::Calendars),
    /// Enter an order.
    Order(Box<order::Order>),
    /// Cancel orders.
    Cancel(order::Cancel),
    /// Cancel all orders, and refuse new ones until it is lifted.
    Kill(kill::Kill),
    /// Change the price or the quantity of an order.
    Amend(order::Amend),
    /// List the open orders of an account.
    Orders(order::Orders),
    /// List the last fills of an account.
    Fills(order::Fills),
    /// List the balances of an account.
    Balances(order::Balances),
    /// Request a withdrawal.
    Withdraw(withdrawal::Withdraw),
    /// List, show and cancel the withdrawals of an account.
    Withdrawals(withdrawal::Withdrawals),
    /// Show a book.
    Book(market::Book),
    /// Show the last trades of a market.
    Trades(market::Trades),
    /// List the instruments.
    Instruments(market::Instruments),
    /// Show the phase of an instrument and its auction.
    Auction(market::Auction),
    /// Operate a venue: members, accounts, deposits, instruments, keys.
    Admin(admin::Args),
    /// Make a snapshot of a running venue.
    Snapshot(admin::Snapshot),
    /// Back up a running venue.
    Backup(admin::Backup),
    /// Replace the admin key of a venue that is not running.
    AdminKey(admin::AdminKey),
    /// Replay a recorded order-level file through a venue.
    Replay(crate::replay::ReplayArgs),
    /// Check that journal, event log and snapshots of a data directory agree.
    Verify(crate::inspect::VerifyArgs),
    /// Show the state of a stopped venue at a sequence or a time.
    At(crate::inspect::AtArgs),
    /// List the commands of a stopped venue with their events.
    Journal(crate::inspect::JournalArgs),
    /// Show recorded requests and flows of a venue, step by step.
    Flow(crate::inspect::FlowArgs),
    /// Work with topics: create, publish, consume, inspect.
    Queue(crate::queue::QueueArgs),
    /// Work with a file pool: store, read, list and claim files, and operate it.
    Depot(crate::depot::DepotArgs),
    /// Measure disk, clock and limits, and judge them for a durability level.
    Doctor(crate::inspect::DoctorArgs),
    #[cfg(feature = "bench")]
    /// Run benchmarks, and compare them with figures of other systems.
    Bench(bench::Args),
    #[cfg(feature = "bench")]
    /// The process that `bench` starts to attack a gateway.
    #[command(name = bench::ATTACK, hide = true)]
    BenchAttack,
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Runs the command.
#[must_use]
pub fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note(format_args!("rialto: {}", crate::tell_all(&error)));
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(command: Command) -> Result<(), Error> {
    match command {
        Command::Serve(args) => serve::run(&args),
        Command::Demo(args) => crate::demo::run(&args),
        Command::Config(args) => configuration::run(&args),
        Command::Calendar(args) => calendar::run(&args),
        Command::Order(args) => args.run(),
        Command::Cancel(args) => args.run(),
        Command::Kill(args) => args.run(),
        Command::Amend(args) => args.run(),
        Command::Orders(args) => args.run(),
        Command::Fills(args) => args.run(),
        Command::Balances(args) => args.run(),
        Command::Withdraw(args) => args.run(),
        Command::Withdrawals(args) => args.run(),
        Command::Book(args) => args.run(),
        Command::Trades(args) => args.run(),
        Command::Instruments(args) => args.run(),
        Command::Auction(args) => args.run(),
        Command::Calendars(args) => args.run(),
        Command::Admin(args) => args.run(),
        Command::Snapshot(args) => args.run(),
        Command::Backup(args) => args.run(),
        Command::AdminKey(args) => args.run(),
        Command::Replay(args) => crate::replay::run(&args),
        Command::Verify(args) => crate::inspect::verify(&args),
        Command::At(args) => crate::inspect::at(&args),
        Command::Journal(args) => crate::inspect::journal(&args),
        Command::Flow(args) => crate::inspect::flow(&args),
        Command::Queue(args) => crate::queue::run(&args),
        Command::Depot(args) => crate::depot::run(&args),
        Command::Doctor(args) => crate::inspect::doctor(&args),
        #[cfg(feature = "bench")]
        Command::Bench(args) => bench::run(&args),
        #[cfg(feature = "bench")]
        Command::BenchAttack => bench::attack(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "rialto", &mut script);
            crate::terminal::say(format_args!("{}", String::from_utf8_lossy(&script)));
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
