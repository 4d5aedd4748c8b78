//! Refuses requests that the sender's grant does not allow.

use crate::{Forbidden, Grant, Scope, SubmitBatch, ToEngine};
use rialto_bus::{Behaviour, Context, Error, ErrorKind, Handler, Request, Result};
use rialto_model::{AccountId, Command as EngineCommand};

/// Passes a request only if its principal's grant allows it.
///
/// A request without a principal is refused: the venue's own requests carry a grant too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Authorisation;

/// The check of a request against the sender's grant.
pub trait Needs: Request {
    /// Returns an error if the grant does not allow this request.
    ///
    /// # Errors
    /// The grant does not allow it, or no grant can.
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
        // Mostly all rows have the same account, which is then checked once.
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

/// The account of a batch's command.
fn traded_account(command: &EngineCommand) -> Result<AccountId> {
    match command {
        EngineCommand::Place(order) => Ok(order.account),
        EngineCommand::PlaceConditional(order) => Ok(order.terms.account),
        EngineCommand::PlaceTrailing(order) => Ok(order.terms.account),
        EngineCommand::PlaceIceberg(order) => Ok(order.terms.account),
        EngineCommand::PlaceList(list) => Ok(list.terms.account),
        EngineCommand::Cancel { account, .. } => Ok(*account),
        EngineCommand::Amend(amend) => Ok(amend.account),
        EngineCommand::AmendTrigger(change) => Ok(change.amend.account),
        _ => {
            let message = "A batch can only enter, change and cancel orders.";
            Err(Error::new(ErrorKind::Invalid, "not_for_a_batch", message))
        }
    }
}
