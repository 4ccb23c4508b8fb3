//! Draws one interval on a terminal of any size.

mod cpus;
mod help;
mod tables;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Padding};

use super::keys::Choice;
use super::text;
use super::view::View;

/// Lines that are left for panels from which on there are pairs, and CPUs.
const FOR_PAIRS: u16 = 8;
const FOR_CPUS: u16 = 13;
/// Columns from which on victims and pairs stand side by side.
const WIDE: u16 = 150;

/// What the screen shows besides the interval.
pub struct Setting<'a> {
    /// What the user chose.
    pub choice: &'a Choice,
    /// Whether to use colours.
    pub has_color: bool,
    /// A line on what happened last, such as a key that has no effect here.
    pub remark: Option<&'a str>,
}

/// Draws the screen. Returns how many rows of CPUs are scrolled out, which is less than was chosen
/// where there are not as many.
pub fn draw(frame: &mut Frame<'_>, view: &View, setting: &Setting<'_>) -> usize {
    let area = frame.area();
    let notes = text::notes(view);
    let noted = if area.height > FOR_PAIRS + 2 { notes.len() as u16 } else { 0 };
    let [head, note, body, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(noted),
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Line::from(text::headline(view)).bold(), head);
    for (note, line) in notes.into_iter().zip(note.rows()) {
        frame.render_widget(Line::from(note).style(shade(setting, Color::Yellow)), line);
    }
    frame.render_widget(footer(view, setting), foot);
    let scrolled = panels(frame, body, view, setting);
    if setting.choice.has_help {
        help::draw(frame, area);
    }
    scrolled
}

fn panels(frame: &mut Frame<'_>, body: Rect, view: &View, setting: &Setting<'_>) -> usize {
    let mut scrolled = setting.choice.scrolled;
    let mut rest = body;
    if body.height >= FOR_CPUS {
        let wanted = cpus::height(body.width, view.cpus.len()).min(body.height / 3);
        let [top, below] =
            Layout::vertical([Constraint::Length(wanted), Constraint::Min(0)]).areas(body);
        scrolled = cpus::draw(frame, top, view, setting);
        rest = below;
    }
    if body.height < FOR_PAIRS {
        tables::victims(frame, rest, view, setting);
        return scrolled;
    }
    let halves = [Constraint::Fill(1), Constraint::Fill(1)];
    let layout = if body.width >= WIDE {
        Layout::horizontal(halves).spacing(2)
    } else {
        Layout::vertical(halves)
    };
    let [victims, pairs] = layout.areas(rest);
    tables::victims(frame, victims, view, setting);
    tables::pairs(frame, pairs, view, setting);
    scrolled
}

fn footer(view: &View, setting: &Setting<'_>) -> Line<'static> {
    if let Some(remark) = setting.remark {
        return Line::from(remark.to_owned()).style(shade(setting, Color::Yellow));
    }
    let choice = setting.choice;
    let keys = [
        ("q", "quit".to_owned()),
        ("s", format!("sort: {}", choice.sort.name())),
        ("g", format!("by {}", view.machine.by.replace('-', " "))),
        ("p", if choice.is_paused { "go on" } else { "pause" }.to_owned()),
        ("?", "help".to_owned()),
    ];
    let mut spans: Vec<Span<'static>> = Vec::new();
    for (key, what) in keys {
        spans.push(Span::from(key).bold());
        spans.push(Span::from(format!(" {what}   ")));
    }
    if choice.is_paused {
        spans.push(Span::from("PAUSED").reversed());
    }
    Line::from(spans)
}

/// The frame of a panel: a line with its title.
fn panel(title: String) -> Block<'static> {
    let title = Line::from(format!(" {title} ")).bold();
    Block::new().borders(Borders::TOP).title(title).padding(Padding::ZERO)
}

fn shade(setting: &Setting<'_>, color: Color) -> Style {
    if setting.has_color { Style::new().fg(color) } else { Style::new() }
}

/// The style of a figure: the larger, the more it stands out.
fn alarm(setting: &Setting<'_>, figure: f64, [some, much]: [f64; 2]) -> Style {
    match figure {
        _ if figure >= much => shade(setting, Color::Red).add_modifier(Modifier::BOLD),
        _ if figure >= some => shade(setting, Color::Yellow),
        _ => Style::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::top::view::{CpuRow, GroupRow, Machine, PairRow};

    /// A machine of that many CPUs and groups, with names that fit nowhere.
    pub fn machine(cpus: usize, groups: u64) -> View {
        let name = |group: u64| format!("{}漢字-worker-{group}", "x".repeat(group as usize % 40));
        let cpu = |cpu: usize| CpuRow {
            cpu,
            busy_pct: (cpu % 101) as f64,
            held_pct: 3.0,
            level: (cpu % 3) as u8,
            holder: (!cpu.is_multiple_of(3)).then(|| name(7)),
            running: Some(name(cpu as u64)),
            clock_mhz: cpu.is_multiple_of(2).then_some(2100),
        };
        let group = |group| GroupRow {
            group,
            name: name(group),
            cpu_pct: group as f64,
            waited_pct: 12345.6,
            slower_pct: Some(9.0),
            ..GroupRow::default()
        };
        let pair = |group| PairRow {
            victim: name(group),
            culprit: name(group + 1),
            waited_ms_per_s: group as f64,
            ..PairRow::default()
        };
        View {
            machine: Machine { machine: "host".to_owned(), by: "process", ..Machine::default() },
            cpus: (0..cpus).map(cpu).collect(),
            groups: (1..=groups).map(group).collect(),
            pairs: (1..=groups).map(pair).collect(),
            ..View::default()
        }
    }

    /// The lines of a screen, and by how many rows it is scrolled.
    fn screen(width: u16, height: u16, view: &View, choice: &Choice) -> (Vec<String>, usize) {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let setting = Setting { choice, has_color: true, remark: None };
        let mut scrolled = 0;
        terminal.draw(|frame| scrolled = draw(frame, view, &setting)).unwrap();
        let cells = terminal.backend().buffer().content();
        let lines = cells.chunks(usize::from(width.max(1)));
        (lines.map(|line| line.iter().map(|cell| cell.symbol()).collect()).collect(), scrolled)
    }

    #[test]
    fn a_usual_terminal_has_every_panel() {
        let (lines, _) = screen(80, 24, &machine(2, 30), &Choice::default());
        let all = lines.join("\n");
        for part in ["evenkeel top: host", " CPUs ", "VICTIM", "CULPRIT", "q quit", "sort: waiting"]
        {
            assert!(all.contains(part), "{part}\n{all}");
        }
    }

    #[test]
    fn a_usual_terminal_has_the_whole_help() {
        let choice = Choice { has_help: true, ..Choice::default() };
        let (lines, _) = screen(80, 24, &machine(2, 30), &choice);
        let all = lines.join("\n");
        for line in help::HELP.lines() {
            assert!(all.contains(line), "{line}\n{all}");
        }
    }

    #[test]
    fn a_few_lines_still_have_the_victims() {
        let (lines, _) = screen(60, 6, &machine(2, 30), &Choice::default());
        assert!(lines.join("\n").contains("VICTIM"), "{lines:#?}");
    }

    #[test]
    fn cpus_that_do_not_fit_are_scrolled_to_the_last() {
        let view = machine(512, 3);
        let (lines, _) = screen(80, 24, &view, &Choice::default());
        assert!(lines.join("\n").contains("CPUs 0-"), "{lines:#?}");
        let end = Choice { scrolled: usize::MAX, ..Choice::default() };
        let (lines, scrolled) = screen(80, 24, &view, &end);
        assert!(lines.join("\n").contains("-511 of 512"), "{lines:#?}");
        assert!(scrolled > 0 && scrolled < 512);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_size_of_terminal_or_machine_is_too_much(
            width in 1..250u16, height in 1..80u16, cpus in 0..600usize, groups in 0..80u64,
            scrolled in any::<usize>(), has_help in any::<bool>(),
        ) {
            let choice = Choice { scrolled, has_help, ..Choice::default() };
            let (lines, scrolled) = screen(width, height, &machine(cpus, groups), &choice);
            prop_assert_eq!(lines.len(), usize::from(height));
            prop_assert!(height < 20 || scrolled <= cpus);
        }
    }
}
