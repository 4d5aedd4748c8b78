//! Calls on claims by their tokens.

use super::any_pool::{AnyPool, ResultFile};
use super::put::name_of;
use crate::Error;
use crate::duration;
use crate::terminal::note;
use rialto_depot::{ClaimToken, Directory, InvalidClaimToken, RESULTS_MAX};
use std::path::PathBuf;
use std::time::Duration;

/// The claims.
#[derive(Debug, clap::Args)]
struct Tokens {
    /// The tokens that `rialto depot claim` printed.
    #[arg(required = true, value_name = "TOKEN", value_parser = token)]
    tokens: Vec<String>,
}

/// Checks the form of a token, so that nothing is done if one of several is none.
fn token(text: &str) -> Result<String, InvalidClaimToken> {
    text.parse::<ClaimToken>().map(|_| text.to_owned())
}

impl Tokens {
    /// Calls for every token, also after a failure. The first error is returned.
    fn each(&self, call: impl Fn(&str) -> Result<(), Error>) -> Result<(), Error> {
        let mut first = None;
        for token in &self.tokens {
            match (call(token), &first) {
                (Ok(()), _) => {}
                (Err(error), None) => first = Some(error),
                (Err(error), Some(_)) => note(format_args!("{error}")),
            }
        }
        first.map_or(Ok(()), Err)
    }
}

/// Makes claims last longer.
#[derive(Debug, clap::Args)]
pub(super) struct Renew {
    #[command(flatten)]
    tokens: Tokens,
    /// How long the claims last from now.
    #[arg(long = "for", value_name = "DURATION", value_parser = duration::parse, default_value = "60s")]
    duration: Duration,
}

impl Renew {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        self.tokens.each(|token| pool.renew(token, self.duration).map(drop))
    }
}

/// Completes claimed files: they end.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rialto depot complete TOKEN --url http://127.0.0.1:8080\n  \
    rialto depot complete TOKEN --with out/a.csv --with out/b.csv --directory out")]
pub(super) struct Complete {
    #[command(flatten)]
    tokens: Tokens,
    /// A result of one file, stored when that is completed: all of it happens, or nothing. It may be
    /// given several times.
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    /// The directory of the results in the pool; by default the root.
    #[arg(long, value_parser = Directory::new, default_value = "", hide_default_value = true)]
    directory: Directory,
}

impl Complete {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        if self.with.is_empty() {
            return self.tokens.each(|token| pool.complete(&[token])?.pop().unwrap_or(Ok(())));
        }
        let [token] = self.tokens.tokens.as_slice() else {
            return Err(Error::Usage("--with belongs to one claim: give one at a time".to_owned()));
        };
        if self.with.len() > RESULTS_MAX {
            return Err(Error::Usage(format!("a file has at most {RESULTS_MAX} results")));
        }
        let result = |path: &PathBuf| {
            let (directory, path) = (self.directory.clone(), path.clone());
            Ok(ResultFile { directory, name: name_of(&path)?, path })
        };
        let results: Vec<_> = self.with.iter().map(result).collect::<Result<_, Error>>()?;
        pool.complete_with(token, &results, &mut || Ok(()))
    }
}

/// Gives claimed files back as failed: they are handed out again after a delay, and become dead
/// letters after the last attempt.
#[derive(Debug, clap::Args)]
pub(super) struct Fail {
    #[command(flatten)]
    tokens: Tokens,
    /// The reason, which a dead letter keeps.
    #[arg(long, default_value = "", hide_default_value = true)]
    reason: String,
    /// The delay before the next attempt; by default the pool's, which doubles with every attempt.
    #[arg(long, value_parser = duration::parse)]
    delay: Option<Duration>,
}

impl Fail {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        self.tokens.each(|token| pool.fail(token, &self.reason, self.delay))
    }
}

/// Makes claimed files dead letters, without further attempts.
#[derive(Debug, clap::Args)]
pub(super) struct Refuse {
    #[command(flatten)]
    tokens: Tokens,
    /// The reason, which the dead letter keeps.
    #[arg(long, default_value = "", hide_default_value = true)]
    reason: String,
}

impl Refuse {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        self.tokens.each(|token| pool.refuse(token, &self.reason))
    }
}

/// Returns claimed files as if they had not been handed out.
#[derive(Debug, clap::Args)]
pub(super) struct Return {
    #[command(flatten)]
    tokens: Tokens,
}

impl Return {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        self.tokens.each(|token| pool.give_back(token))
    }
}
