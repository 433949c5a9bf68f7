//! Runs Python that a model wrote, in a process of its own.
//!
//! The process gets the work folder, an environment without secrets, and limits of time, memory and
//! output. It is no sandbox: it has the rights of whoever started Tenon, which is why its calls need
//! approval.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use tenon_domain::{Annotations, ErrorKind, ToolDefinition, ToolError, ToolOutput, ToolResult};
use tenon_mcp::{Program, SpawnedProcess};
use tenon_tools::CallContext;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::builtin::{BuiltinTool, READS_ONLY};

const DEFAULT_TIMEOUT_SECONDS: u64 = 30;
const MAX_TIMEOUT_SECONDS: u64 = 120;

/// The longest run, and time to start and to end it.
const DEADLINE: Duration = Duration::from_secs(MAX_TIMEOUT_SECONDS + 15);

const MAX_CODE_BYTES: usize = 1024 * 1024;

/// Limit of stdout and of stderr. The rest is read and dropped, so that the program does not block
/// on a full pipe.
const MAX_OUTPUT_BYTES: u64 = 256 * 1024;

/// Address space and the size of a file, in KiB: room for numpy and large tables.
const MAX_MEMORY_KIB: u64 = 2 * 1024 * 1024;
const MAX_FILE_KIB: u64 = 1024 * 1024;

/// Where the code of calls is written, in the work folder: tracebacks name it.
const CODE_FOLDER: &str = ".python_tmp";

pub(super) struct PythonExecute;

#[derive(Deserialize)]
pub(super) struct PythonInput {
    code: String,
    filename: Option<String>,
    timeout: Option<u64>,
}

#[async_trait]
impl BuiltinTool for PythonExecute {
    type Input = PythonInput;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "python-execute".into(),
            title: Some("Run Python".into()),
            description: "Runs Python code in the work folder and returns what it printed. \
                          Print what you want to see. Nothing but files stays for the next call."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "code": {
                        "type": "string",
                        "description": "The whole program.",
                        "minLength": 1,
                        "maxLength": MAX_CODE_BYTES,
                        "examples": ["print(sum(range(10)))"],
                    },
                    "filename": {
                        "type": "string",
                        "description": "A name for the program, with .py; left out, one is made up.",
                        "maxLength": 100,
                        "examples": ["report.py"],
                    },
                    "timeout": {
                        "type": "integer",
                        "description": format!("How long it may run, in seconds; left out, {DEFAULT_TIMEOUT_SECONDS}."),
                        "minimum": 1,
                        "maximum": MAX_TIMEOUT_SECONDS,
                        "examples": [60],
                    },
                },
                "required": ["code"],
                "additionalProperties": false,
            })
            .into(),
            annotations: Annotations {
                read_only: false,
                destructive: true,
                idempotent: false,
                open_world: true,
                ..READS_ONLY
            },
        }
    }

    fn deadline(&self) -> Option<Duration> {
        Some(DEADLINE)
    }

    async fn run(&self, input: PythonInput, context: &CallContext) -> ToolResult {
        let Some(workspace) = &context.workspace else {
            return Err(ToolError::new(
                ErrorKind::Unavailable,
                "There is no work folder here to run Python in.",
            ));
        };
        let seconds = input.timeout.unwrap_or(DEFAULT_TIMEOUT_SECONDS);
        let timeout = Duration::from_secs(seconds.clamp(1, MAX_TIMEOUT_SECONDS));
        let name = input.filename.as_deref().unwrap_or_default();
        let name = file_name(name, context.call_id.as_str());
        let file = write_code(workspace, &name, &input.code).await?;
        let started = program(workspace, &file).start().await;
        let process = started
            .map_err(|error| ToolError::failed(format!("Python cannot be started: {error}.")))?;
        let result = tokio::time::timeout(timeout, output(process)).await;
        let _ = tokio::fs::remove_file(&file).await;
        // Dropping the process has killed all of it.
        result.unwrap_or_else(|_elapsed| {
            Err(ToolError::new(
                ErrorKind::TimedOut,
                format!("The program was not done after {seconds} s and was stopped. Do less at once, or give a longer `timeout`."),
            ))
        })
    }
}

/// A shell sets the limits and then becomes Python: that needs no code between `fork` and `exec`.
/// A limit that a system does not know is left out.
fn program(workspace: &Path, file: &Path) -> Program {
    let limits = format!(
        "ulimit -v {MAX_MEMORY_KIB} 2>/dev/null; ulimit -f {MAX_FILE_KIB} 2>/dev/null; \
         ulimit -c 0 2>/dev/null; exec python3 -u \"$0\""
    );
    let folder = workspace.to_string_lossy().into_owned();
    Program {
        command: "/bin/sh".into(),
        args: vec!["-c".into(), limits, file.to_string_lossy().into_owned()],
        env: [
            // The program gets no access to the person's settings.
            ("HOME".into(), folder.clone()),
            ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
            ("PYTHONIOENCODING".into(), "utf-8".into()),
        ]
        .into(),
        cwd: Some(folder),
    }
}

async fn output(process: SpawnedProcess) -> ToolResult {
    let SpawnedProcess {
        process,
        stdin,
        stdout,
        stderr,
    } = process;
    // It can read nothing.
    drop(stdin);
    let (stdout, stderr, status) =
        tokio::join!(read_bounded(stdout), read_bounded(stderr), process.exited());
    let mut shown = stdout;
    if !stderr.is_empty() {
        if !shown.is_empty() && !shown.ends_with('\n') {
            shown.push('\n');
        }
        shown.push_str(&stderr);
    }
    if status.success() {
        if shown.is_empty() {
            shown = "The program printed nothing.".into();
        }
        return Ok(ToolOutput::text(shown));
    }
    let ended = match status.code() {
        Some(code) => format!("exited with {code}"),
        None => "was killed, perhaps by a limit of memory or file size".to_owned(),
    };
    Err(ToolError::failed(format!("The program {ended}.\n{shown}")))
}

/// What a program wrote, up to the limit; the rest is read and counted.
async fn read_bounded(mut from: impl AsyncRead + Unpin) -> String {
    let mut kept = Vec::new();
    // What cannot be read any more has ended.
    let _ = (&mut from)
        .take(MAX_OUTPUT_BYTES)
        .read_to_end(&mut kept)
        .await;
    let dropped = tokio::io::copy(&mut from, &mut tokio::io::sink()).await;
    let mut text = String::from_utf8_lossy(&kept).into_owned();
    if let Ok(dropped @ 1..) = dropped {
        text.push_str(&format!("\n[{dropped} more bytes were left out]\n"));
    }
    text
}

/// One file name, whatever the model wrote.
fn file_name(asked: &str, call: &str) -> String {
    let clean = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
            c
        } else {
            '_'
        }
    };
    let stem = asked.strip_suffix(".py").unwrap_or(asked);
    let stem = if stem.is_empty() { call } else { stem };
    let stem: String = stem.chars().take(80).map(clean).collect();
    format!("{stem}.py")
}

async fn write_code(workspace: &Path, name: &str, code: &str) -> Result<PathBuf, ToolError> {
    let folder = workspace.join(CODE_FOLDER);
    let file = folder.join(name);
    let written = async {
        tokio::fs::create_dir_all(&folder).await?;
        tokio::fs::write(&file, code).await
    };
    match written.await {
        Ok(()) => Ok(file),
        Err(error) => Err(ToolError::failed(format!(
            "The program cannot be written into the work folder: {error}."
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_a_name_inside_its_folder() {
        let check = |asked: &str, expected: &str| assert_eq!(file_name(asked, "c1"), expected);
        check("report.py", "report.py");
        check("", "c1.py");
        check("../../etc/cron.py", "______etc_cron.py");
        check("a/b", "a_b.py");
    }
}
