//! The requests about statements.

use crate::run::StatementRun;
use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Error, ErrorKind, Query, Request, Result};
use rialto_desk::{Grant, Needs, Scope};

/// The most runs on one page.
pub const RUNS_PAGE_MAX: usize = 1_000;

/// The operator has statements made now. The answer comes when they are made, or after some
/// seconds with the run as it stands.
#[derive(Clone, Copy, Debug)]
pub struct RunStatements;

/// Lists the last runs, newest first.
#[derive(Clone, Copy, Debug)]
pub struct ListStatementRuns {
    /// The most runs: 1 to [`RUNS_PAGE_MAX`].
    pub limit: usize,
}

impl Request for RunStatements {
    type Response = StatementRun;
    const NAME: &'static str = "run_statements";
}

impl Command for RunStatements {}

impl Request for ListStatementRuns {
    type Response = Vec<StatementRun>;
    const NAME: &'static str = "list_statement_runs";
}

impl Query for ListStatementRuns {}

impl Needs for RunStatements {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.require(Scope::Admin)?)
    }
}

impl Validate for RunStatements {
    fn validate(&self) -> Result<()> {
        Ok(())
    }
}

impl Needs for ListStatementRuns {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.require(Scope::Admin)?)
    }
}

impl Validate for ListStatementRuns {
    fn validate(&self) -> Result<()> {
        if (1..=RUNS_PAGE_MAX).contains(&self.limit) {
            return Ok(());
        }
        let message = "A page holds 1 to 1000 runs.";
        Err(Error::new(ErrorKind::Invalid, "invalid_field", message))
    }
}
