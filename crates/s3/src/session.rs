//! A request from its head to its answer: who sent it, and what became of its body.

use crate::keys::SigningKey;
use crate::traffic::RequestSlot;
use hyper::body::Incoming;
use rialto_bus::Context;
use s3s::{S3Error, S3ErrorCode, S3Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What is known of a request besides its input. It is an extension of the request.
pub(crate) struct Session {
    pub(crate) key: SigningKey,
    /// The secret whose signature is expected.
    pub(crate) secret: String,
    /// Whether the signature was verified.
    authenticated: AtomicBool,
    /// Why its body was refused.
    fault: OnceLock<BodyFault>,
    /// The rest of a body that nobody read.
    unread: Mutex<Option<Unread>>,
    _slot: RequestSlot,
}

/// The rest of a body, and whether some of it was asked for.
pub(crate) type Unread = (Incoming, bool);

/// Why a body was refused while it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BodyFault {
    pub(crate) code: S3ErrorCode,
    pub(crate) message: String,
}

impl BodyFault {
    pub(crate) fn new(code: S3ErrorCode, message: impl Into<String>) -> BodyFault {
        BodyFault { code, message: message.into() }
    }

    pub(crate) fn error(&self) -> S3Error {
        crate::errors::refusal(self.code.clone(), self.message.clone())
    }
}

impl Session {
    pub(crate) fn new(key: SigningKey, secret: String, slot: RequestSlot) -> Session {
        Session {
            key,
            secret,
            authenticated: AtomicBool::new(false),
            fault: OnceLock::new(),
            unread: Mutex::new(None),
            _slot: slot,
        }
    }

    /// The context of its requests on the depot's bus.
    pub(crate) fn context(&self) -> Context<'_> {
        Context::new().with_principal(&self.key.principal)
    }

    pub(crate) fn set_authenticated(&self) {
        self.authenticated.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_authenticated(&self) -> bool {
        self.authenticated.load(Ordering::Relaxed)
    }

    /// Notes the first fault of the body.
    pub(crate) fn refuse_body(&self, fault: BodyFault) {
        // A later fault follows from the first.
        let _ = self.fault.set(fault);
    }

    pub(crate) fn fault(&self) -> Option<&BodyFault> {
        self.fault.get()
    }

    pub(crate) fn leave_unread(&self, body: Unread) {
        *self.unread.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
    }

    pub(crate) fn take_unread(&self) -> Option<Unread> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The session of a request.
pub(crate) fn session_of(
    extensions: &hyper::http::Extensions,
) -> S3Result<std::sync::Arc<Session>> {
    extensions.get().cloned().ok_or_else(|| S3Error::new(S3ErrorCode::AccessDenied))
}
