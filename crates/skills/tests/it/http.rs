//! Arguments of a call as the request they become.

use serde_json::{Value, json};
use tenon_skills::http::{HttpMappingError, Variables};
use tenon_skills::{SkillPackage, SkillToolRun};

use crate::packages::tree;

fn request(tool: &str, arguments: Value) -> Result<String, HttpMappingError> {
    let lines: String = tool.lines().map(|line| format!("    {line}\n")).collect();
    let manifest = format!(
        "---\nname: a\ndescription: b\ntools:\n  - name: t\n{lines}    parameters: {{type: object, properties: {{id: {{}}, q: {{}}, n: {{}}}}}}\n---\n"
    );
    let package = SkillPackage::read(&tree(&[("SKILL.md", &manifest)]), None).unwrap();
    let SkillToolRun::Http(mapping) = &package.tools[0].run else {
        panic!("{package:?}");
    };
    let variables = [
        ("BASE", "https://own.example/api/"),
        ("KEY", "s/c&t"),
        ("BAD", "a\nb"),
    ];
    let variables: Variables = variables
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let request = mapping.request(None, &variables, &arguments)?;
    let headers = request
        .headers
        .iter()
        .filter(|(name, _)| !["accept", "content-type"].contains(&name.as_str()));
    let headers: String = headers
        .map(|(name, value)| format!(" {name}={}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    let body = request.body.map_or(String::new(), |body| {
        format!(" {}", String::from_utf8(body).unwrap())
    });
    Ok(format!("{} {}{headers}{body}", request.method, request.url))
}

#[track_caller]
fn check(tool: &str, arguments: Value, expected: &str) {
    assert_eq!(request(tool, arguments).unwrap(), expected);
}

#[test]
fn arguments_go_where_the_mapping_says() {
    let all = json!({"id": 1, "q": "a b", "n": [1, 2]});
    check(
        "endpoint: https://x.example/i/{id}",
        all.clone(),
        "GET https://x.example/i/1?q=a%20b&n=1&n=2",
    );
    check(
        "method: delete\nendpoint: https://x.example/i/{id}?v=2",
        json!({"id": "a"}),
        "DELETE https://x.example/i/a?v=2",
    );
    check(
        "method: POST\nendpoint: https://x.example/i/{id}",
        all.clone(),
        r#"POST https://x.example/i/1 {"q":"a b","n":[1,2]}"#,
    );
    check(
        "method: POST\nendpoint: https://x.example/i\nmapping: {id: query.key, q: {in: header, name: X-Q}}",
        all.clone(),
        r#"POST https://x.example/i?key=1 x-q=a b {"n":[1,2]}"#,
    );
    check(
        "method: PUT\nendpoint: https://x.example\nmapping: {query: [id], body: {text: q}}",
        all,
        r#"PUT https://x.example/?id=1 {"text":"a b","n":[1,2]}"#,
    );
    check(
        "endpoint: https://x.example",
        json!({"more": "x"}),
        "GET https://x.example/?more=x",
    );
}

#[test]
fn variables_are_filled_in_and_no_argument_is_one() {
    check(
        "endpoint: ${BASE}/s/${KEY}?k=${KEY}\nheaders: {Authorization: 'Bearer ${KEY}'}",
        json!({}),
        "GET https://own.example/api/s/s%2Fc%26t?k=s%2Fc%26t authorization=Bearer s/c&t",
    );
    check(
        "endpoint: https://x.example/${KEY}",
        json!({"$KEY": "mine"}),
        "GET https://x.example/s%2Fc%26t",
    );
    let missing = request("endpoint: https://x.example/${NONE}", json!({}));
    assert_eq!(
        missing,
        Err(HttpMappingError::MissingVariable("NONE".to_owned()))
    );
    let broken = request(
        "endpoint: https://x.example\nheaders: {X-Bad: '${BAD}'}",
        json!({}),
    );
    assert_eq!(
        broken,
        Err(HttpMappingError::InvalidVariable("x-bad".to_owned()))
    );
}

#[test]
fn a_value_stays_in_its_segment() {
    let tool = "endpoint: https://x.example/a/{id}/b";
    check(
        tool,
        json!({"id": "../../x?y#z"}),
        "GET https://x.example/a/..%2F..%2Fx%3Fy%23z/b",
    );
    check(
        tool,
        json!({"id": "@evil.example/"}),
        "GET https://x.example/a/%40evil.example%2F/b",
    );
    for value in [json!(".."), json!(""), json!(null)] {
        assert!(request(tool, json!({"id": value})).is_err());
    }
    assert!(request(tool, json!([])).is_err());
}

#[test]
fn the_example_asks_wikipedia() {
    let manifest = include_str!("../../../../skills/wikipedia/SKILL.md");
    let package = SkillPackage::read(&tree(&[("SKILL.md", manifest)]), None).unwrap();
    let check = |name: &str, arguments: Value, expected: &str| {
        let tool = package.tools.iter().find(|tool| tool.name == name).unwrap();
        let SkillToolRun::Http(mapping) = &tool.run else {
            panic!("{name}");
        };
        let request = mapping.request(None, &Variables::default(), &arguments);
        assert_eq!(request.unwrap().url.as_str(), expected);
    };
    check(
        "search_articles",
        json!({"text": "Ada Lovelace", "limit": 3}),
        "https://en.wikipedia.org/w/rest.php/v1/search/page?q=Ada%20Lovelace&limit=3",
    );
    check(
        "search_chinese_articles",
        json!({"text": "你好"}),
        "https://zh.wikipedia.org/w/rest.php/v1/search/page?q=%E4%BD%A0%E5%A5%BD",
    );
    check(
        "read_summary",
        json!({"title": "AC/DC"}),
        "https://en.wikipedia.org/api/rest_v1/page/summary/AC%2FDC",
    );
}
