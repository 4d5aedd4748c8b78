//! A moment in lines.

use super::frames::{Moment, What};
use super::past::Past;
use super::{began, request_id, result};
use std::time::Duration;

/// The text of an entry: its place, its changed variables, and the venue's state.
pub(super) fn lines(moments: &[Moment<'_>], at: usize, past: &mut Past) -> Vec<String> {
    let (Some(moment), Some(first)) = (moments.get(at), moments.first()) else { return Vec::new() };
    let record = moment.record;
    let since = moment.at.since(first.at);
    let what = match moment.what {
        What::Began => "begins".to_owned(),
        What::Reached(step) => match record.took(step) {
            Some(took) => format!("{}  (takes {took:?})", step.name()),
            None => step.name().to_owned(),
        },
        What::Ended => format!("ends: {}", result(record)),
    };
    let pad = "  ".repeat(moment.depth);
    let mut lines = vec![format!(
        "[{}/{}] +{since:?}  {pad}{} #{}: {what}",
        at + 1,
        moments.len(),
        record.name(),
        record.id()
    )];
    if matches!(moment.what, What::Ended)
        && let Some(rialto_recorder::RecordEnding::Failed { message, .. }) = record.ending()
    {
        lines.push(format!("    {pad}{message}"));
    }
    lines.extend(moment.changes().iter().map(|change| format!("    {pad}{change}")));
    for seq in moment.seqs() {
        lines.extend(past.around(seq).iter().map(|line| format!("    {pad}{line}")));
    }
    lines
}

/// A screen: the entry's position among the others, and the entry.
pub(super) fn draw(
    moments: &[Moment<'_>],
    at: usize,
    past: &mut Past,
    (columns, rows): (usize, usize),
) -> Vec<String> {
    let Some(moment) = moments.get(at) else { return Vec::new() };
    let first = moments[0].record;
    let request = request_id(first).map(|id| format!("  request {id}")).unwrap_or_default();
    let mut lines = vec![
        format!("\x1b[1m{} #{}\x1b[0m{request}  {}", first.name(), first.id(), began(first)),
        String::new(),
    ];
    // The row of moments, with the one in the middle that is looked at.
    let shown = (rows / 3).clamp(3, 12);
    let from = at.saturating_sub(shown / 2).min(moments.len().saturating_sub(shown));
    for (number, other) in moments.iter().enumerate().skip(from).take(shown) {
        let name = match other.what {
            What::Began => format!("{} begins", other.record.name()),
            What::Reached(step) => step.name().to_owned(),
            What::Ended => format!("{} ends: {}", other.record.name(), result(other.record)),
        };
        let since: Duration = other.at.since(moments[0].at);
        let line = format!("{:>12}  {}{name}", format!("+{since:?}"), "  ".repeat(other.depth));
        lines.push(match number == at {
            true => format!("\x1b[7m▸ {line}\x1b[0m"),
            false => format!("  {line}"),
        });
    }
    lines.push(String::new());
    lines.extend(self::lines(moments, at, past).into_iter().skip(1));
    let variables = moment.variables();
    if !variables.is_empty() {
        lines.push(String::new());
        lines.push(format!("    all of {} so far:", moment.record.name()));
        lines.extend(variables.iter().map(|(name, value)| format!("      {name} = {value}")));
    }
    let room = rows.saturating_sub(2);
    if lines.len() > room {
        let hidden = lines.len() - room.saturating_sub(1);
        lines.truncate(room.saturating_sub(1));
        lines.push(format!(
            "\x1b[2m… {hidden} more lines: use a taller terminal, or --plain\x1b[0m"
        ));
    }
    lines.push(String::new());
    lines.push("\x1b[2m← → or p n: step   0: begin   9: end   q: leave\x1b[0m".to_owned());
    lines.iter().map(|line| cut(line, columns)).collect()
}

/// The part of a line that fits, with all escape sequences, which take no room.
fn cut(line: &str, columns: usize) -> String {
    let (mut room, mut is_colour) = (columns, false);
    let mut fits = String::new();
    for letter in line.chars() {
        is_colour |= letter == '\x1b';
        if is_colour || room > 0 {
            fits.push(letter);
        }
        room = room.saturating_sub(usize::from(!is_colour));
        is_colour &= letter != 'm';
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_where_the_terminal_ends_and_keeps_its_colours() {
        assert_eq!(cut("\x1b[7mfoam →\x1b[0m", 3), "\x1b[7mfoa\x1b[0m");
        assert_eq!(cut("foam →", 6), "foam →");
    }
}
