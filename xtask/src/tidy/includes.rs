//! The C of `policy` and `cpu-model` includes only its own headers and those of the
//! rooms that its room may use: no libc, no kernel headers.

use std::collections::BTreeSet;

use super::Finding;
use super::arrows::Arrows;
use crate::repo::TextFile;

const FREESTANDING: [&str; 2] = ["policy", "cpu-model"];

/// Includes that lead elsewhere.
pub fn check(files: &[TextFile]) -> Vec<Finding> {
    let arrows = Arrows::read(files);
    let mut found = Vec::new();
    for file in files.iter().filter(|file| FREESTANDING.contains(&file.room())) {
        if !matches!(file.extension(), "c" | "h") {
            continue;
        }
        for (number, line) in file.lines() {
            let Some(header) = included(line) else { continue };
            if !is_ours(files, &arrows, file, header) {
                let message = format!("`{header}` is outside this room and those it may use");
                found.push(Finding::new(file, number, message));
            }
        }
    }
    found
}

/// The other rooms whose headers a room's C includes.
pub fn rooms<'a>(files: &'a [TextFile], room: &str) -> BTreeSet<&'a str> {
    let own = files.iter().filter(|file| file.room() == room);
    let c = own.filter(|file| matches!(file.extension(), "c" | "h"));
    let headers: BTreeSet<&str> =
        c.flat_map(|file| file.text.lines().filter_map(included)).collect();
    let is_included = |file: &&TextFile| {
        let header = file.path.strip_prefix(file.room()).and_then(|p| p.strip_prefix("/include/"));
        file.room() != room && header.is_some_and(|header| headers.contains(header))
    };
    files.iter().filter(is_included).map(TextFile::room).collect()
}

fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    Some(rest.trim().trim_matches(['<', '>', '"']))
}

fn is_ours(files: &[TextFile], arrows: &Arrows, file: &TextFile, header: &str) -> bool {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let rooms = std::iter::once(file.room()).chain(arrows.of(file.room()));
    let mut places: Vec<String> = rooms.map(|room| format!("{room}/include/{header}")).collect();
    places.push(format!("{folder}/{header}"));
    files.iter().any(|file| places.contains(&file.path))
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn including(line: &str) -> usize {
        let table = "| Room | Uses |\n|---|---|\n| `cpu-model` | – |\n| `policy` | `cpu-model` |\n";
        check(&[
            file("docs/architecture.md", table),
            file("cpu-model/include/evenkeel/ints.h", ""),
            file("trace/include/evenkeel/trace.h", ""),
            file("policy/include/evenkeel/other.h", ""),
            file("policy/include/evenkeel/mean.h", line),
        ])
        .len()
    }

    #[test]
    fn own_headers_and_those_of_an_arrow_pass() {
        assert_eq!(including("#include \"other.h\"\n"), 0);
        assert_eq!(including("#include <evenkeel/other.h>\n"), 0);
        assert_eq!(including("#include <evenkeel/ints.h>\n"), 0);
    }

    #[test]
    fn rooms_are_those_of_the_headers() {
        let files = [
            file("policy/include/evenkeel/charge.h", "#include <evenkeel/ints.h>\n"),
            file("cpu-model/include/evenkeel/ints.h", ""),
            file("scheduler/src/x.bpf.c", "#include <evenkeel/charge.h>\n#include \"own.h\"\n"),
            file("scheduler/src/notes.md", "#include <evenkeel/ints.h>\n"),
        ];
        assert_eq!(rooms(&files, "scheduler").into_iter().collect::<Vec<_>>(), ["policy"]);
    }

    #[test]
    fn libc_and_other_rooms_are_found() {
        assert_eq!(including("#include <stdint.h>\n"), 1);
        assert_eq!(including("# include <linux/bpf.h>\n"), 1);
        assert_eq!(including("#include <evenkeel/trace.h>\n"), 1);
    }
}
