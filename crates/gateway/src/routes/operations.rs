//! Time, and what operators do while the venue runs.

use super::{Handled, respond};
use crate::ApiError;
use crate::auth::now_us;
use crate::call::Call;
use crate::gate::Gate;
use crate::json::{JsonOut, Str};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_desk::Scope;
use rialto_engine::BackupError;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// How long a snapshot may take before the request gives up waiting for it.
const SNAPSHOT_WAIT: Duration = Duration::from_secs(60);

/// `GET /v1/time`
pub(super) async fn time(gate: &Gate, request: Request) -> Handled {
    super::market::open(gate, request)?;
    let mut out = JsonOut::with_capacity(64);
    out.open_object();
    out.key("time_us").quoted(now_us());
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `POST /v1/admin/snapshot`
pub(super) async fn snapshot(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.query()?.finish()?;
    call.caller.require(Scope::Admin)?;
    let ticket = gate.engine.request_snapshot();
    let made = tokio::task::spawn_blocking(move || ticket.wait(SNAPSHOT_WAIT)).await;
    let failed = |message: String| {
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "snapshot_failed", message)
    };
    let seq = made
        .map_err(|error| failed(format!("The wait for the snapshot broke off: {error}.")))?
        .map_err(|error| failed(format!("{error}.")))?;
    let mut out = JsonOut::with_capacity(64);
    out.open_object();
    out.key("seq").quoted(seq.0);
    out.close_object();
    Ok(respond(StatusCode::CREATED, out))
}

/// Body of `POST /v1/admin/backup`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BackupRequest<'a> {
    #[serde(borrow)]
    name: Str<'a>,
}

/// `POST /v1/admin/backup`
pub(super) async fn backup(gate: &Gate, request: Request) -> Handled {
    let call = super::venue::operator(gate, request).await?;
    let body: BackupRequest<'_> = call.json()?;
    let Some(parent) = &gate.config.backup_dir else {
        let message = "This venue has no directory for backups: set backup_dir under [gateway] in \
                       its configuration, as in backup_dir = \"/var/backups/rialto\", and start it \
                       again.";
        return Err(ApiError::new(StatusCode::CONFLICT, "no_backup_dir", message));
    };
    // A name and not a path: whoever has the admin key shall not write anywhere on the disk.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = |name: &str| !name.starts_with('.') && name.bytes().all(is_plain);
    if body.name.is_empty() || body.name.len() > 64 || !is_name(&body.name) {
        let message = "A backup's name is 1 to 64 letters, digits, dashes, underscores and dots, and \
                       does not begin with a dot; it is no path.";
        return Err(ApiError::invalid("name", message));
    }
    let dir = parent.join(&*body.name);
    // Whoever asks does not know where the venue was started.
    let dir = std::path::absolute(&dir).unwrap_or(dir);
    let (engine, target) = (Arc::clone(&gate.engine), dir.clone());
    let made = tokio::task::spawn_blocking(move || engine.backup(&target)).await;
    let failed =
        |message: String| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "backup_failed", message);
    let seq = made.map_err(|error| failed(format!("The backup broke off: {error}.")))?;
    let seq = seq.map_err(|error| match error {
        BackupError::NotEmpty { .. } => {
            ApiError::new(StatusCode::CONFLICT, "backup_exists", format!("{error}.")).of("name")
        }
        error => failed(format!("{error}.")),
    })?;
    let mut out = JsonOut::with_capacity(256);
    out.open_object();
    out.key("directory").text(&dir.to_string_lossy());
    out.key("seq").quoted(seq.0);
    out.close_object();
    Ok(respond(StatusCode::CREATED, out))
}
