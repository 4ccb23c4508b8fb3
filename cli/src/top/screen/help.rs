//! What the columns and keys mean.

use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::widgets::{Block, Clear, Padding, Paragraph, Wrap};

/// Columns of the box that are no text: borders and padding.
const FRAME: u16 = 4;
pub const HELP: &str = "\
WAITING    its tasks were runnable without a CPU, all added
SLOWER     of its CPU time, lost to a lower clock that others caused
BESIDE     of its CPU time, while the sibling CPU was busy
*          it uses 512-bit registers or tiles
LVL        the license level that the core is believed to hold
HOLDER     the group that demanded it; else the group that runs
Pairs      the victim waited for the culprit, ran beside it, or lost to
           the level that the culprit demanded
unknown    no group is known to have had the CPU, or to have demanded
           the level

q          quit           s    sort by the next column
?  Esc     close this     g    by process or control group
p          pause the screen; collecting goes on
Up Down PgUp PgDn Home End     scroll the CPUs
";

/// Draws the help over the screen.
pub fn draw(frame: &mut Frame<'_>, area: Rect) {
    let longest = HELP.lines().map(str::len).max().unwrap_or_default() as u16;
    let (width, height) = (longest + FRAME, HELP.lines().count() as u16 + 2);
    let [row] = Layout::vertical([Constraint::Length(height)]).flex(Flex::Center).areas(area);
    let [place] = Layout::horizontal([Constraint::Length(width)]).flex(Flex::Center).areas(row);
    let block = Block::bordered().title(" Help ").padding(Padding::horizontal(1));
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(HELP).wrap(Wrap { trim: false }).block(block), place);
}
