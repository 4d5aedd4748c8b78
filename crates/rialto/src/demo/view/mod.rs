//! Shows the demo venue while it runs.

mod gauges;
mod picture;
mod plain;
mod screen;
mod text;

pub(crate) use screen::Footer;

use crate::demo::day::Record;
use crate::terminal::{Key, RawTerminal, say};
use crate::venue::Venue;
use gauges::Meter;
use picture::Picture;
use rialto_model::Instrument;
use std::time::{Duration, Instant};

const FRAME_PERIOD: Duration = Duration::from_millis(250);
const LINE_PERIOD: Duration = Duration::from_secs(2);
/// Lines that a day has at least: some in each of its calls.
const LINES_PER_DAY: u32 = 40;

/// What is shown.
pub(crate) struct Subject<'a> {
    pub(crate) venue: &'a Venue,
    pub(crate) instruments: &'a [Instrument],
    /// The trading days that are played, if any are.
    pub(crate) day: Option<&'a Record>,
    /// The length of a day.
    pub(crate) day_length: Option<Duration>,
}

/// Draws the venue until a key says that it is enough, or `is_over` does.
pub(crate) fn watch(
    subject: &Subject<'_>,
    footer: &Footer<'_>,
    mut is_over: impl FnMut() -> bool,
) -> std::io::Result<()> {
    let instruments = subject.instruments;
    let terminal = RawTerminal::enter()?;
    let mut meter = Meter::default();
    let mut market = 0;
    let mut frame_due = Instant::now();
    while !is_over() {
        let left = frame_due.saturating_duration_since(Instant::now());
        let keys = terminal.keys(left)?;
        for key in &keys {
            match key {
                Key::Char('q' | 'Q') | Key::Interrupt => return Ok(()),
                Key::Char(digit @ '1'..='9') => {
                    let wanted = *digit as usize - '1' as usize;
                    market = if wanted < instruments.len() { wanted } else { market };
                }
                Key::Next => market = (market + 1) % instruments.len(),
                Key::Previous => market = (market + instruments.len() - 1) % instruments.len(),
                Key::Char(_) => {}
            }
        }
        if keys.is_empty() && Instant::now() < frame_due {
            continue;
        }
        frame_due = Instant::now() + FRAME_PERIOD;
        if let Some(picture) = Picture::take(subject, market, &mut meter) {
            terminal.draw(&screen::lines(&picture, market, footer, terminal.size()))?;
        }
    }
    Ok(())
}

/// Prints a line about the venue every few seconds, and one for each phase of a day, until `is_over`, which is asked after waits of
/// at most the time it is given.
pub(crate) fn log(subject: &Subject<'_>, mut is_over: impl FnMut(Duration) -> bool) {
    let wanted = subject.day_length.map_or(LINE_PERIOD, |length| length / LINES_PER_DAY);
    let period = wanted.clamp(FRAME_PERIOD, LINE_PERIOD);
    let mut meter = Meter::default();
    let mut line_due = Instant::now() + period;
    // The first line is computed against this first sample.
    let _ = Picture::take(subject, 0, &mut meter);
    while !is_over(line_due.saturating_duration_since(Instant::now()).min(FRAME_PERIOD)) {
        for line in subject.day.iter().flat_map(|day| day.new_lines()) {
            say(format_args!("{line}"));
        }
        if Instant::now() < line_due {
            continue;
        }
        line_due += period;
        if let Some(picture) = Picture::take(subject, 0, &mut meter) {
            say(format_args!("{}", plain::line(&picture)));
        }
    }
}
