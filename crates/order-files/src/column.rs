//! The columns of an order file, by the names in its first line.

/// A column of an order file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderColumn {
    /// The account that trades.
    Account,
    /// The symbol of the instrument.
    Instrument,
    /// Buy or sell.
    Side,
    /// How its limit comes about.
    Kind,
    /// The quantity, in base currency.
    Quantity,
    /// The amount, in quote currency.
    QuoteAmount,
    /// The limit, or the protection price of a market order.
    Price,
    /// The minimum quantity that must trade at once.
    MinimumQuantity,
    /// Time in force.
    TimeInForce,
    /// When a good-till-date order ends.
    ExpireAt,
    /// Whether it may take liquidity.
    PostOnly,
    /// Self-trade prevention.
    SelfTrade,
    /// Whether it is cancelled when the stream of its owner is lost.
    CancelOnDisconnect,
    /// The capacity of the member.
    Capacity,
    /// The most that an iceberg displays.
    DisplayQuantity,
    /// Which way the price goes that triggers a conditional order.
    Trigger,
    /// The price that triggers it.
    TriggerPrice,
    /// Whether it may be triggered at once.
    TriggerAtOnce,
    /// The distance of a trailing stop, in units of price.
    TrailDistance,
    /// The same in millionths of the price.
    TrailPpm,
    /// The price at which a trailing stop becomes active.
    ActivationPrice,
    /// The member's own text, which the answer repeats.
    Label,
}

impl OrderColumn {
    /// All columns.
    pub const ALL: [OrderColumn; 22] = [
        OrderColumn::Account,
        OrderColumn::Instrument,
        OrderColumn::Side,
        OrderColumn::Kind,
        OrderColumn::Quantity,
        OrderColumn::QuoteAmount,
        OrderColumn::Price,
        OrderColumn::MinimumQuantity,
        OrderColumn::TimeInForce,
        OrderColumn::ExpireAt,
        OrderColumn::PostOnly,
        OrderColumn::SelfTrade,
        OrderColumn::CancelOnDisconnect,
        OrderColumn::Capacity,
        OrderColumn::DisplayQuantity,
        OrderColumn::Trigger,
        OrderColumn::TriggerPrice,
        OrderColumn::TriggerAtOnce,
        OrderColumn::TrailDistance,
        OrderColumn::TrailPpm,
        OrderColumn::ActivationPrice,
        OrderColumn::Label,
    ];

    /// The name in the first line of a file: that of the field in the API, if it has one.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            OrderColumn::Account => "account",
            OrderColumn::Instrument => "instrument",
            OrderColumn::Side => "side",
            OrderColumn::Kind => "kind",
            OrderColumn::Quantity => "quantity",
            OrderColumn::QuoteAmount => "quote_amount",
            OrderColumn::Price => "price",
            OrderColumn::MinimumQuantity => "minimum_quantity",
            OrderColumn::TimeInForce => "time_in_force",
            OrderColumn::ExpireAt => "expire_at",
            OrderColumn::PostOnly => "post_only",
            OrderColumn::SelfTrade => "self_trade",
            OrderColumn::CancelOnDisconnect => "cancel_on_disconnect",
            OrderColumn::Capacity => "capacity",
            OrderColumn::DisplayQuantity => "display_quantity",
            OrderColumn::Trigger => "trigger",
            OrderColumn::TriggerPrice => "trigger_price",
            OrderColumn::TriggerAtOnce => "trigger_at_once",
            OrderColumn::TrailDistance => "trail_distance",
            OrderColumn::TrailPpm => "trail_ppm",
            OrderColumn::ActivationPrice => "activation_price",
            OrderColumn::Label => "label",
        }
    }

    /// The column of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<OrderColumn> {
        OrderColumn::ALL.into_iter().find(|column| column.name() == name)
    }
}
