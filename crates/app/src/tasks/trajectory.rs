//! The trajectory of a task: its report, and all that was said, as a client of the OpenAI API would
//! send it.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use tenon_domain::{Message, ToolSpec};
use tenon_llm::remote::openai::transcript;

use super::TaskError;
use super::report::TaskReport;

pub(super) const FILE: &str = "trajectory.json";

#[derive(Serialize)]
struct Trajectory<'a> {
    #[serde(flatten)]
    report: &'a TaskReport,
    #[serde(flatten)]
    transcript: Value,
}

/// Writes it into a folder: whole, or not at all.
pub(super) fn write(
    folder: &Path,
    report: &TaskReport,
    (system, messages, tools): (&str, &[Message], &[Arc<ToolSpec>]),
) -> Result<(), TaskError> {
    let trajectory = Trajectory {
        report,
        transcript: transcript(system, messages, tools),
    };
    write_json(&folder.join(FILE), &trajectory)
}

pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), TaskError> {
    let failed = || TaskError::io(format!("{} cannot be written", path.display()));
    let mut text = serde_json::to_vec_pretty(value)
        .map_err(std::io::Error::other)
        .map_err(failed())?;
    text.push(b'\n');
    let partial = path.with_extension("part");
    let written = std::fs::File::create(&partial).and_then(|mut file| {
        file.write_all(&text)?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    });
    written.map_err(failed())
}
