//! Numbers of a scenario: fixed, or taken from a parameter.

use std::collections::BTreeMap;

use crate::error::{ScenarioError, printable};
use crate::fields::{Place, Value};

/// Values of all parameters of a scenario.
pub(crate) type Parameters = BTreeMap<String, f64>;

/// `12`, `"@name"` or `"@name * 0.25"`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Number {
    parameter: Option<String>,
    factor: f64,
    pub(crate) place: Place,
}

impl Number {
    pub(crate) fn read(value: &Value) -> Result<Self, ScenarioError> {
        let place = value.place.clone();
        if let Some(factor) = value.as_f64() {
            return Ok(Self { parameter: None, factor, place });
        }
        let expected = "a number, \"@parameter\" or \"@parameter * number\"";
        let text = value.as_str().and_then(|text| text.trim().strip_prefix('@'));
        let Some(text) = text else { return Err(value.error(expected)) };
        let (name, factor) = match text.split_once('*') {
            Some((name, factor)) => (name, factor.trim().parse().ok()),
            None => (text, Some(1.0)),
        };
        match factor.filter(|factor: &f64| factor.is_finite()) {
            Some(factor) => Ok(Self { parameter: Some(name.trim().into()), factor, place }),
            None => Err(value.error(expected)),
        }
    }

    pub(crate) fn fixed(factor: f64, place: Place) -> Self {
        Self { parameter: None, factor, place }
    }

    /// The value, which must lie within `min..=max`.
    pub(crate) fn get(
        &self,
        parameters: &Parameters,
        min: f64,
        max: f64,
    ) -> Result<f64, ScenarioError> {
        let value = match &self.parameter {
            None => self.factor,
            Some(name) => match parameters.get(name) {
                Some(value) => value * self.factor,
                None => {
                    let name = printable(name);
                    return Err(self.place.error(format!(
                        "a parameter of [parameters], which does not have `{name}`"
                    )));
                }
            },
        };
        if (min..=max).contains(&value) {
            return Ok(value);
        }
        let origin = self
            .parameter
            .as_ref()
            .map_or_else(String::new, |name| format!(", but \"@{name}\" makes it {value}"));
        Err(self.place.error(format!("a number from {min} to {max}{origin}")))
    }

    /// The value, which must be whole and within `min..=max`.
    pub(crate) fn get_count(
        &self,
        parameters: &Parameters,
        min: u32,
        max: u32,
    ) -> Result<u32, ScenarioError> {
        let value = self.get(parameters, min.into(), max.into())?;
        if value.fract() != 0.0 {
            return Err(self.place.error(format!("a whole number from {min} to {max}")));
        }
        Ok(value as u32)
    }
}
