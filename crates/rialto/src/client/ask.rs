//! A request to a venue, and what came back.

use super::Answer;
use crate::Error;
use serde_json::Value;
use std::borrow::Cow;

/// A request: what is asked, in which form, and in which form the answer is wanted.
pub struct Ask<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) body: Option<(&'static str, Cow<'a, [u8]>)>,
    pub(super) accept: Option<&'static str>,
}

impl<'a> Ask<'a> {
    /// A request by this method.
    #[must_use]
    pub fn new(method: &'a str, path: &'a str) -> Ask<'a> {
        Ask { method, path, body: None, accept: None }
    }

    /// A request for something.
    #[must_use]
    pub fn get(path: &'a str) -> Ask<'a> {
        Ask::new("GET", path)
    }

    /// A request to have something done.
    #[must_use]
    pub fn post(path: &'a str) -> Ask<'a> {
        Ask::new("POST", path)
    }

    /// With a body of this media type.
    #[must_use]
    pub fn body(mut self, media_type: &'static str, bytes: &'a [u8]) -> Ask<'a> {
        self.body = Some((media_type, Cow::Borrowed(bytes)));
        self
    }

    /// With a body in JSON.
    #[must_use]
    pub fn json(mut self, body: &Value) -> Ask<'a> {
        self.body = Some(("application/json", Cow::Owned(body.to_string().into_bytes())));
        self
    }

    /// The media type that the answer should have.
    #[must_use]
    pub fn accept(mut self, media_type: &'static str) -> Ask<'a> {
        self.accept = Some(media_type);
        self
    }
}

/// What a venue answered, as it came.
pub struct Raw {
    /// The status.
    pub status: u16,
    /// Where to go on reading, if the answer says so besides its body.
    pub next: Option<String>,
    /// How many messages were left out, if messages were read.
    pub conflated: u64,
    /// The body.
    pub body: Vec<u8>,
    pub(super) url: String,
}

impl Raw {
    /// The answer, unless it is a refusal.
    ///
    /// # Errors
    /// The venue refused, or its refusal cannot be read.
    pub fn accepted(self) -> Result<Raw, Error> {
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        match self.answer()?.accepted() {
            Ok(_) => unreachable!("the status is one of a refusal"),
            Err(error) => Err(error),
        }
    }

    /// What the answer holds, unless it is a refusal.
    ///
    /// # Errors
    /// The venue refused, or its answer is not JSON.
    pub fn accepted_json(self) -> Result<Value, Error> {
        self.answer()?.accepted()
    }

    /// The answer, whatever it says.
    ///
    /// # Errors
    /// It is not JSON.
    pub fn answer(self) -> Result<Answer, Error> {
        let status = self.status;
        let body = serde_json::from_slice(&self.body).map_err(|error| {
            Error::Unreachable(format!(
                "{} answered {status} with something that is not JSON ({error}): is that a Rialto \
                 venue?",
                self.url
            ))
        })?;
        Ok(Answer { status, body })
    }
}
