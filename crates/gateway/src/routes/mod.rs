//! Every route, with its handler.

mod batch;
mod consumers;
mod dead_letters;
mod health;
mod keys;
mod market;
mod operations;
mod orders;
mod own;
mod packed;
mod queues;
mod transactions;
mod venue;
mod withdrawals;

pub use queues::{HEADER_CONFLATED, HEADER_NEXT};

use crate::ApiError;
use crate::call::Arrival;
use crate::connections::Pool;
use crate::gate::Gate;
use crate::json::JsonOut;
use crate::traffic::Route;
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, patch, post, put};
use rialto_desk::Answer;
use rialto_feed::Moment;
use std::sync::Arc;

pub(crate) use packed::leases_in as packed_leases;
pub(crate) use queues::{bus as queue_bus, names as queue_names};

/// What a handler comes to.
pub(crate) type Handled = Result<Response, ApiError>;

/// A handler on its route: it is under way until it is done, or turned away; what it comes to is
/// counted and, if it is an error, told in one form.
macro_rules! answer {
    ($gate:ident, $request:ident, $route:ident, $handler:path) => {{
        let notes = $gate.recorded.begin(Route::$route, &mut $request);
        let handled = match $gate.intake.begin(Route::$route) {
            Ok(_under_way) => $handler($gate, $request).await,
            Err(stopped) => Err(stopped),
        };
        if let Some(notes) = notes {
            notes.end(&handled);
        }
        if let Err(error) = &handled {
            log_refusal($gate, Route::$route, error);
        }
        let response = handled.unwrap_or_else(IntoResponse::into_response);
        $gate.traffic.count(Route::$route, response.status());
        response
    }};
}

/// Logs a request that is not done as asked. Only a failure of the venue's own is worth a line for
/// each; the others are logged in sum.
fn log_refusal(gate: &Gate, route: Route, error: &ApiError) {
    gate.refusals.count(error);
    let (route, code) = (route.name(), error.code);
    match error.status {
        StatusCode::INTERNAL_SERVER_ERROR => tracing::error!(route, code, "a request failed"),
        status => tracing::debug!(route, code, status = status.as_u16(), "a request was refused"),
    }
}

macro_rules! on {
    ($route:ident, $handler:path) => {
        |State(gate): State<Arc<Gate>>, mut request: Request| async move {
            let gate = &gate;
            answer!(gate, request, $route, $handler)
        }
    };
}

/// Whether a request enters an order: nearly all do, so that they need not find their way through
/// the router.
pub(crate) fn is_order(request: &Request) -> bool {
    request.uri().path() == "/v1/orders" && request.method() == Method::POST
}

/// `POST /v1/orders`, as the router would answer it.
pub(crate) async fn place(gate: &Gate, mut request: Request) -> Response {
    answer!(gate, request, Place, orders::place)
}

/// The threads that a request belongs on: orders, and what operators do, have threads of their own.
pub(crate) fn pool_of(request: &Request) -> Pool {
    let (path, method) = (request.uri().path(), request.method());
    let is_entry = path.starts_with("/v1/orders") && method != Method::GET;
    match is_entry || path == "/v1/dead-man" || path.starts_with("/v1/admin/") {
        true => Pool::Orders,
        false => Pool::Shared,
    }
}

/// All routes.
pub(crate) fn router(gate: Arc<Gate>) -> Router {
    finish(operator_routes().merge(caller_routes()), gate)
}

/// The routes of probes and operators.
pub(crate) fn operations_router(gate: Arc<Gate>) -> Router {
    finish(operator_routes(), gate)
}

fn finish(routes: Router<Arc<Gate>>, gate: Arc<Gate>) -> Router {
    routes
        .fallback(on!(None, no_route))
        .method_not_allowed_fallback(on!(None, wrong_method))
        // The gateway reads bodies itself, within its own limit.
        .layer(DefaultBodyLimit::disable())
        .with_state(gate)
}

/// What callers ask for.
fn caller_routes() -> Router<Arc<Gate>> {
    Router::new()
        .route(
            "/v1/orders",
            post(on!(Place, orders::place))
                .get(on!(Orders, own::orders))
                .delete(on!(MassCancel, orders::mass_cancel)),
        )
        .route("/v1/orders/batch", post(on!(Batch, batch::submit)))
        .route(
            "/v1/orders/{id}",
            get(on!(Order, own::order))
                .delete(on!(Cancel, orders::cancel))
                .patch(on!(Amend, orders::amend)),
        )
        .route("/v1/fills", get(on!(Fills, own::fills)))
        .route("/v1/balances", get(on!(Balances, own::balances)))
        .route("/v1/dead-man", put(on!(DeadMan, orders::dead_man)))
        .route(
            "/v1/withdrawals",
            post(on!(Withdraw, withdrawals::request)).get(on!(Withdrawals, withdrawals::list)),
        )
        .route(
            "/v1/withdrawals/{id}",
            get(on!(Withdrawal, withdrawals::get))
                .delete(on!(WithdrawalCancel, withdrawals::cancel)),
        )
        .route(
            "/v1/queues",
            get(on!(QueueTopics, queues::list)).post(on!(QueueCreate, queues::create)),
        )
        .route(
            "/v1/queues/{topic}",
            get(on!(QueueTopic, queues::get)).delete(on!(QueueDelete, queues::delete)),
        )
        // A topic may have this name: all that is asked of a topic itself is asked otherwise.
        .route(
            "/v1/queues/transactions",
            post(on!(QueueTransaction, transactions::commit))
                .get(on!(QueueTopic, queues::get))
                .delete(on!(QueueDelete, queues::delete)),
        )
        .route(
            "/v1/queues/{topic}/messages",
            post(on!(QueuePublish, queues::publish))
                .get(on!(QueueRead, queues::read))
                .delete(on!(QueuePurge, dead_letters::purge)),
        )
        .route("/v1/queues/{topic}/dead-letters", get(on!(QueueLetters, dead_letters::list)))
        .route("/v1/queues/{topic}/redrive", post(on!(QueueRedrive, dead_letters::redrive)))
        .route("/v1/queues/{topic}/groups", post(on!(QueueGroupCreate, queues::create_group)))
        .route(
            "/v1/queues/{topic}/groups/{group}",
            delete(on!(QueueGroupDelete, queues::delete_group)),
        )
        .route(
            "/v1/queues/{topic}/groups/{group}/consumers/{consumer}",
            delete(on!(QueueLeave, consumers::leave)),
        )
        .route("/v1/queues/{topic}/groups/{group}/fetch", post(on!(QueueFetch, consumers::fetch)))
        .route("/v1/queues/{topic}/groups/{group}/ack", post(on!(QueueAck, consumers::ack)))
        .route("/v1/queues/{topic}/groups/{group}/nack", post(on!(QueueNack, consumers::nack)))
        .route(
            "/v1/queues/{topic}/groups/{group}/extend",
            post(on!(QueueExtend, consumers::extend)),
        )
        .route(
            "/v1/queues/{topic}/groups/{group}/stream",
            get(on!(QueueStream, crate::push::upgrade)),
        )
        .route("/v1/instruments", get(on!(Instruments, market::instruments)))
        .route("/v1/instruments/{symbol}", get(on!(Instrument, market::instrument)))
        .route("/v1/book/{symbol}", get(on!(Book, market::book)))
        .route("/v1/trades/{symbol}", get(on!(Trades, market::trades)))
        .route("/v1/ticker/{symbol}", get(on!(Ticker, market::ticker)))
        .route("/v1/time", get(on!(Time, operations::time)))
        .route("/v1/stream", get(on!(Stream, crate::stream::upgrade)))
}

/// What probes and operators ask for.
fn operator_routes() -> Router<Arc<Gate>> {
    Router::new()
        .route("/v1/health", get(on!(Health, health::health)))
        .route("/v1/ready", get(on!(Ready, health::ready)))
        .route("/v1/live", get(on!(Alive, health::alive)))
        .route("/metrics", get(on!(Metrics, crate::metrics::export)))
        .route("/v1/admin/members", post(on!(AdminMembers, venue::member)))
        .route("/v1/admin/accounts", post(on!(AdminAccounts, venue::account)))
        .route("/v1/admin/currencies", post(on!(AdminCurrencies, venue::currency)))
        .route("/v1/admin/instruments", post(on!(AdminInstruments, venue::instrument)))
        .route("/v1/admin/instruments/{symbol}", patch(on!(AdminRules, venue::rules)))
        .route("/v1/admin/halt", post(on!(AdminState, venue::halt)))
        .route("/v1/admin/resume", post(on!(AdminState, venue::resume)))
        .route("/v1/admin/close", post(on!(AdminState, venue::close)))
        .route("/v1/admin/deposits", post(on!(AdminDeposits, venue::deposit)))
        .route(
            "/v1/admin/withdrawals",
            post(on!(AdminPayOut, venue::withdrawal))
                .get(on!(AdminWithdrawals, withdrawals::list_all)),
        )
        .route(
            "/v1/admin/withdrawals/{id}/approve",
            post(on!(AdminWithdrawalApprove, withdrawals::approve)),
        )
        .route(
            "/v1/admin/withdrawals/{id}/reject",
            post(on!(AdminWithdrawalReject, withdrawals::reject)),
        )
        .route(
            "/v1/admin/keys",
            get(on!(AdminKeys, keys::list)).post(on!(AdminKeyCreate, keys::create)),
        )
        .route("/v1/admin/keys/{id}/rotate", post(on!(AdminKeyRotate, keys::rotate)))
        .route("/v1/admin/keys/{id}", delete(on!(AdminKeyRevoke, keys::revoke)))
        .route("/v1/admin/snapshot", post(on!(AdminSnapshot, operations::snapshot)))
        .route("/v1/admin/rules-version", post(on!(AdminRulesVersion, operations::rules_version)))
        .route("/v1/admin/backup", post(on!(AdminBackup, operations::backup)))
        .route("/v1/admin/clock/accept", post(on!(AdminClockAccept, operations::accept_clock)))
}

async fn no_route(gate: &Gate, request: Request) -> Handled {
    refuse_stray(gate, &request)?;
    let message = "There is no such path; docs/api.md names them all.";
    Err(ApiError::new(StatusCode::NOT_FOUND, "unknown_route", message))
}

async fn wrong_method(gate: &Gate, request: Request) -> Handled {
    refuse_stray(gate, &request)?;
    let message = format!("The path does not take {}.", request.method());
    Err(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message))
}

/// Requests that lead nowhere count against their address, signed or not.
fn refuse_stray(gate: &Gate, request: &Request) -> Result<(), ApiError> {
    gate.gatekeeper.charge_address(Arrival::of(request.extensions()).peer)
}

/// An answer with this JSON.
fn respond(status: StatusCode, out: JsonOut) -> Response {
    let mut response = Response::new(out.into_bytes().into());
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// Appends what every answer to a command says, and closes the object.
fn close_with_seq(mut out: JsonOut, answer: &Answer) -> JsonOut {
    out.key("seq").quoted(answer.seq.0);
    out.key("time").quoted(answer.time.0);
    out.close_object();
    out
}

/// Begins an answer from the read models: `{"seq":…,"time":…`.
fn open_with_seq(at: Moment, capacity: usize) -> JsonOut {
    let mut out = JsonOut::with_capacity(capacity);
    out.open_object();
    out.key("seq").quoted(at.seq.0);
    out.key("time").quoted(at.time.0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    #[test]
    fn orders_and_operators_have_threads_of_their_own() {
        let pool = |method: &str, path: &str| {
            let request = Request::builder().method(method).uri(path).body(Body::empty());
            pool_of(&request.unwrap())
        };
        for (method, path) in [
            ("POST", "/v1/orders"),
            ("POST", "/v1/orders/batch"),
            ("DELETE", "/v1/orders"),
            ("DELETE", "/v1/orders/7?account=1"),
            ("PATCH", "/v1/orders/7"),
            ("PUT", "/v1/dead-man"),
            ("POST", "/v1/admin/halt"),
        ] {
            assert_eq!(pool(method, path), Pool::Orders, "{method} {path}");
        }
        for (method, path) in [
            ("GET", "/v1/orders"),
            ("GET", "/v1/orders/7"),
            ("GET", "/v1/stream"),
            ("POST", "/v1/queues/t/messages"),
            ("POST", "/v1/withdrawals"),
            ("GET", "/v1/health"),
            ("GET", "/nowhere"),
        ] {
            assert_eq!(pool(method, path), Pool::Shared, "{method} {path}");
        }
    }
}
