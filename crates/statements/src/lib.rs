//! Statements of accounts: what moved the balances of a member in a range of commands.
//!
//! A statement is a fold of released events. A run makes those of all members since the last run,
//! checks that they add up and end with the balances of the venue, and puts each into the outbox of
//! its member once, however often it is interrupted. See `docs/statements.md`.
//!
//! [`Positions`] is the fold, and works without a venue:
//!
//! ```
//! use rialto_model::*;
//! use rialto_statements::{LineDetail, Positions};
//!
//! let mut positions = Positions::new();
//! let (member, account, currency) = (MemberId(1), AccountId(1), CurrencyId(1));
//! let usd = Currency { id: currency, code: "USD".parse()?, scale: Scale::new(2).unwrap() };
//! let (name, reference) = ("acme".parse()?, "wire-1".parse()?);
//! let mut lines = Vec::new();
//! for (seq, event) in (1..).zip([
//!     Event::CurrencyCreated(usd),
//!     Event::MemberCreated { member, name },
//!     Event::AccountCreated { account, member, name },
//!     Event::Deposited { account, currency, amount: Amount(500), reference },
//! ]) {
//!     positions.fold(Seq(seq), Timestamp(seq), &event, &mut |line| lines.push(*line))?;
//! }
//! assert_eq!(lines[0].detail, LineDetail::Deposit(reference));
//! assert_eq!(positions.balance(account, currency).available, Amount(500));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Statements`] is the part of a venue, [`StatementsBus`] takes its requests, and
//! `docs/formats/statement.md` describes the files.

#![deny(unsafe_code)]

mod bus;
mod csv;
mod error;
mod flow;
mod html;
mod last_outcome;
mod line;
mod maker;
mod outbox;
mod positions;
mod range;
mod request;
mod run;
mod schedule;
mod service;
mod statements;
mod summary;
mod utc;
mod worker;

pub use bus::StatementsBus;
pub use error::{PositionsError, StatementError, StatementsOpenError};
pub use html::PAGE_ROWS_MAX;
pub use line::{EndedDetail, FillDetail, LineDetail, StatementLine};
pub use outbox::{OutboxRefusal, STATEMENTS_DIRECTORY, StatementRange, file_stem, member_tenant};
pub use positions::{AccountHolder, BalancesDigest, PositionBalance, Positions};
pub use request::{ListStatementRuns, RUNS_PAGE_MAX, RunStatements};
pub use run::{
    REFUSED_MAX, RunCause, RunOutcome, RunStage, StatementRefusal, StatementRun, TRIES_MAX,
};
pub use schedule::{DayTime, InvalidDayTime};
pub use service::{StatementService, StatementSettings};
pub use statements::{StatementOptions, Statements};
