//! One message, one step: which tools are called, and with what. One table in five parts.

use super::ask::{
    TODO, check, fetch, files, now, one, read, search, sleep, sum, time, weather, write,
};
use serde_json::{Value, json};

type Cases = Vec<(&'static str, Vec<(&'static str, Value)>)>;

#[test]
fn every_paraphrase_finds_its_tool_and_arguments() {
    check(
        [
            the_time_is_told_where_it_is_asked_for(),
            sums_are_calculated(),
            files_are_listed_read_written_and_searched(),
            pages_are_fetched_and_pauses_kept(),
            tools_of_strangers_work_the_same_way(),
            a_tool_that_is_named_is_called(),
        ]
        .concat(),
    );
}

fn the_time_is_told_where_it_is_asked_for() -> Cases {
    vec![
        ("what time is it in Tokyo?", time("Tokyo")),
        ("东京现在几点？", time("东京")),
        ("現在東京幾點", time("東京")),
        ("Time in New York please", time("New York")),
        ("what's the time", now()),
        ("What time is it?", now()),
        ("现在几点了", now()),
        ("Tokyo time?", time("Tokyo")),
        ("tokyo time?", time("tokyo")),
        ("new york time?", time("new york")),
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
    ]
}

fn sums_are_calculated() -> Cases {
    vec![
        ("6*7", sum("6*7")),
        ("计算 (17+4)*23", sum("(17+4)*23")),
        ("what is (17+4)*23?", sum("(17+4)*23")),
        ("calculate 6*7", sum("6*7")),
        ("how much is 12.5 % of 80", sum("12.5 % of 80")),
        ("3 加 4", sum("3 + 4")),
        ("帮我算一下 12×12", sum("12*12")),
        ("what's the square root of 144?", sum("sqrt 144")),
        ("please compute 2^10 - 24", sum("2^10 - 24")),
        ("100 除以 8 等于多少", sum("100 / 8")),
        ("what's 5 times 8", sum("5 * 8")),
        ("2+2=?", sum("2+2")),
        ("12*12 是多少", sum("12*12")),
        ("what's 1,000 * 3", sum("1000 * 3")),
        ("what is 1,250 + 300", sum("1250 + 300")),
        ("1，250 加 300 是多少", sum("1250 + 300")),
        ("What is 5 feet in cm", sum("5 feet to cm")),
        (
            "how long is 90 minutes in hours",
            sum("90 minutes to hours"),
        ),
        ("5 km to miles", sum("5 km to miles")),
        ("convert 5 km to miles", sum("5 km to miles")),
        ("1公里等于多少米", sum("1 km to m")),
        ("把5公里换算成英里", sum("5 km to miles")),
        ("三加五", sum("3+5")),
        ("三百二十减十五等于几", sum("320-15")),
        ("what is -3 + 5", sum("-3 + 5")),
        ("-3 * 4", sum("-3 * 4")),
    ]
}

fn files_are_listed_read_written_and_searched() -> Cases {
    vec![
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
        ("write I am happy to a.txt", write("a.txt", "I am happy")),
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
    ]
}

fn pages_are_fetched_and_pauses_kept() -> Cases {
    vec![
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
        ("等三十秒", sleep(30)),
        ("sleep for 30 seconds", sleep(30)),
        ("wait 2 minutes", sleep(120)),
        ("pause for 5s", sleep(5)),
        (
            "看看 https://example.com 这个网页",
            fetch("https://example.com"),
        ),
    ]
}

fn tools_of_strangers_work_the_same_way() -> Cases {
    let light =
        |state: &str, room: &str| one("mcp_home_light", json!({"state": state, "room": room}));
    let issue = |input: Value| one("api_tracker_create_issue", input);
    let web = |input: Value| one("mcp_web_search_web", input);
    vec![
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
            "create an issue titled Crash with body It stops labels: bug, ui",
            issue(json!({"title": "Crash", "body": "It stops", "labels": ["bug", "ui"]})),
        ),
        (
            "创建工单，标题为“登录失败”，内容是“打不开”",
            issue(json!({"title": "登录失败", "body": "打不开"})),
        ),
        (
            "light room: living room state: off",
            light("off", "living room"),
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
    ]
}

fn a_tool_that_is_named_is_called() -> Cases {
    vec![
        ("builtin_calculate {\"expression\":\"6*7\"}", sum("6*7")),
        (
            r#"builtin_write_file {"path":"a.txt","content":"\"a\", and then read b.txt"}"#,
            write("a.txt", "\"a\", and then read b.txt"),
        ),
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
        ("builtin_calculate expression: (17+4)*23", sum("(17+4)*23")),
        (
            "builtin_search_result blob_id=b42 query=launch",
            one(
                "builtin_search_result",
                json!({"blob_id": "b42", "query": "launch"}),
            ),
        ),
    ]
}
