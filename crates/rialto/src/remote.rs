//! A venue that runs, as the command line asks it.

use crate::Error;
use crate::terminal::say;
use rialto_client::api::{Nothing, Route};
use rialto_client::{Client, ClientError, Credentials, HttpAnswer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
use tokio::runtime::{Builder, Runtime};

/// No parameters.
pub(crate) const NO_QUERY: &Nothing = &Nothing {};
/// No body.
pub(crate) const NO_BODY: Option<&Nothing> = None;

/// A venue that is asked one thing after another.
pub(crate) struct Remote {
    runtime: Runtime,
    /// The client, for what [`Remote::wait`] waits for.
    pub(crate) client: Client,
    /// Whether answers are printed as they came.
    as_json: bool,
}

impl Remote {
    pub(crate) fn new(url: &str, credentials: Credentials) -> Result<Remote, Error> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime
            .map_err(|error| Error::Failed(format!("no runtime can be started: {error}")))?;
        Ok(Remote { runtime, client: Client::new(url, credentials)?, as_json: false })
    }

    /// Prints answers as they came, if that is wanted.
    pub(crate) fn in_json(self, as_json: bool) -> Remote {
        Remote { as_json, ..self }
    }

    /// Waits for the answer.
    pub(crate) fn wait<T>(
        &self,
        asked: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, Error> {
        Ok(self.runtime.block_on(asked)?)
    }

    /// Sends a request and prints the answer: as JSON, or by `tell`.
    pub(crate) fn show<A: DeserializeOwned>(
        &self,
        route: Route,
        arguments: &[&str],
        query: &impl Serialize,
        body: Option<&impl Serialize>,
        tell: impl FnOnce(&A),
    ) -> Result<(), Error> {
        let answer =
            self.wait(async { self.client.ask(route, arguments, query, body).await?.accepted() })?;
        self.print(answer, tell)
    }

    fn print<A: DeserializeOwned>(
        &self,
        answer: HttpAnswer,
        tell: impl FnOnce(&A),
    ) -> Result<(), Error> {
        if self.as_json {
            say(format_args!("{}", String::from_utf8_lossy(&answer.body)));
        } else {
            tell(&answer.read()?);
        }
        Ok(())
    }
}

impl From<ClientError> for Error {
    fn from(error: ClientError) -> Error {
        match error {
            ClientError::Refused(refusal) => {
                let message = match &refusal.field {
                    Some(field) => format!("{field}: {}", refusal.message),
                    None => refusal.message,
                };
                Error::Refused { code: refusal.code, message, body: refusal.body }
            }
            ClientError::Invalid(reason) => Error::Usage(reason),
            ClientError::File { verb, path, source } => Error::File { verb, path, source },
            unusable => Error::Unreachable(unusable.to_string()),
        }
    }
}
