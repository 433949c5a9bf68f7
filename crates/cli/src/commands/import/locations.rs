//! Where other programs keep their configuration of servers.

use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfigLocation {
    pub(super) product: &'static str,
    pub(super) path: PathBuf,
}

/// The configuration files of other programs that exist for this user.
pub(super) fn existing() -> Vec<ConfigLocation> {
    let Some(home) = std::env::home_dir().filter(|home| home.is_absolute()) else {
        return Vec::new();
    };
    let roaming = std::env::var_os("APPDATA").map(PathBuf::from);
    let mut places = places(&home, std::env::consts::OS, roaming.as_deref());
    places.retain(|place| place.path.is_file());
    places
}

fn places(home: &Path, system: &str, roaming: Option<&Path>) -> Vec<ConfigLocation> {
    let settings = match system {
        "macos" => home.join("Library/Application Support"),
        "windows" => roaming.map_or_else(|| home.join("AppData/Roaming"), Path::to_owned),
        _ => home.join(".config"),
    };
    let place = |product, path| ConfigLocation { product, path };
    vec![
        place(
            "Claude Desktop",
            settings.join("Claude/claude_desktop_config.json"),
        ),
        place("Cursor", home.join(".cursor/mcp.json")),
        place("Windsurf", home.join(".codeium/windsurf/mcp_config.json")),
        place("VS Code", settings.join("Code/User/mcp.json")),
        place("VS Code", settings.join("Code/User/settings.json")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_has_its_own() {
        let check = |system: &str, expected: &str| {
            let all = places(Path::new("/home/ada"), system, None);
            assert_eq!(all[0].path, Path::new(expected), "{system}");
        };
        check(
            "linux",
            "/home/ada/.config/Claude/claude_desktop_config.json",
        );
        check(
            "macos",
            "/home/ada/Library/Application Support/Claude/claude_desktop_config.json",
        );
        check(
            "windows",
            "/home/ada/AppData/Roaming/Claude/claude_desktop_config.json",
        );
    }
}
