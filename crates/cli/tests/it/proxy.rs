//! A real nginx before a server, as whoever copies `proxy_pass` out of a manual sets it up.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::{Client, RequestBuilder};
use tempfile::TempDir;

use crate::server::TEST_TIMEOUT;

pub struct Proxy {
    nginx: Child,
    pub address: SocketAddr,
    client: Client,
    _folder: TempDir,
}

impl Proxy {
    /// `before` is where the server listens.
    pub fn start(before: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // nginx cannot choose a port by itself. Another process may take a free one first.
        for _ in 0..5 {
            let address = free_address();
            if let Some(nginx) = try_start(folder.path(), address, before) {
                return Self {
                    nginx,
                    address,
                    client: Client::builder().timeout(TEST_TIMEOUT).build().unwrap(),
                    _folder: folder,
                };
            }
        }
        panic!("nginx does not start; tests/setup installs it");
    }

    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let url = format!("http://{}{path}", self.address);
        self.client.request(method.parse().unwrap(), url)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.nginx.kill();
        let _ = self.nginx.wait();
    }
}

pub fn free_address() -> SocketAddr {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap()
}

fn try_start(folder: &Path, address: SocketAddr, before: &str) -> Option<Child> {
    let server =
        format!("server {{ listen {address}; location / {{ proxy_pass http://{before}; }} }}");
    start_nginx(folder, address, &server)
}

/// With these servers in its configuration. None: it does not listen there.
pub fn start_nginx(folder: &Path, address: SocketAddr, servers: &str) -> Option<Child> {
    let at = folder.display();
    // One process, so that killing it ends it.
    let settings = format!(
        "daemon off; master_process off; pid {at}/pid; error_log stderr; events {{ worker_connections 4096; }}
         http {{
             access_log off;
             client_body_temp_path {at}/body; proxy_temp_path {at}/proxy;
             fastcgi_temp_path {at}/fastcgi; uwsgi_temp_path {at}/uwsgi; scgi_temp_path {at}/scgi;
             {servers}
         }}"
    );
    let file = folder.join("nginx.conf");
    fs::write(&file, settings).unwrap();
    // Not everybody's PATH has the place of what administrators run.
    let path = format!("{}:/usr/sbin", std::env::var("PATH").unwrap());
    let mut nginx = Command::new("nginx")
        .env("PATH", path)
        .args(["-e", "stderr", "-p"])
        .arg(folder)
        .arg("-c")
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("nginx is installed by tests/setup");
    let started = Instant::now();
    while started.elapsed() < TEST_TIMEOUT {
        if nginx.try_wait().unwrap().is_some() {
            return None;
        }
        if TcpStream::connect(address).is_ok() {
            return Some(nginx);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = nginx.kill();
    let _ = nginx.wait();
    None
}
