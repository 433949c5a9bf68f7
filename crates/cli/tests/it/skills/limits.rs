//! Programs of skills that will not end, or take too much: each ends, and is reported.

use std::time::{Duration, Instant};

use serde_json::json;
use tenon_app::config::Config;
use tenon_domain::UserId;
use tenon_store::LOCAL;

use super::{Asks, SkillFiles, id_of};
use crate::server::{Server, TEST_TIMEOUT};

/// Ignores all that asks it to end, and leaves a child that nobody waits for.
const STUBBORN: &str = "import fcntl, os, signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
held = open('held', 'w')
fcntl.flock(held, fcntl.LOCK_EX)
if os.fork() == 0:
    os.setsid()
    os.fork()
while True:
    time.sleep(1000)
";

/// Returns at once, and leaves a child with the lock.
const DAEMON: &str = "import fcntl, os, time
held = open('held', 'w')
fcntl.flock(held, fcntl.LOCK_EX)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for stream in range(3):
            os.close(stream)
        time.sleep(1000)
    os._exit(0)
print('left')
";

const FORK_BOMB: &str = "import os, time
count = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(1000)
        count += 1
except OSError as error:
    print('{\"stopped\": %s}' % str(count < 200).lower())
";

const FLOOD: &str = "import sys
line = 'x' * 65536
while True:
    sys.stdout.write(line)
";

const HUNGRY: &str = "held = []
while True:
    held.append(b'x' * (256 << 20))
";

/// Twenty files of two megabytes, slowly.
const FILL: &str = "import time
for number in range(20):
    with open(f'part-{number}', 'wb') as file:
        file.write(b'x' * (2 << 20))
    time.sleep(0.3)
print('all is written')
";

/// The same in a worker that would be kept for the next call.
const WORKER: &str = "import fcntl, os, threading, time


class Tools:
    def leave(self):
        \"\"\"Leaves a process.\"\"\"
        self.held = open('held', 'w')
        fcntl.flock(self.held, fcntl.LOCK_EX)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(1000)
            os._exit(0)
        os.wait()
        return 'left'

    def flood(self):
        \"\"\"Prints for ever.\"\"\"
        while True:
            print('x' * 65536)

    def fork(self):
        \"\"\"Starts processes until it may not.\"\"\"
        count = 0
        try:
            while True:
                if os.fork() == 0:
                    time.sleep(1000)
                count += 1
        except OSError:
            return {'stopped': count < 200}

    def fill_later(self):
        \"\"\"Leaves a thread that writes.\"\"\"
        self.held = open('held', 'w')
        fcntl.flock(self.held, fcntl.LOCK_EX)
        threading.Thread(target=self.fill, daemon=True).start()
        return 'left'

    def fill(self):
        \"\"\"Writes until it may not.\"\"\"
        for number in range(20):
            with open(f'more-{number}', 'wb') as file:
                file.write(b'x' * (2 << 20))
            time.sleep(0.3)
        return 'all is written'

    def well(self):
        \"\"\"Does nothing.\"\"\"
        return 'well'
";

/// Returns when no process has the lock any more.
pub async fn until_freed(server: &Server) {
    let work = server.app.tools.workspace(&UserId::new(LOCAL));
    let freed = tokio::task::spawn_blocking(move || {
        let file = std::fs::File::open(work.join("held")).unwrap();
        file.lock().unwrap();
    });
    tokio::time::timeout(TEST_TIMEOUT, freed)
        .await
        .expect("nobody is left")
        .unwrap();
}

#[tokio::test]
async fn what_ignores_its_deadline_is_killed_with_all_it_left() {
    let server = Server::start().await;
    let skill = SkillFiles::new("stubborn").python_for("stay", "1", STUBBORN);
    let skill = server.install(&skill).await;
    let began = Instant::now();
    let answer = server.call(&id_of(&skill, "stay"), json!({})).await;
    assert_eq!(answer["error"]["kind"], "timed_out", "{answer}");
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
    until_freed(&server).await;
}

#[tokio::test]
async fn a_daemon_is_gone_when_its_call_ends() {
    let server = Server::start().await;
    let skill = server
        .install(&SkillFiles::new("daemon").python("leave", DAEMON))
        .await;
    assert_eq!(
        server.result(&id_of(&skill, "leave"), json!({})).await,
        "left"
    );
    until_freed(&server).await;
}

#[tokio::test]
async fn a_fork_bomb_a_flood_and_a_glutton_are_bounded() {
    let server = Server::start().await;
    let skill = SkillFiles::new("greedy")
        .python("fork", FORK_BOMB)
        .python("flood", FLOOD)
        .python("eat", HUNGRY)
        .python("well", "print('well')");
    let skill = server.install(&skill).await;
    let forked = server.result(&id_of(&skill, "fork"), json!({})).await;
    assert_eq!(forked, json!({"stopped": true}));
    let flood = server.call(&id_of(&skill, "flood"), json!({})).await;
    assert_eq!(flood["error"]["code"], "skill_output_limit", "{flood}");
    let eaten = server.failure(&id_of(&skill, "eat"), json!({})).await;
    assert!(
        eaten.contains("MemoryError") || eaten.contains("memory"),
        "{eaten}"
    );
    // The server is none the worse for it.
    assert_eq!(
        server.result(&id_of(&skill, "well"), json!({})).await,
        "well"
    );
}

#[tokio::test]
async fn a_worker_keeps_nothing_of_a_call_and_its_calls_have_the_same_bounds() {
    let server = Server::start().await;
    let (status, skill) = server
        .post(
            "/api/tools/create",
            json!({"code": WORKER, "name": "Worker"}),
        )
        .await;
    assert_eq!(status, 201, "{skill}");
    let left = server.result(&id_of(&skill, "leave"), json!({})).await;
    assert_eq!(left, "left");
    until_freed(&server).await;
    let flood = server.call(&id_of(&skill, "flood"), json!({})).await;
    assert_eq!(flood["error"]["code"], "skill_output_limit", "{flood}");
    let forked = server.result(&id_of(&skill, "fork"), json!({})).await;
    assert_eq!(forked, json!({"stopped": true}));
    let well = server.result(&id_of(&skill, "well"), json!({})).await;
    assert_eq!(well, "well");
}

#[tokio::test]
async fn programs_write_no_more_than_a_chat_may_have() {
    let server = Server::with_config(Config {
        chat_quota_mb: Some(8),
        ..Config::default()
    })
    .await;
    let skill = SkillFiles::new("filling").python("fill", FILL);
    let skill = server.install(&skill).await;
    let code = json!({"code": WORKER, "name": "Worker"});
    let (status, worker) = server.post("/api/tools/create", code).await;
    assert_eq!(status, 201, "{worker}");
    let work = server.app.tools.workspace(&UserId::new(LOCAL));
    for id in [id_of(&skill, "fill"), id_of(&worker, "fill")] {
        let filled = server.call(&id, json!({})).await;
        assert_eq!(filled["error"]["code"], "quota_of_chat", "{filled}");
        let files = std::fs::read_dir(&work).unwrap().count();
        assert!((2..20).contains(&files), "{files}");
        // Without room it is not begun, and what is removed makes room at once.
        let again = server.call(&id, json!({})).await;
        assert_eq!(again["error"]["code"], "quota_of_chat", "{again}");
        assert_eq!(std::fs::read_dir(&work).unwrap().count(), files);
        std::fs::remove_dir_all(&work).unwrap();
    }
    // A worker that waits for its next call is watched, too.
    let left = server
        .result(&id_of(&worker, "fill_later"), json!({}))
        .await;
    assert_eq!(left, "left");
    until_freed(&server).await;
    let files = std::fs::read_dir(&work).unwrap().count();
    assert!((2..20).contains(&files), "{files}");
    std::fs::remove_dir_all(&work).unwrap();
    let well = server.result(&id_of(&worker, "well"), json!({})).await;
    assert_eq!(well, "well");
}
