//! Makes the baseline of a feed from the state of a core.

use rialto_engine::{Core, OrderState};
use rialto_feed::{
    Baseline, BaselineAccount, BaselineBalance, BaselineEnded, BaselineInstrument, BaselineOrder,
    BegunTransition, BreakerView, LimitStateView, LinksView, MemberView, Moment, TimetableView,
    WithdrawalView,
};
use rialto_model::{
    AccountId, Amount, NewOrder, OrderKind, OrderSize, Price, Quantity, Side, Timestamp,
};

/// The baseline of a feed that continues after this core's state. The core must have no order whose
/// matching is suspended.
#[must_use]
pub fn baseline_of(core: &Core) -> Baseline {
    let holders = core.accounts().map(|account| account.id);
    let balances = holders.chain([AccountId::FEES, AccountId::TRANSIT]).flat_map(|account| {
        core.currencies().iter().filter_map(move |currency| {
            let balance = core.balance(account, currency.id)?;
            let (available, reserved) = (balance.available, balance.reserved);
            (available != Amount::ZERO || reserved != Amount::ZERO).then_some(BaselineBalance {
                account,
                currency: currency.id,
                available,
                reserved,
            })
        })
    });
    let instruments = core.instruments().map(|view| BaselineInstrument {
        instrument: view.instrument.id,
        spec: view.instrument.spec,
        state: view.instrument.state,
        last_price: (view.last_price != Price::ZERO).then_some(view.last_price),
        auction_rules: *view.auction_rules,
        terms: *view.terms,
        auction_price: (view.auction_price != Price::ZERO).then_some(view.auction_price),
        calendar: view.calendar,
        halted_until: view.halted_until,
        limit_state: view.limit_state.map(|(side, until)| LimitStateView { side, until }),
    });
    let members = core.members().iter();
    let accounts = core.accounts().map(|account| BaselineAccount {
        account: account.id,
        member: account.member,
        name: account.name,
        dead_man: account.dead_man_due,
    });
    let books = core.instruments().flat_map(|view| {
        let id = view.instrument.id;
        let resting = core.orders(id, Side::Buy).chain(core.orders(id, Side::Sell));
        resting.chain(core.waiting_orders(id))
    });
    let withdrawals = core.withdrawals().into_iter().map(|held| WithdrawalView {
        account: held.transfer.account,
        currency: held.transfer.currency,
        amount: held.transfer.amount,
        reference: held.transfer.reference,
        held: Moment { seq: held.seq, time: held.held_at },
    });
    let ended = core.ended_orders().map(|ended| BaselineEnded {
        order: ended.order,
        terms: ended.terms,
        done: ended.reason,
        filled: ended.filled,
        remaining: ended.remaining,
        ended: Moment { seq: ended.seq, time: ended.time },
    });
    let calendars = core.calendars().map(|calendar| TimetableView {
        name: calendar.name,
        digest: calendar.digest,
        begun: calendar.begun.map(|it| BegunTransition { at: it.at, state: it.state }),
        planned: calendar.ahead.iter().copied().collect(),
        plan: calendar.draft.to_vec(),
        breaker: calendar.breaker.map(|(rule, is_armed)| BreakerView { rule, is_armed }),
    });
    Baseline {
        seq: core.seq(),
        time: core.time(),
        currencies: core.currencies().to_vec(),
        instruments: instruments.collect(),
        members: members.map(|it| MemberView { member: it.id, name: it.name }).collect(),
        accounts: accounts.collect(),
        balances: balances.collect(),
        orders: books.map(|order| baseline_order(&order)).collect(),
        ended: ended.collect(),
        withdrawals: withdrawals.collect(),
        restrictions: core.restrictions().collect(),
        calendars: calendars.collect(),
    }
}

/// The baseline of an order that rests or waits for its trigger.
#[must_use]
pub fn baseline_order(order: &OrderState) -> BaselineOrder {
    let never = order.expire_at == Timestamp::MAX;
    let waits = order.trigger.is_some() || order.trail.is_some();
    let rests_later = waits && !order.time_in_force.trades_at_once();
    BaselineOrder {
        order: order.id,
        terms: NewOrder {
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            kind: match order.is_market && !rests_later {
                true => OrderKind::Market,
                false => OrderKind::Limit,
            },
            time_in_force: order.time_in_force,
            post_only: order.post_only,
            self_trade: Some(order.self_trade),
            handling: order.handling,
            size: OrderSize::Base(order.quantity),
            price: order.price,
            minimum_quantity: Quantity::ZERO,
            expire_at: if never { Timestamp::ZERO } else { order.expire_at },
            client_order_id: order.client_order_id,
        },
        quantity: order.quantity,
        filled: Quantity(order.quantity.0 - order.remaining.0),
        remaining: order.remaining,
        reserved: order.reserved,
        resting: !waits,
        trigger: order.trigger,
        trail: order.trail,
        iceberg: order.iceberg,
        links: order.links.map(|links| LinksView {
            list: links.list,
            other: links.other,
            take_profit: links.take_profit,
            stop_loss: links.stop_loss,
        }),
    }
}
