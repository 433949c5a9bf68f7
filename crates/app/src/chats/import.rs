//! Importing an exported chat: everything in the file is validated, and becomes the events that
//! would have happened had the chat taken place here. Approvals are not imported: here nobody was
//! asked.

use std::collections::{HashMap, HashSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tenon_agent::TurnFault;
use tenon_domain::text::shorten;
use tenon_domain::{
    Branch, CallId, CallRecord, CallStatus, ChatId, Content, EntryPoint, EventBody, FileId,
    MessageId, MessageRecord, Part, Role, SHOWN_PAGE, TitledBy, ToolCall, ToolError, ToolOutput,
    TurnId, TurnOutcome, Verdict, tool_id,
};
use tenon_net::json_weight::parsed_bytes;
use tenon_store::{FileContent, NewChat, NewChatState, fresh_id};

use crate::files::checked;

use super::export::{
    ExportedChat, ExportedFile, ExportedMessage, ExportedTurn, FORMAT, VERSION,
    without_provider_parts,
};
use super::exported_settings::ExportedSettings;
use super::import_error::ImportError;

/// A title is a line, whoever wrote it.
pub const MAX_TITLE_CHARS: usize = 200;

/// How many messages and calls one chat may bring. Each is a row or two, written while others wait.
const MAX_PIECES: usize = 10_000;

/// What is imported at most: the longest body that one user may send. The files that a chat is
/// exported with take 27 MiB of it as Base64.
pub const MAX_IMPORT_BYTES: usize = 48 * 1024 * 1024;

/// How much memory a file may take once it is read. Small values take up to a hundred times
/// their text: so many of them would not fit.
const MAX_PARSED_BYTES: usize = 80 * 1024 * 1024;

/// What a file says it is, before the rest of it is looked at.
#[derive(Deserialize)]
struct ExportHeader {
    #[serde(default)]
    format: String,
    #[serde(default)]
    version: u32,
}

/// The events so far, and the fresh ids of what the file names.
struct ChatImport {
    chat: ChatId,
    now: i64,
    /// Time of the newest event so far; later events get at least this time.
    at: i64,
    turns: HashMap<TurnId, TurnId>,
    files: HashMap<FileId, FileId>,
    messages: HashSet<MessageId>,
    calls: HashSet<CallId>,
    happened: Vec<(i64, EventBody)>,
}

/// The chat in a file, and what is set for it.
pub fn read(file: &[u8], now: i64) -> Result<(NewChat, ExportedSettings), ImportError> {
    if parsed_bytes(file) > MAX_PARSED_BYTES {
        return Err(ImportError::TooManyValues);
    }
    let envelope: ExportHeader = serde_json::from_slice(file)?;
    if envelope.format != FORMAT {
        let format = FORMAT.to_owned();
        return Err(ImportError::NotExported { format });
    }
    if envelope.version != VERSION {
        return Err(ImportError::Version {
            version: envelope.version.into(),
            known: VERSION.into(),
        });
    }
    let mut chat: ExportedChat = serde_json::from_slice(file)?;
    let settings = chat.settings.take().unwrap_or_default();
    settings.check()?;
    let import = ChatImport {
        chat: ChatId(fresh_id()),
        now,
        at: 0,
        turns: HashMap::new(),
        files: HashMap::new(),
        messages: HashSet::new(),
        calls: HashSet::new(),
        happened: Vec::new(),
    };
    Ok((import.chat(chat)?, settings))
}

impl ChatImport {
    fn chat(mut self, chat: ExportedChat) -> Result<NewChat, ImportError> {
        let messages = chat.turns.iter().flat_map(|turn| &turn.messages);
        let pieces: usize = messages.map(|message| 1 + message.tool_calls.len()).sum();
        if pieces > MAX_PIECES {
            return Err(ImportError::TooManyPieces {
                count: pieces,
                max: MAX_PIECES,
            });
        }
        let created_at = self.time(chat.created_at);
        self.advance_clock(created_at);
        let files = self.files(chat.files)?;
        for turn in chat.turns {
            self.turn(turn)?;
        }
        if let Some(head) = chat.head {
            let turn_id = self.known(&head)?;
            self.push(EventBody::BranchChosen { turn_id });
        }
        let title = shorten(chat.title.trim(), MAX_TITLE_CHARS).into_owned();
        if !title.is_empty() {
            let by = TitledBy::Person;
            self.push(EventBody::ChatTitled { title, by });
        }
        Ok(NewChat {
            id: self.chat,
            created_at,
            happened: self.happened,
            files,
            state: NewChatState::default(),
        })
    }

    /// The files that come along, under fresh ids.
    fn files(&mut self, files: Vec<ExportedFile>) -> Result<Vec<FileContent>, ImportError> {
        let mut contents = Vec::with_capacity(files.len());
        for exported in files {
            let mut file = exported.file;
            let data = STANDARD.decode(&exported.data);
            let data = data.map_err(|_| ImportError::File {
                name: file.name.clone(),
            })?;
            let fresh = FileId(fresh_id());
            let former = std::mem::replace(&mut file.id, fresh.clone());
            if self.files.insert(former.clone(), fresh).is_some() {
                return Err(ImportError::SameFile { id: former.0 });
            }
            contents.push(FileContent {
                file: checked(file, &data),
                data,
                text: exported.text,
            });
        }
        Ok(contents)
    }

    fn turn(&mut self, turn: ExportedTurn) -> Result<(), ImportError> {
        let after = turn.parent.as_ref().map(|parent| self.known(parent));
        let branch = Some(Branch {
            after: after.transpose()?,
        });
        let turn_id = TurnId(fresh_id());
        let exported_id = turn.id.clone();
        if self.turns.insert(turn.id, turn_id.clone()).is_some() {
            return Err(ImportError::SameTurn { id: exported_id.0 });
        }
        let mut messages = turn.messages.into_iter();
        let question = messages.next().filter(|first| first.role == Role::User);
        let Some(question) = question else {
            return Err(ImportError::NoQuestion {
                turn: exported_id.0,
            });
        };
        let is_said =
            |part: &Part| matches!(part, Part::Text { .. } | Part::Image(_) | Part::File { .. });
        if !question.tool_calls.is_empty() || !question.parts.iter().all(is_said) {
            return Err(ImportError::PersonCallsTool {
                turn: exported_id.0,
            });
        }
        let message = self.message(&turn_id, question)?.0;
        self.push(EventBody::TurnStarted {
            turn_id: turn_id.clone(),
            message,
            branch,
            tools: None,
            door: EntryPoint::Page,
            model: turn.model,
        });
        for message in messages {
            if message.role != Role::Assistant {
                return Err(ImportError::PersonSpeaksTwice {
                    turn: exported_id.0,
                });
            }
            self.answer(&turn_id, message)?;
        }
        self.push(EventBody::TurnFinished {
            turn_id,
            outcome: turn
                .outcome
                .unwrap_or_else(|| TurnOutcome::Interrupted(TurnFault::Exported.into())),
            usage: turn.usage,
            cost: turn.cost,
        });
        Ok(())
    }

    fn answer(&mut self, turn: &TurnId, message: ExportedMessage) -> Result<(), ImportError> {
        let (record, calls) = self.message(turn, message)?;
        let (message_id, parts) = (record.id.clone(), record.parts.clone());
        let message = MessageRecord {
            parts: Vec::new(),
            ..record
        };
        self.push(EventBody::MessageStarted { message });
        self.push(EventBody::MessageFinished { message_id, parts });
        for call in calls {
            self.call(call);
        }
        Ok(())
    }

    /// A message and its calls under fresh ids.
    fn message(
        &mut self,
        turn: &TurnId,
        message: ExportedMessage,
    ) -> Result<(MessageRecord, Vec<CallRecord>), ImportError> {
        if !self.messages.insert(message.id.clone()) {
            return Err(ImportError::SameMessage { id: message.id.0 });
        }
        let created_at = self.time(message.created_at);
        self.advance_clock(created_at);
        let id = MessageId(fresh_id());
        let mut fresh: HashMap<CallId, CallId> = HashMap::new();
        let mut calls = message.tool_calls;
        for call in &mut calls {
            if !self.calls.insert(call.id.clone()) {
                let id = call.id.0.clone();
                return Err(ImportError::SameCall { id });
            }
            if call.message_id != message.id {
                let id = call.id.0.clone();
                return Err(ImportError::ForeignCall { id });
            }
            let exported_id = std::mem::replace(&mut call.id, CallId(fresh_id()));
            fresh.insert(exported_id, call.id.clone());
            call.message_id = id.clone();
            call.tool_id = tool_id::sanitise(call.tool_id.as_str());
        }
        let mut parts = without_provider_parts(message.parts);
        for part in &mut parts {
            if let Part::File { file } = part {
                let fresh = self.files.get(&file.id).cloned();
                file.id = fresh.unwrap_or_else(|| FileId(fresh_id()));
            }
            let Part::Call { call, .. } = part else {
                continue;
            };
            // Each call is spoken of once, and none that is not told of.
            let known = fresh.remove(&call.id);
            *call = ToolCall {
                id: known.ok_or_else(|| ImportError::UnknownCall {
                    id: call.id.0.clone(),
                })?,
                tool_id: tool_id::sanitise(call.tool_id.as_str()),
                input: call.input.take(),
            };
        }
        if let Some(call) = fresh.keys().next() {
            let id = call.0.clone();
            return Err(ImportError::CallWithoutPart { id });
        }
        let record = MessageRecord {
            id,
            chat_id: self.chat.clone(),
            turn_id: turn.clone(),
            role: message.role,
            parts,
            created_at,
        };
        Ok((record, calls))
    }

    fn call(&mut self, call: CallRecord) {
        let call_id = call.id.clone();
        self.push(EventBody::CallRequested {
            call: CallRecord::requested(
                ToolCall {
                    id: call.id.clone(),
                    tool_id: call.tool_id.clone(),
                    input: call.input.clone(),
                },
                call.message_id.clone(),
                call.display_name.clone(),
                call.runs_on,
            ),
        });
        if call.verdict.is_none_or(Verdict::allows) {
            self.push(EventBody::CallStarted {
                call_id: call_id.clone(),
            });
        }
        let (status, output, error) = match call.status {
            open if open.is_open() => (CallStatus::Lost, None, Some(ToolError::lost())),
            ended => (ended, call.output.map(without_blobs), call.error),
        };
        self.push(EventBody::CallFinished {
            call_id,
            status,
            output,
            error,
            duration_ms: call.duration_ms.unwrap_or(0),
        });
    }

    fn known(&self, turn: &TurnId) -> Result<TurnId, ImportError> {
        let known = self.turns.get(turn).cloned();
        known.ok_or_else(|| ImportError::UnknownTurn { id: turn.0.clone() })
    }

    /// Clamps a timestamp of the file between the epoch and now.
    fn time(&self, exported_at: i64) -> i64 {
        exported_at.clamp(0, self.now)
    }

    fn advance_clock(&mut self, at: i64) {
        self.at = self.at.max(at);
    }

    fn push(&mut self, body: EventBody) {
        self.happened.push((self.at, body));
    }
}

/// Stored blobs are not part of an export, so references to them are dropped.
fn without_blobs(output: ToolOutput) -> ToolOutput {
    let content = output.content.into_iter().map(|content| match content {
        Content::Blob {
            media_type, bytes, ..
        } => Content::Text {
            text: if media_type == SHOWN_PAGE {
format!(
                    "[The page of {bytes} bytes that was shown here did not come along with this chat]"
                )
            } else {
format!("[{bytes} bytes of {media_type} did not come along with this chat]")
            },
        },
        other => other,
    });
    ToolOutput {
        content: content.collect(),
    }
}
