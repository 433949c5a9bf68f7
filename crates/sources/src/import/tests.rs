use std::fmt::Write;

use proptest::prelude::*;
use tenon_domain::McpConfig;

use super::*;

mod apis;

/// One line for a server, and one for each note.
fn told(text: &str, file: Option<&str>) -> String {
    let reading = match read(text, file) {
        Ok(reading) => reading,
        Err(error) => return format!("! {error}"),
    };
    let mut told = String::new();
    for server in &reading.servers {
        let _ = write!(told, "{}: ", server.name);
        match &server.config {
            Err(error) => told.push_str(&error.to_string()),
            Ok(config) => told.push_str(&describe(config)),
        }
        if !server.enabled {
            told.push_str(" (off)");
        }
        told.push('\n');
        for note in &server.notes {
            let _ = writeln!(told, "  - {note}");
        }
    }
    for note in &reading.notes {
        let _ = writeln!(told, "- {note}");
    }
    told.trim_end().to_owned()
}

fn describe(config: &SourceConfig) -> String {
    match config {
        SourceConfig::Mcp(config) => describe_mcp(config),
        SourceConfig::Openapi(config) => describe_api(config),
    }
}

fn describe_api(config: &OpenapiConfig) -> String {
    let mut told = match &config.origin {
        OpenapiOrigin::Url { url } => format!("api {url}"),
        OpenapiOrigin::Uploaded { document_hash } => format!("api #{}", &document_hash[..6]),
    };
    for (name, value) in &config.headers {
        let _ = write!(told, " {name}={value}");
    }
    if let Some(base) = &config.base_url {
        let _ = write!(told, " → {base}");
    }
    told
}

fn describe_mcp(config: &McpConfig) -> String {
    let texts = |texts: &std::collections::BTreeMap<String, String>| {
        let texts = texts.iter().map(|(name, text)| format!(" {name}={text}"));
        texts.collect::<String>()
    };
    let mut told = match &config.transport {
        McpTransport::Stdio {
            command,
            args,
            env,
            cwd,
        } => {
            let cwd = cwd.as_ref().map(|cwd| format!(" in {cwd}"));
            let cwd = cwd.unwrap_or_default();
            format!("{command} {args:?}{}{cwd}", texts(env))
        }
        McpTransport::Http { url, headers } => format!("http {url}{}", texts(headers)),
        McpTransport::Sse { url, headers } => format!("sse {url}{}", texts(headers)),
    };
    if let Some(client) = &config.client {
        let secret = client.secret.as_deref().unwrap_or("no secret");
        let _ = write!(told, " as {} with {secret}", client.id);
    }
    if let Some(timeout) = config.timeout_ms {
        let _ = write!(told, " within {timeout} ms");
    }
    told
}

fn check(text: &str, expected: &str) {
    assert_eq!(told(text, None), expected, "\n{text}");
}

#[test]
fn claude_desktop() {
    check(
        r#"{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/username/Desktop", "/Users/username/Downloads"]
    },
    "github": {
      "command": "docker",
      "args": ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "<YOUR_TOKEN>" }
    }
  },
  "globalShortcut": "Ctrl+Space"
}"#,
        r#"filesystem: npx ["-y", "@modelcontextprotocol/server-filesystem", "/Users/username/Desktop", "/Users/username/Downloads"]
github: docker ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"] GITHUB_PERSONAL_ACCESS_TOKEN=<YOUR_TOKEN>"#,
    );
}

#[test]
fn a_client_that_is_registered_where_people_log_in() {
    check(
        r#"{"mcpServers": {
          "claude-code": {"type": "http", "url": "https://a.example/mcp", "oauth": {"clientId": "tenon", "callbackPort": 8080}},
          "cursor": {"url": "https://b.example/mcp", "auth": {"CLIENT_ID": "id", "CLIENT_SECRET": "${env:SECRET}", "scopes": ["read"]}}
        }}"#,
        "claude-code: http https://a.example/mcp as tenon with no secret\n\
         cursor: http https://b.example/mcp as id with ${env:SECRET}",
    );
}

#[test]
fn claude_desktop_on_windows() {
    check(
        r#"{"mcpServers": {
          "memory": {"command": "cmd", "args": ["/c", "npx", "-y", "@modelcontextprotocol/server-memory"]},
          "time": {"command": "uvx.exe", "args": ["mcp-server-time"]},
          "own": {"command": "C:\\Program Files\\nodejs\\node.exe", "args": ["C:\\mcp\\index.js"]}
        }}"#,
        r#"memory: npx ["-y", "@modelcontextprotocol/server-memory"]
  - The Windows wrapper `cmd /c` was removed.
time: uvx ["mcp-server-time"]
  - The Windows wrapper `cmd /c` was removed.
own: C:\Program Files\nodejs\node.exe ["C:\\mcp\\index.js"]"#,
    );
}

#[test]
fn claude_code() {
    check(
        r#"{"mcpServers": {
          "api-server": {
            "type": "http",
            "url": "${API_BASE_URL:-https://api.example.com}/mcp",
            "headers": {"Authorization": "Bearer ${API_KEY}"}
          },
          "asana": {"type": "sse", "url": "https://mcp.asana.com/sse"},
          "db": {"type": "stdio", "command": "npx", "args": [], "env": {}, "timeout": 600000}
        }}"#,
        r#"api-server: http ${API_BASE_URL:-https://api.example.com}/mcp Authorization=Bearer ${API_KEY}
asana: sse https://mcp.asana.com/sse
db: npx [] within 600000 ms"#,
    );
}

#[test]
fn cursor_and_windsurf() {
    check(
        r#"{"mcpServers": {
          "figma": {"url": "http://127.0.0.1:3845/mcp"},
          "mongodb": {"command": "npx", "args": ["-y", "mongodb-mcp-server"], "env": {"MDB_MCP_CONNECTION_STRING": "${env:MONGO}", "PORT": 3000, "DEBUG": true, "NONE": null}, "envFile": ".env"}
        }}"#,
        r#"figma: http http://127.0.0.1:3845/mcp
mongodb: npx ["-y", "mongodb-mcp-server"] DEBUG=true MDB_MCP_CONNECTION_STRING=${env:MONGO} PORT=3000
  - Not imported: `envFile`."#,
    );
    check(
        r#"{"mcpServers": {
          "remote-http-mcp": {"serverUrl": "https://your-server-url/mcp", "headers": {"API_KEY": "Bearer ${env:AUTH_TOKEN}"}, "disabled": true, "disabledTools": ["x"]}
        }}"#,
        r#"remote-http-mcp: http https://your-server-url/mcp API_KEY=Bearer ${env:AUTH_TOKEN} (off)
  - Not imported: `disabledTools`."#,
    );
}

#[test]
fn cline() {
    check(
        r#"{"mcpServers": {"weather": {"autoApprove": ["get"], "disabled": false, "timeout": 60, "command": "node", "args": ["/path/build/index.js"], "transportType": "stdio"}}}"#,
        "weather: node [\"/path/build/index.js\"] within 60000 ms\n  - Not imported: `autoApprove`.",
    );
}

#[test]
fn mcpo() {
    check(
        r#"{
  "mcpServers": {
    "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] },
    "time": { "command": "uvx", "args": ["mcp-server-time", "--local-timezone=America/New_York"], "disabledTools": ["convert_time"] },
    "mcp_sse": { "type": "sse", "url": "http://127.0.0.1:8001/sse", "headers": { "Authorization": "Bearer token", "X-Client-Id": "value" } },
    "mcp_streamable_http": { "type": "streamable-http", "url": "http://127.0.0.1:8002/mcp" }
  }
}"#,
        r#"memory: npx ["-y", "@modelcontextprotocol/server-memory"]
time: uvx ["mcp-server-time", "--local-timezone=America/New_York"]
  - Not imported: `disabledTools`.
mcp_sse: sse http://127.0.0.1:8001/sse Authorization=Bearer token X-Client-Id=value
mcp_streamable_http: http http://127.0.0.1:8002/mcp"#,
    );
}

#[test]
fn vs_code() {
    check(
        r#"{
  // 💡 Inputs are prompted on first server start.
  "inputs": [
    { "type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true },
    { "type": "pickString", "id": "level", "options": ["a", "b"], "default": "a" },
  ],
  "servers": {
    /* https://github.com/ppl-ai/modelcontextprotocol/ */
    "Perplexity": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "server-perplexity-ask", "--level=${input:level}", "${userHome}/x//y"],
      "env": { "PERPLEXITY_API_KEY": "${input:perplexity-key}" }, // the key
    },
    "GitHub MCP": { "type": "http", "url": "https://api.githubcopilot.com/mcp/", "gallery": true },
  },
}"#,
        r#"Perplexity: npx ["-y", "server-perplexity-ask", "--level=${input.level:-a}", "${HOME}/x//y"] PERPLEXITY_API_KEY=${input:perplexity-key}
  - `${input:perplexity-key}` is: Perplexity API Key
GitHub-MCP: http https://api.githubcopilot.com/mcp/
  - “GitHub MCP” is called `GitHub-MCP` here: a name has up to 40 letters, digits, `-` and `_`."#,
    );
    check(
        r#"{"editor.fontSize": 12, "mcp": {"inputs": [], "servers": {"fetch": {"command": "uvx", "args": ["mcp-server-fetch"]}}}}"#,
        r#"fetch: uvx ["mcp-server-fetch"]"#,
    );
}

#[test]
fn toolathlon() {
    check(
        r#"# ours, in their format
type: stdio
name: notes
params:
  command: npx
  args: ["-y", "@example/notes-mcp", "--root", "${agent_workspace}"]
  env:
    NOTES_TOKEN: "${token.notes_key}"
    SETTINGS: '{"key": "${config.key}", "on": true}'
    VERBOSE: yes
    PORT: 8080
  cwd: "${agent_workspace}"
client_session_timeout_seconds: 100
cache_tools_list: true
"#,
        r#"notes: npx ["-y", "@example/notes-mcp", "--root", "${agent_workspace}"] NOTES_TOKEN=${token.notes_key} PORT=8080 SETTINGS={"key": "${config.key}", "on": true} VERBOSE=yes in ${agent_workspace} within 100000 ms"#,
    );
    check(
        "type: SSE\nname: far\nparams:\n  url: https://example.org/sse\n  headers: {Authorization: 'Bearer ${token.far}'}\n  timeout: 5000\n",
        "far: sse https://example.org/sse Authorization=Bearer ${token.far} within 3600000 ms",
    );
    let unnamed =
        "params:\n  command: ${local_binary_paths}/github-mcp-server\n  args:\n    - stdio\n";
    assert_eq!(
        told(unnamed, Some("npx-fetch")),
        "npx-fetch: ${local_binary_paths}/github-mcp-server [\"stdio\"]"
    );
    check(
        "type: websocket\nparams: {command: x}\n",
        "server: Its transport “websocket” is not one of stdio, http and sse.",
    );
    check(
        "params: {command: a}\nname: one\n---\nparams: {command: b}\nname: one\n",
        "one: a []\none-2: b []\n  - Another server is called `one` too; this one is `one-2`.",
    );
}

#[test]
fn other_yaml() {
    check(
        "mcpServers:\n  memory:\n    command: npx\n    args: [-y, x]\n",
        r#"memory: npx ["-y", "x"]"#,
    );
    check(
        "{'mcpServers': {'memory': {'command': 'npx'}}}",
        "memory: npx []",
    );
    check(
        "mcpServers:\n  - name: Memory\n    command: npx\n",
        "Memory: npx []",
    );
}

#[test]
fn what_people_paste() {
    check(
        r#"{"memory": {"command": "npx", "args": []}}"#,
        "memory: npx []",
    );
    check(
        r#"{"$schema": "x", "memory": {"command": "npx"}, "no": {}}"#,
        "memory: npx []\nno: It has neither a `command` nor a `url`.",
    );
    check(
        r#"{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory@1.2"]}"#,
        r#"memory: npx ["-y", "@modelcontextprotocol/server-memory@1.2"]"#,
    );
    check(
        r#"{"url": "https://mcp.example.org/mcp?key=1"}"#,
        "mcp-example-org: http https://mcp.example.org/mcp?key=1\n  - “mcp.example.org” is called `mcp-example-org` here: a name has up to 40 letters, digits, `-` and `_`.",
    );
    let mended = "- The outermost braces did not match; they were corrected.";
    check(
        r#""memory": {"command": "npx"}"#,
        &format!("memory: npx []\n{mended}"),
    );
    check(
        r#"  "memory": {"command": "npx"}, "time": {"command": "uvx"},  "#,
        &format!("memory: npx []\ntime: uvx []\n{mended}"),
    );
    check(
        r#""mcpServers": {"memory": {"command": "npx"}}}"#,
        &format!("memory: npx []\n{mended}"),
    );
    check(
        r#"{"mcpServers": {"memory": {"command": "npx"}}"#,
        &format!("memory: npx []\n{mended}"),
    );
    check(
        r#"{"memory": {"command": "npx"}}}},"#,
        &format!("memory: npx []\n{mended}"),
    );
    check(r#"{"memory": {"command": "npx"},}"#, "memory: npx []");
    check(
        "\u{feff}{\"memory\": {\"command\": \"npx\"}}",
        "memory: npx []",
    );
    check(
        r#"[{"name": "a b", "command": ["npx", "-y", "x"]}]"#,
        "a-b: npx [\"-y\", \"x\"]\n  - “a b” is called `a-b` here: a name has up to 40 letters, digits, `-` and `_`.",
    );
    check(
        r#"{"mcp": {"x": {"type": "local", "command": ["bun", "x"], "environment": {"A": "b"}, "enabled": false}}}"#,
        "x: bun [\"x\"] A=b (off)",
    );
    check(
        r#"{"mcpServers": {"x": {"command": "npx -y thing"}}}"#,
        "x: npx [\"-y\", \"thing\"]\n  - The command was a whole line; it was split into a command and arguments.",
    );
    check(
        r#"{"mcpServers": {"x": {"command": "/My Apps/server"}}}"#,
        "x: /My Apps/server []",
    );
}

#[test]
fn a_line_is_read_as_a_shell_reads_it() {
    check(
        r#"{"mcpServers": {
          "a": {"command": "npx", "args": "-y some-server --dir 'a b'"},
          "b": {"command": "node", "args": "server.js"},
          "c": {"command": "node", "args": ""},
          "d": {"command": "node", "args": "--name \"${NAME:-Ada L}\" ${X:-a b} --at C\\:x"},
          "e": {"command": "node", "args": ["one line 'stays'"]},
          "f": {"command": "node", "args": 3000}
        }}"#,
        r#"a: npx ["-y", "some-server", "--dir", "a b"]
b: node ["server.js"]
c: node []
d: node ["--name", "${NAME:-Ada L}", "${X:-a b}", "--at", "C:x"]
e: node ["one line 'stays'"]
f: node ["3000"]"#,
    );
    let note = "\n  - The command was a whole line; it was split into a command and arguments.";
    check(
        r#"{"mcpServers": {
          "a": {"command": "npx -y foo", "args": ["bar"]},
          "b": {"command": "npx -y foo", "args": "bar 'b c'"},
          "c": {"command": "uvx --from 'a b' thing ${KEY}"},
          "d": {"command": "/usr/bin/node /opt/x.js"},
          "e": {"command": "'/My Apps/server' --fast"}
        }}"#,
        &format!(
            r#"a: npx ["-y", "foo", "bar"]{note}
b: npx ["-y", "foo", "bar", "b c"]{note}
c: uvx ["--from", "a b", "thing", "${{KEY}}"]{note}
d: /usr/bin/node ["/opt/x.js"]{note}
e: /My Apps/server ["--fast"]{note}"#
        ),
    );
    check(
        r#"{"mcpServers": {
          "a": {"command": "npx", "args": "-y 'foo"},
          "b": {"command": "npx -y \"foo"},
          "c": {"command": "C:\\My Apps\\server.exe"}
        }}"#,
        "a: Its `args` has a quote that is not closed, or a backslash at the end. Write it as a list, \
one text for each argument.
b: Its `command` has a quote that is not closed, or a backslash at the end. Write it as a list, \
one text for each argument.
c: C:\\My Apps\\server.exe []",
    );
}

#[test]
fn one_bad_server_does_not_spoil_the_others() {
    check(
        r#"{"mcpServers": {
          "a": 1,
          "b": {"command": ""},
          "c": {"command": {"path": "x"}},
          "d": {"url": "localhost:3000"},
          "e": {"url": "file:///etc/passwd"},
          "f": {"url": "https://x.org", "headers": {"a b": "c"}},
          "g": {"url": "https://x.org", "headers": {"a": "c\r\nd: e"}},
          "h": {"command": "x", "env": {"A=B": "c"}},
          "i": {"command": "x", "env": ["A=B"]},
          "j": {"command": "x\u0000"},
          "k": {"command": "x", "args": [{}]},
          "l": {"type": "http", "command": "x"},
          "m": {"type": "stdio", "url": "https://x.org"},
          "n": {"command": "x", "url": "https://x.org", "timeout": -1},
          "高德地图": {"command": "npx", "args": ["-y", "@amap/amap-maps-mcp-server"]},
          "": {"command": "x"},
          "A": {"command": "x"}
        }}"#,
        "a: It is not an object with a `command` or a `url`.
b: Its `command` is empty.
c: Its `command` contains something that is not text.
d: Its `url` is not an address that begins with http:// or https://.
e: Its `url` is not an address that begins with http:// or https://.
f: `a b` cannot be the name of a header. Write letters, digits and dashes.
g: The value of the header a contains characters that are not allowed in headers.
h: `A=B` cannot be the name of an environment variable.
i: Its `env` is not an object whose values are text.
j: Its `command` contains a character that is not allowed.
k: Its `args` contains something that is not text.
l: It has no `url`.
m: It has no `command`.
n: x []
  - It has a command and a url; the command is used.
  - Its timeout is not a valid time and was left out.
amap-maps-mcp-server: npx [\"-y\", \"@amap/amap-maps-mcp-server\"]
  - “高德地图” is called `amap-maps-mcp-server` here: a name has up to 40 letters, digits, `-` and `_`.
x: x []
A-2: x []
  - Another server is called `A` too; this one is `A-2`.",
    );
}

#[test]
fn a_mistake_is_told_with_its_place() {
    check("", "! It is empty.");
    check(" // only a comment\n", "! It is empty.");
    check(
        "{\n  \"mcpServers\": {\n    \"a\": {\"command\" \"npx\"}\n  }\n}",
        "! Line 3, column 21: expected `:`.",
    );
    check(
        "{\"a\": {\"command\": \"npx\", \"args\": [\"-y\", \"x\"",
        "! Line 1, column 43: EOF while parsing a list.",
    );
    check(
        "{\"a\": {\"command\": \"np",
        "! Line 1, column 21: EOF while parsing a string.",
    );
    check(
        "a: b: c\n",
        "! Line 1, column 5: mapping values are not allowed in this context.",
    );
    check("hello", &format!("! {}", ConfigReadError::NoServers));
    check("{\"a\": 1}", &format!("! {}", ConfigReadError::NoServers));
    check("{\"mcpServers\": {}}", "- The list of servers is empty.");
    check(
        &" ".repeat(MAX_TEXT_BYTES + 1),
        "! It is too long: at most 1024 KB are read, and 32 MB of an OpenAPI document.",
    );
}

#[test]
fn bombs_do_not_go_off() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = vec![format!("*a{}", level - 1); 10].join(", ");
        let _ = writeln!(bomb, "a{level}: &a{level} [{before}]");
    }
    assert!(matches!(
        read(&bomb, None),
        Err(ConfigReadError::Syntax { .. })
    ));
    for deep in [
        "[".repeat(100_000),
        "{\"a\":".repeat(100_000),
        "- ".repeat(100_000),
    ] {
        assert!(matches!(
            read(&deep, None),
            Err(ConfigReadError::Syntax { .. })
        ));
    }
    let many: Vec<String> = (0..600)
        .map(|n| format!("\"s{n}\": {{\"command\": \"x\"}}"))
        .collect();
    let reading = read(&format!("{{{}}}", many.join(",")), None).unwrap();
    assert_eq!(reading.servers.len(), MAX_SERVERS);
    let first = ImportNote::FirstServers { max: MAX_SERVERS };
    assert_eq!(reading.notes, [first.into()]);
}

#[test]
fn names_become_part_of_an_id() {
    let check = |written: &str, expected: &str| assert_eq!(clean(written), expected);
    check("memory", "memory");
    check(
        "@modelcontextprotocol/server-github",
        "modelcontextprotocol-server-github",
    );
    check("io.github.a/b c", "io-github-a-b-c");
    check("../../etc", "etc");
    check("My Server (beta)", "My-Server-beta");
    check("ä", "");
    check(&"x".repeat(300), &"x".repeat(MAX_NAME_BYTES));
}

#[test]
fn a_summary_hides_what_addresses_hide() {
    let check = |text: &str, expected: &str| {
        let reading = read(text, None).unwrap();
        let config = reading.servers[0].config.as_ref().unwrap();
        assert_eq!(summary(config), expected);
    };
    check(
        r#"{"url": "https://me:pw@example.org/mcp?key=s3cret#x"}"#,
        "https://example.org/mcp",
    );
    check(r#"{"url": "${BASE}/mcp?key=s3cret"}"#, "${BASE}/mcp");
    check(
        r#"{"command": "npx", "args": ["-y", "a\nb"]}"#,
        "npx -y a b",
    );
}

/// JSON that is nearly a configuration.
fn nearly() -> impl Strategy<Value = serde_json::Value> {
    let key = prop_oneof![
        "mcpServers|servers|mcp|tool_servers|connections|openapi|swagger|spec|spec_type|auth_type|key|path|info|config|inputs|params|command|args|env|url|headers|type|timeout|name|disabled|id|default",
        r"\PC{0,6}",
    ];
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        r"npx|cmd|/c|sse|http|https://x\.org|\$\{input:a\}|.exe|\PC{0,8}".prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|pairs| serde_json::Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn holds(text: &str) {
    let Ok(reading) = read(text, None) else {
        return;
    };
    let mut names = std::collections::HashSet::new();
    for server in &reading.servers {
        assert!(is_clean(&server.name), "{}", server.name);
        assert!(names.insert(server.name.to_ascii_lowercase()));
        if let Ok(config) = &server.config {
            assert!(summary(config).chars().count() <= MAX_SUMMARY_CHARS + 1);
        }
    }
}

proptest! {
    #[test]
    fn no_json_is_too_strange(value in nearly(), cut in 0.0..1.0_f64) {
        let text = value.to_string();
        holds(&text);
        // Half of it as well.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "some place in the text")]
        let at = (text.len() as f64 * cut) as usize;
        holds(&text[..text.floor_char_boundary(at)]);
    }

    #[test]
    fn no_text_is_too_strange(text in r#"([{}\[\],:"'#&*/\\\n -]|//|/\*|\*/|mcpServers|command|<<|---|\PC){0,60}"#) {
        holds(&text);
    }
}
