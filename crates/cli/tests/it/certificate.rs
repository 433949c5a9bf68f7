//! A certificate for `localhost` that signs itself.

use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Certificate {
    pub file: PathBuf,
    pub key: PathBuf,
}

impl Certificate {
    pub fn make(folder: &Path) -> Self {
        let made = Self {
            file: folder.join("certificate.pem"),
            key: folder.join("key.pem"),
        };
        let output = Command::new("openssl")
            .args([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            ])
            .args(["-subj", "/CN=localhost"])
            .args(["-addext", "subjectAltName=DNS:localhost"])
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .arg("-keyout")
            .arg(&made.key)
            .arg("-out")
            .arg(&made.file)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        made
    }
}
