//! Authenticates requests and checks the caller's rights.

use super::KeyStore;
use super::claim::Claim;
use super::key::{Allowance, LiveKey};
use super::link::{self, LINK_LIFE_MAX, Link, LinkKey, LinkTarget};
use super::replay::{NotFresh, SeenSignatures};
use crate::limits::{Addresses, Owner};
use crate::{ApiError, DepotKey, GatewayConfig};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use rialto_api::sign::{
    HEADER_TIMESTAMP, SignedParts, SignedRest, Signer, from_hex, now_us, sha256,
};
use rialto_broker::Principal;
use rialto_depot_desk::DepotPrincipal;
use rialto_desk::{Grant, Scope, Scopes, TokenBucket, TokenRate};
use rialto_model::{AccountId, MemberId, Timestamp};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How often a waiting request checks whether its key has expired.
const EXPIRY_LOOK: Duration = Duration::from_millis(250);

/// An authenticated caller.
#[derive(Clone)]
pub struct Caller {
    identity: Identity,
    /// The remaining requests of its allowance after this one.
    requests_left: u64,
}

#[derive(Clone)]
enum Identity {
    Operator,
    /// The number is the change of the store that made the signing secret.
    Key(Arc<LiveKey>, u64),
}

impl Caller {
    /// Returns an error if the caller lacks this scope.
    ///
    /// # Errors
    /// `forbidden`, with the scope.
    pub fn require(&self, scope: Scope) -> Result<(), ApiError> {
        Ok(self.grant().require(scope)?)
    }

    /// The account of a request: the named one, or the key's only one. The caller must have the
    /// scope for it. Operators may read every account.
    ///
    /// # Errors
    /// `forbidden`, or the request must name the account.
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

    /// The member that owns the key; `None` for the admin key.
    #[must_use]
    pub fn member(&self) -> Option<MemberId> {
        match &self.identity {
            Identity::Operator => None,
            Identity::Key(key, _) => Some(key.info.member),
        }
    }

    /// The grant. The admin key has admin and read scopes for everything, and does not trade.
    #[must_use]
    pub fn grant(&self) -> &Grant {
        static OPERATOR: LazyLock<Grant> = LazyLock::new(|| {
            let name = ADMIN_NAME.parse().expect("it is short and prints");
            Grant::new([Scope::Admin, Scope::Read].into_iter().collect(), []).held_by(name)
        });
        match &self.identity {
            Identity::Operator => &OPERATOR,
            Identity::Key(key, _) => &key.grant,
        }
    }

    /// The accounts of the key.
    #[must_use]
    pub fn accounts(&self) -> &[AccountId] {
        self.grant().accounts()
    }

    /// The rights to topics; an admin scope includes all.
    #[must_use]
    pub fn queue_principal(&self) -> &Principal {
        static OPERATOR: LazyLock<Principal> = LazyLock::new(|| Principal::operator(""));
        match &self.identity {
            Identity::Operator => &OPERATOR,
            Identity::Key(key, _) => &key.queue_principal,
        }
    }

    /// The rights to tenants of the depot; an admin scope includes all.
    #[must_use]
    pub fn depot_principal(&self) -> &DepotPrincipal {
        static OPERATOR: LazyLock<DepotPrincipal> = LazyLock::new(|| DepotPrincipal::operator(""));
        match &self.identity {
            Identity::Operator => &OPERATOR,
            Identity::Key(key, _) => &key.depot_principal,
        }
    }

    /// The remaining requests of its allowance, when this one was authenticated.
    pub(crate) fn requests_left(&self) -> u64 {
        self.requests_left
    }

    /// The key's id; empty for the admin key.
    pub(crate) fn id(&self) -> &str {
        match &self.identity {
            Identity::Operator => "",
            Identity::Key(key, _) => &key.info.id,
        }
    }

    /// The scopes of the key.
    #[must_use]
    pub fn scopes(&self) -> Scopes {
        self.grant().scopes()
    }
}

/// The name of the admin key in the audit trail. Ids of other keys begin with `rk_`.
const ADMIN_NAME: &str = "admin";

/// How far the head of a request authenticates it.
pub(crate) enum Standing {
    /// The caller is authenticated. A body must have this hash, if it is given.
    Proved(Caller, Option<[u8; 32]>),
    /// The signature is of scheme 1 and covers the body, which must be read first.
    Unproved,
}

/// Authenticates requests: signature, timestamp, replay, allowance.
pub(crate) struct Gatekeeper {
    keys: Arc<KeyStore>,
    window_us: u64,
    ahead_us: u64,
    /// Secrets made by this change of the store or before may have signed requests before the
    /// start.
    old_change: u64,
    /// Signatures by old secrets with timestamps up to this one may have been accepted before the
    /// start.
    old_until_us: u64,
    seen: SeenSignatures,
    key_rate: TokenRate,
    addresses: Addresses,
    operator: Allowance,
    nobody: Signer,
    nobody_links: LinkKey,
    began: Instant,
    rate_limited: AtomicU64,
}

impl Gatekeeper {
    /// The most by which a timestamp may be ahead of the venue's time.
    const AHEAD_MAX: Duration = Duration::from_secs(1);

    /// `journaled` is the time of the journal's last command.
    pub(crate) fn new(
        keys: Arc<KeyStore>,
        config: &GatewayConfig,
        journaled: Timestamp,
    ) -> Gatekeeper {
        let window = config.signature_window.min(GatewayConfig::SIGNATURE_WINDOW_MAX);
        let window_us = window.as_micros() as u64;
        let ahead_us = Gatekeeper::AHEAD_MAX.as_micros() as u64;
        Gatekeeper {
            old_change: keys.live().change,
            old_until_us: now_us().max(journaled.0 / 1_000).saturating_add(ahead_us),
            keys,
            window_us,
            ahead_us,
            // A timestamp may be ahead, and stays valid for a window after its time.
            seen: SeenSignatures::new(ahead_us + window_us + 1, config.signatures_max),
            key_rate: TokenRate::new(config.key_rate, config.key_burst),
            addresses: Addresses::new(
                TokenRate::new(config.address_rate, config.address_burst),
                config.addresses_max,
            ),
            operator: Allowance::default(),
            nobody: Signer::new(&super::key::random()),
            nobody_links: LinkKey::of(&super::key::random()),
            began: Instant::now(),
            rate_limited: AtomicU64::new(0),
        }
    }

    /// The number of requests refused by rate limits.
    pub(crate) fn rate_limited(&self) -> u64 {
        self.rate_limited.load(Ordering::Relaxed)
    }

    /// Authenticates a signed request, or one with the admin key, as far as its head allows.
    /// Without a body, the head must suffice.
    pub(crate) fn check_head(
        &self,
        head: &Parts,
        has_body: bool,
        peer: IpAddr,
    ) -> Result<Standing, ApiError> {
        let checked = self.prove(head, has_body);
        self.charge(checked, peer)
    }

    /// Authenticates a request whose body has been read.
    pub(crate) fn check_body(
        &self,
        head: &Parts,
        standing: Standing,
        body: &[u8],
        peer: IpAddr,
    ) -> Result<Caller, ApiError> {
        match standing {
            Standing::Proved(caller, None) => Ok(caller),
            Standing::Proved(caller, Some(hash)) if sha256(body) == hash => Ok(caller),
            Standing::Proved(..) => {
                let message = "The body does not have the signed SHA-256.";
                Err(ApiError::new(StatusCode::BAD_REQUEST, "body_hash_mismatch", message)
                    .of("body"))
            }
            Standing::Unproved => {
                let checked = Claim::of(head).and_then(|claim| {
                    self.verify(&claim, head.method.as_str(), path(head), SignedRest::Body(body))
                });
                self.charge(checked, peer)
            }
        }
    }

    /// A link to this target that a caller's key permits, and when it expires in microseconds since
    /// 1970.
    pub(crate) fn link(
        &self,
        caller: &Caller,
        target: LinkTarget<'_>,
        life: Duration,
    ) -> Result<(String, u64), ApiError> {
        let life_us = u64::try_from(life.min(LINK_LIFE_MAX).as_micros()).unwrap_or(u64::MAX);
        let expires_us = now_us().saturating_add(life_us);
        let live = self.keys.live();
        let text = match &caller.identity {
            Identity::Operator => {
                LinkKey::of(&live.admin.0).link(link::OPERATOR, target, expires_us)
            }
            Identity::Key(key, _) => {
                let key = live.keys.get(&key.info.id).ok_or_else(ApiError::key_not_valid)?;
                key.current.links.link(&key.info.id, target, expires_us)
            }
        };
        Ok((text, expires_us))
    }

    /// Admits an unsigned request with a link to this target, as a request of the key that made the
    /// link.
    pub(crate) fn check_link(
        &self,
        text: &str,
        target: LinkTarget<'_>,
        peer: IpAddr,
    ) -> Result<Caller, ApiError> {
        let checked = self.follow(text, target);
        self.charge(checked, peer)
    }

    /// Refuses an unsigned request with a link and what no link has.
    pub(crate) fn refuse_link(&self, peer: IpAddr) -> ApiError {
        let refused: Result<Caller, ApiError> = Err(link_invalid());
        self.charge(refused, peer).err().unwrap_or_else(link_invalid)
    }

    fn follow(&self, text: &str, target: LinkTarget<'_>) -> Result<Caller, ApiError> {
        let link = Link::read(text).ok_or_else(link_invalid)?;
        let (live, now_us) = (self.keys.live(), now_us());
        let (identity, requests) = if link.key == link::OPERATOR {
            let is_made = LinkKey::of(&live.admin.0).made(&link, target);
            (is_made.then_some(Identity::Operator), &self.operator.requests)
        } else {
            // An unknown key takes as much time as a known one, up to the look-up.
            let Some(key) = live.keys.get(link.key) else {
                let _ = self.nobody_links.made(&link, target);
                return Err(link_invalid());
            };
            let made = key.working(now_us).find(|secret| secret.links.made(&link, target));
            let made = made.filter(|_| key.is_valid_at(now_us)).map(|secret| secret.made);
            (made.map(|made| Identity::Key(Arc::clone(key), made)), &key.allowance.requests)
        };
        let identity = identity.ok_or_else(link_invalid)?;
        if now_us >= link.expires_us {
            let message = "The link has expired; ask for another.";
            return Err(unauthorized("link_expired", message).of("link"));
        }
        match self.take(requests) {
            Some(requests_left) => Ok(Caller { identity, requests_left }),
            None => Err(self.refuse_for_number()),
        }
    }

    /// Admits an unsigned request for public data if its address has an allowance. A signed one
    /// counts against its key, and its caller is returned.
    pub(crate) fn check_public(
        &self,
        head: &Parts,
        peer: IpAddr,
    ) -> Result<Option<Caller>, ApiError> {
        if Claim::is_made(&head.headers) {
            return match self.check_head(head, false, peer)? {
                Standing::Proved(caller, _) => Ok(Some(caller)),
                Standing::Unproved => Ok(None),
            };
        }
        self.charge_address(peer)?;
        Ok(None)
    }

    /// Authenticates a message that stands for a request without a body.
    pub(crate) fn check_message(
        &self,
        claim: Result<Claim<'_>, ApiError>,
        method: &str,
        path: &str,
        peer: IpAddr,
    ) -> Result<Caller, ApiError> {
        let checked =
            claim.and_then(|claim| self.verify(&claim, method, path, claim.rest_without_body()?));
        self.charge(checked, peer)
    }

    /// Whether an earlier authentication still holds: the key is valid, and the signing secret
    /// still works.
    pub(crate) fn is_still_valid(&self, caller: &Caller) -> bool {
        let Identity::Key(key, made) = &caller.identity else { return true };
        let (live, now_us) = (self.keys.live(), now_us());
        live.keys.get(&key.info.id).is_some_and(|key| {
            key.is_valid_at(now_us) && key.working(now_us).any(|secret| secret.made == *made)
        })
    }

    /// The key of this id, if it is valid now, for another door to the depot.
    pub(crate) fn depot_key(&self, id: &str) -> Option<DepotKey> {
        let (live, now_us) = (self.keys.live(), now_us());
        let key = live.keys.get(id).filter(|key| key.is_valid_at(now_us))?;
        Some(DepotKey {
            id: key.info.id.clone(),
            secrets: key.working(now_us).map(|it| it.secret.clone()).collect(),
            principal: key.depot_principal.clone(),
        })
    }

    /// Takes a request from the allowance of a key that another door has authenticated.
    pub(crate) fn take_request(&self, id: &str) -> bool {
        let live = self.keys.live();
        let Some(key) = live.keys.get(id) else { return false };
        let has_one = self.take(&key.allowance.requests).is_some();
        self.rate_limited.fetch_add(u64::from(!has_one), Ordering::Relaxed);
        has_one
    }

    /// Announces each change of a key.
    pub(crate) fn keys_changed(&self) -> watch::Receiver<u64> {
        self.keys.changed()
    }

    /// Waits until a caller's authentication ends, because its key was changed or has expired.
    pub(crate) async fn ended(&self, caller: &Caller) {
        let mut changed = self.keys.changed();
        while self.is_still_valid(caller) {
            // An expiry is not announced, so that it is polled.
            if let Ok(Err(_)) = tokio::time::timeout(EXPIRY_LOOK, changed.changed()).await {
                std::future::pending().await
            }
        }
    }

    /// The owner of a request's body while it is read.
    pub(crate) fn owner<'a>(&'a self, standing: &'a Standing, peer: IpAddr) -> Owner<'a> {
        match standing {
            Standing::Proved(caller, _) => self.owner_of(caller),
            Standing::Unproved => Owner::Address(peer),
        }
    }

    /// The owner of the body of a caller's request.
    pub(crate) fn owner_of<'a>(&'a self, caller: &'a Caller) -> Owner<'a> {
        match &caller.identity {
            Identity::Operator => Owner::Key(&self.operator.bodies),
            Identity::Key(key, _) => Owner::Key(&key.allowance.bodies),
        }
    }

    fn prove(&self, head: &Parts, has_body: bool) -> Result<Standing, ApiError> {
        if let Some(key) = head.headers.get(header::AUTHORIZATION) {
            return Ok(Standing::Proved(self.check_admin_key(key.as_bytes())?, None));
        }
        let claim = Claim::of(head)?;
        let rest = match (has_body, claim.is_scheme_2()) {
            (false, _) => claim.rest_without_body()?,
            (true, true) => claim.rest_with_body()?,
            (true, false) => {
                // A request with an invalid time is refused before its body is read.
                self.check_time(&claim)?;
                return Ok(Standing::Unproved);
            }
        };
        let caller = self.verify(&claim, head.method.as_str(), path(head), rest)?;
        Ok(Standing::Proved(caller, if has_body { claim.body_hash() } else { None }))
    }

    /// The claimed time of signing, if it is within the window.
    fn check_time(&self, claim: &Claim<'_>) -> Result<(u64, u64), ApiError> {
        let now_us = now_us();
        let stamp_us = claim.stamp_us()?;
        let window =
            stamp_us.saturating_sub(self.ahead_us)..=stamp_us.saturating_add(self.window_us);
        if window.contains(&now_us) {
            return Ok((now_us, stamp_us));
        }
        let message = format!(
            "The timestamp is more than {} ms behind the venue's time, {now_us} µs, or more than {} ms \
             ahead of it; set the clock (GET /v1/time helps) and sign anew.",
            self.window_us / 1_000,
            self.ahead_us / 1_000
        );
        Err(outside_window(message))
    }

    /// Verifies the signature, and uses it and one request of the key's allowance.
    fn verify(
        &self,
        claim: &Claim<'_>,
        method: &str,
        path: &str,
        rest: SignedRest<'_>,
    ) -> Result<Caller, ApiError> {
        let (now_us, stamp_us) = self.check_time(claim)?;
        let Claim { timestamp, nonce, .. } = *claim;
        let signed = SignedParts { timestamp, nonce, method, path, rest };
        let signature = from_hex(claim.signature()).unwrap_or_default();
        let live = self.keys.live();
        let found = live.keys.get(claim.key);
        let signing = match found {
            Some(key) => key.working(now_us).find(|it| it.signer.verifies(signed, &signature)),
            None => {
                // An unknown key takes as much time as a known one, so that timing does not
                // distinguish them.
                let _ = self.nobody.verifies(signed, &signature);
                None
            }
        };
        let (Some(key), Some(secret)) = (found, signing) else {
            let message = "The key is unknown or the signature does not match the request.";
            return Err(unauthorized("credentials_invalid", message));
        };
        // Only a caller with the secret learns more about the key.
        if !key.is_valid_at(now_us) {
            return Err(ApiError::key_not_valid());
        }
        // The set of signatures that were accepted before the start is lost.
        if secret.made <= self.old_change && stamp_us <= self.old_until_us {
            let message = format!(
                "The venue has just started and takes timestamps after {} µs, so that nothing is \
                 accepted twice; sign anew a second later.",
                self.old_until_us
            );
            return Err(ApiError { retry: true, ..outside_window(message) });
        }
        let take = || self.take(&key.allowance.requests);
        match self.seen.admit(&signature, now_us, take) {
            Ok(requests_left) => {
                let identity = Identity::Key(Arc::clone(key), secret.made);
                Ok(Caller { identity, requests_left })
            }
            Err(NotFresh::Full) => Err(ApiError::busy()),
            Err(NotFresh::RateLimited) => Err(self.refuse_for_number()),
            Err(NotFresh::Replayed) => {
                let message =
                    "This signature was used before; sign the request again with another nonce.";
                Err(unauthorized("replayed_request", message))
            }
        }
    }

    /// Takes a request from an allowance; returns the number left.
    fn take(&self, requests: &TokenBucket) -> Option<u64> {
        requests.take_many(self.key_rate, 1, self.began.elapsed())
    }

    fn check_admin_key(&self, value: &[u8]) -> Result<Caller, ApiError> {
        let text = std::str::from_utf8(value).unwrap_or_default();
        let key = text.strip_prefix("Bearer ").unwrap_or_default();
        if !self.keys.live().admin.matches(key) {
            let message = "This is not the admin key. The header authorization takes only \
                           the admin key, as Bearer; other keys sign their requests.";
            return Err(unauthorized("credentials_invalid", message).of("authorization"));
        }
        match self.take(&self.operator.requests) {
            Some(requests_left) => Ok(Caller { identity: Identity::Operator, requests_left }),
            None => Err(self.refuse_for_number()),
        }
    }

    /// An authenticated request is charged to its key; any other is charged to its address.
    fn charge<T>(&self, checked: Result<T, ApiError>, peer: IpAddr) -> Result<T, ApiError> {
        match checked {
            Err(error) if error.status != StatusCode::TOO_MANY_REQUESTS => {
                self.charge_address(peer)?;
                Err(error)
            }
            checked => checked,
        }
    }

    pub(crate) fn charge_address(&self, peer: IpAddr) -> Result<(), ApiError> {
        if self.addresses.take(peer, self.began.elapsed()) {
            return Ok(());
        }
        Err(self.refuse_for_number())
    }

    fn refuse_for_number(&self) -> ApiError {
        self.rate_limited.fetch_add(1, Ordering::Relaxed);
        ApiError::rate_limited()
    }
}

/// The path with the query, as received.
fn path(head: &Parts) -> &str {
    head.uri.path_and_query().map_or("", |path| path.as_str())
}

fn outside_window(message: String) -> ApiError {
    unauthorized("timestamp_outside_window", message).of(HEADER_TIMESTAMP)
}

fn link_invalid() -> ApiError {
    let message = "The link does not permit this request, or its key or secret has ended.";
    unauthorized("link_invalid", message).of("link")
}

pub(super) fn unauthorized(
    code: &'static str,
    message: impl Into<std::borrow::Cow<'static, str>>,
) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, code, message)
}
