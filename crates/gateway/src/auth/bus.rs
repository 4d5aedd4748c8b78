//! The bus for changes of API keys. Keys belong to this gateway's protocol; the behaviours are
//! those of every other bus.

use super::{KeyInfo, KeyRequest, KeyStore, KeyStoreError, Secret, now_us};
use rialto_bus::behaviour::{Counters, Validate};
use rialto_bus::{Command, Context, Error, ErrorKind, Handler, Query, Request, Result, bus};
use rialto_desk::{AtField, Authorisation, Durations, Grant, Needs, Scope, VenueBehaviours};
use rialto_recorder::Recorder;
use std::sync::Arc;

/// The longest time for which an old secret still works after a rotation: a week.
const OVERLAP_S_MAX: u32 = 7 * 86_400;
/// The most accounts of one key.
const ACCOUNTS_MAX: usize = 1_000;
/// The most topic grants of one key.
const QUEUES_MAX: usize = 100;
/// The most depot grants of one key.
const DEPOT_MAX: usize = 100;

bus! {
    /// The requests of operators to the key store.
    pub(crate) struct KeyBus {
        requests through VenueBehaviours<Authorisation> {
            service: KeyService => later CreateKey, later ListKeys, later RotateKey, later RevokeKey;
        }
    }
}

impl KeyBus {
    /// The bus of this store. A recorder records requests and results, and no secrets.
    pub(crate) fn new(keys: Arc<KeyStore>, recorder: Option<Arc<Recorder>>) -> KeyBus {
        let requests = VenueBehaviours::new(Authorisation).recorded_by(recorder);
        KeyBus { requests, service: KeyService(keys) }
    }

    /// The number of requests by name and outcome.
    pub(crate) fn counters(&self) -> &Counters {
        self.requests.counters()
    }

    /// The durations of requests, from the bus to the answer.
    pub(crate) fn durations(&self) -> &Durations {
        self.requests.durations()
    }
}

/// Makes a key.
pub(crate) struct CreateKey(pub(crate) KeyRequest);

/// Lists all keys.
pub(crate) struct ListKeys;

/// Gives a key a new secret.
pub(crate) struct RotateKey {
    pub(crate) id: String,
    /// How long the old one still works.
    pub(crate) overlap_s: u32,
}

/// Revokes a key.
pub(crate) struct RevokeKey {
    pub(crate) id: String,
}

/// Implements the requests: name, kind and response.
macro_rules! requests {
    ($($name:literal $Kind:ident $Request:ident => $Response:ty;)*) => { $(
        impl Request for $Request {
            type Response = $Response;
            const NAME: &'static str = $name;
        }

        impl $Kind for $Request {}

        impl Needs for $Request {
            fn check(&self, grant: &Grant) -> Result<()> {
                Ok(grant.require(Scope::Admin)?)
            }
        }
    )* };
}

requests! {
    "create_key" Command CreateKey => (KeyInfo, Secret);
    "list_keys" Query ListKeys => Vec<KeyInfo>;
    "rotate_key" Command RotateKey => (KeyInfo, Secret);
    "revoke_key" Command RevokeKey => KeyInfo;
}

impl Validate for CreateKey {
    fn validate(&self) -> Result<()> {
        let Self(KeyRequest { scopes, expires_us, accounts, queues, depot, .. }) = self;
        if scopes.iter().next().is_none() && queues.is_empty() && depot.is_empty() {
            let message = "A key has at least one scope or one grant of queues or of the depot.";
            return Err(AtField("scopes").invalid(message));
        }
        if queues.len() > QUEUES_MAX || queues.iter().any(|grant| grant.rights.is_empty()) {
            let message = format!(
                "A key has at most {QUEUES_MAX} grants of queues, each with a right at least."
            );
            return Err(AtField("queues").invalid(message));
        }
        if depot.len() > DEPOT_MAX || depot.iter().any(|grant| grant.rights.is_empty()) {
            let message = format!(
                "A key has at most {DEPOT_MAX} grants of the depot, each with a right at least."
            );
            return Err(AtField("depot").invalid(message));
        }
        if expires_us.is_some_and(|end| end <= now_us()) {
            return Err(AtField("expires_at").invalid("The expiry must be in the future."));
        }
        if accounts.len() > ACCOUNTS_MAX {
            let message = format!("A key has at most {ACCOUNTS_MAX} accounts.");
            return Err(AtField("accounts").invalid(message));
        }
        Ok(())
    }
}

impl Validate for ListKeys {
    fn validate(&self) -> Result<()> {
        Ok(())
    }
}

impl Validate for RotateKey {
    fn validate(&self) -> Result<()> {
        if self.overlap_s > OVERLAP_S_MAX {
            let message = format!("The old secret may still work for at most {OVERLAP_S_MAX} s.");
            return Err(AtField("overlap_s").invalid(message));
        }
        Ok(())
    }
}

impl Validate for RevokeKey {
    fn validate(&self) -> Result<()> {
        Ok(())
    }
}

/// The handler of requests about keys.
pub(crate) struct KeyService(Arc<KeyStore>);

impl KeyService {
    /// Uses the store on a thread that may block on the disk.
    async fn with_store<T: Send + 'static>(
        &self,
        change: impl FnOnce(&KeyStore) -> std::result::Result<T, KeyStoreError> + Send + 'static,
    ) -> Result<T> {
        let keys = Arc::clone(&self.0);
        match tokio::task::spawn_blocking(move || change(&keys)).await {
            Ok(changed) => Ok(changed?),
            Err(error) => {
                let message = format!("The change failed: {error}.");
                Err(Error::new(ErrorKind::Internal, "key_store_failed", message))
            }
        }
    }
}

impl From<KeyStoreError> for Error {
    fn from(error: KeyStoreError) -> Error {
        let message = format!("{error}.");
        match error {
            KeyStoreError::UnknownKey(_) => {
                Error::new(ErrorKind::NotFound, "unknown_key", message).with_source(AtField("id"))
            }
            KeyStoreError::Revoked(_) => {
                Error::new(ErrorKind::Conflict, "key_revoked", message).with_source(AtField("id"))
            }
            KeyStoreError::Full => {
                Error::new(ErrorKind::Busy, "venue_full", message).retryable(false)
            }
            KeyStoreError::LabelTooLong => AtField("label").invalid(message),
            KeyStoreError::File { .. } => {
                Error::new(ErrorKind::Internal, "key_store_failed", message).with_source(error)
            }
        }
    }
}

impl Handler<CreateKey> for KeyService {
    async fn handle(&self, create: CreateKey, _: &Context<'_>) -> Result<(KeyInfo, Secret)> {
        let made = self.with_store(move |keys| keys.create(create.0)).await?;
        let KeyInfo { id, member, scopes, .. } = &made.0;
        let scopes: Vec<_> = scopes.iter().map(Scope::name).collect();
        tracing::info!(key = id, member = member.0, scopes = scopes.join(","), "a key was made");
        Ok(made)
    }
}

impl Handler<ListKeys> for KeyService {
    async fn handle(&self, _: ListKeys, _: &Context<'_>) -> Result<Vec<KeyInfo>> {
        self.with_store(|keys| Ok(keys.list())).await
    }
}

impl Handler<RotateKey> for KeyService {
    async fn handle(&self, rotate: RotateKey, _: &Context<'_>) -> Result<(KeyInfo, Secret)> {
        let RotateKey { id, overlap_s } = rotate;
        let overlap_us = u64::from(overlap_s) * 1_000_000;
        let rotated = self.with_store(move |keys| keys.rotate(&id, overlap_us)).await?;
        tracing::info!(key = rotated.0.id, overlap_s, "a key has a new secret");
        Ok(rotated)
    }
}

impl Handler<RevokeKey> for KeyService {
    async fn handle(&self, revoke: RevokeKey, _: &Context<'_>) -> Result<KeyInfo> {
        let revoked = self.with_store(move |keys| keys.revoke(&revoke.id)).await?;
        tracing::info!(key = revoked.id, "a key was revoked");
        Ok(revoked)
    }
}
