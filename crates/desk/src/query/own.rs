//! Queries about accounts and members.

use super::read_feed::read;
use super::{AsOf, FeedQuery, QueryError, QueryHandler};
use crate::{Grant, Needs, Scope};
use rialto_bus::{Context, Handler, Query, Request, Result};
use rialto_feed::{
    AccountRestriction, AccountView, BalanceView, Feed, Fill, OrderView, RestrictionKey,
};
use rialto_model::{
    AccountId, InstrumentId, MemberId, OrderId, OrderRef, OrderStatus, RejectReason, Restrict, Seq,
    TradeId,
};

type Answered<T> = std::result::Result<T, QueryError>;

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Whether another page follows.
    pub has_more: bool,
}

impl<T> Page<T> {
    fn of(rows: impl Iterator<Item = T>, limit: usize) -> Page<T> {
        // One row more than the limit shows whether another page follows.
        let mut rows: Vec<T> = rows.take(limit.saturating_add(1)).collect();
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        Page { rows, has_more }
    }

    /// The last row, if another page follows.
    #[must_use]
    pub fn next_after(&self) -> Option<&T> {
        self.rows.last().filter(|_| self.has_more)
    }
}

/// An order of an account, open or ended and still kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindOrder {
    /// The account.
    pub account: AccountId,
    /// The order.
    pub order: OrderRef,
}

impl FeedQuery for FindOrder {
    type Answer = OrderView;
    const NAME: &'static str = "find_order";

    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.permit(Scope::Read, self.account)?)
    }

    fn read(&self, feed: &Feed) -> Answered<OrderView> {
        let view = match self.order {
            OrderRef::Id(id) => feed.order(id),
            OrderRef::Client(name) => feed.order_by_client_id(self.account, name),
        };
        let own = view.filter(|view| view.terms.account == self.account);
        own.ok_or(QueryError::Unknown(RejectReason::UnknownOrder))
    }
}

/// An order that may have been entered just now, for a sender who may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentifyOrder {
    /// The account.
    pub account: AccountId,
    /// The order.
    pub order: OrderRef,
    /// The state to wait for.
    pub required: RequiredState,
}

/// The state to wait for before an order is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredState {
    /// The order itself; if it is missing, all commands released by now.
    Order,
    /// The state after this command.
    Through(Seq),
}

impl Request for IdentifyOrder {
    type Response = AsOf<OrderView>;
    const NAME: &'static str = "identify_order";
}

impl Query for IdentifyOrder {}

impl Needs for IdentifyOrder {
    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.permit(Scope::Trade, self.account)?)
    }
}

impl Handler<IdentifyOrder> for QueryHandler {
    async fn handle(&self, request: IdentifyOrder, _: &Context<'_>) -> Result<AsOf<OrderView>> {
        let find = FindOrder { account: request.account, order: request.order };
        if let RequiredState::Through(seq) = request.required {
            let _ = self.wait_for(seq).await;
        }
        if let Ok(found) = read(&self.live, &find) {
            return Ok(found);
        }
        match request.required {
            RequiredState::Through(_) => {}
            RequiredState::Order => self.catch_up().await,
        }
        Ok(read(&self.live, &find)?)
    }
}

/// Orders by their status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrderSelection {
    /// Open orders, the waiting ones included.
    #[default]
    Open,
    /// Conditional orders that have not been triggered.
    Waiting,
    /// Ended ones that are still kept.
    Ended,
}

/// Orders of an account: the open ones by id, or the ended ones, newest end first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListOrders {
    /// The account.
    pub account: AccountId,
    /// Only orders of this instrument.
    pub instrument: Option<InstrumentId>,
    /// Which of them.
    pub which: OrderSelection,
    /// Only orders after this one.
    pub after: Option<OrderId>,
    /// The most orders to return.
    pub limit: usize,
}

impl FeedQuery for ListOrders {
    type Answer = Page<OrderView>;
    const NAME: &'static str = "list_orders";

    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.permit(Scope::Read, self.account)?)
    }

    fn read(&self, feed: &Feed) -> Answered<Page<OrderView>> {
        let matches =
            |order: &OrderView| self.instrument.is_none_or(|id| order.terms.instrument == id);
        Ok(if self.which == OrderSelection::Ended {
            let mut orders = feed.ended_orders(self.account);
            if let Some(after) = self.after {
                orders.by_ref().find(|order| order.order == after);
            }
            Page::of(orders.filter(matches), self.limit)
        } else {
            let waiting_only = self.which == OrderSelection::Waiting;
            let orders = feed.open_orders(self.account);
            let orders =
                orders.filter(|order| !waiting_only || order.status == OrderStatus::Waiting);
            let orders = orders.filter(|order| self.after.is_none_or(|after| order.order > after));
            Page::of(orders.filter(matches), self.limit)
        })
    }
}

/// The identity of a fill. A trade of an account with itself has two fills, of two orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillCursor {
    /// The trade.
    pub trade: TradeId,
    /// The account's order.
    pub order: OrderId,
}

impl FillCursor {
    /// The identity of this fill.
    #[must_use]
    pub fn of(fill: &Fill) -> FillCursor {
        FillCursor { trade: fill.trade, order: fill.order }
    }
}

/// Fills of an account, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListFills {
    /// The account.
    pub account: AccountId,
    /// Only fills of this instrument.
    pub instrument: Option<InstrumentId>,
    /// Only fills before this one.
    pub before: Option<FillCursor>,
    /// The most fills to return.
    pub limit: usize,
}

impl FeedQuery for ListFills {
    type Answer = Page<Fill>;
    const NAME: &'static str = "list_fills";

    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.permit(Scope::Read, self.account)?)
    }

    fn read(&self, feed: &Feed) -> Answered<Page<Fill>> {
        let mut fills = feed.fills(self.account);
        if let Some(before) = self.before
            && !fills.by_ref().any(|fill| FillCursor::of(fill) == before)
        {
            return Err(QueryError::FillForgotten);
        }
        let matches = |fill: &&Fill| self.instrument.is_none_or(|id| fill.instrument == id);
        Ok(Page::of(fills.filter(matches).copied(), self.limit))
    }
}

/// The balances of an account, by currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetBalances {
    /// The account.
    pub account: AccountId,
}

impl FeedQuery for GetBalances {
    type Answer = Vec<BalanceView>;
    const NAME: &'static str = "get_balances";

    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.permit(Scope::Read, self.account)?)
    }

    fn read(&self, feed: &Feed) -> Answered<Vec<BalanceView>> {
        Ok(feed.balances(self.account).collect())
    }
}

/// The restriction of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetRestriction {
    /// The account.
    pub account: AccountId,
}

impl FeedQuery for GetRestriction {
    type Answer = AccountRestriction;
    const NAME: &'static str = "get_restriction";

    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.permit(Scope::Read, self.account)?)
    }

    fn read(&self, feed: &Feed) -> Answered<AccountRestriction> {
        let found = feed.restriction_of(self.account);
        found.ok_or(QueryError::Unknown(RejectReason::UnknownAccount))
    }
}

/// All that is restricted: the venue, then members, accounts and instruments; for operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRestrictions {
    /// Only restrictions behind this one.
    pub after: Option<RestrictionKey>,
    /// The most restrictions to return.
    pub limit: usize,
}

impl FeedQuery for ListRestrictions {
    type Answer = Page<Restrict>;
    const NAME: &'static str = "list_restrictions";

    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.require(Scope::Admin)?)
    }

    fn read(&self, feed: &Feed) -> Answered<Page<Restrict>> {
        Ok(Page::of(feed.restrictions(self.after), self.limit))
    }
}

/// The accounts of a member, by id; for operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListAccounts {
    /// The member.
    pub member: MemberId,
}

impl FeedQuery for ListAccounts {
    type Answer = Vec<AccountView>;
    const NAME: &'static str = "list_accounts";

    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.require(Scope::Admin)?)
    }

    fn read(&self, feed: &Feed) -> Answered<Vec<AccountView>> {
        let unknown = QueryError::Unknown(RejectReason::UnknownMember);
        feed.member(self.member).ok_or(unknown)?;
        Ok(feed.accounts_of(self.member).collect())
    }
}
