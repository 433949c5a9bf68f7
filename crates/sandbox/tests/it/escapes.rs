//! What must not succeed, tried by a real interpreter.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::{Child, Command, Stdio};

use tenon_sandbox::NetworkAccess;

use crate::machine::World;

/// Each attempt on a line: its name, and how it ended.
const ATTEMPTS: &str = r#"
import ctypes, os, socket, sys

libc = ctypes.CDLL(None, use_errno=True)
root, victim, tcp4, tcp6, udp, name = sys.argv[1:7]
secret = root + "/other-chat/notes.txt"

def call(function, *arguments):
    if function(*arguments) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

def read(path):
    with open(path, "rb") as file:
        return file.read()

def through_link():
    os.symlink(secret, "link")
    read("link")

def through_folder_link():
    os.symlink("../other-chat", "folder")
    read("folder/notes.txt")

def write(path):
    with open(path, "w") as file:
        file.write("x")

def any_environment():
    found = [pid for pid in os.listdir("/proc") if pid.isdigit() and b"VICTIM" in read(f"/proc/{pid}/environ")]
    if not found:
        raise OSError(0, "no process has it")

def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.connect(address)

def send():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(b"x", ("127.0.0.1", int(udp)))

attempts = {
    "another chat": lambda: read(secret),
    "another chat's folder": lambda: os.listdir(root + "/other-chat"),
    "the data folder": lambda: os.listdir(root),
    "the database": lambda: read(root + "/tenon.db"),
    "the key": lambda: read(root + "/key"),
    "passwords": lambda: read("/etc/shadow"),
    "root's home": lambda: os.listdir("/root"),
    "a parent link": lambda: read("../key"),
    "a symbolic link": through_link,
    "a linked folder": through_folder_link,
    "a hard link": lambda: os.link(secret, "hard"),
    "overwriting": lambda: write(secret),
    "truncating": lambda: os.truncate(secret, 0),
    "creating outside": lambda: write(root + "/new"),
    "deleting outside": lambda: os.remove(root + "/key"),
    "renaming into": lambda: os.rename(root + "/key", "key"),
    "writing into the skill": lambda: write(root + "/skill/new"),
    "writing into the system": lambda: write("/usr/new"),
    "a process's environment": lambda: read(f"/proc/{victim}/environ"),
    "anybody's environment": any_environment,
    "a signal": lambda: os.kill(int(victim), 9),
    "tracing": lambda: call(libc.ptrace, 16, int(victim), 0, 0),
    "a kernel request ring": lambda: call(libc.syscall, 425, 8, ctypes.create_string_buffer(120)),
    "a user namespace": lambda: call(libc.unshare, 0x10000000),
    "mounting": lambda: call(libc.mount, b"none", b"/tmp", b"tmpfs", 0, None),
    "becoming root": lambda: os.setuid(0) if os.getuid() else os.setuid(1),
    "loopback": lambda: connect(socket.AF_INET, ("127.0.0.1", int(tcp4))),
    "loopback, IPv6": lambda: connect(socket.AF_INET6, ("::1", int(tcp6))),
    "datagrams": send,
    "an abstract socket": lambda: connect(socket.AF_UNIX, "\0" + name),
    "a named socket": lambda: connect(socket.AF_UNIX, root + "/socket"),
    "raw packets": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
}
for attempt, function in attempts.items():
    try:
        function()
        print(f"ESCAPED: {attempt}")
    except OSError as error:
        print(f"refused: {attempt} ({error.strerror})")
"#;

const ATTEMPT_COUNT: usize = 32;

/// A process with a secret in its environment.
struct Victim(Child);

impl Victim {
    fn new() -> Self {
        let mut command = Command::new("sleep");
        command.arg("1000").env("VICTIM", "a secret");
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn nothing_outside_is_reached() {
    let mut victim = Victim::new();
    let tcp4 = TcpListener::bind("127.0.0.1:0").unwrap();
    let tcp6 = TcpListener::bind("[::1]:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let name = format!("tenon-sandbox-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract_socket = UnixListener::bind_addr(&address).unwrap();
    for world in World::each() {
        let _named_socket = UnixListener::bind(world.path("socket")).unwrap();
        let root = world.path("");
        let args = [
            "-c",
            ATTEMPTS,
            root.to_str().unwrap().trim_end_matches('/'),
            &victim.0.id().to_string(),
            &tcp4.local_addr().unwrap().port().to_string(),
            &tcp6.local_addr().unwrap().port().to_string(),
            &udp.local_addr().unwrap().port().to_string(),
            &name,
        ];
        let report = world.stdout("python3", &args).await;
        assert!(
            !report.contains("ESCAPED"),
            "{:?}:\n{report}",
            world.machine
        );
        assert_eq!(report.lines().count(), ATTEMPT_COUNT, "{report}");
        assert!(victim.0.try_wait().unwrap().is_none(), "it was killed");
        let secret = std::fs::read_to_string(world.path("other-chat/notes.txt"));
        assert_eq!(secret.unwrap(), "the secret");
    }
}

#[tokio::test]
async fn only_what_was_given_is_in_the_environment() {
    for world in World::each() {
        let mut command = world.command("/usr/bin/env", &[]);
        command.env = [("TOKEN".into(), "of this tool".into())].into();
        let output = world.run(&command).await;
        let variables = String::from_utf8(output.stdout).unwrap();
        let mut variables: Vec<_> = variables.lines().collect();
        let is_own = |variable: &&str| {
            let own = ["TMPDIR=", "HOME="];
            own.iter().any(|name| variable.starts_with(name))
        };
        variables.retain(|variable| !is_own(variable));
        assert_eq!(variables, ["TOKEN=of this tool"]);
    }
}

#[tokio::test]
async fn what_is_left_in_the_work_folder_configures_no_later_program() {
    const PLANTS: &str = r#"
import os, sys
planted = f"open('{os.getcwd()}/executed', 'w').close()"
site = f".local/lib/python3.{sys.version_info.minor}/site-packages"
for folder in (site, ".node_modules/colour", "node_modules/colour"):
    os.makedirs(folder)
    os.makedirs(os.path.expanduser("~/" + folder))
for home in (".", os.path.expanduser("~")):
    for name in ("usercustomize.py", "sitecustomize.py"):
        with open(f"{home}/{site}/{name}", "w") as file:
            file.write(planted)
    with open(f"{home}/.node_modules/colour/index.js", "w") as file:
        file.write(f"require('fs').writeFileSync('{os.getcwd()}/executed', '')")
for name in ("usercustomize.py", "sitecustomize.py"):
    with open(name, "w") as file:
        file.write(planted)
"#;
    for world in World::each() {
        std::fs::write(world.path("skill/main.py"), "import json, ssl").unwrap();
        let find = "try { require('colour') } catch {}";
        std::fs::write(world.path("skill/main.cjs"), find).unwrap();
        world.stdout("python3", &["-c", PLANTS]).await;
        for (program, script) in [("python3", "main.py"), ("node", "main.cjs")] {
            let script = world.path("skill").join(script);
            world.stdout(program, &[script.to_str().unwrap()]).await;
            let executed = world.path("chat/executed").exists();
            assert!(!executed, "{program} on {:?}", world.machine);
        }
    }
}

#[tokio::test]
async fn node_reaches_nothing_outside_either() {
    const SCRIPT: &str = "
        const attempts = {
            file: () => require('fs').readFileSync('../key'),
            connect: () => new Promise((done, failed) =>
                require('net').connect(Number(process.argv[1]), '127.0.0.1', done).on('error', failed)),
            fetch: () => fetch('http://127.0.0.1:' + process.argv[1]),
        };
        (async () => {
            for (const [name, attempt] of Object.entries(attempts))
                try { await attempt(); console.log('ESCAPED', name); }
                catch (error) { console.log('refused', name); }
        })();";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    for world in World::each() {
        let report = world.stdout("node", &["-e", SCRIPT, &port]).await;
        assert_eq!(report, "refused file\nrefused connect\nrefused fetch\n");
    }
}

#[tokio::test]
async fn with_the_network_files_and_sockets_of_others_stay_out_of_reach() {
    const SCRIPT: &str = r#"
import socket, sys
socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()
for family, address in [(socket.AF_UNIX, "\0" + sys.argv[2]), (socket.AF_UNIX, sys.argv[3])]:
    try:
        socket.socket(family).connect(address)
        print("ESCAPED")
    except OSError:
        print("refused")
"#;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let name = format!("tenon-network-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract_socket = UnixListener::bind_addr(&address).unwrap();
    for world in World::each() {
        let socket = world.path("socket");
        let _named_socket = UnixListener::bind(&socket).unwrap();
        let args = ["-c", SCRIPT, &port, &name, socket.to_str().unwrap()];
        let mut command = world.command("python3", &args);
        command.network = NetworkAccess::Full;
        let output = world.run(&command).await;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let report = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            report, "refused\nrefused\n",
            "{:?}: {stderr}",
            world.machine
        );
    }
}
