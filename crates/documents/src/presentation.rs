//! PowerPoint: PresentationML.

use crate::ExtractError;
use crate::package::Package;
use crate::text_builder::TextBuilder;
use crate::xml::{self, XmlEvent};

const SLIDE: &str = "ppt/slides/slide";
const NOTES: &str = "ppt/notesSlides/notesSlide";

pub(crate) fn read(package: &mut Package<'_>, out: &mut TextBuilder) -> Result<(), ExtractError> {
    let slides = package.numbers(SLIDE);
    if slides.is_empty() {
        return Err(ExtractError::Damaged);
    }
    for number in slides {
        if out.is_full() {
            break;
        }
        out.new_line();
        out.push(&format!("[Slide {number}]"));
        out.new_line();
        read_part(&package.part(&format!("{SLIDE}{number}.xml"))?, out)?;
        if let Some(notes) = package.optional(&format!("{NOTES}{number}.xml"))? {
            out.new_line();
            read_part(&notes, out)?;
        }
    }
    Ok(())
}

fn read_part(xml: &str, out: &mut TextBuilder) -> Result<(), ExtractError> {
    let mut in_text = false;
    xml::read(xml, |event| {
        match event {
            XmlEvent::Start(element) => match element.name.as_str() {
                "t" => in_text = true,
                "br" => out.new_line(),
                _ => {}
            },
            XmlEvent::End(name) => match name.as_str() {
                "t" => in_text = false,
                "p" => out.new_line(),
                _ => {}
            },
            XmlEvent::Text(text) if in_text => out.push(&text),
            XmlEvent::Text(_) => {}
        }
        !out.is_full()
    })
}
