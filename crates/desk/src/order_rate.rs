//! The orders that each member may enter in a second.

use crate::desk::enters_order;
use crate::{TokenBucket, TokenRate};
use rialto_model::{Command, MemberId};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The allowance of each member. A member is added with its first order, so that the table is bounded
/// by the number of members. The desks of a venue share one, so that a member has one allowance
/// over all its keys and files.
#[derive(Debug)]
pub struct OrderRate {
    /// `None` without a limit.
    rate: Option<TokenRate>,
    began: Instant,
    members: RwLock<HashMap<MemberId, TokenBucket>>,
}

impl OrderRate {
    /// Limits each member to this many orders and amendments a second, with a burst of the same size.
    /// 0 sets no limit.
    #[must_use]
    pub fn new(per_second: u32) -> OrderRate {
        let rate = (per_second > 0).then(|| TokenRate::new(per_second, per_second));
        OrderRate { rate, began: Instant::now(), members: RwLock::default() }
    }

    /// Counts an order or an amendment of a member; false beyond the limit. All other commands pass
    /// uncounted, and those of no member: the venue itself.
    pub(crate) fn admits(&self, member: Option<MemberId>, command: &Command) -> bool {
        self.admits_at(member, command, self.began.elapsed())
    }

    fn admits_at(&self, member: Option<MemberId>, command: &Command, now: Duration) -> bool {
        match (self.rate, member) {
            (Some(rate), Some(member)) if enters_order(command) => {
                self.bucket(member).take(rate, now)
            }
            _ => true,
        }
    }

    /// Returns what was taken for a command that was not submitted.
    pub(crate) fn give_back(&self, member: Option<MemberId>, command: &Command) {
        if let (Some(rate), Some(member)) = (self.rate, member)
            && enters_order(command)
        {
            self.bucket(member).give_back(rate, 1);
        }
    }

    fn bucket(&self, member: MemberId) -> TokenBucket {
        // The lock for reading must be free before the one for writing is taken.
        let known = {
            let members = self.members.read().unwrap_or_else(PoisonError::into_inner);
            members.get(&member).cloned()
        };
        known.unwrap_or_else(|| {
            let mut members = self.members.write().unwrap_or_else(PoisonError::into_inner);
            members.entry(member).or_default().clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_model::{
        AccountId, Amend, AmendTrigger, InstrumentId, MassCancel, NewOrder, OrderId, OrderRef,
        Price, Quantity, Side,
    };

    fn place() -> Command {
        let (account, instrument) = (AccountId(1), InstrumentId(1));
        Command::Place(NewOrder::limit(account, instrument, Side::Buy, Quantity(1), Price(1)))
    }

    #[test]
    fn a_member_has_its_rate_and_cancels_pass() {
        let orders = OrderRate::new(2);
        let (one, other) = (Some(MemberId(1)), Some(MemberId(2)));
        let at = |member, ms| orders.admits_at(member, &place(), Duration::from_millis(ms));
        assert_eq!([at(one, 0), at(one, 0), at(one, 0)], [true, true, false]);
        assert!(at(other, 0), "another member has its own");
        let (account, instrument, side) = (AccountId(1), None, None);
        let cancel = Command::MassCancel(MassCancel { account, instrument, side });
        assert!(orders.admits_at(one, &cancel, Duration::ZERO));
        assert_eq!([at(one, 400), at(one, 500), at(one, 500)], [false, true, false]);
    }

    #[test]
    fn amendments_count_as_orders_do() {
        let order = OrderRef::Id(OrderId(1));
        let amend = Amend { account: AccountId(1), order, price: Some(Price(1)), quantity: None };
        let change = AmendTrigger { amend, trigger_price: Price(1) };
        let (orders, member) = (OrderRate::new(2), Some(MemberId(1)));
        let admits = |command| orders.admits_at(member, &command, Duration::ZERO);
        assert!(admits(Command::Amend(amend)) && admits(Command::AmendTrigger(change)));
        assert!(!admits(Command::AmendTrigger(change)));
    }

    #[test]
    fn what_was_not_submitted_is_given_back() {
        let orders = OrderRate::new(1);
        let member = Some(MemberId(1));
        let admits = || orders.admits_at(member, &place(), Duration::ZERO);
        assert_eq!([admits(), admits()], [true, false]);
        orders.give_back(member, &place());
        assert_eq!([admits(), admits()], [true, false]);
    }

    #[test]
    fn without_a_limit_nothing_is_refused() {
        let orders = OrderRate::new(0);
        assert!((0..1_000).all(|_| orders.admits(Some(MemberId(1)), &place())));
    }
}
