//! Every C file names its licence; files that the kernel and the host share name both licences.

use super::Finding;
use crate::repo::TextFile;

const SHARED: &str = "/* SPDX-License-Identifier: GPL-2.0-only OR MIT */";
const ANY: &str = "SPDX-License-Identifier: ";

/// C files whose first line does not name the licence of their room.
pub fn check(file: &TextFile) -> Vec<Finding> {
    if !matches!(file.extension(), "c" | "h") {
        return Vec::new();
    }
    let first = file.text.lines().next().unwrap_or_default();
    let shared = file.room() == "policy"
        || file.path.starts_with("cpu-model/include/")
        || file.path.contains(".bpf.");
    if shared && first != SHARED {
        vec![Finding::new(file, 1, format!("begin the file with {SHARED}"))]
    } else if !first.contains(ANY) {
        vec![Finding::new(file, 1, format!("begin the file with /* {ANY}… */"))]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    #[test]
    fn a_policy_header_is_for_both_worlds() {
        let both = format!("{SHARED}\nint a;\n");
        let ours = "/* SPDX-License-Identifier: MIT OR Apache-2.0 */\n";
        assert!(check(&file("policy/include/evenkeel/a.h", &both)).is_empty());
        assert_eq!(check(&file("policy/include/evenkeel/a.h", ours)).len(), 1);
        assert!(check(&file("kernels/src/a.c", ours)).is_empty());
    }

    #[test]
    fn no_c_file_is_without_a_licence() {
        assert_eq!(check(&file("kernels/src/a.c", "int a;\n")).len(), 1);
        assert_eq!(check(&file("kernels/src/a.c", "")).len(), 1);
    }
}
