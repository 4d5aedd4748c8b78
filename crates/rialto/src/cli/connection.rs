//! The venue and the key of a command.

use crate::Error;
use crate::remote::Remote;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use rialto_client::{Credentials, KeyFile, secret};
use rialto_model::{AccountId, Enumeration};
use std::path::PathBuf;

const URL_DEFAULT: &str = "http://127.0.0.1:8080";

/// Reads a value of an enumeration by its name.
pub(super) fn named<T: Enumeration + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::ALL.iter().map(|value| value.name()))
        .try_map(|name| T::from_name(&name).ok_or("unknown value"))
}

/// The venue to connect to.
#[derive(Debug, clap::Args)]
pub(super) struct Connection {
    /// The venue's address; by default the key file's, or http://127.0.0.1:8080.
    #[arg(long, global = true)]
    url: Option<String>,
    /// Print the venue's answer as JSON.
    #[arg(long, global = true)]
    pub(super) json: bool,
}

impl Connection {
    /// The venue, for requests without a key.
    pub(super) fn anonymous(&self) -> Result<Remote, Error> {
        self.remote(None, Credentials::None)
    }

    fn remote(&self, in_file: Option<&str>, credentials: Credentials) -> Result<Remote, Error> {
        let url = self.url.as_deref().or(in_file).unwrap_or(URL_DEFAULT);
        Ok(Remote::new(url, credentials)?.in_json(self.json))
    }
}

/// The venue to connect to, and the member's API key.
#[derive(Debug, clap::Args)]
pub(super) struct Member {
    #[command(flatten)]
    pub(super) connection: Connection,
    /// A file with an API key, its secret and the venue's address.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key", "secret"])]
    key_file: Option<PathBuf>,
    /// The id of an API key.
    #[arg(long, value_name = "ID", requires = "secret")]
    key: Option<String>,
    /// Its secret. Other users of this machine can see command lines: prefer the environment or a
    /// key file.
    #[arg(long, env = "RIALTO_SECRET", hide_env_values = true, value_name = "HEX")]
    secret: Option<String>,
    /// The account; by default the one that the key file names, or the key's only one.
    #[arg(long, value_name = "NUMBER")]
    account: Option<u32>,
}

impl Member {
    /// The venue and the account.
    pub(super) fn connect(&self) -> Result<(Remote, Option<AccountId>), Error> {
        let file = self.key_file.as_deref().map(KeyFile::read).transpose()?;
        let credentials = match (&file, &self.key, &self.secret) {
            (Some(file), _, _) => file.credentials()?,
            (None, Some(id), Some(text)) => {
                Credentials::Key { id: id.clone(), secret: secret(text)? }
            }
            _ => {
                return Err(Error::Usage(
                    "this needs an API key: --key-file FILE, or --key ID and --secret HEX"
                        .to_string(),
                ));
            }
        };
        let in_file = file.as_ref().and_then(|file| file.url.as_deref());
        let account = self.account.or(file.as_ref().and_then(|file| file.account));
        Ok((self.connection.remote(in_file, credentials)?, account.map(AccountId)))
    }
}

/// The venue to connect to, and its admin key or an operator's API key.
#[derive(Debug, clap::Args)]
pub(super) struct Operator {
    #[command(flatten)]
    pub(super) connection: Connection,
    /// A file with an API key that has the scope admin, its secret and the venue's address. The
    /// audit trail then has the id of that key.
    #[arg(long, global = true, value_name = "FILE")]
    operator_key_file: Option<PathBuf>,
    /// The admin key. Other users of this machine can see command lines: prefer the environment.
    #[arg(long, global = true, env = "RIALTO_ADMIN_KEY", hide_env_values = true)]
    admin_key: Option<String>,
}

impl Operator {
    pub(super) fn connect(&self) -> Result<Remote, Error> {
        if let Some(file) = &self.operator_key_file {
            let file = KeyFile::read(file)?;
            return self.connection.remote(file.url.as_deref(), file.credentials()?);
        }
        let Some(key) = &self.admin_key else {
            return Err(Error::Usage(
                "this needs the admin key: set RIALTO_ADMIN_KEY, or give --admin-key; or an \
                 operator's own key: --operator-key-file FILE"
                    .to_string(),
            ));
        };
        self.connection.remote(None, Credentials::Admin(key.clone()))
    }
}
