//! What the built-in assistant makes of what people write.

mod tools;

use std::sync::Arc;

use futures::StreamExt;
use serde_json::{Value, json};
use tenon_domain::{
    CallId, Message, Part, StopReason, ToolAnswer, ToolCall, ToolError, ToolOutput, ToolResult,
    ToolSpec,
};
use tenon_llm::{Assembler, Assistant, Delta, Provider, Reply, Request};
use tools::tools;

fn answer(messages: &[Message]) -> Reply {
    answer_with(messages, tools())
}

fn answer_with(messages: &[Message], tools: Vec<Arc<ToolSpec>>) -> Reply {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let request = Request {
            system: String::new(),
            messages: messages.to_vec(),
            tools,
        };
        let mut deltas = Assistant.stream(request).await.expect("it always answers");
        let mut assembler = Assembler::default();
        while let Some(delta) = deltas.next().await {
            assembler.push(delta.expect("it never fails"));
        }
        assembler.finish(|| CallId::new("call"))
    })
}

fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

fn calls(reply: &Reply) -> Vec<(String, Value)> {
    let calls = reply.parts.iter().filter_map(Part::as_call);
    calls
        .map(|call| (call.tool_id.as_str().to_owned(), call.input.clone()))
        .collect()
}

fn text(reply: &Reply) -> String {
    reply.parts.iter().filter_map(Part::as_text).collect()
}

/// What is wrong with the first step it takes, if anything.
fn wrong(message: &str, expected: &[(&str, Value)]) -> Option<String> {
    let reply = answer(&[user(message)]);
    let expected: Vec<(String, Value)> = expected
        .iter()
        .map(|(id, input)| (id.to_string(), input.clone()))
        .collect();
    let found = calls(&reply);
    // Who wants nothing is asked for nothing either.
    let asks = expected.is_empty() && text(&reply).contains('`');
    (found != expected || asks).then(|| {
        let head = |text: &str| text.chars().take(200).collect::<String>();
        let (expected, found) = (
            format!("{expected:?}"),
            format!("{found:?} {}", text(&reply)),
        );
        format!(
            "{}\n  expected {}\n  found    {}",
            head(message),
            head(&expected),
            head(&found)
        )
    })
}

/// All that is wrong, at once: rules that pull in different directions are tuned together.
#[track_caller]
fn check(cases: Vec<(&str, Vec<(&str, Value)>)>) {
    // Side by side, since a spoken answer takes its time.
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let run = |(message, expected)| scope.spawn(move || wrong(message, expected));
        let running: Vec<_> = cases
            .iter()
            .map(|(message, expected)| run((*message, expected.as_slice())))
            .collect();
        running
            .into_iter()
            .filter_map(|case| case.join().expect("it does not panic"))
            .collect()
    });
    assert!(
        wrong.is_empty(),
        "{} of {} are wrong:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

fn one(tool: &'static str, input: Value) -> Vec<(&'static str, Value)> {
    vec![(tool, input)]
}

fn time(place: &str) -> Vec<(&'static str, Value)> {
    one("builtin_current_time", json!({"timezone": place}))
}

fn now() -> Vec<(&'static str, Value)> {
    one("builtin_current_time", json!({}))
}

fn sum(expression: &str) -> Vec<(&'static str, Value)> {
    one("builtin_calculate", json!({"expression": expression}))
}

fn read(path: &str) -> Vec<(&'static str, Value)> {
    one("builtin_read_file", json!({"path": path}))
}

fn write(path: &str, content: &str) -> Vec<(&'static str, Value)> {
    one(
        "builtin_write_file",
        json!({"path": path, "content": content}),
    )
}

fn files() -> Vec<(&'static str, Value)> {
    one("builtin_list_files", json!({}))
}

fn search(query: &str) -> Vec<(&'static str, Value)> {
    one("builtin_search_files", json!({"query": query}))
}

fn fetch(url: &str) -> Vec<(&'static str, Value)> {
    one("builtin_fetch_url", json!({"url": url}))
}

fn sleep(seconds: i64) -> Vec<(&'static str, Value)> {
    one("builtin_sleep", json!({"seconds": seconds}))
}

fn weather(city: &str) -> Vec<(&'static str, Value)> {
    one("mcp_sky_weather", json!({"city": city}))
}

const TODO: &str = "# To-do\n\n- [ ] First task\n- [ ] Second task\n- [ ] Third task\n";

#[test]
fn the_time_is_told_where_it_is_asked_for() {
    check(vec![
        ("what time is it in Tokyo?", time("Tokyo")),
        ("东京现在几点？", time("东京")),
        ("現在東京幾點", time("東京")),
        ("Time in New York please", time("New York")),
        ("what's the time", now()),
        ("What time is it?", now()),
        ("现在几点了", now()),
        ("tokyo time?", time("tokyo")),
        (
            "Can you tell me the current time in Buenos Aires?",
            time("Buenos Aires"),
        ),
        ("what time is it in paris", time("paris")),
        ("current time", now()),
        ("hey, what time is it in Berlin?", time("Berlin")),
        ("do you know the time in São Paulo?", time("São Paulo")),
        ("台北現在幾點？", time("台北")),
        ("What day is it today?", now()),
        (
            "what time is it in Tokyo, New York City and London",
            [time("Tokyo"), time("New York City"), time("London")].concat(),
        ),
        ("time in Asia/Kolkata", time("Asia/Kolkata")),
        ("告诉我纽约的时间", time("纽约")),
        ("请问伦敦现在几点", time("伦敦")),
        ("what is the date today?", now()),
        ("今天几号", now()),
        (
            "What time is it in Tokyo and in Paris?",
            [time("Tokyo"), time("Paris")].concat(),
        ),
        (
            "东京和巴黎现在几点？",
            [time("东京"), time("巴黎")].concat(),
        ),
        (
            "convert 14:30 from Tokyo to Paris",
            one(
                "builtin_convert_time",
                json!({"time": "14:30", "from": "Tokyo", "to": "Paris"}),
            ),
        ),
        (
            "Convert 3pm New York time to London",
            one(
                "builtin_convert_time",
                json!({"time": "3pm", "from": "New York", "to": "London"}),
            ),
        ),
        (
            "convert 3pm Tokyo time to Paris time",
            one(
                "builtin_convert_time",
                json!({"time": "3pm", "from": "Tokyo", "to": "Paris"}),
            ),
        ),
        (
            "what is 14:30 Tokyo time in Paris?",
            one(
                "builtin_convert_time",
                json!({"time": "14:30", "from": "Tokyo", "to": "Paris"}),
            ),
        ),
        ("东京那边现在几点", time("东京")),
        ("现在东京几点", time("东京")),
        ("东京时间", time("东京")),
        ("东京几点了", time("东京")),
        ("时间：东京", time("东京")),
        (
            "what time is it in new york and london",
            [time("new york"), time("london")].concat(),
        ),
        (
            "what time is it in paris, tokyo and new york?",
            [time("paris"), time("tokyo"), time("new york")].concat(),
        ),
        (
            "纽约现在几点，伦敦呢",
            [time("纽约"), time("伦敦")].concat(),
        ),
        (
            "纽约现在几点？伦敦呢？",
            [time("纽约"), time("伦敦")].concat(),
        ),
    ]);
}

#[test]
fn sums_are_calculated() {
    check(vec![
        ("6*7", sum("6*7")),
        ("计算 (17+4)*23", sum("(17+4)*23")),
        ("what is (17+4)*23?", sum("(17+4)*23")),
        ("calculate 6*7", sum("6*7")),
        ("how much is 12.5 % of 80", sum("12.5/100*80")),
        ("3 加 4", sum("3 + 4")),
        ("帮我算一下 12×12", sum("12*12")),
        ("what's the square root of 144?", sum("sqrt(144)")),
        ("please compute 2^10 - 24", sum("2^10 - 24")),
        ("100 除以 8 等于多少", sum("100 / 8")),
        ("what's 5 times 8", sum("5 * 8")),
        ("2+2=?", sum("2+2")),
        ("12*12 是多少", sum("12*12")),
        ("what's 1,000 * 3", sum("1000 * 3")),
        ("what is 1,250 + 300", sum("1250 + 300")),
        ("1，250 加 300 是多少", sum("1250 + 300")),
        ("100的15%是多少", sum("100*15/100")),
        ("100减去15%", sum("100*(1-15/100)")),
        ("三加五等于多少", sum("3+5")),
        ("What is 5 feet in cm", sum("5 feet to cm")),
        (
            "how long is 90 minutes in hours",
            sum("90 minutes to hours"),
        ),
        ("5 km to miles", sum("5 km to miles")),
        ("convert 5 km to miles", sum("5 km to miles")),
        ("1公里等于多少米", sum("1 km to m")),
        ("把5公里换算成英里", sum("5 km to miles")),
    ]);
}

#[test]
fn files_are_listed_read_written_and_searched() {
    check(vec![
        ("list my files", files()),
        ("有哪些文件", files()),
        ("what files do I have?", files()),
        ("show me the files", files()),
        ("列出我的檔案", files()),
        (
            "list files in src/lib",
            one("builtin_list_files", json!({"path": "src/lib"})),
        ),
        (
            "list all the files in the folder docs",
            one("builtin_list_files", json!({"path": "docs"})),
        ),
        ("ls", files()),
        ("我有哪些文件？", files()),
        ("what's in notes.md?", read("notes.md")),
        ("cat notes.md", read("notes.md")),
        ("讀取檔案 notes.md", read("notes.md")),
        ("read notes.md", read("notes.md")),
        ("show me notes.md", read("notes.md")),
        ("读取 notes.md", read("notes.md")),
        ("看看笔记.md", read("笔记.md")),
        ("打开 notes.md", read("notes.md")),
        (
            "can you please read the file docs/a.txt",
            read("docs/a.txt"),
        ),
        (
            "read notes.md limit 5",
            one("builtin_read_file", json!({"path": "notes.md", "limit": 5})),
        ),
        (
            "write 'hello world' to a/b.txt",
            write("a/b.txt", "hello world"),
        ),
        ("把“你好”写入 hello.txt", write("hello.txt", "你好")),
        (
            "write hello world to a/b.txt",
            write("a/b.txt", "hello world"),
        ),
        ("save «bonjour» in fr.txt", write("fr.txt", "bonjour")),
        (
            "create a file called hello.txt with the text hello there",
            write("hello.txt", "hello there"),
        ),
        (
            "write to notes.md: buy milk and call mum",
            write("notes.md", "buy milk and call mum"),
        ),
        ("新建文件 a.txt，内容是「早上好」", write("a.txt", "早上好")),
        (
            "Make a file notes.md with a to-do list",
            write("notes.md", TODO),
        ),
        ("write a todo list in todo.md", write("todo.md", TODO)),
        (
            "Create a file hello.txt containing Hello, world!",
            write("hello.txt", "Hello, world!"),
        ),
        (
            "新建一个文件 hello.txt，写入“你好世界”",
            write("hello.txt", "你好世界"),
        ),
        ("寫入「早安」到 a.txt", write("a.txt", "早安")),
        (
            "add 'buy milk' to list.md",
            one(
                "builtin_write_file",
                json!({"path": "list.md", "content": "buy milk\n", "append": true}),
            ),
        ),
        (
            "把“牛奶”追加到 list.md",
            one(
                "builtin_write_file",
                json!({"path": "list.md", "content": "牛奶\n", "append": true}),
            ),
        ),
        (
            "add milk to todo.txt",
            one(
                "builtin_write_file",
                json!({"path": "todo.txt", "content": "milk\n", "append": true}),
            ),
        ),
        ("write hello to a.txt", write("a.txt", "hello")),
        ("把 hello 写入 a.txt", write("a.txt", "hello")),
        ("写入 hello 到 a.txt", write("a.txt", "hello")),
        ("make a to-do list in todo.md", write("todo.md", TODO)),
        (
            "write a.txt saying hello there",
            write("a.txt", "hello there"),
        ),
        (
            "write to a.txt:\n```\none\ntwo\n```",
            write("a.txt", "one\ntwo"),
        ),
        (
            "list the folder docs",
            one("builtin_list_files", json!({"path": "docs"})),
        ),
        ("search my notes for launch", search("launch")),
        ("search for launch in my files", search("launch")),
        ("查找文件中的“预算”", search("预算")),
        ("search my files for launch", search("launch")),
        ("find \"launch plan\" in my files", search("launch plan")),
        ("搜索文件里的发布计划", search("发布计划")),
        ("在檔案中搜尋「發布」", search("發布")),
    ]);
}

#[test]
fn pages_are_fetched_and_pauses_kept() {
    check(vec![
        (
            "fetch https://example.com/x",
            fetch("https://example.com/x"),
        ),
        ("打开 https://example.com", fetch("https://example.com")),
        ("open example.com please", fetch("https://example.com")),
        (
            "get me the page https://a.org/b?c=d.",
            fetch("https://a.org/b?c=d"),
        ),
        (
            "抓取网页 https://example.com/ 给我看",
            fetch("https://example.com/"),
        ),
        ("sleep for 3 seconds", sleep(3)),
        ("等待 3 秒", sleep(3)),
        ("sleep for 30 seconds", sleep(30)),
        ("wait 2 minutes", sleep(120)),
        ("等三秒", sleep(3)),
        ("pause for 5s", sleep(5)),
        ("wait for ten seconds", sleep(10)),
        ("休息两分钟", sleep(120)),
        (
            "看看 https://example.com 这个网页",
            fetch("https://example.com"),
        ),
    ]);
}

#[test]
fn tools_of_strangers_work_the_same_way() {
    let light =
        |state: &str, room: &str| one("mcp_home_light", json!({"state": state, "room": room}));
    let issue = |input: Value| one("api_tracker_create_issue", input);
    let web = |input: Value| one("mcp_web_search_web", input);
    check(vec![
        ("turn the light in the kitchen on", light("on", "kitchen")),
        (
            "switch off the light in the living room",
            light("off", "living room"),
        ),
        ("打开厨房的灯", light("on", "厨房")),
        ("turn off the bedroom light", light("off", "bedroom")),
        ("关掉卧室的灯", light("off", "卧室")),
        ("weather in Oslo", weather("Oslo")),
        (
            "What's the weather like in San Francisco today?",
            weather("San Francisco"),
        ),
        ("北京天气怎么样", weather("北京")),
        ("weather oslo", weather("oslo")),
        ("北京明天天气", weather("北京")),
        (
            "北京天气怎么样，上海呢",
            [weather("北京"), weather("上海")].concat(),
        ),
        ("is it going to rain in Bergen?", weather("Bergen")),
        (
            "create an issue titled \"Login fails\"",
            issue(json!({"title": "Login fails"})),
        ),
        (
            "create an issue titled Login fails with body Safari breaks",
            issue(json!({"title": "Login fails", "body": "Safari breaks"})),
        ),
        (
            "create an issue titled 'Slow' labels: bug, ui",
            issue(json!({"title": "Slow", "labels": ["bug", "ui"]})),
        ),
        (
            "search the web for rust async traits",
            web(json!({"query": "rust async traits"})),
        ),
        (
            "search the web for cats count=3",
            web(json!({"query": "cats", "count": 3})),
        ),
        ("上网搜索 猫咪", web(json!({"query": "猫咪"}))),
    ]);
}

#[test]
fn a_tool_that_is_named_is_called() {
    check(vec![
        ("builtin_calculate {\"expression\":\"6*7\"}", sum("6*7")),
        ("{\"expression\":\"6*7\"}", sum("6*7")),
        (
            "call builtin_current_time with timezone Asia/Tokyo",
            time("Asia/Tokyo"),
        ),
        ("use builtin_read_file on notes.md", read("notes.md")),
        (
            "read_file path=notes.md limit=5",
            one("builtin_read_file", json!({"path": "notes.md", "limit": 5})),
        ),
        (
            "run builtin_claim_done",
            one("builtin_claim_done", json!({})),
        ),
        ("builtin_list_files", files()),
        (
            "builtin_search_result blob_id=b42 query=launch",
            one(
                "builtin_search_result",
                json!({"blob_id": "b42", "query": "launch"}),
            ),
        ),
        ("use Time/Current time in Tokyo", time("Tokyo")),
    ]);
}

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
        "save me",
        "write an email to Bob",
        "明天是几号",
        "昨天星期几",
        "后天几号",
        "时间过得真快",
        "浪费时间",
        "what is the date tomorrow",
        "what day was yesterday?",
        "下周一是几号",
        "what is the date next Monday?",
        "what time will it be in 3 hours",
        "三小时后几点",
        "Call 555-1234",
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
    check("search for restaurants in Paris", vec![]);
    check("上网搜索猫咪", vec![]);
    check("search for launch", search("launch"));
    check("search my files for launch", search("launch"));
    check("搜索发布计划", search("发布计划"));
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
    let bare = text(&answer_with(&[user("hello")], Vec::new()));
    assert!(bare.contains("no tools"), "{bare}");
}

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

#[test]
fn text_streams_and_calls_come_whole() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let deltas = |message: &str| {
        let request = Request {
            system: String::new(),
            messages: vec![user(message)],
            tools: tools(),
        };
        runtime.block_on(async {
            Assistant
                .stream(request)
                .await
                .expect("it always answers")
                .filter_map(async |delta| delta.ok())
                .collect::<Vec<_>>()
                .await
        })
    };
    let spoken = deltas("hello");
    assert!(
        spoken
            .iter()
            .filter(|delta| matches!(delta, Delta::Text(_)))
            .count()
            > 5
    );
    assert_eq!(spoken.last(), Some(&Delta::Stop(StopReason::End)));
    let called = deltas("6*7");
    assert_eq!(called.len(), 2);
    assert_eq!(called.last(), Some(&Delta::Stop(StopReason::ToolCalls)));
    assert_eq!(Assistant.name(), "Built-in assistant");
}

#[test]
fn a_long_text_is_written_whole() {
    let long = &format!("{}to the last", "every word counts, ".repeat(20_000));
    check(vec![
        (&format!("write to a.txt: {long}"), write("a.txt", long)),
        (&format!("create a.txt with {long}"), write("a.txt", long)),
        (&format!("write \"{long}\" to a.txt"), write("a.txt", long)),
    ]);
}

#[test]
fn a_megabyte_is_no_trouble() {
    let begun = std::time::Instant::now();
    for piece in [
        "word ",
        "东京",
        "'",
        "\"",
        "(",
        "6*",
        "a/b.txt ",
        "x",
        "{",
        "“",
        "and then read ",
        "`",
        "3",
    ] {
        let message = piece.repeat(1_000_000 / piece.len());
        answer(&[user(&message)]);
        answer(&[user(&format!("write to a.txt: {message}"))]);
    }
    // Some seconds unoptimised; anything quadratic would take hours.
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}
