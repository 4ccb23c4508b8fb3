//! Rules that say by name which instructions a task runs: `GLOB=CLASS[@RATE]`.

use cpu_model::Class;

use crate::glob::Glob;

/// One instruction of the class every cycle.
pub const RATE_FULL_PERMILLE: u32 = 1000;
/// No core retires more instructions a cycle (our bound).
const RATE_MAX_PERMILLE: u32 = 8000;

/// A class of instructions and how dense they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The class.
    pub class: Class,
    /// Instructions of the class per 1000 cycles.
    pub rate_permille: u32,
}

impl Use {
    /// No wide instructions.
    pub const SCALAR: Self = Self { class: Class::Scalar, rate_permille: RATE_FULL_PERMILLE };
}

/// Why a rule is none. Rules count from 1, in the order given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// No `=`.
    #[error("rule {rule} `{text}`: expected GLOB=CLASS or GLOB=CLASS@RATE")]
    Shape {
        /// Which rule.
        rule: usize,
        /// The rule.
        text: String,
    },
    /// The class does not exist.
    #[error("rule {rule}, class `{text}`: expected one of {}", class_names())]
    Class {
        /// Which rule.
        rule: usize,
        /// The text found.
        text: String,
    },
    /// The rate is no rate.
    #[error(
        "rule {rule}, rate `{text}`: expected instructions per cycle, 0.001 to 8, such as 0.25"
    )]
    Rate {
        /// Which rule.
        rule: usize,
        /// The text found.
        text: String,
    },
}

/// The names of all classes, for messages.
pub(crate) fn class_names() -> String {
    Class::ALL.map(Class::name).join(", ")
}

/// Rules in order; the first that fits a task's name, or else its application's, holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules(Vec<(Glob, Use)>);

impl Rules {
    /// Reads rules such as `x265*=avx512-heavy` and `nginx=avx2-light@0.25`.
    ///
    /// # Errors
    /// [`RuleError`], with the number of the rule.
    pub fn parse(rules: &[String]) -> Result<Self, RuleError> {
        let rule = |(index, text): (usize, &String)| parse_rule(index + 1, text);
        rules.iter().enumerate().map(rule).collect::<Result<_, _>>().map(Self)
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of rules.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether that rule, counted from 1, fits a task of that name or application.
    pub(crate) fn fits(&self, rule: usize, comm: &str, app: &str) -> bool {
        let (glob, _) = &self.0[rule - 1];
        glob.fits(comm) || glob.fits(app)
    }

    /// The class that the first matching rule gives.
    #[must_use]
    pub fn find(&self, comm: &str, app: &str) -> Option<Use> {
        let by = |name| self.0.iter().find(|(glob, _)| glob.fits(name)).map(|&(_, class)| class);
        by(comm).or_else(|| by(app))
    }
}

fn parse_rule(rule: usize, text: &str) -> Result<(Glob, Use), RuleError> {
    let shape = || RuleError::Shape { rule, text: text.to_owned() };
    let (glob, class) = text.rsplit_once('=').ok_or_else(shape)?;
    if glob.is_empty() {
        return Err(shape());
    }
    let (class, rate) = match class.split_once('@') {
        Some((class, rate)) => (class, Some(rate)),
        None => (class, None),
    };
    let class =
        Class::from_name(class).ok_or_else(|| RuleError::Class { rule, text: class.to_owned() })?;
    let rate_permille = match rate {
        Some(rate) => {
            parse_rate(rate).ok_or_else(|| RuleError::Rate { rule, text: rate.to_owned() })?
        }
        None => RATE_FULL_PERMILLE,
    };
    Ok((Glob::new(glob), Use { class, rate_permille }))
}

/// Reads a decimal number of up to three digits after the point as permille.
pub(crate) fn parse_rate(text: &str) -> Option<u32> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 3 {
        return None;
    }
    let scale = 10u32.pow(3 - fraction.len() as u32);
    let fraction: u32 = fraction.parse().ok()?;
    let permille = whole.parse::<u32>().ok()?.checked_mul(1000)?.checked_add(fraction * scale)?;
    (1..=RATE_MAX_PERMILLE).contains(&permille).then_some(permille)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(rules: &[&str]) -> Result<Rules, RuleError> {
        Rules::parse(&rules.iter().map(|&rule| rule.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_first_matching_rule_holds() {
        let rules = rules(&["x265-main=scalar", "x265*=avx512-heavy@0.25", "*=avx2-light"]);
        let rules = rules.unwrap();
        assert_eq!(rules.find("x265-main", "").unwrap().class, Class::Scalar);
        let heavy = rules.find("x265", "").unwrap();
        assert_eq!((heavy.class, heavy.rate_permille), (Class::Avx512Heavy, 250));
        assert_eq!(rules.find("xz", "").unwrap().class, Class::Avx2Light);
    }

    #[test]
    fn the_application_is_matched_if_the_name_matches_no_rule() {
        let rules = rules(&["x265=avx512-heavy"]).unwrap();
        assert_eq!(rules.find("wpp-0", "x265").unwrap().class, Class::Avx512Heavy);
        assert_eq!(rules.find("wpp-0", "xz"), None);
    }

    #[test]
    fn a_name_may_hold_an_equals_sign() {
        assert!(rules(&["a=b=amx"]).unwrap().find("a=b", "").is_some());
    }

    #[test]
    fn mistakes_name_the_rule_and_the_expected_text() {
        let said = |text: &str| rules(&["a=amx", text]).unwrap_err().to_string();
        assert_eq!(said("x265"), "rule 2 `x265`: expected GLOB=CLASS or GLOB=CLASS@RATE");
        assert_eq!(said("=amx"), "rule 2 `=amx`: expected GLOB=CLASS or GLOB=CLASS@RATE");
        assert!(said("x=avx9").starts_with("rule 2, class `avx9`: expected one of scalar, avx2"));
        for rate in ["", "0", "-1", "8.001", "1.2345", "nan", "1e3", ".5", "99999999999"] {
            assert!(said(&format!("x=amx@{rate}")).starts_with("rule 2, rate"), "{rate}");
        }
    }
}
