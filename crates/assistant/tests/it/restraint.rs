//! What is said without calling anything.

use super::ask::{answer, answer_with, calls, check, search, text, user};
use super::tools::tools;
use serde_json::Value;

#[test]
fn small_talk_calls_nothing() {
    let lorem = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor. "
        .repeat(130);
    let prose = "Once upon a time there was a file of soldiers who could read and write; they made a list of \
                 the weather, searched the web of lies, and slept for a night and then created nothing. "
        .repeat(60);
    let quiet = [
        "hello",
        "谢谢",
        "🙂🙂🙂",
        "",
        "   \n",
        "thanks",
        "你好",
        "who are you?",
        "what can you do?",
        "help",
        "I am done",
        "I need some sleep",
        "how are you today?",
        "我做完了",
        "have a nice time",
        "tell me a joke",
        "what is love?",
        "good morning",
        "晚安",
        "你是谁",
        "I had a great time",
        "the weather is lovely",
        "thanks for reading the file",
        "what does it mean?",
        "算了",
        "?",
        "...",
        "ok",
        "list three colours",
        "我要睡了",
        "make dinner",
        "Do you sleep?",
        "let's read together",
        "write me a poem",
        "写一首诗",
        "how do I write a file?",
        "don't read notes.md",
        "delete notes.md",
        "rename a.txt to b.txt",
        "把 a.txt 改名为 b.txt",
        "write 'hello' to <img src=x onerror=owned=1>.md",
        "read <img src=x onerror=owned=1>.md",
        "create a folder named photos",
        "make a directory called photos",
        "新建文件夹 photos",
        "建立一个目录，名为 photos",
        "新增資料夾 photos",
        "find my keys",
        "convert 100 USD to EUR",
        "Time is money",
        "Time is Money",
        "Wait, what?",
        "等一下",
        "Can you sleep?",
        "write an email to Bob",
        "明天是几号",
        "昨天星期几",
        "后天几号",
        "时间过得真快",
        "浪费时间",
        "what is the date tomorrow",
        "what day was yesterday?",
        "北京明天天气",
        "下周一是几号",
        "what is the date next Monday?",
        "what time will it be in 3 hours",
        "三小时后几点",
        "Call 555-1234",
        "party time",
        "what does time mean?",
        "the 24/7 store",
        "on 11/15 we meet",
        "9/11 history",
        "who won the world cup in 2022?",
        "我读了一本书",
        "I finished reading the book",
        "my file is lost",
        "no",
        "再见",
        "\u{0}\u{202e}\u{feff}",
        &lorem,
        &prose,
    ];
    check(quiet.into_iter().map(|message| (message, vec![])).collect());
}

#[test]
fn without_a_tool_for_it_nothing_else_is_searched() {
    let without_web = || {
        let mut tools = tools();
        tools.retain(|tool| tool.id.as_str() != "mcp_web_search_web");
        tools
    };
    let check = |message: &str, expected: Vec<(&str, Value)>| {
        let reply = answer_with(&[user(message)], without_web());
        let expected: Vec<(String, Value)> = expected
            .into_iter()
            .map(|(id, input)| (id.to_string(), input))
            .collect();
        assert_eq!(calls(&reply), expected, "{message}: {}", text(&reply));
        assert!(!text(&reply).contains('`'), "{message}: {}", text(&reply));
    };
    check("search the web for cats", vec![]);
    check("find my keys", vec![]);
    check("上网搜索猫咪", vec![]);
    check("search for launch", search("launch"));
    check("search my files for launch", search("launch"));
    check("搜索文件里的发布计划", search("发布计划"));
}

#[test]
fn nothing_is_written_that_was_not_said() {
    let asks = |message: &str, argument: &str| {
        let reply = answer(&[user(message)]);
        let said = text(&reply);
        assert_eq!(calls(&reply), [], "{message}");
        assert!(said.contains(&format!("`{argument}`")), "{message}: {said}");
    };
    asks("create a file named photos.txt", "content");
    asks("create a file photos.txt quickly", "content");
    asks("save my notes to a.txt", "content");
    asks("写一个文件 a.txt", "content");
}

#[test]
fn the_assistant_says_what_it_is() {
    let english = text(&answer(&[user("who are you?")]));
    assert!(
        english.contains("I am Tenon's built-in assistant: no language model is connected"),
        "{english}"
    );
    assert!(
        english.contains("Time/Current time") && english.contains("takes a language model"),
        "{english}"
    );
    let chinese = text(&answer(&[user("你好")]));
    assert!(chinese.contains("内置助手"), "{chinese}");
    let left = text(&answer(&[user("never mind")]));
    assert_eq!(left, "All right, I leave it.");
    let bare = text(&answer_with(&[user("hello")], Vec::new()));
    assert!(bare.contains("no tools"), "{bare}");
}
