//! Tasks that somebody else wrote, and not kindly.

use super::{TaskFixture, stderr};

#[tokio::test(flavor = "multi_thread")]
async fn a_task_reads_nothing_that_is_not_its_own_and_nothing_without_a_bound() {
    let fixture = TaskFixture::new().await;
    fixture.write("secret", "hidden");
    let check = |task: &str, expected: &str| {
        let output = fixture.run(&["--yes", "--out", "out", task]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{task}: {told}");
        assert!(told.contains(expected), "{task}: {told}");
        assert!(!told.contains("hidden"), "{told}");
    };
    fixture.task("linked", &[], &[], "x");
    std::fs::remove_file(fixture.path("linked/docs/task.md")).unwrap();
    std::os::unix::fs::symlink(fixture.path("secret"), fixture.path("linked/docs/task.md"))
        .unwrap();
    check("linked", "not a file inside its folder");

    fixture.write("outside.yaml", "prompt_file: /etc/hostname\n");
    check("outside.yaml", "not a file inside its folder");
    fixture.write("deep/above.yaml", "prompt: x\nworkspace: ..\n");
    check("deep/above.yaml", "`..` of the task is missing");
    fixture.write("typo.yaml", "prompt: x\nmax_turn: 3\n");
    check("typo.yaml", "unknown field `max_turn`");
    fixture.write("empty.yaml", "prompt: ' '\n");
    check("empty.yaml", "The task is empty");
    fixture.write(
        "huge.yaml",
        &format!("prompt: {}\n", "x".repeat(2 * 1024 * 1024)),
    );
    check("huge.yaml", "longer than 1048576 bytes");
    let laughs: String = (1..20)
        .map(|n| {
            format!(
                "a{n}: &a{n} [*a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}]\n",
                n - 1
            )
        })
        .collect();
    fixture.write("laughs.yaml", &format!("a0: &a0 [x]\n{laughs}prompt: x\n"));
    check("laughs.yaml", "laughs.yaml");
    fixture.write("nested/task_config.json", &"[".repeat(100_000));
    check("nested", "`task_config.json` is not valid");
    check("nowhere.yaml", "There is no file or folder nowhere.yaml");
    check("no/where", "There is no file or folder no/where");
    std::fs::create_dir(fixture.path("bare")).unwrap();
    check("bare", "There is no task in bare");

    // A server that does not start fails its task, and says why.
    fixture.task("dead", &["dead"], &[], "x");
    fixture.write(
        "servers/dead.yaml",
        "name: dead\nparams:\n  command: /nonexistent/program\n",
    );
    fixture.write("servers/bad.yaml", "{{{");
    fixture.write(
        "servers/open.yaml",
        "name: open\nparams:\n  command: x\n  args: ['${token.none}']\n",
    );
    let output = fixture.run(&["--servers", "servers", "dead"]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("! bad.yaml: "), "{told}");
    assert!(
        told.contains("The server `dead` of the task cannot be used"),
        "{told}"
    );
    fixture.task("open", &["open"], &[], "x");
    let output = fixture.run(&["--servers", "servers", "open"]);
    assert!(
        stderr(&output).contains("`${token.none}`"),
        "{}",
        stderr(&output)
    );
}
