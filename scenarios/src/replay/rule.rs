//! Classes by name: `x265*=avx512-heavy`.

use cpu_model::Class;

/// Gives a class to every task whose name or application fits a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassRule {
    pattern: String,
    class: Class,
}

/// Why a text is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}`: expected NAME=CLASS such as x265*=avx512-heavy, with a class of {classes}")]
pub struct ClassRuleError {
    text: String,
    classes: String,
}

impl std::str::FromStr for ClassRule {
    type Err = ClassRuleError;

    fn from_str(text: &str) -> Result<Self, ClassRuleError> {
        let rule = text.rsplit_once('=').and_then(|(pattern, class)| {
            let class = Class::from_name(class.trim())?;
            (!pattern.is_empty()).then(|| Self { pattern: pattern.into(), class })
        });
        let names: Vec<_> = Class::ALL.iter().map(|class| class.name()).collect();
        rule.ok_or_else(|| ClassRuleError {
            text: crate::error::printable(text),
            classes: names.join(", "),
        })
    }
}

impl ClassRule {
    /// The class of the first rule that fits the name of a task or of its application.
    #[must_use]
    pub fn class_of(rules: &[Self], comm: &str, app: &str) -> Option<Class> {
        let fits = |rule: &&Self| glob(&rule.pattern, comm) || glob(&rule.pattern, app);
        rules.iter().find(fits).map(|rule| rule.class)
    }
}

/// Whether a name fits a pattern in which `*` stands for any text.
fn glob(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut rest) = name.strip_prefix(head) else { return false };
    let parts: Vec<&str> = tail.split('*').collect();
    let (last, middle) = parts.split_last().unwrap_or((&"", &[]));
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_rule_that_fits_wins() {
        let rules: Vec<ClassRule> =
            ["x265*=avx512-heavy", "*=scalar"].iter().map(|text| text.parse().unwrap()).collect();
        let class = |comm, app| ClassRule::class_of(&rules, comm, app);
        assert_eq!(class("worker", "x265"), Some(Class::Avx512Heavy));
        assert_eq!(class("xz", "xz"), Some(Class::Scalar));
        assert_eq!(ClassRule::class_of(&rules[..1], "xz", "xz"), None);
    }

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, name, fits) in [
            ("a*b*c", "a--b--c", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("*", "", true),
            ("ab", "abc", false),
        ] {
            assert_eq!(glob(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn rule_without_class_is_refused() {
        for text in ["x265", "x265=", "x265=fast", "=scalar", ""] {
            assert!(text.parse::<ClassRule>().is_err(), "{text}");
        }
    }
}
