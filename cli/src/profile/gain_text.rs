//! The comparison of wide and narrow code as text, and for the page.

use ::report::profile::Comparison;

use super::EstimateReport;
use super::gain::{Both, Compared, Gain, Source, Verdict};

const NOT_KNOWN: &str = "How much work the other programs did is not known: without counters only \
                         their CPU time is.";

const HEADS: [&str; 5] = ["", "#wide", "#narrow", "#narrow/wide", "#95 %"];

/// Figures, verdict and break-even; of runs that failed, the sentence alone.
pub fn lines(compared: &Compared) -> Vec<String> {
    let Comparison { title, rows, sentences, .. } = comparison(compared);
    let Some(gain) = &compared.gain else {
        return vec![String::new(), title];
    };
    let runs = format!("{} runs of each, in turn", gain.runs);
    let head: Vec<String> = HEADS.iter().map(|head| head.replace('#', "")).collect();
    let line = |first: &str, row: &[String]| {
        let [_, wide, narrow, ratio, between] = row else { return String::new() };
        let line = format!("{first:32}{wide:>10}{narrow:>10}{ratio:>14}{between:>20}");
        line.trim_end().to_owned()
    };
    let mut lines = vec![String::new(), line(&runs, &head)];
    lines.extend(rows.iter().map(|row| line(&row[0], row)));
    lines.push(String::new());
    lines.extend(sentences);
    lines
}

/// The same for the page.
pub fn comparison(compared: &Compared) -> Comparison {
    let Some(gain) = &compared.gain else {
        let title = compared.failed.clone().unwrap_or_default();
        return Comparison { title, ..Comparison::default() };
    };
    let or_dash = |value: Option<f64>| value.map_or("-".to_owned(), seconds);
    let of_others = |name: &str, [wide, narrow]: [String; 2]| {
        vec![name.to_owned(), wide, narrow, String::new(), String::new()]
    };
    let used = [gain.others_cpu_time_wide_s, gain.others_cpu_time_narrow_s].map(seconds);
    let lost = [gain.others_lost_wide_s, gain.others_lost_narrow_s].map(or_dash);
    let gained = format!("Gain: {} CPU seconds a run.", estimate(&gain.gain_s));
    let mut sentences = vec![gained, cost(gain, compared.source), NOT_KNOWN.to_owned()];
    sentences.push(verdict(gain));
    sentences.extend(break_even(gain));
    Comparison {
        title: verdict(gain).trim_end_matches('.').to_owned(),
        heads: HEADS.map(str::to_owned).into(),
        rows: vec![
            ratio("time s", &gain.time),
            ratio("CPU time s", &gain.cpu_time),
            of_others("CPU time of other programs s", used),
            of_others("which they lost by the clock s", lost),
        ],
        sentences,
    }
}

fn ratio(name: &str, both: &Both) -> Vec<String> {
    let EstimateReport { value, low, high } = both.ratio;
    let between = format!("[{low:.3}, {high:.3}]");
    let [wide, narrow, ratio] = [both.wide_s, both.narrow_s, value].map(|it| format!("{it:.3}"));
    vec![name.to_owned(), wide, narrow, ratio, between]
}

fn estimate(it: &EstimateReport) -> String {
    format!("{} [{}, {}]", seconds(it.value), seconds(it.low), seconds(it.high))
}

/// Without the sign of what is printed as 0.000.
fn seconds(value: f64) -> String {
    let shown = if value.abs() < 0.0005 { 0.0 } else { value };
    format!("{shown:.3}")
}

fn cost(gain: &Gain, source: Source) -> String {
    let by = match source {
        Source::NoLevels => "this CPU has no license levels to leave to others",
        Source::Counters => "by counters of license levels",
        Source::Table => "by the table; narrow code whose registers do not show counts as free",
        Source::Pauses => "measured in pauses; an upper bound without counters",
        Source::NotKnown => {
            return "Cost: not known; what the profile says of the clock tells why.".to_owned();
        }
    };
    let cost = gain.cost_s.as_ref().map(estimate).unwrap_or_default();
    format!("Cost: {cost} CPU seconds of other programs a run ({by}).")
}

fn verdict(gain: &Gain) -> String {
    match gain.verdict {
        Verdict::Pays => "Wide code pays here: it gains its program more than it costs others.",
        Verdict::CostsMore => "Wide code does not pay here: it costs others more than it gains.",
        Verdict::Undecided => {
            "Undecided: wide code gains its program time, but whether more than it costs others \
             these runs do not tell (--runs)."
        }
        Verdict::CostNotKnown => "Wide code gains its program time; what it costs is not known.",
        Verdict::NoGainShown => {
            "No gain shown: the interval of the ratio of CPU times includes 1 (--runs)."
        }
        Verdict::Slower => "No gain: with wide code the program takes more CPU time.",
    }
    .to_owned()
}

fn break_even(gain: &Gain) -> Option<String> {
    let ratio = gain.break_even_ratio?;
    let neighbours = match (gain.verdict, gain.neighbours_factor) {
        (Verdict::NoGainShown | Verdict::Slower, _) => String::new(),
        (_, Some(factor)) => format!(
            "; with {factor:.1} times the CPU time of these neighbours the gain would be used up"
        ),
        (_, None) => "; no amount of such neighbours makes the cost as great".to_owned(),
    };
    Some(format!("Break-even: a ratio of CPU times of {ratio:.3}{neighbours}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::gain::{Run, compare};

    fn text(narrow_s: f64, cost_s: Option<f64>, source: Source) -> String {
        let run = |cpu_time_s, cost_s| Run {
            time_s: cpu_time_s,
            cpu_time_s,
            others_cpu_time_s: 8.0,
            cost_s,
        };
        let pair = (run(10.0, cost_s), run(narrow_s, cost_s.map(|_| 0.0)));
        let gain = compare(&[pair, pair]);
        lines(&Compared { narrow: "narrow".to_owned(), gain, failed: None, source }).join("\n")
    }

    #[test]
    fn a_gain_has_its_break_even_and_a_cost_says_where_it_is_from() {
        let found = text(12.0, Some(0.5), Source::Table);
        assert!(found.contains("1.200      [1.200, 1.200]"), "{found}");
        assert!(found.contains("Cost: 0.500 [0.500, 0.500] CPU seconds of other"), "{found}");
        assert!(found.contains("CPU times of 1.050; with 4.0 times the CPU time"), "{found}");
    }

    #[test]
    fn a_cpu_without_levels_has_no_cost_and_an_unknown_cost_no_break_even() {
        let found = text(12.0, Some(0.0), Source::NoLevels);
        assert!(found.contains("no license levels") && found.contains("no amount of"), "{found}");
        let found = text(12.0, None, Source::NotKnown);
        assert!(found.contains("Cost: not known") && !found.contains("Break-even"), "{found}");
    }

    #[test]
    fn runs_that_failed_have_a_sentence_and_no_figures() {
        let failed = Some("run 2 of 6 ended with exit code 3".to_owned());
        let narrow = "narrow".to_owned();
        let compared = Compared { narrow, gain: None, failed, source: Source::NotKnown };
        assert_eq!(lines(&compared), ["", "run 2 of 6 ended with exit code 3"]);
    }
}
