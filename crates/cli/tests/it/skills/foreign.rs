//! Skills that nobody here wrote, from packages of npm and PyPI: each installs, or is refused with
//! the true reason.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Asks;
use crate::server::Server;
use crate::sources::fixtures::installed;

/// Where packages have their skills, with how many there are and how many of them are refused.
const SOURCES: [(&str, usize, usize); 8] = [
    ("skills/node_modules/@tanstack/db", 2, 0),
    ("skills/node_modules/@tanstack/intent", 4, 0),
    ("skills/node_modules/@tanstack/router-core", 1, 0),
    ("skills/node_modules/bmad-method", 56, 6),
    ("skills/node_modules/claude-skills", 5, 0),
    ("skills/node_modules/ecc-universal/.agents", 33, 0),
    ("skills/node_modules/openskills", 1, 0),
    ("venv-fastapi/lib/python3/site-packages/fastapi", 1, 0),
];

/// Those that are refused, by folder.
const REFUSED: [&str; 6] = [
    "web-bundles/brainstorming-coach",
    "web-bundles/market-and-industry-research",
    "web-bundles/prd-coach",
    "web-bundles/prfaq-coach",
    "web-bundles/product-brief-coach",
    "web-bundles/ux-coach",
];

/// A path with the version of Python that is here.
fn located(path: &str) -> String {
    let Some((venv, rest)) = path.split_once("/lib/python3/") else {
        return installed(path);
    };
    let mut versions = std::fs::read_dir(installed(&format!("{venv}/lib"))).unwrap();
    let version = versions.next().unwrap().unwrap().path();
    version.join(rest).display().to_string()
}

#[tokio::test]
async fn skills_that_nobody_here_wrote_install_or_are_refused_with_the_true_reason() {
    let server = Server::start().await;
    let mut refused = BTreeMap::new();
    let mut count = 0;
    for (path, skills, bad) in SOURCES {
        let path = located(path);
        let (status, preview) = server
            .post("/api/skills/preview", json!({"path": path}))
            .await;
        assert_eq!(status, 200, "{path}: {preview}");
        let (good, others) = (
            preview["skills"].as_array().unwrap(),
            preview["refused"].as_array().unwrap(),
        );
        assert_eq!(
            (good.len() + others.len(), others.len()),
            (skills, bad),
            "{path}"
        );
        for one in others {
            refused.insert(one["folder"].as_str().unwrap().to_owned(), one.clone());
        }
        // Packages of others are not installed here: that takes the internet.
        let needs_nothing = |skill: &&Value| {
            let requirements = &skill["permissions"]["requirements"];
            *requirements == json!({"python": [], "node": []})
        };
        let hashes: Vec<&Value> = good
            .iter()
            .filter(needs_nothing)
            .map(|skill| &skill["hash"])
            .collect();
        let install = json!({"path": path, "hashes": hashes});
        let (status, installed) = server.post("/api/skills", install).await;
        assert_eq!(status, 201, "{path}: {installed}");
        let installed = installed.as_array().unwrap();
        assert_eq!(installed.len(), hashes.len(), "{path}");
        count += installed.len();
        for skill in installed {
            assert_eq!(skill["state"], "ready", "{skill}");
            let answer = server
                .call(skill["useToolId"].as_str().unwrap(), json!({}))
                .await;
            assert_eq!(answer["ok"], true, "{answer}");
        }
    }
    assert!(count >= 90, "{count}");
    assert_eq!(refused.keys().collect::<Vec<_>>(), REFUSED);
    for (folder, one) in refused {
        // They have a heading in the place of the front matter.
        let text = format!("skills/node_modules/bmad-method/{folder}/SKILL.md");
        let text = std::fs::read_to_string(installed(&text)).unwrap();
        assert!(!text.starts_with("---"), "{folder}");
        let why = one["message"].as_str().unwrap();
        assert_eq!(
            (&one["file"], &one["line"]),
            (&json!("SKILL.md"), &json!(1))
        );
        assert!(why.starts_with("A skill begins with a line `---`"), "{why}");
    }
    let (_, listed) = server.get("/api/skills").await;
    assert_eq!(listed.as_array().unwrap().len(), count);
}

#[tokio::test]
async fn a_package_with_too_many_skills_is_refused_for_that() {
    let server = Server::start().await;
    let path = installed("skills/node_modules/ecc-universal");
    let (status, refused) = server
        .post("/api/skills/preview", json!({"path": path}))
        .await;
    let expected =
        "ecc-universal: There are more than 500 skills in it: choose one of its folders.";
    assert_eq!(
        (status, &refused["error"]["message"]),
        (400, &json!(expected)),
        "{refused}"
    );
}
