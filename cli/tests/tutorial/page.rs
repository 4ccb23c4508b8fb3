//! The steps of a page of the tutorial, and the outputs that the page shows.

use std::ops::Range;

/// A page: its lines, and the steps in their order.
pub struct Page {
    pub name: String,
    lines: Vec<String>,
    pub steps: Vec<Step>,
}

/// A step, and its output on the page.
pub struct Step {
    /// Line of the command, from 1.
    pub line: usize,
    pub what: What,
    /// What it takes: `record` (rights and a kernel for it), `table` (a measured one without
    /// gaps), or programs.
    pub needs: Vec<String>,
    /// Lines of the output, from 0.
    shown: Range<usize>,
}

#[derive(Debug, PartialEq)]
pub enum What {
    /// A line for the shell, and its exit code.
    Run { command: String, code: i32 },
    /// A file of the reader's, which the page shows whole.
    Write { file: String, text: String },
    /// `characterize` on a modelled machine with this CPU.
    Characterize { cpu: String },
}

impl Page {
    /// Reads the fenced blocks. A block that nobody could check is a mistake.
    pub fn read(name: &str, text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut steps = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let Some(info) = lines[at].strip_prefix("```") else {
                at += 1;
                continue;
            };
            let begin = at + 1;
            let length = lines[begin..].iter().position(|line| line == "```");
            let end = begin + length.unwrap_or_else(|| panic!("{name}:{begin}: no end"));
            let words: Vec<&str> = info.split_whitespace().collect();
            match words.as_slice() {
                ["console", needs @ ..] => console(name, &lines, begin..end, needs, &mut steps),
                ["text", "characterize", cpu] => steps.push(Step {
                    line: begin + 1,
                    what: What::Characterize { cpu: (*cpu).to_owned() },
                    needs: Vec::new(),
                    shown: begin..end,
                }),
                ["c" | "rust" | "toml", file] => steps.push(Step {
                    line: begin + 1,
                    what: What::Write {
                        file: (*file).to_owned(),
                        text: joined(&lines[begin..end]),
                    },
                    needs: Vec::new(),
                    shown: end..end,
                }),
                _ => panic!("{name}:{begin}: nobody checks a block of {info:?}"),
            }
            at = end + 1;
        }
        Self { name: name.to_owned(), lines, steps }
    }

    /// The output that the page shows for a step.
    pub fn shown(&self, step: &Step) -> String {
        joined(&self.lines[step.shown.clone()])
    }

    /// The page with other outputs, one for each step or the old one.
    pub fn with(&self, outputs: &[Option<String>]) -> String {
        let mut lines = self.lines.clone();
        for (step, output) in self.steps.iter().zip(outputs).rev() {
            if let Some(output) = output {
                lines.splice(step.shown.clone(), output.lines().map(str::to_owned));
            }
        }
        joined(&lines)
    }

    /// Figures in the prose: numbers with a decimal point or a percent sign, with their lines.
    pub fn figures(&self) -> Vec<(usize, String)> {
        let mut in_block = false;
        let mut figures = Vec::new();
        for (at, line) in self.lines.iter().enumerate() {
            if line.starts_with("```") {
                in_block = !in_block;
            } else if !in_block {
                figures.extend(figures_of(line).into_iter().map(|figure| (at + 1, figure)));
            }
        }
        figures
    }
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Steps of a block: `$ ` begins a command, `> ` continues the command, `? ` has its exit code.
fn console(name: &str, lines: &[String], block: Range<usize>, needs: &[&str], to: &mut Vec<Step>) {
    let mut at = block.start;
    while at < block.end {
        let line = at + 1;
        let first = lines[at].strip_prefix("$ ");
        let mut command =
            first.unwrap_or_else(|| panic!("{name}:{line}: expected `$ `")).to_owned();
        at += 1;
        while let Some(more) = lines[at].strip_prefix("> ") {
            command = format!("{command}\n{more}");
            at += 1;
        }
        let mut code = 0;
        if let Some(number) = lines[at].strip_prefix("? ") {
            code = number.parse().unwrap_or_else(|_| panic!("{name}:{}: no code", at + 1));
            at += 1;
        }
        let begin = at;
        while at < block.end && !lines[at].starts_with("$ ") {
            at += 1;
        }
        let needs = needs.iter().map(|&need| need.to_owned()).collect();
        to.push(Step { line, what: What::Run { command, code }, needs, shown: begin..at });
    }
}

/// Numbers with a decimal point or a percent sign; links and code are no prose.
fn figures_of(line: &str) -> Vec<String> {
    let prose: String = line.split('`').step_by(2).collect();
    let words: Vec<&str> = prose.split_whitespace().collect();
    let mut figures = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let number = word.trim_matches(|c: char| !c.is_ascii_digit());
        let is_number =
            !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.');
        let is_share = words.get(at + 1).is_some_and(|next| next.starts_with('%'));
        if is_number && (number.contains('.') || is_share) && !word.contains("](") {
            figures.push(number.to_owned());
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
A tenth is 10 % of `99 %`, and 2.5 ms of AVX-512.

```console xz
$ echo a \\
> b
a b
$ false
? 1
```

```text characterize cascade-lake
yes
```

```c a/b.bpf.c
int a;
```
";

    #[test]
    fn commands_have_their_lines_needs_codes_and_outputs() {
        let page = Page::read("page", TEXT);
        let run = |command: &str, code| What::Run { command: command.to_owned(), code };
        let steps: Vec<_> = page.steps.iter().map(|step| (step.line, page.shown(step))).collect();
        let outputs = ["a b\n", "", "yes\n", ""].map(str::to_owned);
        assert_eq!(steps, [4, 7, 12, 16].into_iter().zip(outputs).collect::<Vec<_>>());
        assert_eq!(page.steps[0].what, run("echo a \\\nb", 0));
        assert_eq!(page.steps[1].what, run("false", 1));
        assert_eq!(page.steps[0].needs, ["xz"]);
        assert_eq!(page.steps[2].what, What::Characterize { cpu: "cascade-lake".to_owned() });
        let (file, text) = ("a/b.bpf.c".to_owned(), "int a;\n".to_owned());
        assert_eq!(page.steps[3].what, What::Write { file, text });
    }

    #[test]
    fn outputs_are_replaced_and_the_rest_stays() {
        let page = Page::read("page", TEXT);
        let outputs = [None, Some("one\ntwo\n".to_owned()), Some(String::new()), None];
        let text = page.with(&outputs);
        assert_eq!(text, TEXT.replace("? 1\n", "? 1\none\ntwo\n").replace("yes\n", ""));
        assert_eq!(page.with(&[None, None, None, None]), TEXT);
    }

    #[test]
    fn figures_are_found_in_prose_alone() {
        let figures = Page::read("page", TEXT).figures();
        assert_eq!(figures, [(1, "10".to_owned()), (1, "2.5".to_owned())]);
    }

    #[test]
    #[should_panic(expected = "nobody checks a block of \"sh\"")]
    fn a_block_that_nobody_checks_is_refused() {
        Page::read("page", "```sh\nls\n```\n");
    }
}
