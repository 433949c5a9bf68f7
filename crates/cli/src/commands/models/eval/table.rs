//! The report as a table: a column for each mode, a row for each kind of prompt.

use tenon_domain::{EvaluationReport, ModeScore, PromptKind};

use super::{label, seconds};

const LABEL_WIDTH: usize = 14;
const CELL_WIDTH: usize = 16;

const KINDS: [(PromptKind, &str); 6] = [
    (PromptKind::Choice, "choice"),
    (PromptKind::Arguments, "arguments"),
    (PromptKind::SeveralCalls, "several calls"),
    (PromptKind::TwoSteps, "two steps"),
    (PromptKind::Restraint, "restraint"),
    (PromptKind::Chinese, "Chinese"),
];

/// Cells are what passed, and the seconds that a prompt took on average.
pub(super) fn render(report: &EvaluationReport) -> String {
    let row = |name: &str, cell: &dyn Fn(&ModeScore) -> String| {
        let cells = report.modes.iter().map(cell);
        let cells: String = cells.map(|cell| format!("{cell:<CELL_WIDTH$}")).collect();
        format!("{name:<LABEL_WIDTH$}{cells}").trim_end().to_owned()
    };
    let mut lines = vec![row("", &|mode| label(mode.mode).to_owned())];
    for (kind, name) in KINDS {
        lines.push(row(name, &|mode| {
            let score = mode.kinds.iter().find(|score| score.kind == kind);
            score.map_or_else(
                || "-".into(),
                |score| cell(score.passed, score.prompts, Some(score.duration_ms)),
            )
        }));
    }
    lines.push(row("first calls", &|mode| {
        cell(mode.right_first_calls, mode.prompts, None)
    }));
    lines.push(row("answers", &|mode| {
        cell(mode.right_answers, mode.prompts, None)
    }));
    lines.push(row("score", &|mode| {
        cell(mode.passed, mode.prompts, Some(mode.duration_ms))
    }));
    lines.extend(report.modes.iter().filter_map(problem));
    lines.join("\n")
}

fn cell(right: usize, prompts: usize, duration_ms: Option<u64>) -> String {
    match duration_ms {
        _ if prompts == 0 => "-".into(),
        None => format!("{right}/{prompts}"),
        Some(total) => {
            let average = seconds(total) / prompts as f64;
            format!("{:<6} {average:.1} s", format!("{right}/{prompts}"))
        }
    }
}

fn problem(score: &ModeScore) -> Option<String> {
    let problem = score.problem.as_ref()?;
    let state = if score.prompts == 0 {
        "not possible"
    } else {
        "stopped"
    };
    Some(format!("{}: {state}. {problem}", label(score.mode)))
}

#[cfg(test)]
mod tests {
    use tenon_domain::{ErrorDetail, OtherError, PromptOutcome, PromptResult, ToolUse};

    use super::*;

    #[test]
    fn a_report_as_a_table() {
        let mut report = EvaluationReport::new(&[ToolUse::Native, ToolUse::Text], 2);
        for (kind, outcome) in [
            (PromptKind::Choice, PromptOutcome::Passed),
            (PromptKind::Restraint, PromptOutcome::UnneededCall),
        ] {
            report.record(&PromptResult {
                mode: ToolUse::Native,
                kind,
                prompt: "Hello".into(),
                outcome,
                is_first_call_right: outcome == PromptOutcome::Passed,
                is_answer_right: outcome == PromptOutcome::Passed,
                duration_ms: 1_500,
            });
        }
        let message = "no such thing".to_owned();
        report.abandon(
            ToolUse::Text,
            ErrorDetail::from(OtherError::Other { message }),
        );
        let expected = "
              native          text
choice        1/1    1.5 s    -
arguments     -               -
several calls -               -
two steps     -               -
restraint     0/1    1.5 s    -
Chinese       -               -
first calls   1/2             -
answers       1/2             -
score         1/2    1.5 s    -
text: not possible. no such thing";
        assert_eq!(render(&report), expected.trim_start_matches('\n'));
    }
}
