use tenon_domain::CodedError;

use super::*;

pub(super) fn draft(set: impl FnOnce(&mut McpDraft)) -> Result<McpConfig, String> {
    let mut draft = McpDraft::default();
    set(&mut draft);
    draft.config().map_err(|refusal| refusal.to_string())
}

pub(super) fn map(name: &str, value: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(name.to_owned(), value.to_owned())])
}

#[test]
fn a_name_is_part_of_an_id() {
    let check = |text: &str, is_name: bool| assert_eq!(name(text).is_ok(), is_name, "{text:?}");
    check("memory", true);
    check("My-server_2", true);
    check(&"x".repeat(40), true);
    check(&"x".repeat(41), false);
    check("", false);
    check("a b", false);
    check("a.b", false);
    check("a:b", false);
    check("../etc", false);
    check("网页", false);
    check("a\n", false);
}

#[test]
fn the_way_is_found_out_and_what_belongs_to_another_is_refused() {
    let check = |set: &dyn Fn(&mut McpDraft), expected: Result<&str, &str>| {
        let found = draft(set).map(|config| format!("{:?}", config.transport));
        match (&found, expected) {
            (Ok(way), Ok(expected)) => assert!(way.starts_with(expected), "{way}"),
            (Err(why), Err(expected)) => assert!(why.contains(expected), "{why}"),
            _ => panic!("{found:?}, not {expected:?}"),
        }
    };
    let command = |draft: &mut McpDraft| draft.command = Some("npx".into());
    let url = |draft: &mut McpDraft| draft.url = Some("https://a.example/mcp".into());
    let way = |draft: &mut McpDraft, way: &str| draft.transport = Some(way.into());
    check(&|_| {}, Err("`command`"));
    check(&command, Ok("Stdio"));
    check(&url, Ok("Http"));
    check(&|d| (url(d), way(d, "sse")).0, Ok("Sse"));
    check(&|d| (url(d), way(d, "http")).0, Ok("Http"));
    check(&|d| (command(d), url(d)).0, Err("not both"));
    check(&|d| (url(d), way(d, "ftp")).0, Err("`transport`"));
    check(
        &|d| (url(d), way(d, "stdio")).0,
        Err("`url` is for an address"),
    );
    check(&|d| way(d, "stdio"), Err("which program"));
    check(&|d| way(d, "http"), Err("not the address"));
    check(
        &|d| (command(d), d.headers = map("X-A", "1")).0,
        Err("`headers`"),
    );
    check(&|d| (url(d), d.env = map("A", "1")).0, Err("`env`"));
    check(&|d| (url(d), d.args = vec!["-y".into()]).0, Err("`args`"));
    check(&|d| (url(d), d.cwd = Some("/".into())).0, Err("`cwd`"));
}

#[test]
fn an_address_is_of_the_web() {
    let check = |url: &str, is_one: bool| {
        let made = draft(|draft| draft.url = Some(url.into()));
        assert_eq!(made.is_ok(), is_one, "{url:?}");
    };
    check("https://a.example/mcp", true);
    check(" http://localhost:8000/sse ", true);
    check("http://[::1]:8000/mcp?key=${KEY}", true);
    check("https://${HOST}/mcp", true);
    check("https://${HOST}:${PORT}/${user.ID}", true);
    check("${URL}", false);
    check("ftp://a.example/", false);
    check("file:///etc/passwd", false);
    check("a.example/mcp", false);
    check("https://", false);
    check("https://a b/", false);
    check("https://a.example/a\u{a0}b", false);
    check("https://a.example\\@b.example/", false);
    check("https://a.example/a\\b", false);
    check("https://a.example/a\tb", false);
    check("https://a.example/\u{7}", false);
    check(&format!("https://a.example/{}", "x".repeat(2048)), false);
}

#[test]
fn headers_and_variables_are_ones_that_can_be_sent() {
    let header = |name: &str, value: &str, fits: bool| {
        let made = draft(|draft| {
            draft.url = Some("https://a.example".into());
            draft.headers = map(name, value);
        });
        assert_eq!(made.is_ok(), fits, "{name:?}: {value:?}");
    };
    header("Authorization", "Bearer ${user.KEY}", true);
    header("X-Api-Key", "k", true);
    header("x y", "k", false);
    header("", "k", false);
    header("X-A", "a\r\nX-B: b", false);
    header("Host", "elsewhere", false);
    header("Mcp-Session-Id", "1", false);
    header("X-A", &"x".repeat(MAX_TEXT_BYTES + 1), false);
    let variable = |name: &str, value: &str, fits: bool| {
        let made = draft(|draft| {
            draft.command = Some("run".into());
            draft.env = map(name, value);
        });
        assert_eq!(made.is_ok(), fits, "{name:?}: {value:?}");
    };
    variable("KEY", "several\nlines", true);
    variable("", "v", false);
    variable("A=B", "v", false);
    variable("A", "nul\0", false);
}

#[test]
fn times_are_within_reason() {
    let check = |timeout: u64, sleep: u64, fits: bool| {
        let made = draft(|draft| {
            draft.command = Some("run".into());
            draft.timeout_ms = Some(timeout);
            draft.sleep_after_ms = Some(sleep);
        });
        assert_eq!(made.is_ok(), fits, "{timeout} {sleep}");
    };
    check(100, 1_000, true);
    check(MAX_TIMEOUT_MS, MAX_SLEEP_MS, true);
    check(0, 1_000, false);
    check(MAX_TIMEOUT_MS + 1, 1_000, false);
    check(100, 999, false);
    check(100, MAX_SLEEP_MS + 1, false);
}

#[test]
fn what_is_wrong_is_said_of_a_field() {
    let check = |set: &dyn Fn(&mut McpDraft), field: &str| {
        let mut draft = McpDraft::default();
        set(&mut draft);
        let why = draft.config().unwrap_err().detail();
        assert_eq!(why.field.as_deref(), Some(field), "{why}");
    };
    let program = |draft: &mut McpDraft| draft.command = Some("run".into());
    let remote = |draft: &mut McpDraft| draft.url = Some("https://a.example".into());
    check(&|d| d.url = Some("a".into()), "url");
    check(&|d| d.command = Some("a\nb".into()), "command");
    check(&|d| (program(d), d.args = vec!["\0".into()]).0, "args");
    check(
        &|d| (program(d), d.args = vec![String::new(); 201]).0,
        "args",
    );
    check(&|d| (program(d), d.env = map("A=B", "c")).0, "env");
    check(&|d| (program(d), d.env = map("A", "\0")).0, "env");
    check(&|d| (program(d), d.cwd = Some("a\nb".into())).0, "cwd");
    check(&|d| (remote(d), d.headers = map("Host", "a")).0, "headers");
    check(&|d| (remote(d), d.headers = map("a b", "c")).0, "headers");
    check(&|d| (program(d), d.timeout_ms = Some(1)).0, "timeoutMs");
    check(
        &|d| (program(d), d.sleep_after_ms = Some(1)).0,
        "sleepAfterMs",
    );
    check(
        &|d| (program(d), d.start_timeout_ms = Some(1)).0,
        "startTimeoutMs",
    );
    let one = |name: &str, limit| BTreeMap::from([(name.to_owned(), limit)]);
    let tool = |d: &mut McpDraft, name: &str, limit| d.tool_timeouts_ms = one(name, limit);
    check(&|d| (program(d), tool(d, "a", 1)).0, "toolTimeoutsMs");
    check(&|d| (program(d), tool(d, "", 100)).0, "toolTimeoutsMs");
    let field = |refusal: SourceError| refusal.detail().field;
    assert_eq!(field(name("a b").unwrap_err()).as_deref(), Some("name"));
    let odd = title(Some("a\u{202E}b"), "a").unwrap_err();
    assert_eq!(field(odd).as_deref(), Some("title"));
}
