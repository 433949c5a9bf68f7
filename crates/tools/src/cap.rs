//! Caps the output of a call.
//!
//! What is too long goes to the [`OutputStore`] as a whole. Its beginning stays, with a note on
//! how to read on. Files go there whatever their length.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tenon_domain::{BlobId, Content, ToolError, ToolOutput, ToolResult};

use crate::call_error::CallError;
use crate::output_store::{OutputReaders, OutputStore};
use crate::{CallContext, CallLimits, OverQuota};

/// More pictures and files than a model looks at, or a person scrolls through, in one result.
const MAX_ATTACHMENTS: usize = 16;

pub(crate) struct Cap<'a> {
    pub outputs: &'a dyn OutputStore,
    pub limits: CallLimits,
    /// The context of the call; a stored output belongs to its user.
    pub context: &'a CallContext,
    /// Finds the tools that read what is kept, if the caller has any. Asked only for an output that
    /// does not fit.
    pub readers: &'a (dyn Fn() -> Option<OutputReaders> + Sync),
}

impl Cap<'_> {
    pub(crate) async fn apply(&self, result: ToolResult) -> ToolResult {
        let shown = self.limits.shown_bytes;
        match result {
            Ok(output) if fits(&output, shown) => Ok(output),
            // Boxed: most outputs fit.
            Ok(output) => Box::pin(self.shorten(output)).await,
            Err(error) if error.message.len() <= shown => Err(error),
            Err(ToolError { kind, message, .. }) => {
                let (head, bytes) = (head(&message, shown), message.len());
                let message = format!("{head}… [cut: the message was {bytes} bytes long]");
                // Without its parameters, of which one is too long.
                Err(ToolError::new(kind, message))
            }
        }
    }

    /// Text that fits stays where it is. From the first that does not fit on,
    /// all text is one piece: thousands of parts must not become thousands of blobs.
    async fn shorten(&self, output: ToolOutput) -> ToolResult {
        let (mut room, mut image_room) = (self.limits.shown_bytes, self.limits.image_bytes);
        let (mut content, mut rest, mut pieces) = (Vec::new(), Vec::new(), 0);
        let mut left = 0;
        for part in output.content {
            match part {
                Content::Text { .. } | Content::Json { .. } => {
                    let fits = rest.is_empty() && part_size(&part) <= room;
                    if fits {
                        room -= part_size(&part);
                        content.push(part);
                    } else {
                        rest.push(part);
                    }
                }
                Content::Image { .. } | Content::File { .. } if pieces == MAX_ATTACHMENTS => {
                    left += 1
                }
                // An image is whole or nothing; half of one is no image.
                Content::Image { media_type, data } if data.len() <= image_room => {
                    pieces += 1;
                    image_room -= data.len();
                    content.push(Content::Image { media_type, data });
                }
                Content::Image { media_type, data } => {
                    pieces += 1;
                    content.push(self.file(media_type, None, &data).await?);
                }
                Content::File {
                    media_type,
                    name,
                    data,
                } => {
                    pieces += 1;
                    content.push(self.file(media_type, name, &data).await?);
                }
                Content::Blob { .. } => content.push(part),
            }
        }
        if left > 0 {
            let text = format!("[{left} more images and files were left out.]");
            content.push(Content::Text { text });
        }
        if !rest.is_empty() {
            content.extend(self.page(rest, room).await?);
        }
        Ok(ToolOutput { content })
    }

    /// The beginning of a text, how to read on, and where the whole of it is.
    async fn page(&self, parts: Vec<Content>, room: usize) -> Result<[Content; 2], ToolError> {
        let media_type = match parts[..] {
            [Content::Json { .. }] => "application/json",
            _ => "text/plain",
        };
        let texts: Vec<String> = parts.into_iter().map(whole).collect();
        let whole = texts.join("\n");
        let mut text = head(&whole, room).to_owned();
        let (shown, total) = (text.len(), whole.len());
        let kept = self
            .keep(media_type.into(), None, whole.into_bytes())
            .await?;
        if let Content::Blob { blob_id, .. } = &kept {
            text.push_str(&self.note(blob_id, shown, total));
        }
        Ok([Content::Text { text }, kept])
    }

    fn note(&self, blob: &BlobId, shown: usize, total: usize) -> String {
        let how = match (self.readers)() {
            Some(OutputReaders {
                read,
                search,
                id_field,
            }) => format!(
                " Read on with {read} or search in it with {search}, {id_field} \"{blob}\"."
            ),
            None => String::new(),
        };
        format!("\n[The output is {total} bytes long; these are the first {shown}.{how}]")
    }

    async fn file(
        &self,
        media_type: String,
        name: Option<String>,
        data: &str,
    ) -> Result<Content, ToolError> {
        match STANDARD.decode(data) {
            Ok(bytes) => self.keep(media_type, name, bytes).await,
            Err(_) => Ok(Content::Text {
                text: format!("[a file of {media_type} whose bytes are no base64]"),
            }),
        }
    }

    async fn keep(
        &self,
        media_type: String,
        name: Option<String>,
        whole: Vec<u8>,
    ) -> Result<Content, ToolError> {
        let bytes = whole.len() as u64;
        match self.outputs.put(self.context, &media_type, whole).await {
            Ok(blob_id) => Ok(Content::Blob {
                blob_id,
                media_type,
                name,
                bytes,
            }),
            Err(error) => {
                let Some(&why) = error.0.downcast_ref::<OverQuota>() else {
                    tracing::error!(%error, "an output that is too long could not be kept");
                    return Err(CallError::OutputNotKept { bytes }.into());
                };
                Err(CallError::OutputOverQuota { bytes, why }.into())
            }
        }
    }
}

fn fits(output: &ToolOutput, shown: usize) -> bool {
    let is_file = |part: &Content| matches!(part, Content::File { .. });
    let size: usize = output.content.iter().map(part_size).sum();
    size <= shown && !output.content.iter().any(is_file)
}

pub(crate) fn part_size(part: &Content) -> usize {
    match part {
        Content::Text { text } => text.len(),
        Content::Json { value } => json_size(value),
        Content::Image { data, .. } | Content::File { data, .. } => data.len(),
        Content::Blob { .. } => 0,
    }
}

/// The length of the value as JSON, computed without writing it.
fn json_size(value: &Value) -> usize {
    let mut counted = ByteCounter(0);
    match serde_json::to_writer(&mut counted, value) {
        Ok(()) => counted.0,
        Err(_) => usize::MAX,
    }
}

struct ByteCounter(usize);

impl std::io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn whole(part: Content) -> String {
    match part {
        Content::Text { text } => text,
        // Indented, so that paging and searching by line make sense.
        Content::Json { value } => format!("{value:#}"),
        other => other.to_text(),
    }
}

/// The total beginning that is at most `bytes` long and ends between two characters.
fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_store::OUTPUT_READERS;
    use crate::{CallOrigin, CallTimer, MemoryOutputStore, NoClient};
    use serde_json::json;
    use std::sync::Arc;
    use tenon_domain::{CallId, UserId};
    use tokio_util::sync::CancellationToken;

    const LIMITS: CallLimits = CallLimits {
        idle_timeout: std::time::Duration::ZERO,
        total_timeout: std::time::Duration::ZERO,
        shown_bytes: 10,
        image_bytes: 10,
    };

    async fn capped(content: Vec<Content>) -> (Vec<Content>, MemoryOutputStore) {
        let outputs = MemoryOutputStore::default();
        let context = CallContext {
            call_id: CallId::new("c"),
            origin: CallOrigin::default(),
            user: UserId::new("ada"),
            workspace: None,
            cancel: CancellationToken::new(),
            client: Arc::new(NoClient),
            timer: CallTimer::default(),
        };
        let cap = Cap {
            outputs: &outputs,
            limits: LIMITS,
            context: &context,
            readers: &|| OUTPUT_READERS.into_iter().next(),
        };
        let output = Ok(ToolOutput { content });
        let output = cap.apply(output).await.unwrap();
        (output.content, outputs)
    }

    fn text(text: &str) -> Content {
        Content::Text { text: text.into() }
    }

    fn image(data: &str) -> Content {
        Content::Image {
            media_type: "image/png".into(),
            data: data.into(),
        }
    }

    #[tokio::test]
    async fn what_fits_is_left_alone() {
        let content = vec![text("12345"), image("1234")];
        assert_eq!(capped(content.clone()).await.0, content);
    }

    #[tokio::test]
    async fn many_parts_become_one_blob() {
        let (content, outputs) = capped(vec![
            text("1234567"),
            text("字字"),
            Content::Json { value: json!(1) },
        ])
        .await;
        assert_eq!(content.len(), 3, "{content:?}");
        assert_eq!(content[0], text("1234567"));
        let Content::Text { text: shown } = &content[1] else {
            panic!("{content:?}")
        };
        assert!(
            shown.starts_with("字\n[The output is 8 bytes long; these are the first 3."),
            "{shown}"
        );
        let blob = BlobId::new("blob-0");
        let whole = outputs
            .get(&UserId::new("ada"), &blob)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(whole, "字字\n1".as_bytes());
        assert_eq!(
            content[2],
            Content::Blob {
                name: None,
                blob_id: blob,
                media_type: "text/plain".into(),
                bytes: 8
            }
        );
    }

    #[tokio::test]
    async fn images_are_whole_or_put_aside() {
        let (content, _) = capped(vec![image("1234567890"), image("aGk="), text("after")]).await;
        assert_eq!(content[0], image("1234567890"));
        assert!(matches!(content[1], Content::Blob { bytes: 2, .. }));
        assert_eq!(content[2], text("after"));
        let (content, _) = capped(vec![image("12"); 40]).await;
        assert_eq!(content.len(), MAX_ATTACHMENTS + 1);
        assert_eq!(
            content[MAX_ATTACHMENTS],
            text("[24 more images and files were left out.]")
        );
    }

    #[tokio::test]
    async fn a_file_is_put_aside_however_short() {
        let file = |data: &str| Content::File {
            media_type: "audio/wav".into(),
            name: Some("a.wav".into()),
            data: data.into(),
        };
        let (content, outputs) = capped(vec![file("aGk="), file("no base64")]).await;
        let blob = BlobId::new("blob-0");
        let kept = outputs.get(&UserId::new("ada"), &blob).await.unwrap();
        assert_eq!(kept.unwrap(), b"hi");
        let expected = Content::Blob {
            blob_id: blob,
            media_type: "audio/wav".into(),
            name: Some("a.wav".into()),
            bytes: 2,
        };
        assert_eq!(content[0], expected);
        assert_eq!(
            content[1],
            text("[a file of audio/wav whose bytes are no base64]")
        );
    }
}
