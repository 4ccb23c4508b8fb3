//! The text of `OMP_DISPLAY_ENV` and `omp_display_env` (OpenMP 5.2, section 21.7).

use super::{Bind, Kind, Offload, Places, Settings, Unit, Wait};

/// `yyyymm` of the version whose functions we export: OpenMP 4.5 is whole.
const OPENMP: u32 = 201_511;

/// The text, one variable a line; `verbose` adds gcc's and LLVM's own.
pub(crate) fn text(settings: &Settings, verbose: bool) -> String {
    let mut lines = vec![format!("  _OPENMP = '{OPENMP}'")];
    let mut say = |name: &str, value: String| lines.push(format!("  [host] {name} = '{value}'"));
    say("OMP_DYNAMIC", yes(settings.dynamic));
    say("OMP_NUM_THREADS", comma(settings.num_threads.iter().map(ToString::to_string)));
    say("OMP_SCHEDULE", schedule(settings));
    say("OMP_PROC_BIND", comma(settings.proc_bind.iter().map(|&bind| bound(bind).to_owned())));
    say("OMP_PLACES", settings.places.as_ref().map(places).unwrap_or_default());
    let optional = |value: Option<String>| value.unwrap_or_default();
    say("OMP_STACKSIZE", optional(settings.stack_bytes.map(|bytes| format!("{bytes}B"))));
    say("OMP_WAIT_POLICY", wait(settings.wait).to_owned());
    say("OMP_THREAD_LIMIT", optional(settings.thread_limit.map(|limit| limit.to_string())));
    let levels = settings.max_active_levels.map(|levels| levels.to_string());
    say("OMP_MAX_ACTIVE_LEVELS", optional(levels));
    say("OMP_NUM_TEAMS", settings.num_teams.to_string());
    say("OMP_TEAMS_THREAD_LIMIT", settings.teams_thread_limit.to_string());
    say("OMP_CANCELLATION", yes(settings.cancellation));
    say("OMP_DEFAULT_DEVICE", settings.default_device.to_string());
    say("OMP_ALLOCATOR", optional(settings.allocator.as_ref().map(ToString::to_string)));
    let offload = match settings.offload {
        Offload::Disabled => "DISABLED",
        Offload::Default => "DEFAULT",
        Offload::Mandatory => "MANDATORY",
    };
    say("OMP_TARGET_OFFLOAD", offload.to_owned());
    say("OMP_MAX_TASK_PRIORITY", settings.max_task_priority.to_string());
    say("OMP_DISPLAY_AFFINITY", yes(settings.show_affinity));
    say("OMP_AFFINITY_FORMAT", settings.affinity_format.clone().unwrap_or_default());
    if verbose {
        let spins = |wait| if let Wait::Spins(spins) = wait { Some(spins) } else { None };
        let spins = settings.wait.and_then(spins).map(|spins| spins.to_string());
        say("GOMP_SPINCOUNT", optional(spins));
        let time = |wait| if let Wait::For { us } = wait { Some(us) } else { None };
        let time = settings.wait.and_then(time).map(|us| format!("{us}us"));
        say("KMP_BLOCKTIME", optional(time));
    }
    let lines = lines.join("\n");
    format!("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n{lines}\nOPENMP DISPLAY ENVIRONMENT END\n")
}

fn yes(yes: bool) -> String {
    if yes { "TRUE" } else { "FALSE" }.to_owned()
}

fn comma(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(",")
}

fn schedule(settings: &Settings) -> String {
    let schedule = settings.schedule;
    let kind = match schedule.kind {
        Kind::Static => "STATIC",
        Kind::Dynamic => "DYNAMIC",
        Kind::Guided => "GUIDED",
        Kind::Auto => "AUTO",
    };
    let by_itself = schedule.kind == Kind::Static;
    let modifier = match (schedule.is_monotonic, by_itself) {
        (true, false) => "MONOTONIC:",
        (false, true) => "NONMONOTONIC:",
        _ => "",
    };
    let chunk = match schedule.chunk {
        0 | 1 => String::new(),
        chunk => format!(",{chunk}"),
    };
    format!("{modifier}{kind}{chunk}")
}

fn bound(bind: Bind) -> &'static str {
    match bind {
        Bind::False => "FALSE",
        Bind::True => "TRUE",
        Bind::Primary => "PRIMARY",
        Bind::Close => "CLOSE",
        Bind::Spread => "SPREAD",
    }
}

fn wait(wait: Option<Wait>) -> &'static str {
    match wait {
        Some(Wait::Active) => "ACTIVE",
        _ => "PASSIVE",
    }
}

fn places(places: &Places) -> String {
    match places {
        Places::Each { unit, count } => {
            let name = match unit {
                Unit::Threads => "threads",
                Unit::Cores => "cores",
                Unit::LastLevelCaches => "ll_caches",
                Unit::NumaDomains => "numa_domains",
                Unit::Sockets => "sockets",
            };
            count.map_or(name.to_owned(), |count| format!("{name}({count})"))
        }
        Places::Listed(listed) => comma(listed.iter().map(|cpus| {
            let cpus = comma(cpus.iter().map(ToString::to_string));
            format!("{{{cpus}}}")
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::read;

    #[test]
    fn settings_from_the_environment_are_displayed() {
        let (settings, _) = read(|name| match name {
            "OMP_NUM_THREADS" => Some("4,2".to_owned()),
            "OMP_SCHEDULE" => Some("monotonic:guided,8".to_owned()),
            "OMP_PLACES" => Some("{0:2}:2:2".to_owned()),
            "KMP_BLOCKTIME" => Some("1".to_owned()),
            _ => None,
        });
        let text = text(&settings, true);
        for line in [
            "  [host] OMP_NUM_THREADS = '4,2'\n",
            "  [host] OMP_SCHEDULE = 'MONOTONIC:GUIDED,8'\n",
            "  [host] OMP_PLACES = '{0,1},{2,3}'\n",
            "  [host] OMP_PROC_BIND = 'TRUE'\n",
            "  [host] KMP_BLOCKTIME = '1000us'\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }
}
