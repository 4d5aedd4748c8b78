//! Hands `s3s` the secret that a request is signed with, and admits the request when its signature is
//! verified.

use crate::errors::refusal;
use crate::keys::SigningKeys;
use crate::session::session_of;
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{S3Auth, SecretKey};
use s3s::{S3ErrorCode, S3Result};
use std::sync::Arc;

/// The secrets of keys: the newest, or the one before it, which works for a while.
pub(crate) struct Secrets {
    pub(crate) keys: Arc<dyn SigningKeys>,
    pub(crate) nth: usize,
}

#[async_trait::async_trait]
impl S3Auth for Secrets {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        let secret = self.keys.find(access_key).and_then(|mut key| {
            (self.nth < key.secrets.len()).then(|| key.secrets.swap_remove(self.nth))
        });
        let unknown = || refusal(S3ErrorCode::InvalidAccessKeyId, "There is no such key.");
        Ok(SecretKey::from(secret.ok_or_else(unknown)?))
    }
}

/// Counts an authenticated request for its key.
pub(crate) struct Admission {
    pub(crate) keys: Arc<dyn SigningKeys>,
}

#[async_trait::async_trait]
impl S3Access for Admission {
    async fn check(&self, cx: &mut S3AccessContext<'_>) -> S3Result<()> {
        let session = session_of(cx.extensions_mut())?;
        let verified = cx.credentials().ok_or(S3ErrorCode::AccessDenied)?;
        if verified.access_key != session.key.id || verified.secret_key.expose() != session.secret {
            // Its secret was changed between two looks at it.
            return Err(refusal(S3ErrorCode::SignatureDoesNotMatch, "The key has changed."));
        }
        session.set_authenticated();
        if self.keys.take_request(&session.key.id) {
            return Ok(());
        }
        Err(refusal(S3ErrorCode::SlowDown, "The key has made too many requests; wait a little."))
    }
}
