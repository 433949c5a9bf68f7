//! The result of an examination, as JSON and as text. The steps are a table: request, response,
//! what a browser does with it.

use serde::Serialize;

use super::fix::{Case, Fix, fixes};
use super::problem::{DoctorProblem, ProblemKind};
use super::rules::origin;
use super::server::UsableServer;
use super::step::DoctorStep;

/// What fits into most terminals.
const WIDTH: usize = 100;

/// No column but the last is wider.
const MAX_CELL: usize = 36;

/// Of steps that went well no more are shown; those that did not all are.
const MAX_WELL: usize = 12;

const HEAD: [&str; 3] = ["asked", "came back", "a browser"];

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
            Ok(server) => {
                let message = match server.count() {
                    _ if server.tools == 0 => {
                        format!("A page at {page} can use this server, but it offers no tools.")
                    }
                    count => format!("A page at {page} can use this server: {count}."),
                };
                notes.splice(0..0, server.notes);
                (ProblemKind::Ok.with(message), server.tools)
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
        text += &wrapped(mark, &self.verdict.problem.message);
        // Permission is asked for only where nothing else is in the way.
        let is_news = |note: &&DoctorProblem| self.ok || note.kind != ProblemKind::PermissionAsk;
        for note in self.notes.iter().filter(is_news) {
            text += &wrapped("  ", &note.message);
        }
        for fix in &self.verdict.fix {
            text.push('\n');
            text += &wrapped("", &fix.what);
            for line in &fix.lines {
                text += format!("    {line}").trim_end();
                text.push('\n');
            }
        }
        text
    }
}

/// `ok`: nothing was in the way in the end, so what is not there is no fault.
fn table(steps: &[DoctorStep], ok: bool) -> String {
    if steps.is_empty() {
        return String::new();
    }
    let (mut well, mut left_out) = (0, 0);
    let (mut first, mut second) = (length(HEAD[0]), length(HEAD[1]));
    let mut rows = Vec::new();
    for step in steps {
        well += usize::from(step.ok);
        if step.ok && well > MAX_WELL {
            left_out += 1;
            continue;
        }
        let mark = match step {
            step if step.ok => "✓",
            step if ok || step.is_harmless => "·",
            _ => "✗",
        };
        let (request, response) = (cut(&step.request()), cut(&step.response()));
        first = first.max(length(&request));
        second = second.max(length(&response));
        rows.push((request, response, mark, &step.verdict));
    }
    let line = |a: &str, b: &str, mark: &str| format!("{a:first$}  {b:second$}  {mark} ");
    let mut text = line(HEAD[0], HEAD[1], " ") + HEAD[2] + "\n";
    for (request, response, mark, verdict) in rows {
        text += &wrapped(&line(&request, &response, mark), verdict);
    }
    if left_out > 0 {
        text += &format!("… and {left_out} more that went well\n");
    }
    text
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
    let (head, tail) = (MAX_CELL / 2, MAX_CELL - MAX_CELL / 2 - 1);
    let begin: String = characters[..head].iter().collect();
    let end: String = characters[characters.len() - tail..].iter().collect();
    format!("{begin}…{end}")
}

fn length(text: &str) -> usize {
    text.chars().count()
}
