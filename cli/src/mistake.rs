//! A mistake of the user in one sentence.

/// The causes of an error on one line, each once, without characters that control a terminal.
pub fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.ends_with(&cause) {
            let colon = if text.is_empty() { "" } else { ": " };
            text = text + colon + &cause;
        }
    }
    escaped(&text)
}

fn escaped(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.into() };
    text.chars().map(shown).collect()
}

/// A mistake in the arguments on one line: the mistake, and clap's advice.
pub fn mistake(error: &clap::Error) -> String {
    let text = error.to_string();
    let says = |paragraph: &&str| {
        !["Usage:", "For more information"].iter().any(|start| paragraph.starts_with(start))
    };
    let line = |paragraph: &str| {
        let words: Vec<&str> = paragraph.lines().map(str::trim).collect();
        words.join(" ")
    };
    let said: Vec<String> = text.trim_end().split("\n\n").filter(says).map(line).collect();
    let said = said.join("; ");
    format!("{} (--help says more)", escaped(said.strip_prefix("error: ").unwrap_or(&said)))
}
