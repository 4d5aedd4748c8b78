//! Makes the statements of a range: a fold for the balances, then passes that write the files.

use crate::csv::CsvRows;
use crate::error::StatementError;
use crate::flow::tell_all;
use crate::html::HtmlPage;
use crate::line::StatementLine;
use crate::outbox::{self, OutboxRefusal, StatementRange, file_stem, member_tenant, refusal};
use crate::positions::{BalancesDigest, Positions};
use crate::range::each_event;
use crate::summary::{StatementHeading, StatementSummary};
use rialto_depot::{Depot, DepotError, TenantName, Upload};
use rialto_desk::Live;
use rialto_feed::Moment;
use rialto_model::{Event, MemberId, Name, Seq, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How many bytes of rows are collected before they are written to the depot.
const ROWS_BYTES: usize = 64 << 10;
/// The longest pause before a piece is written again that the rate of the pool refused.
const RATE_PAUSE: Duration = Duration::from_millis(20);

/// What makes statements.
#[derive(Clone)]
pub(crate) struct Maker {
    pub(crate) depot: Depot,
    pub(crate) live: Arc<Live>,
    pub(crate) stop: Arc<AtomicBool>,
    /// How many statements are written at once.
    pub(crate) members_per_pass: usize,
}

/// The members that a range has statements for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Made {
    /// Statements that are on the shelves now.
    pub(crate) members: u32,
    /// The refused statements.
    pub(crate) refused: Vec<(MemberId, OutboxRefusal)>,
}

/// A range whose events were folded once.
struct Folded {
    range: StatementRange,
    first: Moment,
    opening: Positions,
    closing: Positions,
    summaries: BTreeMap<MemberId, StatementSummary>,
}

impl Maker {
    /// Makes the statements of a range: of all members that it has lines for, or of `only` some.
    ///
    /// With the balances of the venue as of its end, the range is compared with them first, and the
    /// positions at its end are stored for the next range.
    pub(crate) fn make(
        &self,
        range: StatementRange,
        only: Option<&[MemberId]>,
        venue: Option<BalancesDigest>,
    ) -> Result<Made, StatementError> {
        let folded = self.fold(range)?;
        if let Some(venue) = venue {
            if folded.closing.digest() != venue {
                return Err(StatementError::NotTheVenues { last: range.last });
            }
            outbox::store_positions(&self.depot, &folded.closing)?;
        }
        let mut made = Made::default();
        let mut waiting = Vec::new();
        let stem = file_stem(range, folded.closing.time());
        for (member, summary) in &folded.summaries {
            if only.is_some_and(|only| !only.contains(member)) {
                continue;
            }
            if let Some((account, currency)) =
                summary.contradiction(*member, &folded.opening, &folded.closing)
            {
                tracing::error!(
                    member = member.0,
                    account = account.0,
                    currency = currency.0,
                    "a statement does not add up and is not published"
                );
                made.refused.push((*member, OutboxRefusal::DoesNotAddUp));
            } else if self.is_made(*member, &stem)? {
                made.members += 1;
            } else {
                waiting.push(*member);
            }
        }
        for members in waiting.chunks(self.members_per_pass.max(1)) {
            match self.write(&folded, &stem, members, &mut made) {
                Err(error) if !error.may_pass() => {
                    // Others have their statements already, so that the run must not fail: the next
                    // one would begin before its range again.
                    let reason = tell_all(&error);
                    tracing::error!(reason, "statements cannot be written");
                    made.refused.extend(members.iter().map(|member| (*member, error.refusal())));
                }
                written => written?,
            }
        }
        Ok(made)
    }

    fn is_made(&self, member: MemberId, stem: &str) -> Result<bool, StatementError> {
        let tenant = member_tenant(member);
        Ok(outbox::is_there(&self.depot, &tenant, stem, "csv")?
            && outbox::is_there(&self.depot, &tenant, stem, "html")?)
    }

    /// Folds the events of a range, and adds up what they moved.
    fn fold(&self, range: StatementRange) -> Result<Folded, StatementError> {
        let opening = self.opening(range.after)?;
        let mut closing = opening.clone();
        let mut summaries: BTreeMap<MemberId, StatementSummary> = BTreeMap::new();
        let mut first = None;
        self.each_line(range, &mut closing, |at, member, line| {
            first.get_or_insert(at);
            if let Some((member, line)) = member.zip(line) {
                summaries.entry(member).or_default().add(line);
            }
        })?;
        let none = Moment { seq: range.first(), time: closing.time() };
        Ok(Folded { range, first: first.unwrap_or(none), opening, closing, summaries })
    }

    /// The positions before a range.
    fn opening(&self, after: Seq) -> Result<Positions, StatementError> {
        if after == Seq::ZERO {
            return Ok(Positions::new());
        }
        let stored = outbox::load_positions(&self.depot, after)?;
        stored.ok_or_else(|| StatementError::Unreadable {
            seq: after,
            why: "they are not stored".to_owned(),
        })
    }

    /// Folds the events of a range into `positions`. Passes on each command, and each line with the
    /// member that it belongs to.
    fn each_line(
        &self,
        range: StatementRange,
        positions: &mut Positions,
        mut tell: impl FnMut(Moment, Option<MemberId>, Option<&StatementLine>),
    ) -> Result<(), StatementError> {
        let mut lines: Vec<StatementLine> = Vec::new();
        each_event(&self.live, range, &self.stop, |seq: Seq, time: Timestamp, event: &Event| {
            positions.fold(seq, time, event, &mut |line| lines.push(*line))?;
            tell(Moment { seq, time }, None, None);
            for line in lines.drain(..) {
                let holder = positions.accounts.get(&line.account);
                tell(line.at, holder.map(|holder| holder.member), Some(&line));
            }
            Ok(())
        })
    }

    /// Writes a piece of a statement. The rate of the pool concerns all members, and is waited for.
    fn write_piece(&self, upload: &mut Upload, piece: &[u8]) -> Result<(), DepotError> {
        loop {
            match upload.write(piece) {
                Err(DepotError::RateReached { tenant: None, wait, .. })
                    if !self.stop.load(Ordering::Relaxed) =>
                {
                    std::thread::sleep(wait.min(RATE_PAUSE));
                }
                written => return written,
            }
        }
    }

    /// Writes the statements of some members, in one pass over the events.
    fn write(
        &self,
        folded: &Folded,
        stem: &str,
        members: &[MemberId],
        made: &mut Made,
    ) -> Result<(), StatementError> {
        let mut drafts: BTreeMap<MemberId, Draft<'_>> = BTreeMap::new();
        for member in members {
            match Draft::begin(self, folded, *member, stem) {
                Ok(draft) => {
                    drafts.insert(*member, draft);
                }
                Err(error) => note_refused(*member, error, made)?,
            }
        }
        let mut positions = folded.opening.clone();
        let mut failed: Vec<(MemberId, DepotError)> = Vec::new();
        self.each_line(folded.range, &mut positions, |_, member, line| {
            let Some((member, line)) = member.zip(line) else { return };
            let Some(draft) = drafts.get_mut(&member) else { return };
            if let Err(error) = draft.line(line) {
                drafts.remove(&member);
                failed.push((member, error));
            }
        })?;
        for (member, error) in failed {
            note_refused(member, error, made)?;
        }
        for (member, draft) in drafts {
            // The lines that were written must be the lines that were added up before.
            if folded.summaries.get(&member) != Some(&draft.summary) {
                tracing::error!(member = member.0, "two folds of the same events differ");
                made.refused.push((member, OutboxRefusal::DoesNotAddUp));
                continue;
            }
            match draft.finish(stem) {
                Ok(()) => made.members += 1,
                Err(error) => note_refused(member, error, made)?,
            }
        }
        Ok(())
    }
}

/// Notes that a member does not get its statement, unless the depot refuses everything.
fn note_refused(
    member: MemberId,
    error: DepotError,
    made: &mut Made,
) -> Result<(), StatementError> {
    let reason = error.to_string();
    let refusal = refusal(error)?;
    tracing::warn!(member = member.0, reason, "a statement was refused by the member's outbox");
    made.refused.push((member, refusal));
    Ok(())
}

/// A statement that is being written.
struct Draft<'a> {
    maker: &'a Maker,
    tenant: TenantName,
    csv: CsvRows<'a>,
    page: HtmlPage<'a>,
    summary: StatementSummary,
    rows: String,
    upload: Upload,
}

impl<'a> Draft<'a> {
    fn begin(
        maker: &'a Maker,
        folded: &'a Folded,
        member: MemberId,
        stem: &str,
    ) -> Result<Draft<'a>, DepotError> {
        let depot = &maker.depot;
        let Folded { range, first, opening, closing, .. } = folded;
        let name = closing.members.get(&member).copied().unwrap_or(Name::EMPTY);
        let last = Moment { seq: range.last, time: closing.time() };
        let heading = StatementHeading { member, name, first: *first, last };
        let tenant = member_tenant(member);
        outbox::make_shelf(depot, &tenant)?;
        let upload = outbox::begin(depot, &tenant, stem, "csv", "text/csv; charset=utf-8")?;
        let csv = CsvRows::new(heading, closing);
        let page = HtmlPage::new(heading, opening, closing);
        let mut rows = String::with_capacity(2 * ROWS_BYTES);
        csv.begin(opening, &mut rows);
        let summary = StatementSummary::default();
        Ok(Draft { maker, tenant, csv, page, summary, rows, upload })
    }

    fn line(&mut self, line: &StatementLine) -> Result<(), DepotError> {
        self.summary.add(line);
        self.page.line(line);
        self.csv.line(line, &mut self.rows);
        if self.rows.len() < ROWS_BYTES {
            return Ok(());
        }
        self.maker.write_piece(&mut self.upload, self.rows.as_bytes())?;
        self.rows.clear();
        Ok(())
    }

    /// Both files exist when this returns.
    fn finish(mut self, stem: &str) -> Result<(), DepotError> {
        let maker = self.maker;
        self.csv.end(&self.summary, &mut self.rows);
        maker.write_piece(&mut self.upload, self.rows.as_bytes())?;
        let page = self.page.finish(&self.summary);
        let mut second =
            outbox::begin(&maker.depot, &self.tenant, stem, "html", "text/html; charset=utf-8")?;
        maker.write_piece(&mut second, page.as_bytes())?;
        self.upload.finish()?;
        second.finish()?;
        Ok(())
    }
}
