//! A compiled scheduler: its code for this machine, and the types of its BPF build.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _};
use thiserror::Error;

use crate::abi;
use crate::btf::Btf;

type Elf<'a> = ElfFile<'a, FileHeader64<Endianness>>;

/// Why the host cannot run an object.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ObjectError {
    /// Not an ELF file.
    #[error("the {0} build is no ELF file")]
    NotElf(&'static str),
    /// The BPF build has no BTF, or BTF in an unknown form.
    #[error("the BPF build has no BTF that can be read")]
    NoBtf,
    /// The object has no operations.
    #[error("no `struct sched_ext_ops` in section .struct_ops.link")]
    NoOperations,
    /// The object lacks a symbol or field that its loader or the host needs.
    #[error("the object has no {0}")]
    Missing(String),
    /// A structure by another name, which libbpf would relocate.
    #[error(
        "struct {0} is a flavour of another structure (CO-RE), which the host does not relocate: \
         declare its fields in the structure itself"
    )]
    Flavour(String),
    /// A number that its place cannot hold.
    #[error("{name} is a number of {bits} bits, which cannot be {value}")]
    Number {
        /// The variable.
        name: String,
        /// The value that does not fit.
        value: i128,
        /// Its size.
        bits: u32,
    },
    /// The object was compiled with another value of a constant of the kernel.
    #[error("{name} is {theirs:#x} in the object and {ours:#x} in the host")]
    Constant {
        /// Its name.
        name: String,
        /// Its value in the object.
        theirs: u64,
        /// Its value in the host.
        ours: u64,
    },
}

/// A symbol of the native build.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol {
    /// From the start of the image.
    pub address: u64,
    /// Offset in the file; `None` for a symbol that is only in memory, as in `.bss`.
    file_offset: Option<usize>,
}

/// A scheduler, with the constants and sizes that its loader has set so far.
#[derive(Clone, Debug)]
pub struct Object {
    native: Vec<u8>,
    pub(crate) btf: Btf,
    /// Shared with the instances, of which a simulation makes one for each run.
    pub(crate) symbols: Arc<BTreeMap<String, Symbol>>,
    pub(crate) max_entries: BTreeMap<String, usize>,
    /// Operations that the host takes as not defined.
    pub(crate) without: BTreeSet<String>,
    /// Whether its source is foreign, and may not end or use bad addresses.
    pub(crate) is_guarded: bool,
}

impl Object {
    /// From the shared object of the native build and the object of the BPF build of one source.
    ///
    /// # Errors
    /// [`ObjectError`].
    pub fn parse(native: &[u8], bpf: &[u8]) -> Result<Self, ObjectError> {
        let elf = Elf::parse(bpf).map_err(|_| ObjectError::NotElf("BPF"))?;
        let section = elf.section_by_name(".BTF").and_then(|section| section.data().ok());
        let btf = section.and_then(Btf::parse).ok_or(ObjectError::NoBtf)?;
        let elf = Elf::parse(native).map_err(|_| ObjectError::NotElf("native"))?;
        let mut symbols = BTreeMap::new();
        for symbol in elf.symbols() {
            let Ok(name) = symbol.name() else { continue };
            let section = symbol.section_index().and_then(|at| elf.section_by_index(at).ok());
            let Some(section) = section else { continue };
            let within = symbol.address().wrapping_sub(section.address());
            let file_offset = section.file_range().map(|(start, _)| (start + within) as usize);
            symbols.insert(name.to_owned(), Symbol { address: symbol.address(), file_offset });
        }
        let mut object = Self {
            native: native.to_vec(),
            btf,
            symbols: Arc::new(symbols),
            max_entries: BTreeMap::new(),
            without: BTreeSet::new(),
            is_guarded: false,
        };
        object.operations()?;
        if let Some(name) = object.btf.structures().find(|name| name.contains("___")) {
            return Err(ObjectError::Flavour(name.to_owned()));
        }
        object.agree_on_constants()?;
        Ok(object)
    }

    /// Refuses constants that differ from the host's, and sets those that a loader sets (`__SCX_…`
    /// of upstream).
    fn agree_on_constants(&mut self) -> Result<(), ObjectError> {
        let known: BTreeMap<&str, u64> = abi::CONSTANTS.into_iter().collect();
        for (name, theirs) in self.btf.constants() {
            match known.get(name) {
                Some(&ours) if ours != theirs => {
                    return Err(ObjectError::Constant { name: name.to_owned(), theirs, ours });
                }
                _ => {}
            }
        }
        for (name, value) in abi::CONSTANTS {
            let name = format!("__{name}");
            if self.symbols.contains_key(&name) {
                self.set_constant(&name, &value.to_ne_bytes())?;
            }
        }
        Ok(())
    }

    /// Name and type of the variable that holds the operations.
    pub(crate) fn operations(&self) -> Result<(&str, crate::btf::Id), ObjectError> {
        let variables = self.btf.section(".struct_ops.link").iter();
        let found = variables
            .map(|one| one.of)
            .find(|&id| self.btf.name(self.btf.plain(id)) == "sched_ext_ops");
        found.map(|id| (self.btf.name(id), id)).ok_or(ObjectError::NoOperations)
    }

    fn write(&mut self, name: &str, within: usize, bytes: &[u8]) -> Result<(), ObjectError> {
        let missing = || ObjectError::Missing(name.to_owned());
        let start = self.symbols.get(name).and_then(|symbol| symbol.file_offset);
        let place = start.and_then(|start| self.native.get_mut(start + within..));
        let place = place.and_then(|place| place.get_mut(..bytes.len())).ok_or_else(missing)?;
        place.copy_from_slice(bytes);
        Ok(())
    }

    /// Sets a constant or variable of all instances that are loaded later.
    ///
    /// # Errors
    /// [`ObjectError::Missing`].
    pub fn set_constant(&mut self, name: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        self.write(name, 0, bytes)
    }

    /// Sets a constant, a variable, or with `ops.` before its name a field of the operations, for
    /// all instances that are loaded later; its type is a whole number of up to 8 bytes.
    ///
    /// # Errors
    /// [`ObjectError::Missing`], [`ObjectError::Number`].
    pub fn set_number(&mut self, name: &str, value: i128) -> Result<(), ObjectError> {
        let (symbol, offset, of) = if let Some(field) = name.strip_prefix("ops.") {
            let (symbol, id) = self.operations()?;
            let place = self.btf.path(id, field);
            let (offset, of) = place.ok_or_else(|| ObjectError::Missing(name.to_owned()))?;
            (symbol.to_owned(), offset, of)
        } else {
            let found = self.numbers().find(|(known, _)| *known == name);
            let (_, of) = found.ok_or_else(|| ObjectError::Missing(name.to_owned()))?;
            (name.to_owned(), 0, of)
        };
        let bits = 8 * self.btf.size(of) as u32;
        let fits = self.btf.is_number(of)
            && (value >> (bits - 1) == -1 || (value >= 0 && value >> bits == 0));
        if !fits {
            return Err(ObjectError::Number { name: name.to_owned(), value, bits });
        }
        self.write(&symbol, offset, &value.to_le_bytes()[..bits as usize / 8])
    }

    /// Names and types of the numbers that a loader can set before it loads.
    fn numbers(&self) -> impl Iterator<Item = (&str, crate::btf::Id)> {
        let sections = [".rodata", ".data", ".bss"].into_iter();
        let variables = sections.flat_map(|section| self.btf.section(section));
        let numbers = variables.filter(|one| self.btf.is_number(one.of));
        numbers.map(|one| (self.btf.name(one.of), one.of))
    }

    /// Names of the constants (`const volatile`) that a loader can set.
    #[must_use]
    pub fn constants(&self) -> Vec<&str> {
        let constants = self.btf.section(".rodata").iter().map(|one| one.of);
        constants.filter(|&of| self.btf.is_number(of)).map(|of| self.btf.name(of)).collect()
    }

    /// The name that the scheduler gives itself (`name` of the operations); empty if it has none.
    #[must_use]
    pub fn scheduler_name(&self) -> String {
        let text = || {
            let (symbol, id) = self.operations().ok()?;
            let (offset, of) = self.btf.path(id, "name")?;
            let start = self.symbols.get(symbol)?.file_offset? + offset;
            let bytes = self.native.get(start..start + self.btf.size(of))?;
            let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
        };
        text().unwrap_or_default()
    }

    /// Where a field of a structure of the scheduler is, in bytes.
    ///
    /// # Errors
    /// [`ObjectError::Missing`].
    pub fn offset_of(&self, structure: &str, field: &str) -> Result<usize, ObjectError> {
        let found = self.btf.structure(structure).and_then(|id| self.btf.path(id, field));
        let missing = || ObjectError::Missing(format!("{structure}.{field}"));
        found.map(|(offset, _)| offset).ok_or_else(missing)
    }

    /// Removes an operation, as if the scheduler did not define the operation.
    pub fn remove_operation(&mut self, name: &str) {
        self.without.insert(name.to_owned());
    }

    /// Sets the number of entries that a map has room for.
    pub fn set_max_entries(&mut self, map: &str, entries: usize) {
        self.max_entries.insert(map.to_owned(), entries);
    }

    pub(crate) fn native(&self) -> &[u8] {
        &self.native
    }
}
