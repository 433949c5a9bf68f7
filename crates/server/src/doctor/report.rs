//! All that was found out, as JSON and for a person.

use serde::Serialize;

use super::address::origin;
use super::finding::Finding;
use super::fix::{Case, Fix};
use super::openapi::counted;
use super::step::Step;
use super::table::{WIDTH, table, wrapped};
use super::trouble::{Kind, Trouble};

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    url: String,
    origin: String,
    /// Whether a page can use the server.
    pub(crate) ok: bool,
    verdict: Verdict,
    /// What a person should know besides.
    notes: Vec<Note>,
    steps: Vec<Step>,
    tools: usize,
}

#[derive(Debug, Serialize)]
struct Verdict {
    kind: Kind,
    message: String,
    fix: Vec<Fix>,
}

#[derive(Debug, Serialize)]
struct Note {
    kind: Kind,
    message: String,
}

impl Report {
    pub(super) fn new(
        case: Case<'_>,
        steps: Vec<Step>,
        found: Result<Finding, (Trouble, Vec<Fix>)>,
        mut notes: Vec<Trouble>,
    ) -> Self {
        let Case { url, page, .. } = case;
        let (ok, tools) = match &found {
            Ok(finding) => (true, finding.tools),
            Err(_) => (false, 0),
        };
        let verdict = match found {
            Ok(finding) => {
                notes.splice(0..0, finding.notes);
                let page = origin(page);
                let message = match tools {
                    0 => format!("A page at {page} can use this server, but it offers no tools."),
                    _ => format!("A page at {page} can use this server: {}.", counted(tools)),
                };
                Verdict {
                    kind: Kind::Ok,
                    message,
                    fix: Vec::new(),
                }
            }
            Err((trouble, fix)) => Verdict {
                fix,
                kind: trouble.kind,
                message: trouble.message,
            },
        };
        let note = |Trouble { kind, message }| Note { kind, message };
        Self {
            url: url.to_string(),
            origin: origin(page),
            ok,
            verdict,
            notes: notes.into_iter().map(note).collect(),
            steps,
            tools,
        }
    }

    /// As it is shown in a terminal.
    pub(crate) fn to_text(&self) -> String {
        let mut text = table(&self.steps, self.ok);
        if !text.is_empty() {
            text.push('\n');
        }
        let mark = if self.ok { "✓" } else { "✗" };
        text += &wrapped(&format!("{mark} "), &self.verdict.message, WIDTH);
        // Who is let in is asked about it; before that it is no news.
        let is_news = |note: &&Note| self.ok || note.kind != Kind::PermissionAsk;
        for note in self.notes.iter().filter(is_news) {
            text += &wrapped("  ", &note.message, WIDTH);
        }
        for fix in &self.verdict.fix {
            text.push('\n');
            text += &wrapped("", &fix.what, WIDTH);
            for line in &fix.lines {
                text += format!("    {line}").trim_end();
                text.push('\n');
            }
        }
        text
    }
}
