//! `rialto flow replay`.

use super::frames::moments;
use super::past::Past;
use super::{Which, output, screen, show};
use crate::Error;
use crate::keys::KeyArgs;
use crate::terminal::{Key, RawTerminal, is_interactive};
use std::time::Duration;

/// The wait for a key before a redraw, because the terminal's size may have changed.
const DRAW_EVERY: Duration = Duration::from_millis(500);

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
    /// Print all steps one after the other; the default if the output is not a terminal.
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    keys: KeyArgs,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    let tree = args.which.tree()?;
    let moments = moments(&tree);
    let mut past = Past::new(&args.which.data, args.keys.ring()?);
    if args.plain || !is_interactive() {
        let mut text = show::head(tree.record());
        for at in 0..moments.len() {
            for line in screen::lines(&moments, at, &mut past) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        output::print(&text);
        return Ok(());
    }
    let broken = |error: std::io::Error| Error::Failed(format!("the terminal: {error}"));
    let terminal = RawTerminal::enter().map_err(broken)?;
    let mut at = 0;
    loop {
        let lines = screen::draw(&moments, at, &mut past, terminal.size());
        terminal.draw(&lines).map_err(broken)?;
        for key in terminal.keys(DRAW_EVERY).map_err(broken)? {
            match moved(at, moments.len() - 1, key) {
                Some(to) => at = to,
                None => return Ok(()),
            }
        }
    }
}

/// The entry that a key leads to; `None` to quit.
fn moved(at: usize, last: usize, key: Key) -> Option<usize> {
    Some(match key {
        Key::Char('q' | 'Q') | Key::Interrupt => return None,
        Key::Next | Key::Char('n' | ' ' | 'l') => (at + 1).min(last),
        Key::Previous | Key::Char('p' | 'b' | 'h') => at.saturating_sub(1),
        Key::Char('0') => 0,
        Key::Char('9') => last,
        Key::Char(_) => at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_step_forward_and_back_and_stop_at_both_ends() {
        let walk = |keys: &[Key]| keys.iter().try_fold(0, |at, key| moved(at, 2, *key));
        let (next, back) = (Key::Next, Key::Previous);
        assert_eq!(walk(&[next, next, next]), Some(2));
        assert_eq!(walk(&[next, next, back]), Some(1));
        assert_eq!(walk(&[back, next]), Some(1));
        assert_eq!(walk(&[Key::Char('9'), Key::Char('0'), Key::Char('x')]), Some(0));
        assert_eq!(walk(&[next, Key::Char('q')]), None);
    }
}
