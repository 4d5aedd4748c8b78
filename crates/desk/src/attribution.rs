//! Who sends an operator's command, and why: the sender from its grant, the reason from the request.

use crate::{AtField, Grant};
use rialto_bus::{Context, Result};
use rialto_model::{Attribution, AuditReason};

/// Who makes a request, and why. `None`: the venue itself makes it.
///
/// # Errors
/// The reason is too long or does not print.
pub fn attribution(cx: &Context<'_>) -> Result<Option<Attribution>> {
    let reason: AuditReason = match cx.reason.map(str::parse) {
        None => AuditReason::EMPTY,
        Some(Ok(reason)) => reason,
        Some(Err(error)) => {
            return Err(AtField("reason").invalid(format!("The reason {error}.")));
        }
    };
    let by = cx.principal::<Grant>().map(Grant::by).filter(|by| !by.is_empty());
    Ok(by.map(|by| Attribution { by, reason }))
}
