//! TOML values that know their file, line and path, so that every mistake can name them.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{ScenarioError, printable};

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: Arc<str>,
    pub(crate) line: u32,
    pub(crate) field: String,
}

impl Place {
    /// The error that this value is not the expected one.
    pub(crate) fn error(&self, expected: impl Into<String>) -> ScenarioError {
        ScenarioError::Value {
            file: self.file.to_string(),
            line: self.line,
            field: self.field.clone(),
            expected: expected.into(),
        }
    }
}

/// A text and where its lines begin.
pub(crate) struct Source {
    pub(crate) file: Arc<str>,
    line_starts: Vec<usize>,
}

impl Source {
    pub(crate) fn new(file: &str, text: &str) -> Self {
        let starts = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let line_starts = std::iter::once(0).chain(starts.map(|(at, _)| at + 1)).collect();
        Self { file: file.into(), line_starts }
    }

    pub(crate) fn line(&self, offset: usize) -> u32 {
        let line = self.line_starts.partition_point(|&start| start <= offset);
        u32::try_from(line).unwrap_or(u32::MAX)
    }
}

/// A value and its place.
#[derive(Clone)]
pub(crate) struct Value<'a> {
    source: &'a Source,
    value: &'a DeValue<'a>,
    pub(crate) place: Place,
}

impl<'a> Value<'a> {
    pub(crate) fn error(&self, expected: impl Into<String>) -> ScenarioError {
        self.place.error(expected)
    }

    pub(crate) fn as_str(&self) -> Option<&'a str> {
        match self.value {
            DeValue::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.value, DeValue::Array(_))
    }

    pub(crate) fn string(&self) -> Result<String, ScenarioError> {
        self.as_str().map(str::to_owned).ok_or_else(|| self.error("a text in quotes"))
    }

    /// A name that ends up in tables and histories.
    pub(crate) fn name(&self) -> Result<String, ScenarioError> {
        let expected = "a name of 1 to 64 letters, digits, `-`, `_`, `.` or `:`";
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        match self.as_str() {
            Some(name) if (1..=64).contains(&name.len()) && name.chars().all(plain) => {
                Ok(name.to_owned())
            }
            _ => Err(self.error(expected)),
        }
    }

    pub(crate) fn boolean(&self) -> Result<bool, ScenarioError> {
        match self.value {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(self.error("true or false")),
        }
    }

    /// A finite number.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        let number = match self.value {
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).ok()? as f64
            }
            DeValue::Float(number) => number.as_str().parse().ok()?,
            _ => return None,
        };
        number.is_finite().then_some(number)
    }

    pub(crate) fn float(&self) -> Result<f64, ScenarioError> {
        self.as_f64().ok_or_else(|| self.error("a number"))
    }

    pub(crate) fn integer(&self, min: i64, max: i64) -> Result<i64, ScenarioError> {
        let number = match self.value {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        number
            .filter(|number| (min..=max).contains(number))
            .ok_or_else(|| self.error(format!("a whole number from {min} to {max}")))
    }

    pub(crate) fn count(&self, min: u32, max: u32) -> Result<u32, ScenarioError> {
        let number = self.integer(min.into(), max.into())?;
        Ok(u32::try_from(number).unwrap_or(max))
    }

    pub(crate) fn list(&self) -> Result<Vec<Value<'a>>, ScenarioError> {
        let DeValue::Array(items) = self.value else { return Err(self.error("a list")) };
        let item = |(i, item): (usize, &'a Spanned<DeValue<'a>>)| Value {
            source: self.source,
            value: item.get_ref(),
            place: Place {
                file: self.source.file.clone(),
                line: self.source.line(item.span().start),
                field: format!("{}[{i}]", self.place.field),
            },
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    pub(crate) fn fields(&self) -> Result<Fields<'a>, ScenarioError> {
        let DeValue::Table(table) = self.value else {
            return Err(self.error("a table of fields"));
        };
        Ok(Fields::new(self.source, table, self.place.clone()))
    }
}

/// The fields of a table; fields that remain untaken are reported as unknown.
pub(crate) struct Fields<'a> {
    left: BTreeMap<&'a str, Value<'a>>,
    known: Vec<&'static str>,
    pub(crate) place: Place,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(source: &'a Source, table: &'a DeTable<'a>, place: Place) -> Self {
        let field = |(key, value): (&'a Spanned<_>, &'a Spanned<DeValue<'a>>)| {
            let key: &Spanned<std::borrow::Cow<'a, str>> = key;
            let name = printable(key.get_ref());
            let path =
                if place.field.is_empty() { name } else { format!("{}.{name}", place.field) };
            let line = source.line(key.span().start);
            let place = Place { file: source.file.clone(), line, field: path };
            (key.get_ref().as_ref(), Value { source, value: value.get_ref(), place })
        };
        let left = table.iter().map(field).collect();
        Self { left, known: Vec::new(), place }
    }

    /// The field, where given.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<Value<'a>> {
        self.known.push(name);
        self.left.remove(name)
    }

    /// The field, or an error if missing.
    pub(crate) fn need(
        &mut self,
        name: &'static str,
        expected: &str,
    ) -> Result<Value<'a>, ScenarioError> {
        self.take(name).ok_or_else(|| self.missing(name, expected))
    }

    /// The error that a field is missing.
    pub(crate) fn missing(&self, name: &str, expected: &str) -> ScenarioError {
        let path = &self.place.field;
        let field = if path.is_empty() { name.into() } else { format!("{path}.{name}") };
        let place = Place { field, ..self.place.clone() };
        place.error(format!("{expected}, but the field is missing"))
    }

    /// Every field not yet taken, whatever its name.
    pub(crate) fn take_all(&mut self) -> BTreeMap<&'a str, Value<'a>> {
        std::mem::take(&mut self.left)
    }

    /// Refuses fields that no reader took.
    pub(crate) fn finish(self) -> Result<(), ScenarioError> {
        let Some(value) = self.left.into_values().min_by_key(|value| value.place.line) else {
            return Ok(());
        };
        Err(ScenarioError::Unknown {
            file: value.place.file.to_string(),
            line: value.place.line,
            field: value.place.field,
            known: self.known.join(", "),
        })
    }
}

/// A list given by `[[name]]` tables or `[…]`; empty where the field is missing.
pub(crate) fn list_or_empty<'a>(value: Option<Value<'a>>) -> Result<Vec<Value<'a>>, ScenarioError> {
    value.map_or(Ok(Vec::new()), |value| value.list())
}
