//! Excel: SpreadsheetML, as rows of values with tabs between them.

mod dates;

use std::collections::HashMap;

use crate::ExtractError;
use crate::package::Package;
use crate::text_builder::TextBuilder;
use crate::xml::{self, XmlEvent};
use dates::DateFormats;

pub(crate) fn read(package: &mut Package<'_>, out: &mut TextBuilder) -> Result<(), ExtractError> {
    let strings = match package.optional("xl/sharedStrings.xml")? {
        Some(xml) => shared_strings(&xml)?,
        None => Vec::new(),
    };
    let dates = match package.optional("xl/styles.xml")? {
        Some(xml) => DateFormats::read(&xml)?,
        None => DateFormats::default(),
    };
    for (name, part) in sheets(package)? {
        if out.is_full() {
            break;
        }
        out.new_line();
        out.push(&format!("[{name}]"));
        out.new_line();
        let Some(xml) = package.optional(&part)? else {
            continue;
        };
        let sheet = Sheet {
            strings: &strings,
            dates: &dates,
        };
        sheet.read(&xml, out)?;
    }
    Ok(())
}

/// The sheets in their order: name and part.
fn sheets(package: &mut Package<'_>) -> Result<Vec<(String, String)>, ExtractError> {
    let relations = package.part("xl/_rels/workbook.xml.rels")?;
    let mut targets: HashMap<String, String> = HashMap::new();
    xml::read(&relations, |event| {
        if let XmlEvent::Start(element) = event
            && let (Some(id), Some(target)) = (element.attribute("Id"), element.attribute("Target"))
        {
            let part = match target.strip_prefix('/') {
                Some(absolute) => absolute.to_owned(),
                None => format!("xl/{target}"),
            };
            targets.insert(id, part);
        }
        true
    })?;
    let workbook = package.part("xl/workbook.xml")?;
    let mut sheets = Vec::new();
    xml::read(&workbook, |event| {
        if let XmlEvent::Start(element) = event
            && element.name == "sheet"
            && let Some(part) = element.attribute("id").and_then(|id| targets.get(&id))
        {
            let name = element.attribute("name").unwrap_or_default();
            sheets.push((name, part.clone()));
        }
        true
    })?;
    Ok(sheets)
}

fn shared_strings(xml: &str) -> Result<Vec<String>, ExtractError> {
    let (mut strings, mut text, mut in_text) = (Vec::new(), String::new(), false);
    xml::read(xml, |event| {
        match event {
            XmlEvent::Start(element) if element.name == "t" => in_text = true,
            XmlEvent::Start(_) => {}
            XmlEvent::End(name) if name == "t" => in_text = false,
            XmlEvent::End(name) if name == "si" => strings.push(std::mem::take(&mut text)),
            XmlEvent::End(_) => {}
            XmlEvent::Text(piece) if in_text => text.push_str(&piece),
            XmlEvent::Text(_) => {}
        }
        true
    })?;
    Ok(strings)
}

struct Sheet<'a> {
    strings: &'a [String],
    dates: &'a DateFormats,
}

#[derive(Default)]
struct Cell {
    kind: String,
    style: usize,
    value: String,
}

impl Sheet<'_> {
    fn read(&self, xml: &str, out: &mut TextBuilder) -> Result<(), ExtractError> {
        let (mut cell, mut in_value, mut row) = (Cell::default(), false, Vec::new());
        xml::read(xml, |event| {
            match event {
                XmlEvent::Start(element) => match element.name.as_str() {
                    "c" => {
                        let style = element.attribute("s");
                        cell = Cell {
                            kind: element.attribute("t").unwrap_or_default(),
                            style: style.and_then(|style| style.parse().ok()).unwrap_or(0),
                            value: String::new(),
                        };
                    }
                    "v" | "t" => in_value = true,
                    _ => {}
                },
                XmlEvent::End(name) => match name.as_str() {
                    "v" | "t" => in_value = false,
                    "c" => row.push(self.shown(&cell)),
                    "row" => {
                        let line = row.join("\t");
                        row.clear();
                        out.push(line.trim_end());
                        out.new_line();
                    }
                    _ => {}
                },
                XmlEvent::Text(text) if in_value => cell.value.push_str(&text),
                XmlEvent::Text(_) => {}
            }
            !out.is_full()
        })
    }

    fn shown(&self, cell: &Cell) -> String {
        match cell.kind.as_str() {
            "s" => {
                let index: Option<usize> = cell.value.parse().ok();
                let text = index.and_then(|index| self.strings.get(index));
                text.cloned().unwrap_or_default()
            }
            "b" if cell.value == "1" => "TRUE".to_owned(),
            "b" => "FALSE".to_owned(),
            "" | "n" if self.dates.is_date(cell.style) => {
                let days = cell.value.parse().ok();
                let date = days.and_then(dates::shown);
                date.unwrap_or_else(|| cell.value.clone())
            }
            _ => cell.value.clone(),
        }
    }
}
