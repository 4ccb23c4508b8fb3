//! The drawing room: everything that turns text and numbers into markup, once.
//!
//! - [`escape`] makes text safe in elements and attributes of HTML and SVG.
//! - [`Svg`] writes a drawing; coordinates have one decimal, and colours are classes of the
//!   stylesheet, so that one drawing serves light and dark.
//! - [`CHART_CSS`] and [`PAGE_CSS`] are the stylesheet: an SVG file has the first, a page both.
//! - Numbers and durations in text come from [`crate::format`].
//!
//! Pages (`page`) and charts (`svg`) take escaping, drawings and numbers from here. Outside of this
//! crate only the stylesheet is used: `cargo xtask gen` writes both files into that of the task
//! runtime's page, and the page of `cargo xtask peers` includes them. `silicon`, which this crate
//! uses, words its own durations. The task runtime uses no room, so its escaping and its grouped
//! numbers are its own.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::format::clean;

/// Colours and fonts of every drawing, light and dark.
pub(crate) const CHART_CSS: &str = include_str!("svg/chart.css");

/// Layout and fonts of a page around its drawings.
pub(crate) const PAGE_CSS: &str = include_str!("page/page.css");

/// Number of colours for series; further series repeat them.
pub(crate) const SERIES: usize = 8;

/// Text for HTML and SVG, in elements and attributes; control characters become visible.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Where a text is anchored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing under construction; coordinates in CSS pixels at its natural size.
pub(crate) struct Svg {
    width: f64,
    body: String,
}

impl Svg {
    pub(crate) fn new(width: f64) -> Self {
        Self { width, body: String::new() }
    }

    pub(crate) fn rect(
        &mut self,
        class: &str,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        title: &str,
    ) {
        let _ = write!(
            self.body,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            number(x),
            number(y),
            number(width.max(0.0)),
            number(height),
        );
        self.close("rect", title);
    }

    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = write!(
            self.body,
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            number(from.0),
            number(from.1),
            number(to.0),
            number(to.1),
        );
    }

    pub(crate) fn path(&mut self, class: &str, data: &str, title: &str) {
        let _ = write!(self.body, "<path class=\"{class}\" d=\"{data}\"");
        self.close("path", title);
    }

    pub(crate) fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = write!(
            self.body,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            number(x),
            number(y),
            escape(text),
        );
    }

    /// A rectangle whose strength says how much: 0 is nothing, 1 the most.
    pub(crate) fn shade(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        strength: f64,
        title: &str,
    ) {
        let _ = write!(
            self.body,
            "<rect class=\"shade\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" \
             fill-opacity=\"{:.2}\"",
            number(x),
            number(y),
            number(width),
            number(height),
            0.65 * strength.clamp(0.0, 1.0),
        );
        self.close("rect", title);
    }

    /// Appends a drawing that was made with another `Svg`.
    pub(crate) fn raw(&mut self, drawing: &str) {
        self.body.push_str(drawing);
    }

    /// The elements drawn so far, for [`Svg::raw`] of another drawing.
    pub(crate) fn into_body(self) -> String {
        self.body
    }

    fn close(&mut self, element: &str, title: &str) {
        if title.is_empty() {
            self.body.push_str("/>");
        } else {
            let _ = write!(self.body, "><title>{}</title></{element}>", escape(title));
        }
    }

    /// The drawing for a page, whose style sheet holds [`CHART_CSS`].
    pub(crate) fn inline(self, height: f64, label: &str) -> String {
        self.finish(height, label, "")
    }

    /// The drawing as a file of its own.
    pub(crate) fn standalone(self, height: f64, label: &str) -> String {
        let style = format!(
            "<style>{CHART_CSS}</style><rect class=\"paper\" width=\"100%\" height=\"100%\"/>"
        );
        self.finish(height, label, &style)
    }

    /// The drawing for a line of text, stretched to the width of its surroundings; the words beside
    /// the drawing say the same.
    pub(crate) fn stretched(self, class: &str, height: f64) -> String {
        format!(
            "<svg class=\"chart {class}\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" \
             aria-hidden=\"true\">{}</svg>",
            number(self.width),
            number(height),
            self.body,
        )
    }

    fn finish(self, height: f64, label: &str, before: &str) -> String {
        let (width, height) = (number(self.width), number(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             role=\"img\" aria-label=\"{}\">{before}{}</svg>\n",
            escape(label),
            self.body,
        )
    }
}

/// The colour of a series, to stand beside its name.
pub(crate) fn swatch(series: usize) -> String {
    format!(
        "<svg class=\"chart\" width=\"14\" height=\"12\" aria-hidden=\"true\">\
         <rect class=\"f{}\" width=\"14\" height=\"12\"/></svg>",
        series % SERIES
    )
}

/// A coordinate to a tenth of a pixel.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// About how wide a text is at the charts' font size.
pub(crate) fn text_width(text: &str) -> f64 {
    6.6 * text.width() as f64
}

/// A text cut to about a width.
pub(crate) fn fit(text: &str, width: f64) -> String {
    let text = clean(text);
    if text_width(&text) <= width {
        return text;
    }
    let mut short = String::new();
    for c in text.chars() {
        short.push(c);
        if text_width(&short) + 6.6 > width {
            short.pop();
            break;
        }
    }
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_text() {
        assert_eq!(escape("<script>'\"&"), "&lt;script&gt;&#39;&quot;&amp;");
        assert_eq!(escape("a\u{0}b\u{ffff}"), "a\\u{0}b\u{fffd}");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(
            (number(1.0), number(-0.01), number(2.25)),
            ("1".into(), "0".into(), "2.2".into())
        );
    }

    #[test]
    fn texts_are_cut_to_the_given_width() {
        assert_eq!(fit("swaptions", 40.0), "swapt…");
        assert_eq!(fit("vips", 40.0), "vips");
    }
}
