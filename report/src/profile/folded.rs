//! Folded stacks, the text format of flame graphs: a line a stack, `program;thread;outer;inner 12`.

use std::collections::BTreeMap;

use super::{Stack, Weight, exported};

/// The stacks in order of their names, equal ones added up.
///
/// A line has the program, the thread and the functions from the outermost to the innermost,
/// separated by `;`, then a space and the weight: the CPU time that others lost, in whole
/// microseconds; or, if no stack has any, how often the stack was seen. Stacks whose weight rounds
/// to 0 are left out. In names, `;` becomes `:`, and white space becomes `_`, because some readers
/// take a number after a space for a weight; control characters and those that reorder text are
/// written as their code points, and names are cut to 512 characters.
#[must_use]
pub fn folded(stacks: &[Stack]) -> String {
    let weight = Weight::of(stacks);
    let unit = match weight {
        Weight::LostTime => 1e6,
        Weight::Count => 1.0,
    };
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for stack in stacks {
        let names = [&stack.group, &stack.thread].into_iter().chain(&stack.frames);
        let names: Vec<String> = names.map(|name| harmless(name)).collect();
        *sums.entry(names.join(";")).or_default() += unit * weight.size(stack);
    }
    let lines = sums.into_iter().map(|(names, sum)| (names, sum.round() as u64));
    lines.filter(|line| line.1 > 0).map(|(names, sum)| format!("{names} {sum}\n")).collect()
}

fn harmless(name: &str) -> String {
    let one = |c: char| match c {
        ';' => ':',
        c if c.is_whitespace() => '_',
        c => c,
    };
    exported(name).chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stack(frames: &[&str], lost_s: f64, count: u64) -> Stack {
        let frames = frames.iter().map(|&frame| frame.to_owned()).collect();
        let (group, thread) = ("x265".to_owned(), "pool 1".to_owned());
        Stack { group, thread, frames, lost_s, count, ..Stack::default() }
    }

    #[test]
    fn weights_are_microseconds_and_equal_stacks_are_one_line() {
        let stacks = [
            stack(&["main", "sad"], 0.001, 1),
            stack(&["main", "sad"], 0.0005, 1),
            stack(&["main"], 4e-7, 9),
        ];
        assert_eq!(folded(&stacks), "x265;pool_1;main;sad 1500\n");
    }

    #[test]
    fn without_lost_time_weights_are_counts() {
        assert_eq!(folded(&[stack(&["main"], f64::NAN, 3)]), "x265;pool_1;main 3\n");
    }

    #[test]
    fn names_that_look_like_the_format_are_one_frame() {
        let hostile = ["a;b", "c 12\nd;e 7", "f\u{202e}g", " "];
        let expected = "x265;pool_1;a:b;c_12\\u{a}d:e_7;f\\u{202e}g;[unknown] 5\n";
        assert_eq!(folded(&[stack(&hostile, 5e-6, 0)]), expected);
    }

    proptest! {
        #[test]
        fn any_stack_is_one_line_of_its_frames_and_its_weight(
            frames in proptest::collection::vec(any::<String>(), 0..5), count in 1_u64..1 << 50
        ) {
            let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
            let text = folded(&[stack(&frames, 0.0, count)]);
            let line = text.strip_suffix('\n').unwrap();
            let (names, weight) = line.split_once(' ').unwrap();
            prop_assert_eq!(weight.parse(), Ok(count));
            prop_assert_eq!(names.split(';').count(), 2 + frames.len());
            prop_assert!(!names.chars().any(|c| c.is_control() || c.is_whitespace()));
        }
    }
}
