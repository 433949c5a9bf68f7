//! The log as JSON.

use std::fs::File;
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::program::{Served, ended, tenon};

#[tokio::test]
async fn every_line_of_the_log_is_an_object_where_json_is_asked_for() {
    for is_flag in [true, false] {
        let data = tempfile::tempdir().unwrap();
        let (log, config) = (data.path().join("log"), data.path().join("tenon.toml"));
        std::fs::write(&config, "log_format = \"json\"\n").unwrap();
        let mut served = Served::start_with(&data, |serve| {
            serve.stderr(File::create(&log).unwrap());
            if is_flag {
                serve.args(["--log-format", "json"])
            } else {
                serve.env("TENON_CONFIG", &config)
            }
        });
        let call = json!({"arguments": {"expression": "1/0"}});
        served.post("/api/tools/builtin_calculate/call", call).await;
        served.signal("-TERM");
        assert!(ended(&mut served.child).success());

        let log = std::fs::read_to_string(&log).unwrap();
        let lines: Vec<Value> = log
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
            .collect();
        for line in &lines {
            for field in ["timestamp", "level", "target", "message"] {
                assert!(line[field].is_string(), "{field} of {line}");
            }
        }
        let failed = lines
            .iter()
            .find(|line| line["message"] == "tool call failed");
        let failed = failed.unwrap_or_else(|| panic!("{log}"));
        assert_eq!(failed["level"], "INFO");
        assert_eq!(failed["fields"]["tool"], "Math/calculate");
        let listening = |line: &&Value| {
            line["message"]
                .as_str()
                .unwrap()
                .starts_with("listening on ")
        };
        assert!(lines.iter().any(|line| listening(&line)), "{log}");
    }
}

#[test]
fn a_command_that_fails_says_so_in_json_as_well() {
    let data = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let arguments = ["serve", "--log-format", "json", "--listen", &address];
    let output = tenon(&data, &arguments).output().unwrap();
    assert!(!output.status.success());
    let printed = String::from_utf8(output.stderr).unwrap();
    let line: Value = serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{printed}"));
    assert_eq!(line["level"], "ERROR");
    let message = line["message"].as_str().unwrap();
    assert!(message.contains("the port is taken"), "{message}");
}
