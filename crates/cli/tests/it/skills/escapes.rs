//! What an installed skill must not reach, tried by a real one on a real server.

use std::net::{TcpListener, UdpSocket};

use serde_json::{Value, json};
use tenon_app::config::Config;
use tenon_domain::UserId;
use tenon_store::LOCAL;

use super::{Asks, SkillFiles, id_of, path_of};
use crate::program::Served;
use crate::server::Server;

/// A function that says the name of each attempt that succeeded, and how many there were.
const ATTEMPTS: &str = r#"
import json, os, socket, sys

def read(path):
    with open(path, "rb") as file:
        return file.read()

def lists(path, name):
    # Its own folders are there, and nothing beside them.
    if name not in os.listdir(path):
        raise OSError("not listed")

def write(path):
    with open(path, "w") as file:
        file.write("x")

def through_link(name):
    os.symlink(other + "/notes.txt", name)
    read(name)

def through_folder(name):
    os.symlink(os.path.relpath(data), name)
    lists(name, "tenon.db")

def link_name(kind):
    return f"{kind}-{os.getpid()}-{len(os.listdir('.'))}"

def connect(family, host, port):
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(5)
        client.connect((host, port))

def send(host, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(b"x", (host, port))

def own_environment():
    if not any("canary" in value for value in os.environ.values()):
        raise OSError("not there")

def any_environment():
    found = [pid for pid in os.listdir("/proc") if pid.isdigit() and b"canary" in read(f"/proc/{pid}/environ")]
    if not found:
        raise OSError("no process has it")

attempts = {
    "another chat": lambda: read(other + "/notes.txt"),
    "another chat's folder": lambda: os.listdir(other),
    "writing to another chat": lambda: write(other + "/new"),
    "all chats": lambda: lists(os.path.dirname(other), os.path.basename(other)),
    "the data folder": lambda: lists(data, "tenon.db"),
    "the database": lambda: read(data + "/tenon.db"),
    "the key": lambda: read(data + "/secret.key"),
    "the link to set up": lambda: read(data + "/setup-link"),
    "passwords": lambda: read("/etc/shadow"),
    "root's home": lambda: os.listdir("/root"),
    "a link": lambda: through_link(link_name("file")),
    "a linked folder": lambda: through_folder(link_name("folder")),
    "a parent": lambda: read("../../secret.key"),
    "other skills": lambda: lists(data + "/skills", given["skill"].split("/")[-3]),
    "another skill": lambda: read(given["skill"] + "/SKILL.md"),
    "its own files": lambda: write(os.environ["SKILL_DIR"] + "/SKILL.md"),
    "the system": lambda: write("/usr/new"),
    "the server's environment": own_environment,
    "anybody's environment": any_environment,
    "the server itself": lambda: connect(socket.AF_INET, "127.0.0.1", given["port"]),
    "loopback": lambda: connect(socket.AF_INET, "127.0.0.1", given["tcp"]),
    "datagrams": lambda: send("127.0.0.1", given["udp"]),
    "its parent": lambda: os.kill(os.getppid(), 9) if os.getppid() > 1 else read("/proc/1/mem"),
}

def report(input):
    global given, data, other
    given, data, other = input, input["data"], input["other"]
    escaped = []
    for name, attempt in attempts.items():
        try:
            attempt()
            escaped.append(name)
        except OSError:
            pass
    return {"escaped": escaped, "tried": len(attempts)}
"#;

/// As a program that is run for each call, and as a function of a worker that stays.
const AS_PROGRAM: &str = "print(json.dumps(report(json.load(sys.stdin))))";
const AS_FUNCTION: &str = r#"
class Tools:
    def try_all(self, given: dict) -> dict:
        """Try everything."""
        return report(given)
"#;

#[tokio::test]
async fn a_skill_reaches_nothing_that_is_not_its_own() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start_with(&data, |serve| {
        serve
            .env("CANARY", "canary")
            .env("OPENAI_API_KEY", "canary-of-openai")
    });
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let skill = SkillFiles::new("escapes").python("try_all", &format!("{ATTEMPTS}{AS_PROGRAM}"));
    let skill = served.install(&skill).await;
    let module = json!({"code": format!("{ATTEMPTS}{AS_FUNCTION}"), "name": "escapes in a worker"});
    let (status, module) = served.ask_for("POST", "/api/tools/create", module).await;
    assert_eq!(status, 201, "{module}");
    let victim = SkillFiles::new("victim")
        .with("secrets: [TOKEN]")
        .python("show", "import os\nprint(os.environ['TOKEN'])");
    let victim = served.install(&victim).await;
    let set = json!({"variables": {"TOKEN": "canary-of-victim"}});
    let (status, _) = served.ask_for("PATCH", &path_of(&victim), set).await;
    assert_eq!(status, 200);
    let show = id_of(&victim, "show");
    assert_eq!(served.result(&show, json!({})).await, "canary-of-victim");

    // A chat of the same person, with files.
    let work = std::fs::read_dir(data.path().join("work")).unwrap();
    let own = work.map(|entry| entry.unwrap().path()).next().unwrap();
    let other = own.with_file_name("another-chat");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("notes.txt"), "secret").unwrap();
    let folder = data
        .path()
        .join("skills")
        .join(victim["id"].as_str().unwrap());
    let folder = folder.join(victim["hash"].as_str().unwrap()).join("files");
    assert!(folder.join("SKILL.md").exists());
    for file in ["tenon.db", "secret.key"] {
        assert!(data.path().join(file).exists(), "{file}");
    }
    let port: u16 = served.address.rsplit(':').next().unwrap().parse().unwrap();
    let given = json!({
        "data": data.path(), "other": other, "skill": folder, "port": port,
        "tcp": tcp.local_addr().unwrap().port(), "udp": udp.local_addr().unwrap().port(),
    });
    let none = json!({"escaped": [], "tried": 23});
    let program = id_of(&skill, "try_all");
    assert_eq!(served.result(&program, given.clone()).await, none);
    let (function, given) = (id_of(&module, "try_all"), json!({"given": given}));
    for worker in ["new", "warm"] {
        let report = served.result(&function, given.clone()).await;
        assert_eq!(report, none, "a {worker} worker");
    }
    assert_eq!(
        std::fs::read_to_string(other.join("notes.txt")).unwrap(),
        "secret"
    );
}

#[tokio::test]
async fn node_reaches_nothing_either() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start_with(&data, |serve| serve.env("CANARY", "canary"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let code = "
        import fs from 'node:fs';
        import net from 'node:net';
        const given = JSON.parse(fs.readFileSync(0, 'utf8'));
        const attempts = {
            key: () => fs.readFileSync(given.data + '/secret.key'),
            database: () => fs.readFileSync(given.data + '/tenon.db'),
            environment: () => { if (!process.env.CANARY) throw new Error('none'); },
            shadow: () => fs.readFileSync('/etc/shadow'),
            connect: () => new Promise((done, failed) =>
                net.connect(given.port, '127.0.0.1', done).on('error', failed)),
            fetch: () => fetch('http://127.0.0.1:' + given.port),
        };
        const escaped = [];
        for (const [name, attempt] of Object.entries(attempts))
            try { await attempt(); escaped.push(name); } catch {}
        console.log(JSON.stringify(escaped));
        process.exit(0);";
    let skill = served
        .install(&SkillFiles::new("node").node("try_all", code))
        .await;
    let port = listener.local_addr().unwrap().port();
    let given = json!({"data": data.path(), "port": port});
    assert_eq!(
        served.result(&id_of(&skill, "try_all"), given).await,
        json!([])
    );
}

/// Finds out whether code of the work folder or of a home there is found: at once, when it is
/// called, and in another process.
const PYTHON_WORKER: &str = "import json, multiprocessing, os


class Tools:
    def lazily(self):
        \"\"\"Imports when it is called.\"\"\"
        import colorsys
        return [colorsys.rgb_to_hls(0, 0, 0)[0], os.path.expanduser('~').startswith(os.getcwd())]

    def elsewhere(self):
        \"\"\"Imports in another process.\"\"\"
        process = multiprocessing.get_context('spawn').Process(target=print)
        process.start()
        process.join()
        return process.exitcode
";

const NODE_FINDS: &str = "import { createRequire } from 'node:module';
const find = () => {
  try { return createRequire(import.meta.url)('colour'); } catch { return 'nothing'; }
};
";

/// What another skill, or a tool that writes files, may leave in the folder of a chat.
fn plant(work: &std::path::Path) {
    let write = |path: &str, text: &str| {
        let path = work.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let python = |name: &str| format!("open({:?}, 'w').close()", work.join(name));
    for minor in 9..20 {
        let site = format!(".local/lib/python3.{minor}/site-packages");
        for name in ["usercustomize", "sitecustomize", "json", "colorsys"] {
            let code = python(&format!("executed-{name}-of-user"));
            write(&format!("{site}/{name}.py"), &code);
        }
    }
    for name in [
        "usercustomize",
        "sitecustomize",
        "json",
        "colorsys",
        "multiprocessing",
    ] {
        write(
            &format!("{name}.py"),
            &python(&format!("executed-{name}-here")),
        );
    }
    for folder in [".node_modules", ".node_libraries", "node_modules"] {
        let marker = work.join(format!("executed-{folder}"));
        let code =
            format!("require('fs').writeFileSync({marker:?}, ''); module.exports = 'found';");
        write(&format!("{folder}/colour/index.js"), &code);
    }
}

#[tokio::test]
async fn what_is_left_in_the_folder_of_a_chat_is_executed_by_no_other_skill() {
    let server = Server::start().await;
    let work = server.app.tools.workspace(&UserId::new(LOCAL));
    let script = "import json, colorsys, os
print(json.dumps(os.path.expanduser('~').startswith(os.getcwd())))";
    let module = "type: script, command: python3 -m json.tool, parameters: {type: object}";
    let skill = SkillFiles::new("victim")
        .python("script", script)
        .tool("module", module)
        .node("node", &format!("{NODE_FINDS}console.log(find());"));
    let skill = server.install(&skill).await;
    let create = async |code: &str, name: &str| {
        let code = json!({"code": code, "name": name});
        let (status, created) = server.post("/api/tools/create", code).await;
        assert_eq!(status, 201, "{created}");
        created
    };
    let python = create(PYTHON_WORKER, "Python worker").await;
    let node = format!("{NODE_FINDS}/** Seeks. */\nexport function seek() {{ return find(); }}");
    let node = create(&node, "Node worker").await;
    let python_is_well = async |worker: &str| {
        let lazily = server.result(&id_of(&python, "lazily"), json!({})).await;
        assert_eq!(lazily, json!([0.0, false]), "a {worker} worker");
    };
    // One process that began before, and is kept.
    let found = server.result(&id_of(&node, "seek"), json!({})).await;
    assert_eq!(found, "nothing");
    plant(&work);
    for worker in ["new", "warm"] {
        python_is_well(worker).await;
        let found = server.result(&id_of(&node, "seek"), json!({})).await;
        assert_eq!(found, "nothing", "a {worker} worker");
    }
    let exit_code = server.result(&id_of(&python, "elsewhere"), json!({})).await;
    assert_eq!(exit_code, 0);
    let result = async |tool: &str| server.result(&id_of(&skill, tool), json!({"a": 1})).await;
    assert_eq!(result("script").await, false);
    assert_eq!(result("module").await, json!({"a": 1}));
    assert_eq!(result("node").await, "nothing");
    let entries = std::fs::read_dir(&work).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let executed: Vec<String> = names.filter(|name| name.starts_with("executed")).collect();
    assert_eq!(executed, Vec::<String>::new());
}

#[tokio::test]
async fn the_network_takes_a_skill_that_asks_and_an_admin_who_agrees() {
    let server = Server::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let code = "import json, socket, sys
try:
    socket.create_connection(('127.0.0.1', json.load(sys.stdin)['port']), 5).close()
    print('connected')
except OSError:
    print('refused')
";
    let asks = SkillFiles::new("asks")
        .with("network: true")
        .python("connect", code);
    let skill = server.install(&asks).await;
    assert_eq!(skill["networkAllowed"], false);
    let connect = id_of(&skill, "connect");
    let tries = async || server.result(&connect, json!({"port": port})).await;
    assert_eq!(tries().await, "refused");
    let agree = |agrees: bool| json!({"networkAllowed": agrees});
    server.patch(&path_of(&skill), agree(true)).await;
    assert_eq!(tries().await, "connected");
    // Agreed once, it holds for the next version, unless that does not ask.
    let next = asks.clone().with("version: 2.0.0");
    assert_eq!(server.install(&next).await["networkAllowed"], true);
    assert_eq!(tries().await, "connected");
    server.patch(&path_of(&skill), agree(false)).await;
    assert_eq!(tries().await, "refused");
    let mut agreed = asks.with("version: 3.0.0").upload();
    agreed["allowNetwork"] = json!(true);
    let (_, installed) = server.post("/api/skills", agreed).await;
    assert_eq!(installed[0]["networkAllowed"], true);
    assert_eq!(tries().await, "connected");
    let quiet = SkillFiles::new("asks").python("connect", code);
    assert_eq!(server.install(&quiet).await["networkAllowed"], false);
    assert_eq!(tries().await, "refused");
    // One that does not ask is not let out by agreeing.
    server.patch(&path_of(&skill), agree(true)).await;
    assert_eq!(tries().await, "refused");
}

#[tokio::test]
async fn the_page_is_told_which_walls_there_are() {
    let server = Server::start().await;
    let (_, sandbox) = server.get("/api/skills/sandbox").await;
    let walls = sandbox["walls"].as_array().unwrap().iter();
    let walls: Vec<&Value> = walls.map(|wall| &wall["wall"]).collect();
    let expected = ["files", "network", "processes", "system-calls", "limits"];
    assert_eq!(walls, expected, "{sandbox}");
}

#[tokio::test]
async fn where_there_is_no_sandbox_the_page_is_told_why() {
    let config = Config {
        sandbox_helper: Some("/no/such/helper".into()),
        ..Config::default()
    };
    let server = Server::with_config(config).await;
    let (status, sandbox) = server.get("/api/skills/sandbox").await;
    assert_eq!((status, &sandbox["walls"]), (200, &json!([])));
    let why = sandbox["why"].as_str().unwrap();
    let expected = "the helper of the sandbox could not be started: No such file";
    assert!(why.starts_with(expected), "{why}");
}
