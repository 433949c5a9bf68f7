//! A page that its server wants shown.
//!
//! People see the page itself; a model is told that they do, and what it says.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tenon_domain::{Content, SHOWN_PAGE};

use crate::{html::readable, text};

/// Pages bring pictures and libraries along, but what they say stands in less.
/// What lays it out takes a few milliseconds for so much.
const READ: usize = 256 * 1024;

/// About four screens, in characters: enough to talk about it. The whole can be paged through.
const MAX_TEXT: usize = 6_000;

pub(super) fn shown(html: &str, name: Option<String>) -> Vec<Content> {
    let start = &html[..html.floor_char_boundary(READ)];
    let said = text::block(&readable::to_text(start, None), MAX_TEXT);
    let told = match said.is_empty() {
        true => "The tool answered with a page, which Tenon's chat shows to the user. \
                 There is no text on it before its scripts have run."
            .to_owned(),
        false => format!(
            "The tool answered with a page, which Tenon's chat shows to the user. \
             This is written on it:\n\n{said}"
        ),
    };
    vec![
        Content::Text { text: told },
        Content::File {
            media_type: SHOWN_PAGE.to_owned(),
            name,
            data: STANDARD.encode(html),
        },
    ]
}
