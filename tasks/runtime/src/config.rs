//! The options of a runtime, and their text: `central-lifo-polling-system-nocutoff`.

use std::str::FromStr;

use crate::memory::Memory;
use crate::scheduler::{Batch, Feed, Form, Limit, Order, SchedulerConfig, TreeConfig};

/// The options of a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The scheduler of ready tasks.
    pub scheduler: SchedulerConfig,
    /// Where tasks get their memory.
    pub memory: Memory,
    /// Whether a creator inlines its next task while its queue is full.
    pub cutoff: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { scheduler: SchedulerConfig::default(), memory: Memory::Pools, cutoff: true }
    }
}

/// The mistake in a text of rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}; expected `tree` and any of lifo, fifo, halfqueue, halfthreshold, dynamic, static20 (or \
     `static` and another number from 1 to {STATIC_MAX}), give, rebalance, pull; or `central` and \
     any of lifo, fifo, polling, successor, or priority; either with pools or system, cutoff or \
     nocutoff; all with dashes between", self.what()
)]
pub struct ConfigError {
    text: String,
    word: String,
}

/// More tasks than any queue has: a mistyped number is an error.
const STATIC_MAX: usize = 65_536;

impl ConfigError {
    fn what(&self) -> String {
        let Self { text, word } = self;
        match (text.is_empty(), word.is_empty()) {
            (true, _) => "an empty text is no rules".to_owned(),
            (false, true) => format!("`{text}` are no rules: a word is missing beside a dash"),
            _ => format!("`{text}` are no rules: `{word}` makes no sense there"),
        }
    }
}

impl FromStr for Config {
    type Err = ConfigError;

    /// Reads `tree` or `central`, and then each choice that differs from the default, as in
    /// `tree-fifo-static20-give` or `central-priority-system`. The number behind `static` says how
    /// many tasks a queue holds before the queue overflows: 1 to 65,536.
    ///
    /// ```
    /// use evenkeel_runtime::Config;
    ///
    /// assert_eq!("tree".parse(), Ok(Config::default()));
    /// assert!("central-lifo-polling-nocutoff".parse::<Config>().is_ok());
    /// assert!("central-rebalance".parse::<Config>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let mut rules = Self::default();
        for (place, word) in text.split('-').enumerate() {
            let known = if place == 0 { rules.begin(word) } else { rules.change(word) };
            known.ok_or_else(|| ConfigError { text: text.to_string(), word: word.to_string() })?;
        }
        Ok(rules)
    }
}

impl Config {
    fn begin(&mut self, word: &str) -> Option<()> {
        self.scheduler = match word {
            "tree" => SchedulerConfig::Tree(TreeConfig::default()),
            "central" => SchedulerConfig::Central(Form::Plain(Order::Lifo)),
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
            _ => match &mut self.scheduler {
                SchedulerConfig::Tree(rules) => return rules.change(word),
                SchedulerConfig::Central(form) => *form = form.changed(word)?,
            },
        }
        Some(())
    }
}

impl TreeConfig {
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
            _ => self.limit = Limit::Static(static_level(word)?),
        }
        Some(())
    }
}

/// The number of `static20`.
fn static_level(word: &str) -> Option<usize> {
    let digits = word.strip_prefix("static")?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let threshold = digits.parse().ok().filter(|_| is_number)?;
    (1..=STATIC_MAX).contains(&threshold).then_some(threshold)
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

    fn read(text: &str) -> Config {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn ours() -> TreeConfig {
        TreeConfig::default()
    }

    #[test]
    fn each_word_changes_one_rule() {
        let tree = |rules| SchedulerConfig::Tree(rules);
        let ours = ours();
        assert_eq!(read("tree"), Config::default());
        assert_eq!(read("tree-fifo").scheduler, tree(TreeConfig { order: Order::Fifo, ..ours }));
        assert_eq!(
            read("tree-lifo-static20-rebalance").scheduler,
            tree(TreeConfig {
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
            assert_eq!(read(text).scheduler, SchedulerConfig::Central(form), "{text}");
        }
    }

    #[test]
    fn an_invalid_word_is_named() {
        for (text, word) in [
            ("", ""),
            ("fifo", "fifo"),
            ("central-static20", "static20"),
            ("central-priority-lifo", "lifo"),
            ("tree-polling", "polling"),
            ("tree-static", "static"),
            ("tree-static0", "static0"),
            ("tree-static+5", "static+5"),
            ("tree-static65537", "static65537"),
            ("tree-static99999999999", "static99999999999"),
            ("tree--fifo", ""),
        ] {
            let error = text.parse::<Config>().unwrap_err();
            assert_eq!(error, ConfigError { text: text.to_string(), word: word.to_string() });
        }
    }
    #[test]
    fn the_numbers_of_a_static_threshold_are_told_and_the_last_is_one() {
        let tree = |threshold| {
            SchedulerConfig::Tree(TreeConfig { limit: Limit::Static(threshold), ..ours() })
        };
        assert_eq!(read("tree-static1").scheduler, tree(1));
        assert_eq!(read("tree-static65536").scheduler, tree(STATIC_MAX));
        let error = "tree-static0".parse::<Config>().unwrap_err().to_string();
        assert!(error.contains("`static0` makes no sense there"), "{error}");
        assert!(error.contains("another number from 1 to 65536"), "{error}");
    }

    #[test]
    fn an_empty_word_is_not_quoted() {
        for (text, said) in [
            ("", "an empty text is no rules; expected `tree` and any of lifo"),
            ("tree-", "`tree-` are no rules: a word is missing beside a dash; expected `tree`"),
        ] {
            let error = text.parse::<Config>().unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
