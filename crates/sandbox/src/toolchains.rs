//! Interpreters that are installed outside of the system's folders: by nvm or conda, in `/opt`,
//! in somebody's home. Those on the `PATH` of this process are used and read as the system's are.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Read in any case.
const SYSTEM: [&str; 2] = ["/usr", "/bin"];

/// What an interpreter needs of its installation, and where nobody keeps anything else.
const PARTS: [&str; 4] = ["bin", "lib", "lib64", "ssl"];

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Toolchain {
    pub(crate) bin: PathBuf,
    pub(crate) read_dirs: Vec<PathBuf>,
}

pub(crate) fn toolchains() -> &'static [Toolchain] {
    static TOOLCHAINS: OnceLock<Vec<Toolchain>> = OnceLock::new();
    TOOLCHAINS.get_or_init(|| {
        let path = env::var_os("PATH").unwrap_or_default();
        let bins = env::split_paths(&path);
        let other = bins.filter(|bin| !SYSTEM.iter().any(|system| bin.starts_with(system)));
        other.filter_map(|bin| toolchain_at(&bin)).collect()
    })
}

/// Of the folder with its programs.
fn toolchain_at(bin: &Path) -> Option<Toolchain> {
    if !bin.is_absolute() || !bin.ends_with("bin") {
        return None;
    }
    let root = bin.parent()?;
    if !has_modules(&root.join("lib")) {
        return None;
    }
    let parts = PARTS.map(|part| root.join(part)).into_iter();
    Some(Toolchain {
        bin: bin.to_owned(),
        read_dirs: parts.filter(|part| part.is_dir()).collect(),
    })
}

fn has_modules(lib: &Path) -> bool {
    let entries = fs::read_dir(lib).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let name = entry.file_name();
        name == "node_modules" || name.to_string_lossy().starts_with("python3")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_is_read_and_nothing_beside_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let bin = root.join("bin");
        for folder in ["bin", "lib", "data"] {
            fs::create_dir(root.join(folder)).unwrap();
        }
        assert_eq!(toolchain_at(&bin), None, "no interpreter has no modules");
        fs::create_dir(root.join("lib/node_modules")).unwrap();
        let expected = Toolchain {
            bin: bin.clone(),
            read_dirs: vec![bin.clone(), root.join("lib")],
        };
        assert_eq!(toolchain_at(&bin), Some(expected));
        assert_eq!(toolchain_at(&root.join("lib")), None);
        assert_eq!(toolchain_at(Path::new("bin")), None);
    }
}
