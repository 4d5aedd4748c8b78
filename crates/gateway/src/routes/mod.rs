//! The routes with their handlers.

mod audit;
mod batch;
mod calendars;
mod consumers;
mod dead_letters;
mod depot;
mod description;
mod halts;
mod health;
mod keys;
mod market;
mod operations;
mod orders;
mod own;
mod packed;
mod queues;
mod restrictions;
mod statements;
mod transactions;
mod venue;
mod withdrawals;

use crate::ApiError;
use crate::call::Arrival;
use crate::connections::Pool;
use crate::gate::Gate;
use crate::json;
use crate::request_log::RequestLog;
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use rialto_api::Route;
use serde::Serialize;
use std::sync::Arc;

pub(crate) use packed::leases_in as packed_leases;
pub(crate) use queues::{bus as queue_bus, names as queue_names};

/// The result of a handler.
pub(crate) type Handled = Result<Response, ApiError>;

/// Runs a handler on its route: counts it as an operation or refuses it, counts and logs the
/// result, and formats errors.
macro_rules! answer {
    ($gate:ident, $request:ident, $route:ident, $handler:path) => {{
        let notes = $gate.recorded.begin(Route::$route, &mut $request);
        let log = RequestLog::begin(Route::$route, &$request);
        let handled = match $gate.intake.begin(Route::$route) {
            Ok(_under_way) => $handler($gate, $request).await,
            Err(stopped) => Err(stopped),
        };
        if let Some(notes) = notes {
            notes.end(&handled);
        }
        let status = handled.as_ref().map_or_else(|error| error.status, Response::status);
        log.end($gate, status, handled.as_ref().err());
        let response = handled.unwrap_or_else(IntoResponse::into_response);
        $gate.traffic.count(Route::$route, response.status());
        response
    }};
}

/// A handler in the router's form.
macro_rules! on {
    ($route:ident, $handler:path) => {
        |State(gate): State<Arc<Gate>>, mut request: Request| async move {
            let gate = &gate;
            answer!(gate, request, $route, $handler)
        }
    };
}

/// Whether a request enters an order. Most requests do, so that they skip the router.
pub(crate) fn is_order(request: &Request) -> bool {
    request.uri().path() == "/v1/orders" && request.method() == Method::POST
}

/// `POST /v1/orders`, as the router would answer it.
pub(crate) async fn place(gate: &Gate, mut request: Request) -> Response {
    answer!(gate, request, Place, orders::place)
}

/// The pool of a request: orders and operators have their own threads. A search of the audit trail is
/// long, and is on the shared ones.
pub(crate) fn pool_of(request: &Request) -> Pool {
    let (path, method) = (request.uri().path(), request.method());
    let is_entry = path.starts_with("/v1/orders") && method != Method::GET;
    let is_operators = path.starts_with("/v1/admin/") && path != Route::AdminAudit.path();
    let ends_orders = ["/v1/dead-man", "/v1/kill"].contains(&path);
    match is_entry || ends_orders || is_operators {
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
        // The gateway limits bodies itself.
        .layer(DefaultBodyLimit::disable())
        .with_state(gate)
}

/// A router with these handlers.
macro_rules! routes {
    ($($route:ident => $handler:path,)*) => {
        Router::new()$(.route(
            Route::$route.path(),
            on(filter(Route::$route), on!($route, $handler)),
        ))*
    };
}

/// The method of an endpoint in the router's form.
fn filter(route: Route) -> MethodFilter {
    let method = Method::from_bytes(route.method().as_bytes()).expect("endpoints have methods");
    MethodFilter::try_from(method).expect("endpoints have usual methods")
}

/// The routes of callers.
fn caller_routes() -> Router<Arc<Gate>> {
    let routes = routes! {
        Place => orders::place,
        Batch => batch::submit,
        Cancel => orders::cancel,
        MassCancel => orders::mass_cancel,
        Amend => orders::amend,
        Order => own::order,
        Orders => own::orders,
        Fills => own::fills,
        Balances => own::balances,
        DeadMan => orders::dead_man,
        Kill => restrictions::kill,
        KillLift => restrictions::lift,
        KillState => restrictions::state,
        Withdraw => withdrawals::request,
        Withdrawals => withdrawals::list,
        Withdrawal => withdrawals::get,
        WithdrawalCancel => withdrawals::cancel,
        QueueTopics => queues::list,
        QueueCreate => queues::create,
        QueueTopic => queues::get,
        QueueDelete => queues::delete,
        QueueTransaction => transactions::commit,
        QueueGroupCreate => queues::create_group,
        QueueGroupDelete => queues::delete_group,
        QueuePublish => queues::publish,
        QueueLeave => consumers::leave,
        QueueRead => queues::read,
        QueuePurge => dead_letters::purge,
        QueueDeadLetters => dead_letters::list,
        QueueRedrive => dead_letters::redrive,
        QueueFetch => consumers::fetch,
        QueueAck => consumers::ack,
        QueueNack => consumers::nack,
        QueueExtend => consumers::extend,
        QueueLeases => consumers::list,
        QueueStream => crate::push::upgrade,
        DepotPut => depot::files::put,
        DepotFiles => depot::files::list,
        DepotGet => depot::files::get,
        DepotInfo => depot::files::info,
        DepotShelf => depot::files::shelf,
        DepotDelete => depot::files::delete,
        DepotLink => depot::links::make,
        DepotDeadLetters => depot::files::dead_letters,
        DepotRedrive => depot::files::redrive,
        DepotClaim => depot::claims::claim,
        DepotClaimAny => depot::claims::claim_any,
        DepotRenew => depot::claims::renew,
        DepotComplete => depot::claims::complete,
        DepotCompleteWith => depot::claims::complete_with,
        DepotFail => depot::claims::fail,
        DepotRefuse => depot::claims::refuse,
        DepotReturn => depot::claims::give_back,
        DepotTenants => depot::tenants::list,
        DepotTenantShow => depot::tenants::show,
        DepotTenantSet => depot::tenants::set,
        DepotTenantDelete => depot::tenants::delete,
        DepotTenantEnable => depot::tenants::enable,
        DepotTenantDisable => depot::tenants::disable,
        DepotTenantDrain => depot::tenants::drain,
        DepotDirectories => depot::tenants::directory,
        DepotVolumes => depot::volumes::list,
        DepotMount => depot::volumes::mount,
        DepotVolumeDrain => depot::volumes::drain,
        DepotVolumeUndrain => depot::volumes::undrain,
        DepotUnmount => depot::volumes::unmount,
        DepotWatches => depot::watches::list,
        DepotWatchAdd => depot::watches::add,
        DepotWatchEnable => depot::watches::enable,
        DepotWatchDisable => depot::watches::disable,
        DepotWatchScan => depot::watches::scan,
        DepotWatchRemove => depot::watches::remove,
        DepotScrub => depot::upkeep::scrub,
        DepotAdopt => depot::upkeep::adopt,
        Instruments => market::instruments,
        Instrument => market::instrument,
        Book => market::book,
        Trades => market::trades,
        Ticker => market::ticker,
        Auction => market::auction,
        Calendars => calendars::list,
        Calendar => calendars::show,
        Time => operations::time,
        Stream => crate::stream::upgrade,
        Openapi => description::openapi,
        Asyncapi => description::asyncapi,
    };
    // A topic may be named `transactions`: GET and DELETE on this path are that topic's.
    let path = Route::QueueTransaction.path();
    routes
        .route(path, on(MethodFilter::GET, on!(QueueTopic, queues::get)))
        .route(path, on(MethodFilter::DELETE, on!(QueueDelete, queues::delete)))
}

/// The routes of probes and operators.
fn operator_routes() -> Router<Arc<Gate>> {
    routes! {
        Health => health::health,
        Ready => health::ready,
        Alive => health::alive,
        Metrics => crate::metrics::export,
        AdminMembers => venue::member,
        AdminAccounts => venue::account,
        AdminCurrencies => venue::currency,
        AdminInstruments => venue::instrument,
        AdminRules => venue::rules,
        AdminState => venue::state,
        AdminAuctionRules => venue::auction_rules,
        AdminContractTerms => venue::contract_terms,
        AdminRestrict => restrictions::set,
        AdminRestrictions => restrictions::list,
        AdminCalendarAssign => calendars::assign,
        AdminCalendarMove => calendars::move_transition,
        AdminBreakerSet => calendars::set_breaker,
        AdminBreakerRemove => calendars::remove_breaker,
        AdminHalt => halts::halt,
        AdminResume => venue::resume,
        AdminClose => venue::close,
        AdminDeposits => venue::deposit,
        AdminPayOut => venue::withdrawal,
        AdminWithdrawals => withdrawals::list_all,
        AdminWithdrawalApprove => withdrawals::approve,
        AdminWithdrawalReject => withdrawals::reject,
        AdminStatementsRun => statements::run,
        AdminStatementRuns => statements::list,
        AdminKeys => keys::list,
        AdminKeyCreate => keys::create,
        AdminKeyRotate => keys::rotate,
        AdminKeyRevoke => keys::revoke,
        AdminSnapshot => operations::snapshot,
        AdminRulesVersion => operations::rules_version,
        AdminAudit => audit::read,
        AdminBackup => operations::backup,
        AdminClockAccept => operations::accept_clock,
    }
}

async fn no_route(gate: &Gate, request: Request) -> Handled {
    refuse_stray(gate, &request)?;
    let message = "There is no such path; docs/endpoints.md names them all.";
    Err(ApiError::new(StatusCode::NOT_FOUND, "unknown_route", message))
}

async fn wrong_method(gate: &Gate, request: Request) -> Handled {
    refuse_stray(gate, &request)?;
    let message = format!("The path does not take {}.", request.method());
    Err(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message))
}

/// Requests to unknown paths count against their address, signed or not.
fn refuse_stray(gate: &Gate, request: &Request) -> Result<(), ApiError> {
    gate.gatekeeper.charge_address(Arrival::of(request.extensions()).peer)
}

/// An answer with a value as JSON; `capacity` is its approximate length.
fn respond(status: StatusCode, value: &impl Serialize, capacity: usize) -> Response {
    respond_in(HeaderMap::new(), status, value, capacity)
}

/// The same with a given map for its headers.
fn respond_in(
    mut headers: HeaderMap,
    status: StatusCode,
    value: &impl Serialize,
    capacity: usize,
) -> Response {
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let mut response = Response::new(json::write(value, capacity).into());
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// The number of rows of a page: the requested number, from 1 to `max`.
fn count(
    name: &'static str,
    asked: Option<usize>,
    usual: usize,
    max: usize,
) -> Result<usize, ApiError> {
    match asked {
        None => Ok(usual.min(max)),
        Some(count) if (1..=max).contains(&count) => Ok(count),
        Some(count) => {
            let message = format!("The parameter {name} is {count}; it must be from 1 to {max}.");
            Err(ApiError::invalid(name, message))
        }
    }
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
            ("POST", "/v1/kill"),
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
            ("GET", "/v1/admin/audit?limit=1"),
            ("GET", "/nowhere"),
        ] {
            assert_eq!(pool(method, path), Pool::Shared, "{method} {path}");
        }
    }
}
