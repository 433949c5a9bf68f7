//! The runners in real Python and Node: what a module has, and calls of it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};
use tenon_skills::module::{
    DESCRIBE_FLAG, ModuleDescription, ModuleFaultKind, ModuleWarningKind, SERVE_FLAG,
};
use tenon_skills::script::{ModuleLanguage, SkillScript};
use tenon_skills::{SkillPackage, SkillToolRun};

const PYTHON: &str = include_str!("runners/weather.py");
const NODE: &str = include_str!("runners/texts.mjs");

/// A folder with a runner and a module.
struct ModuleFolder {
    folder: TempDir,
    language: ModuleLanguage,
}

impl ModuleFolder {
    fn new(language: ModuleLanguage, source: &str) -> Self {
        let folder = tempdir().unwrap();
        fs::write(
            folder.path().join(language.runner_file()),
            language.runner(),
        )
        .unwrap();
        fs::write(folder.path().join(language.module_file()), source).unwrap();
        Self { folder, language }
    }

    fn run(&self, options: &[&str], flag: &str, input: &str) -> Output {
        let mut child = Command::new(self.language.program())
            .args(options)
            .args([
                self.language.runner_file(),
                flag,
                self.language.module_file(),
            ])
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        child.wait_with_output().unwrap()
    }

    fn describe(&self, options: &[&str]) -> ModuleDescription {
        ModuleDescription::parse(&self.run(options, DESCRIBE_FLAG, "").stdout).unwrap()
    }

    fn serve(&self, requests: &[Value]) -> Vec<Value> {
        let input: String = requests
            .iter()
            .map(|request| format!("{request}\n"))
            .collect();
        let output = self.run(&[], SERVE_FLAG, &input);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn fault(language: ModuleLanguage, source: &str) -> (ModuleFaultKind, Option<u64>, String) {
    let description = ModuleFolder::new(language, source).describe(&[]);
    let fault = description.error.clone().unwrap();
    let sentence = description
        .package(language, None, source)
        .unwrap_err()
        .to_string();
    (fault.kind, fault.line, sentence)
}

#[test]
fn a_python_class_becomes_a_skill_with_a_tool_for_each_method() {
    let module = ModuleFolder::new(ModuleLanguage::Python, PYTHON);
    let description = module.describe(&[]);
    assert_eq!(description.error, None);
    let files = description
        .package(ModuleLanguage::Python, None, PYTHON)
        .unwrap();
    let package = SkillPackage::read(&files, None).unwrap();
    assert_eq!(
        (package.name.as_str(), package.version.as_deref()),
        ("city-weather", Some("0.2"))
    );
    assert_eq!(package.description, "Tells the weather of a city.");
    assert_eq!(
        package.permissions.requirements.python,
        ["requests>=2", "rich"]
    );
    let names: Vec<&str> = package
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(names, ["add", "weather", "fail"]);
    let script = SkillScript::Module {
        language: ModuleLanguage::Python,
        file: "tools.py".to_owned(),
        function: "add".to_owned(),
    };
    assert_eq!(package.tools[0].run, SkillToolRun::Script(script));
    assert_eq!(package.tools[0].description, "Add two numbers.");
    assert_eq!(
        package.tools[0].parameters,
        json!({"type": "object", "properties": {
            "a": {"type": "integer", "description": "The first."},
            "b": {"type": "integer", "description": "The second, which may be long.", "default": 2},
        }, "required": ["a"]})
    );
    let weather = &package.tools[1].parameters["properties"];
    assert_eq!(
        weather["city"],
        json!({"type": "string", "description": "Name of the city in English."})
    );
    assert_eq!(
        weather["days"],
        json!({"type": "integer", "description": "How many."})
    );
    assert_eq!(weather["tags"]["items"], json!({"type": "string"}));
    assert_eq!(weather["kind"]["enum"], json!(["now", "later"]));
    assert_eq!(weather["place"]["required"], json!(["latitude"]));
    assert_eq!(
        package.settings.unwrap()["properties"]["limit"]["default"],
        5
    );
    assert_eq!(
        package.user_settings.unwrap()["properties"]["unit"]["enum"],
        json!(["C", "F"])
    );
}

/// `-S` hides the packages that are installed: the stand-in has to say the same.
#[test]
fn python_without_pydantic_has_the_same_tools() {
    let module = ModuleFolder::new(ModuleLanguage::Python, PYTHON);
    let description = module.describe(&["-S"]);
    assert_eq!(description.error, None);
    let weather = &description.tools[1].parameters;
    assert_eq!(
        weather["properties"]["place"]["properties"]["latitude"],
        json!({"type": "number"})
    );
    assert_eq!(weather["required"], json!(["city"]));
    assert_eq!(
        description.settings.unwrap()["properties"]["limit"],
        json!({"type": "integer", "minimum": 1, "default": 5})
    );
}

#[test]
fn one_python_process_answers_many_calls() {
    let module = ModuleFolder::new(ModuleLanguage::Python, PYTHON);
    let answers = module.serve(&[
        json!({"id": 1, "tool": "add", "arguments": {"a": 1, "__user__": "x", "unknown": 3}}),
        json!({"id": 2, "tool": "weather", "arguments": {"city": "Oslo"}, "settings": {"api_key": "K"},
            "user": {"valves": {"unit": "F"}}}),
        json!({"id": 3, "tool": "fail"}),
        json!({"id": 4, "tool": "_hidden"}),
        json!({"id": 5, "tool": "add", "arguments": {}}),
    ]);
    assert_eq!(answers[0], json!({"ready": true}));
    assert_eq!(answers[1], json!({"id": 1, "result": 3}));
    assert_eq!(
        answers[2],
        json!({"id": 2, "event": {"type": "status", "data": {"description": "looking", "done": false}}})
    );
    assert_eq!(
        answers[3],
        json!({"id": 2, "result": {"city": "Oslo", "key": "K", "unit": "F", "kind": "now"}})
    );
    assert_eq!(answers[4]["error"]["message"], "not today");
    assert!(answers[4]["error"]["line"].is_u64());
    assert_eq!(
        answers[5]["error"]["message"],
        "the module has no tool `_hidden`"
    );
    assert_eq!(answers[6]["error"]["type"], "TypeError");
    assert_eq!(answers.len(), 7);
}

#[test]
fn a_python_module_that_cannot_be_used_says_why() {
    let python = |source| fault(ModuleLanguage::Python, source);
    let (kind, line, _) = python("class Tools:\n    def a(self: pass\n");
    assert_eq!((kind, line), (ModuleFaultKind::Syntax, Some(2)));
    let (kind, line, sentence) =
        python("import json\nfrom open_webui.models.users import Users\nclass Tools: pass\n");
    assert_eq!((kind, line), (ModuleFaultKind::Internals, Some(2)));
    assert!(
        sentence.contains("open_webui.models.users in line 2"),
        "{sentence}"
    );
    let (kind, line, sentence) = python("import no_such_package.inner\nclass Tools: pass\n");
    assert_eq!((kind, line), (ModuleFaultKind::MissingModule, Some(1)));
    assert!(
        sentence.contains("not installed: no_such_package."),
        "{sentence}"
    );
    assert_eq!(python("x = 1 / 0\n").0, ModuleFaultKind::Load);
    assert_eq!(python("def a(): pass\n").0, ModuleFaultKind::NoTools);
    assert_eq!(
        python("class Tools:\n    x = 1\n").0,
        ModuleFaultKind::NoTools
    );
    let module = ModuleFolder::new(ModuleLanguage::Python, "x = 1 / 0\n");
    assert_eq!(module.serve(&[])[0]["ready"], false);
}

/// Everything that Open WebUI has and Tenon has not, used so that the module still loads.
const LEANING: &str = r#"import json

try:
    from open_webui.config import CACHE_DIR
except ImportError:
    CACHE_DIR = None


class Tools:
    async def leans(
        self,
        query: str,
        __request__,
        __user__: dict,
        __metadata__: dict,
        __event_emitter__,
        __files__: list = [],
    ) -> str:
        from open_webui.models.users import Users
        import json.decoder

        return query

    def asks(self, __event_call__, __model__: dict = None) -> str:
        return "asked"
"#;

#[test]
fn what_a_module_lacks_of_open_webui_is_named_by_line_and_the_rest_can_be_used() {
    let module = ModuleFolder::new(ModuleLanguage::Python, LEANING);
    let description = module.describe(&[]);
    assert_eq!(description.error, None);
    let warnings = description.warnings.iter();
    let named: Vec<_> = warnings
        .map(|of| (of.kind, of.line.unwrap(), of.names.join(" ")))
        .collect();
    let internals = |line, name: &str| (ModuleWarningKind::Internals, line, name.to_owned());
    let parameter = |line, name: &str| (ModuleWarningKind::Parameter, line, name.to_owned());
    assert_eq!(
        named,
        [
            internals(4, "open_webui.config"),
            parameter(13, "__request__"),
            internals(19, "open_webui.models.users"),
            parameter(24, "__event_call__"),
        ]
    );
    assert_eq!(
        description.warnings[1].to_string(),
        "The tool `leans` needs __request__ in line 13, which only Open WebUI passes. Here it gives None."
    );
    let package = description.package(ModuleLanguage::Python, None, LEANING);
    assert!(package.is_ok(), "{package:?}");
    let plain = ModuleFolder::new(ModuleLanguage::Python, PYTHON);
    assert_eq!(plain.describe(&[]).warnings, []);
}

#[test]
fn a_method_gets_the_ids_of_its_chat_and_its_own_defaults_for_what_is_not_here() {
    let source = r#"class Tools:
    def where(self, __chat_id__: str, __message_id__=None, __metadata__: dict = {}, __files__: list = [], __model__=None, __messages__=()):
        return [__chat_id__, __message_id__, __metadata__, __files__, __model__, list(__messages__)]

    def bare(self, __request__):
        return __request__
"#;
    let module = ModuleFolder::new(ModuleLanguage::Python, source);
    let metadata = json!({"chat_id": "c", "message_id": "m", "user_id": "u", "tool_name": "where"});
    let context = json!({"chat_id": "c", "message_id": "m", "metadata": metadata});
    let answers = module.serve(&[
        json!({"id": 1, "tool": "where", "context": context}),
        json!({"id": 2, "tool": "where", "context": {"chat_id": null}}),
        json!({"id": 3, "tool": "bare", "context": context}),
    ]);
    assert_eq!(
        answers[1..],
        [
            json!({"id": 1, "result": ["c", "m", metadata, [], null, []]}),
            json!({"id": 2, "result": [null, null, {}, [], null, []]}),
            json!({"id": 3, "result": null}),
        ]
    );
}

#[test]
fn a_module_of_javascript_names_its_packages_at_its_top() {
    let source = "/**
 * @title Numbers
 * @requirements is-number@7.0.0, @scope/tiny,
 *   other@file:/srv/other-1.0.0.tgz
 */
import { two } from '@scope/tiny';

/** Two. */
export function number() {
  return two;
}
";
    let module = ModuleFolder::new(ModuleLanguage::Node, source);
    let described = module.describe(&[]);
    let fault = described.error.unwrap();
    assert_eq!(
        (fault.kind, fault.modules),
        (
            ModuleFaultKind::MissingModule,
            vec!["@scope/tiny".to_owned()]
        )
    );

    // As npm installs it.
    let tiny = module.folder.path().join("node_modules/@scope/tiny");
    fs::create_dir_all(&tiny).unwrap();
    let manifest =
        r#"{"name": "@scope/tiny", "version": "1.0.0", "type": "module", "main": "main.js"}"#;
    fs::write(tiny.join("package.json"), manifest).unwrap();
    fs::write(tiny.join("main.js"), "export const two = 2;\n").unwrap();
    let mut described = module.describe(&[]);
    assert_eq!(described.error, None);
    described.require_usual_packages(ModuleLanguage::Node);
    let files = described
        .package(ModuleLanguage::Node, None, source)
        .unwrap();
    let package = SkillPackage::read(&files, None).unwrap();
    let requirements = package.permissions.requirements;
    assert_eq!(
        (requirements.python, requirements.node),
        (
            Vec::new(),
            vec![
                "@scope/tiny@*".to_owned(),
                "is-number@7.0.0".to_owned(),
                "other@file:/srv/other-1.0.0.tgz".to_owned(),
            ]
        )
    );
    let answers = module.serve(&[json!({"id": 1, "tool": "number"})]);
    assert_eq!(answers[1], json!({"id": 1, "result": 2}));
}

#[test]
fn javascript_functions_become_a_skill() {
    let module = ModuleFolder::new(ModuleLanguage::Node, NODE);
    let description = module.describe(&[]);
    let files = description
        .package(ModuleLanguage::Node, Some("My texts"), NODE)
        .unwrap();
    let package = SkillPackage::read(&files, None).unwrap();
    assert_eq!(
        (package.name.as_str(), package.title.as_str()),
        ("my-texts", "My texts")
    );
    let names: Vec<&str> = package
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(names, ["join", "repeat", "fail"]);
    assert_eq!(
        package.tools[0].parameters,
        json!({"type": "object", "properties": {
            "words": {"type": "array", "items": {"type": "string"}, "description": "The words, each one of them."},
            "separator": {"type": "string", "description": "What stands between.", "default": ", "},
        }, "required": ["words"]})
    );
    assert_eq!(
        package.tools[1].parameters,
        json!({"type": "object", "properties": {
            "text": {"type": "string", "description": "The text."},
            "mode": {"enum": ["plain", "loud"]},
            "times": {"type": "number", "description": "How often."},
        }, "required": ["text", "times"]})
    );
    assert!(package.settings.is_some());
}

#[test]
fn one_node_process_answers_many_calls() {
    let module = ModuleFolder::new(ModuleLanguage::Node, NODE);
    let answers = module.serve(&[
        json!({"id": 1, "tool": "join", "arguments": {"words": ["a", "b"]}}),
        json!({"id": 2, "tool": "repeat", "arguments": {"text": "ab", "times": 2}}),
        json!({"id": 3, "tool": "fail", "arguments": {"x": 1}}),
        json!({"id": 4, "tool": "hidden"}),
    ]);
    assert_eq!(
        answers[..4],
        [
            json!({"ready": true}),
            json!({"id": 1, "event": {"type": "status", "data": {"description": "joining", "done": false}}}),
            json!({"id": 1, "result": "a, b"}),
            json!({"id": 2, "result": "abab"}),
        ]
    );
    assert_eq!(answers[4]["error"]["message"], "bad 1");
    assert_eq!(
        answers[5]["error"]["message"],
        "the module has no tool `hidden`"
    );
    let node = |source| fault(ModuleLanguage::Node, source).0;
    assert_eq!(node("export function a({}\n"), ModuleFaultKind::Syntax);
    assert_eq!(
        node("import 'no-such-package';\n"),
        ModuleFaultKind::MissingModule
    );
    assert_eq!(node("export const a = 1;\n"), ModuleFaultKind::NoTools);
}

/// The scripts of the examples and templates do what their skills say.
#[test]
fn scripts_of_examples_answer() {
    let skills = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills");
    let run = |folder: &str, command: &[&str], input: Value| {
        let mut child = Command::new(command[0])
            .args(&command[1..])
            .current_dir(skills.join(folder))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.to_string().as_bytes())
            .unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    let counted = run(
        "text-statistics",
        &["python3", "-B", "statistics_tool.py", "count"],
        json!({"text": "Hello world. 你好！"}),
    );
    let counted: Value = serde_json::from_str(&counted).unwrap();
    assert_eq!(
        (&counted["words"], &counted["sentences"]),
        (&json!(4), &json!(2))
    );
    let table = run(
        "markdown-table",
        &["node", "table.mjs"],
        json!({"csv": "name,n\nb,10\na,9\n", "sortBy": "n"}),
    );
    assert_eq!(
        table,
        "| name |   n |\n| ---- | --: |\n| a    |   9 |\n| b    |  10 |\n"
    );
}
