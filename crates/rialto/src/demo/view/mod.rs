//! Shows the demo venue while it runs.

mod gauges;
mod picture;
mod plain;
mod screen;
mod text;

pub(crate) use screen::Footer;

use crate::terminal::{Key, RawTerminal, say};
use crate::venue::Venue;
use gauges::Meter;
use picture::Picture;
use rialto_model::Instrument;
use std::time::{Duration, Instant};

const FRAME_PERIOD: Duration = Duration::from_millis(250);
const LINE_PERIOD: Duration = Duration::from_secs(2);

/// Draws the venue until a key says that it is enough, or `is_over` does.
pub(crate) fn watch(
    venue: &Venue,
    instruments: &[Instrument],
    footer: &Footer<'_>,
    mut is_over: impl FnMut() -> bool,
) -> std::io::Result<()> {
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
        if let Some(picture) = Picture::take(venue, instruments, market, &mut meter) {
            terminal.draw(&screen::lines(&picture, market, footer, terminal.size()))?;
        }
    }
    Ok(())
}

/// Prints a line about the venue every few seconds until `is_over`, which is asked after waits of
/// at most the time it is given.
pub(crate) fn log(
    venue: &Venue,
    instruments: &[Instrument],
    mut is_over: impl FnMut(Duration) -> bool,
) {
    let mut meter = Meter::default();
    let mut line_due = Instant::now() + LINE_PERIOD;
    // The first line is computed against this first sample.
    let _ = Picture::take(venue, instruments, 0, &mut meter);
    while !is_over(line_due.saturating_duration_since(Instant::now()).min(FRAME_PERIOD)) {
        if Instant::now() < line_due {
            continue;
        }
        line_due += LINE_PERIOD;
        if let Some(picture) = Picture::take(venue, instruments, 0, &mut meter) {
            say(format_args!("{}", plain::line(&picture)));
        }
    }
}
