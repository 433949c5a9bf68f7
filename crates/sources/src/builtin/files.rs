//! Files in the folder a call may work in, and nowhere else.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tenon_domain::{Annotations, ToolDefinition, ToolError, ToolOutput, ToolResult};
use tenon_tools::{CallContext, Quota, Relevance};

use self::path::FilePath;
use self::workspace::Workspace;
use super::blocking::blocking;
use super::matcher::CaseInsensitiveMatcher;
use super::{AnyTool, BuiltinTool, READS_ONLY};

mod page;
mod path;
mod search;
mod workspace;

/// A model never writes more in one go.
const MAX_WRITE_BYTES: usize = 5 * 1024 * 1024;

/// A screenful of screens. What does not fit in the context goes to the shelf anyway.
const DEFAULT_LINES: u64 = 2000;

pub(super) fn tools(quota: Arc<Quota>) -> Vec<Box<dyn AnyTool>> {
    vec![
        Box::new(ListFiles),
        Box::new(ReadFile),
        Box::new(WriteFile { quota }),
        Box::new(SearchFiles),
    ]
}

fn path_schema(what: &str, examples: Value) -> Value {
    json!({
        "type": "string",
        "description": format!("{what}, relative to the workspace, with `/` between folders."),
        "examples": examples,
    })
}

struct ListFiles;

#[derive(Deserialize)]
struct ListFilesInput {
    #[serde(default)]
    path: String,
}

#[async_trait]
impl BuiltinTool for ListFiles {
    type Input = ListFilesInput;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "list_files".into(),
            title: Some("List files".into()),
            description: "Lists the files and folders in a folder of the workspace, with sizes."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": path_schema("The folder; left out, the workspace itself", json!(["src", "notes/2026"])),
                },
                "additionalProperties": false,
            }).into(),
            annotations: READS_ONLY,
        }
    }

    fn keywords(&self) -> &'static str {
        "列出文件, 文件列表, 目录, 檔案列表, 資料夾"
    }

    async fn run(&self, input: ListFilesInput, context: &CallContext) -> ToolResult {
        let workspace = Workspace::of(context)?;
        let path = FilePath::read(&input.path)?;
        let listing = blocking(context, move |stop| workspace.list(&path, stop)).await?;
        Ok(ToolOutput::text(listing))
    }
}

struct ReadFile;

#[derive(Deserialize)]
struct ReadFileInput {
    path: String,
    offset: Option<u64>,
    limit: Option<u64>,
}

#[async_trait]
impl BuiltinTool for ReadFile {
    type Input = ReadFileInput;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "read_file".into(),
            title: Some("Read file".into()),
            description: "Reads a text file in the workspace, whole or some of its lines."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": path_schema("The file", json!(["notes.md", "src/main.rs"])),
                    "offset": {
                        "type": "integer",
                        "description": "The first line to read, counted from 1.",
                        "minimum": 1,
                        "examples": [1, 2001],
                    },
                    "limit": {
                        "type": "integer",
                        "description": format!("How many lines to read; left out, {DEFAULT_LINES}."),
                        "minimum": 1,
                        "examples": [100],
                    },
                },
                "required": ["path"],
                "additionalProperties": false,
            }).into(),
            annotations: READS_ONLY,
        }
    }

    fn keywords(&self) -> &'static str {
        "读文件, 读取文件, 打开文件, 查看文件, 讀取檔案"
    }

    async fn run(&self, input: ReadFileInput, context: &CallContext) -> ToolResult {
        let workspace = Workspace::of(context)?;
        let path = FilePath::read(&input.path)?;
        let first = input.offset.unwrap_or(1);
        let limit = input.limit.unwrap_or(DEFAULT_LINES);
        blocking(context, move |stop| {
            let file = workspace.open(&path)?;
            page::read(file, first, limit, stop).map(|page| page.into_output())
        })
        .await
    }
}

struct WriteFile {
    quota: Arc<Quota>,
}

#[derive(Deserialize)]
struct WriteFileInput {
    path: String,
    content: String,
    #[serde(default)]
    append: bool,
}

#[async_trait]
impl BuiltinTool for WriteFile {
    type Input = WriteFileInput;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "write_file".into(),
            title: Some("Write file".into()),
            description: "Writes a text file in the workspace, making folders as needed; what was \
                          in the file is replaced unless `append` is true."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": path_schema("The file", json!(["notes.md", "reports/november.csv"])),
                    "content": {
                        "type": "string",
                        "description": "The text to write, exactly as it shall stand in the file.",
                        "examples": ["# To do\n\n- buy milk\n"],
                    },
                    "append": {
                        "type": "boolean",
                        "description": "Add to the end of the file instead of replacing it.",
                        "examples": [true],
                    },
                },
                "required": ["path", "content"],
                "additionalProperties": false,
            })
            .into(),
            annotations: Annotations {
                destructive: true,
                ..Annotations::default()
            },
        }
    }

    fn keywords(&self) -> &'static str {
        "写文件, 写入, 保存, 创建文件, 寫入檔案, 儲存"
    }

    async fn run(&self, input: WriteFileInput, context: &CallContext) -> ToolResult {
        let workspace = Workspace::of(context)?;
        let path = FilePath::read(&input.path)?;
        let WriteFileInput {
            content, append, ..
        } = input;
        if content.len() > MAX_WRITE_BYTES {
            return Err(ToolError::invalid_input(format!(
                "The content is {} bytes long; {MAX_WRITE_BYTES} is the most. Write it in parts, with `append`.",
                content.len()
            )));
        }
        let room = workspace.reserve(&self.quota, context, &path, content.len());
        let room = room.await?;
        blocking(context, move |stop| {
            let _room = room;
            stop.check()?;
            let bytes = content.len();
            let shown = path.to_string();
            if append {
                workspace.append(&path, content.as_bytes())?;
                return Ok(ToolOutput::text(format!("Added {bytes} bytes to {shown}.")));
            }
            workspace.write(&path, content.as_bytes())?;
            Ok(ToolOutput::text(format!("Wrote {bytes} bytes to {shown}.")))
        })
        .await
    }
}

struct SearchFiles;

#[derive(Deserialize)]
struct SearchFilesInput {
    query: String,
    #[serde(default)]
    path: String,
}

#[async_trait]
impl BuiltinTool for SearchFiles {
    type Input = SearchFilesInput;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "search_files".into(),
            title: Some("Search files".into()),
            description: "Finds the lines of text files in the workspace that contain a text, \
                          whatever its case."
                .into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "The text to look for: plain text on one line, not a pattern.",
                        "minLength": 1,
                        "maxLength": 1000,
                        "examples": ["milk"],
                    },
                    "path": path_schema("The file or folder to look in; left out, all of the workspace", json!(["notes"])),
                },
                "required": ["query"],
                "additionalProperties": false,
            }).into(),
            annotations: READS_ONLY,
        }
    }

    fn keywords(&self) -> &'static str {
        "find, grep, contain, contains, mention, mentions, 搜索文件, 查找, 全文搜索, 哪个文件, 提到, \
         包含, 搜尋檔案, 哪個檔案"
    }

    fn relevance(&self) -> Relevance {
        Relevance::OnDemand
    }

    async fn run(&self, input: SearchFilesInput, context: &CallContext) -> ToolResult {
        let workspace = Workspace::of(context)?;
        let path = FilePath::read(&input.path)?;
        let needle = CaseInsensitiveMatcher::new(&input.query).ok_or_else(|| {
            ToolError::invalid_input("`query` is empty: name the text to look for.")
        })?;
        let found = blocking(context, move |stop| {
            search::search(&workspace, &path, &needle, stop)
        })
        .await?;
        Ok(ToolOutput::text(found))
    }
}
