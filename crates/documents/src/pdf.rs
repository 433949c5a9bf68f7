//! PDF.

use pdf_extract::OutputError;

use crate::ExtractError;
use crate::text_builder::TextBuilder;

pub(crate) fn read(bytes: &[u8], out: &mut TextBuilder) -> Result<(), ExtractError> {
    let pages = pdf_extract::extract_text_from_mem_by_pages(bytes).map_err(why)?;
    for (number, page) in pages.iter().enumerate() {
        if out.is_full() {
            break;
        }
        if pages.len() > 1 {
            out.new_line();
            out.push(&format!("[Page {}]", number + 1));
        }
        for line in page.lines() {
            out.new_line();
            out.push(line.trim_end());
        }
    }
    let has_text = pages.iter().any(|page| !page.trim().is_empty());
    has_text.then_some(()).ok_or(ExtractError::NoText)
}

fn why(error: OutputError) -> ExtractError {
    match error {
        OutputError::PdfError(error) if error.to_string().to_lowercase().contains("crypt") => {
            ExtractError::Encrypted
        }
        _ => ExtractError::Damaged,
    }
}
