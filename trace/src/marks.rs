//! A file of marks says when a task ran which instructions: CSV, one mark a line.
//!
//! `begin_ns,end_ns,tid,class[,rate]` is an interval, `time_ns,tid,level` holds
//! until the task's next mark. Times are those of the recording. Empty lines,
//! lines that begin with `#` and a first line of field names are skipped.

use cpu_model::Class;

use crate::classes::{RATE_FULL_PERMILLE, Use, class_names, parse_rate};

/// A change of the instruction class of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Line of the file.
    pub line: u64,
    /// Begin of the mark.
    pub begin_ns: u64,
    /// End of the mark; `None`: with the task's next mark.
    pub end_ns: Option<u64>,
    /// The task.
    pub tid: u32,
    /// Class of the instructions.
    pub class: Use,
}

/// Why a file of marks could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarkError {
    /// A line with another number of fields.
    #[error(
        "line {line}: {fields} fields, expected begin_ns,end_ns,tid,class[,rate] or \
         time_ns,tid,level"
    )]
    Fields {
        /// The line.
        line: u64,
        /// Number of fields in the line.
        fields: usize,
    },
    /// A field without the expected content.
    #[error("line {line}, field {field}: `{found}`, expected {expected}")]
    Field {
        /// The line.
        line: u64,
        /// The field.
        field: &'static str,
        /// The text found, cleaned.
        found: String,
        /// The expected text.
        expected: String,
    },
    /// Two marks of a task hold at once.
    #[error("line {line}: overlaps the mark of task {tid} in line {other}")]
    Overlap {
        /// The line.
        line: u64,
        /// The earlier mark's line.
        other: u64,
        /// The task.
        tid: u32,
    },
}

/// Marks without overlaps, by task and time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks(Vec<Mark>);

impl Marks {
    /// Reads the text of a file of marks.
    ///
    /// # Errors
    /// [`MarkError`], with line and field.
    pub fn parse(text: &str) -> Result<Self, MarkError> {
        let mut marks = Vec::new();
        let mut first = true;
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let named = text.starts_with("begin_ns") || text.starts_with("time_ns");
            if !(std::mem::take(&mut first) && named) {
                marks.push(parse_mark(line, text)?);
            }
        }
        marks.sort_by_key(|mark| (mark.tid, mark.begin_ns, mark.line));
        for pair in marks.windows(2) {
            let [earlier, later] = pair else { continue };
            let ends_ns = earlier.end_ns.unwrap_or(earlier.begin_ns);
            let same_time = earlier.end_ns.is_none() && earlier.begin_ns == later.begin_ns;
            if earlier.tid == later.tid && (ends_ns > later.begin_ns || same_time) {
                let Mark { line, tid, .. } = *later;
                return Err(MarkError::Overlap { line, other: earlier.line, tid });
            }
        }
        Ok(Self(marks))
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of marks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The marks of each task, in order of time.
    pub fn by_task(&self) -> impl Iterator<Item = &[Mark]> {
        self.0.chunk_by(|a, b| a.tid == b.tid)
    }
}

fn parse_mark(line: u64, text: &str) -> Result<Mark, MarkError> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    match fields[..] {
        [time_ns, tid, level] => Ok(Mark {
            line,
            begin_ns: number(line, "time_ns", time_ns)?,
            end_ns: None,
            tid: tid_of(line, tid)?,
            class: level_of(line, level)?,
        }),
        [begin_ns, end_ns, tid, class] | [begin_ns, end_ns, tid, class, _] => {
            let begin_ns = number(line, "begin_ns", begin_ns)?;
            let last_ns = number(line, "end_ns", end_ns)?;
            if last_ns <= begin_ns {
                return Err(wrong(line, "end_ns", end_ns, "a time after begin_ns"));
            }
            let tid = tid_of(line, tid)?;
            let class = Class::from_name(class)
                .ok_or_else(|| wrong(line, "class", class, &format!("one of {}", class_names())))?;
            let rate_permille = match fields.get(4) {
                Some(rate) => parse_rate(rate).ok_or_else(|| {
                    wrong(line, "rate", rate, "instructions per cycle, 0.001 to 8")
                })?,
                None => RATE_FULL_PERMILLE,
            };
            let class = Use { class, rate_permille };
            Ok(Mark { line, begin_ns, end_ns: Some(last_ns), tid, class })
        }
        _ => Err(MarkError::Fields { line, fields: fields.len() }),
    }
}

fn number(line: u64, field: &'static str, text: &str) -> Result<u64, MarkError> {
    text.parse().map_err(|_| wrong(line, field, text, "a time in ns"))
}

fn tid_of(line: u64, text: &str) -> Result<u32, MarkError> {
    let tid = text.parse().ok().filter(|&tid| tid != 0);
    tid.ok_or_else(|| wrong(line, "tid", text, "the id of a task, from 1"))
}

/// Levels as the dissertation records them (0, 1, 2); a class that demands each on Skylake
/// (D 3.2.1).
fn level_of(line: u64, text: &str) -> Result<Use, MarkError> {
    let class = match text {
        "0" => Class::Scalar,
        "1" => Class::Avx2Heavy,
        "2" => Class::Avx512Heavy,
        _ => return Err(wrong(line, "level", text, "0, 1 or 2")),
    };
    Ok(Use { class, rate_permille: RATE_FULL_PERMILLE })
}

fn wrong(line: u64, field: &'static str, found: &str, expected: &str) -> MarkError {
    let found = crate::clean(found.as_bytes());
    MarkError::Field { line, field, found, expected: expected.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        Marks::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn intervals_and_points_are_read() {
        let text = "begin_ns,end_ns,tid,class\n# of a probe\n\n 20, 30, 7, amx, 0.5\n5,7,2\n";
        let marks = Marks::parse(text).unwrap();
        let of_7 = marks.by_task().next().unwrap();
        assert_eq!(of_7.len(), 2);
        assert_eq!((of_7[0].begin_ns, of_7[0].end_ns, of_7[0].line), (5, None, 5));
        assert_eq!(of_7[0].class.class, Class::Avx512Heavy);
        assert_eq!((of_7[1].end_ns, of_7[1].class.rate_permille), (Some(30), 500));
    }

    #[test]
    fn mistakes_name_line_and_field() {
        assert_eq!(
            said("1,2\n"),
            "line 1: 2 fields, expected begin_ns,end_ns,tid,class[,rate] or time_ns,tid,level"
        );
        assert_eq!(said("\n1,x,3,amx"), "line 2, field end_ns: `x`, expected a time in ns");
        assert_eq!(said("2,2,3,amx"), "line 1, field end_ns: `2`, expected a time after begin_ns");
        assert_eq!(said("1,2,0,amx"), "line 1, field tid: `0`, expected the id of a task, from 1");
        assert!(
            said("1,2,3,\x1b[m").starts_with("line 1, field class: `\u{fffd}[m`, expected one")
        );
        assert!(said("1,2,3,amx,9").starts_with("line 1, field rate: `9`"));
        assert_eq!(said("1,3,4"), "line 1, field level: `4`, expected 0, 1 or 2");
    }

    #[test]
    fn overlaps_name_both_lines() {
        assert_eq!(
            said("10,20,3,amx\n5,11,3,amx\n"),
            "line 1: overlaps the mark of task 3 in line 2"
        );
        assert_eq!(said("5,3,1\n5,3,2\n"), "line 2: overlaps the mark of task 3 in line 1");
        assert!(Marks::parse("10,20,3,amx\n20,30,3,amx\n5,15,4,amx\n").is_ok());
    }
}
