//! Refuses senders who may not ask.

use crate::{Forbidden, Grant, Scope, SubmitBatch, ToEngine};
use rialto_bus::{Behaviour, Context, Error, ErrorKind, Handler, Request, Result};
use rialto_model::{AccountId, Command as EngineCommand};

/// Lets a request pass only if the grant of its principal allows what it needs.
///
/// A request without a principal does not pass: what the venue does by itself also says by which grant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Authorisation;

/// What a request needs of its caller's grant.
pub trait Needs: Request {
    /// Refuses a grant that does not allow this.
    ///
    /// # Errors
    /// The grant does not allow it, or the request is none that anybody may make.
    fn check(&self, grant: &Grant) -> Result<()>;
}

impl<R: ToEngine> Needs for R {
    #[inline]
    fn check(&self, grant: &Grant) -> Result<()> {
        match self.account() {
            Some(account) => Ok(grant.permit(R::SCOPE, account)?),
            None => Ok(grant.require(R::SCOPE)?),
        }
    }
}

impl<R: Needs> Behaviour<R> for Authorisation {
    #[expect(
        clippy::manual_async_fn,
        reason = "an `async fn` would keep a second copy of the request"
    )]
    fn call<N: Handler<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> impl Future<Output = Result<R::Response>> + Send {
        async move {
            request.check(cx.principal().ok_or(Forbidden::Nobody)?)?;
            next.handle(request, cx).await
        }
    }
}

impl Needs for SubmitBatch {
    fn check(&self, grant: &Grant) -> Result<()> {
        // Mostly all rows are about one account, which need not be looked up for each.
        let mut permitted = None;
        for submission in &self.submissions {
            let account = traded_account(&submission.command)?;
            if permitted != Some(account) {
                grant.permit(Scope::Trade, account)?;
                permitted = Some(account);
            }
        }
        Ok(())
    }
}

/// The account whose orders a command of a batch is about.
fn traded_account(command: &EngineCommand) -> Result<AccountId> {
    match command {
        EngineCommand::Place(order) => Ok(order.account),
        EngineCommand::Cancel { account, .. } => Ok(*account),
        EngineCommand::Amend(amend) => Ok(amend.account),
        _ => {
            let message = "A batch only enters, changes and cancels orders.";
            Err(Error::new(ErrorKind::Invalid, "not_for_a_batch", message))
        }
    }
}
