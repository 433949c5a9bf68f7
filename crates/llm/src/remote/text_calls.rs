//! Tool calls that stand in the text of an answer.
//!
//! A model whose server does not parse its calls writes them as its chat template taught it:
//! between marks, in a code block, as bare JSON or as Python. [`TextCallDecoder`] reads them back.
//! A text is a call only if it has one of the known forms, names a tool that was offered, and its
//! arguments fit that tool's schema; everything else stays text, byte for byte. What was read as a
//! call is kept with it, so that the model is told its own words again and the result in the form
//! that goes with them ([`calls_as_text`]).
//!
//! `form` parses a whole call or says that more is to come, `reader` decides what of a stream is
//! held back until that is clear, both in linear time.

mod callable_tools;
mod cursor;
mod decoder;
mod form;
mod json_call;
mod python_call;
mod reader;
mod transcript;
mod xml_call;

#[cfg(test)]
mod tests;

pub(crate) use decoder::{TextCallDecoder, is_text_call};
pub(crate) use transcript::{CallScope, calls_as_text, prompt};
