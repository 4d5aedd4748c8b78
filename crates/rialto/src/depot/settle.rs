//! Calls on claims by their tokens.

use super::any_pool::AnyPool;
use crate::Error;
use crate::duration;
use crate::terminal::note;
use std::time::Duration;

/// The claims.
#[derive(Debug, clap::Args)]
struct Tokens {
    /// The tokens that `rialto depot claim` printed.
    #[arg(required = true, value_name = "TOKEN")]
    tokens: Vec<String>,
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
pub(super) struct Complete {
    #[command(flatten)]
    tokens: Tokens,
}

impl Complete {
    pub(super) fn run(&self, pool: &dyn AnyPool) -> Result<(), Error> {
        self.tokens.each(|token| pool.complete(&[token])?.pop().unwrap_or(Ok(())))
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
