//! Links that permit one request to everyone who has them.

use super::{bus, tenant};
use crate::ApiError;
use crate::auth::{LINK_LIFE_MAX, LinkTarget};
use crate::call::Call;
use crate::gate::Gate;
use crate::routes::{Handled, respond};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{DepotLinkAnswer, DepotLinkRequest, DepotLinkVerb, Nothing, Route};
use rialto_bus::Dispatch;
use rialto_depot::{Directory, FileId, FileName};
use rialto_depot_desk::{FindFile, may_store};
use rialto_model::Timestamp;
use std::time::Duration;

/// The usual life of a link.
const LIFE_USUAL: Duration = Duration::from_secs(3_600);

/// `POST /v1/depot/{tenant}/links`
pub(crate) async fn make(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    let body: DepotLinkRequest<'_> = call.json()?;
    let bus = bus(gate)?;
    let tenant = tenant(&call.head)?;
    let life = body.expires_in_ms.map_or(LIFE_USUAL, Duration::from_millis);
    if life.is_zero() || life > LINK_LIFE_MAX {
        let message = format!("A link lives from 1 to {} ms.", LINK_LIFE_MAX.as_millis());
        return Err(ApiError::invalid("expires_in_ms", message));
    }
    let id = body.id.as_ref().map(|id| id.0.parse::<FileId>()).transpose();
    let id = id.map_err(|error| ApiError::invalid("id", format!("{error}.")))?;
    let ((link, expires_us), mut url) = match body.verb {
        DepotLinkVerb::Get => {
            only(body.directory.is_none(), "directory")?;
            only(body.name.is_none(), "name")?;
            let id = id.ok_or_else(|| ApiError::missing("id"))?;
            let find = FindFile { tenant: tenant.clone(), id };
            bus.query(find, &call.depot_cx()).await?;
            let id = id.to_string();
            let target = LinkTarget::Get { tenant: tenant.as_str(), id: &id };
            let link = gate.gatekeeper.link(&call.caller, target, life)?;
            (link, format!("/v1/depot/{tenant}/files/{id}?"))
        }
        DepotLinkVerb::Put => {
            only(id.is_none(), "id")?;
            may_store(call.caller.depot_principal(), &tenant)?;
            let directory = Directory::new(body.directory.as_deref().unwrap_or_default());
            let directory =
                directory.map_err(|error| ApiError::invalid("directory", format!("{error}.")))?;
            let name = body.name.as_deref().ok_or_else(|| ApiError::missing("name"))?;
            let name = FileName::new(name)
                .map_err(|error| ApiError::invalid("name", format!("{error}.")))?;
            let (directory, name) = (directory.as_str(), name.as_str());
            let target = LinkTarget::Put { tenant: tenant.as_str(), directory, name };
            let link = gate.gatekeeper.link(&call.caller, target, life)?;
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.append_pair("directory", directory).append_pair("name", name);
            (link, format!("/v1/depot/{tenant}/files?{}&", query.finish()))
        }
    };
    let route = match body.verb {
        DepotLinkVerb::Get => Route::DepotGet,
        DepotLinkVerb::Put => Route::DepotPut,
    };
    url.push_str("link=");
    url.push_str(&link);
    let expires_at = Timestamp(expires_us.saturating_mul(1_000));
    let answer = DepotLinkAnswer { url, method: route.method().to_owned(), expires_at };
    Ok(respond(StatusCode::CREATED, &answer, 384))
}

/// Refuses a field that the verb does not have.
fn only(is_absent: bool, field: &'static str) -> Result<(), ApiError> {
    match is_absent {
        true => Ok(()),
        false => Err(ApiError::invalid(field, "The verb of the link does not have this field.")),
    }
}
