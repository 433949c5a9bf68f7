//! Names of tasks, which are names of folders too.

use std::path::Path;

const MAX_NAME_CHARS: usize = 80;

/// The name of a file or folder, as one that any file system takes.
pub(super) fn task_name(path: &Path) -> String {
    // `.` and the like have no name of their own.
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let written = whole.file_name().unwrap_or_default().to_string_lossy();
    let clean = |c: char| {
        if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') {
            c
        } else {
            '_'
        }
    };
    let name: String = written.chars().take(MAX_NAME_CHARS).map(clean).collect();
    match name.trim_start_matches('.') {
        "" => "task".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_inside_a_folder() {
        let check = |path: &str, expected: &str| assert_eq!(task_name(Path::new(path)), expected);
        check("/none/a b", "a_b");
        check("/none/..hidden", "hidden");
        check("", "task");
        check("/none/数据-1.2", "数据-1.2");
    }
}
