//! A typed method for each endpoint.

use crate::{Client, ClientError, HttpAnswer, HttpRequest};
use bytes::Bytes;
use rialto_api::*;
use rialto_model::AccountId;
use serde::Serialize;

macro_rules! or_nothing {
    () => {
        &Nothing {}
    };
    ($given:ident: $type:ty) => {
        $given
    };
}

macro_rules! or_no_body {
    () => {
        None::<&Nothing>
    };
    ($given:ident: $type:ty) => {
        Some($given)
    };
}

/// One line for each endpoint: arguments of the path, `?` and the type of the query, the type of the body.
macro_rules! endpoints {
    ($($(#[$attribute:meta])* $name:ident = $route:ident ($($argument:ident),*)
        $(? { $query:ty })? $({ $body:ty })? -> $answer:ty;)*) => {
        impl Client {
            $(
                $(#[$attribute])*
                ///
                /// # Errors
                /// The venue refused, or no usable answer came.
                pub async fn $name(
                    &self,
                    $($argument: &str,)*
                    $(query: &$query,)?
                    $(body: &$body,)?
                ) -> Result<$answer, ClientError> {
                    let query = or_nothing!($(query: $query)?);
                    let body = or_no_body!($(body: $body)?);
                    self.call(Route::$route, &[$($argument),*], query, body).await
                }
            )*
        }
    };
}

// Orders.
endpoints! {
    /// Enters an order. With a client order id, the same request can be sent again: the order is
    /// entered once.
    place = Place() { OrderRequest<'_> } -> OrderAnswer;
    /// Cancels an order: its id, or `client:` and its client order id.
    cancel = Cancel(id) ? { CancelQuery } -> OrderAnswer;
    /// Cancels all orders of an account that match.
    cancel_all = MassCancel() ? { MassCancelQuery<'_> } -> MassCancelAnswer;
    /// Changes the price or the quantity of an order.
    amend = Amend(id) { AmendRequest<'_> } -> OrderAnswer;
    /// Shows an order: its id, or `client:` and its client order id.
    order = Order(id) ? { AccountQuery } -> OrderInfoAnswer;
    /// Lists orders of an account, a page at a time.
    orders = Orders() ? { OrdersQuery<'_> } -> OrdersAnswer;
    /// Lists an account's fills, newest first, a page at a time.
    fills = Fills() ? { FillsQuery<'_> } -> FillsAnswer;
    /// Lists the balances of an account.
    balances = Balances() ? { AccountQuery } -> BalancesAnswer;
    /// Sets or resets the dead-man timer of an account.
    dead_man = DeadMan() { DeadManRequest } -> DeadManAnswer;
    /// Cancels all orders of an account, or of all accounts of the key, and refuses new ones.
    kill = Kill() { KillRequest } -> KillAnswer;
    /// Lifts what a kill has set.
    lift_kill = KillLift() ? { KillRequest } -> KillAnswer;
    /// Shows the restriction of an account.
    kill_state = KillState() ? { AccountQuery } -> KillStateAnswer;
}

// Withdrawals.
endpoints! {
    /// Requests a withdrawal.
    withdraw = Withdraw() { WithdrawalRequest<'_> } -> WithdrawalAnswer;
    /// Lists withdrawals of an account.
    withdrawals = Withdrawals() ? { WithdrawalsQuery<'_> } -> WithdrawalsAnswer;
    /// Shows a withdrawal.
    withdrawal = Withdrawal(id) -> WithdrawalAnswer;
    /// Cancels a withdrawal that has not been decided.
    cancel_withdrawal = WithdrawalCancel(id) -> WithdrawalAnswer;
}

// Market data.
endpoints! {
    /// Lists all instruments.
    instruments = Instruments() ? { FreshQuery } -> InstrumentsAnswer;
    /// Shows an instrument.
    instrument = Instrument(symbol) ? { FreshQuery } -> InstrumentAnswer;
    /// Shows a book, by price or by order.
    book = Book(symbol) ? { BookQuery } -> BookAnswer;
    /// Lists the last trades of an instrument.
    trades = Trades(symbol) ? { TradesQuery } -> TradesAnswer;
    /// Shows the last 24 hours of an instrument.
    ticker = Ticker(symbol) ? { FreshQuery } -> TickerAnswer;
    /// Shows the phase of an instrument and its auction.
    auction = Auction(symbol) ? { FreshQuery } -> AuctionAnswer;
    /// Lists the calendars that the venue runs by.
    calendars = Calendars() ? { FreshQuery } -> CalendarsAnswer;
    /// Shows a calendar with its next transitions.
    calendar = Calendar(name) ? { CalendarQuery } -> CalendarAnswer;
    /// Tells the time at the venue.
    time = Time() -> TimeAnswer;
    /// The description of the interface as OpenAPI 3.1.
    openapi = Openapi() -> serde_json::Value;
    /// The description of the streams as AsyncAPI 3.0.
    asyncapi = Asyncapi() -> serde_json::Value;
    /// Shows the components of the process.
    health = Health() -> HealthAnswer;
}

// Operators.
endpoints! {
    /// Creates a member.
    create_member = AdminMembers() { MemberRequest<'_> } -> CreatedAnswer;
    /// Creates an account.
    create_account = AdminAccounts() { AccountRequest<'_> } -> CreatedAnswer;
    /// Creates a currency.
    create_currency = AdminCurrencies() { CurrencyRequest<'_> } -> CreatedAnswer;
    /// Lists an instrument, which can then be traded.
    create_instrument = AdminInstruments() { InstrumentRequest<'_> } -> CreatedAnswer;
    /// Changes rules of an instrument.
    change_rules = AdminRules(symbol) { RulesRequest<'_> } -> InstrumentChangedAnswer;
    /// Puts an instrument into another phase.
    set_state = AdminState() { PhaseRequest<'_> } -> InstrumentChangedAnswer;
    /// Changes rules of an instrument's auctions.
    change_auction_rules = AdminAuctionRules() { AuctionRulesRequest<'_> } -> InstrumentChangedAnswer;
    /// Changes the terms of an instrument's contract.
    change_contract_terms = AdminContractTerms() { ContractTermsRequest<'_> } -> InstrumentChangedAnswer;
    /// Restricts the venue, a member, an account or an instrument, or lifts a restriction.
    restrict = AdminRestrict() { RestrictionRequest<'_> } -> RestrictionAnswer;
    /// Lists restrictions, a page at a time.
    restrictions = AdminRestrictions() ? { RestrictionsQuery<'_> } -> RestrictionsAnswer;
    /// Assigns an instrument to a calendar, or to none.
    assign_calendar = AdminCalendarAssign(symbol) { CalendarAssignRequest<'_> } -> CalendarAssignedAnswer;
    /// Moves a transition of a calendar that has not begun.
    move_transition = AdminCalendarMove(name) { TransitionMoveRequest } -> TransitionMovedAnswer;
    /// Sets or replaces the circuit breaker of a calendar.
    set_circuit_breaker = AdminBreakerSet(name) { CircuitBreakerRequest<'_> } -> CircuitBreakerAnswer;
    /// Removes the circuit breaker of a calendar.
    remove_circuit_breaker = AdminBreakerRemove(name) -> CircuitBreakerAnswer;
    /// Halts an instrument, a calendar or the venue: only cancels are accepted.
    halt = AdminHalt() { HaltRequest<'_> } -> HaltAnswer;
    /// Opens an instrument again.
    resume = AdminResume() { StateRequest<'_> } -> InstrumentChangedAnswer;
    /// Closes an instrument and cancels its orders.
    close = AdminClose() { StateRequest<'_> } -> InstrumentChangedAnswer;
    /// Adds to a balance.
    deposit = AdminDeposits() { TransferRequest<'_> } -> TransferAnswer;
    /// Takes from a balance at once.
    pay_out = AdminPayOut() { TransferRequest<'_> } -> TransferAnswer;
    /// Lists withdrawals of all accounts.
    all_withdrawals = AdminWithdrawals() ? { WithdrawalsQuery<'_> } -> WithdrawalsAnswer;
    /// Confirms that a withdrawal was paid out.
    approve_withdrawal = AdminWithdrawalApprove(id) { ApproveRequest<'_> } -> WithdrawalAnswer;
    /// Refuses a withdrawal.
    reject_withdrawal = AdminWithdrawalReject(id) { RejectRequest<'_> } -> WithdrawalAnswer;
    /// Reads commands of operators, oldest first, a page at a time.
    audit = AdminAudit() ? { AuditQuery } -> AuditAnswer;
    /// Makes the statements of all members.
    run_statements = AdminStatementsRun() -> StatementRunAnswer;
    /// Lists runs of statements.
    statement_runs = AdminStatementRuns() ? { StatementRunsQuery } -> StatementRunsAnswer;
    /// Lists all keys.
    keys = AdminKeys() -> KeysAnswer;
    /// Creates a key. Its secret is in the answer, once.
    create_key = AdminKeyCreate() { KeyCreateRequest<'_> } -> KeyAnswer;
    /// Replaces the secret of a key.
    rotate_key = AdminKeyRotate(id) { KeyRotateRequest } -> KeyAnswer;
    /// Revokes a key.
    revoke_key = AdminKeyRevoke(id) -> KeyAnswer;
    /// Makes a snapshot.
    snapshot = AdminSnapshot() -> SnapshotAnswer;
    /// Puts a version of the rules in force.
    set_rules_version = AdminRulesVersion() { RulesVersionRequest } -> RulesVersionAnswer;
    /// Makes a backup.
    backup = AdminBackup() { BackupRequest<'_> } -> BackupAnswer;
    /// Accepts a step of the clock.
    accept_clock = AdminClockAccept() -> ClockAnswer;
}

// Topics.
endpoints! {
    /// Lists the topics that the key may see.
    topics = QueueTopics() -> TopicsAnswer;
    /// Creates a topic.
    create_topic = QueueCreate() { TopicRequest<'_> } -> TopicInfo;
    /// Shows a topic and its groups.
    topic = QueueTopic(topic) -> TopicInfo;
    /// Deletes a topic with everything in it.
    delete_topic = QueueDelete(topic) -> Nothing;
    /// Creates a group of a topic.
    create_group = QueueGroupCreate(topic) { GroupRequest<'_> } -> TopicInfo;
    /// Deletes a group.
    delete_group = QueueGroupDelete(topic, group) -> Nothing;
    /// Publishes messages.
    publish = QueuePublish(topic) ? { PublishQuery<'_> } { PublishRequest } -> PublishedAnswer;
    /// Publishes and acknowledges messages, together or not at all.
    commit = QueueTransaction() { TransactionRequest<'_> } -> TransactionAnswer;
    /// Reads messages without a group.
    read = QueueRead(topic) ? { ReadQuery<'_> } -> MessagesAnswer<'static>;
    /// Fetches messages as a consumer of a group.
    fetch = QueueFetch(topic, group) { FetchRequest<'_> } -> FetchedAnswer<'static>;
    /// Acknowledges messages.
    ack = QueueAck(topic, group) { SettleRequest<'_> } -> SettledAnswer;
    /// Gives messages back.
    nack = QueueNack(topic, group) { NackRequest<'_> } -> SettledAnswer;
    /// Extends the leases of messages.
    extend = QueueExtend(topic, group) { ExtendRequest<'_> } -> SettledAnswer;
    /// Lists the leased messages of a group.
    leases = QueueLeases(topic, group) ? { LeasesQuery<'_> } -> LeasesAnswer;
    /// Leaves a group.
    leave = QueueLeave(topic, group, consumer) -> Nothing;
    /// Lists dead letters.
    dead_letters = QueueDeadLetters(topic) ? { DeadLettersQuery } -> DeadLettersAnswer<'static>;
    /// Publishes dead letters again on the topics that they came from.
    redrive = QueueRedrive(topic) ? { RedriveQuery<'_> } -> RedriveAnswer;
    /// Drops all messages of a topic.
    purge = QueuePurge(topic) -> PurgeAnswer;
}

// The depot.
endpoints! {
    /// Lists files of a tenant, a page at a time.
    files = DepotFiles(tenant) ? { DepotFilesQuery<'_> } -> DepotFilesAnswer;
    /// Describes a file.
    file = DepotInfo(tenant, id) -> DepotFile;
    /// Describes the file that is kept under a path.
    kept_file = DepotShelf(tenant) ? { DepotShelfQuery<'_> } -> DepotFile;
    /// Deletes a file that is not claimed.
    delete_file = DepotDelete(tenant, id) -> Nothing;
    /// Makes a link that permits one request to everyone who has it.
    link = DepotLink(tenant) { DepotLinkRequest<'_> } -> DepotLinkAnswer;
    /// Claims files of a tenant.
    claim_files = DepotClaim(tenant) { DepotClaimRequest } -> DepotClaimsAnswer<'static>;
    /// Claims files of one of the tenants that the key works for.
    claim_any_files = DepotClaimAny() { DepotClaimRequest } -> DepotClaimsAnswer<'static>;
    /// Makes claims last longer.
    renew_claims = DepotRenew() { DepotRenewRequest<'_> } -> DepotRenewedAnswer;
    /// Ends claimed files as completed.
    complete_claims = DepotComplete() { DepotSettleRequest<'_> } -> DepotSettledAnswer;
    /// Gives claimed files back as failed.
    fail_claims = DepotFail() { DepotFailRequest<'_> } -> DepotSettledAnswer;
    /// Makes claimed files dead letters.
    refuse_claims = DepotRefuse() { DepotRefuseRequest<'_> } -> DepotSettledAnswer;
    /// Gives claimed files back as if they had not been claimed.
    return_claims = DepotReturn() { DepotSettleRequest<'_> } -> DepotSettledAnswer;
    /// Lists dead letters of a tenant.
    dead_files = DepotDeadLetters(tenant) ? { DepotDeadLettersQuery } -> DepotDeadLettersAnswer;
    /// Lets dead letters of a tenant be claimed again.
    redrive_files = DepotRedrive(tenant) ? { DepotRedriveQuery } -> DepotRedriveAnswer;
    /// Lists the tenants to which the key has a right, a page at a time.
    tenants = DepotTenants() ? { DepotTenantsQuery<'_> } -> DepotTenantsAnswer;
    /// Shows a tenant.
    tenant = DepotTenantShow(tenant) -> DepotTenant;
    /// Creates a tenant, or sets its quota.
    set_tenant = DepotTenantSet(tenant) { DepotTenantRequest } -> DepotTenant;
    /// Deletes a tenant with all its files, in the background.
    delete_tenant = DepotTenantDelete(tenant) -> Nothing;
    /// Enables a tenant.
    enable_tenant = DepotTenantEnable(tenant) -> DepotTenant;
    /// Disables a tenant.
    disable_tenant = DepotTenantDisable(tenant) -> DepotTenant;
    /// Drains a tenant.
    drain_tenant = DepotTenantDrain(tenant) -> DepotTenant;
    /// Sets what becomes of the files of a directory, and its quota.
    set_directory = DepotDirectories(tenant) { DepotDirectoryRequest<'_> } -> DepotTenant;
    /// Lists volumes.
    volumes = DepotVolumes() -> DepotVolumesAnswer;
    /// Mounts a volume.
    mount_volume = DepotMount() { DepotVolumeRequest<'_> } -> DepotVolume;
    /// Drains a volume.
    drain_volume = DepotVolumeDrain(volume) -> DepotVolume;
    /// Ends the draining of a volume.
    undrain_volume = DepotVolumeUndrain(volume) -> DepotVolume;
    /// Unmounts a volume that has no files.
    unmount_volume = DepotUnmount(volume) -> Nothing;
    /// Lists watched folders.
    watches = DepotWatches() -> DepotWatchesAnswer;
    /// Watches a folder of the venue's machine.
    add_watch = DepotWatchAdd() { DepotWatchRequest<'_> } -> DepotWatch;
    /// Enables a watch.
    enable_watch = DepotWatchEnable(watch) -> DepotWatch;
    /// Disables a watch.
    disable_watch = DepotWatchDisable(watch) -> DepotWatch;
    /// Scans the folder of a watch.
    scan_watch = DepotWatchScan(watch) -> DepotScan;
    /// Ends a watch.
    remove_watch = DepotWatchRemove(watch) -> Nothing;
    /// Shows what the scrub read, and the damaged files.
    scrub = DepotScrub() -> DepotScrubAnswer;
    /// Makes files of quarantined bytes again.
    adopt_files = DepotAdopt() { DepotAdoptRequest } -> DepotAdoptAnswer;
}

/// The body of a batch with rows that are not text yet.
#[derive(Serialize)]
struct Rows<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<AccountId>,
    rows: &'a [BatchRow<'a>],
}

impl Client {
    /// Enters, cancels and amends orders in one request, each decided by itself. `account` applies
    /// to rows that name none.
    ///
    /// # Errors
    /// If the venue refused the whole request, or no usable answer came. The result of each row is
    /// in the answer.
    pub async fn batch(
        &self,
        account: Option<AccountId>,
        rows: &[BatchRow<'_>],
    ) -> Result<BatchAnswer, ClientError> {
        self.call(Route::Batch, &[], &Nothing {}, Some(&Rows { account, rows })).await
    }

    /// Returns whether commands are accepted. A venue that is not ready is not an error.
    ///
    /// # Errors
    /// No usable answer came.
    pub async fn ready(&self) -> Result<ReadyAnswer, ClientError> {
        let mut answer = self.send(&HttpRequest::new(Route::Ready, &[], &Nothing {})?).await?;
        if answer.status == 503 {
            answer.status = 200;
        }
        answer.read()
    }

    /// Returns whether the process can continue. One that cannot is not an error.
    ///
    /// # Errors
    /// No usable answer came.
    pub async fn alive(&self) -> Result<AliveAnswer, ClientError> {
        let mut answer = self.send(&HttpRequest::new(Route::Alive, &[], &Nothing {})?).await?;
        if answer.status == 503 {
            answer.status = 200;
        }
        answer.read()
    }

    /// Figures in the text format of Prometheus.
    ///
    /// # Errors
    /// The venue refused, or no usable answer came.
    pub async fn metrics(&self) -> Result<String, ClientError> {
        let request = HttpRequest::new(Route::Metrics, &[], &Nothing {})?;
        let answer = self.send(&request).await?.accepted()?;
        Ok(String::from_utf8_lossy(&answer.body).into_owned())
    }

    /// Stores a file whose content is in memory.
    ///
    /// # Errors
    /// The venue refused, or no usable answer came.
    pub async fn put_file(
        &self,
        tenant: &str,
        query: &DepotPutQuery<'_>,
        content_type: &'static str,
        content: Bytes,
    ) -> Result<DepotFile, ClientError> {
        let body = Some((content_type, content));
        self.call_packed(Route::DepotPut, &[tenant], query, body, None).await?.read()
    }

    /// Reads the content of a file into memory, up to
    /// [`answer_bytes_max`](crate::ClientOptions::answer_bytes_max).
    ///
    /// # Errors
    /// The venue refused, no answer came, or the content is longer.
    pub async fn get_file(&self, tenant: &str, id: &str) -> Result<Bytes, ClientError> {
        let query = DepotGetQuery::default();
        Ok(self.call_packed(Route::DepotGet, &[tenant, id], &query, None, None).await?.body)
    }

    /// Calls an endpoint whose body or answer is not JSON: messages and leases in their packed
    /// form.
    ///
    /// # Errors
    /// The venue refused, or no answer came.
    pub async fn call_packed(
        &self,
        route: Route,
        arguments: &[&str],
        query: &impl Serialize,
        body: Option<(&'static str, Bytes)>,
        accept: Option<&'static str>,
    ) -> Result<HttpAnswer, ClientError> {
        let request = HttpRequest::new(route, arguments, query)?;
        self.send(&HttpRequest { body, accept, ..request }).await?.accepted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Endpoints without one of the methods.
    const OTHERWISE: &[Route] = &[
        Route::Batch,
        Route::Ready,
        Route::Alive,
        Route::Metrics,
        Route::Stream,
        Route::QueueStream,
        Route::DepotPut,
        Route::DepotGet,
        Route::DepotCompleteWith,
        Route::None,
    ];

    #[test]
    fn every_endpoint_has_a_method() {
        let source = include_str!("endpoints.rs");
        for route in Route::ALL.iter().filter(|route| !OTHERWISE.contains(route)) {
            assert!(source.contains(&format!("= {route:?}(")), "{route:?} has no method");
        }
    }
}
