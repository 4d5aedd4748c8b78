//! What time itself brings about.

use super::{Alteration, ORDERS_PER_COMMAND, Order, Reference};
use rialto_model::{AccountId, DoneReason, Timestamp};

/// How late an altered reference lets orders expire.
const LATE_NS: u64 = 1_000;
/// Dead-man timers that one Tick fires.
const TIMERS_PER_COMMAND: usize = 256;

impl Reference {
    /// Whether nothing may trade with the order any more. Before rules version 2 no such order is
    /// there when anything trades.
    pub(super) fn is_dead(&self, order: &Order) -> bool {
        let late = if self.gets_wrong(Alteration::ExpiryLate) { LATE_NS } else { 0 };
        let listed = self.of(order);
        let is_forgotten = self.gets_wrong(Alteration::AuctionForgetsTheDead);
        let takes_part =
            listed.is_uncrossing() && !order.is_over(listed.uncrossing_since) && !is_forgotten;
        self.rules_version >= 2
            && order.is_over(Timestamp(self.time.0 - late))
            && !takes_part
            && !self.gets_wrong(Alteration::DeadOrdersTrade)
    }

    /// Ends the orders whose time is over, the oldest expiry first.
    pub(super) fn expire(&mut self, visited: &mut usize) {
        self.expire_until(self.time, visited);
    }

    /// Ends the orders whose time was over then. One that takes part in an auction holds up the ones
    /// after it.
    pub(super) fn expire_until(&mut self, time: Timestamp, visited: &mut usize) {
        let late = if self.gets_wrong(Alteration::ExpiryLate) { LATE_NS } else { 0 };
        let over = |order: &&Order| {
            order.expire_at > Timestamp::ZERO && order.expire_at.0 + late <= time.0
        };
        let mut expired: Vec<Order> = self.orders.iter().filter(over).copied().collect();
        expired.sort_by_key(|order| (order.expire_at, order.id));
        for order in expired {
            if *visited >= ORDERS_PER_COMMAND {
                return;
            }
            if !self.is_open_order(order.id) {
                continue;
            }
            let takes_part = {
                let listed = self.of(&order);
                listed.is_uncrossing() && !order.is_over(listed.uncrossing_since)
            };
            if takes_part && !self.gets_wrong(Alteration::AuctionForgetsTheDead) {
                return;
            }
            *visited += 1;
            self.remove(order.id);
            self.end(&order, DoneReason::Expired);
        }
    }

    /// Fires the dead-man timers that have run out, the oldest first.
    pub(super) fn fire_dead_man_timers(&mut self, visited: &mut usize) {
        let due = |timer: Option<Timestamp>| timer.filter(|due| *due <= self.time);
        let mut fired: Vec<(Timestamp, AccountId)> = self
            .accounts
            .iter()
            .filter_map(|(id, account)| Some((due(account.dead_man)?, *id)))
            .collect();
        fired.sort();
        for (_, account) in fired.into_iter().take(TIMERS_PER_COMMAND) {
            if *visited >= ORDERS_PER_COMMAND || self.cancels_are_full() {
                return;
            }
            self.account_mut(account).expect("it has a timer").dead_man = None;
            let work = self.account_work(account, DoneReason::DeadMan);
            self.begin(work, visited);
        }
    }
}
