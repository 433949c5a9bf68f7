//! The result of an examination, as JSON and as text. The steps are a table: request, response,
//! what a browser does with it.

use serde::Serialize;

use super::fix::{Case, Fix};
use super::problem::{DoctorProblem, ProblemKind};
use super::rules::origin;
use super::server::UsableServer;
use super::step::DoctorStep;

/// What fits into most terminals.
const WIDTH: usize = 100;

/// No column but the last is wider.
const MAX_CELL: usize = 36;

const HEAD: [&str; 4] = ["asked", "came back", " ", "a browser"];

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
    ) -> anyhow::Result<Self> {
        let origin = origin(case.page);
        let ok = found.is_ok();
        let (problem, tools) = match found {
            Ok(server) => {
                let can_use = match server.tools {
                    0 => "can use this server, but it offers no tools.".to_owned(),
                    _ => format!("can use this server: {}.", server.count()),
                };
                notes.splice(0..0, server.notes);
                let message = format!("A page at {origin} {can_use}");
                (ProblemKind::Ok.with(message), server.tools)
            }
            Err(problem) => (problem, 0),
        };
        let fix = case.fixes(problem.kind)?;
        Ok(Self {
            url: case.url.to_string(),
            origin,
            ok,
            verdict: ReportVerdict { problem, fix },
            notes,
            steps,
            tools,
        })
    }

    /// As it is shown in a terminal.
    pub(crate) fn to_text(&self) -> String {
        let mut text = self.table();
        let mark = if self.ok { "✓ " } else { "✗ " };
        text += &wrapped(mark, &self.verdict.problem.message);
        // Permission is asked for only where nothing else is in the way.
        let is_news = |note: &&DoctorProblem| self.ok || note.kind != ProblemKind::PermissionAsk;
        for note in self.notes.iter().filter(is_news) {
            text += &wrapped("  ", &note.message);
        }
        for fix in &self.verdict.fix {
            text += &format!("\n{}", wrapped("", &fix.what));
            for line in &fix.lines {
                text += format!("    {line}").trim_end();
                text.push('\n');
            }
        }
        text
    }

    fn table(&self) -> String {
        if self.steps.is_empty() {
            return String::new();
        }
        let mut rows = vec![HEAD.map(str::to_owned)];
        for step in &self.steps {
            let mark = match step {
                step if step.ok => "✓",
                // Nothing was in the way in the end, so what is not there is no fault.
                step if self.ok || step.is_harmless => "·",
                _ => "✗",
            };
            let [request, response] = [step.request(), step.response()].map(|cell| cut(&cell));
            rows.push([request, response, mark.to_owned(), step.verdict.clone()]);
        }
        let width = |column: usize| rows.iter().map(|row| length(&row[column])).max();
        let [first, second] = [0, 1].map(|column| width(column).unwrap_or_default());
        let lines = rows.iter().map(|[request, response, mark, verdict]| {
            let begin = format!("{request:first$}  {response:second$}  {mark} ");
            wrapped(&begin, verdict)
        });
        lines.collect::<String>() + "\n"
    }
}

/// Words in lines; those after the first stand below the end of what it begins with.
fn wrapped(begin: &str, words: &str) -> String {
    let indent = length(begin);
    // However narrow it gets, something is written.
    let room = WIDTH.saturating_sub(indent).max(20);
    let (mut text, mut column) = (begin.to_owned(), 0);
    for word in words.split_whitespace() {
        if column + 1 + length(word) > room && column > 0 {
            text += &format!("\n{:indent$}", "");
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text += word;
        column += length(word);
    }
    text.trim_end().to_owned() + "\n"
}

/// A long address is known by its end as well as by its beginning.
fn cut(cell: &str) -> String {
    let characters: Vec<char> = cell.chars().collect();
    if characters.len() <= MAX_CELL {
        return cell.to_owned();
    }
    let (head, tail) = characters.split_at(MAX_CELL / 2);
    let tail = &tail[tail.len() - (MAX_CELL / 2 - 1)..];
    head.iter().chain(&['…']).chain(tail).collect()
}

fn length(text: &str) -> usize {
    text.chars().count()
}
