//! Requests over HTTP: signed, bounded, and retried where that is safe.

use crate::{ClientError, Credentials, Refusal};
use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rialto_api::sign::{HEADER_CONFLATED, HEADER_NEXT, SignHead, now_us, sha256};
use rialto_api::{ErrorAnswer, Route};
use rialto_model::Seq;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often a request is signed again because the venue has just started.
pub(crate) const SIGNED_AGAIN_MAX: usize = 3;

/// Everything but what has no meaning of its own in a path.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

/// The options of a client.
#[derive(Clone, Copy, Debug)]
pub struct ClientOptions {
    /// How long an answer may take before the request counts as failed: 60 s.
    pub timeout: Duration,
    /// The longest answer that is read: 64 MiB.
    pub answer_bytes_max: usize,
    /// The total time of retries of a refused request with `Retry-After`: 5 s. Zero returns every
    /// refusal to the caller.
    pub retry_wait_max: Duration,
    /// Whether queries wait until they show the commands of this client: yes.
    pub read_own_writes: bool,
}

impl Default for ClientOptions {
    fn default() -> Self {
        ClientOptions {
            timeout: Duration::from_secs(60),
            answer_bytes_max: 64 << 20,
            retry_wait_max: Duration::from_secs(5),
            read_own_writes: true,
        }
    }
}

/// A client of a venue. It keeps its connections open; clones share them and the last sequence
/// seen.
#[derive(Clone, Debug)]
pub struct Client {
    inner: Arc<Inner>,
    reason: Option<Arc<str>>,
}

#[derive(Debug)]
struct Inner {
    pool: Pool<HttpConnector, BoxBody<Bytes, std::io::Error>>,
    url: String,
    credentials: Credentials,
    options: ClientOptions,
    nonce: AtomicU64,
    /// The last command of this client that the venue answered; 0 if there is none.
    seen: AtomicU64,
}

/// A request as it is sent, before it is signed.
#[derive(Clone, Debug)]
pub struct HttpRequest<'a> {
    /// The HTTP method.
    pub method: &'a str,
    /// The path with the query, with everything escaped that has to be.
    pub path: String,
    /// The body, and its media type.
    pub body: Option<(&'static str, Bytes)>,
    /// The media type that the answer should have.
    pub accept: Option<&'static str>,
}

/// An HTTP answer of a venue, not decoded.
#[derive(Clone, Debug)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// After how long the same request may succeed, if the venue says so.
    pub retry_after: Option<Duration>,
    /// The position to continue reading from, if a header has it.
    pub next: Option<String>,
    /// The number of messages that were left out, if messages were read.
    pub conflated: u64,
    /// The body.
    pub body: Bytes,
}

impl HttpRequest<'_> {
    /// A request to an endpoint; each argument stands for a parameter of its path.
    ///
    /// # Errors
    /// The query cannot be written, or there are more or fewer arguments than parameters.
    pub fn new(
        route: Route,
        arguments: &[&str],
        query: &impl Serialize,
    ) -> Result<HttpRequest<'static>, ClientError> {
        let wrong = |why: &str| ClientError::Invalid(format!("cannot ask {}: {why}", route.name()));
        let mut path = String::new();
        let mut arguments = arguments.iter();
        for (at, part) in route.path().split(['{', '}']).enumerate() {
            match at % 2 {
                0 => path.push_str(part),
                _ => match *arguments.next().ok_or_else(|| wrong("a parameter is missing"))? {
                    "" => return Err(wrong(&format!("the {part} is empty"))),
                    argument => path.extend(utf8_percent_encode(argument, ESCAPED)),
                },
            }
        }
        if arguments.next().is_some() {
            return Err(wrong("its path has fewer parameters"));
        }
        let query = serde_urlencoded::to_string(query).map_err(|it| wrong(&it.to_string()))?;
        if !query.is_empty() {
            path.push('?');
            path.push_str(&query);
        }
        Ok(HttpRequest { method: route.method(), path, body: None, accept: None })
    }
}

impl HttpAnswer {
    /// The answer, unless it is a refusal.
    ///
    /// # Errors
    /// The venue refused, or its refusal cannot be read.
    pub fn accepted(self) -> Result<HttpAnswer, ClientError> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        let status = self.status;
        let error: ErrorAnswer = serde_json::from_slice(&self.body).map_err(|error| {
            ClientError::Malformed(format!(
                "the venue answered {status} without an error ({error})"
            ))
        })?;
        let body = String::from_utf8_lossy(&self.body).into_owned();
        let refusal = Refusal::of(status, error.error, body);
        Err(ClientError::Refused(Box::new(Refusal { retry_after: self.retry_after, ..refusal })))
    }

    /// The answer as a type of the interface, unless it is a refusal.
    ///
    /// # Errors
    /// The venue refused, or its answer is not of that type.
    pub fn read<A: DeserializeOwned>(self) -> Result<A, ClientError> {
        let answer = self.accepted()?;
        serde_json::from_slice(&answer.body).map_err(|error| {
            let status = answer.status;
            ClientError::Malformed(format!(
                "the venue answered {status} with something else ({error})"
            ))
        })
    }
}

/// The field of an answer that holds the command's sequence.
#[derive(Deserialize)]
struct AnswerSeq {
    seq: Option<Seq>,
    withdrawal: Option<NestedSeq>,
    error: Option<NestedSeq>,
}

#[derive(Deserialize)]
struct NestedSeq {
    seq: Option<Seq>,
}

/// Whether an endpoint's query takes `min_seq`.
fn takes_min_seq(route: Route) -> bool {
    matches!(
        route,
        Route::Order
            | Route::Orders
            | Route::Fills
            | Route::Balances
            | Route::Instruments
            | Route::Instrument
            | Route::Book
            | Route::Trades
            | Route::Ticker
            | Route::Auction
            | Route::KillState
            | Route::AdminRestrictions
            | Route::Calendars
            | Route::Calendar
    )
}

/// Whether an endpoint's query takes the reason of an operator, and nothing else.
fn takes_reason(route: Route) -> bool {
    matches!(
        route,
        Route::AdminMembers
            | Route::AdminAccounts
            | Route::AdminCurrencies
            | Route::AdminInstruments
            | Route::AdminRules
            | Route::AdminState
            | Route::AdminAuctionRules
            | Route::AdminContractTerms
            | Route::AdminRestrict
            | Route::AdminCalendarAssign
            | Route::AdminCalendarMove
            | Route::AdminBreakerSet
            | Route::AdminBreakerRemove
            | Route::AdminHalt
            | Route::AdminResume
            | Route::AdminClose
            | Route::AdminDeposits
            | Route::AdminPayOut
            | Route::AdminWithdrawalApprove
            | Route::AdminWithdrawalReject
            | Route::AdminRulesVersion
    )
}

/// Whether a refusal that says when to ask again goes away within seconds. A nearly full disk and a
/// venue that is shutting down do not, and a queue that failed may have stored messages.
fn passes_soon(answer: &HttpAnswer) -> bool {
    let lasting = ["storage_low", "stopped", "queue_failed"];
    matches!(answer.status, 429 | 503)
        && serde_json::from_slice::<ErrorAnswer>(&answer.body)
            .is_ok_and(|answer| !lasting.contains(&&*answer.error.code))
}

impl Client {
    /// A client of the venue at `url`, such as `http://127.0.0.1:8080`.
    ///
    /// # Errors
    /// The address does not begin with `http://`, or is none.
    pub fn new(url: &str, credentials: Credentials) -> Result<Client, ClientError> {
        Client::with_options(url, credentials, ClientOptions::default())
    }

    /// As [`Client::new`], with other bounds.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn with_options(
        url: &str,
        credentials: Credentials,
        options: ClientOptions,
    ) -> Result<Client, ClientError> {
        let url = url.trim_end_matches('/');
        let uri = url.parse::<hyper::Uri>().ok();
        let is_sound = uri.is_some_and(|uri| {
            uri.scheme_str() == Some("http") && uri.authority().is_some() && uri.path().len() <= 1
        });
        if !is_sound {
            let wrong = format!("{url:?} is no address of a venue, such as http://127.0.0.1:8080");
            return Err(ClientError::Invalid(wrong));
        }
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(options.timeout.min(Duration::from_secs(10))));
        connector.set_nodelay(true);
        let pool = Pool::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(15))
            .build(connector);
        let (nonce, seen) = (AtomicU64::new(0), AtomicU64::new(0));
        let inner = Inner { pool, url: url.to_owned(), credentials, options, nonce, seen };
        Ok(Client { inner: Arc::new(inner), reason: None })
    }

    /// The same client, whose commands as an operator have this reason in the audit trail: at most
    /// 100 bytes of printable text. Other changes under `/v1/admin` are then not sent: they are not
    /// in the audit trail.
    #[must_use]
    pub fn because(&self, reason: &str) -> Client {
        Client { reason: Some(reason.into()), ..self.clone() }
    }

    /// The URL of the venue.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.inner.url
    }

    /// The client's credentials.
    #[must_use]
    pub fn credentials(&self) -> &Credentials {
        &self.inner.credentials
    }

    /// The last command of this client that the venue has answered: queries wait until they show it.
    #[must_use]
    pub fn last_seq(&self) -> Option<Seq> {
        let seq = self.inner.seen.load(Ordering::Acquire);
        (seq > 0).then_some(Seq(seq))
    }

    /// Calls an endpoint and decodes its answer, as every typed method does.
    ///
    /// # Errors
    /// The venue refused, or no usable answer came.
    pub async fn call<A: DeserializeOwned>(
        &self,
        route: Route,
        arguments: &[&str],
        query: &impl Serialize,
        body: Option<&impl Serialize>,
    ) -> Result<A, ClientError> {
        self.ask(route, arguments, query, body).await?.read()
    }

    /// Calls an endpoint, and returns the venue's answer, refusals included, not decoded.
    ///
    /// # Errors
    /// The request cannot be written, or no answer came.
    pub async fn ask(
        &self,
        route: Route,
        arguments: &[&str],
        query: &impl Serialize,
        body: Option<&impl Serialize>,
    ) -> Result<HttpAnswer, ClientError> {
        let mut request = HttpRequest::new(route, arguments, query)?;
        if let Some(body) = body {
            let bytes = serde_json::to_vec(body)
                .map_err(|error| ClientError::Invalid(format!("cannot write the body: {error}")))?;
            request.body = Some(("application/json", bytes.into()));
        }
        if let (true, true, Some(seq)) =
            (self.inner.options.read_own_writes, takes_min_seq(route), self.last_seq())
            && !request.path.contains("min_seq=")
        {
            let mark = if request.path.contains('?') { '&' } else { '?' };
            request.path.push_str(&format!("{mark}min_seq={seq}"));
        }
        if let Some(reason) = &self.reason
            && request.method != "GET"
        {
            if !takes_reason(route) {
                let wrong = format!("{} takes no reason for the audit trail", route.name());
                return Err(ClientError::Invalid(wrong));
            }
            request.path.push_str("?reason=");
            request.path.extend(utf8_percent_encode(reason, ESCAPED));
        }
        let answer = self.send(&request).await?;
        let has_seq = ["/v1/queues", "/v1/depot"].iter().all(|it| !request.path.starts_with(it));
        if request.method != "GET" && has_seq {
            self.note(&answer);
        }
        Ok(answer)
    }

    /// Remembers the sequence of a command.
    fn note(&self, answer: &HttpAnswer) {
        let Ok(place) = serde_json::from_slice::<AnswerSeq>(&answer.body) else { return };
        let within = [place.withdrawal, place.error].into_iter().flatten().filter_map(|it| it.seq);
        if let Some(seq) = within.chain(place.seq).max() {
            self.inner.seen.fetch_max(seq.0, Ordering::AcqRel);
        }
    }

    /// Sends a request, signed if there is a key, and returns the venue's answer, refusals
    /// included, not decoded. A venue that has just started accepts no signatures for a second;
    /// then the request is signed and sent again. A refused request that may succeed soon is
    /// retried too, within [`ClientOptions::retry_wait_max`].
    ///
    /// # Errors
    /// No answer came.
    pub async fn send(&self, request: &HttpRequest<'_>) -> Result<HttpAnswer, ClientError> {
        let mut signed_again = 0;
        let mut waited = Duration::ZERO;
        loop {
            let answer = self.send_once(request).await?;
            let Some(wait) = answer.retry_after else { return Ok(answer) };
            if answer.status == 401 && signed_again < SIGNED_AGAIN_MAX {
                signed_again += 1;
            } else if passes_soon(&answer)
                && waited + wait <= self.inner.options.retry_wait_max
                && !wait.is_zero()
            {
                waited += wait;
            } else {
                return Ok(answer);
            }
            tokio::time::sleep(wait).await;
        }
    }

    async fn send_once(&self, request: &HttpRequest<'_>) -> Result<HttpAnswer, ClientError> {
        let options = &self.inner.options;
        let HttpRequest { method, path, body, accept } = request;
        let bytes = body.as_ref().map(|(_, bytes)| bytes.clone()).unwrap_or_default();
        let mut head = self.head(method, path, || sha256(&bytes));
        if let Some((media_type, _)) = body {
            head = head.header(CONTENT_TYPE, *media_type);
        }
        if let Some(media_type) = accept {
            head = head.header(ACCEPT, *media_type);
        }
        let body = Full::new(bytes).map_err(|never| match never {}).boxed();
        let request = head.body(body).map_err(|error| self.unwritable(method, path, &error))?;
        let end = Instant::now() + options.timeout;
        let answer = tokio::time::timeout(options.timeout, self.inner.pool.request(request)).await;
        let answer = answer.map_err(|_| self.late(method, path))?;
        let answer = answer.map_err(|error| self.unanswered(method, &error))?;
        self.collect(method, path, answer, end).await
    }

    /// The head of a request, signed if there is a key.
    pub(crate) fn head(
        &self,
        method: &str,
        path: &str,
        body_sha256: impl FnOnce() -> [u8; 32],
    ) -> hyper::http::request::Builder {
        let Inner { url, credentials, .. } = &*self.inner;
        let agent = concat!("rialto-client/", env!("CARGO_PKG_VERSION"));
        let mut head = hyper::Request::builder()
            .method(method)
            .uri(format!("{url}{path}"))
            .header(USER_AGENT, agent);
        match credentials {
            Credentials::None => {}
            Credentials::Admin(key) => head = head.header(AUTHORIZATION, format!("Bearer {key}")),
            Credentials::Key { id, secret } => {
                let (timestamp_us, nonce) = (now_us(), &*self.next_nonce());
                let (durability, body_sha256) = ("", body_sha256());
                let signed =
                    SignHead { timestamp_us, nonce, method, path, durability, body_sha256 };
                for (name, value) in signed.headers(id, secret.as_bytes()) {
                    head = head.header(name, value);
                }
            }
        }
        head
    }

    /// The pool of connections.
    pub(crate) fn pool(&self) -> &Pool<HttpConnector, BoxBody<Bytes, std::io::Error>> {
        &self.inner.pool
    }

    /// The bounds of requests.
    pub(crate) fn options(&self) -> &ClientOptions {
        &self.inner.options
    }

    /// Reads an answer to its end.
    pub(crate) async fn collect(
        &self,
        method: &str,
        path: &str,
        answer: hyper::Response<hyper::body::Incoming>,
        end: Instant,
    ) -> Result<HttpAnswer, ClientError> {
        let Inner { url, options, .. } = &*self.inner;
        let status = answer.status().as_u16();
        let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok());
        let next = header(HEADER_NEXT).map(str::to_owned);
        let conflated = header(HEADER_CONFLATED).and_then(|it| it.parse().ok()).unwrap_or(0);
        let retry_after =
            header(RETRY_AFTER.as_str()).and_then(|it| it.parse().ok()).map(Duration::from_secs);
        let body = Limited::new(answer.into_body(), options.answer_bytes_max).collect();
        let left = end.saturating_duration_since(Instant::now());
        let body = tokio::time::timeout(left, body).await.map_err(|_| self.late(method, path))?;
        let body = body.map_err(|error| match error.is::<LengthLimitError>() {
            true => {
                let most = options.answer_bytes_max;
                ClientError::Malformed(format!("the answer of {url} is longer than {most} bytes"))
            }
            false => self.broken_off(method, &*error),
        })?;
        Ok(HttpAnswer { status, retry_after, next, conflated, body: body.to_bytes() })
    }

    /// The error of a request that cannot be written.
    pub(crate) fn unwritable(
        &self,
        method: &str,
        path: &str,
        error: &hyper::http::Error,
    ) -> ClientError {
        let url = &self.inner.url;
        ClientError::Invalid(format!("cannot ask {method} {url}{path}: {error}"))
    }

    /// The error of a request that was not answered in time.
    pub(crate) fn late(&self, method: &str, path: &str) -> ClientError {
        let (url, seconds) = (&self.inner.url, self.inner.options.timeout.as_secs_f32());
        lost(
            method,
            format!("the venue at {url} has not answered {method} {path} within {seconds} s"),
        )
    }

    /// The error of a request without an answer.
    pub(crate) fn unanswered(
        &self,
        method: &str,
        error: &hyper_util::client::legacy::Error,
    ) -> ClientError {
        let url = &self.inner.url;
        let why = format!("no answer from the venue at {url}: {}", with_causes(error));
        if error.is_connect() { ClientError::Unreachable(why) } else { lost(method, why) }
    }

    /// The error of an answer that ended before its end.
    pub(crate) fn broken_off(&self, method: &str, error: &dyn std::error::Error) -> ClientError {
        let url = &self.inner.url;
        lost(method, format!("the answer of {url} broke off: {}", with_causes(error)))
    }

    /// A nonce, which distinguishes equal requests of one microsecond.
    pub(crate) fn next_nonce(&self) -> String {
        let nonce = self.inner.nonce.fetch_add(1, Ordering::Relaxed);
        let client = Arc::as_ptr(&self.inner).addr() & 0xffff_ffff;
        format!("{}-{client:x}-{nonce}", std::process::id())
    }
}

/// The error of a request whose answer is not known. A query without one changed nothing.
fn lost(method: &str, why: String) -> ClientError {
    match method {
        "GET" => ClientError::Unreachable(why),
        _ => ClientError::OutcomeUnknown(why),
    }
}

/// An error with all its causes.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        told = format!("{told}: {cause}");
        source = cause.source();
    }
    told
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use rialto_api::{CancelQuery, Nothing};
    use rialto_model::AccountId;

    #[test]
    fn arguments_stand_in_the_path_escaped() {
        let query = CancelQuery { account: Some(AccountId(7)) };
        let request = HttpRequest::new(Route::Cancel, &["client:a/b c"], &query).unwrap();
        assert_eq!(request.method, "DELETE");
        assert_eq!(request.path, "/v1/orders/client:a%2Fb%20c?account=7");
        let path = HttpRequest::new(Route::QueueFetch, &["jobs", "all"], &Nothing {}).unwrap().path;
        assert_eq!(path, "/v1/queues/jobs/groups/all/fetch");
    }

    #[test]
    fn arguments_that_do_not_fit_the_path_are_refused() {
        for arguments in [&[][..], &["1", "2"], &[""]] {
            assert!(HttpRequest::new(Route::Order, arguments, &Nothing {}).is_err());
        }
    }

    #[test]
    fn every_query_that_takes_min_seq_or_a_reason_is_known() {
        for route in Route::ALL {
            let query = route.endpoint().map(|endpoint| {
                let mut generator = schemars::SchemaGenerator::default();
                (endpoint.query)(&mut generator);
                format!("{:?}", generator.take_definitions(false))
            });
            let takes = |name: &str| query.as_ref().is_some_and(|schema| schema.contains(name));
            assert_eq!(takes_min_seq(*route), takes("min_seq"), "{route:?}");
            assert_eq!(takes_reason(*route), takes("OperatorQuery"), "{route:?}");
        }
    }

    #[test]
    fn an_invalid_address_is_refused() {
        for url in ["", "127.0.0.1:1", "https://venue", "http://", "http://a/b"] {
            assert!(Client::new(url, Credentials::None).is_err(), "{url}");
        }
    }
}
