//! Progress bars of content, on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that counts bytes. It is drawn on the standard error if that is a terminal.
pub(super) fn of_bytes(total: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    let style = match total {
        Some(_) => "{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        None => "{bytes}, {bytes_per_sec}",
    };
    bar.with_style(ProgressStyle::with_template(style).expect("the template is a constant"))
}
