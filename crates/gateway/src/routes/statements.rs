//! Statements: made for all members when the operator asks, and listed by run.

use super::{Handled, count, respond};
use crate::ApiError;
use crate::call::Call;
use crate::convert::statement_run_info;
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{Nothing, StatementRunAnswer, StatementRunsAnswer, StatementRunsQuery};
use rialto_bus::{Request as BusRequest, Serves};
use rialto_desk::Scope;
use rialto_statements::{ListStatementRuns, RUNS_PAGE_MAX, RunStage, RunStatements, StatementsBus};

/// `POST /v1/admin/statements`
pub(super) async fn run(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    call.caller.require(Scope::Admin)?;
    let run = serve(gate, &call, RunStatements).await?;
    let status = match run.stage {
        RunStage::Running => StatusCode::ACCEPTED,
        _ => StatusCode::OK,
    };
    let run = statement_run_info(&run);
    let capacity = 512 + 128 * run.refused.len();
    Ok(respond(status, &StatementRunAnswer { run }, capacity))
}

/// `GET /v1/admin/statements`
pub(super) async fn list(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.caller.require(Scope::Admin)?;
    let query: StatementRunsQuery = call.query()?;
    let limit = count("limit", query.limit, 20, gate.config.page_max.min(RUNS_PAGE_MAX))?;
    let runs = serve(gate, &call, ListStatementRuns { limit }).await?;
    let runs: Vec<_> = runs.iter().map(statement_run_info).collect();
    let capacity = 64 + 512 * runs.len();
    Ok(respond(StatusCode::OK, &StatementRunsAnswer { runs }, capacity))
}

/// Sends a request to the bus of statements.
async fn serve<R: BusRequest>(gate: &Gate, call: &Call, request: R) -> Result<R::Response, ApiError>
where
    StatementsBus: Serves<R>,
{
    let Some(statements) = &gate.statements else {
        let message = "This venue makes no statements.";
        return Err(ApiError::new(StatusCode::NOT_FOUND, "unknown_route", message));
    };
    let cx = call.cx();
    cx.step("send");
    let answer = statements.serve(request, &cx).await;
    cx.step("answer");
    Ok(answer?)
}
