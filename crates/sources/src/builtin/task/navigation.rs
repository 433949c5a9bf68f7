//! Paging through something in several calls: the first call begins a session, later ones turn its
//! pages.

use std::collections::VecDeque;
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tenon_domain::{ToolError, text};

use crate::lock::lock;

/// How many a run may have open; the oldest makes way.
const MAX_SESSIONS: usize = 50;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NavigationAction {
    NextPage,
    PrevPage,
    FirstPage,
    LastPage,
    JumpToPage,
}

/// Which page to turn to.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Navigation {
    pub action: NavigationAction,
    pub target_page: Option<usize>,
}

impl Navigation {
    /// The fields of a tool's input schema.
    pub fn properties() -> Map<String, Value> {
        let properties = json!({
            "action": {
                "type": "string",
                "description": "Which page to turn to.",
                "enum": ["next_page", "prev_page", "first_page", "last_page", "jump_to_page"],
                "examples": ["next_page"],
            },
            "target_page": {
                "type": "integer",
                "description": "The page to jump to, counted from 1; only with jump_to_page.",
                "minimum": 1,
                "examples": [3],
            },
        });
        match properties {
            Value::Object(properties) => properties,
            _ => Map::new(),
        }
    }

    /// The page that is meant, counted from 1.
    pub fn turn(self, current: usize, pages: usize) -> Result<usize, ToolError> {
        let page = match self.action {
            NavigationAction::FirstPage => 1,
            NavigationAction::LastPage => pages,
            NavigationAction::NextPage => current + 1,
            NavigationAction::PrevPage => current.saturating_sub(1),
            NavigationAction::JumpToPage => self.target_page.ok_or_else(|| {
                ToolError::invalid_input("`target_page` is missing: say which page to jump to.")
            })?,
        };
        if (1..=pages).contains(&page) {
            Ok(page)
        } else {
            Err(ToolError::failed(format!(
                "There is no page {page}: page {current} of {pages} was shown last."
            )))
        }
    }
}

/// Sessions by their ids, in memory.
#[derive(Debug)]
pub struct PageSessions<T> {
    prefix: &'static str,
    open: Mutex<OpenSessions<T>>,
}

#[derive(Debug)]
struct OpenSessions<T> {
    sessions: VecDeque<(String, T)>,
    begun: usize,
}

impl<T: Clone> PageSessions<T> {
    pub fn new(prefix: &'static str) -> Self {
        let open = Mutex::new(OpenSessions {
            sessions: VecDeque::new(),
            begun: 0,
        });
        Self { prefix, open }
    }

    /// Begins one and returns its id.
    pub fn begin(&self, session: T) -> String {
        let mut open = lock(&self.open);
        open.begun += 1;
        let id = format!("{}_{}", self.prefix, open.begun);
        open.sessions.push_back((id.clone(), session));
        if open.sessions.len() > MAX_SESSIONS {
            open.sessions.pop_front();
        }
        id
    }

    pub fn get(&self, id: &str) -> Result<T, ToolError> {
        let open = lock(&self.open);
        let session = open.sessions.iter().find(|(known, _)| known == id);
        session.map(|(_, session)| session.clone()).ok_or_else(|| {
            let shown = text::shorten(id, 80);
            ToolError::failed(format!(
                "There is no session `{shown}`, or it has expired. Begin a new one."
            ))
        })
    }

    pub fn update(&self, id: &str, session: T) {
        let mut open = lock(&self.open);
        if let Some((_, known)) = open.sessions.iter_mut().find(|(known, _)| known == id) {
            *known = session;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_turned_within_what_there_is() {
        use NavigationAction::{FirstPage, JumpToPage, LastPage, NextPage, PrevPage};
        let check = |action, target_page, expected: Option<usize>| {
            let turned = Navigation {
                action,
                target_page,
            };
            assert_eq!(turned.turn(2, 3).ok(), expected, "{action:?}");
        };
        check(NextPage, None, Some(3));
        check(PrevPage, None, Some(1));
        check(FirstPage, None, Some(1));
        check(LastPage, None, Some(3));
        check(JumpToPage, Some(3), Some(3));
        check(JumpToPage, Some(4), None);
        check(JumpToPage, None, None);
    }

    #[test]
    fn the_oldest_session_makes_way() {
        let sessions = PageSessions::new("view");
        let first = sessions.begin(0);
        for number in 1..=MAX_SESSIONS {
            sessions.begin(number);
        }
        assert!(sessions.get(&first).is_err());
        assert_eq!(sessions.get("view_2").unwrap(), 1);
        sessions.update("view_2", 7);
        assert_eq!(sessions.get("view_2").unwrap(), 7);
    }
}
