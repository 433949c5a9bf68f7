//! The text of PDF and office documents, read by a process of our own behind walls.

use std::path::PathBuf;
use std::time::Duration;

use tenon_documents::{DocumentKind, DocumentText, HELPER_ARGUMENT, parse_answer};
use tenon_sandbox::{RunEnd, Sandbox, SandboxCommand, SandboxLimits};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::AttachmentError;

const TIMEOUT: Duration = Duration::from_secs(30);

/// A document of the size that can be attached, unpacked, and what its reader makes of it.
const MEMORY_BYTES: u64 = 1024 * 1024 * 1024;

/// Of the text, as JSON.
const OUTPUT_BYTES: usize = 8 * 1024 * 1024;

/// How long a document waits for those before it, each of which may take its whole time.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(60);

/// At once: each may take a core and its share of memory.
const MAX_READERS: usize = 2;

#[derive(Debug)]
pub(super) struct DocumentReader {
    sandbox: Sandbox,
    /// Tenon itself.
    program: PathBuf,
    readers: Semaphore,
}

impl DocumentReader {
    pub(super) fn new(sandbox: Sandbox, program: PathBuf) -> Self {
        Self {
            sandbox,
            program,
            readers: Semaphore::new(MAX_READERS),
        }
    }

    pub(super) async fn read(
        &self,
        kind: DocumentKind,
        document: &[u8],
        max_chars: usize,
    ) -> Result<DocumentText, AttachmentError> {
        let permit = timeout(QUEUE_TIMEOUT, self.readers.acquire()).await;
        // The semaphore itself is never closed.
        let _permit = permit.map_err(|_elapsed| AttachmentError::Busy)?;
        let folder = tempfile::tempdir().map_err(|error| reader_error(&error))?;
        let mut command = SandboxCommand::new(self.program.to_string_lossy(), folder.path());
        command.args = [HELPER_ARGUMENT, kind.as_str(), &max_chars.to_string()]
            .map(str::to_owned)
            .into();
        command
            .read_dirs
            .extend(self.program.parent().map(Into::into));
        command.limits = SandboxLimits {
            wall_clock: TIMEOUT,
            cpu: TIMEOUT,
            memory: MEMORY_BYTES,
            processes: 8,
            output: OUTPUT_BYTES,
            ..SandboxLimits::default()
        };
        let output = self.sandbox.run(&command, document, |_| {}).await;
        let output = output.map_err(|error| reader_error(&error))?;
        match output.end {
            RunEnd::TimedOut | RunEnd::CpuLimit => Err(AttachmentError::TooSlow {
                seconds: TIMEOUT.as_secs(),
            }),
            RunEnd::Exited(_) | RunEnd::Signaled(_) | RunEnd::OutputLimit => {
                Ok(parse_answer(&output.stdout)?)
            }
        }
    }
}

fn reader_error(error: &dyn std::error::Error) -> AttachmentError {
    let why = error.to_string();
    tracing::warn!(%why, "a document cannot be read");
    AttachmentError::Reader { why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_document_does_not_wait_for_ever_for_those_before_it() {
        let reader = DocumentReader::new(Sandbox::with_helper("none"), "none".into());
        let _others = reader.readers.acquire_many(MAX_READERS as u32).await;
        let read = reader.read(DocumentKind::Pdf, b"%PDF-", 10).await;
        assert!(matches!(read, Err(AttachmentError::Busy)), "{read:?}");
    }
}
