//! A statement as CSV: opening, lines in the order of events, reserve, closing.

use crate::line::{LineDetail, StatementLine};
use crate::positions::Positions;
use crate::summary::{StatementHeading, StatementSummary};
use crate::utc;
use rialto_feed::Moment;
use rialto_model::{AccountId, CurrencyId, Decimal, Scale};
use std::fmt::{self, Display, Write};

/// The first line of every file.
pub(crate) const HEADER: &str = "record,member,seq,time,account,currency,available,held,instrument,order,\
                          trade,side,role,price,quantity,notional,fee,fee_currency,remaining,\
                          reason,reference\n";

/// Writes the rows of one statement. It keeps nothing: the caller takes the text out.
pub(crate) struct CsvRows<'a> {
    heading: StatementHeading,
    /// The currencies and instruments of the range.
    closing: &'a Positions,
}

/// The columns behind `held`.
#[derive(Default)]
struct Columns<'a> {
    instrument: &'a str,
    order: Option<u64>,
    trade: Option<u64>,
    side: &'static str,
    role: &'static str,
    price: Option<Decimal>,
    quantity: Option<Decimal>,
    notional: Option<Decimal>,
    fee: Option<Decimal>,
    fee_currency: &'a str,
    remaining: Option<Decimal>,
    reason: &'static str,
    reference: &'a str,
}

impl<'a> CsvRows<'a> {
    /// The rows of a statement whose range ends with `closing`.
    #[must_use]
    pub(crate) fn new(heading: StatementHeading, closing: &'a Positions) -> CsvRows<'a> {
        CsvRows { heading, closing }
    }

    /// Writes the header and the opening balances.
    pub(crate) fn begin(&self, opening: &Positions, out: &mut String) {
        out.push_str(HEADER);
        self.balances("opening", self.heading.first, opening, out);
    }

    /// Writes a line of the range.
    pub(crate) fn line(&self, line: &StatementLine, out: &mut String) {
        let detail = line.detail;
        let mut columns = Columns::default();
        let reference;
        match detail {
            LineDetail::Reserve => return,
            LineDetail::Deposit(of)
            | LineDetail::Withdrawal(of)
            | LineDetail::WithdrawalHeld(of)
            | LineDetail::WithdrawalSettled(of)
            | LineDetail::WithdrawalReleased(of) => {
                reference = of;
                columns.reference = reference.as_str();
            }
            LineDetail::Fill(fill) | LineDetail::Payment(fill) => {
                columns.order = Some(fill.order.0);
                columns.trade = Some(fill.trade.0);
                columns.side = fill.side.name();
                columns.role = fill.role.name();
                if let Some(spec) = self.closing.spec(fill.instrument) {
                    columns.instrument = spec.symbol.as_str();
                    columns.price = Some(fill.price.decimal(spec.price_scale));
                    columns.quantity = Some(fill.quantity.decimal(spec.quantity_scale));
                    if let Some(quote) = self.closing.currency(spec.quote) {
                        columns.notional = Some(fill.notional.decimal(quote.scale));
                        columns.fee = Some(fill.fee.decimal(quote.scale));
                        columns.fee_currency = quote.code.as_str();
                    }
                }
            }
            LineDetail::OrderEnded(ended) => {
                columns.order = Some(ended.order.0);
                columns.side = ended.side.name();
                columns.reason = ended.reason_name();
                if let Some(spec) = self.closing.spec(ended.instrument) {
                    columns.instrument = spec.symbol.as_str();
                    columns.price = ended.price.map(|price| price.decimal(spec.price_scale));
                    columns.remaining = Some(ended.remaining.decimal(spec.quantity_scale));
                }
            }
        }
        let amounts = (line.available, line.held);
        self.row(detail.name(), line.at, line.account, line.currency, amounts, &columns, out);
    }

    /// Writes the reserves of orders and the closing balances.
    pub(crate) fn end(&self, summary: &StatementSummary, out: &mut String) {
        let last = self.heading.last;
        for ((account, currency), movements) in &summary.movements {
            if movements.reserve != 0 {
                let amounts = (-movements.reserve, movements.reserve);
                let columns = Columns::default();
                self.row("reserve", last, *account, *currency, amounts, &columns, out);
            }
        }
        self.balances("closing", last, self.closing, out);
    }

    /// The balances of every account and currency that the closing has, as they are in `positions`.
    fn balances(&self, record: &str, at: Moment, positions: &Positions, out: &mut String) {
        for (account, _) in self.closing.accounts_of(self.heading.member) {
            for (currency, _) in self.closing.of_account(account) {
                let standing = positions.balance(account, currency);
                let amounts = (standing.available.0, standing.held.0);
                self.row(record, at, account, currency, amounts, &Columns::default(), out);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a row has columns, and each is one")]
    fn row(
        &self,
        record: &str,
        at: Moment,
        account: AccountId,
        currency: CurrencyId,
        (available, held): (i128, i128),
        columns: &Columns<'_>,
        out: &mut String,
    ) {
        let currency = self.closing.currency(currency);
        let scale = currency.map_or(Scale::default(), |currency| currency.scale);
        let code = currency.map_or("", |currency| currency.code.as_str());
        let decimal = |value| Decimal { value, scale };
        let member = self.heading.member;
        let written = writeln!(
            out,
            "{record},{member},{},{},{account},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            at.seq,
            utc::show(at.time),
            Field(code),
            decimal(available),
            decimal(held),
            Field(columns.instrument),
            Maybe(columns.order),
            Maybe(columns.trade),
            columns.side,
            columns.role,
            Maybe(columns.price),
            Maybe(columns.quantity),
            Maybe(columns.notional),
            Maybe(columns.fee),
            Field(columns.fee_currency),
            Maybe(columns.remaining),
            columns.reason,
            Field(columns.reference),
        );
        written.expect("a text takes everything");
    }
}

/// A text, in quotes if it has a character that would end the field (RFC 4180).
struct Field<'a>(&'a str);

impl Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.contains([',', '"', '\n', '\r']) {
            return f.write_str(self.0);
        }
        f.write_char('"')?;
        for letter in self.0.chars() {
            if letter == '"' {
                f.write_char('"')?;
            }
            f.write_char(letter)?;
        }
        f.write_char('"')
    }
}

/// A value, or nothing.
struct Maybe<T>(Option<T>);

impl<T: Display> Display for Maybe<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |value| value.fmt(f))
    }
}
