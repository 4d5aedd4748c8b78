//! Watched folders.

use super::{bus, part, tenant_name};
use crate::ApiError;
use crate::call::Call;
use crate::convert::{scan_info, watch_info};
use crate::gate::Gate;
use crate::routes::{Handled, respond};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{DepotWatchAfter, DepotWatchRequest, DepotWatchesAnswer, Nothing, Str};
use rialto_bus::Dispatch;
use rialto_depot::{AfterImport, Directory, WatchSpec, WatchTenants};
use rialto_depot_desk::{AddWatch, ListWatches, RemoveWatch, ScanWatch, SetWatch};
use std::path::PathBuf;
use std::time::Duration;

/// The files that a new watch leaves alone, unless it says otherwise.
const EXCLUDE_USUAL: &str = ".*";

/// `GET /v1/depot/watches`
pub(crate) async fn list(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let watches = bus(gate)?.query(ListWatches, &call.depot_cx()).await?;
    let answer = DepotWatchesAnswer { watches: watches.iter().map(watch_info).collect() };
    Ok(respond(StatusCode::OK, &answer, 64 + 1_024 * watches.len()))
}

/// `POST /v1/depot/watches`
pub(crate) async fn add(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    let spec = spec(call.json()?)?;
    let added = bus(gate)?.send(AddWatch { spec }, &call.depot_cx()).await?;
    Ok(respond(StatusCode::CREATED, &watch_info(&added), 1_024))
}

fn spec(body: DepotWatchRequest<'_>) -> Result<WatchSpec, ApiError> {
    let tenants = match &body.tenant {
        Some(_) if body.create_tenants => {
            let message = "It is for a watch without a tenant.";
            return Err(ApiError::invalid("create_tenants", message));
        }
        Some(tenant) => WatchTenants::One(tenant_name(tenant)?),
        None => WatchTenants::FirstLevel { create: body.create_tenants },
    };
    let after = match (body.after, &body.move_to) {
        (DepotWatchAfter::Move, Some(to)) => AfterImport::Move(PathBuf::from(&**to)),
        (DepotWatchAfter::Delete, None) => AfterImport::Delete,
        (DepotWatchAfter::Keep, None) => AfterImport::Keep,
        _ => {
            let message = "It is given if, and only if, `after` is `move`.";
            return Err(ApiError::invalid("move_to", message));
        }
    };
    let owned = |texts: Vec<Str<'_>>| texts.into_iter().map(|it| it.into_owned()).collect();
    Ok(WatchSpec {
        name: body.name.to_string(),
        folder: PathBuf::from(&*body.folder),
        tenants,
        directory: Directory::new(body.directory.as_deref().unwrap_or_default())
            .map_err(|error| ApiError::invalid("directory", format!("{error}.")))?,
        recursive: body.recursive,
        include: owned(body.include.unwrap_or_default().0),
        exclude: match body.exclude {
            Some(exclude) => owned(exclude.0),
            None => vec![EXCLUDE_USUAL.to_owned()],
        },
        bytes_min: body.bytes_min.0,
        bytes_max: body.bytes_max.0,
        age_min: Duration::from_millis(body.age_min_ms),
        after,
    })
}

fn named(call: &Call) -> Result<String, ApiError> {
    Ok(part(&call.head, "/v1/depot/watches/", 0)?.into_owned())
}

/// `POST /v1/depot/watches/{watch}/enable`
pub(crate) async fn enable(gate: &Gate, request: Request) -> Handled {
    set(gate, request, true).await
}

/// `POST /v1/depot/watches/{watch}/disable`
pub(crate) async fn disable(gate: &Gate, request: Request) -> Handled {
    set(gate, request, false).await
}

async fn set(gate: &Gate, request: Request, enabled: bool) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let set = SetWatch { watch: named(&call)?, enabled };
    let watch = bus(gate)?.send(set, &call.depot_cx()).await?;
    Ok(respond(StatusCode::OK, &watch_info(&watch), 1_024))
}

/// `POST /v1/depot/watches/{watch}/scan`
pub(crate) async fn scan(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let report = bus(gate)?.send(ScanWatch { watch: named(&call)? }, &call.depot_cx()).await?;
    Ok(respond(StatusCode::OK, &scan_info(&report), 256))
}

/// `DELETE /v1/depot/watches/{watch}`
pub(crate) async fn remove(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    bus(gate)?.send(RemoveWatch { watch: named(&call)? }, &call.depot_cx()).await?;
    Ok(respond(StatusCode::OK, &Nothing {}, 2))
}
