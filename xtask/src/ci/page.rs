//! Does a browser show the pages of `evenkeel compare` as they should be?
//!
//! A copy of the page, with a probe at its end, is shown in a frame of each
//! width and colour scheme; the probe reports how the page appears. The
//! pictures stay beside the page for a person to look at, and so does the page
//! on paper.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::Done;
use crate::command::{find, program, run, target, tested};

const BROWSERS: [&str; 2] = ["chromium", "google-chrome"];
/// The shortest shipped scenario, few runs, and two schedulers that differ.
const SMALL: [&str; 4] = ["pingpong", "--scheduler", "fair,fair-isolation", "--replicates=2"];
/// 50,000 switches of 300 tasks with long and hostile names, beside the recording of them.
const CROWD: [&str; 6] = [
    "--class=video*=avx512-heavy",
    "--scheduler",
    "eevdf,fair-isolation",
    "--replicates=1",
    "--set",
    "shown=0..3",
];
/// A phone, a tablet and a wide screen, in CSS pixels.
const WIDTHS: [u32; 3] = [360, 768, 1600];
const CHARTS_MIN: u32 = 3;
const LETTERS_MIN: u32 = 500;
/// Contrast of text that WCAG 2.2 asks for (1.4.3), in tenths.
const CONTRAST_MIN: u32 = 45;
/// The largest size of a page.
const BYTES_MAX: usize = 5_000_000;

/// Runs at the end of the page, inside the frame.
const PROBE: &str = r#"
<script>
addEventListener("load", () => {
  const root = document.documentElement;
  const is_seen = (e) => e.getClientRects().length > 0;
  const numbers = (c) => c.match(/[\d.]+/g).map(Number);
  const solid = (e) => {
    for (; e; e = e.parentElement) {
      const c = numbers(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const light = (c) => c.slice(0, 3)
    .map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0.05);
  const contrast = (e) => {
    const [a, b] = [light(numbers(getComputedStyle(e).color)), light(solid(e))];
    return Math.max(a, b) / Math.min(a, b);
  };
  const texts = [...document.querySelectorAll("body *:not(svg, svg *, script)")]
    .filter((e) => is_seen(e) && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
  const pictures = [...document.querySelectorAll("svg, canvas")];
  const charts = pictures
    .filter((e) => e.getBoundingClientRect().width * e.getBoundingClientRect().height > 10000);
  const unnamed = pictures.filter((e) => !e.ariaHidden && !e.ariaLabel);
  const shown = () => [...document.querySelectorAll(".pane")].filter(is_seen);
  const choices = [...document.querySelectorAll(".ranges")].filter(is_seen).filter((group) => {
    const [before, chosen] = [shown(), group.querySelector(":checked")];
    group.querySelector("label").click();
    const after = shown();
    chosen.click();
    return before.length === after.length && before.some((pane) => !after.includes(pane));
  });
  const seen = [
    innerWidth,
    Math.max(0, root.scrollWidth - innerWidth),
    charts.length,
    document.body.innerText.length,
    Math.round(solid(document.body).slice(0, 3).reduce((a, c) => a + c, 0) / 3),
    Math.floor(10 * Math.min(...texts.map(contrast))),
    unnamed.length,
    choices.length,
  ];
  document.activeElement.blur();
  scrollTo(0, 0);
  parent.postMessage(seen.join(" "), "*");
});
</script>
"#;

/// The page without its policy against scripts, so that the probe can run.
fn without_policy(html: &str) -> String {
    const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\"";
    let Some((before, rest)) = html.split_once(POLICY) else { return html.to_string() };
    let after = rest.split_once('>').map_or("", |(_, after)| after);
    format!("{before}{after}")
}

/// The page as a reader sees it, in numbers.
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
    /// Of the faintest text, in tenths.
    contrast: u32,
    /// Charts that a screen reader cannot name.
    unnamed: u32,
    /// Groups of time ranges in which a click shows another one.
    choices: u32,
}

/// The pages are whole, fit, follow the colour scheme and load nothing.
pub fn check() -> Result<Done> {
    let Some(browser) = find(&BROWSERS) else {
        return Ok(Done::Skipped(format!("no browser here ({})", BROWSERS.join(", "))));
    };
    let folder = target().join("page");
    fs::create_dir_all(&folder)?;
    let recording = folder.join("crowd.ektrace");
    let programs = tested()?;
    fs::write(&recording, crowd(&programs)?)?;
    let recording = recording.to_string_lossy();
    let crowd = [&["--trace", recording.as_ref()], &CROWD[..]].concat();
    let evenkeel = programs.join("evenkeel");
    let evenkeel = evenkeel.to_string_lossy();
    // A browser keeps about one CPU busy, so both pages are looked at in parallel.
    let look = |name: &str, options: &[&str]| -> Result<Vec<String>> {
        let folder = folder.join(name);
        fs::create_dir_all(&folder)?;
        let found = check_page(browser, &evenkeel, &folder, options)?;
        Ok(found.into_iter().map(|fault| format!("{name}, {fault}")).collect())
    };
    let found = std::thread::scope(|scope| {
        let crowd = scope.spawn(|| look("crowd", &crowd));
        let small = look("small", &SMALL);
        [small, crowd.join().expect("the thread does not panic")]
    });
    let mut faults = Vec::new();
    for found in found {
        faults.extend(found?);
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("; "));
    }
    Ok(Done::Passed)
}

/// The recording of a crowd.
fn crowd(programs: &Path) -> Result<Vec<u8>> {
    let example = programs.join("examples/page");
    let output = program(&example.to_string_lossy()).arg("crowd").output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}

/// Faults of the page of a comparison.
fn check_page(
    browser: &str,
    evenkeel: &str,
    folder: &Path,
    options: &[&str],
) -> Result<Vec<String>> {
    let page = folder.join("page.html");
    run(program(evenkeel)
        .arg("compare")
        .args(options)
        .arg("--page")
        .arg(&page)
        .arg("--page")
        .arg(folder.join("run.pftrace")))?;
    let html = fs::read_to_string(&page).context("reading the page")?;
    let mut faults: Vec<String> = loads(&html).into_iter().collect();
    if html.len() > BYTES_MAX {
        faults.push(format!("{} bytes, more than {BYTES_MAX}", html.len()));
    }
    faults.extend(
        links(&html)
            .into_iter()
            .filter(|link| !folder.join(link).is_file())
            .map(|link| format!("a link to {link}, which was not written")),
    );
    fs::write(folder.join("probed.html"), without_policy(&html) + PROBE)?;
    for width in WIDTHS {
        for dark in [false, true] {
            let name = format!("{width}-{}", if dark { "dark" } else { "light" });
            let (seen, console) = show(browser, folder, &name, width, dark)?;
            println!("{name}: {seen:?}");
            faults.extend(console.into_iter().map(|line| format!("{name}: console: {line}")));
            faults.extend(judge(seen, width, dark).into_iter().map(|f| format!("{name}: {f}")));
        }
    }
    print(browser, folder)?;
    Ok(faults)
}

/// Links of the page to files beside the page.
fn links(html: &str) -> Vec<&str> {
    let addresses = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    addresses.filter(|link| !link.starts_with('#') && !link.starts_with("https:")).collect()
}

/// The page on paper.
fn print(browser: &str, folder: &Path) -> Result<()> {
    let paper = folder.join("page.pdf");
    let _ = fs::remove_file(&paper);
    headless(browser, folder)
        .arg("--no-pdf-header-footer")
        .arg(format!("--print-to-pdf={}", paper.display()))
        .arg(format!("file://{}", folder.join("page.html").display()))
        .output()
        .with_context(|| format!("starting {browser}"))?;
    let printed = fs::read(&paper).is_ok_and(|bytes| bytes.starts_with(b"%PDF-"));
    ensure!(printed, "{browser} did not print the page");
    Ok(())
}

fn headless(browser: &str, folder: &Path) -> Command {
    let mut command = program(browser);
    command
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()));
    command
}

/// The probe's report, and the page's lines on the console.
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
    let output = headless(browser, folder)
        .args(["--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom"])
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
    let [width, overflow, charts, letters, brightness, contrast, unnamed, choices] = numbers[..]
    else {
        return None;
    };
    Some(Seen { width, overflow, charts, letters, brightness, contrast, unnamed, choices })
}

fn console(log: &str) -> Vec<String> {
    log.lines().filter_map(|line| Some(line.split_once(":CONSOLE")?.1.to_string())).collect()
}

/// Faults in the probe's report.
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
    if seen.contrast < CONTRAST_MIN {
        faults.push(format!("a text of contrast {}.{}", seen.contrast / 10, seen.contrast % 10));
    }
    if seen.unnamed > 0 {
        faults.push(format!("{} charts without a name", seen.unnamed));
    }
    if seen.choices == 0 {
        faults.push("no choice of time that shows another one".to_string());
    }
    faults
}

/// A fault if the page would fetch a file.
fn loads(html: &str) -> Option<String> {
    let fetches = ["src=\"http", "src=\"//", "url(http", "url(\"http", "@import", "<link "];
    let found = fetches.iter().find(|&&fetch| html.contains(fetch))?;
    Some(format!("not self-contained: `{found}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Seen = Seen {
        width: 360,
        overflow: 0,
        charts: 4,
        letters: 900,
        brightness: 250,
        contrast: 60,
        unnamed: 0,
        choices: 2,
    };

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
            Seen { contrast: 44, ..GOOD },
            Seen { unnamed: 1, ..GOOD },
            Seen { choices: 0, ..GOOD },
        ] {
            assert_eq!(judge(bad, 360, false).len(), 1, "{bad:?}");
        }
        assert_eq!(judge(GOOD, 360, true).len(), 1);
    }

    #[test]
    fn the_probe_is_read_from_the_title() {
        let dom = "<head><title>seen 360 0 4 900 250 60 0 2</title></head>";
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
    fn links_to_files_are_found() {
        let html =
            "<a href=\"#part-1\"></a><a href=\"x.pftrace\"></a><a href=\"https://a.b/\"></a>";
        assert_eq!(links(html), ["x.pftrace"]);
    }

    #[test]
    fn a_page_that_fetches_is_not_self_contained() {
        assert!(loads("<a href=\"https://example.org\">x</a>").is_none());
        assert!(loads("<script src=\"https://example.org/x.js\"></script>").is_some());
        assert!(loads("<link rel=\"stylesheet\" href=\"x.css\">").is_some());
    }
}
