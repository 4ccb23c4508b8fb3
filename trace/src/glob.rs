//! Patterns of names: `*` stands for any characters, `?` for one.

/// A pattern that a whole name must fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Vec<char>);

impl Glob {
    /// The pattern as the user wrote it down.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self(pattern.chars().collect())
    }

    /// Whether the whole of `name` fits.
    ///
    /// Time is at most the product of both lengths: only the last `*` is tried again.
    #[must_use]
    pub fn fits(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut at, mut place) = (0, 0);
        let mut last_star = None;
        while place < name.len() {
            match self.0.get(at) {
                Some('*') => {
                    last_star = Some((at, place));
                    at += 1;
                }
                Some(&wanted) if wanted == '?' || wanted == name[place] => {
                    at += 1;
                    place += 1;
                }
                _ => {
                    let Some((star, tried)) = last_star else { return false };
                    last_star = Some((star, tried + 1));
                    at = star + 1;
                    place = tried + 1;
                }
            }
        }
        self.0[at..].iter().all(|&rest| rest == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_match() {
        for (pattern, name, fits) in [
            ("x265*", "x265", true),
            ("x265*", "x265-worker", true),
            ("x265*", "ax265", false),
            ("*a*b?", "xxaxxbxbc", true),
            ("*a*b?", "xxaxxb", false),
            ("??", "\u{e4}\u{f6}", true),
            ("??", "abc", false),
            ("", "", true),
            ("", "a", false),
            ("**", "", true),
            ("[x]", "[x]", true),
        ] {
            assert_eq!(Glob::new(pattern).fits(name), fits, "{pattern} {name}");
        }
    }
}
