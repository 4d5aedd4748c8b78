//! Files: storing, reading, listing, deleting, dead letters.

use super::{bus, file_id, tenant};
use crate::ApiError;
use crate::auth::{Claim, LinkTarget};
use crate::call::{Arrival, Call, unescape};
use crate::convert::{dead_letter_info, file_info, record_info};
use crate::download::{Download, Part, etag};
use crate::gate::Gate;
use crate::json;
use crate::routes::{Handled, count, respond};
use crate::upload::{Incoming, depot_context, pass_on};
use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rialto_api::{
    DepotDeadLettersAnswer, DepotDeadLettersQuery, DepotFileKind, DepotFileState, DepotFilesAnswer,
    DepotFilesQuery, DepotGetQuery, DepotPutQuery, DepotRedriveAnswer, DepotRedriveQuery,
    DepotShelfQuery, Nothing,
};
use rialto_bus::Dispatch;
use rialto_depot::{Directory, FileName, FileRecord, NewFile, PAGE_FILES_MAX};
use rialto_depot_desk::{
    DeleteFile, FileContent, FileList, FindFile, FindKept, ListDeadFiles, ListFiles, OpenedFile,
    ReadFile, RedriveFiles, StoreFile, may_store,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;

/// The prefix of the headers with a file's metadata.
const META: &str = "x-rialto-meta-";
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const NOSNIFF: (HeaderName, HeaderValue) =
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
/// The usual number of files of a page.
const PAGE_USUAL: usize = 100;
/// The usual number of redriven dead letters.
const REDRIVE_USUAL: u64 = 1_000;

/// `POST /v1/depot/{tenant}/files`
pub(crate) async fn put(gate: &Gate, request: Request) -> Handled {
    let bus = bus(gate)?;
    let incoming = match put_link(gate, &request)? {
        Some(PutLink { tenant, directory, name, link }) => {
            let target = LinkTarget::Put { tenant: &tenant, directory: &directory, name: &name };
            Incoming::admit_linked(gate, request, &link, target)?
        }
        None => Incoming::admit(gate, request)?,
    };
    let tenant = tenant(&incoming.head)?;
    may_store(incoming.caller.depot_principal(), &tenant)?;
    let file = new_file(gate, &incoming)?;
    let (caller, head, body) = incoming.into_parts();
    let (pieces, content) = FileContent::channel();
    let store = StoreFile { tenant: tenant.clone(), file, content };
    let cx = depot_context(&head, &caller);
    let stored = pass_on(gate, &caller, body, pieces, bus.send(store, &cx)).await;
    let stored = stored.map_err(at_header)?;
    let answer = match &stored.info {
        Some(info) => file_info(&tenant, info),
        None => record_info(&tenant, &stored.record, DepotFileState::Ended),
    };
    let status = if stored.is_repeat { StatusCode::OK } else { StatusCode::CREATED };
    Ok(respond(status, &answer, 512))
}

/// The parameters of a request with a link instead of a signature. Those of others are read when their
/// sender is known.
fn linked_query<'a, Q: Deserialize<'a> + JsonSchema>(
    gate: &Gate,
    request: &'a Request,
) -> Result<Option<Q>, ApiError> {
    if Claim::is_made(request.headers()) {
        return Ok(None);
    }
    let query = request.uri().query().unwrap_or_default();
    let has_link = || form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "link");
    match json::read_query(query) {
        Ok(query) => Ok(Some(query)),
        Err(_) if has_link() => Err(refused_link(gate, request)),
        Err(_) => Ok(None),
    }
}

/// The refusal of a link that something was added to.
fn refused_link(gate: &Gate, request: &Request) -> ApiError {
    gate.gatekeeper.refuse_link(Arrival::of(request.extensions()).peer)
}

/// An upload with a link, and what it names.
struct PutLink {
    tenant: String,
    directory: String,
    name: String,
    link: String,
}

/// The link of an upload without a signature. Such a request has no other parameters than the link
/// covers.
fn put_link(gate: &Gate, request: &Request) -> Result<Option<PutLink>, ApiError> {
    let Some(query) = linked_query::<DepotPutQuery<'_>>(gate, request)? else { return Ok(None) };
    let DepotPutQuery { directory, name, priority, deliver_at, expires_at, if_absent, link } =
        query;
    let Some(link) = link else { return Ok(None) };
    let has_others =
        priority.is_some() || deliver_at.is_some() || expires_at.is_some() || if_absent.is_some();
    if has_others {
        return Err(refused_link(gate, request));
    }
    let path = request.uri().path().strip_prefix("/v1/depot/").unwrap_or_default();
    let tenant = unescape(path.split('/').next().unwrap_or_default())?;
    let owned = |text: Option<rialto_api::Str<'_>>| text.map(|it| it.into_owned());
    Ok(Some(PutLink {
        tenant: tenant.into_owned(),
        directory: owned(directory).unwrap_or_default(),
        name: owned(name).unwrap_or_default(),
        link: link.into_owned(),
    }))
}

/// The file that the head of a request describes.
fn new_file(gate: &Gate, incoming: &Incoming) -> Result<NewFile, ApiError> {
    let head = &incoming.head;
    let query: DepotPutQuery<'_> = json::read_query(head.uri.query().unwrap_or_default())?;
    let directory = Directory::new(query.directory.as_deref().unwrap_or_default())
        .map_err(|error| ApiError::invalid("directory", format!("{error}.")))?;
    let name = query.name.as_deref().map(FileName::new).transpose();
    let content_type = head.headers.get(header::CONTENT_TYPE);
    let submit_key = head.headers.get(IDEMPOTENCY_KEY);
    Ok(NewFile {
        directory,
        name: name.map_err(|error| ApiError::invalid("name", format!("{error}.")))?,
        content_type: content_type
            .map(|value| text("Content-Type", value))
            .transpose()?
            .unwrap_or_default(),
        metadata: metadata(&head.headers)?,
        bytes: incoming.bytes(),
        sha256: incoming.sha256,
        crc32c: None,
        priority: query.priority.unwrap_or_default(),
        deliver_at: query.deliver_at,
        expires_at: query.expires_at,
        submit_key: submit_key.map(|value| text("Idempotency-Key", value)).transpose()?,
        if_absent: query.if_absent.unwrap_or_default(),
        kind: None,
        level: incoming.level(gate)?,
    })
}

/// An error of the depot with the header of the request instead of the part of the file.
fn at_header(error: ApiError) -> ApiError {
    let header = match error.field.as_deref() {
        Some("submit_key" | "idempotency-key") => "Idempotency-Key",
        Some("content_type") => "Content-Type",
        _ => return error,
    };
    error.of(header)
}

/// The value of a header as text.
fn text(name: impl Into<Cow<'static, str>>, value: &HeaderValue) -> Result<String, ApiError> {
    let text = std::str::from_utf8(value.as_bytes());
    let text = text.map_err(|_| ApiError::invalid(name, "The header is not UTF-8."))?;
    Ok(text.to_owned())
}

/// The metadata in the headers.
fn metadata(headers: &HeaderMap) -> Result<Vec<(String, String)>, ApiError> {
    let named = headers.iter().filter_map(|(name, value)| {
        let name = name.as_str().strip_prefix(META)?;
        let value = text(format!("X-Rialto-Meta-{name}"), value);
        Some(value.map(|value| (name.to_owned(), value)))
    });
    named.collect()
}

/// `GET /v1/depot/{tenant}/files/{id}`
pub(crate) async fn get(gate: &Gate, request: Request) -> Handled {
    let bus = bus(gate)?;
    let link = linked_query::<DepotGetQuery<'_>>(gate, &request)?.and_then(|query| query.link);
    let (caller, head) = match link.map(|link| link.into_owned()) {
        Some(link) => {
            let (head, _) = request.into_parts();
            let (tenant, id) = (tenant(&head)?, file_id(&head)?.to_string());
            let target = LinkTarget::Get { tenant: tenant.as_str(), id: &id };
            let peer = Arrival::of(&head.extensions).peer;
            (gate.gatekeeper.check_link(&link, target, peer)?, head)
        }
        None => {
            let call = Call::read_bare(gate, request).await?;
            let _: DepotGetQuery<'_> = call.query()?;
            let Call { caller, head, .. } = call;
            (caller, head)
        }
    };
    let (tenant, id) = (tenant(&head)?, file_id(&head)?);
    let opened = bus.query(ReadFile { tenant, id }, &depot_context(&head, &caller)).await?;
    serve(gate, &head, opened).await
}

/// Answers the part of a file that a request asks for.
async fn serve(gate: &Gate, head: &Parts, opened: OpenedFile) -> Handled {
    let file = opened.reader.file().clone();
    let tag = etag(&file);
    let length = file.bytes;
    let (status, range) = match Part::of(&head.headers, &tag, length) {
        Part::Whole => (StatusCode::OK, 0..length),
        Part::Bytes(range) => (StatusCode::PARTIAL_CONTENT, range),
        Part::NotModified => {
            let mut response = StatusCode::NOT_MODIFIED.into_response();
            response.headers_mut().insert(header::ETAG, value(tag)?);
            return Ok(response);
        }
        Part::Unsatisfiable => {
            let message = format!("The file has {length} bytes, and none of those asked for.");
            let status = StatusCode::RANGE_NOT_SATISFIABLE;
            let error = ApiError::new(status, "range_not_satisfiable", message).of("range");
            let mut response = error.into_response();
            let all = value(format!("bytes */{length}"))?;
            response.headers_mut().insert(header::CONTENT_RANGE, all);
            return Ok(response);
        }
    };
    let body = match range.is_empty() {
        true => Body::empty(),
        false => Body::new(Download::begin(opened, range.clone(), &gate.downloads_cut).await?),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    describe(headers, &file)?;
    headers.insert(header::ETAG, value(tag)?);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(range.end - range.start));
    if status == StatusCode::PARTIAL_CONTENT {
        let (first, last) = (range.start, range.end - 1);
        headers.insert(header::CONTENT_RANGE, value(format!("bytes {first}-{last}/{length}"))?);
    }
    Ok(response)
}

/// The headers that describe a file. A browser neither guesses a type nor shows the file as a page of
/// the venue.
fn describe(headers: &mut HeaderMap, file: &FileRecord) -> Result<(), ApiError> {
    let kind = match file.content_type.as_str() {
        "" => HeaderValue::from_static("application/octet-stream"),
        kind => HeaderValue::from_bytes(kind.as_bytes())
            .unwrap_or(HeaderValue::from_static("application/octet-stream")),
    };
    headers.insert(header::CONTENT_TYPE, kind);
    let name = utf8_percent_encode(file.name.as_str(), NON_ALPHANUMERIC);
    let disposition = value(format!("attachment; filename*=UTF-8''{name}"))?;
    headers.insert(header::CONTENT_DISPOSITION, disposition);
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(NOSNIFF.0, NOSNIFF.1);
    for (name, text) in &file.metadata {
        let name = HeaderName::from_bytes(format!("{META}{name}").as_bytes());
        // Values may have been stored by other means than headers.
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(text.as_bytes())) {
            headers.insert(name, value);
        }
    }
    Ok(())
}

fn value(text: String) -> Result<HeaderValue, ApiError> {
    HeaderValue::try_from(text).map_err(|_| {
        let message = "A header of the answer cannot be written.";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "depot_failed", message)
    })
}

/// `GET /v1/depot/{tenant}/files/{id}/info`
pub(crate) async fn info(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let (tenant, id) = (tenant(&call.head)?, file_id(&call.head)?);
    let find = FindFile { tenant: tenant.clone(), id };
    let found = bus(gate)?.query(find, &call.depot_cx()).await?;
    Ok(respond(StatusCode::OK, &file_info(&tenant, &found), 512))
}

/// `GET /v1/depot/{tenant}/shelf`
pub(crate) async fn shelf(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let query: DepotShelfQuery<'_> = call.query()?;
    let tenant = tenant(&call.head)?;
    let find = FindKept { tenant: tenant.clone(), path: query.path.to_string() };
    let found = bus(gate)?.query(find, &call.depot_cx()).await?;
    Ok(respond(StatusCode::OK, &file_info(&tenant, &found), 512))
}

/// `GET /v1/depot/{tenant}/files`
pub(crate) async fn list(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let query: DepotFilesQuery<'_> = call.query()?;
    let tenant = tenant(&call.head)?;
    let max = count("limit", query.limit, PAGE_USUAL, PAGE_FILES_MAX)?;
    let after = query.after.as_deref();
    let list = match query.kind.unwrap_or_default() {
        DepotFileKind::Work => {
            let id = after.map(str::parse).transpose();
            FileList::Work(id.map_err(|error| ApiError::invalid("after", format!("{error}.")))?)
        }
        DepotFileKind::Shelf => FileList::Kept(after.map(str::to_owned)),
    };
    let is_work = matches!(list, FileList::Work(_));
    let prefix = query.prefix.as_deref().unwrap_or_default().to_owned();
    let list = ListFiles { tenant: tenant.clone(), list, prefix, max };
    let files = bus(gate)?.query(list, &call.depot_cx()).await?;
    let last = files.last().filter(|_| files.len() == max);
    let next = last.map(|last| match is_work {
        true => last.record.id.to_string(),
        false => last.record.path(),
    });
    let files = files.iter().map(|file| file_info(&tenant, file)).collect::<Vec<_>>();
    let capacity = 64 + 512 * files.len();
    Ok(respond(StatusCode::OK, &DepotFilesAnswer { files, next }, capacity))
}

/// `DELETE /v1/depot/{tenant}/files/{id}`
pub(crate) async fn delete(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let (tenant, id) = (tenant(&call.head)?, file_id(&call.head)?);
    bus(gate)?.send(DeleteFile { tenant, id }, &call.depot_cx()).await?;
    Ok(respond(StatusCode::OK, &Nothing {}, 2))
}

/// `GET /v1/depot/{tenant}/dead-letters`
pub(crate) async fn dead_letters(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let query: DepotDeadLettersQuery = call.query()?;
    let tenant = tenant(&call.head)?;
    let max = count("limit", query.limit, PAGE_USUAL, PAGE_FILES_MAX)?;
    let list = ListDeadFiles { tenant: tenant.clone(), max };
    let dead = bus(gate)?.query(list, &call.depot_cx()).await?;
    let dead_letters = dead.iter().map(|dead| dead_letter_info(&tenant, dead)).collect();
    let answer = DepotDeadLettersAnswer { dead_letters };
    Ok(respond(StatusCode::OK, &answer, 64 + 640 * dead.len()))
}

/// `POST /v1/depot/{tenant}/dead-letters/redrive`
pub(crate) async fn redrive(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let query: DepotRedriveQuery = call.query()?;
    let redrive =
        RedriveFiles { tenant: tenant(&call.head)?, max: query.limit.unwrap_or(REDRIVE_USUAL) };
    let redriven = bus(gate)?.send(redrive, &call.depot_cx()).await?;
    Ok(respond(StatusCode::OK, &DepotRedriveAnswer { redriven: redriven.into() }, 32))
}
