//! A statement as one page for people: no scripts, nothing loaded, printable.

use crate::line::{LineDetail, StatementLine};
use crate::positions::Positions;
use crate::summary::{StatementHeading, StatementSummary};
use crate::utc;
use rialto_model::{AccountId, CurrencyId, Decimal, InstrumentId, Scale};
use std::fmt::{self, Display, Write};

/// The most rows of each table of a page. The CSV has all.
pub const PAGE_ROWS_MAX: usize = 2_000;

const STYLE: &str = "
:root { color-scheme: light; }
body { font: 14px/1.45 system-ui, sans-serif; color: #1a1a1a; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p, dl { margin: .25rem 0; }
dl { display: grid; grid-template-columns: max-content auto; gap: .1rem 1rem; }
dt { color: #595959; }
dd { margin: 0; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid #1a1a1a; font-weight: 600; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.total { font-weight: 600; }
.note { color: #595959; }
@media print {
  body { margin: 0; max-width: none; font-size: 9pt; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
  h2 { break-after: avoid; }
}
";

/// The tables of one statement, whose rows are collected up to a limit.
pub(crate) struct HtmlPage<'a> {
    heading: StatementHeading,
    opening: &'a Positions,
    closing: &'a Positions,
    transfers: Table,
    fills: Table,
    ended: Table,
}

/// The rows of a table: the first ones, and how many there are.
#[derive(Default)]
struct Table {
    rows: String,
    shown: usize,
    total: u64,
}

impl Table {
    /// Adds a row, unless the table is full.
    fn add(&mut self, cells: impl FnOnce(&mut Row<'_>)) {
        self.total += 1;
        if self.shown == PAGE_ROWS_MAX {
            return;
        }
        self.shown += 1;
        self.rows.push_str("<tr>");
        cells(&mut Row(&mut self.rows));
        self.rows.push_str("</tr>\n");
    }
}

/// A row that is being written.
struct Row<'a>(&'a mut String);

impl Row<'_> {
    fn text(&mut self, text: impl Display) {
        self.cell("<td>", text);
    }

    fn number(&mut self, number: impl Display) {
        self.cell("<td class=\"n\">", number);
    }

    fn total(&mut self, number: impl Display) {
        self.cell("<td class=\"n total\">", number);
    }

    fn cell(&mut self, tag: &str, content: impl Display) {
        let written = write!(self.0, "{tag}{}</td>", Escaped(content));
        written.expect("a text takes everything");
    }
}

/// A text in which no character has a meaning in HTML.
struct Escaped<T>(T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

struct Escaping<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            match letter {
                '&' => self.0.write_str("&amp;")?,
                '<' => self.0.write_str("&lt;")?,
                '>' => self.0.write_str("&gt;")?,
                '"' => self.0.write_str("&quot;")?,
                '\'' => self.0.write_str("&#39;")?,
                letter => self.0.write_char(letter)?,
            }
        }
        Ok(())
    }
}

impl<'a> HtmlPage<'a> {
    /// A page about the range between two positions.
    #[must_use]
    pub(crate) fn new(
        heading: StatementHeading,
        opening: &'a Positions,
        closing: &'a Positions,
    ) -> HtmlPage<'a> {
        let (transfers, fills, ended) = (Table::default(), Table::default(), Table::default());
        HtmlPage { heading, opening, closing, transfers, fills, ended }
    }

    /// Takes a line of the range.
    pub(crate) fn line(&mut self, line: &StatementLine) {
        let (closing, account) = (self.closing, line.account);
        match line.detail {
            LineDetail::Reserve | LineDetail::Payment(_) => {}
            LineDetail::Deposit(reference)
            | LineDetail::Withdrawal(reference)
            | LineDetail::WithdrawalHeld(reference)
            | LineDetail::WithdrawalSettled(reference)
            | LineDetail::WithdrawalReleased(reference) => self.transfers.add(|row| {
                row.text(utc::show(line.at.time));
                row.number(account);
                row.text(transfer_name(line.detail));
                row.number(amount(closing, line.currency, line.available));
                row.number(amount(closing, line.currency, line.held));
                row.text(code(closing, line.currency));
                row.text(reference);
            }),
            LineDetail::Fill(fill) => self.fills.add(|row| {
                row.text(utc::show(line.at.time));
                row.number(account);
                row.text(symbol(closing, fill.instrument));
                row.text(fill.side.name());
                row.text(fill.role.name());
                let Some(spec) = closing.spec(fill.instrument) else { return };
                row.number(fill.price.decimal(spec.price_scale));
                row.number(fill.quantity.decimal(spec.quantity_scale));
                row.number(amount(closing, spec.quote, fill.notional.0));
                row.number(amount(closing, spec.quote, fill.fee.0));
                row.text(code(closing, spec.quote));
                row.number(fill.order.0);
                row.number(fill.trade.0);
            }),
            LineDetail::OrderEnded(ended) => self.ended.add(|row| {
                row.text(utc::show(line.at.time));
                row.number(account);
                row.text(symbol(closing, ended.instrument));
                row.text(ended.side.name());
                let Some(spec) = closing.spec(ended.instrument) else { return };
                match ended.price {
                    Some(price) => row.number(price.decimal(spec.price_scale)),
                    None => row.number(""),
                }
                row.number(ended.remaining.decimal(spec.quantity_scale));
                row.text(ended.reason_name());
                row.number(ended.order.0);
            }),
        }
    }

    /// The page.
    #[must_use]
    pub(crate) fn finish(self, summary: &StatementSummary) -> String {
        let StatementHeading { member, name, first, last } = self.heading;
        let mut page = String::new();
        let written = write!(
            page,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>Statement of member {member}, {}</title>\n<style>{STYLE}</style>\n</head>\n\
             <body>\n<h1>Statement of {}</h1>\n<dl>\n\
             <dt>Member</dt><dd>{member}</dd>\n\
             <dt>From</dt><dd>sequence {}, {}</dd>\n\
             <dt>To</dt><dd>sequence {}, {}</dd>\n</dl>\n",
            utc::day(last.time),
            Escaped(name),
            first.seq,
            utc::show(first.time),
            last.seq,
            utc::show(last.time),
        );
        written.expect("a text takes everything");
        for (account, name) in self.closing.accounts_of(member) {
            self.balances(account, name.as_str(), summary, &mut page);
        }
        page.push_str(
            "<p class=\"note\">Opening + deposits − withdrawals + received − given − fees = \
             closing, each as available and held together. Held amounts cover open orders and \
             withdrawals.</p>\n",
        );
        let heads = ["Time", "Account", "What", "Available", "Held", "Currency", "Reference"];
        table("Deposits and withdrawals", &heads, &[1, 3, 4], &self.transfers, &mut page);
        let heads = [
            "Time",
            "Account",
            "Instrument",
            "Side",
            "Role",
            "Price",
            "Quantity",
            "Notional",
            "Fee",
            "Currency",
            "Order",
            "Trade",
        ];
        table("Fills", &heads, &[1, 5, 6, 7, 8, 10, 11], &self.fills, &mut page);
        let heads =
            ["Time", "Account", "Instrument", "Side", "Limit", "Not traded", "Reason", "Order"];
        table("Ended orders", &heads, &[1, 4, 5, 7], &self.ended, &mut page);
        page.push_str("</body>\n</html>\n");
        page
    }

    /// The balances of an account, with what moved them.
    fn balances(
        &self,
        account: AccountId,
        name: &str,
        summary: &StatementSummary,
        page: &mut String,
    ) {
        let written = writeln!(page, "<h2>Account {account} {}</h2>", Escaped(name));
        written.expect("a text takes everything");
        let mut table = Table::default();
        for (currency, closing) in self.closing.of_account(account) {
            let opening = self.opening.balance(account, currency);
            let movements = summary.movements.get(&(account, currency));
            let movements = movements.copied().unwrap_or_default();
            // There are at most 65,535 currencies, and a page has all balances.
            table.shown = 0;
            table.add(|row| {
                let amount = |value| amount(self.closing, currency, value);
                row.text(code(self.closing, currency));
                row.number(amount(opening.available.0));
                row.number(amount(opening.held.0));
                row.number(amount(movements.deposits));
                row.number(amount(movements.withdrawals));
                row.number(amount(movements.received));
                row.number(amount(movements.given));
                row.number(amount(movements.fees));
                row.number(amount(closing.available.0));
                row.number(amount(closing.held.0));
                row.total(amount(closing.total()));
            });
        }
        let heads = [
            "Currency",
            "Opening available",
            "Opening held",
            "Deposits",
            "Withdrawals",
            "Received",
            "Given",
            "Fees",
            "Closing available",
            "Closing held",
            "Closing total",
        ];
        rows(&heads, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], &table.rows, page);
    }
}

/// A table under a title, or a sentence if it has no rows.
fn table(title: &str, heads: &[&str], numbers: &[usize], table: &Table, page: &mut String) {
    page.push_str("<h2>");
    page.push_str(title);
    page.push_str("</h2>\n");
    if table.total == 0 {
        page.push_str("<p class=\"note\">None in this range.</p>\n");
        return;
    }
    rows(heads, numbers, &table.rows, page);
    if table.total > table.shown as u64 {
        let (shown, total) = (table.shown, table.total);
        let written = writeln!(
            page,
            "<p class=\"note\">The first {shown} of {total} are shown; the CSV has all.</p>"
        );
        written.expect("a text takes everything");
    }
}

fn rows(heads: &[&str], numbers: &[usize], rows: &str, page: &mut String) {
    page.push_str("<table>\n<thead><tr>");
    for (nth, head) in heads.iter().enumerate() {
        let class = if numbers.contains(&nth) { " class=\"n\"" } else { "" };
        let written = write!(page, "<th scope=\"col\"{class}>{head}</th>");
        written.expect("a text takes everything");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    page.push_str(rows);
    page.push_str("</tbody>\n</table>\n");
}

fn transfer_name(detail: LineDetail) -> &'static str {
    match detail {
        LineDetail::Deposit(_) => "deposit",
        LineDetail::Withdrawal(_) => "withdrawal",
        LineDetail::WithdrawalHeld(_) => "withdrawal held",
        LineDetail::WithdrawalSettled(_) => "withdrawal paid out",
        LineDetail::WithdrawalReleased(_) => "withdrawal given back",
        other => other.name(),
    }
}

fn amount(positions: &Positions, currency: CurrencyId, value: i128) -> Decimal {
    let scale = positions.currency(currency).map_or(Scale::default(), |currency| currency.scale);
    Decimal { value, scale }
}

fn code(positions: &Positions, currency: CurrencyId) -> &str {
    positions.currency(currency).map_or("", |currency| currency.code.as_str())
}

fn symbol(positions: &Positions, instrument: InstrumentId) -> &str {
    positions.spec(instrument).map_or("", |spec| spec.symbol.as_str())
}
