//! A scheduler as it was compiled: its code for this machine, and the types of its BPF build.

use std::collections::{BTreeMap, BTreeSet};

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _};
use thiserror::Error;

use crate::abi;
use crate::btf::Btf;

type Elf<'a> = ElfFile<'a, FileHeader64<Endianness>>;

/// Why an object is no scheduler that the host can run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ObjectError {
    /// Not an ELF file.
    #[error("the {0} build is no ELF file")]
    NotElf(&'static str),
    /// The BPF build has no types, or in an unknown form.
    #[error("the BPF build has no BTF that can be read")]
    NoBtf,
    /// No operations.
    #[error("no `struct sched_ext_ops` in section .struct_ops.link")]
    NoOperations,
    /// Something that the loader wants to set is not there.
    #[error("the object has no {0}")]
    Missing(String),
    /// The object was compiled for a kernel that counts otherwise.
    #[error("{name} is {theirs:#x} in the object and {ours:#x} in the host")]
    Constant {
        /// Its name.
        name: String,
        /// As the object was compiled.
        theirs: u64,
        /// As the host has it.
        ours: u64,
    },
}

/// A symbol of the native build.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol {
    /// From the start of the image.
    pub address: u64,
    /// In the file; nothing for what is only in memory.
    file_offset: Option<usize>,
}

/// A scheduler, and what its loader has set so far.
#[derive(Clone, Debug)]
pub struct Object {
    native: Vec<u8>,
    pub(crate) btf: Btf,
    pub(crate) symbols: BTreeMap<String, Symbol>,
    pub(crate) max_entries: BTreeMap<String, usize>,
    /// Operations that are taken as not there.
    pub(crate) without: BTreeSet<String>,
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
            symbols,
            max_entries: BTreeMap::new(),
            without: BTreeSet::new(),
        };
        object.operations()?;
        object.agree_on_constants()?;
        Ok(object)
    }

    /// Constants must be ours; those that a loader sets (`__SCX_…` of upstream) become so.
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

    /// Sets a constant or variable before any instance has it.
    ///
    /// # Errors
    /// [`ObjectError::Missing`].
    pub fn set_constant(&mut self, name: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        self.write(name, 0, bytes)
    }

    /// Sets a number of the operations, as `timeout_ms`.
    ///
    /// # Errors
    /// [`ObjectError::Missing`].
    pub fn set_operation(&mut self, field: &str, value: u32) -> Result<(), ObjectError> {
        let (name, id) = self.operations()?;
        let place = self.btf.path(id, field);
        let (offset, _) = place.ok_or_else(|| ObjectError::Missing(field.to_owned()))?;
        let name = name.to_owned();
        self.write(&name, offset, &value.to_ne_bytes())
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

    /// Takes an operation out.
    pub fn remove_operation(&mut self, name: &str) {
        self.without.insert(name.to_owned());
    }

    /// Gives a map room for so many entries.
    pub fn set_max_entries(&mut self, map: &str, entries: usize) {
        self.max_entries.insert(map.to_owned(), entries);
    }

    pub(crate) fn native(&self) -> &[u8] {
        &self.native
    }
}
