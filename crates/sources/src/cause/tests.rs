//! What real programs write before they end, and what of it is shown.

use tenon_domain::CodedError;

use super::*;

fn check(written: &str, lines: &[&str], advice: &str) {
    let written: Vec<String> = written.lines().map(str::to_owned).collect();
    let cause = Cause::of(&written);
    assert_eq!(cause.lines, lines, "{written:#?}");
    let said = cause.advice.map(|advice| advice.to_string());
    assert_eq!(said.unwrap_or_default(), advice);
}

#[test]
fn an_error_of_node_is_its_message_and_not_its_version() {
    check(
        "\
[eval]:1
if(!process.env.FOO_API_KEY) throw new Error('FOO_API_KEY environment variable is required')
                             ^

Error: FOO_API_KEY environment variable is required
    at [eval]:1:36
    at node:internal/main/eval_string:51:3

Node.js v20.20.2",
        &["Error: FOO_API_KEY environment variable is required"],
        "It needs the environment variable `FOO_API_KEY`: set it for this server.",
    );
    check(
        "\
node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/opt/servers/main.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15) {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2",
        &["Error: Cannot find module '/opt/servers/main.js'"],
        "`/opt/servers/main.js` is not installed where the program looks for it: install it there, or check the path in the arguments.",
    );
    check(
        "\
Error: listen EADDRINUSE: address already in use :::45671
    at Server.setupListenHandle [as _listen2] (node:net:1908:16)
Emitted 'error' event on Server instance at:
    at emitErrorNT (node:net:1944:8) {
  code: 'EADDRINUSE',
  errno: -98,
  syscall: 'listen',
  address: '::',
  port: 45671
}

Node.js v20.20.2",
        &["Error: listen EADDRINUSE: address already in use :::45671"],
        "Its port 45671 is in use: end what uses it, or give the server another one.",
    );
    check(
        "\
file:///a/index.js:3
import { styleText } from 'node:util';
         ^^^^^^^^^
SyntaxError: The requested module 'node:util' does not provide an export named 'styleText'
    at ModuleJob._instantiate (node:internal/modules/esm/module_job:123:21)

Node.js v18.19.0",
        &[
            "SyntaxError: The requested module 'node:util' does not provide an export named 'styleText'",
        ],
        "It needs a newer Node.js than this machine has: v18.19.0.",
    );
}

#[test]
fn an_error_of_npm_is_what_it_could_not_do_and_not_where_its_log_is() {
    check(
        "\
npm warn Unknown user config \"nodedir\". This will stop working in the next major version of npm.
npm error code E404
npm error 404 Not Found - GET https://registry.example/@tenon-no%2fsuch-package-xyz
npm error 404
npm error 404  The requested resource '@tenon-no/such-package-xyz@*' could not be found or you do not have permission to access it.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /home/ada/.npm/_logs/2026-11-16T09_34_20_786Z-debug-0.log",
        &[
            "npm error 404 Not Found - GET https://registry.example/@tenon-no%2fsuch-package-xyz",
            "npm error 404 The requested resource '@tenon-no/such-package-xyz@*' could not be found or you do not have permission to access it.",
        ],
        "There is no such package as `@tenon-no/such-package-xyz`: check the spelling of its name in the arguments.",
    );
    check(
        "\
npm error could not determine executable to run
npm error A complete log of this run can be found in: /home/ada/.npm/_logs/1.log",
        &["npm error could not determine executable to run"],
        "The package has no program to run: check its name, or name the program (`--package` of npx, `--from` of uvx).",
    );
    check(
        "\
npm error code ENOTEMPTY
npm error syscall rename
npm error path /home/ada/.npm/_npx/15c61037b1978c83/node_modules/ajv
npm error ENOTEMPTY: directory not empty, rename '/home/ada/.npm/_npx/15c61037b1978c83/node_modules/ajv' -> '/home/ada/.npm/_npx/15c61037b1978c83/node_modules/.ajv-x'",
        &[
            "npm error path /home/ada/.npm/_npx/15c61037b1978c83/node_modules/ajv",
            "npm error ENOTEMPTY: directory not empty, rename '/home/ada/.npm/_npx/15c61037b1978c83/node_modules/ajv' -> '/home/ada/.npm/_npx/15c61037b1978c83/node_modules/.ajv-x'",
        ],
        "The package was installed only halfway. Remove it from the installer's cache, the folder /home/ada/.npm/_npx/15c61037b1978c83, and try again.",
    );
    check(
        "\
npm error code EAI_AGAIN
npm error network request to https://registry.example/x failed, reason: getaddrinfo EAI_AGAIN registry.example",
        &["npm error network request to https://registry.example/x failed, reason: getaddrinfo EAI_AGAIN registry.example"],
        "The packages it needs cannot be downloaded: check the network and the proxy of the machine Tenon runs on.",
    );
}

#[test]
fn an_error_of_python_is_its_exception() {
    check(
        "\
Traceback (most recent call last):
  File \"<string>\", line 1, in <module>
    import os; os.environ['BRAVE_API_KEY']
               ~~~~~~~~~~^^^^^^^^^^^^^^^^^
  File \"<frozen os>\", line 679, in __getitem__
KeyError: 'BRAVE_API_KEY'",
        &["KeyError: 'BRAVE_API_KEY'"],
        "It needs the environment variable `BRAVE_API_KEY`: set it for this server.",
    );
    check(
        "/usr/bin/python3: No module named nosuchmodule",
        &["/usr/bin/python3: No module named nosuchmodule"],
        "`nosuchmodule` is not installed where the program looks for it: install it there, or check the path in the arguments.",
    );
}

#[test]
fn an_error_of_uv_names_what_is_unsatisfiable() {
    check(
        "\
error: No solution found when resolving tool dependencies
  cause: Because no-such-package was not found in the package registry and you require no-such-package, we can conclude that your requirements are unsatisfiable.",
        &[
            "error: No solution found when resolving tool dependencies",
            "cause: Because no-such-package was not found in the package registry and you require no-such-package, we can conclude that your requirements are unsatisfiable.",
        ],
        "There is no such package as `no-such-package`: check the spelling of its name in the arguments.",
    );
    check(
        "\
  × No solution found when resolving tool dependencies:
  ╰─▶ Because the current Python version (3.9.2) does not satisfy Python>=3.10
      and mcp-server-time==0.6.2 depends on Python>=3.10, we can conclude that
      your requirements are unsatisfiable.",
        &[
            "× No solution found when resolving tool dependencies:",
            "╰─▶ Because the current Python version (3.9.2) does not satisfy Python>=3.10",
            "and mcp-server-time==0.6.2 depends on Python>=3.10, we can conclude that",
        ],
        "It needs a newer Python than this machine has: 3.9.2.",
    );
}

#[test]
fn other_programs_are_understood_too() {
    check(
        "sh: 1: nosuchcommand: not found",
        &["sh: 1: nosuchcommand: not found"],
        "`nosuchcommand` was not found. Install it on the machine Tenon runs on.",
    );
    check(
        "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\nSee 'docker run --help'.",
        &[
            "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            "See 'docker run --help'.",
        ],
        "Docker is not running on this machine, or Tenon has no access to it: start it, and try again.",
    );
    check(
        "Usage: mcp-server-filesystem <allowed-directory> [additional-directories...]",
        &["Usage: mcp-server-filesystem <allowed-directory> [additional-directories...]"],
        "It does not understand its arguments: compare them with its manual.",
    );
}

#[test]
fn repeats_are_shown_once_and_one_without_an_error_by_its_last_words() {
    check(
        "ERROR attempt 1 failed\nERROR attempt 2 failed\nERROR attempt 3 failed",
        &["ERROR attempt 3 failed"],
        "",
    );
    check("Starting\nListening\nBye\n}\n", &["Listening", "Bye"], "");
    check("", &[], "");
}

#[test]
fn what_only_looks_like_a_known_failure_gets_no_advice() {
    let check = |written: &str, advice: Option<&str>| {
        let written: Vec<String> = written.lines().map(str::to_owned).collect();
        let found = Cause::of(&written).advice;
        assert_eq!(
            found.map(|found| found.detail().code).as_deref(),
            advice,
            "{written:?}"
        );
    };
    check(
        "rpc error: code = NotFound desc = user alice@corp.example: not found",
        None,
    );
    check("bash: line 1: token sk-live-1 x: not found", None);
    check(
        "(node:1) Warning: NODE_TLS_REJECT_UNAUTHORIZED is not set to what is required",
        None,
    );
    check("LOG_LEVEL not set, using default INFO\nError: boom", None);
    check("INVALID_ARGUMENT: field project is required", None);
    check(
        "ENOSPC: System limit for number of file watchers reached",
        None,
    );
    check("Memory usage: 512 MB\nError: boom", None);
    check("ERROR: the pipeline failed: dns error", None);
    check(
        "BRAVE_API_KEY is required\nOTEL_ENDPOINT is not set, tracing disabled",
        Some("variable_missing"),
    );
    check(
        "Because the current Python version (3.14.0) does not satisfy Python<3.13 and x needs it",
        None,
    );
    let written = ["2026-11-16 09:00 Address already in use: /tmp/mcp-12345.sock".to_owned()];
    let found = Cause::of(&written).advice;
    assert_eq!(found, Some(Advice::PortInUse { port: None }));
}
