//! Checks who sends a request and what they may do.

use super::KeyStore;
use super::hex;
use super::key::LiveKey;
use super::replay::{NotFresh, SeenSignatures};
use super::signature::{
    HEADER_KEY, HEADER_NONCE, HEADER_SIGNATURE, HEADER_TIMESTAMP, Signed, Signer, now_us,
};
use crate::limits::{Addresses, Bucket, Rate};
use crate::queues::QueueGrant;
use crate::{ApiError, GatewayConfig};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use rialto_desk::{Grant, Scope, Scopes};
use rialto_model::{AccountId, MemberId};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

const NONCE_BYTES_MAX: usize = 64;

// A name as a text would be read and checked anew for each request.
static KEY: HeaderName = HeaderName::from_static(HEADER_KEY);
static TIMESTAMP: HeaderName = HeaderName::from_static(HEADER_TIMESTAMP);
static NONCE: HeaderName = HeaderName::from_static(HEADER_NONCE);
static SIGNATURE: HeaderName = HeaderName::from_static(HEADER_SIGNATURE);

/// Who sends a request.
#[derive(Clone)]
pub struct Caller(Identity);

#[derive(Clone)]
enum Identity {
    Operator,
    Key(Arc<LiveKey>),
}

impl Caller {
    /// How the log names the caller: the id of its key.
    pub(crate) fn log_name(&self) -> &str {
        match &self.0 {
            Identity::Operator => "operator",
            Identity::Key(key) => &key.info.id,
        }
    }

    /// Refuses a caller without this scope.
    ///
    /// # Errors
    /// `forbidden`, which names the scope.
    pub fn require(&self, scope: Scope) -> Result<(), ApiError> {
        Ok(self.grant().require(scope)?)
    }

    /// The account that a request is about: the one it names, or the key's only one. The caller
    /// must have the scope for it. Operators may read every account.
    ///
    /// # Errors
    /// `forbidden`, or the account must be named.
    pub fn account(&self, named: Option<AccountId>, scope: Scope) -> Result<AccountId, ApiError> {
        let grant = self.grant();
        match (named, grant.accounts()) {
            (Some(account), _) => {
                grant.permit(scope, account)?;
                Ok(account)
            }
            (None, own) => {
                if scope != Scope::Read || !grant.scopes().has(Scope::Admin) {
                    grant.require(scope)?;
                }
                match own {
                    [only] => Ok(*only),
                    _ => Err(ApiError::missing("account")),
                }
            }
        }
    }

    /// Whose key it is; nobody's, if it is the admin key.
    #[must_use]
    pub fn member(&self) -> Option<MemberId> {
        match &self.0 {
            Identity::Operator => None,
            Identity::Key(key) => Some(key.info.member),
        }
    }

    /// What it may do, and for which accounts. The admin key runs the venue and reads everything,
    /// but trades for nobody.
    #[must_use]
    pub fn grant(&self) -> &Grant {
        static OPERATOR: LazyLock<Grant> =
            LazyLock::new(|| Grant::new([Scope::Admin, Scope::Read].into_iter().collect(), []));
        match &self.0 {
            Identity::Operator => &OPERATOR,
            Identity::Key(key) => &key.grant,
        }
    }

    /// The accounts it may act for.
    #[must_use]
    pub fn accounts(&self) -> &[AccountId] {
        self.grant().accounts()
    }

    /// What it may do with which topics, beside what its scopes allow.
    #[must_use]
    pub fn queues(&self) -> &[QueueGrant] {
        match &self.0 {
            Identity::Operator => &[],
            Identity::Key(key) => &key.info.queues,
        }
    }

    /// The id of the key; empty for the admin key.
    pub(crate) fn id(&self) -> &str {
        match &self.0 {
            Identity::Operator => "",
            Identity::Key(key) => &key.info.id,
        }
    }

    /// What it may do.
    #[must_use]
    pub fn scopes(&self) -> Scopes {
        self.grant().scopes()
    }
}

/// What a request says about who sends it, as text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credentials<'a> {
    pub(crate) key: &'a str,
    pub(crate) timestamp: &'a str,
    pub(crate) nonce: &'a str,
    pub(crate) signature: &'a str,
}

/// Checks requests: signature, timestamp, repetition, allowance.
pub(crate) struct Gatekeeper {
    keys: Arc<KeyStore>,
    window_us: u64,
    seen: SeenSignatures,
    key_rate: Rate,
    addresses: Addresses,
    operator: Bucket,
    nobody: Signer,
    began: Instant,
    rate_limited: AtomicU64,
}

impl Gatekeeper {
    pub(crate) fn new(keys: Arc<KeyStore>, config: &GatewayConfig) -> Gatekeeper {
        let window = config.signature_window.min(GatewayConfig::SIGNATURE_WINDOW_MAX);
        let window_us = window.as_micros() as u64;
        Gatekeeper {
            keys,
            window_us,
            // A timestamp may be a window ahead and is valid until a window later.
            seen: SeenSignatures::new(2 * window_us + 1, config.signatures_max),
            key_rate: Rate::new(config.key_rate, config.key_burst),
            addresses: Addresses::new(
                Rate::new(config.address_rate, config.address_burst),
                config.addresses_max,
            ),
            operator: Bucket::default(),
            nobody: Signer::new(&super::key::random()),
            began: Instant::now(),
            rate_limited: AtomicU64::new(0),
        }
    }

    /// Requests that were refused for their number.
    pub(crate) fn rate_limited(&self) -> u64 {
        self.rate_limited.load(Ordering::Relaxed)
    }

    /// Who sends a request that must be signed, or carry the admin key.
    pub(crate) fn check(
        &self,
        headers: &HeaderMap,
        method: &str,
        path: &str,
        body: &[u8],
        peer: IpAddr,
    ) -> Result<Caller, ApiError> {
        if let Some(value) = headers.get(header::AUTHORIZATION) {
            return self.check_admin_key(value.as_bytes(), peer);
        }
        let text = |name| header_text(headers, name);
        let credentials = Credentials {
            key: text(&KEY)?.unwrap_or_default(),
            timestamp: text(&TIMESTAMP)?.unwrap_or_default(),
            nonce: text(&NONCE)?.unwrap_or_default(),
            signature: text(&SIGNATURE)?.unwrap_or_default(),
        };
        self.check_signature(credentials, method, path, body, peer)
    }

    /// Lets an unsigned request to public data pass, as long as its address has an allowance.
    /// A signed one counts against its key instead.
    pub(crate) fn check_public(
        &self,
        headers: &HeaderMap,
        method: &str,
        path: &str,
        peer: IpAddr,
    ) -> Result<(), ApiError> {
        if headers.contains_key(&KEY) || headers.contains_key(header::AUTHORIZATION) {
            return self.check(headers, method, path, b"", peer).map(|_| ());
        }
        self.charge_address(peer)
    }

    /// Whether a caller who proved who they are some time ago may still go on.
    pub(crate) fn is_still_valid(&self, caller: &Caller) -> bool {
        let Identity::Key(key) = &caller.0 else { return true };
        let live = self.keys.live();
        live.keys.get(&key.info.id).is_some_and(|key| key.is_valid_at(now_us()))
    }

    /// Who signed this.
    pub(crate) fn check_signature(
        &self,
        credentials: Credentials<'_>,
        method: &str,
        path: &str,
        body: &[u8],
        peer: IpAddr,
    ) -> Result<Caller, ApiError> {
        let checked = self.verify(credentials, method, path, body);
        self.settle(checked, peer)
    }

    fn verify(
        &self,
        credentials: Credentials<'_>,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> Result<(Caller, Bucket), ApiError> {
        let Credentials { key, timestamp, nonce, signature } = credentials;
        for (value, name) in
            [(key, HEADER_KEY), (timestamp, HEADER_TIMESTAMP), (signature, HEADER_SIGNATURE)]
        {
            if value.is_empty() {
                let message = format!("This needs a signed request: {name} is missing.");
                return Err(unauthorized("credentials_missing", message).of(name));
            }
        }
        if nonce.len() > NONCE_BYTES_MAX {
            let message = format!("A nonce is at most {NONCE_BYTES_MAX} bytes long.");
            return Err(unauthorized("credentials_invalid", message).of(HEADER_NONCE));
        }
        let now_us = now_us();
        let Some(stamp_us) = decimal(timestamp) else {
            let message = "A timestamp is a whole number of microseconds since 1970.";
            return Err(unauthorized("credentials_invalid", message).of(HEADER_TIMESTAMP));
        };
        if now_us.abs_diff(stamp_us) > self.window_us {
            let message = format!(
                "The timestamp is more than {} ms from the venue's time, {now_us} µs; set the \
                 clock (GET /v1/time helps) and sign anew.",
                self.window_us / 1_000
            );
            return Err(unauthorized("timestamp_outside_window", message).of(HEADER_TIMESTAMP));
        }
        let signed = Signed { timestamp, nonce, method, path, body };
        let signature = hex::decode(signature).unwrap_or_default();
        let live = self.keys.live();
        let found = live.keys.get(key);
        // An unknown key costs as much as a known one, so that time does not tell them apart.
        let signer = found.map_or(&self.nobody, |key| &key.signer);
        let is_signed = signer.verifies(signed, &signature)
            || found.and_then(|key| key.previous.as_ref()).is_some_and(|(old, until_us)| {
                now_us < *until_us && old.verifies(signed, &signature)
            });
        let (Some(key), true) = (found, is_signed) else {
            let message = "The key is unknown or the signature is not of this request.";
            return Err(unauthorized("credentials_invalid", message));
        };
        // Only whoever has the secret gets to know more about the key.
        if !key.is_valid_at(now_us) {
            let message = "The key has expired or was revoked.";
            return Err(unauthorized("key_not_valid", message));
        }
        match self.seen.insert(&signature, now_us) {
            Ok(()) => Ok((Caller(Identity::Key(Arc::clone(key))), key.bucket.clone())),
            Err(NotFresh::Full) => Err(ApiError::busy()),
            Err(NotFresh::Replayed) => {
                let message = "This very request came before; sign it anew, with another nonce.";
                Err(unauthorized("replayed_request", message))
            }
        }
    }

    fn check_admin_key(&self, value: &[u8], peer: IpAddr) -> Result<Caller, ApiError> {
        let text = std::str::from_utf8(value).unwrap_or_default();
        let key = text.strip_prefix("Bearer ").unwrap_or_default();
        let checked = if self.keys.live().admin.matches(key) {
            Ok((Caller(Identity::Operator), self.operator.clone()))
        } else {
            let message = "Only the admin key is sent in this header, as Bearer.";
            Err(unauthorized("credentials_invalid", message).of("authorization"))
        };
        self.settle(checked, peer)
    }

    /// Who proved who they are pays from their own allowance, all others from their address's.
    fn settle(
        &self,
        checked: Result<(Caller, Bucket), ApiError>,
        peer: IpAddr,
    ) -> Result<Caller, ApiError> {
        match checked {
            Ok((caller, bucket)) => {
                if bucket.take(self.key_rate, self.began.elapsed()) {
                    return Ok(caller);
                }
                self.rate_limited.fetch_add(1, Ordering::Relaxed);
                Err(ApiError::rate_limited())
            }
            Err(error) => {
                self.charge_address(peer)?;
                Err(error)
            }
        }
    }

    pub(crate) fn charge_address(&self, peer: IpAddr) -> Result<(), ApiError> {
        if self.addresses.take(peer, self.began.elapsed()) {
            return Ok(());
        }
        self.rate_limited.fetch_add(1, Ordering::Relaxed);
        Err(ApiError::rate_limited())
    }
}

/// A whole number without sign or leading zeros' tricks: digits only.
fn decimal(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn header_text<'a>(
    headers: &'a HeaderMap,
    name: &'static HeaderName,
) -> Result<Option<&'a str>, ApiError> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    value.to_str().map(Some).map_err(|_| {
        unauthorized("credentials_invalid", "The header is not plain text.").of(name.as_str())
    })
}

fn unauthorized(
    code: &'static str,
    message: impl Into<std::borrow::Cow<'static, str>>,
) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, code, message)
}
