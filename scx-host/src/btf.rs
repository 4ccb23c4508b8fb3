//! The types of a BPF object: its maps, structures and enumerations.
//!
//! The format is that of Documentation/bpf/btf.rst (Linux 7.0).

use std::collections::BTreeMap;

/// A type by its number; 0 is `void`.
pub type Id = u32;

/// A member of a structure, or a variable of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Empty for an anonymous one.
    pub name: String,
    /// Its type.
    pub of: Id,
    /// From the start of the structure, in bytes.
    pub offset: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Void,
    Int,
    Pointer(Id),
    Array {
        of: Id,
        count: usize,
    },
    Structure(Vec<Member>),
    Enumeration(Vec<(String, u64)>),
    /// A typedef, or a qualifier.
    Alias(Id),
    Section(Vec<Member>),
    Variable(Id),
    Function,
    Other,
}

#[derive(Clone, Debug)]
struct Type {
    name: String,
    size: usize,
    kind: Kind,
}

/// All types of an object.
#[derive(Clone, Debug)]
pub struct Btf {
    types: Vec<Type>,
    structures: BTreeMap<String, Id>,
}

const MAGIC: u16 = 0xeb9f;

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn u32(&mut self) -> Option<u32> {
        let (first, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(u32::from_le_bytes(*first))
    }

    fn usize(&mut self) -> Option<usize> {
        self.u32().map(|number| number as usize)
    }
}

impl Btf {
    /// Reads the section `.BTF`; `None` if the section has no known form.
    #[must_use]
    pub fn parse(section: &[u8]) -> Option<Self> {
        let magic = u16::from_le_bytes(*section.first_chunk()?);
        let mut header = Reader { bytes: section.get(4..)? };
        let header_length = header.usize()?;
        let (types_at, types_length) = (header.usize()?, header.usize()?);
        let (names_at, names_length) = (header.usize()?, header.usize()?);
        let body = section.get(header_length..)?;
        let names = body.get(names_at..)?.get(..names_length)?;
        let mut rest = Reader { bytes: body.get(types_at..)?.get(..types_length)? };
        let mut types = vec![Type { name: String::new(), size: 0, kind: Kind::Void }];
        while !rest.bytes.is_empty() {
            types.push(one(&mut rest, names)?);
        }
        let structures = types.iter().enumerate().filter_map(|(id, one)| match one.kind {
            Kind::Structure(_) => Some((one.name.clone(), id as Id)),
            _ => None,
        });
        let structures = structures.collect();
        (magic == MAGIC).then_some(Self { types, structures })
    }

    fn get(&self, id: Id) -> &Type {
        self.types.get(id as usize).unwrap_or(&self.types[0])
    }

    /// The type behind typedefs and qualifiers.
    #[must_use]
    pub fn plain(&self, mut id: Id) -> Id {
        while let Kind::Alias(next) | Kind::Variable(next) = self.get(id).kind {
            id = next;
        }
        id
    }

    /// Its size in bytes, the target's pointers taken as 8.
    #[must_use]
    pub fn size(&self, id: Id) -> usize {
        let found = self.get(self.plain(id));
        match found.kind {
            Kind::Pointer(_) => 8,
            Kind::Array { of, count } => self.size(of) * count,
            _ => found.size,
        }
    }

    /// The names of all structures.
    pub fn structures(&self) -> impl Iterator<Item = &str> {
        self.structures.keys().map(String::as_str)
    }

    /// The structure of that name.
    #[must_use]
    pub fn structure(&self, name: &str) -> Option<Id> {
        self.structures.get(name).copied()
    }

    /// The members of a structure; none of anything else.
    #[must_use]
    pub fn members(&self, id: Id) -> &[Member] {
        match &self.get(self.plain(id)).kind {
            Kind::Structure(members) => members,
            _ => &[],
        }
    }

    /// The variables of a section of the object.
    #[must_use]
    pub fn section(&self, name: &str) -> &[Member] {
        let found = self.types.iter().find_map(|one| match &one.kind {
            Kind::Section(variables) if one.name == name => Some(variables),
            _ => None,
        });
        found.map_or(&[], |variables| variables)
    }

    /// The name of a type or variable.
    #[must_use]
    pub fn name(&self, id: Id) -> &str {
        &self.get(id).name
    }

    /// Whether a type is a whole number of up to 8 bytes, as `bool` is.
    #[must_use]
    pub fn is_number(&self, id: Id) -> bool {
        let found = self.get(self.plain(id));
        matches!(found.kind, Kind::Int | Kind::Enumeration(_)) && (1..=8).contains(&found.size)
    }

    /// How many elements an array has.
    #[must_use]
    pub fn count(&self, id: Id) -> Option<usize> {
        match self.get(self.plain(id)).kind {
            Kind::Array { count, .. } => Some(count),
            _ => None,
        }
    }

    /// Where a member is in a structure, by a path as in `scx.slice`: offset and type.
    #[must_use]
    pub fn path(&self, structure: Id, path: &str) -> Option<(usize, Id)> {
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        let (offset, of) = self.find(structure, first)?;
        if rest.is_empty() {
            return Some((offset, of));
        }
        let (inner, of) = self.path(of, rest)?;
        Some((offset + inner, of))
    }

    /// Looks into anonymous members too.
    fn find(&self, structure: Id, name: &str) -> Option<(usize, Id)> {
        self.members(structure).iter().find_map(|member| {
            if member.name == name {
                return Some((member.offset, member.of));
            }
            let inner = member.name.is_empty().then(|| self.find(member.of, name)).flatten()?;
            Some((member.offset + inner.0, inner.1))
        })
    }

    /// All constants of enumerations, by name.
    pub fn constants(&self) -> impl Iterator<Item = (&str, u64)> {
        self.types
            .iter()
            .flat_map(|one| match &one.kind {
                Kind::Enumeration(values) => values.as_slice(),
                _ => &[],
            })
            .map(|(name, value)| (name.as_str(), *value))
    }

    /// Whether a type is the prototype of a function.
    #[must_use]
    pub fn is_function(&self, id: Id) -> bool {
        self.get(self.plain(id)).kind == Kind::Function
    }

    /// The type behind a pointer; `void` behind anything else.
    #[must_use]
    pub fn pointed(&self, id: Id) -> Id {
        match self.get(self.plain(id)).kind {
            Kind::Pointer(of) => of,
            _ => 0,
        }
    }
}

fn name(names: &[u8], at: usize) -> String {
    let bytes = names.get(at..).unwrap_or_default();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn one(rest: &mut Reader, names: &[u8]) -> Option<Type> {
    let named = rest.usize()?;
    let info = rest.u32()?;
    let size = rest.usize()?;
    let (count, flag) = ((info & 0xffff) as usize, info >> 31 == 1);
    let kind = match info >> 24 & 0x1f {
        1 => {
            rest.u32()?;
            Kind::Int
        }
        // For a pointer, the word that is the size of other kinds is the type pointed to.
        2 => Kind::Pointer(size as Id),
        3 => {
            let of = rest.u32()?;
            rest.u32()?;
            Kind::Array { of, count: rest.usize()? }
        }
        4 | 5 => Kind::Structure(members(rest, names, count, flag)?),
        6 => Kind::Enumeration(
            (0..count)
                .map(|_| {
                    let value = (name(names, rest.usize()?), rest.u32()?);
                    let wide = if flag { value.1.cast_signed() as u64 } else { value.1.into() };
                    Some((value.0, wide))
                })
                .collect::<Option<_>>()?,
        ),
        8..=11 | 18 => Kind::Alias(size as Id),
        13 => {
            rest.bytes = rest.bytes.get(8 * count..)?;
            Kind::Function
        }
        14 => {
            rest.u32()?;
            Kind::Variable(size as Id)
        }
        15 => Kind::Section(
            (0..count)
                .map(|_| {
                    let (of, offset) = (rest.u32()?, rest.usize()?);
                    rest.u32()?;
                    Some(Member { name: String::new(), of, offset })
                })
                .collect::<Option<_>>()?,
        ),
        17 => {
            rest.u32()?;
            Kind::Other
        }
        19 => Kind::Enumeration(
            (0..count)
                .map(|_| {
                    let name = name(names, rest.usize()?);
                    let (low, high) = (rest.u32()?, rest.u32()?);
                    Some((name, u64::from(high) << 32 | u64::from(low)))
                })
                .collect::<Option<_>>()?,
        ),
        7 | 12 | 16 => Kind::Other,
        _ => return None,
    };
    Some(Type { name: name(names, named), size, kind })
}

fn members(rest: &mut Reader, names: &[u8], count: usize, bits: bool) -> Option<Vec<Member>> {
    (0..count)
        .map(|_| {
            let name = name(names, rest.usize()?);
            let (of, at) = (rest.u32()?, rest.usize()?);
            // In a structure with bit fields, the upper byte is the width of the field.
            let offset = if bits { at & 0xff_ffff } else { at } / 8;
            Some(Member { name, of, offset })
        })
        .collect()
}
