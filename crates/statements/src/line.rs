//! A line of a statement: one change of one balance, or the end of an order.

use rialto_feed::Moment;
use rialto_model::{
    AccountId, Amount, CurrencyId, DoneReason, InstrumentId, OrderId, Price, Quantity, Reference,
    Role, Side, TradeId,
};

/// One change of the balance of an account in a currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementLine {
    /// The command that made the change.
    pub at: Moment,
    /// The account.
    pub account: AccountId,
    /// The currency.
    pub currency: CurrencyId,
    /// What the available amount changed by.
    pub available: i128,
    /// What the held amount changed by.
    pub held: i128,
    /// What happened.
    pub detail: LineDetail,
}

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineDetail {
    /// A credit.
    Deposit(Reference),
    /// A debit at once.
    Withdrawal(Reference),
    /// The amount of a withdrawal was held.
    WithdrawalHeld(Reference),
    /// A held withdrawal was paid out.
    WithdrawalSettled(Reference),
    /// A held withdrawal was given back.
    WithdrawalReleased(Reference),
    /// The base currency of a fill, with everything that is to be said about the fill.
    Fill(FillDetail),
    /// The quote currency of the fill on the line before: notional and fee.
    Payment(FillDetail),
    /// An order ended.
    OrderEnded(EndedDetail),
    /// An order took an amount from the available one, or gave a part of it back. A statement adds
    /// these up.
    Reserve,
}

/// A fill: one account's side of a trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillDetail {
    /// The trade.
    pub trade: TradeId,
    /// The account's order.
    pub order: OrderId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// Whether the account bought or sold.
    pub side: Side,
    /// Whether its order was the maker or the taker.
    pub role: Role,
    /// The price.
    pub price: Price,
    /// The quantity.
    pub quantity: Quantity,
    /// Price times quantity, in quote currency.
    pub notional: Amount,
    /// The fee, in quote currency; negative is a rebate.
    pub fee: Amount,
}

/// An order that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedDetail {
    /// The order.
    pub order: OrderId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the order.
    pub side: Side,
    /// Its limit; none if it was filled, because the last fill does not name it.
    pub price: Option<Price>,
    /// The quantity that did not trade.
    pub remaining: Quantity,
    /// The reason; none if it was filled.
    pub reason: Option<DoneReason>,
}

impl EndedDetail {
    /// The word for the reason.
    #[must_use]
    pub fn reason_name(&self) -> &'static str {
        self.reason.map_or("filled", DoneReason::name)
    }
}

impl LineDetail {
    /// The word for it in a statement.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            LineDetail::Deposit(_) => "deposit",
            LineDetail::Withdrawal(_) => "withdrawal",
            LineDetail::WithdrawalHeld(_) => "withdrawal_held",
            LineDetail::WithdrawalSettled(_) => "withdrawal_settled",
            LineDetail::WithdrawalReleased(_) => "withdrawal_released",
            LineDetail::Fill(_) => "fill",
            LineDetail::Payment(_) => "payment",
            LineDetail::OrderEnded(_) => "order_ended",
            LineDetail::Reserve => "reserve",
        }
    }
}
