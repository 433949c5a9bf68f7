//! A decoder around another one that reads calls out of its text.

use std::sync::Arc;

use serde_json::json;
use tenon_net::sse::SseEvent;

use super::callable_tools::CallableTools;
use super::reader::{TextCallReader, TextPiece};
use crate::remote::compiled_tool::CompiledTool;
use crate::remote::provider_error::ProviderError;
use crate::remote::stop_deltas::StopDeltas;
use crate::remote::{Decode, Remote};
use crate::{CallFragment, ModelDelta};

pub(crate) struct TextCallDecoder<D> {
    inner: D,
    remote: Remote,
    reader: TextCallReader,
    calls: usize,
    /// What the inner decoder said, and what the reader made of it.
    heard: Vec<ModelDelta>,
    pieces: Vec<TextPiece>,
}

impl<D: Decode> TextCallDecoder<D> {
    pub(crate) fn new(inner: D, remote: &Remote, tools: &[Arc<CompiledTool>]) -> Self {
        Self {
            inner,
            remote: remote.clone(),
            reader: TextCallReader::new(CallableTools::new(tools)),
            calls: 0,
            heard: Vec::new(),
            pieces: Vec::new(),
        }
    }

    fn forward(&mut self, out: &mut Vec<ModelDelta>) {
        for delta in std::mem::take(&mut self.heard) {
            match delta {
                ModelDelta::Text(text) => {
                    self.reader.push(&text, &mut self.pieces);
                    self.forward_pieces(out);
                }
                delta @ (ModelDelta::Thinking(_) | ModelDelta::Call(_) | ModelDelta::Opaque(_)) => {
                    // Another part begins: the text before it is over.
                    self.finish_text(out);
                    out.push(delta);
                }
                other => out.push(other),
            }
        }
    }

    fn finish_text(&mut self, out: &mut Vec<ModelDelta>) {
        self.reader.finish(&mut self.pieces);
        self.forward_pieces(out);
    }

    fn forward_pieces(&mut self, out: &mut Vec<ModelDelta>) {
        for piece in self.pieces.drain(..) {
            out.push(match piece {
                TextPiece::Text(text) => ModelDelta::Text(text),
                TextPiece::Call { call, raw } => {
                    self.calls += 1;
                    ModelDelta::Call(CallFragment {
                        id: Some(format!("text_{}", self.calls)),
                        name: Some(call.tool),
                        arguments: call.arguments.to_string(),
                        provider_block: Some(self.remote.provider_block(json!({ "text": raw }))),
                        ..CallFragment::default()
                    })
                }
            });
        }
    }
}

/// Whether this call was read from the text.
pub(crate) fn is_text_call(fragment: &CallFragment) -> bool {
    let block = fragment.provider_block.as_ref();
    block.is_some_and(|block| block.block.get("text").is_some())
}

impl<D: Decode> Decode for TextCallDecoder<D> {
    fn event(&mut self, event: &SseEvent, out: &mut Vec<ModelDelta>) -> Result<(), ProviderError> {
        let heard = self.inner.event(event, &mut self.heard);
        self.forward(out);
        heard
    }

    fn end(&mut self, out: &mut Vec<ModelDelta>) {
        self.inner.end(&mut self.heard);
        let mut stop = StopDeltas::take(&mut self.heard);
        self.forward(out);
        self.finish_text(out);
        if self.calls > 0 {
            stop.await_results();
        }
        out.extend(stop.0);
    }

    fn is_done(&self) -> bool {
        self.inner.is_done()
    }
}
