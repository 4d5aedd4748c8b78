//! A request from its head to its answer: who sends it, within which limits, and what remains of its
//! body.

use crate::arriving::Arriving;
use crate::auth::{Admission, Secrets};
use crate::chunks::ChunkGuard;
use crate::claim::ClaimedKey;
use crate::digests::BodyDigest;
use crate::errors::refusal;
use crate::keys::{SigningKey, SigningKeys};
use crate::names::BucketNames;
use crate::options::S3Options;
use crate::service::DepotS3;
use crate::session::{Session, Unread};
use crate::traffic::S3Traffic;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONNECTION, EXPECT, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use rialto_depot_desk::{DepotBus, UploadPace};
use s3s::config::{S3Config, StaticConfigProvider};
use s3s::route::S3Route;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, S3Error, S3ErrorCode, S3Request, S3Response, S3Result};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The most bytes of a request in XML: the completion of 10,000 parts with their checksums.
const XML_BYTES_MAX: usize = 4 << 20;
/// How much of a refused body is read, and for how long, so that its client reads the answer.
const DRAIN_BYTES_MAX: u64 = 64 << 20;
const DRAIN_TIME_MAX: Duration = Duration::from_secs(5);
/// The most secrets of a key that work at a time.
const SECRETS_MAX: usize = 2;
/// The payload hash of a body in signed chunks begins so, and that of one in unsigned chunks.
const SIGNED_CHUNKS: &str = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
const UNSIGNED_CHUNKS: &str = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";

/// Answers requests.
pub(crate) struct Front {
    keys: Arc<dyn SigningKeys>,
    options: S3Options,
    traffic: Arc<S3Traffic>,
    /// One for each secret of a key.
    services: Vec<S3Service>,
    /// Answer whether the head of a request is signed with that secret.
    probes: Vec<S3Service>,
    began: u64,
    requests: AtomicU64,
}

/// Answers every request whose signature is good.
struct Signed;

#[async_trait::async_trait]
impl S3Route for Signed {
    fn is_match(
        &self,
        _: &Method,
        _: &hyper::Uri,
        _: &HeaderMap,
        _: &mut hyper::http::Extensions,
    ) -> bool {
        true
    }

    async fn call(&self, _: S3Request<Body>) -> S3Result<S3Response<Body>> {
        Ok(S3Response::new(Body::empty()))
    }
}

impl Front {
    pub(crate) fn new(
        bus: Arc<DepotBus>,
        keys: Arc<dyn SigningKeys>,
        options: S3Options,
        traffic: Arc<S3Traffic>,
    ) -> Front {
        let s3 = DepotS3::new(bus, Arc::clone(&keys), options.clone(), Arc::clone(&traffic));
        let mut config = S3Config::default();
        config.xml_max_body_size = XML_BYTES_MAX;
        let config = Arc::new(StaticConfigProvider::new(Arc::new(config)));
        let builder = |nth| {
            let mut builder = S3ServiceBuilder::new(s3.clone());
            builder.set_auth(Secrets { keys: Arc::clone(&keys), nth });
            builder.set_config(config.clone());
            builder.set_validation(BucketNames);
            builder
        };
        let services = (0..SECRETS_MAX).map(|nth| {
            let mut builder = builder(nth);
            builder.set_access(Admission { keys: Arc::clone(&keys) });
            builder.build()
        });
        let probes = (0..SECRETS_MAX).map(|nth| {
            let mut builder = builder(nth);
            builder.set_route(Signed);
            builder.build()
        });
        let mut random = [0; 8];
        // Ids of requests need not be unguessable.
        let _ = getrandom::fill(&mut random);
        Front {
            services: services.collect(),
            probes: probes.collect(),
            began: u64::from_le_bytes(random),
            requests: AtomicU64::new(0),
            keys,
            options,
            traffic,
        }
    }

    /// Answers a request of this address. An error closes the connection.
    pub(crate) async fn answer(
        &self,
        peer: IpAddr,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, s3s::HttpError> {
        let id = self.began.wrapping_add(self.requests.fetch_add(1, Ordering::Relaxed));
        let id = format!("{id:016X}");
        let (head, body) = request.into_parts();
        let method = head.method.clone();
        let path = head.uri.path().to_owned();
        // Such a client sends its body when somebody reads it.
        let is_waiting = head.headers.contains_key(EXPECT);
        let (mut response, unread) = match self.claimed(&head).await {
            Ok((session, nth)) => self.served(peer, session, nth, head, body).await?,
            Err(error) => (self.refused(peer, error, &id)?, Some((body, false))),
        };
        let status = response.status();
        self.traffic.count_answer(status.as_u16());
        tracing::debug!(request = id, %method, path, status = status.as_u16(), "an S3 request");
        if let Some((unread, was_begun)) = unread
            && ((is_waiting && !was_begun) || !drained(unread).await)
        {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert("x-amz-request-id", id);
        }
        Ok(response)
    }

    /// The refusal of a request that nobody has sent, which its address pays for.
    fn refused(
        &self,
        peer: IpAddr,
        error: S3Error,
        id: &str,
    ) -> Result<Response<Body>, s3s::HttpError> {
        let is_limit = error.status_code() == Some(StatusCode::SERVICE_UNAVAILABLE);
        let error = match is_limit || self.keys.take_of_address(peer) {
            true => error,
            false => refusal(S3ErrorCode::SlowDown, "Too many requests of this address failed."),
        };
        respond(error, Some(id))
    }

    /// Who a request claims to be from, and with which secret.
    async fn claimed(&self, head: &Parts) -> S3Result<(Session, usize)> {
        let ClaimedKey(id) = ClaimedKey::of(head)?;
        let unknown = || refusal(S3ErrorCode::InvalidAccessKeyId, "There is no such key.");
        let key = self.keys.find(&id).ok_or_else(unknown)?;
        let nth = self.secret_of(&key, head).await;
        let secret = key.secrets.get(nth).cloned().ok_or_else(unknown)?;
        let slot = self.traffic.begin_request(&key.id, self.options.key_requests_max);
        let slot = slot.ok_or_else(|| {
            let max = self.options.key_requests_max;
            refusal(S3ErrorCode::SlowDown, format!("The key has {max} requests in progress."))
        })?;
        Ok((Session::new(key, secret, slot), nth))
    }

    /// The secret that a request is signed with, if it is an older one of the key that still works.
    async fn secret_of(&self, key: &SigningKey, head: &Parts) -> usize {
        for (nth, probe) in self.probes.iter().enumerate().take(key.secrets.len()).skip(1) {
            let mut request = Request::new(Body::empty());
            *request.method_mut() = head.method.clone();
            *request.uri_mut() = head.uri.clone();
            *request.headers_mut() = head.headers.clone();
            if probe.call(request).await.is_ok_and(|answer| answer.status().is_success()) {
                return nth;
            }
        }
        0
    }

    async fn served(
        &self,
        peer: IpAddr,
        session: Session,
        nth: usize,
        head: Parts,
        body: Incoming,
    ) -> Result<(Response<Body>, Option<Unread>), s3s::HttpError> {
        let session = Arc::new(session);
        let chunks = match payload_of(&head.headers) {
            payload if payload.starts_with(SIGNED_CHUNKS) => Some(ChunkGuard::new(true)),
            UNSIGNED_CHUNKS => Some(ChunkGuard::new(false)),
            _ => None,
        };
        // Bodies that are no objects are read by the decoder of XML, which compares nothing.
        let digest = match head.method == Method::POST && chunks.is_none() {
            true => match BodyDigest::of(&head.headers) {
                Ok(digest) => Some(digest),
                Err(error) => return Ok((respond(error, None)?, Some((body, false)))),
            },
            false => None,
        };
        if digest.is_some() && length_of(&head.headers) > XML_BYTES_MAX as u64 {
            let message = format!("A body in XML has at most {XML_BYTES_MAX} bytes.");
            let refused = refusal(crate::errors::code("MaxMessageLengthExceeded"), message);
            return Ok((respond(refused, None)?, Some((body, false))));
        }
        let has_body = !body.is_end_stream();
        let pace = UploadPace::new(self.options.body_timeout, self.options.upload_rate_min);
        let body = match has_body {
            true => {
                let arriving = Arriving::new(body, Arc::clone(&session), pace, chunks, digest);
                Body::http_body_unsync(arriving)
            }
            false => Body::empty(),
        };
        let mut request = Request::from_parts(head, body);
        request.extensions_mut().insert(Arc::clone(&session));
        let mut response = self.services[nth].call(request).await?;
        if let Some(fault) = session.fault() {
            // The decoder says less of it.
            response = respond(fault.error(), None)?;
        }
        if !session.is_authenticated() && !self.keys.take_of_address(peer) {
            // A request with a wrong signature is one of its address.
            let message = "Too many requests of this address failed.";
            response = respond(refusal(S3ErrorCode::SlowDown, message), None)?;
        }
        Ok((response, session.take_unread()))
    }
}

/// The payload hash of a request.
fn payload_of(headers: &HeaderMap) -> &str {
    headers.get("x-amz-content-sha256").and_then(|it| it.to_str().ok()).unwrap_or_default()
}

/// The length that a head declares.
fn length_of(headers: &HeaderMap) -> u64 {
    let length = headers.get(hyper::header::CONTENT_LENGTH).and_then(|it| it.to_str().ok());
    length.and_then(|it| it.parse().ok()).unwrap_or_default()
}

fn respond(mut error: S3Error, id: Option<&str>) -> Result<Response<Body>, s3s::HttpError> {
    if let Some(id) = id {
        error.set_request_id(id);
    }
    error.to_http_response().map_err(|error| s3s::HttpError::new(Box::new(error)))
}

/// Reads the rest of a refused body, as far as it is short. Otherwise its client, which still sends,
/// would see a broken connection and not the answer.
async fn drained(mut body: Incoming) -> bool {
    let (mut left, end) = (DRAIN_BYTES_MAX, Instant::now() + DRAIN_TIME_MAX);
    while !body.is_end_stream() {
        match tokio::time::timeout_at(end.into(), body.frame()).await {
            Ok(None) => return true,
            Ok(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, bytes::Bytes::len) as u64;
                if bytes > left {
                    return false;
                }
                left -= bytes;
            }
            Ok(Some(Err(_))) | Err(_) => return false,
        }
    }
    true
}
