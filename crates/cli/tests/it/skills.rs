//! Installed skills, with real Python and Node in the real sandbox: from a folder to the answer of
//! a call, and all that must not get through.

mod archives;
mod calls;
mod command;
mod doors;
mod escapes;
mod foreign;
mod limits;
mod modules;
mod offline_packages;
mod packages;
mod requests;
mod rights;
mod updates;
mod values;

use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_domain::{Message, StopReason};
use tenon_llm::{CallFragment, ModelDelta, ModelRequest, ModelStream, Provider};
use tokio::sync::Notify;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::people::Person;
use crate::program::Served;
use crate::server::{Server, TEST_TIMEOUT};

/// The smallest skill with a tool, as the documents have it.
pub const WORD_COUNT: &str = "---
name: word-count
description: Counts words.
version: 1.0.0
tools:
  - name: count
    description: Count the words of a text.
    type: script
    command: python3 main.py
    parameters: {type: object, properties: {text: {type: string}}, required: [text]}
---
Use count to count words.
";

pub const WORD_COUNT_CODE: &str = "import json, sys
text = json.load(sys.stdin)['text']
print(json.dumps({'words': len(text.split())}))
";

/// What a trial of code tells.
async fn events(server: &Server, body: Value) -> Vec<Value> {
    let request = server.request("POST", "/api/tools/try").json(&body);
    // Packages may have to be installed first.
    let request = request.timeout(Duration::from_secs(120));
    let text = request.send().await.unwrap().text().await.unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut events: Vec<Value> = data
        .map(|event| serde_json::from_str(event.trim()).unwrap())
        .collect();
    for event in &mut events {
        if let Some(event) = event.as_object_mut() {
            event.remove("durationMs");
        }
    }
    events
}

/// The files of a skill that a test writes.
#[derive(Clone)]
pub struct SkillFiles {
    name: String,
    front_matter: String,
    tools: String,
    body: String,
    files: Vec<(String, String)>,
}

impl SkillFiles {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            front_matter: format!("name: {name}\ndescription: About {name}.\n"),
            tools: String::new(),
            body: String::new(),
            files: Vec::new(),
        }
    }

    pub fn word_count() -> Self {
        let mut files = Self::new("word-count");
        files.front_matter = WORD_COUNT.into();
        files.file("main.py", WORD_COUNT_CODE)
    }

    /// A line of its front matter.
    pub fn with(mut self, line: &str) -> Self {
        self.front_matter += &format!("{line}\n");
        self
    }

    pub fn body(mut self, text: &str) -> Self {
        text.clone_into(&mut self.body);
        self
    }

    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// A tool; the rest of it in YAML of one line.
    pub fn tool(mut self, name: &str, rest: &str) -> Self {
        self.tools += &format!("  - {{name: {name}, description: Does {name}., {rest}}}\n");
        self
    }

    /// A tool that is this code, and takes any object.
    pub fn python(self, name: &str, code: &str) -> Self {
        self.python_for(name, "600", code)
    }

    /// One with so many seconds.
    pub fn python_for(self, name: &str, timeout: &str, code: &str) -> Self {
        let file = format!("{name}.py");
        let command = format!(
            "type: script, timeout: {timeout}, command: python3 {file}, parameters: {{type: object}}"
        );
        self.tool(name, &command).file(&file, code)
    }

    pub fn node(self, name: &str, code: &str) -> Self {
        let file = format!("{name}.mjs");
        let command = format!("type: script, command: node {file}, parameters: {{type: object}}");
        self.tool(name, &command).file(&file, code)
    }

    fn manifest(&self) -> String {
        if self.front_matter.starts_with("---") {
            return self.front_matter.clone();
        }
        let tools = match self.tools.as_str() {
            "" => String::new(),
            tools => format!("tools:\n{tools}"),
        };
        format!("---\n{}{tools}---\n{}", self.front_matter, self.body)
    }

    fn all(&self) -> Vec<(String, String)> {
        let manifest = ("SKILL.md".to_owned(), self.manifest());
        let files = self.files.iter().cloned();
        [manifest].into_iter().chain(files).collect()
    }

    /// A folder with them.
    pub fn folder(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        self.write_to(&folder);
        folder
    }

    pub fn write_to(&self, folder: &TempDir) {
        for (path, text) in self.all() {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    /// The same as the page uploads it.
    pub fn upload(&self) -> Value {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for (path, text) in self.all() {
            let path = format!("{}/{path}", self.name);
            let options = SimpleFileOptions::default();
            archive.start_file(path, options).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        uploaded("skill.zip", &archive.finish().unwrap().into_inner())
    }
}

pub fn uploaded(name: &str, bytes: &[u8]) -> Value {
    json!({"fileName": name, "content": STANDARD.encode(bytes)})
}

/// Somebody who asks the server for something.
pub trait Asks {
    async fn ask_for(&self, method: &str, path: &str, body: Value) -> (u16, Value);

    /// Installs a skill for everybody, or for themself where they may do no more.
    async fn install(&self, skill: &SkillFiles) -> Value {
        let (status, installed) = self.ask_for("POST", "/api/skills", skill.upload()).await;
        assert_eq!(status, 201, "{installed}");
        installed[0].clone()
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let path = format!("/api/tools/{tool}/call");
        let body = json!({"arguments": arguments});
        let (status, answer) = self.ask_for("POST", &path, body).await;
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// What a tool gave, where it gave something.
    async fn result(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments).await;
        assert_eq!(answer["structured"]["success"], true, "{answer}");
        answer["structured"]["data"].clone()
    }

    /// Why it gave nothing.
    async fn failure(&self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments).await;
        assert_eq!(answer["ok"], false, "{answer}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    }
}

impl Asks for Server {
    async fn ask_for(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let request = self.request(method, path).json(&body);
        crate::server::answer(request.send().await.unwrap()).await
    }
}

impl Asks for Person<'_> {
    async fn ask_for(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        self.send(method, path, Some(body)).await
    }
}

impl Asks for Served {
    async fn ask_for(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let url = format!("{}{path}", self.address);
        let request = self.client.request(method.parse().unwrap(), url);
        crate::server::answer(request.json(&body).send().await.unwrap()).await
    }
}

/// A model that calls the tools which the user names, one a line, and then says that it is done.
/// Ids of tools are made when a skill is installed, so no script can have them.
#[derive(Debug, Default)]
pub struct ObedientModel {
    /// It says nothing before.
    pub waits_for: Option<Arc<Notify>>,
    requests: Mutex<Vec<ModelRequest>>,
}

impl ObedientModel {
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap().clone()
    }
}

#[async_trait]
impl Provider for ObedientModel {
    fn name(&self) -> &str {
        "Obedient model"
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, tenon_llm::Error> {
        let calls: Vec<String> = match request.messages.last() {
            Some(Message::User { text, .. }) => text.lines().map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        self.requests.lock().unwrap().push(request);
        if let Some(go_on) = &self.waits_for {
            go_on.notified().await;
        }
        let calls = (0..).zip(&calls).map(|(index, tool)| {
            ModelDelta::Call(CallFragment {
                index: Some(index),
                id: Some(format!("call_{index}")),
                name: Some(tool.clone()),
                arguments: "{}".into(),
                provider_block: None,
            })
        });
        let mut said: Vec<ModelDelta> = calls.collect();
        if said.is_empty() {
            said.push(ModelDelta::Text("Done.".into()));
        }
        said.push(ModelDelta::Stop(StopReason::End));
        Ok(futures::stream::iter(said.into_iter().map(Ok)).boxed())
    }
}

/// What the calls gave that a model made last in a chat.
pub fn data_of(messages: &Value) -> Vec<Value> {
    let messages = messages.as_array().unwrap().iter();
    let mut calls = messages.filter_map(|message| message["toolCalls"].as_array());
    let calls = calls.rfind(|calls| !calls.is_empty()).unwrap();
    let data = |call: &Value| call["output"]["content"][0]["value"]["data"].clone();
    calls.iter().map(data).collect()
}

/// The id of one of its tools.
pub fn id_of(skill: &Value, tool: &str) -> String {
    let mut tools = skill["tools"].as_array().unwrap().iter();
    let found = tools.find(|of| of["name"] == tool);
    let found = found.unwrap_or_else(|| panic!("no {tool} in {skill:#}"));
    found["toolId"].as_str().unwrap().to_owned()
}

pub fn path_of(skill: &Value) -> String {
    format!("/api/skills/{}", skill["id"].as_str().unwrap())
}

/// Returns when a program has made this file.
pub async fn until_there(path: &Path) {
    let there = async {
        while !path.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(TEST_TIMEOUT, there).await.unwrap();
}
