//! The bus, through which all requests about statements pass.

use crate::request::{ListStatementRuns, RunStatements};
use crate::run::StatementRun;
use crate::service::StatementService;
use rialto_bus::behaviour::Counters;
use rialto_bus::{Context, Handler, Result, bus};
use rialto_desk::{Authorisation, Durations, VenueBehaviours};
use rialto_recorder::Recorder;
use std::sync::Arc;

bus! {
    /// The bus of requests about statements.
    ///
    /// The [`Context`] of each names a [`Grant`](rialto_desk::Grant) as its principal. It must be used
    /// within a Tokio runtime that has timers.
    pub struct StatementsBus {
        requests through VenueBehaviours<Authorisation> {
            service: StatementService => later RunStatements, later ListStatementRuns;
        }
    }
}

impl StatementsBus {
    /// A bus to this service.
    #[must_use]
    pub fn new(service: StatementService) -> StatementsBus {
        StatementsBus { requests: VenueBehaviours::new(Authorisation), service }
    }

    /// The same, with a recorder of requests, including forbidden ones.
    #[must_use]
    pub fn recorded_by(mut self, recorder: Option<Arc<Recorder>>) -> StatementsBus {
        self.requests = self.requests.recorded_by(recorder);
        self
    }

    /// How often each request was sent, by outcome, forbidden requests included.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.requests.counters()
    }

    /// The durations of requests.
    #[must_use]
    pub fn durations(&self) -> &Durations {
        self.requests.durations()
    }

    /// The service.
    #[must_use]
    pub fn service(&self) -> &StatementService {
        &self.service
    }
}

impl Handler<RunStatements> for StatementService {
    async fn handle(&self, _: RunStatements, cx: &Context<'_>) -> Result<StatementRun> {
        cx.step("flow");
        let run = self.run_now().await?;
        cx.step("answered");
        cx.note("run", &run.id.as_str());
        Ok(run)
    }
}

impl Handler<ListStatementRuns> for StatementService {
    async fn handle(
        &self,
        request: ListStatementRuns,
        _: &Context<'_>,
    ) -> Result<Vec<StatementRun>> {
        self.runs(request.limit)
    }
}
