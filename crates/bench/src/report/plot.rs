//! Draws figures as SVG. Colours come from the style sheet of the page, so one drawing serves
//! light and dark mode.

use super::figure::{Bar, Figure, Series};
use super::html::escape;
use super::scale::{Range, bar_label};
use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 32.0;
const BOTTOM: f64 = 48.0;
const LEGEND_LINE: f64 = 20.0;
const BAR_LINE: f64 = 26.0;
/// The space for names left of the bars, and for values right of them.
const BAR_NAMES: f64 = 290.0;
const BAR_VALUES: f64 = 80.0;
/// The number of colours in the style sheet; further series start again with dashed lines.
const COLOURS: usize = 6;

/// A figure as an SVG element with a caption.
pub(super) fn figure(figure: &Figure) -> String {
    let (title, drawing) = match figure {
        Figure::Lines { title, x, y, series } => {
            let points = || series.iter().flat_map(|series| &series.points);
            let horizontal = Range::covering(x.scale, points().map(|point| point.0));
            let vertical = Range::covering(y.scale, points().map(|point| point.1));
            (title, lines((&x.label, &horizontal), (&y.label, &vertical), series))
        }
        Figure::Bars { title, value, bars } => {
            let range = Range::covering(value.scale, bars.iter().map(|bar| bar.value));
            (title, horizontal_bars(&value.label, &range, bars))
        }
    };
    let title = escape(title);
    format!("<figure><figcaption>{title}</figcaption>\n{drawing}</figure>\n")
}

/// Collects the elements of a drawing.
struct Drawing(String);

impl Drawing {
    fn new(height: f64) -> Drawing {
        Drawing(format!("<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\">\n"))
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        self.0.write_fmt(element).expect("writing to a string cannot fail");
        self.0.push('\n');
    }

    fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        let text = escape(text);
        self.add(format_args!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"));
    }

    fn rule(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.add(format_args!(
            "<line class=\"rule\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        ));
    }

    fn end(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

fn lines(
    (x_label, horizontal): (&str, &Range),
    (y_label, vertical): (&str, &Range),
    series: &[Series],
) -> String {
    let legend = series.len() as f64 * LEGEND_LINE;
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let x_at = |place: f64| LEFT + place * (right - LEFT);
    let y_at = |place: f64| bottom - place * (bottom - TOP);
    let mut drawing = Drawing::new(HEIGHT + legend);
    for tick in vertical.ticks() {
        let y = y_at(tick.place);
        drawing.rule((LEFT, y), (right, y));
        drawing.text("end", (LEFT - 8.0, y + 4.0), &tick.label);
    }
    for tick in horizontal.ticks() {
        let x = x_at(tick.place);
        drawing.rule((x, TOP), (x, bottom));
        drawing.text("middle", (x, bottom + 18.0), &tick.label);
    }
    drawing.text("middle strong", ((LEFT + right) / 2.0, bottom + 38.0), x_label);
    drawing.text("strong", (4.0, 12.0), y_label);
    for (number, series) in series.iter().enumerate() {
        let class = series_class(number);
        let path: Vec<String> = series
            .points
            .iter()
            .filter_map(|&(x, y)| Some((horizontal.place(x)?, vertical.place(y)?)))
            .map(|(x, y)| format!("{:.1},{:.1}", x_at(x), y_at(y)))
            .collect();
        drawing.add(format_args!("<polyline class=\"{class}\" points=\"{}\"/>", path.join(" ")));
        if let [alone] = path.as_slice()
            && let Some((x, y)) = alone.split_once(',')
        {
            drawing.add(format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"3\"/>"));
        }
        let y = HEIGHT + number as f64 * LEGEND_LINE + 4.0;
        drawing.add(format_args!(
            "<polyline class=\"{class}\" points=\"{LEFT},{y:.1} {:.1},{y:.1}\"/>",
            LEFT + 28.0
        ));
        drawing.text("start", (LEFT + 36.0, y + 4.0), &series.name);
    }
    drawing.end()
}

fn horizontal_bars(label: &str, range: &Range, bars: &[Bar]) -> String {
    let bottom = TOP + bars.len() as f64 * BAR_LINE;
    let right = WIDTH - BAR_VALUES;
    let x_at = |place: f64| BAR_NAMES + place.clamp(0.0, 1.0) * (right - BAR_NAMES);
    let mut drawing = Drawing::new(bottom + BOTTOM);
    for tick in range.ticks() {
        let x = x_at(tick.place);
        drawing.rule((x, TOP), (x, bottom));
        drawing.text("middle", (x, bottom + 16.0), &tick.label);
    }
    for (number, bar) in bars.iter().enumerate() {
        let top = TOP + number as f64 * BAR_LINE;
        let width = range.place(bar.value).map_or(0.0, |place| x_at(place) - BAR_NAMES);
        let class = if bar.ours { "bar ours" } else { "bar" };
        drawing.add(format_args!(
            "<rect class=\"{class}\" x=\"{BAR_NAMES}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>",
            top + 4.0,
            BAR_LINE - 8.0
        ));
        let baseline = top + BAR_LINE / 2.0 + 4.0;
        drawing.text("end", (BAR_NAMES - 8.0, baseline), &bar.name);
        drawing.text("start strong", (BAR_NAMES + width + 6.0, baseline), &bar_label(bar.value));
    }
    drawing.text("middle strong", ((BAR_NAMES + right) / 2.0, bottom + 36.0), label);
    drawing.end()
}

fn series_class(number: usize) -> String {
    let colour = number % COLOURS;
    if number < COLOURS { format!("series c{colour}") } else { format!("series dashed c{colour}") }
}

#[cfg(test)]
mod tests {
    use super::super::figure::{Axis, Scale};
    use super::*;

    #[test]
    fn a_line_goes_through_its_points() {
        let drawn = figure(&Figure::Lines {
            title: "throughput against group size".into(),
            x: Axis::new("group, bytes", Scale::Log),
            y: Axis::new("orders/s", Scale::Linear),
            series: vec![Series {
                name: "synced".into(),
                points: vec![(1.0, 0.0), (10.0, 50.0), (100.0, 100.0)],
            }],
        });
        assert!(drawn.contains("points=\"64.0,292.0 384.0,162.0 704.0,32.0\""), "{drawn}");
        assert!(drawn.contains(">synced</text>"), "{drawn}");
    }

    #[test]
    fn bars_are_as_long_as_their_values() {
        let bar = |name: &str, value, ours| Bar { name: name.into(), value, ours };
        let drawn = figure(&Figure::Bars {
            title: "throughput".into(),
            value: Axis::new("op/s", Scale::Linear),
            bars: vec![bar("ours", 10e6, true), bar("<peer>", 5e6, false)],
        });
        let widths: Vec<f64> = drawn
            .split("width=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next()?.parse().ok())
            .collect();
        assert_eq!(widths.len(), 2);
        assert!((widths[0] / widths[1] - 2.0).abs() < 1e-3, "{widths:?}");
        assert!(drawn.contains("&lt;peer&gt;"), "names are escaped: {drawn}");
    }

    #[test]
    fn values_outside_of_an_axis_are_omitted() {
        let drawn = figure(&Figure::percentiles(
            "latency",
            vec![Series { name: "a".into(), points: vec![(0.5, 100.0), (1.0, 200.0)] }],
        ));
        assert!(drawn.contains("<circle"), "one point is left and is drawn as a dot: {drawn}");
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    }
}
