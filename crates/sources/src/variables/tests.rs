use proptest::prelude::*;

use tenon_domain::{McpConfig, McpTransport};

use super::*;

fn known(variable: &Variable) -> Option<String> {
    let value = match variable {
        Variable::Shared(name) => match name.as_str() {
            "KEY" => "k3y",
            "EMPTY" => "",
            "LOOP" => "${KEY}",
            "token.notes" => "t0ken",
            "agent_workspace" => "/work here",
            "input.api-key" => "typed",
            "input.My_key" => "typed too",
            _ => return None,
        },
        Variable::Personal(name) => match name.as_str() {
            "KEY" => "mine",
            _ => return None,
        },
    };
    Some(value.to_owned())
}

fn remote(url: &str) -> McpConfig {
    config(McpTransport::Http {
        url: url.to_owned(),
        headers: BTreeMap::new(),
    })
}

fn header(text: &str) -> McpConfig {
    config(McpTransport::Sse {
        url: "https://example.org".into(),
        headers: [("Authorization".to_owned(), text.to_owned())].into(),
    })
}

fn names(gap: &SubstitutionError) -> String {
    match gap {
        SubstitutionError::Missing(missing) => {
            let missing: Vec<String> = missing.variables.iter().map(ToString::to_string).collect();
            missing.join(" ")
        }
        SubstitutionError::Misplaced(why) => why.to_string(),
    }
}

fn config(transport: McpTransport) -> McpConfig {
    McpConfig {
        transport,
        timeout_ms: Some(5),
        tool_timeouts_ms: BTreeMap::new(),
        sleep_after_ms: None,
        start_timeout_ms: None,
        exclusive: false,
        client: None,
    }
}

fn program(command: &str, args: &[&str], env: &[(&str, &str)], cwd: &str) -> McpConfig {
    let env = env
        .iter()
        .map(|(name, text)| (name.to_string(), text.to_string()));
    config(McpTransport::Stdio {
        command: command.to_owned(),
        args: args.iter().map(ToString::to_string).collect(),
        env: env.collect(),
        cwd: Some(cwd.to_owned()),
    })
}

#[test]
fn variables_in_a_text_are_filled_in() {
    let check = |text: &str, expected: Result<&str, &str>| {
        let filled = fill(&header(text), &known);
        let filled = filled.map_err(|gap| names(&gap));
        let filled = filled.map(|filled| match filled.transport {
            McpTransport::Sse { headers, .. } => headers["Authorization"].clone(),
            _ => panic!("another transport"),
        });
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(filled, expected, "{text}");
    };
    check("", Ok(""));
    check("nothing", Ok("nothing"));
    check("${KEY}", Ok("k3y"));
    check("a ${KEY}${KEY} b", Ok("a k3yk3y b"));
    check("${env:KEY}", Ok("k3y"));
    check("${user.KEY}", Ok("mine"));
    check("${input:api-key}", Ok("typed"));
    check("${input:My key}", Ok("typed too"));
    check("{\"key\": \"${token.notes}\"}", Ok("{\"key\": \"t0ken\"}"));
    check("${agent_workspace}/x", Ok("/work here/x"));
    check("${KEY:-other}", Ok("k3y"));
    check("${NO:-other}", Ok("other"));
    check("${NO:-}", Ok(""));
    check("${EMPTY:-other}", Ok("other"));
    check("${EMPTY}", Ok(""));
    check("${env:NO:-a b: c}", Ok("a b: c"));
    check("${user.NO:-other}", Ok("other"));
    // A value is only text.
    check("${LOOP}", Ok("${KEY}"));
    check("${NO:-${KEY}", Ok("${KEY"));
    // Not ours.
    check("$KEY $ $$ {KEY}", Ok("$KEY $ $$ {KEY}"));
    check("$${KEY}", Ok("${KEY}"));
    check("$$${KEY}", Ok("$${KEY}"));
    check("${KEY", Ok("${KEY"));
    check("${", Ok("${"));
    check("${}", Ok("${}"));
    check("${user.}", Ok("${user.}"));
    check("${env:user.KEY}", Ok("${env:user.KEY}"));
    check("${input:}", Ok("${input:}"));
    check(
        "${command:pick} ${file%.*} ${1} ${ä}",
        Ok("${command:pick} ${file%.*} ${1} ${ä}"),
    );
    check("${${KEY}}", Ok("${k3y}"));
    // Nobody has set them.
    check("${NO} ${KEY} ${user.NO} ${NO}", Err("${NO} ${user.NO}"));
    check("${input:other}", Err("${input.other}"));
    check(
        "${token.other} ${env:OTHER}",
        Err("${token.other} ${OTHER}"),
    );
}

#[test]
fn every_text_of_a_program_is_filled_in_and_scripts_keep_their_own() {
    let script = "echo $${PIPESTATUS} ${x%%.*} ${x:1} $x ${NO:-1}";
    let written = program(
        "${KEY}/bin",
        &["${KEY}", script],
        &[("A", "${user.KEY}"), ("${KEY}", "x")],
        "${agent_workspace}",
    );
    let filled = program(
        "k3y/bin",
        &["k3y", "echo ${PIPESTATUS} ${x%%.*} ${x:1} $x 1"],
        &[("A", "mine"), ("${KEY}", "x")],
        "/work here",
    );
    assert_eq!(fill(&written, &known), Ok(filled));
}

#[test]
fn what_a_program_finds_in_its_own_environment_is_left_to_it() {
    let header = "Authorization:${AUTH_HEADER}";
    let env = [("AUTH_HEADER", "Bearer ${KEY}")];
    let written = program("npx", &["mcp-remote", "--header", header], &env, "");
    assert_eq!(unset(&written, &known), []);
    let env = [("AUTH_HEADER", "Bearer k3y")];
    let filled = program("npx", &["mcp-remote", "--header", header], &env, "");
    assert_eq!(fill(&written, &known), Ok(filled));
    // No program knows these words.
    let written = program("npx", &["${env:AUTH_HEADER} ${input:x}"], &env, "");
    let unset = unset(&written, &known);
    let unset: Vec<String> = unset.iter().map(ToString::to_string).collect();
    assert_eq!(unset, ["${AUTH_HEADER}", "${input.x}"]);
}

#[test]
fn what_is_missing_in_an_argument_is_told_with_how_it_would_stay() {
    let check = |arg: &str, expected: &str| {
        let gap = fill(&program("run", &[arg], &[], ""), &known).unwrap_err();
        let told = gap.to_string();
        let (what, escape) = told.split_once("Tenon.").unwrap();
        assert!(what.starts_with("Nobody has set `${"), "{told}");
        assert_eq!(escape, expected);
    };
    check("${token.x}", "");
    check(
        "${NO}",
        " To leave it to the program itself, write `$${NO}`.",
    );
    check(
        "${NO} ${NO} ${a-b} ${MORE}",
        " To leave it to the program itself, write `$${NO}`, `$${MORE}`.",
    );
}

#[test]
fn what_is_missing_is_named_once_wherever_it_is() {
    let shared = |name: &str| Variable::Shared(name.into());
    let env = [("X", "${user.C} ${D}")];
    let written = program("${A}", &["${B}"], &env, "${A}");
    let personal = Variable::Personal("C".into());
    let all = vec![shared("A"), shared("B"), personal, shared("D")];
    let missing = MissingVariables {
        variables: all.clone(),
        in_arguments: vec![shared("B")],
    };
    assert_eq!(
        fill(&written, &known),
        Err(SubstitutionError::Missing(missing))
    );
    assert_eq!(mentioned(&written), all);
    assert_eq!(unset(&written, &known), all);
}

#[test]
fn what_has_a_value_or_an_otherwise_is_not_unset() {
    let config = remote("${KEY} ${NO:-x} ${user.KEY} ${OTHER}");
    assert_eq!(unset(&config, &known), [Variable::Shared("OTHER".into())]);
    assert_eq!(mentioned(&config).len(), 4);
}

#[test]
fn a_value_in_an_address_says_no_more_than_its_place() {
    let check = |url: &str, value: &str, expected: Option<&str>| {
        let filled = fill(&remote(url), &|variable| match variable {
            Variable::Shared(name) if name == "NO" => None,
            _ => Some(value.to_owned()),
        });
        match (filled, expected) {
            (Ok(filled), Some(expected)) => assert_eq!(filled, remote(expected), "{url} {value}"),
            (Err(SubstitutionError::Misplaced(why)), None) => {
                assert!(why.to_string().contains("address"), "{why}")
            }
            (filled, _) => panic!("{url} {value}: {filled:?}"),
        }
    };
    let host = "http://${user.T}.example.com/mcp";
    check(host, "acme-1.eu", Some("http://acme-1.eu.example.com/mcp"));
    for value in [
        "127.0.0.1:7901/ok#",
        "evil.org/",
        "evil.org\\",
        "evil.org?",
        "evil.org#",
        "me@evil.org",
        "a:1",
        "%2f",
        "ä",
        "a b",
        "\n",
        "",
    ] {
        check(host, value, None);
        check("http:${user.T}/mcp", value, None);
        check("${user.T}", value, None);
    }
    check(
        "http://${HOST}/mcp",
        "db.local:80",
        Some("http://db.local:80/mcp"),
    );
    check("http://${HOST}/mcp", "x@evil.org", None);
    check("http://a.b:${user.PORT}/", "80", Some("http://a.b:80/"));
    // After the host.
    let path = "https://a.b/t/${user.T}/mcp";
    check(
        path,
        "x/../#?@ä",
        Some("https://a.b/t/x%2F..%2F%23%3F%40%C3%A4/mcp"),
    );
    check(path, "%2e%2e", Some("https://a.b/t/%252e%252e/mcp"));
    check(path, "..", None);
    check(path, ".", None);
    let query = "https://a.b?k=${KEY}&n=${user.N}#${KEY}";
    check(
        query,
        "a&b=c ~",
        Some("https://a.b?k=a%26b%3Dc%20~&n=a%26b%3Dc%20~#a%26b%3Dc%20~"),
    );
    check("https://a.b?q=..${KEY}", "..", Some("https://a.b?q=...."));
    // What an admin set is an address.
    check("${BASE}", "http://a.b/x?y", Some("http://a.b/x?y"));
    check(
        "${BASE}/${user.T}",
        "http://a.b",
        Some("http://a.b/http%3A%2F%2Fa.b"),
    );
    check("x${BASE}/mcp", "http://a.b", None);
    // What is written in the address itself is meant.
    check(
        "${NO:-http://a.b:1}/${NO:-x/y}",
        "",
        Some("http://a.b:1/x/y"),
    );
    check("http://${NO:-a.b:1}/", "", Some("http://a.b:1/"));
}

#[test]
fn what_is_somebodys_own_is_no_part_of_a_program() {
    let check = |written: McpConfig| {
        let misplaced = misplaced(&written).unwrap();
        let told = misplaced.to_string();
        assert!(
            told.contains("`${user.KEY}`") && told.contains("`env`"),
            "{told}"
        );
        assert_eq!(
            fill(&written, &known),
            Err(SubstitutionError::Misplaced(misplaced))
        );
    };
    check(program("${user.KEY}", &[], &[], ""));
    check(program(
        "sh",
        &["-c", "exec x --token ${user.KEY:-no}"],
        &[],
        "",
    ));
    assert_eq!(
        misplaced(&program("sh", &["${KEY}"], &[("A", "${user.KEY}")], "")),
        None
    );
    assert_eq!(misplaced(&remote("https://a.b/${user.KEY}")), None);
}

#[test]
fn what_is_missing_is_told_with_what_to_do() {
    let explain = |variables: &[Variable]| {
        let missing = MissingVariables {
            variables: variables.to_vec(),
            in_arguments: Vec::new(),
        };
        SubstitutionError::Missing(missing).to_string()
    };
    let check = |missing: &[Variable], expected: &str| assert_eq!(explain(missing), expected);
    let shared = |name: &str| Variable::Shared(name.into());
    let personal = |name: &str| Variable::Personal(name.into());
    check(&[], "");
    check(
        &[shared("A")],
        "Nobody has set `${A}`: an admin does that under Secrets, or in the environment of Tenon.",
    );
    check(
        &[shared("A"), shared("token.b")],
        "Nobody has set `${A}`, `${token.b}`: an admin does that under Secrets, \
         or in the environment of Tenon.",
    );
    check(
        &[personal("A")],
        "Set your own `${user.A}` under Secrets first.",
    );
    check(
        &[personal("A"), shared("B")],
        "Nobody has set `${B}`: an admin does that under Secrets, or in the environment of Tenon. \
         Set your own `${user.A}` under Secrets first.",
    );
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in r"([${}:\-.]|user\.|env:|input:|KEY|NO|\PC){0,24}") {
        let mut parts = String::new();
        for segment in segments(&text) {
            match segment {
                TextSegment::Text(text) => parts.push_str(text),
                TextSegment::Variable(reference) => parts.push_str(reference.written),
            }
        }
        // Nothing is lost but the `$` that says "not a variable".
        prop_assert!(parts.len() <= text.len());
        prop_assert_eq!(parts, text.replace("$${", "${"));
        let config = header(&text);
        let all = mentioned(&config);
        match fill(&config, &known) {
            Ok(_) => prop_assert!(unset(&config, &known).is_empty()),
            Err(SubstitutionError::Missing(missing)) => {
                let missing = missing.variables;
                prop_assert_eq!(&missing, &unset(&config, &known));
                prop_assert!(missing.iter().all(|one| all.contains(one)));
                prop_assert!(!missing.is_empty());
            }
            Err(SubstitutionError::Misplaced(why)) => prop_assert!(false, "{}", why),
        }
    }

    #[test]
    fn no_value_leads_elsewhere(value in r"([/\\\\?#@:.%]|\PC|[a-z]){0,12}") {
        let url = "http://${user.T}.example.com/${user.T}?${user.T}";
        if let Ok(filled) = fill(&remote(url), &|_| Some(value.clone())) {
            let McpTransport::Http { url, .. } = filled.transport else {
                panic!("another transport");
            };
            if let Ok(url) = url::Url::parse(&url) {
                prop_assert!(url.host_str().is_some_and(|host| host.ends_with(".example.com")), "{}", url);
            }
        }
    }
}
