//! The fields of a row, as an order at the scales of its instrument.

use crate::column::OrderColumn;
use crate::fault::{FileFault, FileFaults, shown};
use crate::order_file::FileScope;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use rialto_desk::Listing;
use rialto_model::{
    AccountId, Amount, Command, ConditionalOrder, Distance, Enumeration, Handling, IcebergOrder,
    NewOrder, OrderKind, OrderSize, PostOnly, Price, Quantity, Side, Symbol, Text, TimeInForce,
    Timestamp, TrailTerms, TrailingOrder, Trigger, TriggerKind,
};
use std::fmt::Display;

/// The member's own text of a row: at most 64 bytes of printable ASCII without spaces.
pub type RowLabel = Text<64>;

/// A row of a checked file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderRow {
    /// Its line in the file, from 1.
    pub line: u64,
    /// The member's own text; empty without one.
    pub label: RowLabel,
    /// The order, named after content and row.
    pub order: NewOrder,
    /// What it has besides its terms.
    pub kind: RowKind,
}

/// What kind of order a row enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// One that its terms describe.
    Plain,
    /// An order that waits until the last price reaches a trigger price.
    Conditional {
        /// What triggers it.
        trigger: Trigger,
        /// Whether it may be triggered at once.
        immediate: bool,
    },
    /// A trailing stop.
    Trailing(TrailTerms),
    /// An iceberg, which displays at most this much.
    Iceberg(Quantity),
}

impl OrderRow {
    /// Stands for a row that is wrong, while the others are checked.
    pub(crate) fn refused(line: u64) -> OrderRow {
        let (account, instrument) = (AccountId::default(), Default::default());
        let (quantity, price) = (Quantity::ZERO, Price::ZERO);
        let order = NewOrder::limit(account, instrument, Side::Buy, quantity, price);
        OrderRow { line, label: RowLabel::EMPTY, order, kind: RowKind::Plain }
    }

    /// The command that enters the order.
    pub(crate) fn command(&self) -> Command {
        let terms = self.order;
        match self.kind {
            RowKind::Plain => Command::Place(terms),
            RowKind::Conditional { trigger, immediate } => {
                Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate })
            }
            RowKind::Trailing(trail) => Command::PlaceTrailing(TrailingOrder { terms, trail }),
            RowKind::Iceberg(display_quantity) => {
                Command::PlaceIceberg(IcebergOrder { terms, display_quantity })
            }
        }
    }
}

/// The fields of one row; an empty one is not given.
pub(crate) struct Fields<'a> {
    pub(crate) line: u64,
    pub(crate) texts: [Option<&'a str>; OrderColumn::ALL.len()],
    /// The position of each in the line.
    pub(crate) places: [usize; OrderColumn::ALL.len()],
    /// The values that are not UTF-8, with an error each.
    pub(crate) unreadable: [bool; OrderColumn::ALL.len()],
    pub(crate) faults: &'a mut FileFaults,
}

impl Fields<'_> {
    fn fault(&mut self, column: OrderColumn, message: impl Into<String>) {
        let (line, place) = (self.line, self.places[column as usize]);
        let (name, message) = (column.name().to_owned(), message.into());
        self.faults.add(FileFault { line, column: place, name, message });
    }

    fn text(&self, column: OrderColumn) -> Option<&str> {
        self.texts[column as usize]
    }

    /// A field that is there, as a value.
    fn parsed<T, E: Display>(
        &mut self,
        column: OrderColumn,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let text = self.text(column)?;
        match parse(text) {
            Ok(value) => Some(value),
            Err(error) => {
                let message = format!("{} {error}.", shown(text));
                self.fault(column, message);
                None
            }
        }
    }

    /// One of the words of an enumeration.
    fn word<T: Enumeration>(&mut self, column: OrderColumn) -> Option<T> {
        self.parsed(column, |text| {
            T::from_name(text).ok_or_else(|| {
                let words: Vec<_> = T::ALL.iter().map(|value| value.name()).collect();
                format!("is none of {}", words.join(", "))
            })
        })
    }

    fn missing(&mut self, column: OrderColumn) {
        if self.unreadable[column as usize] {
            return;
        }
        let name = column.name();
        let message = match self.places[column as usize] {
            0 => format!("The row needs the column {name}, which the first line does not name."),
            _ => format!("The field {name} is empty."),
        };
        self.fault(column, message);
    }

    /// The order, if nothing is wrong; all errors of the row are noted.
    pub(crate) fn order(&mut self, scope: &FileScope<'_>) -> Option<OrderRow> {
        let account = self.account(scope);
        let listing = self.listing(scope);
        let side = match self.text(OrderColumn::Side) {
            Some(_) => self.word::<Side>(OrderColumn::Side),
            None => {
                self.missing(OrderColumn::Side);
                None
            }
        };
        let kind = match self.text(OrderColumn::Kind) {
            Some(_) => self.word::<OrderKind>(OrderColumn::Kind),
            None => Some(OrderKind::Limit),
        };
        let time_in_force = self.word::<TimeInForce>(OrderColumn::TimeInForce);
        let expire_at = self.parsed(OrderColumn::ExpireAt, time).unwrap_or(Timestamp::ZERO);
        let post_only = self.word::<PostOnly>(OrderColumn::PostOnly).unwrap_or_default();
        let self_trade = self.word(OrderColumn::SelfTrade);
        let cancel_on_disconnect = self.parsed(OrderColumn::CancelOnDisconnect, yes_or_no);
        let capacity = self.word(OrderColumn::Capacity);
        let label = self.parsed(OrderColumn::Label, |text| RowLabel::new(text.as_bytes()));
        // Without its instrument a row has no scales.
        let size = listing.and_then(|on| self.size(&on));
        let price = listing.and_then(|on| self.price(&on, kind));
        let minimum_quantity = listing.and_then(|on| {
            self.parsed(OrderColumn::MinimumQuantity, |text| {
                Quantity::parse(text, on.quantity_scale)
            })
        });
        let row_kind = listing.and_then(|on| self.row_kind(&on));
        let order = NewOrder {
            account: account?,
            instrument: listing?.id,
            side: side?,
            kind: kind?,
            time_in_force: time_in_force.unwrap_or(kind?.usual_time_in_force()),
            post_only,
            self_trade,
            handling: Handling::NONE
                .with_cancel_on_disconnect(cancel_on_disconnect.unwrap_or_default())
                .with_capacity(capacity),
            size: size?,
            price: price?,
            minimum_quantity: minimum_quantity.unwrap_or(Quantity::ZERO),
            expire_at,
            client_order_id: Text::EMPTY,
        };
        let label = label.unwrap_or_default();
        Some(OrderRow { line: self.line, label, order, kind: row_kind? })
    }

    /// What the order has besides its terms. Nothing if a field of these is wrong.
    fn row_kind(&mut self, on: &Listing) -> Option<RowKind> {
        use OrderColumn::{
            ActivationPrice, DisplayQuantity, TrailDistance, TrailPpm, Trigger as Way,
            TriggerAtOnce, TriggerPrice,
        };
        let given = |fields: &Self, columns: &[OrderColumn]| {
            columns.iter().copied().find(|column| fields.text(*column).is_some())
        };
        let price = |fields: &mut Self, column| {
            fields.parsed(column, |text| Price::parse(text, on.price_scale))
        };
        let at_once = match self.text(TriggerAtOnce) {
            Some(_) => self.parsed(TriggerAtOnce, yes_or_no)?,
            None => false,
        };
        let conditional = given(self, &[Way, TriggerPrice]).or(at_once.then_some(TriggerAtOnce));
        let trails = given(self, &[TrailDistance, TrailPpm, ActivationPrice]);
        if let (Some(column), Some(_)) = (conditional, trails) {
            let message = "A trailing stop has no trigger, trigger_price or trigger_at_once.";
            self.fault(column, message);
            return None;
        }
        if self.text(DisplayQuantity).is_some() {
            if conditional.or(trails).is_some() {
                self.fault(DisplayQuantity, "A conditional order has no display_quantity.");
                return None;
            }
            let parse = |text: &str| Quantity::parse(text, on.quantity_scale);
            return self.parsed(DisplayQuantity, parse).map(RowKind::Iceberg);
        }
        if trails.is_some() {
            let activation_price = match self.text(ActivationPrice) {
                Some(_) => price(self, ActivationPrice),
                None => Some(Price::ZERO),
            };
            if self.text(ActivationPrice).is_some() && activation_price == Some(Price::ZERO) {
                let message = "An activation price is positive; leave it empty for the last price.";
                self.fault(ActivationPrice, message);
            }
            let distance = match (self.text(TrailDistance), self.text(TrailPpm)) {
                (Some(_), Some(_)) => {
                    let message = "Give either trail_distance or trail_ppm, not both.";
                    self.fault(TrailPpm, message);
                    None
                }
                (Some(_), None) => price(self, TrailDistance).map(Distance::Price),
                (None, Some(_)) => self.parsed(TrailPpm, millionths).map(Distance::Ppm),
                (None, None) => {
                    self.missing(TrailDistance);
                    None
                }
            };
            let (distance, activation_price) = (distance?, activation_price?);
            return Some(RowKind::Trailing(TrailTerms { distance, activation_price }));
        }
        if conditional.is_none() {
            return Some(RowKind::Plain);
        }
        for column in [Way, TriggerPrice] {
            if self.text(column).is_none() {
                self.missing(column);
                return None;
            }
        }
        let kind = self.word::<TriggerKind>(Way);
        let trigger_price = price(self, TriggerPrice);
        let trigger = Trigger { kind: kind?, price: trigger_price? };
        Some(RowKind::Conditional { trigger, immediate: at_once })
    }

    fn account(&mut self, scope: &FileScope<'_>) -> Option<AccountId> {
        match (self.text(OrderColumn::Account), scope.accounts) {
            (None, _) if scope.only_account.is_some() => scope.only_account,
            (None, _) => {
                self.missing(OrderColumn::Account);
                None
            }
            (Some(_), accounts) => self.parsed(OrderColumn::Account, |text| {
                let account = text.parse().ok().filter(|account| accounts.contains(account));
                let account = account.filter(|account: &AccountId| account.to_string() == text);
                // Whether another member has it is not said.
                account.ok_or("is no account of this member")
            }),
        }
    }

    fn listing(&mut self, scope: &FileScope<'_>) -> Option<Listing> {
        if self.text(OrderColumn::Instrument).is_none() {
            self.missing(OrderColumn::Instrument);
            return None;
        }
        self.parsed(OrderColumn::Instrument, |text| {
            let symbol = Symbol::new(text.as_bytes()).ok();
            let listing = symbol.and_then(|symbol| (scope.listing)(&symbol));
            listing.ok_or("is no instrument of this venue")
        })
    }

    fn size(&mut self, on: &Listing) -> Option<OrderSize> {
        let quantity = self.text(OrderColumn::Quantity).is_some();
        match (quantity, self.text(OrderColumn::QuoteAmount).is_some()) {
            (true, true) => {
                let message = "Give either quantity or quote_amount, not both.";
                self.fault(OrderColumn::QuoteAmount, message);
                None
            }
            (false, true) => self
                .parsed(OrderColumn::QuoteAmount, |text| Amount::parse(text, on.quote.scale))
                .map(OrderSize::Quote),
            (true, false) => self
                .parsed(OrderColumn::Quantity, |text| Quantity::parse(text, on.quantity_scale))
                .map(OrderSize::Base),
            (false, false) => {
                self.missing(OrderColumn::Quantity);
                None
            }
        }
    }

    fn price(&mut self, on: &Listing, kind: Option<OrderKind>) -> Option<Price> {
        match (self.text(OrderColumn::Price), kind) {
            (Some(_), _) => {
                self.parsed(OrderColumn::Price, |text| Price::parse(text, on.price_scale))
            }
            (None, Some(OrderKind::Limit)) => {
                self.missing(OrderColumn::Price);
                None
            }
            (None, _) => Some(Price::ZERO),
        }
    }
}

fn yes_or_no(text: &str) -> Result<bool, &'static str> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err("is neither true nor false"),
    }
}

/// A whole number of millionths. Whether it is a distance, the engine decides.
fn millionths(text: &str) -> Result<u32, &'static str> {
    let number = text.parse().ok().filter(|number: &u32| number.to_string() == text);
    number.ok_or("is no whole number of millionths")
}

/// A time: nanoseconds since 1970, as in the API, or RFC 3339 in UTC.
fn time(text: &str) -> Result<Timestamp, &'static str> {
    const NO_TIME: &str = "is no time; use 2026-11-30T16:00:00Z, or nanoseconds since 1970";
    const TOO_LATE: &str = "is later than the last time, in the year 2554";
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map(Timestamp).map_err(|_| TOO_LATE);
    }
    let time = utc_text(text).and_then(|text| text.parse::<DateTime>().ok()).ok_or(NO_TIME)?;
    match Offset::UTC.to_timestamp(time).map(|time| time.as_nanosecond()) {
        Ok(..0) => Err(NO_TIME),
        // The last time of the library is before the year 10000.
        Ok(nanoseconds) => u64::try_from(nanoseconds).map(Timestamp).map_err(|_| TOO_LATE),
        Err(_) => Err(TOO_LATE),
    }
}

/// The text of a time without its `Z`, if it is `YYYY-MM-DDTHH:MM:SSZ` with up to nine decimal places
/// of the second. The library accepts other separators, names of zones, and leap seconds.
fn utc_text(text: &str) -> Option<&str> {
    const FORM: &str = "0000-00-00T00:00:00";
    let text = text.strip_suffix('Z')?;
    let (whole, fraction) = text.split_at_checked(FORM.len())?;
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_like = |(byte, form): (u8, u8)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    };
    let is_time = whole.bytes().zip(FORM.bytes()).all(is_like) && !whole.ends_with(":60");
    let is_fraction = match fraction.strip_prefix('.') {
        Some(digits) => (1..=9).contains(&digits.len()) && is_digits(digits),
        None => fraction.is_empty(),
    };
    Some(text).filter(|_| is_time && is_fraction)
}
