//! Several steps: plans, questions back, and what was said before.

use super::ask::{
    TODO, answer, calls, files, one, read, search, sleep, sum, text, time, user, weather, write,
};
use serde_json::{Value, json};
use tenon_domain::{
    Message, Part, StopReason, ToolAnswer, ToolCall, ToolError, ToolOutput, ToolResult,
};

/// Answers each call with `result` until the assistant has nothing left to ask.
fn turn(
    history: &mut Vec<Message>,
    message: &str,
    result: impl Fn(&ToolCall) -> ToolResult,
) -> (Vec<(String, Value)>, String) {
    history.push(user(message));
    let mut made = Vec::new();
    for _ in 0..8 {
        let reply = answer(history);
        history.push(Message::Assistant {
            parts: reply.parts.clone(),
        });
        if reply.stop == Some(StopReason::End) {
            return (made, text(&reply));
        }
        made.extend(calls(&reply));
        let answers = reply
            .parts
            .iter()
            .filter_map(Part::as_call)
            .map(|call| ToolAnswer {
                call_id: call.id.clone(),
                tool_id: call.tool_id.clone(),
                result: result(call),
            });
        history.push(Message::Tools {
            answers: answers.collect(),
        });
    }
    panic!("the turn did not end: {made:?}");
}

#[track_caller]
fn check_turn(message: &str, expected: &[(&str, Value)], answer: &str) {
    let say = |call: &ToolCall| match call.tool_id.as_str() {
        "builtin_calculate" => Ok(ToolOutput::text("42")),
        "builtin_read_file" => Ok(ToolOutput::text("# To-do\n\n- [ ] First task")),
        _ => Ok(ToolOutput::text("ok")),
    };
    let (made, said) = turn(&mut Vec::new(), message, say);
    let expected: Vec<(String, Value)> = expected
        .iter()
        .map(|(id, input)| (id.to_string(), input.clone()))
        .collect();
    assert_eq!(made, expected, "{message}: {said}");
    assert_eq!(said, answer, "{message}");
}

#[test]
fn a_plan_is_followed_clause_by_clause() {
    check_turn(
        "Make a file notes.md with a to-do list and read it back",
        &[write("notes.md", TODO), read("notes.md")].concat(),
        "**Files/Write file**\n\nok\n\n**Files/Read file**\n\n```\n# To-do\n\n- [ ] First task\n```",
    );
    check_turn(
        "calculate 6*7 and then write it to answer.txt",
        &[sum("6*7"), write("answer.txt", "42")].concat(),
        "**Calculator/Calculate**\n\n42\n\n**Files/Write file**\n\nok",
    );
    check_turn(
        "把“你好”写入 a.txt，然后读出来",
        &[write("a.txt", "你好"), read("a.txt")].concat(),
        "**Files/Write file**\n\nok\n\n**Files/Read file**\n\n```\n# To-do\n\n- [ ] First task\n```",
    );
    check_turn(
        "what's the time in Tokyo and the weather in Oslo?",
        &[time("Tokyo"), weather("Oslo")].concat(),
        "**Time/Current time**\n\nok\n\n**Sky/Weather**\n\nok",
    );
    check_turn(
        "Save \"hello world\" to a.txt and then show me it",
        &[write("a.txt", "hello world"), read("a.txt")].concat(),
        "**Files/Write file**\n\nok\n\n**Files/Read file**\n\n```\n# To-do\n\n- [ ] First task\n```",
    );
    check_turn("6*7; 6*7", &sum("6*7"), "42");
    check_turn(
        "计算 6*7，然后把结果写入 a.txt",
        &[sum("6*7"), write("a.txt", "42")].concat(),
        "**Calculator/Calculate**\n\n42\n\n**Files/Write file**\n\nok",
    );
    check_turn(
        "write 'x' to a.txt; write 'y' to b.txt; list my files",
        &[write("a.txt", "x"), write("b.txt", "y"), files()].concat(),
        "**Files/Write file**\n\nok\n\n**Files/Write file**\n\nok\n\n**Files/List files**\n\nok",
    );
    let list = "```\n# To-do\n\n- [ ] First task\n```";
    check_turn(
        "read a.txt and b.txt",
        &[read("a.txt"), read("b.txt")].concat(),
        &format!("**Files/Read file**\n\n{list}\n\n**Files/Read file**\n\n{list}"),
    );
    check_turn(
        "search my files for bread and butter",
        &search("bread and butter"),
        "ok",
    );
}

#[test]
fn a_failed_step_ends_the_plan() {
    let fail = |_: &ToolCall| Err(ToolError::failed("the disk is full"));
    let (made, said) = turn(&mut Vec::new(), "write 'x' to a.txt and read it back", fail);
    assert_eq!(made.len(), 1);
    assert_eq!(said, "That did not work: the disk is full");
    let (_, said) = turn(&mut Vec::new(), "读取 a.txt", fail);
    assert_eq!(said, "没有成功：the disk is full");
}

#[test]
fn a_missing_argument_is_asked_for_and_the_answer_completes_the_call() {
    let ok = |_: &ToolCall| Ok(ToolOutput::text("ok"));
    let check = |messages: &[&str], question: &str, expected: Vec<(&str, Value)>| {
        let mut history = Vec::new();
        let (made, said) = turn(&mut history, messages[0], ok);
        assert_eq!(
            (made.as_slice(), said.as_str()),
            ([].as_slice(), question),
            "{messages:?}"
        );
        let mut made = Vec::new();
        for message in &messages[1..] {
            made.extend(turn(&mut history, message, ok).0);
        }
        let expected: Vec<(String, Value)> = expected
            .into_iter()
            .map(|(id, input)| (id.to_string(), input))
            .collect();
        assert_eq!(made, expected, "{messages:?}: {history:?}");
    };
    let content = "To use *Files/Write file* I need `content`: What to write.";
    check(
        &["write a file notes.md", "buy milk"],
        content,
        write("notes.md", "buy milk"),
    );
    check(
        &["create notes.md with a poem about cats", "'miaow'"],
        content,
        write("notes.md", "miaow"),
    );
    check(
        &["write a file notes.md", "what time is it in Tokyo?"],
        content,
        time("Tokyo"),
    );
    check(&["write a file notes.md", "never mind"], content, vec![]);
    check(
        &["write a file notes.md and read it back", "buy milk"],
        content,
        [write("notes.md", "buy milk"), read("notes.md")].concat(),
    );
    check(
        &["write a file", "notes.md", "a to-do list"],
        "To use *Files/Write file* I need `path`: The file.",
        write("notes.md", TODO),
    );
    check(
        &["read \"my notes.md\""],
        "To use *Files/Read file* I need `path`: The file.",
        vec![],
    );
    check(
        &["计算", "6*7"],
        "要使用 *Calculator/Calculate*，我还需要 `expression`：Such as (17+4)*23.",
        sum("6*7"),
    );
    check(
        &["What's the weather?", "Oslo"],
        "To use *Sky/Weather* I need `city`. What should it be?",
        weather("Oslo"),
    );
    check(
        &["light in the kitchen", "off please"],
        "To use *Home/Light* I need `state`: (on, off)",
        one("mcp_home_light", json!({"state": "off", "room": "kitchen"})),
    );
    check(
        &["sleep", "hello"],
        "To use *Time/Sleep* I need `seconds`. What should it be?",
        vec![],
    );
    check(
        &["sleep", "10"],
        "To use *Time/Sleep* I need `seconds`. What should it be?",
        sleep(10),
    );
}

#[test]
fn what_was_spoken_of_before_can_be_pointed_at() {
    let ok = |_: &ToolCall| Ok(ToolOutput::text("ok"));
    let mut history = Vec::new();
    turn(&mut history, "write 'x' to a.txt", ok);
    assert_eq!(
        turn(&mut history, "now read it", ok).0,
        [("builtin_read_file".to_owned(), json!({"path": "a.txt"}))]
    );
}
