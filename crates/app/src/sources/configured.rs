//! Servers that whoever starts Tenon wrote down for it: the connections of Open WebUI in
//! `TOOL_SERVER_CONNECTIONS`, and the same as `tool_servers` of the settings file.
//!
//! They are taken in like a file of the watched folder, once: neither changes while Tenon
//! runs. Whatever is wrong with one is shown with it and never keeps Tenon from starting.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenon_sources::import::{self, ConfigReadError, ImportResult, ImportedServer};

use super::Sources;
use super::folder::{numbered, unread, unusable};
use crate::config::{Config, TOOL_SERVER_CONNECTIONS};

/// What a settings file without a readable name is called.
const UNNAMED_SETTINGS_FILE: &str = "the settings";

/// Where they stand, and what they are. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ConfiguredServers(Arc<[(String, Vec<ImportedServer>)]>);

impl ConfiguredServers {
    pub(crate) fn read(config: &Config) -> Self {
        let mut all = Vec::new();
        let text = config.tool_server_connections.as_deref();
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            all.push(found_in(
                TOOL_SERVER_CONNECTIONS,
                import::read_connections(text),
            ));
        }
        if let Some(value) = &config.tool_servers {
            let file = config.file.as_deref().unwrap_or(UNNAMED_SETTINGS_FILE);
            all.push(found_in(file, import::connections(value)));
        }
        let mut fixed = BTreeMap::new();
        for (place, servers) in &mut all {
            rename_duplicates(place, servers, &mut fixed);
        }
        Self(all.into())
    }

    pub(crate) async fn apply(&self, sources: &Sources) {
        for (place, servers) in self.0.iter() {
            sources.put_file(place, servers.clone()).await;
        }
    }

    /// The names that are given, in small letters, and where those servers stand.
    pub(crate) fn names(&self) -> BTreeMap<String, String> {
        let all = self.0.iter();
        let names = all.flat_map(|(place, servers)| {
            let names = servers
                .iter()
                .map(|server| server.name.to_ascii_lowercase());
            names.map(move |name| (name, place.clone()))
        });
        names.collect()
    }
}

fn found_in(
    place: &str,
    reading: Result<ImportResult, ConfigReadError>,
) -> (String, Vec<ImportedServer>) {
    let servers = match reading {
        Ok(ImportResult { servers, notes }) => {
            for note in notes {
                tracing::warn!(place, %note, "about the tool servers");
            }
            servers
        }
        Err(error) => vec![unusable(place, unread(place, error.into()))],
    };
    for server in &servers {
        if let Err(error) = &server.config {
            tracing::warn!(
                place,
                name = server.name,
                %error,
                "a tool server cannot be used"
            );
        }
    }
    (place.to_owned(), servers)
}

/// No two are called the same, wherever they stand.
fn rename_duplicates(
    place: &str,
    servers: &mut [ImportedServer],
    given: &mut BTreeMap<String, String>,
) {
    for server in servers {
        let key = server.name.to_ascii_lowercase();
        if let Some(other) = given.get(&key) {
            let is_free = |free: &str| !given.contains_key(&free.to_ascii_lowercase());
            let free = import::numbered(&server.name, is_free);
            server.notes.push(numbered(&server.name, other, &free));
            server.name = free;
        }
        given.insert(server.name.to_ascii_lowercase(), place.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where each stands, and what came of it.
    fn told(config: &Config) -> Vec<String> {
        let fixed = ConfiguredServers::read(config);
        let all = fixed.0.iter().flat_map(|(place, servers)| {
            servers.iter().map(move |server| {
                let what = match &server.config {
                    Ok(config) => import::summary(config),
                    Err(why) => format!("! {why}"),
                };
                let notes = "*".repeat(server.notes.len());
                format!("{place}: {}{notes} {what}", server.name)
            })
        });
        all.collect()
    }

    fn settings(text: &str) -> Config {
        let mut config: Config = toml::from_str(text).unwrap();
        config.file = Some("tenon.toml".into());
        config
    }

    #[test]
    fn nothing_that_is_wrong_there_keeps_tenon_from_starting() {
        let check = |variable: &str, file: &str, expected: &[&str]| {
            let mut config = settings(file);
            config.tool_server_connections = Some(variable.to_owned());
            assert_eq!(told(&config), expected, "{variable}\n{file}");
        };
        check("", "", &[]);
        check("[]", "tool_servers = []", &[]);
        check(
            r#"[{"url": "http://localhost:8000", "info": {"id": "time"}}, {"type": "openapi"}]"#,
            "[[tool_servers]]\nurl = \"http://localhost:8001/\"\nkey = \"k\"\ninfo = { name = \"Time\" }\n\
             [[tool_servers]]\nurl = \"http://localhost:8002/mcp\"\ntype = \"mcp\"\n",
            &[
                "TOOL_SERVER_CONNECTIONS: time http://localhost:8000/openapi.json",
                "TOOL_SERVER_CONNECTIONS: server ! It has no `url`.",
                "tenon.toml: Time-2* http://localhost:8001/openapi.json",
                "tenon.toml: localhost http://localhost:8002/mcp",
            ],
        );
        check(
            "[{",
            "tool_servers = 7",
            &[
                "TOOL_SERVER_CONNECTIONS: TOOL_SERVER_CONNECTIONS ! TOOL_SERVER_CONNECTIONS cannot be read. \
                 Line 1, column 2: EOF while parsing an object.",
                &format!(
                    "tenon.toml: tenon ! tenon.toml cannot be read. {}",
                    ConfigReadError::NoServers
                ),
            ],
        );
    }
}
