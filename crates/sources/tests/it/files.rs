//! Files in the workspace, and no way out of it.

use std::fs;

use serde_json::json;
use tenon_domain::ErrorKind;

use crate::harness::BuiltinHarness;

#[tokio::test]
async fn what_is_written_can_be_read_searched_and_listed() {
    let harness = BuiltinHarness::new().await;
    assert_eq!(
        harness.text("list_files", json!({})).await,
        "The workspace is empty."
    );
    assert!(
        !harness.workspace().exists(),
        "looking must not make the workspace"
    );

    let text = "# To do\n\n- buy Milk\n- 买牛奶\n";
    let said = harness
        .text(
            "write_file",
            json!({"path": "notes/today.md", "content": text}),
        )
        .await;
    assert_eq!(
        said,
        format!("Wrote {} bytes to notes/today.md.", text.len())
    );
    assert_eq!(
        harness
            .text("read_file", json!({"path": "notes/today.md"}))
            .await,
        text
    );
    assert_eq!(
        harness.text("search_files", json!({"query": "MILK"})).await,
        "notes/today.md:3: - buy Milk\n[1 line found in 1 files]"
    );
    assert_eq!(
        harness
            .text(
                "search_files",
                json!({"query": "牛奶", "path": "notes/today.md"})
            )
            .await,
        "notes/today.md:4: - 买牛奶\n[1 line found in 1 files]"
    );
    assert_eq!(harness.text("list_files", json!({})).await, "notes/");
    assert_eq!(
        harness.text("list_files", json!({"path": "notes"})).await,
        format!("today.md ({} bytes)", text.len())
    );
}

#[tokio::test]
async fn a_file_is_replaced_whole_or_added_to() {
    let harness = BuiltinHarness::new().await;
    harness
        .text(
            "write_file",
            json!({"path": "a.txt", "content": "a much longer first version\n"}),
        )
        .await;
    harness
        .text("write_file", json!({"path": "a.txt", "content": "one\n"}))
        .await;
    harness
        .text(
            "write_file",
            json!({"path": "a.txt", "content": "two\n", "append": true}),
        )
        .await;
    harness
        .text(
            "write_file",
            json!({"path": "b.txt", "content": "new\n", "append": true}),
        )
        .await;
    assert_eq!(
        harness.text("read_file", json!({"path": "a.txt"})).await,
        "one\ntwo\n"
    );
    assert_eq!(
        harness.text("read_file", json!({"path": "b.txt"})).await,
        "new\n"
    );
    let left: Vec<_> = fs::read_dir(harness.workspace())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "no draft is left behind: {left:?}");
}

#[tokio::test]
async fn a_long_file_is_read_in_pages_of_lines() {
    let harness = BuiltinHarness::new().await;
    let text: String = (1..=3000).map(|n| format!("{n}\n")).collect();
    harness
        .text("write_file", json!({"path": "n.txt", "content": text}))
        .await;
    let first = harness.text("read_file", json!({"path": "n.txt"})).await;
    let note = "[These are lines 1–2000; the file goes on. Read on with offset 2001.]\n1\n2\n";
    assert!(
        first.starts_with(note) && first.ends_with("\n2000\n"),
        "{first}"
    );
    let last = harness
        .text("read_file", json!({"path": "n.txt", "offset": 2999}))
        .await;
    assert_eq!(last, "2999\n3000\n");
    let error = harness
        .error("read_file", json!({"path": "n.txt", "offset": 3001}))
        .await;
    assert_eq!(
        error,
        (
            ErrorKind::Failed,
            "The file has 3000 lines; there is no line 3001.".into()
        )
    );
}

#[tokio::test]
async fn bytes_that_are_not_utf_8_are_shown_as_far_as_they_can_be() {
    let harness = BuiltinHarness::new().await;
    fs::create_dir(harness.workspace()).unwrap();
    fs::write(harness.workspace().join("latin.txt"), b"gr\xfc\xdf dich").unwrap();
    let said = harness
        .text("read_file", json!({"path": "latin.txt"}))
        .await;
    assert!(
        said.starts_with("[not valid UTF-8") && said.ends_with("gr\u{FFFD}\u{FFFD} dich"),
        "{said}"
    );
    let found = harness.text("search_files", json!({"query": "DICH"})).await;
    assert!(found.starts_with("latin.txt:1: gr"), "{found}");
}

/// All four tools with the same path, each with its answer's kind.
async fn check_all_refuse(harness: &BuiltinHarness, path: &str) {
    for (tool, input) in [
        ("list_files", json!({"path": path})),
        ("read_file", json!({"path": path})),
        ("write_file", json!({"path": path, "content": "x"})),
        (
            "write_file",
            json!({"path": path, "content": "x", "append": true}),
        ),
        ("search_files", json!({"path": path, "query": "secret"})),
    ] {
        let (kind, message) = harness.error(tool, input).await;
        assert_eq!(kind, ErrorKind::Denied, "{tool} {path:?}: {message}");
        assert!(!message.contains("TOP SECRET"), "{message}");
    }
}

#[tokio::test]
async fn paths_that_could_leave_the_workspace_are_refused() {
    let harness = BuiltinHarness::new().await;
    fs::write(harness.outside().join("secret.txt"), "TOP SECRET").unwrap();
    harness
        .text("write_file", json!({"path": "inside.txt", "content": "x"}))
        .await;
    for path in [
        "../secret.txt",
        "a/../../secret.txt",
        "..",
        "/etc/passwd",
        "\\etc\\passwd",
        "..\\secret.txt",
        "C:\\Windows\\win.ini",
        "C:secret.txt",
        "//server/share/x",
        "\\\\?\\C:\\x",
        "a\0b",
        "inside.txt\n",
    ] {
        check_all_refuse(&harness, path).await;
    }
    check_all_refuse(&harness, &"x/".repeat(5000)).await;
    check_all_refuse(&harness, &"x".repeat(300)).await;
    assert_eq!(
        fs::read_to_string(harness.outside().join("secret.txt")).unwrap(),
        "TOP SECRET"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_refused_wherever_they_stand_and_wherever_they_lead() {
    use std::os::unix::fs::symlink;

    let harness = BuiltinHarness::new().await;
    let (workspace, outside) = (harness.workspace(), harness.outside().to_owned());
    fs::create_dir_all(workspace.join("real")).unwrap();
    fs::create_dir(outside.join("vault")).unwrap();
    fs::write(outside.join("vault/secret.txt"), "TOP SECRET").unwrap();
    fs::write(workspace.join("real/file.txt"), "plain").unwrap();
    symlink(outside.join("vault/secret.txt"), workspace.join("to-file")).unwrap();
    symlink(outside.join("vault"), workspace.join("to-folder")).unwrap();
    symlink("../vault", workspace.join("relative")).unwrap();
    symlink(outside.join("not-there.txt"), workspace.join("dangling")).unwrap();
    symlink("real", workspace.join("inside")).unwrap();
    symlink("loop", workspace.join("loop")).unwrap();

    for path in [
        "to-file",
        "to-folder",
        "to-folder/secret.txt",
        "to-folder/new.txt",
        "relative/secret.txt",
        "dangling",
        "inside/file.txt",
        "loop",
    ] {
        check_all_refuse(&harness, path).await;
    }
    assert!(
        !outside.join("not-there.txt").exists(),
        "a dangling link must not be written through"
    );
    assert!(!outside.join("vault/new.txt").exists());
    assert_eq!(
        fs::read_to_string(outside.join("vault/secret.txt")).unwrap(),
        "TOP SECRET"
    );

    let found = harness
        .text("search_files", json!({"query": "secret"}))
        .await;
    assert_eq!(
        found,
        "[Nothing found in 1 files, 6 skipped (binary, larger than 10 MB, or not files)]"
    );
    let listed = harness.text("list_files", json!({})).await;
    assert!(
        listed.contains("to-file (a link, not followed)"),
        "{listed}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn pipes_and_sockets_are_never_opened() {
    let harness = BuiltinHarness::new().await;
    fs::create_dir(harness.workspace()).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(harness.workspace().join("pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    let _socket =
        std::os::unix::net::UnixListener::bind(harness.workspace().join("socket")).unwrap();
    check_all_refuse(&harness, "pipe").await;
    check_all_refuse(&harness, "socket").await;
    let found = harness.text("search_files", json!({"query": "x"})).await;
    assert_eq!(
        found,
        "[Nothing found in 0 files, 2 skipped (binary, larger than 10 MB, or not files)]"
    );
}

#[tokio::test]
async fn what_does_not_fit_the_path_is_told_what_would() {
    let harness = BuiltinHarness::new().await;
    harness
        .text(
            "write_file",
            json!({"path": "folder/file.txt", "content": "x"}),
        )
        .await;
    let check = async |tool: &str, input, expected: &str| {
        assert_eq!(
            harness.error(tool, input).await,
            (ErrorKind::Failed, expected.to_owned())
        );
    };
    let missing = "There is no gone.txt. List the files to see what there is.";
    check("read_file", json!({"path": "gone.txt"}), missing).await;
    check("list_files", json!({"path": "gone.txt"}), missing).await;
    check(
        "search_files",
        json!({"path": "gone.txt", "query": "x"}),
        missing,
    )
    .await;
    check(
        "read_file",
        json!({"path": "folder"}),
        "folder is a folder: list it instead.",
    )
    .await;
    check(
        "read_file",
        json!({"path": "."}),
        "the workspace is a folder: list it instead.",
    )
    .await;
    check(
        "list_files",
        json!({"path": "folder/file.txt"}),
        "folder/file.txt is a file: read it instead.",
    )
    .await;
    check(
        "write_file",
        json!({"path": "folder", "content": ""}),
        "folder is a folder. Name a file in it.",
    )
    .await;
    check(
        "write_file",
        json!({"path": "folder/file.txt/x", "content": ""}),
        "`file.txt` in folder/file.txt/x is a file, not a folder.",
    )
    .await;
    let too_long = "x".repeat(5 * 1024 * 1024 + 1);
    let (kind, message) = harness
        .error("write_file", json!({"path": "big", "content": too_long}))
        .await;
    assert_eq!(kind, ErrorKind::InvalidInput, "{message}");
}

#[tokio::test]
async fn without_a_workspace_the_tools_say_so() {
    let mut harness = BuiltinHarness::new().await;
    harness.context.workspace = None;
    let message =
        "This call has no workspace, so there are no files to work with. Answer without files.";
    for (tool, input) in [
        ("list_files", json!({})),
        ("read_file", json!({"path": "a"})),
        ("write_file", json!({"path": "a", "content": "x"})),
        ("search_files", json!({"query": "x"})),
    ] {
        assert_eq!(
            harness.error(tool, input).await,
            (ErrorKind::Denied, message.to_owned())
        );
    }
}

#[tokio::test]
async fn a_large_folder_is_listed_in_part_and_counted() {
    let harness = BuiltinHarness::new().await;
    fs::create_dir(harness.workspace()).unwrap();
    for n in 0..1234 {
        fs::write(harness.workspace().join(format!("{n:04}")), "").unwrap();
    }
    let listed = harness.text("list_files", json!({})).await;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(
        (lines.len(), lines[0], lines[999], lines[1000]),
        (1001, "0000 (0 bytes)", "0999 (0 bytes)", "[and 234 more]")
    );
}

#[tokio::test]
async fn a_search_skips_what_is_not_text_and_stops_at_its_limit() {
    let harness = BuiltinHarness::new().await;
    fs::create_dir(harness.workspace()).unwrap();
    fs::write(harness.workspace().join("binary"), b"needle\0needle").unwrap();
    fs::write(
        harness.workspace().join("large"),
        "needle\n".repeat(1_600_000),
    )
    .unwrap();
    fs::write(harness.workspace().join("text"), "needle\n".repeat(300)).unwrap();
    let found = harness
        .text("search_files", json!({"query": "needle"}))
        .await;
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(
        (lines.len(), lines[0], lines[199]),
        (201, "text:1: needle", "text:200: needle")
    );
    assert_eq!(
        lines[200],
        "[200 lines found in 1 files, 2 skipped (binary, larger than 10 MB, or not files); \
         there may be more: search in a folder or for something rarer]"
    );
}

#[tokio::test]
async fn a_search_that_is_cancelled_says_so() {
    let harness = BuiltinHarness::new().await;
    harness
        .text("write_file", json!({"path": "a", "content": "x"}))
        .await;
    harness.context.cancel.cancel();
    let (kind, _) = harness.error("search_files", json!({"query": "x"})).await;
    assert_eq!(kind, ErrorKind::Cancelled);
}
