//! The events of an XML part, by local names: prefixes differ between writers.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::ExtractError;

pub(crate) enum XmlEvent<'a> {
    Start(Element<'a>),
    End(String),
    Text(String),
}

pub(crate) struct Element<'a> {
    pub(crate) name: String,
    start: BytesStart<'a>,
}

impl Element<'_> {
    /// An attribute, by its local name.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.start.attributes().flatten();
        let found = attributes.find(|found| found.key.local_name().as_ref() == name)?;
        Some(found.value.clone().into_owned())
    }
}

/// Tells `on_event` of each event, until it returns false. An empty element starts and ends.
pub(crate) fn read(
    xml: &str,
    mut on_event: impl FnMut(XmlEvent<'_>) -> bool,
) -> Result<(), ExtractError> {
    let mut reader = Reader::from_str(xml);
    loop {
        let event = reader.read_event().map_err(|_| ExtractError::Damaged)?;
        let goes_on = match event {
            Event::Start(start) => on_event(XmlEvent::Start(element(start))),
            Event::Empty(start) => {
                let element = element(start);
                let name = element.name.clone();
                on_event(XmlEvent::Start(element)) && on_event(XmlEvent::End(name))
            }
            Event::End(end) => on_event(XmlEvent::End(end.local_name().as_ref().to_owned())),
            Event::Text(text) => on_event(XmlEvent::Text(text.to_string())),
            Event::CData(text) => on_event(XmlEvent::Text(text.to_string())),
            Event::GeneralRef(reference) => {
                let char = match reference.resolve_char_ref() {
                    Ok(Some(char)) => Some(char),
                    Ok(None) | Err(_) => named(&reference),
                };
                char.is_none_or(|char| on_event(XmlEvent::Text(char.to_string())))
            }
            Event::Eof => return Ok(()),
            // No entity of a document is ever expanded.
            Event::DocType(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => true,
        };
        if !goes_on {
            return Ok(());
        }
    }
}

fn element(start: BytesStart<'_>) -> Element<'_> {
    Element {
        name: start.local_name().as_ref().to_owned(),
        start,
    }
}

/// The references that XML itself defines.
fn named(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}
