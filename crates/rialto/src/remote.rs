//! A venue that runs, as the command line asks it.

use crate::Error;
use crate::terminal::say;
use rialto_client::api::{Nothing, Route};
use rialto_client::{Client, ClientError, Credentials, HttpAnswer, KeyFile};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::path::PathBuf;
use tokio::runtime::{Builder, Runtime};

/// No parameters.
pub(crate) const NO_QUERY: &Nothing = &Nothing {};
/// No body.
pub(crate) const NO_BODY: Option<&Nothing> = None;

/// The venue to connect to instead of a directory, and the key.
#[derive(Debug, clap::Args)]
pub(crate) struct VenueArgs {
    /// Use the venue at this address, such as http://127.0.0.1:8080, instead of a directory.
    #[arg(long, global = true)]
    url: Option<String>,
    /// A file with an API key, its secret and the venue's address.
    #[arg(long, value_name = "FILE", global = true)]
    key_file: Option<PathBuf>,
    /// The venue's admin key. Other users of this machine can see command lines: prefer the
    /// environment.
    #[arg(long, global = true, env = "RIALTO_ADMIN_KEY", hide_env_values = true)]
    admin_key: Option<String>,
}

impl VenueArgs {
    /// The venue, if one was given.
    pub(crate) fn remote(&self) -> Result<Option<Remote>, Error> {
        let file = self.key_file.as_deref().map(KeyFile::read).transpose()?;
        let in_file = file.as_ref().and_then(|file| file.url.as_deref());
        let Some(url) = self.url.as_deref().or(in_file) else {
            return match file {
                Some(_) => Err(Error::Usage("the key file names no venue: give --url".to_owned())),
                None => Ok(None),
            };
        };
        let credentials = match (&file, &self.admin_key) {
            (Some(file), _) => file.credentials()?,
            (None, Some(key)) => Credentials::Admin(key.clone()),
            (None, None) => {
                let reason = "a venue needs a key: --key-file FILE, or RIALTO_ADMIN_KEY";
                return Err(Error::Usage(reason.to_owned()));
            }
        };
        Remote::new(url, credentials).map(Some)
    }
}

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

    /// Sends operators' commands with this reason, if there is one.
    pub(crate) fn because(self, reason: Option<&str>) -> Remote {
        let client = reason.map(|reason| self.client.because(reason));
        Remote { client: client.unwrap_or(self.client), ..self }
    }

    /// Prints a value as JSON if that is wanted, otherwise by `tell`.
    pub(crate) fn print_value<A: Serialize>(&self, value: &A, tell: impl FnOnce(&A)) {
        match self.as_json {
            true => say(format_args!("{}", serde_json::json!(value))),
            false => tell(value),
        }
    }

    /// Waits for the answer.
    pub(crate) fn wait<T>(
        &self,
        asked: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, Error> {
        Ok(self.block_on(asked)?)
    }

    /// Waits, within the runtime of the client.
    pub(crate) fn block_on<T>(&self, waited: impl Future<Output = T>) -> T {
        self.runtime.block_on(waited)
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
