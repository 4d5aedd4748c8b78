//! Order files: the format of our own, described in `docs/formats/replay-file.md`.

use super::error::InputError;
use super::input::{Operations, bytes_of};
use super::operation::{Action, Operation, Overview, Placement};
use super::rows::{Row, Rows};
use rialto_model::{
    DecimalError, OrderKind, PostOnly, Price, Quantity, Scale, Side, TimeInForce, Timestamp,
};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

const COLUMNS: [(&str, bool); 9] = [
    ("time", false),
    ("action", true),
    ("id", true),
    ("account", false),
    ("side", true),
    ("type", false),
    ("tif", false),
    ("price", true),
    ("quantity", true),
];
const TIME: usize = 0;
const ACTION: usize = 1;
const ID: usize = 2;
const ACCOUNT: usize = 3;
const SIDE: usize = 4;
const TYPE: usize = 5;
const TIF: usize = 6;
const PRICE: usize = 7;
const QUANTITY: usize = 8;

/// An order file.
pub(super) struct OrderFile {
    path: PathBuf,
    price_scale: Scale,
    quantity_scale: Scale,
}

impl OrderFile {
    pub(super) fn new(path: &Path) -> OrderFile {
        // The first pass finds how many places are used.
        let (price_scale, quantity_scale) = (Scale::default(), Scale::default());
        OrderFile { path: path.to_owned(), price_scale, quantity_scale }
    }

    /// Finds the decimal places that the file uses, and its errors.
    pub(super) fn scan(&mut self) -> Result<Overview, InputError> {
        (self.price_scale, self.quantity_scale) = self.places()?;
        let (mut rows, form) = self.rows()?;
        let mut overview = Overview {
            operations: 0,
            accounts: BTreeSet::new(),
            first: None,
            price_scale: self.price_scale,
            quantity_scale: self.quantity_scale,
            tick: Price(1),
            symbol: "BASE-QUOTE",
            currencies: ["BASE", "QUOTE"],
        };
        let (mut owners, mut last) = (HashMap::new(), Timestamp::ZERO);
        while let Some(row) = rows.next_row()? {
            let operation = form.operation(row)?;
            overview.operations += 1;
            if let Some(at) = operation.at {
                if at < last {
                    let before = format!("time {at} is before {last}, the time of an earlier line");
                    return Err(row.error(form.at(TIME), before));
                }
                last = at;
                overview.first.get_or_insert(at);
            }
            let account = form.account(row)?;
            match operation.action {
                Action::Place(order) => {
                    if owners.insert(order.id, order.account).is_some() {
                        let twice = format!("order {} is placed a second time", order.id);
                        return Err(row.error(form.at(ID), twice));
                    }
                    overview.accounts.insert(order.account);
                }
                Action::Cancel { id }
                | Action::Amend { id, .. }
                | Action::Reduce { id, .. }
                | Action::Left { id, .. } => {
                    let owner = owners.get(&id).ok_or_else(|| {
                        row.error(form.at(ID), format!("order {id} was not placed before"))
                    })?;
                    if account.is_some_and(|account| account != *owner) {
                        let wrong = format!("order {id} belongs to account {owner}");
                        return Err(row.error(form.at(ACCOUNT), wrong));
                    }
                }
            }
        }
        Ok(overview)
    }

    pub(super) fn operations(&self) -> Result<Operations, InputError> {
        let (mut rows, form) = self.rows()?;
        Ok(Box::new(std::iter::from_fn(move || {
            let row = rows.next_row().transpose()?;
            Some(row.and_then(|row| form.operation(row)))
        })))
    }

    /// The file after its header line.
    fn rows(&self) -> Result<(Rows, Form), InputError> {
        let mut rows = Rows::new(&self.path, bytes_of(&self.path)?);
        let columns = rows.header(&COLUMNS)?;
        let (price_scale, quantity_scale) = (self.price_scale, self.quantity_scale);
        Ok((rows, Form { columns, price_scale, quantity_scale }))
    }

    /// The most decimal places of any price and of any quantity.
    fn places(&self) -> Result<(Scale, Scale), InputError> {
        let (mut rows, form) = self.rows()?;
        let mut most = [0_usize; 2];
        while let Some(row) = rows.next_row()? {
            for (at, field) in [PRICE, QUANTITY].into_iter().enumerate() {
                let fraction = row.text(form.at(field)).split_once('.');
                let used = fraction.map_or(0, |(_, digits)| digits.trim_end_matches('0').len());
                most[at] = used.max(most[at]);
                let max = usize::from(Scale::MAX.places());
                if most.iter().sum::<usize>() > max {
                    let reason = format!(
                        "{used} decimal places; price and quantity together have at most {max}"
                    );
                    return Err(row.error(form.at(field), reason));
                }
            }
        }
        let [price, quantity] = most.map(|places| {
            u8::try_from(places).ok().and_then(Scale::new).expect("at most 18 was checked above")
        });
        Ok((price, quantity))
    }
}

/// The format of the file's lines.
struct Form {
    columns: [Option<usize>; COLUMNS.len()],
    price_scale: Scale,
    quantity_scale: Scale,
}

impl Form {
    /// The index of a column; 0 for a missing optional one.
    fn at(&self, column: usize) -> usize {
        self.columns[column].unwrap_or(0)
    }

    fn account(&self, row: Row<'_>) -> Result<Option<u32>, InputError> {
        let given = row.given(self.columns[ACCOUNT]);
        given.map(|(field, _)| row.parse(field, "an account number below 2^32")).transpose()
    }

    fn operation(&self, row: Row<'_>) -> Result<Operation, InputError> {
        let at = match row.given(self.columns[TIME]) {
            Some((field, _)) => Some(Timestamp(row.parse(field, "a time in nanoseconds")?)),
            None => None,
        };
        let id = row.parse(self.at(ID), "an order id below 2^64")?;
        let action = match row.text(self.at(ACTION)) {
            "place" => Action::Place(self.placement(row, id)?),
            "cancel" => Action::Cancel { id },
            "amend" => {
                let (price, quantity) = (self.price(row)?, self.quantity(row)?);
                if price.is_none() && quantity.is_none() {
                    let reason = "an amendment needs a price, a quantity or both".into();
                    return Err(row.error(self.at(ACTION), reason));
                }
                Action::Amend { id, price, quantity }
            }
            "reduce" => Action::Reduce { id, by: self.needed(row, self.quantity(row)?)? },
            other => {
                let reason = format!("{other:?} is none of place, cancel, amend, reduce");
                return Err(row.error(self.at(ACTION), reason));
            }
        };
        Ok(Operation { at, action })
    }

    fn placement(&self, row: Row<'_>, id: u64) -> Result<Placement, InputError> {
        let one_of = |field: usize, text: &str, known: &str| {
            row.error(field, format!("{text:?} is none of {known}"))
        };
        let side = match row.text(self.at(SIDE)) {
            "buy" => Side::Buy,
            "sell" => Side::Sell,
            other => return Err(one_of(self.at(SIDE), other, "buy, sell")),
        };
        let (kind, post_only) = match row.given(self.columns[TYPE]) {
            None | Some((_, "limit")) => (OrderKind::Limit, PostOnly::Off),
            Some((_, "market")) => (OrderKind::Market, PostOnly::Off),
            Some((_, "post_only")) => (OrderKind::Limit, PostOnly::Reject),
            Some((_, "slide")) => (OrderKind::Limit, PostOnly::Slide),
            Some((field, other)) => {
                return Err(one_of(field, other, "limit, market, post_only, slide"));
            }
        };
        let time_in_force = match row.given(self.columns[TIF]) {
            None => kind.usual_time_in_force(),
            Some((_, "gtc")) => TimeInForce::Gtc,
            Some((_, "ioc")) => TimeInForce::Ioc,
            Some((_, "fok")) => TimeInForce::Fok,
            Some((field, other)) => return Err(one_of(field, other, "gtc, ioc, fok")),
        };
        let price = match (self.price(row)?, kind) {
            (Some(price), _) => price,
            (None, OrderKind::Limit) => {
                return Err(row.error(self.at(PRICE), "a limit order needs a price".into()));
            }
            (None, _) => Price::ZERO,
        };
        let quantity = self.needed(row, self.quantity(row)?)?;
        let account = self.account(row)?.unwrap_or(1);
        Ok(Placement { id, account, side, kind, time_in_force, post_only, price, quantity })
    }

    fn needed(&self, row: Row<'_>, given: Option<Quantity>) -> Result<Quantity, InputError> {
        given.ok_or_else(|| row.error(self.at(QUANTITY), "a quantity is needed here".into()))
    }

    fn price(&self, row: Row<'_>) -> Result<Option<Price>, InputError> {
        self.number(row, PRICE, |text| Price::parse(text, self.price_scale))
    }

    fn quantity(&self, row: Row<'_>) -> Result<Option<Quantity>, InputError> {
        self.number(row, QUANTITY, |text| Quantity::parse(text, self.quantity_scale))
    }

    fn number<T>(
        &self,
        row: Row<'_>,
        column: usize,
        parse: impl Fn(&str) -> Result<T, DecimalError>,
    ) -> Result<Option<T>, InputError> {
        let given = row.given(self.columns[column]);
        let read = given.map(|(field, text)| {
            parse(text).map_err(|error| row.error(field, format!("{text:?} {error}")))
        });
        read.transpose()
    }
}
