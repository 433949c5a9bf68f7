//! Tools that are a program: arguments as JSON on standard input, a result on standard output,
//! progress on standard error.

use serde_json::Value;
use tenon_domain::{ErrorKind, ToolError};
use tenon_sandbox::{Error as SandboxError, RunEnd, SandboxOutput};
use tenon_text as text;
use tenon_tools::ProgressUpdate;

use super::SkillCall;
use super::call_error::SkillCallError;
use super::environment::{self, WorkFolder};
use super::reply::SkillReply;

/// What a model is told of standard error.
const SAID_CHARS: usize = 4000;

/// What a program reads.
pub(super) enum ProgramInput<'a> {
    Json(&'a Value),
    Text(&'a str),
}

/// Runs the command of a tool.
pub(super) async fn run(
    call: &SkillCall<'_>,
    words: &[String],
    input: &Value,
) -> Result<SkillReply, ToolError> {
    let words: Vec<String> = words
        .iter()
        .map(|word| environment::resolved(call.revision, word))
        .collect();
    run_words(call, &words, ProgramInput::Json(input)).await
}

pub(super) async fn run_words(
    call: &SkillCall<'_>,
    words: &[String],
    input: ProgramInput<'_>,
) -> Result<SkillReply, ToolError> {
    require_values(call)?;
    let Some((program, arguments)) = words.split_first() else {
        return Err(ToolError::failed("The command is empty."));
    };
    let work = WorkFolder::of(call).await?;
    let command = environment::command(call.revision, (program, arguments), work.path());
    let input = match input {
        ProgramInput::Json(value) => value.to_string(),
        ProgramInput::Text(text) => text.to_owned(),
    };
    let _slot = call.host().programs.take(&call.context.user).await;
    let mut lines = 0_u32;
    let on_line = |line: &str| {
        lines += 1;
        if let Some(update) = progress(line, lines) {
            call.context.progress(update);
        }
    };
    let output = call.host().sandbox.run(&command, input.as_bytes(), on_line);
    let output = work.within_quota(call, output).await?;
    let output = output.map_err(sandbox_error)?;
    finish(output, command.limits.wall_clock.as_secs())
}

/// Refuses a call that has not all the values that it needs.
pub(super) fn require_values(call: &SkillCall<'_>) -> Result<(), ToolError> {
    let values = &call.revision.values.variables;
    let declared = &call.revision.package.permissions.variables;
    let missing = declared
        .iter()
        .find(|variable| variable.is_required && !values.contains_key(&variable.name));
    match missing {
        None => Ok(()),
        Some(variable) => Err(ToolError::coded(
            ErrorKind::Unavailable,
            SkillCallError::MissingValue {
                name: call.skill.info.title.as_str().into(),
                variable: variable.name.as_str().into(),
            },
        )),
    }
}

/// `{"progress": 3, "total": 10, "message": "…"}`, or a line of text.
fn progress(line: &str, number: u32) -> Option<ProgressUpdate> {
    let line = line.trim();
    if line.is_empty() {
        return None;
    }
    let parsed: Option<Value> = serde_json::from_str(line).ok();
    let field = |name: &str| parsed.as_ref()?.get(name).cloned();
    let told = field("progress").and_then(|value| value.as_f64());
    let message = match (&told, field("message")) {
        (_, Some(Value::String(message))) => Some(message),
        (Some(_), _) => None,
        (None, _) => Some(line.to_owned()),
    };
    Some(ProgressUpdate {
        progress: told.unwrap_or_else(|| f64::from(number)),
        total: field("total").and_then(|value| value.as_f64()),
        message: message.map(|message| text::line(&message, 500)),
    })
}

fn finish(output: SandboxOutput, seconds: u64) -> Result<SkillReply, ToolError> {
    let said = || tail(&output.stderr, &output.stdout).into();
    let error = match output.end {
        RunEnd::Exited(0) => return Ok(SkillReply::of_output(&output.stdout)),
        RunEnd::Exited(code) => SkillCallError::Exited { code, said: said() },
        RunEnd::Signaled(signal) => SkillCallError::Signaled {
            signal,
            said: said(),
        },
        RunEnd::TimedOut => {
            let error = SkillCallError::TimedOut { seconds };
            return Err(ToolError::coded(ErrorKind::TimedOut, error));
        }
        RunEnd::CpuLimit => SkillCallError::CpuLimit,
        RunEnd::OutputLimit => SkillCallError::OutputLimit,
    };
    Err(ToolError::coded(ErrorKind::Failed, error))
}

/// The last of what it said: on standard error, or where it said nothing there, on standard output.
pub(super) fn tail(stderr: &[u8], stdout: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let text = match text.trim() {
        "" => String::from_utf8_lossy(stdout),
        _ => text,
    };
    let text = text.trim();
    let excess = text.chars().count().saturating_sub(SAID_CHARS);
    text.chars().skip(excess).collect()
}

pub(super) fn sandbox_error(error: SandboxError) -> ToolError {
    let error = match error {
        SandboxError::ProgramNotFound(program) | SandboxError::NotExecutable(program) => {
            let program = program.into();
            SkillCallError::NoProgram { program }
        }
        SandboxError::Unsupported
        | SandboxError::Helper(_)
        | SandboxError::NoAnswer
        | SandboxError::Setup { .. } => {
            let cause = std::error::Error::source(&error).map(|cause| format!(" ({cause})"));
            let why = format!("{error}{}", cause.unwrap_or_default()).into();
            SkillCallError::Sandbox { why }
        }
    };
    ToolError::coded(ErrorKind::Failed, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_standard_error_is_progress() {
        let check = |line: &str, expected: Option<(f64, Option<f64>, Option<&str>)>| {
            let found = progress(line, 7).map(|of| (of.progress, of.total, of.message));
            let expected = expected.map(|(at, total, said)| (at, total, said.map(str::to_owned)));
            assert_eq!(found, expected, "{line}");
        };
        check("  ", None);
        check("page 3 of 10", Some((7.0, None, Some("page 3 of 10"))));
        check(
            r#"{"progress": 3, "total": 10, "message": "page"}"#,
            Some((3.0, Some(10.0), Some("page"))),
        );
        check(r#"{"progress": 0.5}"#, Some((0.5, None, None)));
    }

    #[test]
    fn the_end_of_what_it_said_is_told() {
        assert_eq!(tail(b" no such city \n", b"x"), "no such city");
        assert_eq!(tail(b"\n", b"only here"), "only here");
        assert_eq!(tail("错".repeat(5000).as_bytes(), b""), "错".repeat(4000));
    }
}
