//! What every request needs: the desk, the live feed, the gatekeeper, the settings.

use crate::auth::Gatekeeper;
use crate::call::Call;
use crate::intake::Intake;
use crate::listings::Listings;
use crate::recorded::{Notes, Recorded};
use crate::stream::Streams;
use crate::traffic::Traffic;
use crate::{ApiError, GatewayConfig};
use axum::http::StatusCode;
use rialto_bus::{Command, Dispatch, Serves};
use rialto_desk::{DeskBus, Listing, Live};
use rialto_engine::{Engine, Level};
use rialto_feed::Feed;
use rialto_ident::{Generator, SystemClock};
use rialto_model::{Currency, CurrencyCode, CurrencyId, RejectReason, Seq, Symbol};
use rialto_payments::PaymentsBus;
use std::sync::{Arc, RwLockReadGuard};

/// The state that all connections share.
pub(crate) struct Gate {
    pub(crate) config: GatewayConfig,
    pub(crate) engine: Arc<Engine>,
    pub(crate) desk: DeskBus,
    /// Where withdrawals are dealt with, if they are.
    pub(crate) payments: Option<Arc<PaymentsBus>>,
    pub(crate) ids: Generator<SystemClock>,
    pub(crate) live: Arc<Live>,
    pub(crate) gatekeeper: Gatekeeper,
    pub(crate) listings: Listings,
    pub(crate) intake: Intake,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) recorded: Recorded,
    pub(crate) streams: Streams,
}

impl Gate {
    /// Read models, at least as far as `min_seq`.
    pub(crate) async fn feed(
        &self,
        min_seq: Option<Seq>,
    ) -> Result<RwLockReadGuard<'_, Feed>, ApiError> {
        if let Some(seq) = min_seq
            && !self.live.wait_for(seq, self.config.min_seq_wait).await
        {
            let message = format!("Sequence {seq} is not visible yet; try again.");
            let error = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "behind", message);
            return Err(ApiError { retry: true, ..error.of("min_seq") });
        }
        Ok(self.live.read())
    }

    /// Waits until the read models know what has been released by now, as far as the wait for a
    /// sequence may last.
    pub(crate) async fn catch_up(&self) {
        self.live.wait_for(self.engine.released(), self.config.min_seq_wait).await;
    }

    /// The instrument with this symbol.
    pub(crate) async fn listing(&self, symbol: &str) -> Result<Listing, ApiError> {
        let unknown = || ApiError::unknown(RejectReason::UnknownInstrument);
        let symbol: Symbol = symbol.parse().map_err(|_| unknown())?;
        if let Some(listing) = self.listings.by_symbol(&symbol) {
            return Ok(listing);
        }
        // It may have been listed a moment ago.
        self.catch_up().await;
        self.listings.learn(&self.live.read());
        self.listings.by_symbol(&symbol).ok_or_else(unknown)
    }

    /// The currency with this code.
    pub(crate) async fn currency(
        &self,
        code: &str,
        field: &'static str,
    ) -> Result<Currency, ApiError> {
        let unknown = || ApiError::unknown(RejectReason::UnknownCurrency).of(field);
        let code: CurrencyCode = code.parse().map_err(|_| unknown())?;
        if let Some(currency) = self.listings.currency(&code) {
            return Ok(currency);
        }
        self.catch_up().await;
        self.listings.learn(&self.live.read());
        self.listings.currency(&code).ok_or_else(unknown)
    }

    /// The currency with this number.
    pub(crate) fn currency_of(&self, currency: CurrencyId) -> Result<Currency, ApiError> {
        let known = self.live.read().currency(currency);
        known.ok_or_else(|| ApiError::unknown(RejectReason::UnknownCurrency))
    }

    /// Sends a command on the bus.
    pub(crate) async fn send<R: Command>(
        &self,
        call: &Call,
        command: R,
    ) -> Result<R::Response, ApiError>
    where
        DeskBus: Serves<R>,
    {
        Notes::step(&call.head.extensions, "send");
        let answer = self.desk.send(command, &call.cx()).await?;
        Notes::step(&call.head.extensions, "answer");
        Ok(answer)
    }

    /// A level that a request asks for: at least the venue's.
    pub(crate) fn level(&self, asked: &str) -> Result<Level, ApiError> {
        let level: Level = asked.parse().map_err(|error: rialto_engine::UnknownLevel| {
            ApiError::invalid("durability", format!("{error}."))
        })?;
        let venue = self.engine.config().level;
        if level < venue {
            let message = format!("The venue acknowledges at {venue}; it cannot promise less.");
            let error = ApiError::new(StatusCode::BAD_REQUEST, "durability_too_low", message);
            return Err(error.of("durability"));
        }
        Ok(level)
    }
}
