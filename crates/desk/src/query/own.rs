//! What is an account's own, and whose accounts are whose.

use super::ask::read;
use super::{AsOf, Known, Question, Unanswered};
use crate::{Grant, Needs, Scope};
use rialto_bus::{Context, Handler, Query, Request, Result};
use rialto_feed::{AccountView, BalanceView, Feed, Fill, OrderView, Role};
use rialto_model::{
    AccountId, InstrumentId, MemberId, OrderId, OrderRef, RejectReason, Seq, TradeId,
};

type Answered<T> = std::result::Result<T, Unanswered>;

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// What stands on it.
    pub rows: Vec<T>,
    /// Whether another page follows.
    pub has_more: bool,
}

impl<T> Page<T> {
    fn of(rows: impl Iterator<Item = T>, limit: usize) -> Page<T> {
        // One more than a page tells whether another follows.
        let mut rows: Vec<T> = rows.take(limit.saturating_add(1)).collect();
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        Page { rows, has_more }
    }

    /// The last row, if another page follows it.
    #[must_use]
    pub fn next_after(&self) -> Option<&T> {
        self.rows.last().filter(|_| self.has_more)
    }
}

/// An order of an account, open or remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindOrder {
    /// Whose.
    pub account: AccountId,
    /// Which.
    pub order: OrderRef,
}

impl Question for FindOrder {
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
        own.ok_or(Unanswered::Unknown(RejectReason::UnknownOrder))
    }
}

/// An order that may have been entered a moment ago, for a caller who may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentifyOrder {
    /// Whose.
    pub account: AccountId,
    /// Which.
    pub order: OrderRef,
    /// How much has to be known.
    pub known: Wanted,
}

/// How much has to be known before an order is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The order; if it is not known yet, all that has been released by now.
    Order,
    /// Everything up to this command.
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

impl Handler<IdentifyOrder> for Known {
    async fn handle(&self, wanted: IdentifyOrder, _: &Context<'_>) -> Result<AsOf<OrderView>> {
        let find = FindOrder { account: wanted.account, order: wanted.order };
        if let Wanted::Through(seq) = wanted.known {
            let _ = self.wait_for(seq).await;
        }
        if let Ok(found) = read(&self.live, &find) {
            return Ok(found);
        }
        match wanted.known {
            Wanted::Through(_) => {}
            Wanted::Order => self.catch_up().await,
        }
        Ok(read(&self.live, &find)?)
    }
}

/// Orders of an account: the open ones by id, or the ended ones, the last to end first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListOrders {
    /// Whose.
    pub account: AccountId,
    /// Only of this instrument.
    pub instrument: Option<InstrumentId>,
    /// The ended ones, as far as they are remembered.
    pub ended: bool,
    /// Only what follows this one.
    pub after: Option<OrderId>,
    /// At most so many.
    pub limit: usize,
}

impl Question for ListOrders {
    type Answer = Page<OrderView>;
    const NAME: &'static str = "list_orders";

    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.permit(Scope::Read, self.account)?)
    }

    fn read(&self, feed: &Feed) -> Answered<Page<OrderView>> {
        let wanted =
            |order: &OrderView| self.instrument.is_none_or(|id| order.terms.instrument == id);
        Ok(if self.ended {
            let mut orders = feed.ended_orders(self.account);
            if let Some(after) = self.after {
                orders.by_ref().find(|order| order.order == after);
            }
            Page::of(orders.filter(wanted), self.limit)
        } else {
            let orders = feed.open_orders(self.account);
            let orders = orders.filter(|order| self.after.is_none_or(|after| order.order > after));
            Page::of(orders.filter(wanted), self.limit)
        })
    }
}

/// Names a fill. A trade of an account with itself makes two fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillCursor {
    /// The trade.
    pub trade: TradeId,
    /// Which side of it.
    pub role: Role,
}

impl FillCursor {
    /// The name of a fill.
    #[must_use]
    pub fn of(fill: &Fill) -> FillCursor {
        FillCursor { trade: fill.trade, role: fill.role }
    }
}

/// Fills of an account, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListFills {
    /// Whose.
    pub account: AccountId,
    /// Only of this instrument.
    pub instrument: Option<InstrumentId>,
    /// Only what was before this one.
    pub before: Option<FillCursor>,
    /// At most so many.
    pub limit: usize,
}

impl Question for ListFills {
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
            return Err(Unanswered::FillForgotten);
        }
        let wanted = |fill: &&Fill| self.instrument.is_none_or(|id| fill.instrument == id);
        Ok(Page::of(fills.filter(wanted).copied(), self.limit))
    }
}

/// What an account has, by currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetBalances {
    /// Whose.
    pub account: AccountId,
}

impl Question for GetBalances {
    type Answer = Vec<BalanceView>;
    const NAME: &'static str = "get_balances";

    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.permit(Scope::Read, self.account)?)
    }

    fn read(&self, feed: &Feed) -> Answered<Vec<BalanceView>> {
        Ok(feed.balances(self.account).collect())
    }
}

/// The accounts of a member, by id; for operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListAccounts {
    /// Whose.
    pub member: MemberId,
}

impl Question for ListAccounts {
    type Answer = Vec<AccountView>;
    const NAME: &'static str = "list_accounts";

    fn check(&self, grant: &Grant) -> Result<()> {
        Ok(grant.require(Scope::Admin)?)
    }

    fn read(&self, feed: &Feed) -> Answered<Vec<AccountView>> {
        let unknown = Unanswered::Unknown(RejectReason::UnknownMember);
        feed.member(self.member).ok_or(unknown)?;
        Ok(feed.accounts_of(self.member).collect())
    }
}
