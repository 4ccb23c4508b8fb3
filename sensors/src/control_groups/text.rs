//! Text of control groups as it may be shown.

/// Most bytes of a text that are kept: `PATH_MAX` of include/uapi/linux/limits.h, Linux 6.18.
const SHOWN_MAX: usize = 4096;

/// `text`, where the characters that [`trace::clean`] replaces are U+FFFD, and what is beyond
/// 4096 bytes is cut. Names of groups may hold any byte but 0, `/` and the line feed
/// (`cgroup_mkdir` of kernel/cgroup/cgroup.c, Linux 6.18), so also escape sequences of terminals.
#[must_use]
pub fn shown(text: &str) -> String {
    let end = text.floor_char_boundary(SHOWN_MAX);
    let text = &text[..end];
    if text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return text.to_owned();
    }
    // Each character alone: `trace::clean` cuts at the length of the name of a task, which is
    // shorter than a container's id.
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        shown.push_str(&trace::clean(character.encode_utf8(&mut [0; 4]).as_bytes()));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_whole_and_control_characters_are_replaced() {
        let long = "a".repeat(200);
        assert_eq!(shown(&long), long);
        assert_eq!(shown("a\x1b[2Jb\u{202e}é"), "a\u{fffd}[2Jb\u{fffd}é");
        assert_eq!(shown(&"é".repeat(4000)).len(), SHOWN_MAX);
    }
}
