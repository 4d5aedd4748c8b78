//! The audit trail.

use super::{Handled, count, respond};
use crate::call::Call;
use crate::convert::audit_info;
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{AuditAnswer, AuditQuery};
use rialto_desk::{AUDIT_PAGE_MAX, ReadAudit, Scope};
use rialto_model::Seq;

/// `GET /v1/admin/audit`
pub(super) async fn read(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.caller.require(Scope::Admin)?;
    let AuditQuery { from_seq, limit } = call.query()?;
    let limit = count("limit", limit, 100, gate.config.page_max.min(AUDIT_PAGE_MAX))?;
    let from = from_seq.unwrap_or(Seq::ZERO);
    let page = gate.query(&call.cx(), ReadAudit { from, limit }).await?;
    let names = gate.desk.names();
    let response = AuditAnswer {
        entries: page.records.iter().map(|record| audit_info(record, &names)).collect(),
        next_seq: page.next,
        more: page.more,
    };
    Ok(respond(StatusCode::OK, &response, 64 + 256 * response.entries.len()))
}
