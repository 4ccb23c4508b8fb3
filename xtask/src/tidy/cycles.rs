//! Modules of a crate use each other in one direction: no cycle of more than two files.
//!
//! A parent and its own child may know each other, so the arrows between them do not count
//! together: a cycle is one that remains when either all arrows from children to their parents, or
//! all from parents to their children, are left out.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use super::Finding;
use super::modules::Modules;
use crate::repo::TextFile;

const FILES_MAX: usize = 2;

/// Cycles of more than two files, each reported at its first file.
pub fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (root, _) in roots(files) {
        for cycle in cycles(&Modules::read(files, &root)) {
            let first = files.iter().find(|file| file.path == cycle[0]);
            let message = format!("{} files use each other: {}", cycle.len(), cycle.join(", "));
            found.extend(first.map(|file| Finding::new(file, 1, message)));
        }
    }
    found
}

/// The root module of each crate, and the crate's folder.
pub fn roots(files: &[TextFile]) -> Vec<(String, String)> {
    let manifests = files.iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml"));
    let mut roots = Vec::new();
    for folder in manifests {
        for root in ["lib.rs", "main.rs"] {
            let path = format!("{folder}/src/{root}");
            if files.iter().any(|file| file.path == path) {
                roots.push((path, folder.to_string()));
            }
        }
    }
    roots
}

/// Which arrows between a parent and its child are left out.
#[derive(Clone, Copy)]
enum LeftOut {
    ToParents,
    ToChildren,
}

/// Groups of more than two files that all reach each other, without those inside another.
pub fn cycles(modules: &Modules) -> Vec<Vec<String>> {
    let both = [LeftOut::ToParents, LeftOut::ToChildren].map(|left_out| without(modules, left_out));
    let mut groups: Vec<BTreeSet<String>> = both.into_iter().flatten().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    let mut kept: Vec<BTreeSet<String>> = Vec::new();
    for group in groups {
        if !kept.iter().any(|larger| larger.is_superset(&group)) {
            kept.push(group);
        }
    }
    kept.into_iter().map(|group| group.into_iter().collect()).collect()
}

fn without(modules: &Modules, left_out: LeftOut) -> Vec<BTreeSet<String>> {
    let is_parent = |file: &str, of: &str| modules.parent.get(of).is_some_and(|p| p == file);
    let mut graph: DiGraphMap<&str, ()> = DiGraphMap::new();
    for (user, used) in &modules.uses {
        for used in used {
            let is_left_out = match left_out {
                LeftOut::ToParents => is_parent(used, user),
                LeftOut::ToChildren => is_parent(user, used),
            };
            if !is_left_out {
                graph.add_edge(user, used, ());
            }
        }
    }
    let groups = tarjan_scc(&graph).into_iter().filter(|group| group.len() > FILES_MAX);
    groups.map(|group| group.into_iter().map(str::to_string).collect()).collect()
}

/// Arrows inside the cycles of a crate, by the file that they leave.
pub fn arrows(modules: &Modules) -> BTreeMap<&str, Vec<&str>> {
    let groups = cycles(modules);
    let together =
        |a: &String, b: &String| groups.iter().any(|group| group.contains(a) && group.contains(b));
    let uses = modules.uses.iter().map(|(user, used)| {
        let used = used.iter().filter(|used| together(user, used)).map(String::as_str);
        (user.as_str(), used.collect::<Vec<&str>>())
    });
    uses.filter(|(_, used)| !used.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn cycles_of(texts: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files: Vec<TextFile> =
            texts.iter().map(|(path, text)| file(&format!("a/src/{path}"), text)).collect();
        cycles(&Modules::read(&files, "a/src/lib.rs"))
    }

    #[test]
    fn three_siblings_in_a_ring_are_a_cycle_and_two_are_none() {
        let root = ("lib.rs", "mod a; mod b; mod c;");
        let ring = [
            root,
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "pub struct B; fn c() { crate::c::C; }"),
            ("c.rs", "pub struct C; type A = super::a::A;"),
        ];
        assert_eq!(cycles_of(&ring), [["a/src/a.rs", "a/src/b.rs", "a/src/c.rs"]]);
        let open = [ring[0], ring[1], ("b.rs", "pub struct B; use crate::a::A;"), ("c.rs", "")];
        assert!(cycles_of(&open).is_empty());
    }

    #[test]
    fn a_re_export_points_to_the_file_that_defines_the_item() {
        let ring = [
            ("lib.rs", "mod a; mod b; mod raw;"),
            ("raw.rs", "pub use crate::a::A; pub use crate::b::b;"),
            ("a.rs", "mod c; pub struct A;"),
            ("a/c.rs", "fn f() { println!(\"{}\", crate::raw::b()); }"),
            ("b.rs", "use crate::raw::A; pub fn b(a: A) {}"),
        ];
        // `a/c.rs` uses `b.rs`, which uses `a.rs`, whose child the first is.
        assert!(cycles_of(&ring).is_empty());
        let closed =
            [ring[0], ring[1], ("a.rs", "mod c; pub struct A; use c::f;"), ring[3], ring[4]];
        assert_eq!(cycles_of(&closed), [["a/src/a.rs", "a/src/a/c.rs", "a/src/b.rs"]]);
    }

    #[test]
    fn children_may_use_their_parent_and_it_them() {
        let parent = [
            ("lib.rs", "mod a;"),
            ("a.rs", "mod b; mod c; pub struct A; use b::B; use c::C;"),
            ("a/b.rs", "use super::A; pub struct B;"),
            ("a/c.rs", "use super::A; pub struct C;"),
        ];
        assert!(cycles_of(&parent).is_empty());
    }

    #[test]
    fn what_only_tests_use_is_no_arrow() {
        let ring = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "use crate::c::C; pub struct B;"),
            ("c.rs", "pub struct C; #[cfg(test)] mod tests { use crate::a::A; }"),
        ];
        assert!(cycles_of(&ring).is_empty());
    }
}
