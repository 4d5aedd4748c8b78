//! Which venue is asked, and as whom.

use crate::Error;
use crate::client::{Client, Credentials, KeyFile, escape, secret};
use std::path::PathBuf;

const URL_DEFAULT: &str = "http://127.0.0.1:8080";

/// Which venue is asked.
#[derive(Debug, clap::Args)]
pub(super) struct Connection {
    /// Where the venue is; otherwise where the key file says, or http://127.0.0.1:8080.
    #[arg(long, global = true)]
    url: Option<String>,
    /// Print the venue's answer as JSON.
    #[arg(long, global = true)]
    pub(super) json: bool,
}

impl Connection {
    /// A client for what needs no key.
    pub(super) fn anonymous(&self) -> Client {
        Client::new(self.url.as_deref().unwrap_or(URL_DEFAULT), Credentials::None)
    }
}

/// Which venue is asked, as which member.
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
    /// The account that is meant; otherwise the one the key file names, or the key's only one.
    #[arg(long, value_name = "NUMBER")]
    account: Option<u32>,
}

impl Member {
    /// The client, and the account that is meant.
    pub(super) fn connect(&self) -> Result<(Client, Option<u32>), Error> {
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
        let url = self.connection.url.as_deref().or(in_file).unwrap_or(URL_DEFAULT);
        let account = self.account.or(file.as_ref().and_then(|file| file.account));
        Ok((Client::new(url, credentials), account))
    }
}

/// Which venue is asked, as its operator.
#[derive(Debug, clap::Args)]
pub(super) struct Operator {
    #[command(flatten)]
    pub(super) connection: Connection,
    /// The admin key. Other users of this machine can see command lines: prefer the environment.
    #[arg(long, global = true, env = "RIALTO_ADMIN_KEY", hide_env_values = true)]
    admin_key: Option<String>,
}

impl Operator {
    pub(super) fn connect(&self) -> Result<Client, Error> {
        let Some(key) = &self.admin_key else {
            return Err(Error::Usage(
                "this needs the admin key: set RIALTO_ADMIN_KEY, or give --admin-key".to_string(),
            ));
        };
        let url = self.connection.url.as_deref().unwrap_or(URL_DEFAULT);
        Ok(Client::new(url, Credentials::Admin(key.clone())))
    }
}

/// A path with parameters; what they hold is escaped.
pub(super) fn path(path: &str, parameters: &[(&str, Option<String>)]) -> String {
    let mut text = path.to_string();
    let mut mark = '?';
    for (name, value) in parameters {
        if let Some(value) = value {
            text.push(mark);
            text.push_str(name);
            text.push('=');
            text.push_str(&escape(value));
            mark = '&';
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_escaped_and_left_out_where_there_are_none() {
        let parameters = [("a", Some("b c/d".to_string())), ("e", None), ("f", Some("1".into()))];
        assert_eq!(path("/x", &parameters), "/x?a=b%20c%2Fd&f=1");
        assert_eq!(path("/x", &[]), "/x");
        assert_eq!(escape("client:é&?"), "client:%C3%A9%26%3F");
    }
}
