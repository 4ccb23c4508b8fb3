//! The text of an event's `format` file: where its fields are.

/// Where a field is in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub offset: usize,
    pub size: usize,
    /// How the offset tells where the bytes are.
    pub location: Location,
}

/// Where the bytes of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// At its offset.
    Here,
    /// `__data_loc`: 16 bits of length and 16 of the offset in the event stand there.
    Event,
    /// `__rel_loc`: the same, the offset counts from the end of the field.
    Field,
}

/// The content of a `format` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// Number of the event, `common_type` of its records.
    pub id: u64,
    pub name: String,
    fields: Vec<(String, Field)>,
    /// How the event is printed.
    pub print: String,
}

impl Format {
    /// Reads the text of a `format` file; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut format =
            Self { id: 0, name: String::new(), fields: Vec::new(), print: String::new() };
        for line in text.lines() {
            let line = line.trim();
            if let Some(name) = line.strip_prefix("name: ") {
                name.trim().clone_into(&mut format.name);
            } else if let Some(id) = line.strip_prefix("ID: ") {
                format.id = id.trim().parse().ok()?;
            } else if let Some(field) = line.strip_prefix("field:") {
                format.fields.push(field_of(field)?);
            } else if let Some(print) = line.strip_prefix("print fmt: ") {
                print.clone_into(&mut format.print);
            }
        }
        (!format.name.is_empty()).then_some(format)
    }

    /// Names of fields and where they are.
    pub fn fields(&self) -> &[(String, Field)] {
        &self.fields
    }

    /// The field of the first of these names that the event has.
    pub fn field(&self, names: &[&str]) -> Option<Field> {
        let find = |name: &&str| self.fields.iter().find(|field| field.0 == **name);
        names.iter().find_map(find).map(|field| field.1)
    }
}

/// `char prev_comm[16]; offset:8; size:16; signed:0;`
fn field_of(text: &str) -> Option<(String, Field)> {
    let mut parts = text.split(';').map(str::trim);
    let declaration = parts.next()?;
    let (mut offset, mut size) = (None, None);
    for part in parts {
        if let Some(number) = part.strip_prefix("offset:") {
            offset = number.parse().ok();
        } else if let Some(number) = part.strip_prefix("size:") {
            size = number.parse().ok();
        }
    }
    let location = match declaration.split(' ').next()? {
        "__data_loc" => Location::Event,
        "__rel_loc" => Location::Field,
        _ => Location::Here,
    };
    let name = declaration.split('[').next()?;
    // `__data_loc char[] comm` has its brackets before the name.
    let name = if location == Location::Here { name } else { declaration };
    let name = name.rsplit([' ', '*']).next()?;
    let field = Field { offset: offset?, size: size?, location };
    Some((name.to_owned(), field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_any_of_their_names() {
        let format = Format::parse(
            "name: x86_fpu_regs_deactivated\nID: 180\nformat:\n\tfield:unsigned short \
             common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\tfield:struct fpu * fpu;\toffset:8;\
             \tsize:8;\tsigned:0;\n\tfield:bool load_fpu;\toffset:16;\tsize:1;\tsigned:0;\n\
             \tfield:char name[16];\toffset:17;\tsize:16;\tsigned:0;\n\
             \tfield:__data_loc char[] comm;\toffset:33;\tsize:4;\tsigned:0;\n\n\
             print fmt: \"x86/fpu: %p\", REC->fpu\n",
        )
        .unwrap();
        assert_eq!((format.id, &format.name[..]), (180, "x86_fpu_regs_deactivated"));
        assert_eq!(format.print, "\"x86/fpu: %p\", REC->fpu");
        let here = |offset, size| Some(Field { offset, size, location: Location::Here });
        assert_eq!(format.field(&["fpu"]), here(8, 8));
        assert_eq!(format.field(&["initialized", "load_fpu"]), here(16, 1));
        assert_eq!(format.field(&["name"]), here(17, 16));
        let data = Some(Field { offset: 33, size: 4, location: Location::Event });
        assert_eq!(format.field(&["comm"]), data);
        assert_eq!(format.field(&["initialized"]), None);
    }

    #[test]
    fn other_text_is_no_format() {
        for text in ["", "x", "name: \n", "name: a\nID: b\n", "name: a\nfield:int b;\toffset:x;\n"]
        {
            assert_eq!(Format::parse(text), None, "{text:?}");
        }
    }
}
