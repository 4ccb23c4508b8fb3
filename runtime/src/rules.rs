//! The text of rules: `central-lifo-polling-system-nocutoff`.

use std::str::FromStr;

use crate::memory::Memory;
use crate::pool::Rules;
use crate::ready::{self, Batch, Feed, Form, Limit, Order, Scheduler};

/// What is wrong with a text of rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` are no rules: `{word}` makes no sense there; expected `tree` and any of lifo, fifo, \
     halfqueue, halfthreshold, dynamic, static20, give, rebalance, pull; or `central` and any of \
     lifo, fifo, polling, successor, or priority; either with pools or system, cutoff or nocutoff; \
     all with dashes between"
)]
pub struct RulesError {
    text: String,
    word: String,
}

impl FromStr for Rules {
    type Err = RulesError;

    /// Reads `tree` or `central` and what differs from the default, as in `tree-fifo-static20-give`
    /// or `central-priority-system`.
    ///
    /// ```
    /// use evenkeel_runtime::Rules;
    ///
    /// assert_eq!("tree".parse(), Ok(Rules::default()));
    /// assert!("central-lifo-polling-nocutoff".parse::<Rules>().is_ok());
    /// assert!("central-rebalance".parse::<Rules>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, RulesError> {
        let mut rules = Self::default();
        for (place, word) in text.split('-').enumerate() {
            let known = if place == 0 { rules.begin(word) } else { rules.change(word) };
            known.ok_or_else(|| RulesError { text: text.to_string(), word: word.to_string() })?;
        }
        Ok(rules)
    }
}

impl Rules {
    fn begin(&mut self, word: &str) -> Option<()> {
        self.ready = match word {
            "tree" => Scheduler::Tree(ready::Rules::default()),
            "central" => Scheduler::Central(Form::Plain(Order::Lifo)),
            _ => return None,
        };
        Some(())
    }

    fn change(&mut self, word: &str) -> Option<()> {
        match word {
            "pools" => self.memory = Memory::Pools,
            "system" => self.memory = Memory::System,
            "cutoff" => self.cutoff = true,
            "nocutoff" => self.cutoff = false,
            _ => match &mut self.ready {
                Scheduler::Tree(rules) => return rules.change(word),
                Scheduler::Central(form) => *form = form.changed(word)?,
            },
        }
        Some(())
    }
}

impl ready::Rules {
    fn change(&mut self, word: &str) -> Option<()> {
        match word {
            "lifo" => self.order = Order::Lifo,
            "fifo" => self.order = Order::Fifo,
            "halfqueue" => self.batch = Batch::HalfQueue,
            "halfthreshold" => self.batch = Batch::HalfThreshold,
            "dynamic" => self.limit = Limit::Dynamic,
            "give" => self.feed = Feed::Give { rebalance: false },
            "rebalance" => self.feed = Feed::Give { rebalance: true },
            "pull" => self.feed = Feed::Pull,
            _ => self.limit = Limit::Static(word.strip_prefix("static")?.parse().ok()?),
        }
        Some(())
    }
}

impl Form {
    fn changed(self, word: &str) -> Option<Self> {
        let order = match self {
            Self::Plain(order) | Self::Polling(order) | Self::Successor(order) => order,
            Self::Priority => return None,
        };
        Some(match (self, word) {
            (Self::Plain(_), "lifo") => Self::Plain(Order::Lifo),
            (Self::Plain(_), "fifo") => Self::Plain(Order::Fifo),
            (Self::Plain(_), "polling") => Self::Polling(order),
            (Self::Plain(_) | Self::Polling(_), "successor") => Self::Successor(order),
            (Self::Plain(_), "priority") => Self::Priority,
            _ => return None,
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn read(text: &str) -> Rules {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn each_word_changes_one_rule() {
        let tree = |rules| Scheduler::Tree(rules);
        let ours = ready::Rules::default();
        assert_eq!(read("tree"), Rules::default());
        assert_eq!(read("tree-fifo").ready, tree(ready::Rules { order: Order::Fifo, ..ours }));
        assert_eq!(
            read("tree-lifo-static20-rebalance").ready,
            tree(ready::Rules {
                limit: Limit::Static(20),
                feed: Feed::Give { rebalance: true },
                ..ours
            })
        );
        let plain = read("tree-system-nocutoff");
        assert_eq!((plain.memory, plain.cutoff), (Memory::System, false));
    }

    #[test]
    fn every_form_has_a_text() {
        for (text, form) in [
            ("central-lifo", Form::Plain(Order::Lifo)),
            ("central-fifo-polling", Form::Polling(Order::Fifo)),
            ("central-lifo-polling-successor", Form::Successor(Order::Lifo)),
            ("central-fifo-successor", Form::Successor(Order::Fifo)),
            ("central-priority", Form::Priority),
        ] {
            assert_eq!(read(text).ready, Scheduler::Central(form), "{text}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (text, word) in [
            ("", ""),
            ("fifo", "fifo"),
            ("central-static20", "static20"),
            ("central-priority-lifo", "lifo"),
            ("tree-polling", "polling"),
            ("tree-static", "static"),
            ("tree--fifo", ""),
        ] {
            let error = text.parse::<Rules>().unwrap_err();
            assert_eq!(error, RulesError { text: text.to_string(), word: word.to_string() });
        }
    }
}
