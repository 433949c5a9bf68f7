//! Front matter and tools: what is read, and what is refused with its line.

use serde_json::{Value, json};
use tenon_skills::diff::{self, ChangeKind, PermissionKind};
use tenon_skills::script::SkillScript;
use tenon_skills::{FileTree, SkillPackage, SkillToolRun};

pub fn tree(files: &[(&str, &str)]) -> FileTree {
    let mut tree = FileTree::default();
    for (path, text) in files {
        tree.insert(path, text.as_bytes().to_vec(), false).unwrap();
    }
    tree
}

fn read(manifest: &str) -> Result<SkillPackage, String> {
    let files = tree(&[("SKILL.md", manifest), ("main.py", "")]);
    SkillPackage::read(&files, None).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(manifest: &str, expected: &str) {
    let error = read(manifest).unwrap_err();
    assert!(
        error.contains(expected),
        "{error}\ndoes not contain\n{expected}"
    );
}

/// A skill with one tool whose lines begin in line 6.
#[track_caller]
fn refused_tool(tool: &str, expected: &str) {
    let lines: String = tool.lines().map(|line| format!("    {line}\n")).collect();
    let manifest = format!("---\nname: a\ndescription: b\ntools:\n  - name: t\n{lines}---\n");
    refused(&manifest, expected);
}

const SCHEMA: &str = "parameters: {type: object, properties: {id: {type: string}}}";

#[test]
fn the_smallest_skill_with_a_tool_is_read_whole() {
    let package = read(
        "---\nname: word-count\ndescription: Counts words.\nversion: 1.10\ntools:\n  - name: count\n    \
         description: Count the words of a text.\n    type: script\n    command: python3 main.py\n    \
         parameters: {type: object, properties: {text: {type: string}}, required: [text]}\n---\nUse count to count words.\n",
    )
    .unwrap();
    assert_eq!(package.name, "word-count");
    assert_eq!(package.version.as_deref(), Some("1.10"));
    assert_eq!(package.body, "Use count to count words.");
    let [tool] = package.tools.as_slice() else {
        panic!("{:?}", package.tools);
    };
    let words = ["python3", "main.py"].map(str::to_owned).to_vec();
    assert_eq!(tool.run, SkillToolRun::Script(SkillScript::Command(words)));
    assert_eq!(tool.parameters["required"], json!(["text"]));
    assert_eq!(package.permissions.commands, ["python3 main.py"]);
    assert!(package.permissions.runs_programs());
}

#[test]
fn published_skills_are_read_as_they_are() {
    let package = read(
        "\u{feff}---\r\nname: SearXNG Search\r\ndescription: Use when: someone asks # or not\r\n\
         allowed-tools: Read, Bash(git diff:*) Write\r\ntools: [Grep]\r\nlicense: MIT\r\nmodel: opus\r\n\
         metadata:\r\n  version: \"2.0\"\r\n  short: x\r\n---\r\n# Body\r\n",
    )
    .unwrap();
    assert_eq!(
        (package.name.as_str(), package.title.as_str()),
        ("searxng-search", "SearXNG Search")
    );
    assert_eq!(package.description, "Use when: someone asks # or not");
    assert_eq!(
        package.allowed_tools,
        ["Read", "Bash(git diff:*)", "Write", "Grep"]
    );
    assert_eq!(package.version.as_deref(), Some("2.0"));
    assert_eq!(
        Value::Object(package.metadata),
        json!({"version": "2.0", "short": "x", "model": "opus"})
    );
    assert_eq!(package.tools, []);
    // The folder and the first paragraph stand in for what is missing.
    let files = tree(&[("skill.md", "---\n---\n# Title\n\nDoes it all.\n")]);
    let package = SkillPackage::read(&files, Some("My Skill")).unwrap();
    assert_eq!(
        (package.name.as_str(), package.description.as_str()),
        ("my-skill", "Does it all.")
    );
}

#[test]
fn tools_can_be_in_a_file_of_their_own_with_their_schema_as_text() {
    let yaml = "tools:\n  - name: a\n    command: [python3, main.py]\n    usage: '{\"properties\": {\"x\": {}}}'\n";
    let json =
        r#"[{"name": "b", "type": "builtin", "tool": "now", "parameters": {"type": "object"}}]"#;
    for (file, text, name) in [("tools.yaml", yaml, "a"), ("tools.json", json, "b")] {
        let files = tree(&[
            ("SKILL.md", "---\nname: x\ndescription: y\n---\n"),
            (file, text),
            ("main.py", ""),
        ]);
        let package = SkillPackage::read(&files, None).unwrap();
        assert_eq!(package.tools[0].name, name);
        assert_eq!(package.tools[0].parameters["type"], "object");
    }
    let both = "---\nname: x\ndescription: y\ntools: []\n---\n";
    let error = SkillPackage::read(&tree(&[("SKILL.md", both), ("tools.yaml", yaml)]), None);
    assert!(
        error
            .unwrap_err()
            .to_string()
            .starts_with("SKILL.md, line 4: Tools are declared here")
    );
    let broken = tree(&[
        ("SKILL.md", "---\nname: x\ndescription: y\n---\n"),
        ("tools.yaml", "- name: a\n  type: [\n"),
    ]);
    let error = SkillPackage::read(&broken, None).unwrap_err();
    assert_eq!(
        (error.file.as_str(), error.line.is_some()),
        ("tools.yaml", true)
    );
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    refused(
        "# No front matter",
        "SKILL.md, line 1: A skill begins with a line `---`",
    );
    refused(
        "---\nname: a\n",
        "SKILL.md, line 1: The front matter has no end",
    );
    refused(
        "---\nname: a\ndescription: b\nx: [1\n---\n",
        "This is not valid YAML",
    );
    refused(
        "---\nname: a\nname: b\ndescription: c\n---\n",
        "SKILL.md, line 3: This is not valid YAML",
    );
    refused(
        "---\n- a\n---\n",
        "SKILL.md, line 2: `front matter` must be",
    );
    refused(
        "---\ndescription: b\n---\n",
        "line 2: `name` is missing: add `name: word-count`",
    );
    refused("---\nname: a\n---\n", "line 2: `description` is missing");
    refused(
        "---\ndescription: b\nname: '!!'\n---\n",
        "line 3: The name `!!` has no letter or digit",
    );
    refused(
        "---\nname: [a]\ndescription: b\n---\n",
        "line 2: `name` must be a text",
    );
    refused(
        "---\nname: a\ndescription: b\nnetwork: often\n---\n",
        "line 4: `network` must be `true` or `false`",
    );
    refused(
        "---\nname: a\ndescription: b\nsecrets:\n  - OK\n  - 1BAD\n---\n",
        "line 6: `1BAD` cannot be the name of a variable",
    );
    refused(
        "---\nname: a\ndescription: b\ntools: {a: 1}\n---\n",
        "`tools` must be a list",
    );
    let bytes = b"---\nname: a\ndescription: \xff\n---\n";
    let mut files = FileTree::default();
    files.insert("SKILL.md", bytes.to_vec(), false).unwrap();
    let error = SkillPackage::read(&files, None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "SKILL.md, line 3: A byte is not UTF-8: save the file as UTF-8."
    );
}

#[test]
fn a_wrong_tool_is_told_with_its_line() {
    refused_tool(
        "command: python3 main.py",
        "line 5: The tool `t` has no schema",
    );
    refused_tool(
        "type: magic\nparameters: {type: object}",
        "line 6: The type of the tool `t` is `magic`",
    );
    refused_tool(
        "type: script\nparameters: {type: object}",
        "line 5: The tool `t` needs `command`",
    );
    refused_tool(
        "command: python3 other.py\nparameters: {type: object}",
        "line 6: The command of the tool `t` cannot be run: the skill has no file `other.py`",
    );
    refused_tool(
        "command: python3 ../x\nparameters: {type: object}",
        "`../x` leads out of the skill",
    );
    refused_tool(
        "command: cat a | sh\nparameters: {type: object}",
        "`|` has a meaning in a shell only",
    );
    refused_tool(
        "command: \"python3 'main\"\nparameters: {type: object}",
        "a quotation mark is not closed",
    );
    refused_tool(
        "module: main.txt\nparameters: {type: object}",
        "the skill has no file `main.txt`",
    );
    refused_tool(
        "command: python3 main.py\nparameters: {type: array}",
        "line 7: The parameters of the tool `t` are no usable JSON Schema: it must describe an object",
    );
    refused_tool(
        "command: python3 main.py\nparameters:\n  type: object\n  properties:\n    a:\n      type: strin",
        "line 11: The parameters",
    );
    refused_tool(
        "command: python3 main.py\nparameters: {type: object, properties: {a: {$ref: '#/nowhere'}}}",
        "no usable JSON Schema",
    );
    refused_tool(
        "command: python3 main.py\nparameters: {type: object}\ntimeout: -1",
        "line 8: `timeout` must be seconds",
    );
    refused_tool(
        &format!("type: http\n{SCHEMA}"),
        "line 5: The tool `t` needs `endpoint`",
    );
    refused_tool(
        &format!("endpoint: api/{{id}}\n{SCHEMA}"),
        "line 6: The endpoint of the tool `t` cannot be used: it must begin with `https://`",
    );
    refused_tool(
        &format!("endpoint: https://{{id}}.example.com\n{SCHEMA}"),
        "`{id}` stands in the host",
    );
    refused_tool(
        &format!("endpoint: https://a:b@example.com\n{SCHEMA}"),
        "a user name or password does not belong into it",
    );
    refused_tool(
        &format!("endpoint: https://example.com/{{nope}}\n{SCHEMA}"),
        "`{nope}` is no parameter of the tool",
    );
    refused_tool(
        &format!("endpoint: https://example.com/{{id\n{SCHEMA}"),
        "a brace is not closed",
    );
    refused_tool(
        &format!("endpoint: https://example.com\nmethod: BREW\n{SCHEMA}"),
        "line 7: `BREW` is no method",
    );
    refused_tool(
        &format!("endpoint: https://example.com\nmapping: {{x: query}}\n{SCHEMA}"),
        "line 7: `x` is mapped, but the tool `t` has no such parameter",
    );
    refused_tool(
        &format!("endpoint: https://example.com\nmapping: {{id: cookie}}\n{SCHEMA}"),
        "line 7: `id` cannot be mapped so",
    );
    refused_tool(
        &format!("endpoint: https://example.com\nheaders: {{Host: x}}\n{SCHEMA}"),
        "the header `Host`: it belongs to the connection",
    );
    refused(
        "---\nname: a\ndescription: b\ntools:\n  - {name: t, tool: now, parameters: {type: object}}\n  - {name: t, tool: now, parameters: {type: object}}\n---\n",
        "line 6: The tool `t` is declared twice, first in line 5",
    );
    refused(
        "---\nname: a\ndescription: b\ntools:\n  - name: web search\n---\n",
        "line 5: `web search` cannot be the name of a tool",
    );
}

#[test]
fn a_small_text_cannot_become_a_huge_value() {
    let mut bomb =
        String::from("---\nname: a\ndescription: b\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let again = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{again}]\n"));
    }
    bomb.push_str("---\n");
    refused(&bomb, "This is not valid YAML");
    refused(
        &format!("---\nname: {}\n---\n", "[".repeat(10_000)),
        "This is not valid YAML",
    );
}

/// Whatever is cut off, the answer is a package or a sentence, never a panic.
#[test]
fn a_manifest_that_is_cut_anywhere_is_read_or_refused() {
    let whole = include_str!("../../../../skills/wikipedia/SKILL.md");
    for end in 0..whole.len() {
        let mut files = FileTree::default();
        files
            .insert("SKILL.md", whole.as_bytes()[..end].to_vec(), false)
            .unwrap();
        match SkillPackage::read(&files, None) {
            Ok(package) => assert_eq!(package.name, "wikipedia"),
            Err(error) => assert!(error.to_string().ends_with('.'), "{error}"),
        }
    }
}

#[test]
fn variables_and_requirements_are_collected_from_where_they_stand() {
    let manifest = "---\nname: a\ndescription: b\nenv: {BASE_URL: Where it is., MODE: {default: fast}}\nsecrets:\n  - name: API_KEY\n    description: The key.\n\
                    requirements: rich>=13, httpx\ntools:\n  - name: t\n    endpoint: ${BASE_URL}/x\n    headers: {Authorization: 'Bearer ${OTHER}'}\n    parameters: {type: object}\n---\n";
    let files = tree(&[
        ("SKILL.md", manifest),
        ("requirements.txt", "# all\nrequests>=2 # web\n\nrich>=13\n"),
        (
            "scripts/x.py",
            "# /// script\n# dependencies = [\"polars<2\"]\n# ///\n",
        ),
        (
            "package.json",
            r#"{"dependencies": {"left-pad": "^1.3.0"}}"#,
        ),
    ]);
    let permissions = SkillPackage::read(&files, None).unwrap().permissions;
    let variables = permissions.variables.iter();
    let variables: Vec<_> = variables
        .map(|one| (one.name.as_str(), one.is_secret, one.is_required))
        .collect();
    assert_eq!(
        variables,
        [
            ("BASE_URL", false, true),
            ("MODE", false, false),
            ("API_KEY", true, true),
            ("OTHER", true, true)
        ]
    );
    assert_eq!(
        permissions.requirements.python,
        ["rich>=13", "httpx", "requests>=2", "polars<2"]
    );
    assert_eq!(permissions.requirements.node, ["left-pad@^1.3.0"]);
    assert_eq!(permissions.servers, ["${BASE_URL}"]);
    assert_eq!(permissions.scripts, ["scripts/x.py"]);
}

#[test]
fn a_new_version_shows_what_it_changes() {
    let manifest = |version: &str, tools: &str| {
        format!("---\nname: a\ndescription: b\nversion: {version}\n{tools}---\nText\n")
    };
    let tool = |name: &str, command: &str| {
        format!("  - {{name: {name}, command: {command}, parameters: {{type: object}}}}\n")
    };
    let one = format!(
        "tools:\n{}{}",
        tool("stays", "python3 main.py"),
        tool("goes", "python3 main.py")
    );
    let two = format!(
        "network: true\nsecrets: [KEY]\ntools:\n{}{}",
        tool("stays", "python3 main.py --fast"),
        tool("comes", "python3 main.py")
    );
    let old = tree(&[
        ("SKILL.md", &manifest("1", &one)),
        ("main.py", "1"),
        ("old.txt", ""),
    ]);
    let new = tree(&[("SKILL.md", &manifest("2", &two)), ("main.py", "2")]);
    let [old, new] = [old, new].map(|files| SkillPackage::read(&files, None).unwrap());
    let diff = diff::diff(Some(&old), &new);
    let tools: Vec<_> = diff
        .tools
        .iter()
        .map(|one| (one.name.as_str(), one.change))
        .collect();
    assert_eq!(
        tools,
        [
            ("comes", ChangeKind::Added),
            ("goes", ChangeKind::Removed),
            ("stays", ChangeKind::Changed)
        ]
    );
    assert_eq!(diff.tools[2].fields, ["run"]);
    let permissions: Vec<_> = diff
        .permissions
        .iter()
        .map(|one| (one.kind, one.change, one.value.as_str()))
        .collect();
    assert_eq!(
        permissions,
        [
            (PermissionKind::Network, ChangeKind::Added, ""),
            (
                PermissionKind::Command,
                ChangeKind::Added,
                "python3 main.py --fast"
            ),
            (PermissionKind::Script, ChangeKind::Changed, "main.py"),
            (PermissionKind::Secret, ChangeKind::Added, "KEY"),
        ]
    );
    let files: Vec<_> = diff
        .files
        .iter()
        .map(|one| (one.path.as_str(), one.change))
        .collect();
    assert_eq!(
        files,
        [
            ("SKILL.md", ChangeKind::Changed),
            ("main.py", ChangeKind::Changed),
            ("old.txt", ChangeKind::Removed)
        ]
    );
    assert!(diff.asks_for_more() && !diff.is_empty() && !diff.instructions_changed);
    assert!(diff::diff(Some(&new), &new).is_empty());
    assert_eq!(diff::diff(None, &new).tools.len(), 2);
}
