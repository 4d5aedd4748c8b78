//! Runs of statements.

use rialto_api::{RefusedStatement, StatementGap, StatementRunInfo};
use rialto_statements::{RunStage, StatementRefusal, StatementRun};

pub(crate) fn statement_run_info(run: &StatementRun) -> StatementRunInfo {
    let mut info = StatementRunInfo {
        id: run.id.clone(),
        state: run.stage.name().to_owned(),
        started_at: run.started,
        ended_at: run.ended,
        first_seq: None,
        last_seq: None,
        members: 0,
        refused: Vec::new(),
        refused_more: 0,
        gap: None,
        reason: None,
    };
    match &run.stage {
        RunStage::Running => {}
        RunStage::Failed(reason) => info.reason = Some(reason.clone()),
        RunStage::Completed(outcome) => {
            if !outcome.range.is_empty() {
                info.first_seq = Some(outcome.range.first());
                info.last_seq = Some(outcome.range.last);
            }
            info.members = outcome.members;
            info.refused = outcome.refused.iter().map(refused).collect();
            info.refused_more = outcome.refused_more;
            info.gap =
                outcome.gap.map(|gap| StatementGap { first_seq: gap.first(), last_seq: gap.last });
        }
    }
    info
}

fn refused(one: &StatementRefusal) -> RefusedStatement {
    RefusedStatement {
        member: one.member,
        first_seq: one.range.first(),
        last_seq: one.range.last,
        code: one.refusal.name().to_owned(),
        again: one.is_owed(),
    }
}
