//! The signs by which failures are known, from the surest to the weakest.

use super::Advice;

/// A quoted name is no longer than this.
const MAX_NAME_CHARS: usize = 200;

/// How many of the last lines are searched for the reason: stack traces are shorter.
const LAST_LINES: usize = 60;

/// Looks for the signs of one failure.
type Rule = fn(&[&str]) -> Option<Advice>;

pub(super) fn advise(written: &[String]) -> Option<Advice> {
    // Lines written long before the end are not the reason, and warnings stop no program.
    let last = &written[written.len().saturating_sub(LAST_LINES)..];
    let lines = last.iter().map(|line| line.trim());
    let lines: Vec<&str> = lines.filter(|line| !is_warning(line)).collect();
    // From the surest sign to the weakest.
    const RULES: &[Rule] = &[
        disk_full,
        docker,
        runtime_too_old,
        registry_unreachable,
        package_not_found,
        package_not_runnable,
        port_in_use,
        package_broken,
        module_not_found,
        command_not_found,
        variable_missing,
        permission_denied,
        arguments_wrong,
    ];
    RULES.iter().find_map(|rule| rule(&lines))
}

fn disk_full(lines: &[&str]) -> Option<Advice> {
    // Node has the same code for too many watched files.
    let is_full = |line: &&str| line.contains("ENOSPC") && !line.contains("watchers");
    let is_full = lines.iter().any(is_full) || has(lines, &["No space left on device"]);
    is_full.then_some(Advice::DiskFull)
}

fn docker(lines: &[&str]) -> Option<Advice> {
    let signs = [
        "Cannot connect to the Docker daemon",
        "failed to connect to the docker API",
        "error during connect: ",
        "permission denied while trying to connect to the docker",
        "permission denied while trying to connect to the Docker",
        "Is the docker daemon running",
    ];
    has(lines, &signs).then_some(Advice::DockerNotRunning)
}

fn runtime_too_old(lines: &[&str]) -> Option<Advice> {
    let node = [
        "EBADENGINE",
        "Unsupported engine",
        "requires Node",
        "ERR_UNKNOWN_BUILTIN_MODULE",
        "ERR_REQUIRE_ESM",
        "No such built-in module: node:",
        "The requested module 'node:",
        "SyntaxError: Invalid regular expression flags",
        "SyntaxError: Unexpected token 'with'",
        "ReferenceError: File is not defined",
        "ReferenceError: WebSocket is not defined",
        "Promise.withResolvers is not a function",
        "Array.fromAsync is not a function",
    ];
    if has(lines, &node) {
        let found = lines.iter().find_map(|line| line.strip_prefix("Node.js "));
        return Some(Advice::RuntimeTooOld {
            runtime: "Node.js",
            found: found.filter(|found| is_version(found)).map(quoted),
        });
    }
    let python = [
        "Requires-Python",
        "requires-python",
        "requires a different Python",
        "does not satisfy Python",
    ];
    let is_sign = |line: &&&str| python.iter().any(|sign| line.contains(sign));
    // The same message appears for a Python that is too new, which this skips.
    let mut signs = lines.iter().filter(is_sign);
    let line = signs.find(|line| !line.contains("Python<") && !line.contains("'<"))?;
    let found = between(line, "the current Python version (", ")")
        .or_else(|| between(line, "different Python: ", " "));
    Some(Advice::RuntimeTooOld {
        runtime: "Python",
        found: found.filter(|found| is_version(found)).map(quoted),
    })
}

/// `v20.20.2`, `3.9.2`
fn is_version(text: &str) -> bool {
    let numbers = text.strip_prefix('v').unwrap_or(text);
    numbers.starts_with(|c: char| c.is_ascii_digit())
        && numbers.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn package_not_found(lines: &[&str]) -> Option<Advice> {
    let signs = [
        ("The requested resource '", "@*'"),
        ("The requested resource '", "'"),
        ("404  '", "@*' is not in"),
        ("404  '", "' is not in"),
        ("No matching distribution found for ", ""),
        ("Because ", " was not found in the package registry"),
        ("there are no versions of ", " "),
        ("No matching version found for ", ""),
    ];
    let named = signs.iter().find_map(|(before, after)| {
        let mut names = lines.iter().filter_map(|line| {
            if after.is_empty() {
                line.split_once(before).map(|(_, rest)| rest)
            } else {
                between(line, before, after)
            }
        });
        names.next()
    });
    match named {
        Some(package) => {
            let package = package.split_whitespace().next().unwrap_or(package);
            let package = package.trim_end_matches(['.', ',', ':']);
            Some(Advice::PackageNotFound {
                package: Some(quoted(package)),
            })
        }
        None => has(lines, &["npm error code E404", "npm ERR! code E404"])
            .then_some(Advice::PackageNotFound { package: None }),
    }
}

fn package_not_runnable(lines: &[&str]) -> Option<Advice> {
    let signs = [
        "could not determine executable to run",
        "does not provide any executables",
        "is not provided by package",
    ];
    has(lines, &signs).then_some(Advice::PackageNotRunnable)
}

fn port_in_use(lines: &[&str]) -> Option<Advice> {
    let signs = [
        "EADDRINUSE",
        "ddress already in use",
        "only one usage of each socket address",
    ];
    let line = lines
        .iter()
        .find(|line| signs.iter().any(|sign| line.contains(sign)))?;
    // `:::8000`, `127.0.0.1:8000`, `('127.0.0.1', 8000)`
    let after = line.split([':', ',']).skip(1).map(str::trim_start);
    let numbers = after.map(|part| {
        let end = part.find(|c: char| !c.is_ascii_digit());
        &part[..end.unwrap_or(part.len())]
    });
    // Times have fewer digits.
    let port = numbers
        .filter(|number| (4..=5).contains(&number.len()))
        .last();
    Some(Advice::PortInUse {
        port: port.map(str::to_owned),
    })
}

fn package_broken(lines: &[&str]) -> Option<Advice> {
    let is_sign = |line: &&&str| {
        let is_in_cache = line.contains("/_npx/") || line.contains("/uv/archive-v0/");
        is_in_cache && (line.contains("ENOTEMPTY") || line.contains("Cannot find module"))
    };
    let line = lines.iter().find(is_sign)?;
    let words = line.split(['\'', '"', ' ']);
    let folder = words
        .filter(|word| word.starts_with('/'))
        .find_map(|word| {
            let (root, rest) = word.split_once("/_npx/")?;
            let hash = rest.split('/').next()?;
            Some(format!("{root}/_npx/{hash}"))
        })
        .map(|folder| quoted(&folder));
    Some(Advice::PackageBroken { folder })
}

fn registry_unreachable(lines: &[&str]) -> Option<Advice> {
    let signs = [
        "EAI_AGAIN",
        "ENOTFOUND",
        "ENETUNREACH",
        "network request to",
        "dns error",
        "Temporary failure in name resolution",
        "client error (Connect)",
        "Could not connect, are you offline",
        "Failed to establish a new connection",
    ];
    let installs = [
        "npm error",
        "npm ERR!",
        "Failed to fetch",
        "Failed to download",
        "No matching distribution found",
    ];
    (has(lines, &signs) && has(lines, &installs)).then_some(Advice::RegistryUnreachable)
}

fn module_not_found(lines: &[&str]) -> Option<Advice> {
    let module = lines.iter().find_map(|line| {
        let node = between(line, "Cannot find module '", "'")
            .or_else(|| between(line, "Cannot find package '", "'"));
        let python = line.split_once("No module named ").map(|(_, name)| name);
        node.or(python)
    })?;
    let module = module.split_whitespace().next()?;
    Some(Advice::ModuleNotFound {
        module: quoted(module.trim_matches(['\'', '"', ';'])),
    })
}

fn command_not_found(lines: &[&str]) -> Option<Advice> {
    const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ash"];
    let command = lines.iter().find_map(|line| {
        let spawned = between(line, "spawn ", " ENOENT");
        let (shell, rest) = line.split_once(": ").unwrap_or_default();
        let shell = shell.rsplit('/').next().unwrap_or_default();
        let missed = rest
            .strip_suffix(": not found")
            .or_else(|| rest.strip_suffix(": command not found"))
            .filter(|_| SHELLS.contains(&shell));
        spawned.or(missed.and_then(|line| line.rsplit(": ").next()))
    })?;
    // Anything else it looked for may be nobody's business.
    let is_name = !command.contains(|c: char| c.is_whitespace() || c == '@' || c == '=');
    is_name.then(|| Advice::CommandNotFound {
        command: quoted(command),
    })
}

fn variable_missing(lines: &[&str]) -> Option<Advice> {
    const SIGNS: &[&str] = &[
        "is required",
        "are required",
        "is missing",
        "not set",
        "must be set",
        "not provided",
        "is undefined",
        "missing env",
        "missing required",
        "variable required",
        "keyerror",
        "please set",
        "please provide",
        "field required",
    ];
    // Words that mark a missing variable as harmless, because the program continues without it.
    const HARMLESS: &[&str] = &["default", "using ", "disabled", "optional", "skipping"];
    let complains = |line: &&&str| {
        let line = line.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
        has(SIGNS) && !has(HARMLESS)
    };
    // The last complaint is the most likely reason.
    let mut names = lines.iter().rev().filter(complains).filter_map(|line| {
        let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        words.into_iter().find(|word| is_variable(word))
    });
    names
        .next()
        .map(|name| Advice::VariableMissing { name: quoted(name) })
}

/// `BRAVE_API_KEY`, and no code of an error.
fn is_variable(word: &str) -> bool {
    let is_upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let begins = word.starts_with(|c: char| c.is_ascii_uppercase());
    let is_code = ["ERR_", "INVALID_", "MODULE_"];
    let is_code = is_code.iter().any(|code| word.starts_with(code));
    begins && word.contains('_') && word.chars().all(is_upper) && !is_code
}

fn permission_denied(lines: &[&str]) -> Option<Advice> {
    let signs = ["EACCES", "EPERM", "Permission denied", "PermissionError"];
    has(lines, &signs).then_some(Advice::PermissionDenied)
}

fn arguments_wrong(lines: &[&str]) -> Option<Advice> {
    let signs = [
        "unrecognized arguments",
        "unknown option",
        "missing required argument",
        "unexpected argument",
    ];
    let mut beginnings = lines.iter().map(|line| line.to_lowercase());
    let tells_usage = beginnings.any(|line| line.starts_with("usage:"));
    (tells_usage || has(lines, &signs)).then_some(Advice::ArgumentsWrong)
}

fn has(lines: &[&str], signs: &[&str]) -> bool {
    lines
        .iter()
        .any(|line| signs.iter().any(|sign| line.contains(sign)))
}

fn is_warning(line: &str) -> bool {
    let beginning = &line[..line.floor_char_boundary(40)];
    beginning.to_lowercase().contains("warn")
}

fn between<'a>(line: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found)
}

fn quoted(name: &str) -> String {
    tenon_domain::text::line(&name.replace('`', "'"), MAX_NAME_CHARS)
}
