//! Volumes.

use super::{bus, part};
use crate::ApiError;
use crate::call::Call;
use crate::convert::volume_info;
use crate::gate::Gate;
use crate::routes::{Handled, respond};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{DepotVolumeRequest, DepotVolumesAnswer, Nothing};
use rialto_bus::Dispatch;
use rialto_depot::{BucketSpec, VolumePlace, VolumeSpec};
use rialto_depot_desk::{DrainVolume, ListVolumes, MountVolume, UnmountVolume};
use std::path::PathBuf;

/// As that of the first volume of a pool, and of one that the command line mounts.
const WEIGHT_USUAL: u32 = 1;

/// `GET /v1/depot/volumes`
pub(crate) async fn list(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let (volumes, totals) = bus(gate)?.query(ListVolumes, &call.depot_cx()).await?;
    let answer = DepotVolumesAnswer {
        volumes: volumes.iter().map(volume_info).collect(),
        free_bytes: totals.free_bytes.into(),
        total_bytes: totals.total_bytes.into(),
    };
    Ok(respond(StatusCode::OK, &answer, 64 + 384 * volumes.len()))
}

/// `POST /v1/depot/volumes`
pub(crate) async fn mount(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    let body: DepotVolumeRequest<'_> = call.json()?;
    let place = match (&body.dir, &body.bucket) {
        (Some(dir), None) => directory(dir)?,
        (None, Some(bucket)) => VolumePlace::Bucket(BucketSpec {
            bucket: bucket.bucket.to_string(),
            prefix: bucket.prefix.as_deref().unwrap_or_default().to_owned(),
            endpoint: bucket.endpoint.to_string(),
            region: bucket.region.to_string(),
            allow_http: bucket.allow_http.unwrap_or_default(),
        }),
        _ => return Err(ApiError::invalid("dir", "A volume has a directory or a bucket.")),
    };
    let identity = body.identity.as_deref().map(str::parse).transpose();
    let spec = VolumeSpec {
        name: body.name.to_string(),
        place,
        weight: body.weight.unwrap_or(WEIGHT_USUAL),
        identity: identity
            .map_err(|error: String| ApiError::invalid("identity", format!("{error}.")))?,
    };
    let mounted = bus(gate)?.send(MountVolume { spec }, &call.depot_cx()).await?;
    Ok(respond(StatusCode::CREATED, &volume_info(&mounted), 384))
}

fn directory(dir: &str) -> Result<VolumePlace, ApiError> {
    let dir = PathBuf::from(dir);
    match dir.is_absolute() {
        true => Ok(VolumePlace::Directory(dir)),
        false => Err(ApiError::invalid("dir", "The directory of a volume is an absolute path.")),
    }
}

fn named(call: &Call) -> Result<String, ApiError> {
    Ok(part(&call.head, "/v1/depot/volumes/", 0)?.into_owned())
}

/// `POST /v1/depot/volumes/{volume}/drain`
pub(crate) async fn drain(gate: &Gate, request: Request) -> Handled {
    set_draining(gate, request, true).await
}

/// `POST /v1/depot/volumes/{volume}/undrain`
pub(crate) async fn undrain(gate: &Gate, request: Request) -> Handled {
    set_draining(gate, request, false).await
}

async fn set_draining(gate: &Gate, request: Request, draining: bool) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let drain = DrainVolume { volume: named(&call)?, draining };
    let volume = bus(gate)?.send(drain, &call.depot_cx()).await?;
    Ok(respond(StatusCode::OK, &volume_info(&volume), 384))
}

/// `DELETE /v1/depot/volumes/{volume}`
pub(crate) async fn unmount(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    bus(gate)?.send(UnmountVolume { volume: named(&call)? }, &call.depot_cx()).await?;
    Ok(respond(StatusCode::OK, &Nothing {}, 2))
}
