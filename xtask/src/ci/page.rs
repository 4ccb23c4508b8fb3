//! Does a browser show the page of `evenkeel compare` as it should be?
//!
//! A copy of the page, with a probe at its end, is shown in a frame of each
//! width and colour scheme; the probe says what the reader would see. The
//! pictures stay beside the page for a person to look at.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::Done;
use crate::command::{evenkeel, find, program, run, target};

const BROWSERS: [&str; 2] = ["chromium", "google-chrome"];
/// The shortest shipped scenario, few runs, and two schedulers that differ.
const COMPARE: [&str; 6] =
    ["compare", "pingpong", "--scheduler", "fair,fair-isolation", "--replicates", "2"];
/// A phone and a wide screen, in CSS pixels.
const WIDTHS: [u32; 2] = [360, 1600];
const CHARTS_MIN: u32 = 3;
const LETTERS_MIN: u32 = 500;

/// Runs at the end of the page, inside the frame.
const PROBE: &str = r#"
<script>
addEventListener("load", () => {
  const root = document.documentElement;
  const colours = [document.body, root].map((e) => getComputedStyle(e).backgroundColor);
  const solid = colours.find((c) => !c.startsWith("rgba")) || "rgb(255, 255, 255)";
  const charts = [...document.querySelectorAll("svg, canvas")]
    .filter((e) => e.getBoundingClientRect().width * e.getBoundingClientRect().height > 10000);
  const seen = [
    innerWidth,
    Math.max(0, root.scrollWidth - innerWidth),
    charts.length,
    document.body.innerText.length,
    Math.round(solid.match(/\d+/g).slice(0, 3).reduce((a, c) => a + Number(c), 0) / 3),
  ];
  parent.postMessage(seen.join(" "), "*");
});
</script>
"#;

/// The page lets no script run; the probe must.
fn without_policy(html: &str) -> String {
    const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\"";
    let Some((before, rest)) = html.split_once(POLICY) else { return html.to_string() };
    let after = rest.split_once('>').map_or("", |(_, after)| after);
    format!("{before}{after}")
}

/// What a reader sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    width: u32,
    /// By how much the page is wider than the frame.
    overflow: u32,
    /// Charts of more than 100 x 100 pixels.
    charts: u32,
    letters: u32,
    /// Background: 0 black, 255 white.
    brightness: u32,
}

/// The page is whole, fits, follows the colour scheme and loads nothing.
pub fn check() -> Result<Done> {
    let Some(browser) = find(&BROWSERS) else {
        return Ok(Done::Skipped(format!("no browser here ({})", BROWSERS.join(", "))));
    };
    let folder = target().join("page");
    fs::create_dir_all(&folder)?;
    let page = folder.join("page.html");
    run(program(&evenkeel()?.to_string_lossy()).args(COMPARE).arg("--page").arg(&page))?;

    let html = fs::read_to_string(&page).context("reading the page")?;
    let mut faults: Vec<String> = loads(&html).into_iter().collect();
    fs::write(folder.join("probed.html"), without_policy(&html) + PROBE)?;
    for width in WIDTHS {
        for dark in [false, true] {
            let name = format!("{width}-{}", if dark { "dark" } else { "light" });
            let (seen, console) = show(browser, &folder, &name, width, dark)?;
            println!("{name}: {seen:?}");
            faults.extend(console.into_iter().map(|line| format!("{name}: console: {line}")));
            faults.extend(judge(seen, width, dark).into_iter().map(|f| format!("{name}: {f}")));
        }
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("; "));
    }
    Ok(Done::Passed)
}

/// What the probe saw, and what the page wrote to the console.
fn show(
    browser: &str,
    folder: &Path,
    name: &str,
    width: u32,
    dark: bool,
) -> Result<(Seen, Vec<String>)> {
    let frame = format!(
        "<!doctype html><meta name=\"color-scheme\" content=\"light dark\">\
         <style>body{{margin:0}}iframe{{border:0;width:{width}px;height:3000px}}</style>\
         <script>onmessage = (e) => {{ document.title = \"seen \" + e.data; }};</script>\
         <body><iframe src=\"probed.html\"></iframe>"
    );
    let framed = folder.join(format!("{name}.html"));
    fs::write(&framed, frame)?;
    let output = program(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--window-size={},3000", width.max(500)))
        .arg(format!("--blink-settings=preferredColorScheme={}", if dark { 0 } else { 1 }))
        .arg(format!("--screenshot={}", folder.join(format!("{name}.png")).display()))
        .arg(format!("file://{}", framed.display()))
        .output()
        .with_context(|| format!("starting {browser}"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    let dom = String::from_utf8_lossy(&output.stdout);
    let Some(seen) = parse(&dom) else {
        bail!("{browser} did not show {name}; it said: {}", log.lines().last().unwrap_or_default());
    };
    Ok((seen, console(&log)))
}

fn parse(dom: &str) -> Option<Seen> {
    let (_, rest) = dom.split_once("<title>seen ")?;
    let (numbers, _) = rest.split_once("</title>")?;
    let numbers: Vec<u32> = numbers.split(' ').map_while(|number| number.parse().ok()).collect();
    let [width, overflow, charts, letters, brightness] = numbers[..] else { return None };
    Some(Seen { width, overflow, charts, letters, brightness })
}

fn console(log: &str) -> Vec<String> {
    log.lines().filter_map(|line| Some(line.split_once(":CONSOLE")?.1.to_string())).collect()
}

/// What is wrong with what was seen.
fn judge(seen: Seen, width: u32, dark: bool) -> Vec<String> {
    let mut faults = Vec::new();
    if seen.width != width {
        faults.push(format!("shown {} pixels wide instead of {width}", seen.width));
    }
    if seen.overflow > 0 {
        faults.push(format!("{} pixels wider than the window", seen.overflow));
    }
    if seen.charts < CHARTS_MIN {
        faults.push(format!("{} charts, fewer than {CHARTS_MIN}", seen.charts));
    }
    if seen.letters < LETTERS_MIN {
        faults.push(format!("{} letters, fewer than {LETTERS_MIN}", seen.letters));
    }
    if dark != (seen.brightness < 128) {
        faults.push(format!("a background of brightness {}", seen.brightness));
    }
    faults
}

/// What the page would fetch, if anything.
fn loads(html: &str) -> Option<String> {
    let fetches = ["src=\"http", "src=\"//", "url(http", "url(\"http", "@import", "<link "];
    let found = fetches.iter().find(|&&fetch| html.contains(fetch))?;
    Some(format!("not self-contained: `{found}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Seen = Seen { width: 360, overflow: 0, charts: 4, letters: 900, brightness: 250 };

    #[test]
    fn a_good_page_has_no_fault() {
        assert_eq!(judge(GOOD, 360, false), [""; 0]);
        assert_eq!(judge(Seen { brightness: 20, ..GOOD }, 360, true), [""; 0]);
    }

    #[test]
    fn only_the_policy_is_taken_out() {
        let html = "<head><meta http-equiv=\"Content-Security-Policy\" content=\"x\"><title>";
        assert_eq!(without_policy(html), "<head><title>");
        assert_eq!(without_policy("<p>"), "<p>");
    }

    #[test]
    fn every_fault_is_seen() {
        for bad in [
            Seen { width: 500, ..GOOD },
            Seen { overflow: 1, ..GOOD },
            Seen { charts: 2, ..GOOD },
            Seen { letters: 0, ..GOOD },
            Seen { brightness: 20, ..GOOD },
        ] {
            assert_eq!(judge(bad, 360, false).len(), 1, "{bad:?}");
        }
        assert_eq!(judge(GOOD, 360, true).len(), 1);
    }

    #[test]
    fn the_probe_is_read_from_the_title() {
        let dom = "<head><title>seen 360 0 4 900 250</title></head>";
        assert_eq!(parse(dom), Some(GOOD));
        assert_eq!(parse("<title>seen 360 0</title>"), None);
        assert_eq!(parse("<title>Evenkeel</title>"), None);
    }

    #[test]
    fn what_the_page_logs_is_a_fault() {
        let log = "[1:INFO:CONSOLE:1] \"Uncaught\", source: x\n[1:ERROR:dbus.cc] unimportant\n";
        assert_eq!(console(log), [":1] \"Uncaught\", source: x"]);
    }

    #[test]
    fn a_page_that_fetches_is_not_self_contained() {
        assert!(loads("<a href=\"https://example.org\">x</a>").is_none());
        assert!(loads("<script src=\"https://example.org/x.js\"></script>").is_some());
        assert!(loads("<link rel=\"stylesheet\" href=\"x.css\">").is_some());
    }
}
