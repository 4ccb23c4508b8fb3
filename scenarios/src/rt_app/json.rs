//! The JSON of rt-app's files: with comments, commas before the end of a list, keys without a
//! value, and repeated keys, since the order of keys is the order of events. Every value has its
//! line and path.

use crate::error::{ScenarioError, printable};
use crate::fields::{Place, Source};

/// Deepest nesting; rt-app's files have 5.
const DEPTH_MAX: usize = 32;

/// A value of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    pub(super) json: Json,
    pub(super) place: Place,
}

impl Value {
    pub(super) fn error(&self, expected: impl Into<String>) -> ScenarioError {
        self.place.error(expected)
    }

    pub(super) fn object(&self) -> Result<&[(String, Value)], ScenarioError> {
        match &self.json {
            Json::Object(members) => Ok(members),
            _ => Err(self.error("an object in braces")),
        }
    }

    pub(super) fn list(&self) -> Result<&[Value], ScenarioError> {
        match &self.json {
            Json::List(list) => Ok(list),
            _ => Err(self.error("a list in brackets")),
        }
    }

    pub(super) fn text(&self) -> Result<&str, ScenarioError> {
        match &self.json {
            Json::Text(text) => Ok(text),
            _ => Err(self.error("a text in quotes")),
        }
    }

    pub(super) fn boolean(&self) -> Result<bool, ScenarioError> {
        match self.json {
            Json::Bool(value) => Ok(value),
            _ => Err(self.error("true or false")),
        }
    }

    /// A number from `min` to `max`.
    pub(super) fn number(&self, min: f64, max: f64) -> Result<f64, ScenarioError> {
        match self.json {
            Json::Number(value) if (min..=max).contains(&value) => Ok(value),
            _ => Err(self.error(format!("a number from {min} to {max}"))),
        }
    }

    /// A whole number from `min` to `max`.
    pub(super) fn whole(&self, min: i32, max: i32) -> Result<i32, ScenarioError> {
        match self.json {
            Json::Number(value)
                if value.fract() == 0.0 && (min.into()..=max.into()).contains(&value) =>
            {
                Ok(value as i32)
            }
            _ => Err(self.error(format!("a whole number from {min} to {max}"))),
        }
    }
}

/// Reads a whole file.
pub(super) fn parse(text: &str, source: &Source) -> Result<Value, ScenarioError> {
    let mut parser = Parser { text, at: 0, source, path: String::new(), depth: 0 };
    let value = parser.value()?;
    parser.skip()?;
    if parser.at < text.len() {
        return Err(parser.error("nothing after the last brace"));
    }
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    source: &'a Source,
    /// Keys that lead to the value being read.
    path: String,
    depth: usize,
}

impl Parser<'_> {
    fn place(&self) -> Place {
        let field = if self.path.is_empty() { "file".to_owned() } else { self.path.clone() };
        Place { file: self.source.file.clone(), line: self.source.line(self.at), field }
    }

    fn error(&self, expected: impl Into<String>) -> ScenarioError {
        self.place().error(expected)
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn eat(&mut self, token: &str) -> bool {
        let eats = self.rest().starts_with(token);
        self.at += if eats { token.len() } else { 0 };
        eats
    }

    /// Skips spaces and comments.
    fn skip(&mut self) -> Result<(), ScenarioError> {
        loop {
            self.at = self.text.len() - self.rest().trim_start().len();
            let rest = self.rest();
            self.at += if rest.starts_with("/*") {
                let end = rest.find("*/");
                end.ok_or_else(|| self.error("an end `*/` of the comment"))? + 2
            } else if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else {
                return Ok(());
            };
        }
    }

    fn value(&mut self) -> Result<Value, ScenarioError> {
        self.skip()?;
        let place = self.place();
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.error(format!("at most {DEPTH_MAX} levels of nesting")));
        }
        let json = match self.rest().bytes().next() {
            Some(b'{') => self.object()?,
            Some(b'[') => self.array()?,
            Some(b'"') => Json::Text(self.string()?),
            _ => self.word()?,
        };
        self.depth -= 1;
        Ok(Value { json, place })
    }

    fn object(&mut self) -> Result<Json, ScenarioError> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.skip()?;
            if self.eat("}") {
                return Ok(Json::Object(members));
            }
            if !self.rest().starts_with('"') {
                return Err(self.error("a key in quotes, or `}`"));
            }
            let key = self.string()?;
            let outer = self.path.len();
            if outer > 0 {
                self.path.push('.');
            }
            self.path += &printable(&key);
            self.skip()?;
            let value = if self.eat(":") { self.value()? } else { self.nothing()? };
            members.push((key, value));
            self.path.truncate(outer);
            self.separator('}')?;
        }
    }

    /// The value of a key that stands alone, as workgen allows.
    fn nothing(&self) -> Result<Value, ScenarioError> {
        if self.rest().starts_with([',', '}']) {
            return Ok(Value { json: Json::Null, place: self.place() });
        }
        Err(self.error("`:` after the key"))
    }

    fn array(&mut self) -> Result<Json, ScenarioError> {
        self.at += 1;
        let mut list = Vec::new();
        loop {
            self.skip()?;
            if self.eat("]") {
                return Ok(Json::List(list));
            }
            list.push(self.value()?);
            self.separator(']')?;
        }
    }

    /// A comma, or the end, which stays to be read.
    fn separator(&mut self, end: char) -> Result<(), ScenarioError> {
        self.skip()?;
        if self.eat(",") || self.rest().starts_with(end) {
            return Ok(());
        }
        Err(self.error(format!("`,` or `{end}`")))
    }

    fn string(&mut self) -> Result<String, ScenarioError> {
        let rest = &self.rest()[1..];
        let Some(end) = rest.find('"') else {
            return Err(self.error("an end of the text in quotes"));
        };
        let text = rest[..end].to_owned();
        if text.contains(|character: char| character == '\\' || character.is_control()) {
            return Err(self.error("a text in quotes without control characters and `\\`"));
        }
        self.at += end + 2;
        Ok(text)
    }

    fn word(&mut self) -> Result<Json, ScenarioError> {
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let length = self.rest().bytes().take_while(part).count();
        let json = match &self.rest()[..length] {
            "null" => Json::Null,
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            word => match word.parse() {
                Ok(number) if f64::is_finite(number) => Json::Number(number),
                _ => return Err(self.error("a value")),
            },
        };
        self.at += length;
        Ok(json)
    }
}
