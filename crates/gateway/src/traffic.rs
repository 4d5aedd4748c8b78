//! Counts requests by route and status.

use axum::http::StatusCode;
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! routes {
    ($($name:ident $text:literal,)*) => {
        /// A route of the gateway.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Route { $($name,)* }

        impl Route {
            /// All routes, in order of their numbers.
            pub(crate) const ALL: &[Route] = &[$(Route::$name,)*];

            /// Method and path, as `docs/api.md` names it.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Route::$name => $text,)* }
            }
        }
    };
}

routes! {
    Place "POST /v1/orders",
    Batch "POST /v1/orders/batch",
    Cancel "DELETE /v1/orders/{id}",
    MassCancel "DELETE /v1/orders",
    Amend "PATCH /v1/orders/{id}",
    Order "GET /v1/orders/{id}",
    Orders "GET /v1/orders",
    Fills "GET /v1/fills",
    Balances "GET /v1/balances",
    DeadMan "PUT /v1/dead-man",
    Withdraw "POST /v1/withdrawals",
    Withdrawals "GET /v1/withdrawals",
    Withdrawal "GET /v1/withdrawals/{id}",
    WithdrawalCancel "DELETE /v1/withdrawals/{id}",
    QueueTopics "GET /v1/queues",
    QueueCreate "POST /v1/queues",
    QueueTopic "GET /v1/queues/{topic}",
    QueueDelete "DELETE /v1/queues/{topic}",
    QueueTransaction "POST /v1/queues/transactions",
    QueueGroupCreate "POST /v1/queues/{topic}/groups",
    QueueGroupDelete "DELETE /v1/queues/{topic}/groups/{group}",
    QueuePublish "POST /v1/queues/{topic}/messages",
    QueueLeave "DELETE /v1/queues/{topic}/groups/{group}/consumers/{consumer}",
    QueueRead "GET /v1/queues/{topic}/messages",
    QueuePurge "DELETE /v1/queues/{topic}/messages",
    QueueLetters "GET /v1/queues/{topic}/dead-letters",
    QueueRedrive "POST /v1/queues/{topic}/redrive",
    QueueFetch "POST /v1/queues/{topic}/groups/{group}/fetch",
    QueueAck "POST /v1/queues/{topic}/groups/{group}/ack",
    QueueNack "POST /v1/queues/{topic}/groups/{group}/nack",
    QueueExtend "POST /v1/queues/{topic}/groups/{group}/extend",
    QueueStream "GET /v1/queues/{topic}/groups/{group}/stream",
    Instruments "GET /v1/instruments",
    Instrument "GET /v1/instruments/{symbol}",
    Book "GET /v1/book/{symbol}",
    Trades "GET /v1/trades/{symbol}",
    Ticker "GET /v1/ticker/{symbol}",
    Time "GET /v1/time",
    Health "GET /v1/health",
    Ready "GET /v1/ready",
    Alive "GET /v1/live",
    Metrics "GET /metrics",
    Stream "GET /v1/stream",
    AdminMembers "POST /v1/admin/members",
    AdminAccounts "POST /v1/admin/accounts",
    AdminCurrencies "POST /v1/admin/currencies",
    AdminInstruments "POST /v1/admin/instruments",
    AdminRules "PATCH /v1/admin/instruments/{symbol}",
    AdminState "POST /v1/admin/{halt,resume,close}",
    AdminDeposits "POST /v1/admin/deposits",
    AdminPayOut "POST /v1/admin/withdrawals",
    AdminWithdrawals "GET /v1/admin/withdrawals",
    AdminWithdrawalApprove "POST /v1/admin/withdrawals/{id}/approve",
    AdminWithdrawalReject "POST /v1/admin/withdrawals/{id}/reject",
    AdminKeys "GET /v1/admin/keys",
    AdminKeyCreate "POST /v1/admin/keys",
    AdminKeyRotate "POST /v1/admin/keys/{id}/rotate",
    AdminKeyRevoke "DELETE /v1/admin/keys/{id}",
    AdminSnapshot "POST /v1/admin/snapshot",
    AdminRulesVersion "POST /v1/admin/rules-version",
    AdminBackup "POST /v1/admin/backup",
    AdminClockAccept "POST /v1/admin/clock/accept",
    None "none",
}

/// The statuses that the gateway answers with; any other is counted as the last.
const STATUSES: [u16; 19] =
    [101, 200, 201, 202, 204, 400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 503, 0];

/// What the gateway counts about itself.
pub(crate) struct Traffic {
    requests: Box<[[AtomicU64; STATUSES.len()]]>,
}

impl Traffic {
    pub(crate) fn new() -> Traffic {
        let row = || std::array::from_fn(|_| AtomicU64::new(0));
        Traffic { requests: Route::ALL.iter().map(|_| row()).collect() }
    }

    /// Counts a request that was answered.
    pub(crate) fn count(&self, route: Route, status: StatusCode) {
        let known = STATUSES.iter().position(|known| *known == status.as_u16());
        let column = known.unwrap_or(STATUSES.len() - 1);
        self.requests[route as usize][column].fetch_add(1, Ordering::Relaxed);
    }

    /// Requests answered by route and status, where there were any. Status 0 is "any other".
    pub(crate) fn requests(&self) -> impl Iterator<Item = (&'static str, u16, u64)> {
        Route::ALL.iter().flat_map(move |route| {
            let row = self.requests[*route as usize].iter().zip(STATUSES);
            row.map(move |(count, status)| (route.name(), status, count.load(Ordering::Relaxed)))
                .filter(|(_, _, count)| *count > 0)
        })
    }
}
