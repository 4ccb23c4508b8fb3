//! DejaGnu's selectors: is a directive meant for this machine and language?

use super::program::Language;

/// The items of a list of Tcl: words, `"strings"` and `{groups}`; none if the text is no list.
pub fn words(text: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = match first {
            '{' => group(rest)?,
            '"' => string(&rest[1..])?,
            _ => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        found.push(word);
        rest = after.trim_start();
    }
    Some(found)
}

/// The text in braces, and the rest.
fn group(text: &str) -> Option<(String, &str)> {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some((text[1..at].to_owned(), &text[at + 1..]));
        }
    }
    None
}

/// The text in quotes, with its escapes resolved, and the rest.
fn string(text: &str) -> Option<(String, &str)> {
    let mut content = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((content, &text[at + 1..])),
            '\\' => content.push(match chars.next()?.1 {
                'n' => '\n',
                'r' => '\r',
                c => c,
            }),
            c => content.push(c),
        }
    }
    None
}

/// The machine and language by which directives are judged.
pub struct Target<'a> {
    /// As in `x86_64-pc-linux-gnu`.
    pub triple: &'a str,
    pub language: Language,
    /// The flags of `/proc/cpuinfo`.
    pub cpu_flags: &'a [&'a str],
}

/// Whether a selector, without its `target`, holds; an error is an unknown word.
pub fn holds(selector: &[String], target: &Target) -> Result<bool, String> {
    for (operator, stops_at) in [("||", true), ("&&", false)] {
        if let Some(at) = selector.iter().position(|word| word == operator) {
            let left = holds(&selector[..at], target)?;
            return if left == stops_at { Ok(left) } else { holds(&selector[at + 1..], target) };
        }
    }
    if let Some((not, rest)) = selector.split_first()
        && let Some(name) = not.strip_prefix('!')
    {
        let rest = if name.is_empty() { rest } else { &[name.to_owned()] };
        return holds(rest, target).map(|holds| !holds);
    }
    let mut any = false;
    for word in selector {
        any |= match word.contains(char::is_whitespace) {
            true => holds(&words(word).ok_or_else(|| word.clone())?, target)?,
            false => has(word.trim_matches(['{', '}']), target)?,
        };
    }
    Ok(any)
}

/// Whether the target is called so, or has this.
fn has(name: &str, target: &Target) -> Result<bool, String> {
    let is_x86 = target.triple.starts_with("x86_64");
    let flag = |flag: &str| target.cpu_flags.contains(&flag);
    Ok(match name {
        "c" => target.language == Language::C,
        "c++" => target.language == Language::Cxx,
        "lp64" | "size32plus" | "tls" | "tls_runtime" | "sync_int_long" | "sync_char_short"
        | "fd_truncate" | "fpic" | "shared" | "lto" | "large_long_double" | "pthread"
        | "alloca" => true,
        "aarch64_tiny" | "ia32" | "ilp32" | "run_expensive_tests" | "offloading_enabled" => false,
        "__float128" | "vect_simd_clones" => is_x86,
        "sse2" | "sse2_runtime" => flag("sse2"),
        "avx" | "avx_runtime" => flag("avx"),
        "avx2" | "avx2_runtime" => flag("avx2"),
        name if name.starts_with("offload_") || name.starts_with("openacc_") => false,
        name if name.contains('-') => matches(name, target.triple),
        name => return Err(name.to_owned()),
    })
}

/// Whether a pattern of `*` and `?` matches all of a text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some(first) = pattern.chars().next() else { return text.is_empty() };
    let rest = &pattern[first.len_utf8()..];
    if first == '*' {
        let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        return ends.into_iter().any(|at| matches(rest, &text[at..]));
    }
    let mut chars = text.chars();
    chars.next().is_some_and(|c| first == '?' || c == first) && matches(rest, chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Target =
        Target { triple: "x86_64-pc-linux-gnu", language: Language::C, cpu_flags: &["sse2"] };

    fn holds(selector: &str) -> Result<bool, String> {
        super::holds(&words(selector).unwrap(), &HERE)
    }

    #[test]
    fn a_list_keeps_groups_and_strings_whole() {
        let found = words(r#"dg-x "a \"b\" c" { target { ! d } } e"#).unwrap();
        assert_eq!(found, ["dg-x", "a \"b\" c", " target { ! d } ", "e"]);
        assert_eq!(words("{ a"), None);
        assert_eq!(words("\"a"), None);
    }

    #[test]
    fn triples_are_matched_by_patterns() {
        assert_eq!(holds("i?86-*-* x86_64-*-*"), Ok(true));
        assert_eq!(holds("*-*-linux* *-*-gnu*"), Ok(true));
        assert_eq!(holds("alpha*-*-*"), Ok(false));
        assert_eq!(holds("*-*-*"), Ok(true));
    }

    #[test]
    fn expressions_nest() {
        assert_eq!(holds("{ i?86-*-* x86_64-*-* } && lp64"), Ok(true));
        assert_eq!(holds("{ { i?86-*-* x86_64-*-* } && ia32 }"), Ok(false));
        assert_eq!(holds("! run_expensive_tests"), Ok(true));
        assert_eq!(holds("!avx_runtime"), Ok(true));
        assert_eq!(holds("offload_device || c"), Ok(true));
    }

    #[test]
    fn a_word_that_nobody_knows_is_named() {
        assert_eq!(holds("c++ || weather"), Err("weather".to_owned()));
    }
}
