//! One value of a TOML document, with its path and line: where every error message begins.

use std::fmt::Display;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::CpuTableError;

/// The longest string a table may hold, in bytes.
const TEXT_MAX: usize = 2000;

/// The document that nodes point into.
pub(super) struct Document<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Document<'_> {
    pub(super) fn line(&self, offset: usize) -> usize {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }

    pub(super) fn invalid(&self, offset: usize, field: &str, problem: String) -> CpuTableError {
        CpuTableError::Invalid {
            file: self.file.to_owned(),
            line: self.line(offset),
            field: field.to_owned(),
            problem,
        }
    }
}

/// A value with its path and position in the document.
pub(super) struct Node<'a> {
    pub(super) document: &'a Document<'a>,
    pub(super) path: String,
    value: &'a DeValue<'a>,
    offset: usize,
}

/// The result of reading one value.
pub(super) type Read<T> = Result<T, CpuTableError>;

impl<'a> Node<'a> {
    pub(super) fn new(
        document: &'a Document<'a>,
        path: String,
        value: &'a Spanned<DeValue<'a>>,
    ) -> Self {
        Self { document, path, value: value.get_ref(), offset: value.span().start }
    }

    pub(super) fn line(&self) -> usize {
        self.document.line(self.offset)
    }

    /// An error about this value.
    pub(super) fn bad(&self, problem: impl Display) -> CpuTableError {
        self.document.invalid(self.offset, &self.path, problem.to_string())
    }

    fn expected(&self, what: impl Display) -> CpuTableError {
        let found = match self.value {
            DeValue::String(text) => {
                let short: String = text.chars().take(40).collect();
                format!("\"{}\"", short.escape_debug())
            }
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(flag) => flag.to_string(),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "an array".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        self.bad(format_args!("found {found}, expected {what}"))
    }

    /// A table with these fields only.
    pub(super) fn fields(&self, known: &[&str]) -> Read<Fields<'_>> {
        let DeValue::Table(table) = self.value else {
            return Err(self.expected("a table"));
        };
        let fields =
            Fields { document: self.document, path: &self.path, offset: self.offset, table };
        fields.refuse_unknown(known)?;
        Ok(fields)
    }

    /// The elements of an array of at most `max`.
    pub(super) fn items(&self, max: usize) -> Read<Vec<Node<'_>>> {
        let DeValue::Array(array) = self.value else {
            return Err(self.expected("an array"));
        };
        if array.len() > max {
            return Err(
                self.bad(format_args!("found {} elements, expected at most {max}", array.len()))
            );
        }
        Ok(array
            .iter()
            .enumerate()
            .map(|(i, value)| Node::new(self.document, format!("{}[{i}]", self.path), value))
            .collect())
    }

    /// A string that is not blank and has no control characters.
    pub(super) fn text(&self) -> Read<String> {
        match self.value {
            DeValue::String(text)
                if !text.trim().is_empty()
                    && text.len() <= TEXT_MAX
                    && !text.chars().any(char::is_control) =>
            {
                Ok(text.to_string())
            }
            _ => Err(self.expected(format_args!(
                "a string of 1 to {TEXT_MAX} bytes without control characters"
            ))),
        }
    }

    /// A word of lower-case letters, digits, dots and hyphens.
    pub(super) fn word(&self) -> Read<String> {
        match self.value {
            DeValue::String(text) if is_word(text) => Ok(text.to_string()),
            _ => {
                Err(self.expected("a name of 1 to 64 lower-case letters, digits, dots and hyphens"))
            }
        }
    }

    /// One of several words.
    pub(super) fn one_of<T: Copy>(&self, choices: &[(&str, T)]) -> Read<T> {
        let found = match self.value {
            DeValue::String(text) => choices.iter().find(|(name, _)| name == text),
            _ => None,
        };
        found.map(|&(_, choice)| choice).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|&(name, _)| name).collect();
            self.expected(format_args!("one of {}", names.join(", ")))
        })
    }

    /// A whole number.
    pub(super) fn whole(&self, min: u32, max: u32) -> Read<u32> {
        let found = match self.value {
            DeValue::Integer(number) => u32::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        found
            .filter(|number| (min..=max).contains(number))
            .ok_or_else(|| self.expected(format_args!("a whole number from {min} to {max}")))
    }

    /// A number with at most three decimals, in thousandths: microseconds to nanoseconds,
    /// rates to permille.
    pub(super) fn thousandths(&self, min: u32, max: u32) -> Read<u32> {
        let text = match self.value {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            _ => "",
        };
        text.parse()
            .ok()
            .map(|number: f64| number * 1000.0)
            .filter(|scaled| (scaled - scaled.round()).abs() < 1e-6)
            .map(f64::round)
            .filter(|scaled| (f64::from(min)..=f64::from(max)).contains(scaled))
            .map(|scaled| scaled as u32)
            .ok_or_else(|| {
                self.expected(format_args!(
                    "a number from {} to {} with at most three decimals",
                    f64::from(min) / 1000.0,
                    f64::from(max) / 1000.0
                ))
            })
    }

    pub(super) fn flag(&self) -> Read<bool> {
        match self.value {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => Err(self.expected("true or false")),
        }
    }
}

/// Whether a name can be a table's or a level's.
fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.'))
}

/// The fields of a table.
pub(super) struct Fields<'a> {
    document: &'a Document<'a>,
    path: &'a str,
    offset: usize,
    table: &'a DeTable<'a>,
}

impl<'a> Fields<'a> {
    /// The fields of a whole document.
    pub(super) fn root(
        document: &'a Document<'a>,
        table: &'a DeTable<'a>,
        known: &[&str],
    ) -> Read<Self> {
        let fields = Self { document, path: "", offset: 0, table };
        fields.refuse_unknown(known)?;
        Ok(fields)
    }

    fn refuse_unknown(&self, known: &[&str]) -> Read<()> {
        let unknown = self.table.iter().find(|(key, _)| !known.contains(&key.get_ref().as_ref()));
        let Some((key, _)) = unknown else { return Ok(()) };
        let field = self.path_of(key.get_ref());
        let problem = format!("found an unknown field, expected one of {}", known.join(", "));
        Err(self.document.invalid(key.span().start, &field, problem))
    }

    fn path_of(&self, key: &str) -> String {
        // TOML allows an empty key, which an error message must show.
        let key: String = if key.is_empty() {
            "\"\"".to_owned()
        } else {
            key.chars().take(64).flat_map(char::escape_debug).collect()
        };
        if self.path.is_empty() { key } else { format!("{}.{key}", self.path) }
    }

    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        let value = self.table.get(key)?;
        Some(Node::new(self.document, self.path_of(key), value))
    }

    pub(super) fn need(&self, key: &str) -> Read<Node<'a>> {
        self.get(key).ok_or_else(|| {
            let problem = "found nothing, expected this field".to_owned();
            self.document.invalid(self.offset, &self.path_of(key), problem)
        })
    }

    /// Where the values of this table come from; every section says so.
    pub(super) fn source(&self) -> Read<String> {
        self.get("source").map_or_else(
            || {
                let problem =
                    "found nothing, expected the source of this section's values".to_owned();
                Err(self.document.invalid(self.offset, &self.path_of("source"), problem))
            },
            |node| node.text(),
        )
    }
}
