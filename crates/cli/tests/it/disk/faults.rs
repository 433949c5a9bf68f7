//! A disk that fails when a test says so: under the real program, by a library that stands
//! between it and the system.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

/// No space left on the disk.
pub const ENOSPC: i32 = 28;
/// The disk is broken.
pub const EIO: i32 = 5;

pub struct Faults {
    folder: TempDir,
    control: File,
}

impl Faults {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/disk/faults.c");
        let library = folder.path().join("faults.so");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([library.as_os_str(), source.as_ref()])
            .arg("-ldl")
            .status();
        assert!(
            compiled.unwrap().success(),
            "cc, with which Rust links too, compiles it"
        );
        let control = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(folder.path().join("faults"))
            .unwrap();
        let faults = Self { folder, control };
        faults.none();
        faults
    }

    /// Puts a program on this disk.
    pub fn under<'a>(&self, program: &'a mut Command) -> &'a mut Command {
        let at = |name: &str| -> PathBuf { self.folder.path().join(name) };
        program
            .env("LD_PRELOAD", at("faults.so"))
            .env("TENON_FAULTS", at("faults"))
    }

    /// From now on, `after` writes to the database go well and then `times` fail.
    pub fn fail(&self, error: i32, after: i32, times: i32) {
        self.set(&[0, 0, 0, 0]);
        self.set(&[error, after, times, 0]);
    }

    pub fn none(&self) {
        self.set(&[0, 0, 0, 0]);
    }

    fn set(&self, fields: &[i32; 4]) {
        let bytes: Vec<u8> = fields
            .iter()
            .flat_map(|field| field.to_ne_bytes())
            .collect();
        self.control.write_all_at(&bytes, 0).unwrap();
    }
}
