//! The requests of the tests, and a handler with set answers.

use rialto_bus::behaviour::Validate;
use rialto_bus::{Command, Context, Error, ErrorKind, Handler, HandlerNow, Query, Request, Result};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// Buys a quantity of something; the answer is the number of the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Buy {
    pub(crate) quantity: u32,
}

impl Request for Buy {
    type Response = u32;
    const NAME: &'static str = "buy";
}

impl Command for Buy {}

impl Validate for Buy {
    fn validate(&self) -> Result<()> {
        if self.quantity > 0 {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Invalid, "no_quantity", "The quantity is zero; buy at least 1."))
    }
}

/// Asks for a price; the answer is the number of requests so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AskPrice {
    pub(crate) symbol: &'static str,
}

impl Request for AskPrice {
    type Response = u32;
    const NAME: &'static str = "ask_price";
}

impl Query for AskPrice {}

/// Answers with the number of requests so far, unless it was set to fail.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    asked: AtomicU32,
    failures: Mutex<VecDeque<Error>>,
}

impl Desk {
    /// A desk that fails with these errors before it succeeds.
    pub(crate) fn failing(failures: impl IntoIterator<Item = Error>) -> Desk {
        Desk { asked: AtomicU32::new(0), failures: Mutex::new(failures.into_iter().collect()) }
    }

    /// The number of requests.
    pub(crate) fn asked(&self) -> u32 {
        self.asked.load(Ordering::Relaxed)
    }
}

impl HandlerNow<Buy> for Desk {
    fn handle_now(&self, _: Buy, _: &Context<'_>) -> Result<u32> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        self.failures.lock().unwrap().pop_front().map_or(Ok(asked), Err)
    }
}

impl Handler<Buy> for Desk {
    async fn handle(&self, request: Buy, cx: &Context<'_>) -> Result<u32> {
        self.handle_now(request, cx)
    }
}

impl HandlerNow<AskPrice> for Desk {
    fn handle_now(&self, _: AskPrice, cx: &Context<'_>) -> Result<u32> {
        self.handle_now(Buy { quantity: 1 }, cx)
    }
}

/// A failure of this kind.
pub(crate) fn failure(kind: ErrorKind) -> Error {
    Error::new(kind, "as_told", "The test wants it so.")
}
