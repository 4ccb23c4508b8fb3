//! `--set KEY=VALUE`: the variables of an experiment.
//!
//! A key is either a setting of one of the groups below, which each are a struct of clap, or else
//! a parameter of the scenario. Of several values for one key the last holds. docs/decisions/0032
//! says which options became keys, and why.

mod faults;
mod list;
pub mod replay;
pub mod results;
mod simulation;

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches, Parser};
use scenarios::Scenario;

pub use list::list;
pub use replay::Replay;
pub use results::{Results, Shown};
pub use simulation::{
    Kernel, Newcomers, PhaseEnd, QueueGroups, SMT_SHARE_PERMILLE, Sharing, Simulation, WideCores,
};

use faults::FaultOptions;

/// The option that prints [`list()`].
pub const HELP: &str = "--help-experiments";
/// The option that takes settings, without its dashes.
pub const SET: &str = "set";
const SET_HELP: &str = "Sets what an experiment varies, such as smt-share=500, or a parameter of \
                        the scenario; --help-experiments lists the keys";

/// Every key with its value, as clap reads them.
#[derive(Parser, Clone, Debug)]
#[command(no_binary_name = true, disable_help_flag = true, args_override_self = true)]
struct Known {
    #[command(flatten)]
    simulation: Simulation,
    #[command(flatten)]
    faults: FaultOptions,
    #[command(flatten)]
    replay: Replay,
    #[command(flatten)]
    results: Results,
}

/// A key and its value.
#[derive(Clone, Debug)]
enum Setting {
    /// A key of [`Known`], and its value as text that clap accepts.
    Known(String, String),
    /// A parameter of the scenario.
    Parameter(String, f64),
}

/// The values of all keys, and the parameters of the scenario that are set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The simulated machine and its schedulers.
    pub simulation: Simulation,
    /// Errors of sensors and of the policy's values.
    pub faults: FaultOptions,
    /// How a recording is replayed.
    pub replay: Replay,
    /// What histories of results show.
    pub results: Results,
    /// Parameters of the scenario, in the order given.
    pub parameters: Vec<(String, f64)>,
    given: Vec<String>,
}

impl Settings {
    /// Parameters of the scenario; of several values the last one.
    pub fn overrides(&self) -> BTreeMap<String, f64> {
        self.parameters.iter().cloned().collect()
    }

    /// Refuses keys of a group that the verb or its work has no use for.
    pub fn refuse(&self, group: &str, only: &str) -> Result<()> {
        let command = Known::command();
        let in_group = |key: &&String| {
            let argument = argument(&command, key);
            argument.is_some_and(|argument| argument.get_help_heading() == Some(group))
        };
        match self.given.iter().find(in_group) {
            Some(key) => bail!("--set {key}: {only}"),
            None => Ok(()),
        }
    }

    /// Refuses a key that is also the name of a parameter of the scenario.
    pub fn refuse_ambiguous(&self, scenario: &Scenario) -> Result<()> {
        match self.given.iter().find(|key| scenario.parameters.contains_key(*key)) {
            Some(key) => bail!(
                "--set {key}: a setting of experiments, and a parameter of {}: rename the \
                 parameter",
                scenario.name
            ),
            None => Ok(()),
        }
    }

    /// Refuses parameters, which a recording does not have.
    pub fn refuse_parameters(&self) -> Result<()> {
        let first = self.parameters.first().map_or("", |(name, _)| name);
        ensure!(
            self.parameters.is_empty(),
            "--set {first}: a recording has no parameters ({HELP} lists the other keys)"
        );
        Ok(())
    }
}

impl FromArgMatches for Settings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (mut words, mut parameters, mut given) = (Vec::new(), Vec::new(), Vec::new());
        for setting in matches.get_many::<Setting>(SET).into_iter().flatten() {
            match setting {
                Setting::Parameter(name, value) => parameters.push((name.clone(), *value)),
                Setting::Known(key, value) => {
                    words.push(format!("--{key}={value}"));
                    given.push(key.clone());
                }
            }
        }
        let Known { simulation, faults, replay, results } = Known::try_parse_from(words)?;
        Ok(Self { simulation, faults, replay, results, parameters, given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Settings {
    fn augment_args(command: Command) -> Command {
        let set = Arg::new(SET).long(SET).value_name("KEY=VALUE").help(SET_HELP);
        let set = set.action(ArgAction::Append).value_parser(setting);
        // The help of `--set` names this option; `main` prints the list before any parsing.
        let help = Arg::new("help-experiments").long(HELP.trim_start_matches('-'));
        command.arg(set).arg(help.action(ArgAction::SetTrue).hide(true))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn argument<'a>(command: &'a Command, key: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|argument| argument.get_long() == Some(key))
}

fn setting(text: &str) -> Result<Setting, String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    let key = key.trim().to_owned();
    if let Some((_, ending)) = moved_to_page(&key) {
        return Err(format!(
            "`--set {key}={value}` is now `--page {}`",
            with_ending(value, ending)
        ));
    }
    if argument(&Known::command(), &key).is_some() {
        Known::try_parse_from([format!("--{key}={value}")]).map_err(|error| reason(&error))?;
        return Ok(Setting::Known(key, value.to_owned()));
    }
    let value: f64 = value.parse().map_err(|_| format!("{value:?} is not a number"))?;
    if !value.is_finite() {
        return Err(format!("{value} is not a finite number"));
    }
    Ok(Setting::Parameter(key, value))
}

/// Files that were settings: their key, and the ending by which `--page` knows them.
const MOVED_TO_PAGE: [(&str, &str); 2] = [("svg", ".svg"), ("perfetto", ".pftrace")];

fn moved_to_page(key: &str) -> Option<(&'static str, &'static str)> {
    MOVED_TO_PAGE.into_iter().find(|(moved, _)| *moved == key)
}

/// The file's name, or how it must end.
fn with_ending<'a>(name: &'a str, ending: &str) -> Cow<'a, str> {
    if name.ends_with(ending) { name.into() } else { format!("FILE{ending}").into() }
}

/// Why clap refuses a value.
fn reason(error: &clap::Error) -> String {
    if let Some(ContextValue::Strings(known)) = error.get(ContextKind::ValidValue)
        && !known.is_empty()
    {
        return format!("expected one of {}", known.join(", "));
    }
    let source = std::error::Error::source(error);
    source.map_or_else(|| "expected a value".to_owned(), ToString::to_string)
}

/// The sentence for an option that became a key or a verb; `words` follow the verb.
pub fn old_spelling(words: &[String], error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    if option == "--list" {
        return Some("`--list` is now `evenkeel scenarios`".to_owned());
    }
    let command = Known::command();
    let key = option.strip_prefix("--")?;
    let at = words.iter().position(|word| word.split('=').next() == Some(option))?;
    let value = match words[at].split_once('=') {
        Some((_, value)) => Some(value),
        None => words.get(at + 1).map(String::as_str),
    };
    if let Some((_, ending)) = moved_to_page(key) {
        let (given, file) = value.map_or((String::new(), ""), |value| (format!(" {value}"), value));
        return Some(format!("`{option}{given}` is now `--page {}`", with_ending(file, ending)));
    }
    let argument = argument(&command, key)?;
    let is_switch = argument.get_value_parser().type_id() == std::any::TypeId::of::<bool>();
    if is_switch {
        return Some(format!("`{option}` is now `--set {key}=true`"));
    }
    Some(match value {
        Some(value) => format!("`{option} {value}` is now `--set {key}={value}`"),
        None => format!("`{option}` is now `--set {key}=VALUE`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Parser)]
    struct Verb {
        #[command(flatten)]
        set: Settings,
    }

    fn settings(words: &[&str]) -> Settings {
        Verb::try_parse_from([&["verb"], words].concat()).unwrap().set
    }

    #[test]
    fn the_last_value_of_a_key_holds_and_unknown_keys_are_parameters() {
        let set = settings(&["--set", "hz=100", "--set", "load=2", "--set", "hz=1000"]);
        assert_eq!((set.simulation.hz, set.overrides()["load"]), (1000, 2.0));
        let none = settings(&[]);
        assert_eq!((none.simulation.hz, none.simulation.ideal, none.given.len()), (250, false, 0));
    }

    #[test]
    fn a_value_that_a_key_cannot_have_is_refused_with_those_it_can_have() {
        let refused = |text| setting(text).unwrap_err();
        assert_eq!(refused("hz=0"), "0 is not in 100..=1000");
        assert_eq!(refused("kernel=5.0"), "expected one of 6.1, 6.12, 6.18");
        assert_eq!(refused("ideal=maybe"), "expected one of true, false");
        assert_eq!(refused("table-error=-501"), "-501 is not in -500..=1000");
        assert_eq!(
            (refused("hz"), refused("load=x")),
            ("expected KEY=VALUE".to_owned(), "\"x\" is not a number".to_owned())
        );
    }

    #[test]
    fn an_old_option_names_the_key_that_it_became() {
        let said = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            let all = std::iter::once("verb".to_owned()).chain(words.iter().cloned());
            old_spelling(&words, &Verb::try_parse_from(all).err().unwrap()).unwrap_or_default()
        };
        assert_eq!(said("--table-error 5"), "`--table-error 5` is now `--set table-error=5`");
        assert_eq!(said("--table-error=-5"), "`--table-error -5` is now `--set table-error=-5`");
        assert_eq!(said("--stall-error -5"), "`--stall-error -5` is now `--set stall-error=-5`");
        assert_eq!(said("--ideal"), "`--ideal` is now `--set ideal=true`");
        assert_eq!(said("--svg a.svg"), "`--svg a.svg` is now `--page a.svg`");
        assert_eq!(said("--perfetto=a"), "`--perfetto a` is now `--page FILE.pftrace`");
        assert_eq!(said("--list"), "`--list` is now `evenkeel scenarios`");
        assert_eq!(said("--nonsense 1"), "");
    }

    #[test]
    fn no_shipped_scenario_has_a_parameter_that_is_named_like_a_key() {
        let command = Known::command();
        for name in scenarios::names() {
            let (file, text) = scenarios::by_name(name).unwrap();
            let scenario = Scenario::parse(text, file).unwrap();
            let taken = scenario.parameters.keys().find(|key| argument(&command, key).is_some());
            assert_eq!(taken, None, "{name}");
        }
    }
}
