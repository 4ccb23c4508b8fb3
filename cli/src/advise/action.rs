//! Actions for the machine of a recording, and the commands that apply an action.

use std::collections::BTreeSet;

use serde::Serialize;
use trace::TaskInfo;

use super::changed;
use super::situation::Situation;
use super::switches;
use crate::run_options::Sensors;

/// An action.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Action {
    /// The kernel's own scheduler goes on.
    Nothing,
    /// `scx_evenkeel` schedules.
    Scheduler {
        /// Its mode.
        mode: &'static str,
    },
    /// Programs with wide code run on some cores alone; other programs run everywhere.
    Confine {
        /// How many cores.
        cores: u32,
        /// Their CPUs.
        cpus: Vec<u32>,
    },
    /// A program uses 256-bit code instead of 512-bit code.
    Narrow {
        /// Its number among the workload's applications.
        #[serde(skip)]
        application: u32,
        /// Its name.
        program: String,
        /// How many times as many cycles it needs then, as the user measured.
        speedup: Option<f64>,
    },
}

/// Modes of `scx_evenkeel` that are tried, and what each does. The first one compensates nothing:
/// its change is that of another scheduler as such.
const MODES: [(&str, &str); 5] = [
    (
        "fair",
        "Schedules by virtual time alone and compensates nothing; the other modes differ from it \
         by what they give back.",
    ),
    ("fair-relative", "Gives tasks back the time that wide code of other tasks costs them."),
    (
        "fair-isolation",
        "Gives tasks back the time that wide code of other tasks costs them, and bills the tasks \
         that cause the loss.",
    ),
    (
        "even",
        "As fair-isolation, keeps wide code on cores of its own where it can, and lets a hardware \
         thread idle to repay what CPU time cannot.",
    ),
    (
        "fair-specialize",
        "Runs 512-bit code on as few cores as it needs, and gives back what is still lost. The \
         exec lines declare programs from the start; the prediction lets sensors find them.",
    ),
];

/// The actions that are possible.
pub fn actions(situation: &Situation, speedup: impl Fn(&str) -> Option<f64>) -> Vec<Action> {
    let workload = &situation.workload;
    let mut actions = vec![Action::Nothing];
    actions.extend(MODES.map(|(mode, _)| Action::Scheduler { mode }));
    for cores in changed::numbers_of_cores(&workload.machine) {
        let cpus = changed::last_cores(&workload.machine, cores);
        actions.push(Action::Confine { cores, cpus });
    }
    for &application in &situation.culprits {
        let of = &workload.applications[application as usize];
        if of.class.width() == 2 {
            let (program, speedup) = (of.name.clone(), speedup(&of.name));
            actions.push(Action::Narrow { application, program, speedup });
        }
    }
    actions
}

impl Action {
    /// The mode of `scx_evenkeel` that compensates nothing.
    pub const FAIR: Self = Self::Scheduler { mode: MODES[0].0 };

    /// The action in a few words.
    pub fn name(&self) -> String {
        match self {
            Self::Nothing => "do nothing".to_owned(),
            Self::Scheduler { mode } => format!("scx_evenkeel --mode {mode}"),
            Self::Confine { cores: 1, .. } => "wide programs on 1 core".to_owned(),
            Self::Confine { cores, .. } => format!("wide programs on {cores} cores"),
            Self::Narrow { program, .. } => format!("{program} without 512-bit code"),
        }
    }

    /// The effect of the action.
    pub fn effect(&self, situation: &Situation) -> String {
        match self {
            Self::Nothing => "The kernel's own scheduler goes on.".to_owned(),
            Self::Scheduler { mode } => {
                let known = MODES.iter().find(|(name, _)| name == mode);
                known.map_or("", |(_, effect)| effect).to_owned()
            }
            Self::Confine { .. } if situation.header.threads_per_core.is_none() => {
                "Confines the programs with wide code; other programs run on every core. The \
                 recording does not say which CPUs share a core (lscpu -e does): name whole cores."
                    .to_owned()
            }
            Self::Confine { .. } => {
                "Confines the programs with wide code; other programs run on every core.".to_owned()
            }
            Self::Narrow { program, .. } => {
                let covers: Vec<&str> =
                    switches(situation, program).iter().map(|switch| switch.covers).collect();
                format!("Each switch concerns only its own code: {}.", covers.join("; "))
            }
        }
    }

    /// The commands that apply the action, for a shell. ARGUMENTS stands for the arguments of a
    /// program.
    pub fn commands(&self, situation: &Situation, cpu: Option<&str>, by: Sensors) -> Vec<String> {
        let names = situation.culprits.iter();
        let names = names.map(|&it| &situation.workload.applications[it as usize].name);
        match self {
            Self::Nothing => Vec::new(),
            Self::Scheduler { mode } => {
                let mut commands = vec![scheduler(mode, cpu, by, &situation.rules)];
                if *mode == "fair-specialize" {
                    commands.extend(names.map(|it| {
                        format!("evenkeel exec --class avx512 -- {} ARGUMENTS", quoted(it))
                    }));
                }
                commands
            }
            Self::Confine { cpus, .. } => {
                let list = list(cpus);
                let confine = |name: &String| confine(situation, name, &list);
                let commands: Vec<String> = names.flat_map(confine).collect();
                let mut listed = BTreeSet::new();
                commands.into_iter().filter(|command| listed.insert(command.clone())).collect()
            }
            Self::Narrow { program, .. } => {
                let found = switches(situation, program);
                found.iter().map(|switch| switch.command(&quoted(program))).collect()
            }
        }
    }
}

fn switches(situation: &Situation, program: &str) -> Vec<&'static switches::Switch> {
    let functions = situation.functions.get(program).map_or(&[][..], Vec::as_slice);
    switches::of_program(program, functions)
}

/// The command line of the scheduler. Sensors that no machine has are left to the scheduler.
fn scheduler(mode: &str, cpu: Option<&str>, by: Sensors, rules: &[String]) -> String {
    let mut command = format!("sudo scx_evenkeel --mode {mode}");
    if let Some(cpu) = cpu {
        command += &format!(" --cpu {}", quoted(cpu));
    }
    if !matches!(by, Sensors::Proposed | Sensors::Truth) {
        command += &format!(" --sensors {}", by.name());
    }
    if matches!(by, Sensors::Rules) {
        command.extend(rules.iter().map(|rule| format!(" --rule {}", quoted(rule))));
    }
    command
}

/// Confines a program: its systemd unit where nothing else is in that, else its processes.
fn confine(situation: &Situation, program: &str, cpus: &str) -> Vec<String> {
    if let Some(unit) = unit(situation, program) {
        let unit = quoted(&unit);
        return vec![format!("sudo systemctl set-property --runtime {unit} AllowedCPUs={cpus}")];
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let pattern: String = program.chars().map(|c| if is_plain(c) { c } else { '.' }).collect();
    vec![
        format!("pgrep -x {} | xargs -n 1 sudo taskset -a -c -p {cpus}", quoted(&pattern)),
        format!("taskset -c {cpus} {} ARGUMENTS", quoted(program)),
    ]
}

/// The systemd unit that holds tasks of the program and of no program that is a victim.
fn unit(situation: &Situation, program: &str) -> Option<String> {
    let header = &situation.header;
    let unit = |task: &TaskInfo| {
        let path = &task.control_group.as_ref()?.path;
        let is_unit = |name: &&str| name.ends_with(".service") || name.ends_with(".scope");
        path.rsplit('/').find(is_unit).map(str::to_owned)
    };
    let is_victim = |name: &str| {
        let mut victims = situation.victims.iter();
        victims.any(|&it| situation.workload.applications[it as usize].name == name)
    };
    let of_program: BTreeSet<Option<String>> =
        header.tasks.iter().filter(|task| task.app == program).map(unit).collect();
    let mut of_program = of_program.into_iter();
    let (Some(Some(unit_name)), None) = (of_program.next(), of_program.next()) else { return None };
    let is_shared = header
        .tasks
        .iter()
        .any(|task| is_victim(&task.app) && unit(task).as_deref() == Some(unit_name.as_str()));
    (!is_shared).then_some(unit_name)
}

/// A list of CPUs in the form of taskset and systemd.
fn list(cpus: &[u32]) -> String {
    match cpus {
        [] => String::new(),
        [one] => one.to_string(),
        // Cores that are confined to have neighbouring numbers.
        [first, .., last] => format!("{first}-{last}"),
    }
}

/// A word in the quotes of a shell. Recorded names hold no control characters.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| String::from("''"), |quoted| quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_command_are_those_of_a_shell() {
        let rules = ["my x*=avx512-heavy".to_owned()];
        let command = scheduler("even", Some("a b.toml"), Sensors::Rules, &rules);
        let words = shlex::split(&command).unwrap();
        assert_eq!(words[4..6], ["--cpu", "a b.toml"]);
        assert_eq!(words[6..], ["--sensors", "rules", "--rule", "my x*=avx512-heavy"]);
        assert_eq!(
            scheduler("fair", None, Sensors::Truth, &rules),
            "sudo scx_evenkeel --mode fair"
        );
    }

    #[test]
    fn neighbouring_cpus_are_a_range() {
        assert_eq!([list(&[3]), list(&[2, 3]), list(&[4, 5, 6, 7])], ["3", "2-3", "4-7"]);
    }
}
