//! Word: WordprocessingML.

use crate::ExtractError;
use crate::package::Package;
use crate::text_builder::TextBuilder;
use crate::xml::{self, XmlEvent};

pub(crate) fn read(package: &mut Package<'_>, out: &mut TextBuilder) -> Result<(), ExtractError> {
    let document = package.part("word/document.xml")?;
    read_part(&document, out)?;
    for part in ["word/footnotes.xml", "word/endnotes.xml"] {
        if let Some(notes) = package.optional(part)? {
            out.new_line();
            read_part(&notes, out)?;
        }
    }
    Ok(())
}

fn read_part(xml: &str, out: &mut TextBuilder) -> Result<(), ExtractError> {
    let (mut in_text, mut cells) = (false, 0_usize);
    xml::read(xml, |event| {
        match event {
            XmlEvent::Start(element) => match element.name.as_str() {
                "t" => in_text = true,
                "tab" => out.push("\t"),
                "br" | "cr" if cells == 0 => out.new_line(),
                "br" | "cr" => out.push(" "),
                "tc" => cells += 1,
                _ => {}
            },
            XmlEvent::End(name) => match name.as_str() {
                "t" => in_text = false,
                // The paragraphs of a cell stay on the line of its row.
                "p" if cells > 0 => out.push(" "),
                "p" => out.new_line(),
                "tc" => {
                    cells = cells.saturating_sub(1);
                    out.push("| ");
                }
                "tr" => out.new_line(),
                _ => {}
            },
            XmlEvent::Text(text) if in_text => out.push(&text),
            XmlEvent::Text(_) => {}
        }
        !out.is_full()
    })
}
