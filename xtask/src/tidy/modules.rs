//! Which module of a crate uses which: the arrows between files, read from the syntax.
//!
//! A path that leads through a re-export points to the file that defines the item, so that a
//! façade hides no arrow. Modules that only tests compile are left out. Macros are not expanded:
//! of their arguments, paths that begin with `crate` count.

use std::collections::{BTreeMap, BTreeSet};

use syn::ext::IdentExt;
use syn::visit::Visit;
use syn::{Attribute, Item, UseTree};

use crate::repo::TextFile;

/// Arrows between the modules of one crate, each a file, by path from the root of the project.
#[derive(Debug, Default)]
pub struct Modules {
    /// Files that each file uses.
    pub uses: BTreeMap<String, BTreeSet<String>>,
    /// The file of the module around, for every file but the root.
    pub parent: BTreeMap<String, String>,
}

/// The name of a module from the root of its crate, such as `["ready", "tree"]`.
type Name = Vec<String>;

#[derive(Default)]
struct Module {
    file: String,
    /// Paths that `use` and `pub use` import, by the name in this module.
    brought: BTreeMap<String, Name>,
    /// Modules whose items a glob imports.
    globs: Vec<Name>,
    /// Every path that the module mentions, from the root of the crate.
    mentioned: BTreeSet<Name>,
}

impl Modules {
    /// Reads the crate whose root module is this file.
    pub fn read(files: &[TextFile], root: &str) -> Self {
        let texts: BTreeMap<&str, &str> =
            files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
        let mut crate_modules = Crate { texts, modules: BTreeMap::new() };
        crate_modules.read(Vec::new(), root);
        crate_modules.arrows()
    }
}

struct Crate<'a> {
    texts: BTreeMap<&'a str, &'a str>,
    modules: BTreeMap<Name, Module>,
}

impl Crate<'_> {
    /// Reads a file and the files of its child modules. Skips files that do not parse, which the
    /// compiler reports.
    fn read(&mut self, name: Name, path: &str) {
        let Some(parsed) = self.texts.get(path).and_then(|text| syn::parse_file(text).ok()) else {
            return;
        };
        let is_root = name.is_empty() || path.ends_with("/mod.rs");
        let folder = match is_root {
            true => path.rsplit_once('/').map_or("", |(folder, _)| folder).to_string(),
            false => path.trim_end_matches(".rs").to_string(),
        };
        self.items(&name, path, &folder, &parsed.items);
    }

    fn items(&mut self, name: &Name, path: &str, folder: &str, items: &[Item]) {
        self.modules.insert(name.clone(), Module { file: path.to_string(), ..Module::default() });
        for item in items.iter().filter(|item| !is_for_tests(attributes(item))) {
            if let Item::Mod(module) = item {
                let child: Name = name.iter().cloned().chain([module.ident.to_string()]).collect();
                let below = format!("{folder}/{}", module.ident.unraw());
                match &module.content {
                    Some((_, items)) => self.items(&child, path, &below, items),
                    None => {
                        let plain = format!("{below}.rs");
                        let nested = format!("{below}/mod.rs");
                        let is_plain = self.texts.contains_key(plain.as_str());
                        self.read(child, if is_plain { &plain } else { &nested });
                    }
                }
            }
        }
        let mut reader = Reader { name, module: self.modules.remove(name).unwrap_or_default() };
        for item in items.iter().filter(|item| !is_for_tests(attributes(item))) {
            reader.visit_item(item);
        }
        let module = reader.module;
        self.modules.insert(name.clone(), module);
    }

    fn arrows(&self) -> Modules {
        let mut arrows = Modules::default();
        for (name, module) in &self.modules {
            let used = arrows.uses.entry(module.file.clone()).or_default();
            used.extend(module.mentioned.iter().filter_map(|path| self.file_of(name, path, 0)));
            used.extend(module.globs.iter().filter_map(|path| self.file_of(name, path, 0)));
            used.remove(&module.file);
            if let Some((_, around)) = name.split_last() {
                let around = &self.modules[around].file;
                if *around != module.file {
                    arrows.parent.insert(module.file.clone(), around.clone());
                }
            }
        }
        arrows
    }

    /// The file that defines the item of a path, if the item is of this crate.
    fn file_of(&self, user: &Name, path: &Name, depth: u32) -> Option<String> {
        const RE_EXPORTS_MAX: u32 = 16;
        if depth > RE_EXPORTS_MAX {
            return None;
        }
        let mut at: Name = Vec::new();
        for (place, segment) in path.iter().enumerate() {
            let child: Name = at.iter().cloned().chain([segment.clone()]).collect();
            if self.modules.contains_key(&child) {
                at = child;
                continue;
            }
            let module = self.modules.get(&at)?;
            let rest = &path[place + 1..];
            let is_own = at == *user && depth == 0;
            if let Some(target) = module.brought.get(segment).filter(|_| !is_own) {
                let through: Name = target.iter().chain(rest).cloned().collect();
                return self.file_of(user, &through, depth + 1);
            }
            // A re-export of another crate's item.
            if place == 0 && depth > 0 {
                return None;
            }
            break;
        }
        self.modules.get(&at).map(|module| module.file.clone())
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Const(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether only tests compile an item: `#[cfg(test)]`, `#[cfg(all(test, …))]`, `#[test]`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let tokens = list.tokens.to_string();
        let needs_test = tokens == "test" || tokens.starts_with("all (test");
        attribute.path().is_ident("cfg") && (needs_test || tokens.contains("doctest"))
    })
}

/// Collects the paths that one module mentions.
struct Reader<'a> {
    name: &'a Name,
    module: Module,
}

impl Reader<'_> {
    /// A path from the root of the crate; none if the path leads to another crate.
    fn absolute(&self, segments: &[String]) -> Option<Name> {
        let mut base: Name = match segments.first()?.as_str() {
            "crate" => Vec::new(),
            "self" => self.name.clone(),
            "super" => self.name.split_last()?.1.to_vec(),
            "std" | "core" | "alloc" => return None,
            _ => {
                return Some(self.name.iter().chain(segments).cloned().collect());
            }
        };
        for segment in &segments[1..] {
            match segment.as_str() {
                "super" => drop(base.pop()),
                _ => base.push(segment.clone()),
            }
        }
        Some(base)
    }

    fn uses(&mut self, tree: &UseTree, before: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.uses(&path.tree, before);
                before.pop();
            }
            UseTree::Name(name) if name.ident == "self" => {
                let alias = before.last().cloned().unwrap_or_default();
                self.brings(before, &alias);
            }
            UseTree::Name(name) => {
                let alias = name.ident.to_string();
                before.push(alias.clone());
                self.brings(before, &alias);
                before.pop();
            }
            UseTree::Rename(name) => {
                before.push(name.ident.to_string());
                self.brings(before, &name.rename.to_string());
                before.pop();
            }
            UseTree::Glob(_) => {
                let module = self.absolute(before);
                self.module.globs.extend(module);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.uses(tree, before);
                }
            }
        }
    }

    fn brings(&mut self, segments: &[String], alias: &str) {
        if let Some(path) = self.absolute(segments) {
            self.module.mentioned.insert(path.clone());
            self.module.brought.insert(alias.to_string(), path);
        }
    }

    /// Paths in the arguments of a macro.
    fn tokens(&mut self, tokens: proc_macro2::TokenStream) {
        use proc_macro2::TokenTree;
        let mut path: Vec<String> = Vec::new();
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if path.is_empty() && ident == "crate" => {
                    path.push(ident.to_string());
                }
                TokenTree::Ident(ident) if !path.is_empty() => path.push(ident.to_string()),
                TokenTree::Punct(punct) if punct.as_char() == ':' => {}
                other => {
                    let name = self.absolute(&std::mem::take(&mut path));
                    self.module.mentioned.extend(name);
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        let name = self.absolute(&path);
        self.module.mentioned.extend(name);
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {
        // `Crate::items` reads an inner module as a module of its own.
    }

    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            self.uses(&item.tree, &mut Vec::new());
        }
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {
        // `pub(in path)` names a module without using an item.
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if segments.len() > 1 {
            let name = self.absolute(&segments);
            self.module.mentioned.extend(name);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
    }
}
