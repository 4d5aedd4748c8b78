//! The part of the script that only version 8 of the rules knows.

use super::{SPOT, Script, buy, sell};
use rialto_model::{
    Amend, ClientOrderId, Command, IcebergOrder, InstrumentState, NewOrder, OrderId, OrderKind,
    OrderRef, OrderSize, Outcome, PostOnly, Price, Quantity, SelfTrade, TimeInForce,
};

impl Script {
    pub(super) fn since_version_8(&mut self) {
        self.refused_icebergs();
        self.parts_take_turns();
        self.icebergs_are_amended();
        self.fill_or_kill_among_icebergs();
        self.icebergs_of_auctions();
        self.many_parts();
    }

    fn iceberg(&mut self, terms: NewOrder, display_quantity: i64) -> OrderId {
        let display_quantity = Quantity(display_quantity);
        match self.does(Command::PlaceIceberg(IcebergOrder { terms, display_quantity })) {
            Outcome::Order { order, .. } => order,
            _ => OrderId(0),
        }
    }

    fn changes(&mut self, order: OrderId, price: Option<i64>, quantity: Option<i64>) {
        let (account, order) = (buy(3, 100, 1).account, OrderRef::Id(order));
        let (price, quantity) = (price.map(Price), quantity.map(Quantity));
        self.does(Command::Amend(Amend { account, order, price, quantity }));
    }

    fn refused_icebergs(&mut self) {
        for &time_in_force in TimeInForce::ALL {
            self.iceberg(NewOrder { time_in_force, ..buy(3, 90, 20) }, 5);
        }
        for &kind in OrderKind::ALL {
            self.iceberg(NewOrder { kind, ..buy(3, 90, 20) }, 5);
        }
        for &post_only in PostOnly::ALL {
            self.iceberg(NewOrder { post_only, ..buy(3, 90, 20) }, 5);
        }
        for display_quantity in [i64::MIN, -1, 0, 1, 19, 20, 21, i64::MAX] {
            self.iceberg(buy(3, 90, 20), display_quantity);
            self.iceberg(buy(3, 90, 101), display_quantity);
        }
        let size = OrderSize::Quote(rialto_model::Amount(500));
        self.iceberg(NewOrder { size, ..buy(3, 90, 20) }, 5);
        self.iceberg(NewOrder { minimum_quantity: Quantity(1), ..buy(3, 90, 20) }, 5);
        for (price, quantity) in [(0, 20), (90, 0), (i64::MAX, i64::MAX), (90, i64::MAX)] {
            self.iceberg(buy(3, price, quantity), 5);
        }
        let client_order_id: ClientOrderId = "iceberg".parse().expect("it is short");
        for display_quantity in [0, 5, 5, 4] {
            self.iceberg(NewOrder { client_order_id, ..buy(3, 90, 20) }, display_quantity);
        }
        self.settle();
        self.clear();
    }

    fn parts_take_turns(&mut self) {
        self.iceberg(buy(3, 100, 12), 2);
        self.iceberg(buy(3, 100, 9), 3);
        self.does(Command::Place(buy(3, 100, 4)));
        for quantity in [1, 1, 5, 9, 7, 9] {
            self.does(Command::Place(sell(1, 100, quantity)));
        }
        self.iceberg(buy(3, 100, 40), 3);
        for quantity in [1, 2, 3, 4, 20, 100] {
            self.does(Command::Place(sell(1, 100, quantity)));
        }
        // As a taker it trades with its whole quantity.
        self.iceberg(buy(3, 100, 120), 10);
        self.settle();
        self.clear();
    }

    fn icebergs_are_amended(&mut self) {
        let order = self.iceberg(buy(3, 100, 12), 2);
        self.does(Command::Place(buy(3, 100, 4)));
        self.does(Command::Place(sell(1, 100, 1)));
        let changes = [
            (None, Some(20)),
            (None, Some(200)),
            (None, Some(201)),
            (None, Some(3)),
            (None, Some(2)),
            (Some(99), None),
            (Some(99), Some(30)),
            (Some(101), Some(31)),
        ];
        for (price, quantity) in changes {
            self.changes(order, price, quantity);
            self.does(Command::Place(sell(1, 101, 1)));
        }
        self.settle();
        self.clear();
    }

    fn fill_or_kill_among_icebergs(&mut self) {
        for &mode in SelfTrade::ALL {
            for quantity in [3, 5, 6, 13, 14, 15] {
                self.iceberg(buy(3, 100, 9), 3);
                self.does(Command::Place(buy(1, 100, 2)));
                self.iceberg(buy(3, 99, 4), 1);
                self.does(Command::Place(NewOrder {
                    time_in_force: TimeInForce::Fok,
                    self_trade: Some(mode),
                    ..sell(1, 99, quantity)
                }));
                self.does(Command::Place(NewOrder {
                    minimum_quantity: Quantity(quantity),
                    time_in_force: TimeInForce::Ioc,
                    self_trade: Some(mode),
                    ..sell(1, 99, quantity)
                }));
                self.settle();
                self.clear();
            }
        }
    }

    fn icebergs_of_auctions(&mut self) {
        self.set_state(SPOT, InstrumentState::Call);
        let order = self.iceberg(buy(3, 100, 30), 4);
        self.iceberg(sell(1, 99, 21), 5);
        self.changes(order, None, Some(40));
        self.does(Command::Place(buy(3, 100, 3)));
        self.does(Command::Place(sell(1, 98, 6)));
        self.set_state(SPOT, InstrumentState::Open);
        self.settle();
        self.does(Command::Place(sell(1, 100, 3)));
        self.settle();
        self.clear();
    }

    /// A taker meets more parts than one command may touch.
    fn many_parts(&mut self) {
        for _ in 0..5 {
            self.iceberg(buy(3, 100, 100), 1);
        }
        self.does(Command::Place(sell(1, 100, 480)));
        self.settle();
        self.does(Command::Place(sell(1, 100, 40)));
        self.settle();
        self.clear();
    }
}
