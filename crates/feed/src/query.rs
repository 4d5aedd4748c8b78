//! Queries of a feed. Every answer is as of [`Feed::seq`].

use crate::view::{
    AccountChanges, AccountView, BalanceView, BestPrices, Depth, Fill, MemberView, NotRemembered,
    OpenOrderCounts, OrderBook, OrderView, PublicTrade, Ticker,
};
use crate::{Feed, accounts::Account, market::Market};
use rialto_model::{
    AccountId, ClientOrderId, Currency, CurrencyCode, CurrencyId, Instrument, InstrumentId,
    MemberId, OrderId, Seq, Side, Symbol, Timestamp,
};

/// Members, accounts, currencies and instruments.
impl Feed {
    /// All currencies, by number.
    #[must_use]
    pub fn currencies(&self) -> &[Currency] {
        &self.currencies
    }

    /// The currency with this number.
    #[must_use]
    pub fn currency(&self, currency: CurrencyId) -> Option<Currency> {
        self.currencies.get(usize::from(currency.0).wrapping_sub(1)).copied()
    }

    /// How many orders are open.
    #[must_use]
    pub fn open_order_counts(&self) -> OpenOrderCounts {
        self.orders.open_counts()
    }

    /// The currency with this code.
    #[must_use]
    pub fn currency_by_code(&self, code: &CurrencyCode) -> Option<Currency> {
        self.currencies.iter().find(|currency| currency.code == *code).copied()
    }

    /// All instruments, by number, with their rules and states.
    pub fn instruments(&self) -> impl Iterator<Item = &Instrument> {
        self.markets.iter().map(|market| &market.instrument)
    }

    /// The instrument with this number.
    #[must_use]
    pub fn instrument(&self, instrument: InstrumentId) -> Option<&Instrument> {
        self.market(instrument).map(|market| &market.instrument)
    }

    /// The instrument with this symbol.
    #[must_use]
    pub fn instrument_by_symbol(&self, symbol: &Symbol) -> Option<&Instrument> {
        self.symbols.get(symbol).and_then(|id| self.instrument(*id))
    }

    /// All members, by id.
    pub fn members(&self) -> impl Iterator<Item = &MemberView> {
        self.accounts.members.values()
    }

    /// The member with this id.
    #[must_use]
    pub fn member(&self, member: MemberId) -> Option<&MemberView> {
        self.accounts.members.get(&member)
    }

    /// The accounts of a member, by id.
    pub fn accounts_of(&self, member: MemberId) -> impl Iterator<Item = AccountView> + '_ {
        self.accounts.of_member(member).map(|account| self.account_view(account))
    }

    /// All members' accounts, in order of opening.
    pub fn accounts(&self) -> impl Iterator<Item = AccountView> + '_ {
        let members = self.accounts.slots.iter().filter(|account| !account.account.is_house());
        members.map(|account| self.account_view(account))
    }

    /// The member's account with this id.
    #[must_use]
    pub fn account(&self, account: AccountId) -> Option<AccountView> {
        let account = self.accounts.get(account)?;
        (!account.account.is_house()).then(|| self.account_view(account))
    }

    fn account_view(&self, account: &Account) -> AccountView {
        let due = account.dead_man;
        AccountView {
            account: account.account,
            member: account.member,
            name: account.name,
            open_orders: account.open.len(),
            // A timer whose time has come has fired, which switches it off.
            dead_man: (due != Timestamp::MAX && due > self.now.time).then_some(due),
        }
    }

    pub(crate) fn market(&self, instrument: InstrumentId) -> Option<&Market> {
        self.markets.get((instrument.0 as usize).wrapping_sub(1))
    }
}

/// Market data, which is public.
impl Feed {
    /// The best `levels` prices of each side; `None` if there is no such instrument.
    #[must_use]
    pub fn depth(&self, instrument: InstrumentId, levels: usize) -> Option<Depth> {
        let market = self.market(instrument)?;
        Some(Depth {
            instrument,
            last_seq: market.book.last_delta,
            bids: market.public_levels(Side::Buy).take(levels).collect(),
            asks: market.public_levels(Side::Sell).take(levels).collect(),
        })
    }

    /// The first `orders` orders of each side, none while not all of the book is published; `None` if
    /// there is no such instrument.
    #[must_use]
    pub fn order_book(&self, instrument: InstrumentId, orders: usize) -> Option<OrderBook> {
        let market = self.market(instrument)?;
        let book = &market.book;
        let orders = if market.cover.is_some() { 0 } else { orders };
        let side =
            |side| book.orders(side, &self.orders.slab).take(orders).map(Into::into).collect();
        let (bids, asks) = (side(Side::Buy), side(Side::Sell));
        Some(OrderBook { instrument, last_seq: book.last_delta, bids, asks })
    }

    /// The best price of each side.
    #[must_use]
    pub fn best_prices(&self, instrument: InstrumentId) -> Option<BestPrices> {
        self.market(instrument).map(Market::best)
    }

    /// The last trades, newest first, as far as they are remembered; none if there is no such
    /// instrument.
    pub fn trades(&self, instrument: InstrumentId) -> impl Iterator<Item = &PublicTrade> {
        self.market(instrument).into_iter().flat_map(|market| market.trades.iter().rev())
    }

    /// The last 24 hours.
    #[must_use]
    pub fn ticker(&self, instrument: InstrumentId) -> Option<Ticker> {
        self.market(instrument).map(|market| market.ticker(self.now))
    }
}

/// Data private to an account (or, of a house account, to the operator).
impl Feed {
    /// An order that is open or remembered. Its terms have its account.
    #[must_use]
    pub fn order(&self, order: OrderId) -> Option<OrderView> {
        self.orders.slot(order).map(|slot| self.orders.slab[slot as usize].view(&self.markets))
    }

    /// The last order that the account entered under this name, if it is open or remembered.
    #[must_use]
    pub fn order_by_client_id(
        &self,
        account: AccountId,
        client_order_id: ClientOrderId,
    ) -> Option<OrderView> {
        self.orders.by_client(account, client_order_id).map(|order| order.view(&self.markets))
    }

    /// The account's open orders, by id.
    pub fn open_orders(&self, account: AccountId) -> impl Iterator<Item = OrderView> + '_ {
        let account = self.accounts.get(account).into_iter();
        account
            .flat_map(|account| account.open.iter(&self.orders.slab))
            .map(|order| order.view(&self.markets))
    }

    /// The account's orders that ended and are remembered, the last to end first.
    pub fn ended_orders(&self, account: AccountId) -> impl Iterator<Item = OrderView> + '_ {
        let account = self.accounts.get(account).into_iter();
        let orders = account.flat_map(|account| account.ended.newest_first());
        orders.map(|ended| self.orders.slab[ended.slot as usize].view(&self.markets))
    }

    /// The account's fills, newest first, as far as they are remembered.
    pub fn fills(&self, account: AccountId) -> impl Iterator<Item = &Fill> {
        let account = self.accounts.get(account).into_iter();
        account.flat_map(|account| self.fills.newest_first(account))
    }

    /// The balances of the account, by currency; zero balances are left out.
    pub fn balances(&self, account: AccountId) -> impl Iterator<Item = BalanceView> + '_ {
        let all = self.accounts.get(account).into_iter().flat_map(Account::balances);
        all.filter(|balance| balance.available.0 != 0 || balance.reserved.0 != 0)
    }

    /// The balance of the account in a currency; `None` if there is no such account or currency.
    #[must_use]
    pub fn balance(&self, account: AccountId, currency: CurrencyId) -> Option<BalanceView> {
        self.currency(currency)?;
        self.accounts.get(account).map(|account| account.balance(currency))
    }

    /// The changes of an account after `seq`, in their present state: together with the state as of
    /// `seq` they give the state as of [`Feed::seq`]. `Ok(None)` if there is no such account.
    pub fn changes_since(
        &self,
        account: AccountId,
        seq: Seq,
    ) -> Result<Option<AccountChanges>, NotRemembered> {
        let Some(account) = self.accounts.get(account) else { return Ok(None) };
        let oldest = self.since.max(account.forgotten_orders).max(account.forgotten_fills);
        if !(oldest..=self.now.seq).contains(&seq) {
            return Err(NotRemembered { oldest, newest: self.now.seq });
        }
        let slab = &self.orders.slab;
        let mut orders: Vec<OrderView> = account
            .open
            .iter(slab)
            .filter(|order| order.updated.seq > seq)
            .map(|order| order.view(&self.markets))
            .collect();
        let ended = account.ended.newest_first().take_while(|ended| ended.seq > seq);
        let mut ended: Vec<_> =
            ended.map(|ended| slab[ended.slot as usize].view(&self.markets)).collect();
        ended.reverse();
        orders.append(&mut ended);
        let fills = self.fills.newest_first(account).take_while(|fill| fill.at.seq > seq);
        let mut fills: Vec<_> = fills.copied().collect();
        fills.reverse();
        let balances = account.balances().filter(|balance| balance.updated > seq).collect();
        Ok(Some(AccountChanges { seq: self.now.seq, orders, fills, balances }))
    }
}
