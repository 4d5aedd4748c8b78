//! The state as bytes.

use super::formats::{
    WITH_AMENDED_TRIGGERS, WITH_AUCTIONS, WITH_CONTRACT_TERMS, WITH_ICEBERGS, WITH_LINKS,
    WITH_RESIDUES, WITH_RESUMED_PHASES, WITH_TRIGGERS,
};
use super::write_timetable::{write_calendar, write_halt, write_halting};
use super::write_triggers::write_extension;
use crate::Core;
use crate::auction::{Auction, PriceCheck, Stage};
use crate::background::{Claim, Sweep};
use crate::book::Slot;
use crate::client_ids::Remembered;
use crate::halts::{Halt, Resumed};
use crate::instruments::Market;
use crate::orders::{NIL, Role};
use crate::ranges::TimedCall;
use crate::taker::{Remaining, Taker};
use crate::work::BackgroundTask;
use rialto_model::{
    Amount, AuctionRules, ClientOrderId, ContractTerms, CurrencyId, Iceberg, LotFees, NewOrder,
    OrderSize, Outcome, Price, Quantity, Side, Text, Timestamp, TradingRules, Transfer,
};

/// Encodes values: integers little-endian, texts behind their length.
pub(super) struct Writer {
    pub(super) format: u32,
    bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }
    pub(super) fn bool(&mut self, value: bool) {
        self.u8(u8::from(value));
    }
    pub(super) fn u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }
    pub(super) fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }
    pub(super) fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }
    fn i32(&mut self, value: i32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }
    fn amount(&mut self, value: Amount) {
        self.bytes.extend_from_slice(&value.0.to_le_bytes());
    }
    pub(super) fn price(&mut self, value: Price) {
        self.bytes.extend_from_slice(&value.0.to_le_bytes());
    }
    pub(super) fn quantity(&mut self, value: Quantity) {
        self.bytes.extend_from_slice(&value.0.to_le_bytes());
    }
    pub(super) fn text<const N: usize>(&mut self, text: &Text<N>) {
        self.u8(text.len() as u8);
        self.bytes.extend_from_slice(text.as_bytes());
    }
    pub(super) fn count(&mut self, count: usize) {
        self.u32(u32::try_from(count).expect("everything is bounded far below 2^32"));
    }
}

impl Core {
    pub(super) fn content(&self) -> Vec<u8> {
        let bytes = Vec::with_capacity(1_024 + self.orders.len() * 112);
        let mut out = Writer { format: self.format(), bytes };
        self.write_counters(&mut out);
        self.write_accounts(&mut out);
        out.count(self.markets.len());
        for market in &self.markets {
            write_market(market, &mut out);
        }
        self.write_client_ids(&mut out);
        for market in &self.markets {
            for side in [Side::Buy, Side::Sell] {
                out.count(market.book.order_count(side));
                for slot in market.book.orders(&self.orders, side) {
                    self.write_order(slot, &mut out);
                }
            }
        }
        if out.format >= WITH_TRIGGERS {
            self.markets.iter().for_each(|market| self.write_triggers(&market.triggers, &mut out));
        }
        out.bool(self.urgent.is_some());
        if let Some(taker) = &self.urgent {
            self.write_taker(taker, &mut out);
        }
        if self.rules_since(2) {
            self.write_background(&mut out);
        } else {
            self.write_works(&mut out);
        }
        let transfers = self.transfers.iter();
        out.count(transfers.len());
        for remembered in transfers {
            out.u8(remembered.ended as u8);
            write_transfer(&remembered.transfer, &mut out);
        }
        let withdrawals = self.withdrawals();
        out.count(withdrawals.len());
        for held in withdrawals {
            write_transfer(&held.transfer, &mut out);
            out.u64(held.seq.0);
            out.u64(held.held_at.0);
        }
        if out.format >= WITH_RESIDUES {
            self.write_references(&mut out);
        }
        if out.format >= WITH_AUCTIONS {
            out.count(self.calendars.len());
            self.calendars.iter().for_each(|calendar| write_calendar(calendar, &mut out));
            write_halting(self.halting.as_ref(), &mut out);
        }
        if out.format >= WITH_LINKS {
            self.write_lists(&mut out);
        }
        out.bytes
    }

    /// The references that transfers are known by since rules version 2.
    fn write_references(&self, out: &mut Writer) {
        let deposits = self.deposits.iter();
        out.count(deposits.len());
        for deposit in deposits {
            write_transfer(&deposit.transfer, out);
            out.u64(deposit.time.0);
            out.u64(deposit.seq.0);
        }
        out.count(self.ended_withdrawals.len());
        for (seq, remembered) in self.ended_withdrawals.iter() {
            out.u8(remembered.ended as u8);
            write_transfer(&remembered.transfer, out);
            out.u64(seq.0);
        }
    }

    fn write_counters(&self, out: &mut Writer) {
        out.u16(self.engine.0);
        out.u32(self.rules_version);
        out.u64(self.seq.0);
        out.u64(self.time.0);
        out.u64(self.order_count);
        out.u64(self.trade_count);
        let limits = &self.limits;
        out.u32(limits.members_max);
        out.u32(limits.accounts_max);
        out.u32(limits.currencies_max);
        out.u32(limits.instruments_max);
        out.u32(limits.orders_max);
        out.u32(limits.transfers_max);
        out.u32(limits.client_ids_max);
        out.u32(limits.pending_cancels_max);
        out.u32(limits.withdrawals_max);
        out.u32(limits.account_withdrawals_max);
        if out.format >= WITH_RESIDUES {
            out.u32(limits.account_transfers_max);
            out.u32(limits.deposits_max);
            out.u32(limits.client_ids_total_max);
        }
        if out.format >= WITH_AUCTIONS {
            out.u8(self.restrictions.venue().number());
        }
    }

    fn write_accounts(&self, out: &mut Writer) {
        out.count(self.currencies.len());
        for currency in &self.currencies {
            out.text(&currency.code);
            out.u8(currency.scale.places());
            out.amount(self.ledger.fees(currency.id));
            out.amount(self.ledger.transit(currency.id));
        }
        out.count(self.accounts.members().len());
        for member in self.accounts.members() {
            out.u32(member.id.0);
            out.text(&member.name);
            if out.format >= WITH_AUCTIONS {
                out.u8(self.restrictions.member(member.id).bits());
            }
        }
        out.u32(self.accounts.len());
        for slot in 0..self.accounts.len() {
            let account = self.accounts.get(slot);
            out.u32(account.id.0);
            out.u32(account.member.0);
            out.text(&self.accounts.name(slot));
            if out.format >= WITH_AUCTIONS {
                out.u8(account.restrictions.bits());
            }
            out.u64(self.dead_men.due(slot).unwrap_or(Timestamp::MAX).0);
            let held = |id: &CurrencyId| self.ledger.balance(slot, *id) != Default::default();
            let all = || self.currencies.iter().map(|currency| currency.id).filter(held);
            out.count(all().count());
            for currency in all() {
                let balance = self.ledger.balance(slot, currency);
                out.u16(currency.0);
                out.amount(balance.available);
                out.amount(balance.reserved);
            }
        }
    }

    /// The remembered orders of every account: first those kept only for an open order, by order
    /// id, then the window in order of entry.
    fn write_client_ids(&self, out: &mut Writer) {
        for account in 0..self.accounts.len() {
            let kept: Vec<u32> = self
                .named_orders(account)
                .filter(|&at| self.client_ids.is_kept_for_order(at))
                .collect();
            out.count(kept.len());
            for at in kept {
                write_remembered(self.client_ids.get(at), out);
            }
            out.count(self.client_ids.window(account).count());
            for at in self.client_ids.window(account) {
                write_remembered(self.client_ids.get(at), out);
            }
        }
    }

    /// The entries of an account's open orders, the one on its way included, by order id.
    fn named_orders(&self, account: u32) -> impl Iterator<Item = u32> + '_ {
        let known = |slot: u32| (slot != NIL).then_some(slot);
        let head = known(self.accounts.get(account).head);
        let urgent = self.urgent.as_ref();
        let new = urgent.filter(move |taker| taker.account == account && !taker.amended);
        std::iter::successors(head, move |&slot| known(self.open.next(slot)))
            .map(move |slot| match (Slot::new(slot), urgent) {
                (None, Some(taker)) => taker.client,
                _ => self.open.get(slot).client,
            })
            .chain(new.map(|taker| taker.client))
            .filter_map(|client| client.checked_sub(1))
    }

    pub(super) fn write_order(&self, slot: Slot, out: &mut Writer) {
        let order = self.order_terms(slot);
        out.u64(order.id.0);
        out.u32(order.account.0);
        out.price(order.price);
        out.quantity(order.remaining);
        out.quantity(order.quantity);
        out.amount(order.reserved);
        out.u64(order.expire_at.0);
        out.i32(order.maker_fee_ppm);
        out.i32(order.taker_fee_ppm);
        if out.format >= WITH_RESIDUES {
            out.u32(order.fee_residue);
        }
        out.u8(order.time_in_force as u8);
        out.u8(order.post_only as u8);
        out.u8(order.self_trade as u8);
        out.u8(order.handling.bits());
        if out.format >= WITH_AUCTIONS {
            out.u8(match order.iceberg {
                None => u8::from(order.is_market),
                Some(_) => 2,
            });
        }
        if let Some(Iceberg { display_quantity, displayed }) = order.iceberg {
            out.quantity(display_quantity);
            out.quantity(displayed);
        }
        out.text(&order.client_order_id);
    }

    fn write_taker(&self, taker: &Taker, out: &mut Writer) {
        out.u64(taker.order.0);
        out.u32(self.accounts.get(taker.account).id.0);
        out.u16(taker.market);
        out.u8(taker.attributes.side as u8);
        out.u8(taker.attributes.time_in_force as u8);
        out.u8(taker.attributes.post_only as u8);
        out.u8(taker.attributes.self_trade as u8);
        out.u8(taker.attributes.unpacked_handling().bits());
        out.bool(taker.rests);
        out.bool(taker.amended);
        if out.format >= WITH_AMENDED_TRIGGERS {
            out.bool(taker.attributes.role == Role::FiveLevels);
        }
        out.price(taker.limit);
        if out.format >= WITH_AUCTIONS {
            out.price(taker.range.low);
            out.price(taker.range.high);
        }
        out.u64(taker.expire_at.0);
        match taker.want {
            Remaining::Base(remaining) => {
                out.u8(0);
                out.quantity(remaining);
            }
            Remaining::Quote { left, base_left } => {
                out.u8(1);
                out.amount(left);
                out.quantity(base_left);
            }
        }
        out.quantity(taker.filled);
        out.amount(taker.reserved);
        out.i32(taker.fees.maker_ppm());
        out.i32(taker.fees.taker_ppm());
        if out.format >= WITH_RESIDUES {
            out.u32(taker.fees.residue());
        }
        if out.format >= WITH_ICEBERGS {
            out.quantity(taker.display_quantity);
        }
        let named = taker.client.checked_sub(1).map(|at| self.client_ids.get(at));
        out.text(&named.map_or(ClientOrderId::EMPTY, |known| known.terms.client_order_id));
    }

    fn write_background(&self, out: &mut Writer) {
        out.u8(self.background.turn as u8);
        self.write_sweeps(self.background.sweeps(), out);
        let closings = self.background.closings();
        out.count(closings.len());
        closings.for_each(|market| out.u16(market));
        if out.format >= WITH_AUCTIONS {
            self.write_sweeps(self.background.held_up(), out);
            let auctions = self.background.uncrossings();
            out.count(auctions.len());
            auctions.for_each(|auction| write_auction(auction, out));
            let walks = self.background.walks();
            out.count(walks.len());
            for walk in walks {
                out.u32(walk.member.0);
                out.u32(self.accounts.get(walk.cursor).id.0);
                out.u64(walk.upto.0);
            }
        }
        if out.format >= WITH_TRIGGERS {
            let triggering = self.background.triggering();
            out.count(triggering.len());
            triggering.for_each(|market| out.u16(market));
        }
    }

    fn write_sweeps<'a>(&self, sweeps: impl ExactSizeIterator<Item = &'a Sweep>, out: &mut Writer) {
        out.count(sweeps.len());
        for sweep in sweeps {
            out.u32(self.accounts.get(sweep.account).id.0);
            out.bool(sweep.under_way);
            if out.format >= WITH_AUCTIONS {
                out.bool(sweep.left_frozen);
            }
            out.u64(match sweep.cursor {
                NIL => 0,
                slot => self.listed_id(slot).0,
            });
            let claims = sweep.claims();
            let known = if out.format >= WITH_AUCTIONS { 5 } else { 4 };
            for &claim in &claims[..known] {
                write_claim(claim, out);
            }
            let claims = || self.background.claims_of(sweep.account);
            out.count(claims().count());
            for ((_, market), claims) in claims() {
                out.u16(*market);
                claims.iter().for_each(|claim| write_claim(*claim, out));
            }
        }
    }

    fn write_works(&self, out: &mut Writer) {
        out.count(self.works.iter().len());
        for work in self.works.iter() {
            match work {
                BackgroundTask::Close(market) => {
                    out.u8(0);
                    out.u16(*market);
                }
                BackgroundTask::Cancel(cancel) => {
                    out.u8(1);
                    out.u32(self.accounts.get(cancel.account).id.0);
                    out.u32(cancel.market.map_or(0, |market| u32::from(market) + 1));
                    out.u8(cancel.side.map_or(2, |side| side as u8));
                    out.bool(cancel.on_disconnect_only);
                    out.u8(cancel.reason as u8);
                    out.u64(cancel.upto.0);
                    out.u64(match cancel.cursor {
                        NIL => 0,
                        slot => self.listed_id(slot).0,
                    });
                }
            }
        }
    }
}

fn write_claim(claim: Claim, out: &mut Writer) {
    out.u8(claim.laps);
    if claim.laps > 0 {
        out.u64(claim.upto.0);
    }
}

fn write_transfer(transfer: &Transfer, out: &mut Writer) {
    out.u32(transfer.account.0);
    out.u16(transfer.currency.0);
    out.amount(transfer.amount);
    out.text(&transfer.reference);
}

fn write_market(market: &Market, out: &mut Writer) {
    let spec = &market.instrument.spec;
    out.text(&spec.symbol);
    out.u8(spec.kind as u8);
    out.u16(spec.base.0);
    out.u16(spec.quote.0);
    out.u8(spec.price_scale.places());
    out.u8(spec.quantity_scale.places());
    out.u8(market.scales.0.places());
    out.u8(market.scales.1.places());
    write_rules(&spec.rules, out);
    out.u8(market.instrument.state as u8);
    out.price(market.last_price);
    if out.format < WITH_AUCTIONS {
        return;
    }
    write_auction_rules(&market.auction_rules, out);
    out.u64(market.seed);
    out.u64(market.calls);
    out.price(market.auction_price);
    out.price(market.grid);
    let halt_as_call = market.halt.filter(|_| out.format < WITH_RESUMED_PHASES).map(|halt| {
        let Resumed { next, extended, .. } = halt.resumed;
        TimedCall { ends: halt.until, next, extended, no_cancel_from: Timestamp::MAX }
    });
    let call = market.call.or(halt_as_call);
    out.bool(call.is_some());
    if let Some(call) = call {
        out.u64(call.ends.0);
        out.u8(call.next as u8);
        out.bool(call.extended);
        out.u64(call.no_cancel_from.0);
    }
    if out.format >= WITH_RESUMED_PHASES {
        out.bool(market.halt.is_some());
        if let Some(Halt { until, resumed }) = market.halt {
            out.u64(until.0);
            out.u8(resumed.phase as u8);
            out.u8(resumed.next as u8);
            out.u8(resumed.end as u8);
            out.bool(resumed.extended);
        }
    }
    out.bool(market.limit_state.is_some());
    if let Some(state) = &market.limit_state {
        out.u8(state.side as u8);
        out.u64(state.ends.0);
    }
    out.bool(market.halt_next.is_some());
    if let Some(halt) = &market.halt_next {
        write_halt(halt, out);
    }
    out.u64(market.uncrossing_since.0);
    out.u8(market.restriction.number());
    out.bool(market.clearing);
    out.u8(market.calendar.map_or(0, |calendar| calendar + 1));
    if out.format >= WITH_CONTRACT_TERMS {
        write_contract_terms(&market.terms, out);
    }
}

fn write_contract_terms(terms: &ContractTerms, out: &mut Writer) {
    out.amount(terms.notional_max);
    out.bool(terms.lot_fees.is_some());
    if let Some(LotFees { maker, taker, auction }) = terms.lot_fees {
        out.amount(maker);
        out.amount(taker);
        out.amount(auction);
    }
}

fn write_auction_rules(rules: &AuctionRules, out: &mut Writer) {
    out.i32(rules.fee_ppm);
    out.u8(rules.self_trade as u8);
    out.u32(rules.daily_range_ppm);
    out.u32(rules.static_range_ppm);
    out.u32(rules.dynamic_range_ppm);
    out.u32(rules.auction_range_ppm);
    out.u32(rules.extended_range_ppm);
    out.u32(rules.call_ms);
    out.u32(rules.random_end_ms);
    out.u8(rules.call_depth as u8);
    out.u32(rules.limit_range_ppm);
    out.u32(rules.limit_state_ms);
    out.u32(rules.halt_ms);
}

fn write_auction(auction: &Auction, out: &mut Writer) {
    out.u16(auction.market);
    out.u8(auction.phase as u8);
    out.u8(auction.next as u8);
    out.u8(match auction.check {
        PriceCheck::Off => 0,
        PriceCheck::First => 1,
        PriceCheck::Extended => 2,
    });
    match &auction.stage {
        Stage::Expiring => out.u8(0),
        Stage::Searching(search) => {
            out.u8(1);
            out.bool(search.began);
            out.amount(Amount(search.volume));
            for side in [&search.buys, &search.sells] {
                for price in [side.next.limit, side.best, side.last] {
                    out.price(price.unwrap_or(Price::ZERO));
                }
                out.bool(side.next.is_protection);
                out.bool(side.last_is_protection);
                out.amount(Amount(side.next.quantity));
            }
        }
        Stage::Trading(price) => {
            out.u8(2);
            out.price(*price);
        }
        Stage::Ending => out.u8(3),
    }
}

fn write_rules(rules: &TradingRules, out: &mut Writer) {
    out.price(rules.tick);
    out.quantity(rules.lot);
    out.quantity(rules.quantity_max);
    out.amount(rules.notional_min);
    out.u32(rules.collar_ppm);
    out.price(rules.reference_price);
    out.u32(rules.market_protection_ppm);
    out.i32(rules.maker_fee_ppm);
    out.i32(rules.taker_fee_ppm);
    out.u8(rules.self_trade as u8);
    out.u32(rules.open_orders_max);
    out.u32(rules.day_end_s);
    out.bool(rules.risk);
}

fn write_remembered(remembered: &Remembered, out: &mut Writer) {
    write_terms(&remembered.terms, out);
    if out.format >= WITH_TRIGGERS {
        write_extension(remembered.extension.as_ref(), out);
    }
    match remembered.answer {
        Outcome::Rejected { reason } => {
            out.u8(0);
            out.u8(reason as u8);
        }
        Outcome::Order { order, status, price, filled, remaining, .. } => {
            out.u8(1);
            out.u64(order.0);
            out.u8(status as u8);
            out.price(price);
            out.quantity(filled);
            out.quantity(remaining);
        }
        _ => unreachable!("the answer to an order is an order or a refusal"),
    }
    if out.format < WITH_RESIDUES {
        return;
    }
    out.bool(remembered.end.is_some());
    if let Some(end) = &remembered.end {
        out.u64(end.seq.0);
        out.u64(end.time.0);
        out.u8(end.reason.map_or(255, |reason| reason as u8));
        out.price(end.price);
        out.u8(end.self_trade as u8);
        out.u64(end.expire_at.0);
        out.quantity(end.filled);
        out.quantity(end.remaining);
    }
}

/// The account is not written: it is that of the list that holds the terms.
fn write_terms(terms: &NewOrder, out: &mut Writer) {
    out.text(&terms.client_order_id);
    out.u32(terms.instrument.0);
    out.u8(terms.side as u8);
    out.u8(terms.kind as u8);
    out.u8(terms.time_in_force as u8);
    out.u8(terms.post_only as u8);
    out.u8(terms.self_trade.map_or(255, |mode| mode as u8));
    out.u8(terms.handling.bits());
    match terms.size {
        OrderSize::Base(quantity) => {
            out.u8(0);
            out.quantity(quantity);
        }
        OrderSize::Quote(amount) => {
            out.u8(1);
            out.amount(amount);
        }
    }
    out.price(terms.price);
    out.u64(terms.expire_at.0);
    if out.format >= WITH_CONTRACT_TERMS {
        out.quantity(terms.minimum_quantity);
    }
}
