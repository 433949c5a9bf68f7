//! The result of an examination, as JSON and as text.

use serde::Serialize;

use super::address::origin;
use super::fix::{Case, Fix};
use super::openapi::counted;
use super::problem::{DoctorProblem, ProblemKind};
use super::server::UsableServer;
use super::step::DoctorStep;
use super::table::{WIDTH, table, wrapped};

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    url: String,
    origin: String,
    /// Whether a page can use the server.
    pub(crate) ok: bool,
    verdict: ReportVerdict,
    /// What a person should know besides.
    notes: Vec<ReportNote>,
    steps: Vec<DoctorStep>,
    tools: usize,
}

#[derive(Debug, Serialize)]
struct ReportVerdict {
    kind: ProblemKind,
    message: String,
    fix: Vec<Fix>,
}

#[derive(Debug, Serialize)]
struct ReportNote {
    kind: ProblemKind,
    message: String,
}

impl Report {
    pub(super) fn new(
        case: Case<'_>,
        steps: Vec<DoctorStep>,
        found: Result<UsableServer, (DoctorProblem, Vec<Fix>)>,
        mut notes: Vec<DoctorProblem>,
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
                ReportVerdict {
                    kind: ProblemKind::Ok,
                    message,
                    fix: Vec::new(),
                }
            }
            Err((trouble, fix)) => ReportVerdict {
                fix,
                kind: trouble.kind,
                message: trouble.message,
            },
        };
        let note = |DoctorProblem { kind, message }| ReportNote { kind, message };
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
        let is_news = |note: &&ReportNote| self.ok || note.kind != ProblemKind::PermissionAsk;
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
