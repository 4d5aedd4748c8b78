//! Every endpoint: its method, path, parameters, body and answers.

use crate::audit::{AuditAnswer, AuditQuery, OperatorQuery};
use crate::calendar::{
    CalendarAnswer, CalendarAssignRequest, CalendarAssignedAnswer, CalendarQuery, CalendarsAnswer,
    CircuitBreakerAnswer, CircuitBreakerRequest, TransitionMoveRequest, TransitionMovedAnswer,
};
use crate::depot::{
    DepotAdoptAnswer, DepotAdoptRequest, DepotClaimRequest, DepotClaimsAnswer,
    DepotCompleteWithQuery, DepotDeadLettersAnswer, DepotDeadLettersQuery, DepotDirectoryRequest,
    DepotFailRequest, DepotFile, DepotFilesAnswer, DepotFilesQuery, DepotGetQuery, DepotLinkAnswer,
    DepotLinkRequest, DepotPutQuery, DepotRedriveAnswer, DepotRedriveQuery, DepotRefuseRequest,
    DepotRenewRequest, DepotRenewedAnswer, DepotScan, DepotScrubAnswer, DepotSettleRequest,
    DepotSettledAnswer, DepotShelfQuery, DepotTenant, DepotTenantRequest, DepotTenantsAnswer,
    DepotTenantsQuery, DepotVolume, DepotVolumeRequest, DepotVolumesAnswer, DepotWatch,
    DepotWatchRequest, DepotWatchesAnswer,
};
use crate::health::{AliveAnswer, HealthAnswer, ReadyAnswer};
use crate::key::{KeyAnswer, KeyCreateRequest, KeyRotateRequest, KeysAnswer};
use crate::market::{
    AuctionAnswer, BookAnswer, BookQuery, FreshQuery, InstrumentAnswer, InstrumentsAnswer,
    TickerAnswer, TimeAnswer, TradesAnswer, TradesQuery,
};
use crate::order::{
    AccountQuery, AmendRequest, BatchAnswer, BatchRequest, CancelQuery, DeadManAnswer,
    DeadManRequest, FillsAnswer, FillsQuery, MassCancelAnswer, MassCancelQuery, OrderAnswer,
    OrderInfoAnswer, OrderRequest, OrdersAnswer, OrdersQuery,
};
use crate::queue::{
    DeadLettersAnswer, DeadLettersQuery, ExtendRequest, FetchRequest, FetchedAnswer, GroupRequest,
    LeasesAnswer, LeasesQuery, MessagesAnswer, NackRequest, PublishQuery, PublishRequest,
    PublishedAnswer, PurgeAnswer, ReadQuery, RedriveAnswer, RedriveQuery, SettleRequest,
    SettledAnswer, TopicInfo, TopicRequest, TopicsAnswer,
};
use crate::restriction::{
    KillAnswer, KillRequest, KillStateAnswer, RestrictionAnswer, RestrictionRequest,
    RestrictionsAnswer, RestrictionsQuery,
};
use crate::statement::{StatementRunAnswer, StatementRunsAnswer, StatementRunsQuery};
use crate::transaction::{TransactionAnswer, TransactionRequest};
use crate::venue::{
    AccountRequest, AuctionRulesRequest, BackupAnswer, BackupRequest, BalancesAnswer, ClockAnswer,
    ContractTermsRequest, CreatedAnswer, CurrencyRequest, HaltAnswer, HaltRequest,
    InstrumentChangedAnswer, InstrumentRequest, MemberRequest, PhaseRequest, RulesRequest,
    RulesVersionAnswer, RulesVersionRequest, SnapshotAnswer, StateRequest, TransferAnswer,
    TransferRequest,
};
use crate::withdrawal::{
    ApproveRequest, RejectRequest, WithdrawalAnswer, WithdrawalRequest, WithdrawalsAnswer,
    WithdrawalsQuery,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// No parameters, or an empty answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Who may use the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Everyone, without a key.
    Public,
    /// A key with this scope.
    Scope(rialto_model::Scope),
    /// A key with this right to the topic.
    Queue(&'static str),
    /// A key with this right to the tenant.
    Depot(&'static str),
}

/// Gives the schema of a type.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The parameters, body and answers of an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// The HTTP method.
    pub method: &'static str,
    /// The path, with parameters in braces.
    pub path: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// The chapter that it belongs to.
    pub chapter: &'static str,
    /// Who may use the endpoint.
    pub access: Permission,
    /// The parameters behind the path.
    pub query: SchemaOf,
    /// The body, if it takes one.
    pub body: Option<SchemaOf>,
    /// The statuses of success, each with its body; `None` is not JSON.
    pub answers: &'static [(u16, Option<SchemaOf>)],
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

macro_rules! schema_or_none {
    () => {
        None
    };
    ($type:ty) => {
        Some(schema_of::<$type> as SchemaOf)
    };
}

macro_rules! routes {
    ($($chapter:literal {
        $($name:ident $method:literal $path:literal $access:expr, $summary:literal,
            ($query:ty $(, $body:ty)?) -> [$($status:literal $($answer:ty)?),*];)*
    })*) => {
        /// An endpoint.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Route {
            $($(#[doc = $summary] $name,)*)*
            /// No endpoint: the path or method is unknown.
            None,
        }

        impl Route {
            /// All endpoints, with [`Route::None`] last.
            pub const ALL: &'static [Route] = &[$($(Route::$name,)*)* Route::None];

            /// Method and path.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($(Route::$name => concat!($method, " ", $path),)*)*
                    Route::None => "none",
                }
            }

            /// The path, with parameters in braces.
            #[must_use]
            pub const fn path(self) -> &'static str {
                match self {
                    $($(Route::$name => $path,)*)*
                    Route::None => "",
                }
            }

            /// The HTTP method.
            #[must_use]
            pub const fn method(self) -> &'static str {
                match self {
                    $($(Route::$name => $method,)*)*
                    Route::None => "",
                }
            }

            /// The description of the endpoint; `None` for [`Route::None`].
            #[must_use]
            pub fn endpoint(self) -> Option<Endpoint> {
                match self {
                    $($(Route::$name => Some(Endpoint {
                        method: $method,
                        path: $path,
                        summary: $summary,
                        chapter: $chapter,
                        access: $access,
                        query: schema_of::<$query>,
                        body: schema_or_none!($($body)?),
                        answers: &[$(($status, schema_or_none!($($answer)?))),*],
                    }),)*)*
                    Route::None => None,
                }
            }
        }
    };
}

const PUBLIC: Permission = Permission::Public;
const READ: Permission = Permission::Scope(rialto_model::Scope::Read);
const TRADE: Permission = Permission::Scope(rialto_model::Scope::Trade);
const TRANSFER: Permission = Permission::Scope(rialto_model::Scope::Transfer);
const ADMIN: Permission = Permission::Scope(rialto_model::Scope::Admin);
const ANY: Permission = Permission::Queue("any");
const PRODUCE: Permission = Permission::Queue("produce");
const CONSUME: Permission = Permission::Queue("consume");
const MANAGE: Permission = Permission::Queue("admin");
const TENANT: Permission = Permission::Depot("any");
const FETCH: Permission = Permission::Depot("read or work");
const INSPECT: Permission = Permission::Depot("read");
const STORE: Permission = Permission::Depot("write");
const WORK: Permission = Permission::Depot("work");
const WORK_AND_STORE: Permission = Permission::Depot("work and write");
const LINK: Permission = Permission::Depot("read, work or write");

routes! {
    "Orders" {
        Place "POST" "/v1/orders" TRADE, "Enters an order. 200 if it had been entered before.",
            (Nothing, OrderRequest) -> [201 OrderAnswer, 200 OrderAnswer];
        Batch "POST" "/v1/orders/batch" TRADE, "Enters, cancels and amends orders, each by itself.",
            (Nothing, BatchRequest) -> [200 BatchAnswer];
        Cancel "DELETE" "/v1/orders/{id}" TRADE, "Cancels an order.",
            (CancelQuery) -> [200 OrderAnswer];
        MassCancel "DELETE" "/v1/orders" TRADE, "Cancels all orders of an account that match.",
            (MassCancelQuery) -> [200 MassCancelAnswer];
        Amend "PATCH" "/v1/orders/{id}" TRADE, "Changes the price, the quantity or the trigger price of an order.",
            (Nothing, AmendRequest) -> [200 OrderAnswer];
        Order "GET" "/v1/orders/{id}" READ, "Shows an order.",
            (AccountQuery) -> [200 OrderInfoAnswer];
        Orders "GET" "/v1/orders" READ, "Lists orders of an account.",
            (OrdersQuery) -> [200 OrdersAnswer];
        Fills "GET" "/v1/fills" READ, "Lists an account's parts in trades, newest first.",
            (FillsQuery) -> [200 FillsAnswer];
        Balances "GET" "/v1/balances" READ, "Lists the balances of an account.",
            (AccountQuery) -> [200 BalancesAnswer];
        DeadMan "PUT" "/v1/dead-man" TRADE, "Sets or resets the dead-man timer of an account.",
            (Nothing, DeadManRequest) -> [200 DeadManAnswer];
        Kill "POST" "/v1/kill" TRADE, "Cancels all orders of accounts, and refuses new ones.",
            (Nothing, KillRequest) -> [200 KillAnswer];
        KillLift "DELETE" "/v1/kill" TRADE, "Lifts what a kill has set.",
            (KillRequest) -> [200 KillAnswer];
        KillState "GET" "/v1/kill" READ, "Shows the restriction of an account.",
            (AccountQuery) -> [200 KillStateAnswer];
    }
    "Withdrawals" {
        Withdraw "POST" "/v1/withdrawals" TRANSFER, "Asks for a withdrawal.",
            (Nothing, WithdrawalRequest) -> [201 WithdrawalAnswer, 200 WithdrawalAnswer, 202 WithdrawalAnswer];
        Withdrawals "GET" "/v1/withdrawals" READ, "Lists withdrawals of an account.",
            (WithdrawalsQuery) -> [200 WithdrawalsAnswer];
        Withdrawal "GET" "/v1/withdrawals/{id}" READ, "Shows a withdrawal.",
            (Nothing) -> [200 WithdrawalAnswer];
        WithdrawalCancel "DELETE" "/v1/withdrawals/{id}" TRANSFER, "Cancels a withdrawal.",
            (Nothing) -> [200 WithdrawalAnswer, 202 WithdrawalAnswer];
    }
    "Queues" {
        QueueTopics "GET" "/v1/queues" ANY, "Lists the topics that the key may see.",
            (Nothing) -> [200 TopicsAnswer];
        QueueCreate "POST" "/v1/queues" MANAGE, "Creates a topic.",
            (Nothing, TopicRequest) -> [201 TopicInfo];
        QueueTopic "GET" "/v1/queues/{topic}" ANY, "Shows a topic and its groups.",
            (Nothing) -> [200 TopicInfo];
        QueueDelete "DELETE" "/v1/queues/{topic}" MANAGE, "Deletes a topic.",
            (Nothing) -> [200 Nothing];
        QueueTransaction "POST" "/v1/queues/transactions" PRODUCE,
            "Publishes and acknowledges messages, together or not at all.",
            (Nothing, TransactionRequest) -> [200 TransactionAnswer];
        QueueGroupCreate "POST" "/v1/queues/{topic}/groups" MANAGE, "Creates a group.",
            (Nothing, GroupRequest) -> [201 TopicInfo];
        QueueGroupDelete "DELETE" "/v1/queues/{topic}/groups/{group}" MANAGE, "Deletes a group.",
            (Nothing) -> [200 Nothing];
        QueuePublish "POST" "/v1/queues/{topic}/messages" PRODUCE,
            "Publishes messages: a JSON array, JSON lines or packed.",
            (PublishQuery, PublishRequest) -> [201 PublishedAnswer];
        QueueLeave "DELETE" "/v1/queues/{topic}/groups/{group}/consumers/{consumer}" CONSUME,
            "A consumer leaves its group.",
            (Nothing) -> [200 Nothing];
        QueueRead "GET" "/v1/queues/{topic}/messages" CONSUME, "Reads messages without a group.",
            (ReadQuery) -> [200 MessagesAnswer];
        QueuePurge "DELETE" "/v1/queues/{topic}/messages" MANAGE, "Drops all messages of a topic.",
            (Nothing) -> [200 PurgeAnswer];
        QueueDeadLetters "GET" "/v1/queues/{topic}/dead-letters" CONSUME, "Lists dead letters.",
            (DeadLettersQuery) -> [200 DeadLettersAnswer];
        QueueRedrive "POST" "/v1/queues/{topic}/redrive" MANAGE, "Publishes dead letters again on their original topics.",
            (RedriveQuery) -> [200 RedriveAnswer];
        QueueFetch "POST" "/v1/queues/{topic}/groups/{group}/fetch" CONSUME,
            "Delivers messages to a consumer.",
            (Nothing, FetchRequest) -> [200 FetchedAnswer];
        QueueAck "POST" "/v1/queues/{topic}/groups/{group}/ack" CONSUME, "Acknowledges messages.",
            (Nothing, SettleRequest) -> [200 SettledAnswer];
        QueueNack "POST" "/v1/queues/{topic}/groups/{group}/nack" CONSUME, "Gives messages back.",
            (Nothing, NackRequest) -> [200 SettledAnswer];
        QueueExtend "POST" "/v1/queues/{topic}/groups/{group}/extend" CONSUME,
            "Gives a consumer more time for messages.",
            (Nothing, ExtendRequest) -> [200 SettledAnswer];
        QueueLeases "GET" "/v1/queues/{topic}/groups/{group}/leases" CONSUME,
            "Lists the leased messages of a group.",
            (LeasesQuery) -> [200 LeasesAnswer];
        QueueStream "GET" "/v1/queues/{topic}/groups/{group}/stream" CONSUME,
            "Delivers messages over WebSocket.",
            (GroupStreamQuery) -> [101];
    }
    "Depot" {
        DepotPut "POST" "/v1/depot/{tenant}/files" STORE,
            "Stores a file; the body is its content. 200 if it had been stored before.",
            (DepotPutQuery) -> [201 DepotFile, 200 DepotFile];
        DepotFiles "GET" "/v1/depot/{tenant}/files" INSPECT, "Lists files, a page at a time.",
            (DepotFilesQuery) -> [200 DepotFilesAnswer];
        DepotGet "GET" "/v1/depot/{tenant}/files/{id}" FETCH,
            "Reads the content of a file, or a range of it.",
            (DepotGetQuery) -> [200, 206, 304];
        DepotInfo "GET" "/v1/depot/{tenant}/files/{id}/info" FETCH, "Describes a file.",
            (Nothing) -> [200 DepotFile];
        DepotShelf "GET" "/v1/depot/{tenant}/shelf" INSPECT, "Describes the file kept under a path.",
            (DepotShelfQuery) -> [200 DepotFile];
        DepotDelete "DELETE" "/v1/depot/{tenant}/files/{id}" STORE, "Deletes a file.",
            (Nothing) -> [200 Nothing];
        DepotClaim "POST" "/v1/depot/{tenant}/claims" WORK, "Claims files of a tenant.",
            (Nothing, DepotClaimRequest) -> [200 DepotClaimsAnswer];
        DepotClaimAny "POST" "/v1/depot/claims" WORK,
            "Claims files of one of the tenants that the key works for; tenants take turns.",
            (Nothing, DepotClaimRequest) -> [200 DepotClaimsAnswer];
        DepotRenew "POST" "/v1/depot/claims/renew" WORK, "Makes claims last longer.",
            (Nothing, DepotRenewRequest) -> [200 DepotRenewedAnswer];
        DepotComplete "POST" "/v1/depot/claims/complete" WORK, "Ends claimed files as completed.",
            (Nothing, DepotSettleRequest) -> [200 DepotSettledAnswer];
        DepotCompleteWith "POST" "/v1/depot/claims/complete-with" WORK_AND_STORE,
            "Ends a claimed file as completed together with its results; the body has the results.",
            (DepotCompleteWithQuery) -> [200 Nothing];
        DepotFail "POST" "/v1/depot/claims/fail" WORK,
            "Gives claimed files back as failed, to be claimed again after a delay.",
            (Nothing, DepotFailRequest) -> [200 DepotSettledAnswer];
        DepotRefuse "POST" "/v1/depot/claims/refuse" WORK, "Makes claimed files dead letters.",
            (Nothing, DepotRefuseRequest) -> [200 DepotSettledAnswer];
        DepotReturn "POST" "/v1/depot/claims/return" WORK,
            "Gives claimed files back as if they had not been claimed.",
            (Nothing, DepotSettleRequest) -> [200 DepotSettledAnswer];
        DepotLink "POST" "/v1/depot/{tenant}/links" LINK,
            "Makes a link that permits one request to everyone who has it.",
            (Nothing, DepotLinkRequest) -> [201 DepotLinkAnswer];
        DepotDeadLetters "GET" "/v1/depot/{tenant}/dead-letters" FETCH, "Lists dead letters.",
            (DepotDeadLettersQuery) -> [200 DepotDeadLettersAnswer];
        DepotRedrive "POST" "/v1/depot/{tenant}/dead-letters/redrive" WORK,
            "Lets dead letters be claimed again.",
            (DepotRedriveQuery) -> [200 DepotRedriveAnswer];
        DepotTenants "GET" "/v1/depot/tenants" TENANT, "Lists tenants, a page at a time.",
            (DepotTenantsQuery) -> [200 DepotTenantsAnswer];
        DepotTenantShow "GET" "/v1/depot/tenants/{tenant}" TENANT, "Shows a tenant.",
            (Nothing) -> [200 DepotTenant];
        DepotTenantSet "PUT" "/v1/depot/tenants/{tenant}" ADMIN,
            "Creates a tenant, or sets its quota.",
            (Nothing, DepotTenantRequest) -> [201 DepotTenant, 200 DepotTenant];
        DepotTenantDelete "DELETE" "/v1/depot/tenants/{tenant}" ADMIN,
            "Deletes a tenant with all its files, in the background.",
            (Nothing) -> [202 Nothing];
        DepotTenantEnable "POST" "/v1/depot/tenants/{tenant}/enable" ADMIN, "Enables a tenant.",
            (Nothing) -> [200 DepotTenant];
        DepotTenantDisable "POST" "/v1/depot/tenants/{tenant}/disable" ADMIN,
            "Disables a tenant: it neither takes files nor hands them out.",
            (Nothing) -> [200 DepotTenant];
        DepotTenantDrain "POST" "/v1/depot/tenants/{tenant}/drain" ADMIN,
            "Drains a tenant: it takes no files, and hands out the files that it has.",
            (Nothing) -> [200 DepotTenant];
        DepotDirectories "PUT" "/v1/depot/tenants/{tenant}/directories" ADMIN,
            "Sets what becomes of the files of a directory, and its quota.",
            (Nothing, DepotDirectoryRequest) -> [200 DepotTenant];
        DepotVolumes "GET" "/v1/depot/volumes" ADMIN, "Lists volumes.",
            (Nothing) -> [200 DepotVolumesAnswer];
        DepotMount "POST" "/v1/depot/volumes" ADMIN, "Mounts a volume.",
            (Nothing, DepotVolumeRequest) -> [201 DepotVolume];
        DepotVolumeDrain "POST" "/v1/depot/volumes/{volume}/drain" ADMIN,
            "Drains a volume: it keeps its files and takes no new ones.",
            (Nothing) -> [200 DepotVolume];
        DepotVolumeUndrain "POST" "/v1/depot/volumes/{volume}/undrain" ADMIN,
            "Ends the draining of a volume.",
            (Nothing) -> [200 DepotVolume];
        DepotUnmount "DELETE" "/v1/depot/volumes/{volume}" ADMIN,
            "Unmounts a volume that has no files.",
            (Nothing) -> [200 Nothing];
        DepotWatches "GET" "/v1/depot/watches" ADMIN, "Lists watched folders.",
            (Nothing) -> [200 DepotWatchesAnswer];
        DepotWatchAdd "POST" "/v1/depot/watches" ADMIN, "Watches a folder: its files are imported.",
            (Nothing, DepotWatchRequest) -> [201 DepotWatch];
        DepotWatchEnable "POST" "/v1/depot/watches/{watch}/enable" ADMIN, "Enables a watch.",
            (Nothing) -> [200 DepotWatch];
        DepotWatchDisable "POST" "/v1/depot/watches/{watch}/disable" ADMIN,
            "Disables a watch: its folder is left alone.",
            (Nothing) -> [200 DepotWatch];
        DepotWatchScan "POST" "/v1/depot/watches/{watch}/scan" ADMIN,
            "Scans the folder of a watch, and answers when its files are imported.",
            (Nothing) -> [200 DepotScan];
        DepotWatchRemove "DELETE" "/v1/depot/watches/{watch}" ADMIN,
            "Ends a watch; the files that it has not imported stay.",
            (Nothing) -> [200 Nothing];
        DepotScrub "GET" "/v1/depot/scrub" ADMIN,
            "Shows what the scrub read, the damaged files, and the bytes without a record.",
            (Nothing) -> [200 DepotScrubAnswer];
        DepotAdopt "POST" "/v1/depot/adopt" ADMIN,
            "Makes files of the bytes in the quarantines again.",
            (Nothing, DepotAdoptRequest) -> [200 DepotAdoptAnswer];
    }
    "Market data" {
        Instruments "GET" "/v1/instruments" PUBLIC, "Lists all instruments.",
            (FreshQuery) -> [200 InstrumentsAnswer];
        Instrument "GET" "/v1/instruments/{symbol}" PUBLIC, "Shows an instrument.",
            (FreshQuery) -> [200 InstrumentAnswer];
        Book "GET" "/v1/book/{symbol}" PUBLIC, "Shows a book, by price or by order.",
            (BookQuery) -> [200 BookAnswer];
        Trades "GET" "/v1/trades/{symbol}" PUBLIC, "Lists the last trades.",
            (TradesQuery) -> [200 TradesAnswer];
        Ticker "GET" "/v1/ticker/{symbol}" PUBLIC, "Shows the last 24 hours.",
            (FreshQuery) -> [200 TickerAnswer];
        Auction "GET" "/v1/auction/{symbol}" PUBLIC, "Shows the phase of an instrument and its auction.",
            (FreshQuery) -> [200 AuctionAnswer];
        Calendars "GET" "/v1/calendars" PUBLIC, "Lists the calendars that the venue runs by.",
            (FreshQuery) -> [200 CalendarsAnswer];
        Calendar "GET" "/v1/calendars/{name}" PUBLIC,
            "Shows a calendar with its next transitions.",
            (CalendarQuery) -> [200 CalendarAnswer];
        Time "GET" "/v1/time" PUBLIC, "Tells the time at the venue.",
            (Nothing) -> [200 TimeAnswer];
        Stream "GET" "/v1/stream" PUBLIC, "Market data and an account's own events over WebSocket.",
            (Nothing) -> [101];
        Openapi "GET" "/v1/openapi.json" PUBLIC, "This description, as OpenAPI 3.1.",
            (Nothing) -> [200 serde_json::Value];
        Asyncapi "GET" "/v1/asyncapi.json" PUBLIC, "The streams, as AsyncAPI 3.0.",
            (Nothing) -> [200 serde_json::Value];
    }
    "Health" {
        Health "GET" "/v1/health" PUBLIC, "Shows every part of the process.",
            (AnyQuery) -> [200 HealthAnswer];
        Ready "GET" "/v1/ready" PUBLIC, "Tells whether commands are taken; 503 if not.",
            (AnyQuery) -> [200 ReadyAnswer, 503 ReadyAnswer];
        Alive "GET" "/v1/live" PUBLIC, "Tells whether the process can do its work; 503 if not.",
            (AnyQuery) -> [200 AliveAnswer, 503 AliveAnswer];
        Metrics "GET" "/metrics" PUBLIC, "Figures in the text format of Prometheus.",
            (AnyQuery) -> [200];
    }
    "Operators" {
        AdminMembers "POST" "/v1/admin/members" ADMIN, "Creates a member.",
            (OperatorQuery, MemberRequest) -> [201 CreatedAnswer];
        AdminAccounts "POST" "/v1/admin/accounts" ADMIN, "Creates an account.",
            (OperatorQuery, AccountRequest) -> [201 CreatedAnswer];
        AdminCurrencies "POST" "/v1/admin/currencies" ADMIN, "Creates a currency.",
            (OperatorQuery, CurrencyRequest) -> [201 CreatedAnswer];
        AdminInstruments "POST" "/v1/admin/instruments" ADMIN, "Lists an instrument.",
            (OperatorQuery, InstrumentRequest) -> [201 CreatedAnswer];
        AdminRules "PATCH" "/v1/admin/instruments/{symbol}" ADMIN, "Changes rules of an instrument.",
            (OperatorQuery, RulesRequest) -> [200 InstrumentChangedAnswer];
        AdminState "POST" "/v1/admin/state" ADMIN, "Puts an instrument into another phase.",
            (OperatorQuery, PhaseRequest) -> [200 InstrumentChangedAnswer];
        AdminAuctionRules "POST" "/v1/admin/auction-rules" ADMIN,
            "Changes rules of an instrument's auctions.",
            (OperatorQuery, AuctionRulesRequest) -> [200 InstrumentChangedAnswer];
        AdminContractTerms "POST" "/v1/admin/contract-terms" ADMIN,
            "Changes the terms of an instrument's contract.",
            (OperatorQuery, ContractTermsRequest) -> [200 InstrumentChangedAnswer];
        AdminRestrict "PUT" "/v1/admin/restrictions" ADMIN,
            "Restricts the venue, a member, an account or an instrument, or lifts a restriction.",
            (OperatorQuery, RestrictionRequest) -> [200 RestrictionAnswer];
        AdminRestrictions "GET" "/v1/admin/restrictions" ADMIN, "Lists restrictions.",
            (RestrictionsQuery) -> [200 RestrictionsAnswer];
        AdminCalendarAssign "PUT" "/v1/admin/instruments/{symbol}/calendar" ADMIN,
            "Assigns an instrument to a calendar, or to none.",
            (OperatorQuery, CalendarAssignRequest) -> [200 CalendarAssignedAnswer];
        AdminCalendarMove "POST" "/v1/admin/calendars/{name}/move" ADMIN,
            "Moves a transition that has not begun.",
            (OperatorQuery, TransitionMoveRequest) -> [200 TransitionMovedAnswer];
        AdminBreakerSet "PUT" "/v1/admin/calendars/{name}/circuit-breaker" ADMIN,
            "Sets or replaces the circuit breaker of a calendar.",
            (OperatorQuery, CircuitBreakerRequest) -> [200 CircuitBreakerAnswer];
        AdminBreakerRemove "DELETE" "/v1/admin/calendars/{name}/circuit-breaker" ADMIN,
            "Removes the circuit breaker of a calendar.",
            (OperatorQuery) -> [200 CircuitBreakerAnswer];
        AdminHalt "POST" "/v1/admin/halt" ADMIN,
            "Halts an instrument, a calendar or the venue: only cancels are accepted.",
            (OperatorQuery, HaltRequest) -> [200 HaltAnswer];
        AdminResume "POST" "/v1/admin/resume" ADMIN, "Opens an instrument again.",
            (OperatorQuery, StateRequest) -> [200 InstrumentChangedAnswer];
        AdminClose "POST" "/v1/admin/close" ADMIN, "Withdraws an instrument and cancels its orders.",
            (OperatorQuery, StateRequest) -> [200 InstrumentChangedAnswer];
        AdminDeposits "POST" "/v1/admin/deposits" ADMIN, "Adds to a balance.",
            (OperatorQuery, TransferRequest) -> [201 TransferAnswer, 200 TransferAnswer];
        AdminPayOut "POST" "/v1/admin/withdrawals" ADMIN, "Takes from a balance.",
            (OperatorQuery, TransferRequest) -> [201 TransferAnswer, 200 TransferAnswer];
        AdminWithdrawals "GET" "/v1/admin/withdrawals" ADMIN, "Lists withdrawals of all accounts.",
            (WithdrawalsQuery) -> [200 WithdrawalsAnswer];
        AdminWithdrawalApprove "POST" "/v1/admin/withdrawals/{id}/approve" ADMIN,
            "Confirms that a withdrawal was paid out.",
            (OperatorQuery, ApproveRequest) -> [200 WithdrawalAnswer, 202 WithdrawalAnswer];
        AdminWithdrawalReject "POST" "/v1/admin/withdrawals/{id}/reject" ADMIN,
            "Refuses a withdrawal.",
            (OperatorQuery, RejectRequest) -> [200 WithdrawalAnswer, 202 WithdrawalAnswer];
        AdminStatementsRun "POST" "/v1/admin/statements" ADMIN,
            "Makes the statements of all members.",
            (Nothing) -> [200 StatementRunAnswer, 202 StatementRunAnswer];
        AdminStatementRuns "GET" "/v1/admin/statements" ADMIN, "Lists runs of statements.",
            (StatementRunsQuery) -> [200 StatementRunsAnswer];
        AdminKeys "GET" "/v1/admin/keys" ADMIN, "Lists all keys.",
            (Nothing) -> [200 KeysAnswer];
        AdminKeyCreate "POST" "/v1/admin/keys" ADMIN, "Creates a key.",
            (Nothing, KeyCreateRequest) -> [201 KeyAnswer];
        AdminKeyRotate "POST" "/v1/admin/keys/{id}/rotate" ADMIN, "Replaces the secret of a key.",
            (Nothing, KeyRotateRequest) -> [200 KeyAnswer];
        AdminKeyRevoke "DELETE" "/v1/admin/keys/{id}" ADMIN, "Revokes a key.",
            (Nothing) -> [200 KeyAnswer];
        AdminSnapshot "POST" "/v1/admin/snapshot" ADMIN, "Makes a snapshot.",
            (Nothing) -> [201 SnapshotAnswer];
        AdminRulesVersion "POST" "/v1/admin/rules-version" ADMIN,
            "Puts a version of the rules in force.",
            (OperatorQuery, RulesVersionRequest) -> [200 RulesVersionAnswer];
        AdminAudit "GET" "/v1/admin/audit" ADMIN, "Reads which commands operators sent, and why.",
            (AuditQuery) -> [200 AuditAnswer];
        AdminBackup "POST" "/v1/admin/backup" ADMIN, "Makes a backup.",
            (Nothing, BackupRequest) -> [201 BackupAnswer];
        AdminClockAccept "POST" "/v1/admin/clock/accept" ADMIN, "Accepts a step of the clock.",
            (Nothing) -> [200 ClockAnswer];
    }
}

/// Parameters that are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnyQuery {}

/// How messages of a group are delivered over WebSocket.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupStreamQuery {
    /// Most messages that are delivered and not yet acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefetch: Option<usize>,
    /// The form of messages.
    #[serde(default)]
    pub format: MessageFormat,
}

/// The form of messages on the stream of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageFormat {
    /// Text frames with JSON.
    #[default]
    Json,
    /// Binary frames, in the form in which topics keep messages.
    Packed,
}
