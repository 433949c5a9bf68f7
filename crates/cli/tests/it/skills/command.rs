//! `tenon skill`, beside a server that runs with the same data folder.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{SkillFiles, WORD_COUNT, id_of};
use crate::program::{Served, run, stdout, tenon};

fn arguments<'a>(command: &'a str, folder: &'a TempDir, more: &[&'a str]) -> Vec<&'a str> {
    let words = ["skill", command, folder.path().to_str().unwrap()];
    words.into_iter().chain(more.iter().copied()).collect()
}

/// What is said where nothing is installed.
#[track_caller]
fn refused(data: &TempDir, path: &std::path::Path) -> String {
    let output = run(data, &["skill", "install", path.to_str().unwrap(), "--yes"]);
    assert!(!output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    let all = |start: &str| {
        said.lines()
            .find_map(|line| line.strip_prefix(start).map(str::to_owned))
    };
    all("Not installed: ")
        .or_else(|| all("error: "))
        .or_else(|| all("Error: "))
        .unwrap_or(said)
}

#[tokio::test]
async fn a_running_server_sees_what_the_command_installs_updates_and_removes() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    let folder = SkillFiles::word_count().folder();
    let install = arguments("install", &folder, &["--yes"]);
    let installed = stdout(&run(&data, &install));
    let mut lines = installed.lines();
    assert_eq!(
        lines.next(),
        Some("Installed word-count 1.0.0"),
        "{installed}"
    );
    let ids: Vec<&str> = lines.map(str::trim).collect();
    assert_eq!(ids.len(), 2, "{installed}");
    assert!(ids[0].starts_with("count_") && ids[1].starts_with("use_word-count_"));
    let count = ids[0];
    let is_there = |tools: &Value| {
        let mut tools = tools.as_array().unwrap().iter();
        tools.any(|tool| tool["toolId"] == count)
    };
    served.until("/api/tools", is_there).await;
    let call = async || {
        let body = json!({"arguments": {"text": "one two three"}});
        served.post(&format!("/api/tools/{count}/call"), body).await["structured"].clone()
    };
    assert_eq!(call().await, json!({"success": true, "data": {"words": 3}}));

    std::fs::write(folder.path().join("main.py"), "print('many')").unwrap();
    let update = ["skill", "update", "word-count", "--yes"];
    stdout(&run(&data, &update));
    let many = json!({"success": true, "data": "many"});
    crate::sources::fixtures::until(|| async {
        let answer = call().await;
        if answer == many { Ok(()) } else { Err(answer) }
    })
    .await;

    let removed = stdout(&run(&data, &["skill", "remove", "word-count", "--yes"]));
    assert_eq!(removed, "Removed word-count.\n");
    let is_gone = |tools: &Value| !is_there(tools);
    served.until("/api/tools", is_gone).await;
    assert_eq!(served.get("/api/skills").await, json!([]));
}

#[test]
fn skills_are_listed_shown_and_asked_about() {
    let data = tempfile::tempdir().unwrap();
    let folder = SkillFiles::word_count().folder();
    let unasked = run(&data, &arguments("install", &folder, &[]));
    assert!(!unasked.status.success());
    let said = String::from_utf8(unasked.stderr).unwrap();
    for expected in [
        "word-count 1.0.0 (",
        "+ tool count: python3 main.py",
        "+ runs python3 main.py",
        " main.py",
        "nobody can be asked here; say so with --yes",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let none = run(&data, &["skill", "list"]);
    assert_eq!(stdout(&none), "");

    let install = arguments("install", &folder, &["--yes", "--private", "--json"]);
    let installed: Value = serde_json::from_str(&stdout(&run(&data, &install))).unwrap();
    assert_eq!(installed[0]["visibility"], "private");
    let count = id_of(&installed[0], "count");
    let listed = stdout(&run(&data, &["skill", "list"]));
    assert_eq!(listed, "word-count  1.0.0       2 tools  ready, private\n");
    let shown = stdout(&run(&data, &["skill", "show", "word-count"]));
    assert!(
        shown.contains(&format!("  {count}  count  python3 main.py")),
        "{shown}"
    );
    let again = run(&data, &["skill", "update", "word-count", "--yes"]);
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains("Nothing has changed."), "{said}");
    let unknown = run(&data, &["skill", "show", "nothing"]);
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(said.contains("there is no skill \"nothing\""), "{said}");
}

#[test]
fn the_example_skills_pass_their_tests() {
    let data = tempfile::tempdir().unwrap();
    let skills = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills");
    let check = |name: &str, expected: &[&str]| {
        let folder = skills.join(name);
        let output = run(&data, &["skill", "test", folder.to_str().unwrap()]);
        let printed = stdout(&output);
        assert!(output.status.success(), "{printed}");
        for line in expected {
            assert!(printed.contains(line), "{line}: {printed}");
        }
    };
    check("text-statistics", &["count_text", "frequent_words"]);
    check("markdown-table", &["make_table"]);
    check("wikipedia", &["✓ wikipedia"]);
    check("meeting-notes", &["✓ meeting-notes"]);
}

#[test]
fn a_new_skill_of_every_template_passes_its_test() {
    let data = tempfile::tempdir().unwrap();
    for template in ["python", "node", "instructions"] {
        let folder = data.path().join(template);
        let path = folder.to_str().unwrap();
        let new = [
            "skill",
            "new",
            "my-skill",
            "--template",
            template,
            "--dir",
            path,
        ];
        assert_eq!(stdout(&run(&data, &new)).trim(), path);
        let tested = stdout(&run(&data, &["skill", "test", path]));
        assert!(tested.starts_with("✓ my-skill: SKILL.md and "), "{tested}");
        assert!(!tested.contains("✗"), "{tested}");
        let calls = usize::from(template != "instructions");
        assert_eq!(tested.lines().count(), 1 + calls, "{tested}");
        let again = run(&data, &new);
        assert!(!again.status.success());
    }
    let http = data.path().join("http");
    let path = http.to_str().unwrap();
    stdout(&run(
        &data,
        &["skill", "new", "asks", "--template", "http", "--dir", path],
    ));
    let installed = run(&data, &["skill", "install", path, "--yes"]);
    assert!(stdout(&installed).starts_with("Installed asks"));
}

#[test]
fn a_test_tells_what_fails() {
    let data = tempfile::tempdir().unwrap();
    let skill = SkillFiles::new("half")
        .python("works", "print('yes')")
        .python("fails", "raise SystemExit('not today')");
    let folder = skill.folder();
    let call = |tool: &str| {
        let more = ["--tool", tool, "--arguments", "{}"];
        run(&data, &arguments("test", &folder, &more))
    };
    assert!(stdout(&call("works")).ends_with("✓ works {}\n"));
    let failed = call("fails");
    assert!(!failed.status.success());
    let said = String::from_utf8_lossy(&failed.stdout).into_owned();
    let expected = "✗ fails {}: The script failed with exit code 1: not today";
    assert!(said.contains(expected), "{said}");
    // Nothing of it is installed.
    assert_eq!(stdout(&run(&data, &["skill", "list"])), "");
}

#[test]
fn a_malformed_skill_is_refused_with_its_file_and_line() {
    let data = tempfile::tempdir().unwrap();
    let check = |manifest: &str, expected: &str| {
        let folder = SkillFiles::word_count().folder();
        std::fs::write(folder.path().join("SKILL.md"), manifest).unwrap();
        let said = refused(&data, folder.path());
        assert!(
            said.contains(expected),
            "{manifest}\n{said}\nnot: {expected}"
        );
    };
    check(
        "# No front matter\n",
        "SKILL.md:1: A skill begins with a line `---`",
    );
    check("---\nname: a\n", "SKILL.md:1: The front matter has no end");
    check("---\nname: a\ndescription: [b\n---\n", "SKILL.md:");
    check(
        "---\nname: a\n---\n",
        "SKILL.md:2: `description` is missing",
    );
    let twice = "    command: python3 main.py\n    parameters: {type: object}\n";
    let tool = format!("  - name: count\n{twice}");
    let skill = |tools: &str| format!("---\nname: a\ndescription: b\ntools:\n{tools}---\n");
    check(
        &skill(&(tool.clone() + &tool)),
        "SKILL.md:8: The tool `count` is declared twice, first in line 5",
    );
    check(
        &skill("  - name: count\n    command: python3 main.py\n"),
        "SKILL.md:5: The tool `count` has no schema",
    );
    check(
        &WORD_COUNT.replace("main.py", "../main.py"),
        "SKILL.md:9: The command of the tool `count` cannot be run: `../main.py` leads out",
    );
    check(
        &WORD_COUNT.replace("main.py", "other.py"),
        "SKILL.md:9: The command of the tool `count` cannot be run: the skill has no file",
    );
    check(
        &WORD_COUNT.replace("type: script", "type: magic"),
        "SKILL.md:8: The type of the tool `count` is `magic`",
    );
    check(
        &WORD_COUNT.replace("{type: string}", "{type: word}"),
        "SKILL.md:10: The parameters of the tool `count` are no usable JSON Schema",
    );
    assert_eq!(stdout(&run(&data, &["skill", "list"])), "");
}

#[test]
fn an_archive_is_installed_and_one_that_leads_outside_is_not() {
    let data = tempfile::tempdir().unwrap();
    for (name, bytes, expected) in super::archives::bad() {
        let path = data.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let said = refused(&data, &path);
        assert!(said.contains(expected), "{said}\nnot: {expected}");
    }
    let path = data.path().join("word-count.zip");
    std::fs::write(&path, super::archives::word_count()).unwrap();
    let path = path.to_str().unwrap();
    let installed = stdout(&run(&data, &["skill", "install", path, "--yes"]));
    assert!(
        installed.starts_with("Installed word-count 1.0.0\n"),
        "{installed}"
    );
    let mut without = tenon(&data, &["skill", "remove", "word-count"]);
    let asked = without.output().unwrap();
    assert!(!asked.status.success());
    stdout(&run(&data, &["skill", "update", "word-count", "--yes"]));
}
