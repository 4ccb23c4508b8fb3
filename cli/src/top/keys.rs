//! What does a key change?

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::view::Sort;

/// The choices of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The column that sorts rows.
    pub sort: Sort,
    /// Whether the screen stays as it is.
    pub is_paused: bool,
    /// Whether the help is shown.
    pub has_help: bool,
    /// Rows of CPUs that are scrolled out at the top.
    pub scrolled: usize,
}

/// The reaction of the command to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Nothing.
    Ignore,
    /// Draws the screen anew.
    Draw,
    /// Groups tasks the other way.
    Regroup,
    /// Ends.
    Quit,
}

/// Rows of CPUs that a page key scrolls.
const PAGE: usize = 8;

/// Changes the choice as the key says.
pub fn press(choice: &mut Choice, event: &Event) -> Act {
    let key = match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => key,
        Event::Resize(..) => return Act::Draw,
        _ => return Act::Ignore,
    };
    match *key {
        KeyEvent { code: KeyCode::Char('c'), modifiers: KeyModifiers::CONTROL, .. } => Act::Quit,
        KeyEvent { code, .. } => turn(choice, code),
    }
}

fn turn(choice: &mut Choice, code: KeyCode) -> Act {
    match code {
        KeyCode::Esc if choice.has_help => choice.has_help = false,
        KeyCode::Char('q') | KeyCode::Esc => return Act::Quit,
        KeyCode::Char('g') => return Act::Regroup,
        KeyCode::Char('s') => choice.sort = choice.sort.next(),
        KeyCode::Char('p') => choice.is_paused = !choice.is_paused,
        KeyCode::Char('?' | 'h') => choice.has_help = !choice.has_help,
        KeyCode::Up => choice.scrolled = choice.scrolled.saturating_sub(1),
        KeyCode::Down => choice.scrolled = choice.scrolled.saturating_add(1),
        KeyCode::PageUp => choice.scrolled = choice.scrolled.saturating_sub(PAGE),
        KeyCode::PageDown => choice.scrolled = choice.scrolled.saturating_add(PAGE),
        KeyCode::Home => choice.scrolled = 0,
        KeyCode::End => choice.scrolled = usize::MAX,
        _ => return Act::Ignore,
    }
    Act::Draw
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode) -> Event {
        Event::Key(KeyEvent::from(code))
    }

    #[test]
    fn each_key_changes_one_thing() {
        let mut choice = Choice::default();
        assert_eq!(press(&mut choice, &key(KeyCode::Char('s'))), Act::Draw);
        assert_eq!(choice, Choice { sort: Sort::Slower, ..Choice::default() });
        assert_eq!(press(&mut choice, &key(KeyCode::Char('p'))), Act::Draw);
        assert!(choice.is_paused);
        assert_eq!(press(&mut choice, &key(KeyCode::Char('g'))), Act::Regroup);
        assert_eq!(press(&mut choice, &key(KeyCode::Char('x'))), Act::Ignore);
        assert_eq!(press(&mut choice, &Event::Resize(1, 1)), Act::Draw);
    }

    #[test]
    fn escape_closes_the_help_first_and_control_c_always_ends() {
        let mut choice = Choice::default();
        press(&mut choice, &key(KeyCode::Char('?')));
        assert_eq!(press(&mut choice, &key(KeyCode::Esc)), Act::Draw);
        assert_eq!(press(&mut choice, &key(KeyCode::Esc)), Act::Quit);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(press(&mut choice, &Event::Key(interrupt)), Act::Quit);
    }
}
