//! The part of the script that only version 3 of the rules knows.

use super::{Script, buy, market, sell};
use rialto_model::{
    AccountId, Capacity, Command, Handling, NewOrder, OrderSize, PostOnly, Quantity, Side,
};

impl Script {
    pub(super) fn since_version_3(&mut self) {
        self.capacities();
    }

    /// Orders of every capacity that rest, trade, slide, are amended and are cancelled.
    fn capacities(&mut self) {
        let of = |capacity, order| {
            let handling = Handling::NONE.with_capacity(capacity);
            NewOrder { handling, ..order }
        };
        for capacity in [None].into_iter().chain(Capacity::ALL.iter().copied().map(Some)) {
            let resting = self.place(of(capacity, sell(1, 100, 4)));
            self.place(of(capacity, buy(2, 100, 1)));
            self.amend(1, resting, None, Some(3));
            self.place(of(capacity, NewOrder { post_only: PostOnly::Slide, ..buy(3, 101, 1) }));
            self.place(of(capacity, market(2, Side::Buy, OrderSize::Base(Quantity(1)))));
            self.amend(1, resting, Some(102), None);
            self.cancel(1, resting);
        }
        let leaving = Handling::NONE.with_cancel_on_disconnect(true);
        let handling = leaving.with_capacity(Some(Capacity::ALL[0]));
        self.rest(3, NewOrder { handling, ..buy(1, 20, 1) });
        self.does(Command::Disconnect { account: AccountId(1) });
        self.settle();
        self.clear();
    }
}
