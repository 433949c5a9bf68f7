//! A list of tools, resources, templates or prompts, written as JSON once and served in pages.

use std::fmt::Write;

use serde_json::Value;

use crate::transport::header_params::{self, HeaderParam, HeaderParams};

/// Many clients read one page and no more, so a page is as long as a client can well take.
const MAX_PAGE_ITEMS: usize = 2000;
const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;

/// The objects of a list in the order they were given. That order has to be the same every time.
#[derive(Debug, Default)]
pub struct Listing {
    pages: Vec<ListingPage>,
    /// By the name of the tool: the arguments that a request repeats in its headers.
    header_params: HeaderParams,
}

#[derive(Debug)]
struct ListingPage {
    first_item: usize,
    /// The objects, separated by commas.
    items: String,
}

impl Listing {
    pub fn new(items: impl IntoIterator<Item = Value>) -> Self {
        let mut listing = Self::default();
        for (index, item) in items.into_iter().enumerate() {
            listing.add(index, &item);
        }
        listing
    }

    fn add(&mut self, index: usize, item: &Value) {
        let has_room = self.pages.last().is_some_and(|page| {
            index - page.first_item < MAX_PAGE_ITEMS && page.items.len() < MAX_PAGE_BYTES
        });
        if !has_room {
            self.pages.push(ListingPage {
                first_item: index,
                items: String::new(),
            });
        }
        if let Some(page) = self.pages.last_mut() {
            if !page.items.is_empty() {
                page.items.push(',');
            }
            write!(page.items, "{item}").expect("a String takes whatever is written");
        }
        let name = item.get("name").and_then(Value::as_str);
        let schema = item.get("inputSchema").and_then(Value::as_object);
        if let (Some(name), Some(schema)) = (name, schema)
            && let Ok(params) = header_params::read(schema)
            && !params.is_empty()
        {
            self.header_params.insert(name.to_owned(), params);
        }
    }

    pub(super) fn header_params(&self, tool: &str) -> &[HeaderParam] {
        self.header_params.get(tool).map_or(&[], Vec::as_slice)
    }

    /// The objects of a page, and the cursor of the next one. None: nobody gave that cursor.
    pub(super) fn page(&self, cursor: Option<&str>) -> Option<(&str, Option<usize>)> {
        let number = match cursor {
            None if self.pages.is_empty() => return Some(("", None)),
            None => 0,
            Some(cursor) => {
                let first: usize = cursor.parse().ok()?;
                self.pages
                    .binary_search_by_key(&first, |page| page.first_item)
                    .ok()?
            }
        };
        let next = self.pages.get(number + 1).map(|page| page.first_item);
        Some((&self.pages[number].items, next))
    }
}
