//! The shared state of the gateway: desk, authentication, settings.

use crate::auth::{Caller, Gatekeeper, KeyBus};
use crate::call::Call;
use crate::connections::Connections;
use crate::intake::Intake;
use crate::limits::{Bodies, JournalQuota};
use crate::metrics::MoreMetrics;
use crate::recorded::Recorded;
use crate::refusals::Refusals;
use crate::stream::Streams;
use crate::traffic::Traffic;
use crate::{ApiError, GatewayConfig};
use axum::http::{HeaderValue, StatusCode};
use rialto_api::nearest;
use rialto_broker::QueueBus;
use rialto_bus::behaviour::SplitMix;
use rialto_bus::{Command, Context, Dispatch, Query, Serves};
use rialto_depot_desk::DepotBus;
use rialto_desk::{
    Answer, AsOf, DeskBus, FeedQuery, FindCurrency, FindInstrument, Freshness, Level, Listing,
    ReadFeed, ToEngine, UnknownLevel,
};
use rialto_ident::{Generator, SystemClock};
use rialto_model::{Currency, CurrencyCode, CurrencyId, RejectReason, Symbol};
use rialto_order_files::OrderFileCounts;
use rialto_payments::PaymentsBus;
use rialto_statements::StatementsBus;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The most symbols to compare with an unknown one.
const SYMBOLS_COMPARED: usize = 1_000;

/// The state that all connections share.
pub(crate) struct Gate {
    pub(crate) config: GatewayConfig,
    /// The rate limit of a key, as text for answers.
    pub(crate) rate_policy: HeaderValue,
    pub(crate) desk: DeskBus,
    pub(crate) keys: KeyBus,
    /// The withdrawals, if they are enabled.
    pub(crate) payments: Option<Arc<PaymentsBus>>,
    /// The statements, if they are enabled.
    pub(crate) statements: Option<Arc<StatementsBus>>,
    /// The queues, if they are enabled.
    pub(crate) queues: Option<QueueBus>,
    /// The depot, if it is enabled.
    pub(crate) depot: Option<Arc<DepotBus>>,
    /// Counts of the exchange of order files, if it is enabled.
    pub(crate) order_files: Option<Arc<OrderFileCounts>>,
    /// Downloads that ended early because the content was damaged.
    pub(crate) downloads_cut: Arc<AtomicU64>,
    /// Metrics of other doors of the process.
    pub(crate) more_metrics: Option<MoreMetrics>,
    pub(crate) ids: Generator<SystemClock>,
    /// Makes traces for requests without one.
    pub(crate) traces: SplitMix,
    pub(crate) gatekeeper: Gatekeeper,
    pub(crate) bodies: Arc<Bodies>,
    pub(crate) journal: JournalQuota,
    pub(crate) refusals: Refusals,
    pub(crate) intake: Intake,
    pub(crate) traffic: Traffic,
    /// The connections of the public listener.
    pub(crate) connections: Arc<Connections>,
    pub(crate) recorded: Recorded,
    pub(crate) streams: Streams,
}

impl Gate {
    /// Sends a command on the bus.
    pub(crate) async fn send<R: Command>(
        &self,
        cx: &Context<'_>,
        command: R,
    ) -> Result<R::Response, ApiError>
    where
        DeskBus: Serves<R>,
    {
        cx.step("send");
        let answer = self.desk.send(command, cx).await?;
        cx.step("answer");
        Ok(answer)
    }

    /// Sends a command about orders, and counts its journal bytes for the key.
    pub(crate) async fn send_order<R: ToEngine>(
        &self,
        call: &Call,
        command: R,
    ) -> Result<Answer, ApiError>
    where
        DeskBus: Serves<R>,
    {
        let engine_command = command.command();
        self.charge(&call.caller, &engine_command)?;
        let answer = self.send(&call.cx(), command).await;
        self.journal.settle(call.caller.id(), &engine_command, answer.as_ref().err());
        answer
    }

    /// Takes the journal bytes of a command from the quota of a key, and refuses it beyond the quota.
    pub(crate) fn charge(
        &self,
        caller: &Caller,
        command: &rialto_model::Command,
    ) -> Result<(), ApiError> {
        match self.journal.admits(caller.id(), command) {
            true => Ok(()),
            false => Err(ApiError::journal_quota()),
        }
    }

    /// Sends a query on the bus.
    pub(crate) async fn query<R: Query>(
        &self,
        cx: &Context<'_>,
        query: R,
    ) -> Result<R::Response, ApiError>
    where
        DeskBus: Serves<R>,
    {
        Ok(self.desk.query(query, cx).await?)
    }

    /// Reads from the feed.
    pub(crate) async fn read<Q: FeedQuery>(
        &self,
        cx: &Context<'_>,
        query: Q,
        freshness: impl Into<Freshness>,
    ) -> Result<AsOf<Q::Answer>, ApiError>
    where
        DeskBus: Serves<ReadFeed<Q>>,
    {
        self.query(cx, ReadFeed { query, freshness: freshness.into() }).await
    }

    /// The instrument with this symbol.
    pub(crate) async fn listing(
        &self,
        cx: &Context<'_>,
        symbol: &str,
    ) -> Result<Listing, ApiError> {
        let known: Result<Symbol, _> = symbol.parse();
        let found = match known {
            Ok(symbol) => match self.desk.listing(&symbol) {
                Some(listing) => return Ok(listing),
                // The instrument may be new.
                None => self.query(cx, FindInstrument { symbol }).await,
            },
            Err(_) => Err(ApiError::unknown(RejectReason::UnknownInstrument)),
        };
        found.map_err(|error| match error.code == RejectReason::UnknownInstrument.code() {
            true => self.unknown_symbol(symbol, error),
            false => error,
        })
    }

    /// Suggests the most similar symbol.
    fn unknown_symbol(&self, symbol: &str, error: ApiError) -> ApiError {
        let names = self.desk.names();
        let symbols: Vec<&str> =
            names.listings().iter().take(SYMBOLS_COMPARED).map(|on| on.symbol.as_str()).collect();
        let message = match nearest(symbol, &symbols) {
            Some(near) => format!("There is no such instrument; did you mean {near}?"),
            None => "There is no such instrument; GET /v1/instruments lists all.".to_owned(),
        };
        ApiError { message: message.into(), ..error }
    }

    /// The currency with this code.
    pub(crate) async fn currency(
        &self,
        cx: &Context<'_>,
        code: &str,
        field: &'static str,
    ) -> Result<Currency, ApiError> {
        let unknown = |_| ApiError::unknown(RejectReason::UnknownCurrency).of(field);
        let code: CurrencyCode = code.parse().map_err(unknown)?;
        self.query(cx, FindCurrency { code }).await.map_err(|error| error.of(field))
    }

    /// The currency with this number.
    pub(crate) fn currency_of(&self, currency: CurrencyId) -> Result<Currency, ApiError> {
        let known = self.desk.names().currency(currency).copied();
        known.ok_or_else(|| ApiError::unknown(RejectReason::UnknownCurrency))
    }

    /// The level of a request: at least the venue's.
    pub(crate) fn level(&self, asked: &str) -> Result<Level, ApiError> {
        let level: Level = asked
            .parse()
            .map_err(|error: UnknownLevel| ApiError::invalid("durability", format!("{error}.")))?;
        let venue = self.desk.level();
        if level < venue {
            let message = format!("The venue's level is {venue}; a request cannot ask for less.");
            let error = ApiError::new(StatusCode::BAD_REQUEST, "durability_too_low", message);
            return Err(error.of("durability"));
        }
        Ok(level)
    }
}
