//! OpenDocument: texts, spreadsheets and presentations alike.

use crate::ExtractError;
use crate::package::Package;
use crate::text_builder::TextBuilder;
use crate::xml::{self, XmlEvent};

/// Repeated cells fill a sheet to its edge.
const MAX_REPEATED: usize = 32;

pub(crate) fn read(package: &mut Package<'_>, out: &mut TextBuilder) -> Result<(), ExtractError> {
    let content = package.part("content.xml")?;
    let (mut paragraphs, mut in_row, mut repeated) = (0_usize, false, 1);
    let mut cell = String::new();
    xml::read(&content, |event| {
        match event {
            XmlEvent::Start(element) => match element.name.as_str() {
                "p" | "h" => paragraphs += 1,
                "tab" => out.push("\t"),
                "line-break" if !in_row => out.new_line(),
                "s" if paragraphs > 0 => out.push(" "),
                "page" | "table" => {
                    if let Some(name) = element.attribute("name") {
                        out.new_line();
                        out.push(&format!("[{name}]"));
                        out.new_line();
                    }
                }
                "table-row" => in_row = true,
                "table-cell" => {
                    let count = element.attribute("number-columns-repeated");
                    repeated = count.and_then(|count| count.parse().ok()).unwrap_or(1);
                    cell.clear();
                }
                _ => {}
            },
            XmlEvent::End(name) => match name.as_str() {
                "p" | "h" => {
                    paragraphs = paragraphs.saturating_sub(1);
                    if in_row {
                        cell.push(' ');
                    } else {
                        out.new_line();
                    }
                }
                "table-cell" => {
                    let times = if cell.is_empty() { 1 } else { repeated };
                    for _ in 0..times.min(MAX_REPEATED) {
                        out.push(cell.trim_end());
                        out.push("\t");
                    }
                }
                "table-row" => {
                    in_row = false;
                    out.new_line();
                }
                _ => {}
            },
            XmlEvent::Text(text) if paragraphs > 0 && in_row => cell.push_str(&text),
            XmlEvent::Text(text) if paragraphs > 0 => out.push(&text),
            XmlEvent::Text(_) => {}
        }
        !out.is_full()
    })
}
