//! The result of an examination, as JSON and as text.

use serde::Serialize;

use super::fix::{Case, Fix, fixes};
use super::problem::{DoctorProblem, ProblemKind};
use super::rules::origin;
use super::server::{UsableServer, count};
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
    notes: Vec<DoctorProblem>,
    steps: Vec<DoctorStep>,
    tools: usize,
}

#[derive(Debug, Serialize)]
struct ReportVerdict {
    #[serde(flatten)]
    problem: DoctorProblem,
    fix: Vec<Fix>,
}

impl Report {
    pub(super) fn new(
        case: &Case<'_>,
        steps: Vec<DoctorStep>,
        found: Result<UsableServer, DoctorProblem>,
        mut notes: Vec<DoctorProblem>,
    ) -> Self {
        let page = origin(case.page);
        let ok = found.is_ok();
        let (problem, tools) = match found {
            Ok(UsableServer { tools, notes: more }) => {
                notes.splice(0..0, more);
                let message = match tools {
                    0 => format!("A page at {page} can use this server, but it offers no tools."),
                    _ => format!("A page at {page} can use this server: {}.", count(tools)),
                };
                (ProblemKind::Ok.with(message), tools)
            }
            Err(problem) => (problem, 0),
        };
        let fix = fixes(problem.kind, case);
        Self {
            url: case.url.to_string(),
            origin: page,
            ok,
            verdict: ReportVerdict { problem, fix },
            notes,
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
        let mark = if self.ok { "✓ " } else { "✗ " };
        text += &wrapped(mark, &self.verdict.problem.message, WIDTH);
        // Permission is asked for only where nothing else is in the way.
        let is_news = |note: &&DoctorProblem| self.ok || note.kind != ProblemKind::PermissionAsk;
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
