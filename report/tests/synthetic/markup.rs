//! Reads pages and pictures as strict XML.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::Event;

/// An element: its name, what it says of itself, and how many elements it is in.
#[derive(Clone, Debug)]
pub struct Element {
    pub name: String,
    pub attributes: BTreeMap<String, String>,
    pub depth: usize,
}

impl Element {
    pub fn get(&self, attribute: &str) -> Option<&str> {
        self.attributes.get(attribute).map(String::as_str)
    }
}

/// Every element in order; fails where one is not closed.
pub fn elements(text: &str) -> Vec<Element> {
    let mut reader = Reader::from_str(text);
    let mut found = Vec::new();
    let mut depth = 0;
    loop {
        let event = reader.read_event().unwrap();
        match &event {
            Event::Start(start) | Event::Empty(start) => {
                let attributes = start.attributes().map(|attribute| {
                    let attribute = attribute.unwrap();
                    let value = attribute.value.to_string();
                    (attribute.key.as_ref().to_owned(), value)
                });
                let name = start.name().as_ref().to_owned();
                found.push(Element { name, attributes: attributes.collect(), depth });
                depth += usize::from(matches!(event, Event::Start(_)));
            }
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    found
}
