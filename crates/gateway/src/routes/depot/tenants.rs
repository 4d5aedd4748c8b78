//! Tenants and directories.

use super::{bus, part, tenant_name};
use crate::ApiError;
use crate::call::Call;
use crate::convert::{directory_kind, tenant_info};
use crate::gate::Gate;
use crate::routes::{Handled, count, respond};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{
    DepotDirectoryRequest, DepotTenantRequest, DepotTenantsAnswer, DepotTenantsQuery, Nothing,
};
use rialto_bus::Dispatch;
use rialto_depot::{Directory, Quota, TenantName};
use rialto_depot_desk::{
    DeleteTenant, GetTenant, ListTenants, SetDirectory, SetTenant, SetTenantStage, TenantStage,
};

const PAGE_USUAL: usize = 100;
const PAGE_MAX: usize = 1_000;

/// The tenant in a path `/v1/depot/tenants/{tenant}…`.
fn named(call: &Call) -> Result<TenantName, ApiError> {
    tenant_name(&part(&call.head, "/v1/depot/tenants/", 0)?)
}

/// The tenant as it is now.
async fn answer(gate: &Gate, call: &Call, status: StatusCode, tenant: TenantName) -> Handled {
    let info = bus(gate)?.query(GetTenant { tenant }, &call.depot_cx()).await?;
    Ok(respond(status, &tenant_info(&info), 768))
}

/// `GET /v1/depot/tenants`
pub(crate) async fn list(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let query: DepotTenantsQuery<'_> = call.query()?;
    let max = count("limit", query.limit, PAGE_USUAL, PAGE_MAX)?;
    let after = query.after.as_deref().map(TenantName::new).transpose();
    let after = after.map_err(|error| ApiError::invalid("after", format!("{error}.")))?;
    let found = bus(gate)?.query(ListTenants { after, max }, &call.depot_cx()).await?;
    let next = found.last().filter(|_| found.len() == max).map(|last| last.name.to_string());
    let tenants: Vec<_> = found.iter().map(tenant_info).collect();
    let capacity = 64 + 768 * tenants.len();
    Ok(respond(StatusCode::OK, &DepotTenantsAnswer { tenants, next }, capacity))
}

/// `GET /v1/depot/tenants/{tenant}`
pub(crate) async fn show(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let tenant = named(&call)?;
    answer(gate, &call, StatusCode::OK, tenant).await
}

/// `PUT /v1/depot/tenants/{tenant}`
pub(crate) async fn set(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    let tenant = named(&call)?;
    let body: DepotTenantRequest = call.json()?;
    let quota = Quota { files_max: body.files_max.0, bytes_max: body.bytes_max.0 };
    let set = SetTenant { tenant: tenant.clone(), quota };
    let is_new = bus(gate)?.send(set, &call.depot_cx()).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    answer(gate, &call, status, tenant).await
}

/// `DELETE /v1/depot/tenants/{tenant}`
pub(crate) async fn delete(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let tenant = named(&call)?;
    bus(gate)?.send(DeleteTenant { tenant }, &call.depot_cx()).await?;
    Ok(respond(StatusCode::ACCEPTED, &Nothing {}, 2))
}

/// `POST /v1/depot/tenants/{tenant}/enable`
pub(crate) async fn enable(gate: &Gate, request: Request) -> Handled {
    set_stage(gate, request, TenantStage::Enabled).await
}

/// `POST /v1/depot/tenants/{tenant}/disable`
pub(crate) async fn disable(gate: &Gate, request: Request) -> Handled {
    set_stage(gate, request, TenantStage::Disabled).await
}

/// `POST /v1/depot/tenants/{tenant}/drain`
pub(crate) async fn drain(gate: &Gate, request: Request) -> Handled {
    set_stage(gate, request, TenantStage::Draining).await
}

async fn set_stage(gate: &Gate, request: Request, stage: TenantStage) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let tenant = named(&call)?;
    let set = SetTenantStage { tenant: tenant.clone(), stage };
    bus(gate)?.send(set, &call.depot_cx()).await?;
    answer(gate, &call, StatusCode::OK, tenant).await
}

/// `PUT /v1/depot/tenants/{tenant}/directories`
pub(crate) async fn directory(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    let tenant = named(&call)?;
    let body: DepotDirectoryRequest<'_> = call.json()?;
    let directory = Directory::new(&body.directory)
        .map_err(|error| ApiError::invalid("directory", format!("{error}.")))?;
    let set = SetDirectory {
        tenant: tenant.clone(),
        directory,
        kind: body.kind.map(directory_kind),
        quota: Quota { files_max: body.files_max.0, bytes_max: body.bytes_max.0 },
    };
    bus(gate)?.send(set, &call.depot_cx()).await?;
    answer(gate, &call, StatusCode::OK, tenant).await
}
