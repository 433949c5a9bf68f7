//! Tools to choose from: the built-ins as they are described today, and some strangers.

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::{Annotations, RunsOn, ToolId, ToolSpec};

fn tool(id: &str, display_name: &str, description: &str, schema: Value) -> Arc<ToolSpec> {
    let name = id
        .strip_prefix("builtin_")
        .or_else(|| id.rsplit_once("__").map(|(_, name)| name))
        .unwrap_or(id);
    let title = display_name.rsplit('/').next().unwrap_or(display_name);
    Arc::new(ToolSpec {
        id: ToolId::new(id.replace("__", "_")),
        name: name.into(),
        title: title.into(),
        display_name: display_name.into(),
        description: description.into(),
        input_schema: schema.into(),
        annotations: Annotations {
            // Strangers seldom say what they do.
            read_only: id.starts_with("builtin_") && name != "write_file",
            ends_turn: name == "claim_done",
            ..Annotations::default()
        },
        runs_on: RunsOn::Server,
    })
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The built-ins as they are described today, and some strangers.
pub fn tools() -> Vec<Arc<ToolSpec>> {
    let text = |description: &str| json!({"type": "string", "description": description});
    let count = || json!({"type": "integer", "minimum": 0});
    vec![
        tool(
            "builtin_current_time",
            "Time/Current time",
            "Tells the current date, weekday and time, here or in any city, country or time zone. (现在几点, 現在幾點, 时间, 時間, 今天几号, 日期, 星期几)",
            object(
                json!({"timezone": text("An IANA name such as Asia/Tokyo, or a city.")}),
                &[],
            ),
        ),
        tool(
            "builtin_convert_time",
            "Time/Convert time",
            "Tells what a time in one place is in another, with summer time taken into account. (时区转换, 時區轉換, 时差, 時差, 换算时间)",
            object(
                json!({"time": text("The time, as 14:30 or 2026-05-01T14:30."), "from": text("The zone or city it is in."), "to": text("The zone or city wanted.")}),
                &["time", "from", "to"],
            ),
        ),
        tool(
            "builtin_calculate",
            "Calculator/Calculate",
            "Works out an arithmetic expression, exactly where that is possible: + - * / ^ ! mod, brackets, percent, pi, e, sqrt, sin, ln, log10, abs, round, min, max, sum, avg, and units. (计算, 計算, 算一下, 等于多少, 加减乘除)",
            object(
                json!({"expression": text("Such as (17+4)*23.")}),
                &["expression"],
            ),
        ),
        tool(
            "builtin_list_files",
            "Files/List files",
            "Lists the files and folders in a folder of the workspace, with sizes. (列出文件, 文件列表, 目录, 檔案列表, 資料夾)",
            object(
                json!({"path": text("The directory; the workspace itself if left out.")}),
                &[],
            ),
        ),
        tool(
            "builtin_read_file",
            "Files/Read file",
            "Reads a text file in the workspace, whole or some of its lines. (读文件, 读取文件, 打开文件, 查看文件, 讀取檔案)",
            object(
                json!({"path": text("The file."), "offset": count(), "limit": count()}),
                &["path"],
            ),
        ),
        tool(
            "builtin_write_file",
            "Files/Write file",
            "Writes a text file in the workspace, making folders as needed; what was in the file is replaced unless `append` is true. (写文件, 写入, 保存, 创建文件, 寫入檔案, 儲存)",
            object(
                json!({"path": text("The file."), "content": text("What to write."), "append": {"type": "boolean"}}),
                &["path", "content"],
            ),
        ),
        tool(
            "builtin_search_files",
            "Files/Search files",
            "Finds the lines of text files in the workspace that contain a text, whatever its case. (搜索文件, 查找, 全文搜索, 搜尋檔案)",
            object(
                json!({"query": text("The text to find."), "path": text("Where to look.")}),
                &["query"],
            ),
        ),
        tool(
            "builtin_fetch_url",
            "Web/Fetch URL",
            "Fetches a web page and gives its text. 打开网页 抓取 網頁",
            object(
                json!({"url": {"type": "string", "format": "uri"}}),
                &["url"],
            ),
        ),
        tool(
            "builtin_sleep",
            "Time/Sleep",
            "Waits for a number of seconds, at most 300, for example until a job elsewhere has gone on. (等待, 暂停, 暫停, 延时)",
            object(
                json!({"seconds": {"type": "number", "minimum": 0}}),
                &["seconds"],
            ),
        ),
        tool(
            "builtin_claim_done",
            "Chat/Claim done",
            "Says that the whole task is done and ends the turn. Call it once, after everything else. (完成, 结束, 結束)",
            object(json!({"summary": text("What was done.")}), &[]),
        ),
        tool(
            "builtin_read_result",
            "Results/Read result",
            "Reads a page of an output that was too long to show. (读取结果, 继续读取, 下一页, 讀取結果)",
            object(
                json!({"blob_id": text("The id of the result."), "offset": count(), "limit": count()}),
                &["blob_id"],
            ),
        ),
        tool(
            "builtin_search_result",
            "Results/Search result",
            "Searches a long result that was kept aside.",
            object(
                json!({"blob_id": text("The id of the result."), "query": text("The text to find.")}),
                &["blob_id", "query"],
            ),
        ),
        tool(
            "mcp_sky__weather",
            "Sky/Weather",
            "The weather in a city now.",
            object(json!({"city": {"type": "string"}}), &["city"]),
        ),
        tool(
            "api_tracker__create_issue",
            "Tracker/Create issue",
            "Creates an issue in the tracker.",
            object(
                json!({"title": {"type": "string"}, "body": {"type": ["string", "null"]}, "labels": {"type": "array", "items": {"type": "string"}}}),
                &["title"],
            ),
        ),
        tool(
            "mcp_web__search_web",
            "Search/Search web",
            "Searches the web.",
            object(
                json!({"query": {"type": "string"}, "count": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}),
                &["query"],
            ),
        ),
        tool(
            "mcp_home__light",
            "Home/Light",
            "Turns a light on or off.",
            object(
                json!({"state": {"enum": ["on", "off"]}, "room": {"type": "string"}}),
                &["state", "room"],
            ),
        ),
    ]
}
