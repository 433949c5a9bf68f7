//! What is left on the disk that Tenon writes to.
//!
//! A disk that is full stops everybody, so nothing new is begun and no tool writes
//! while less than a floor is free: what runs can still be stored.

use std::path::PathBuf;

use tenon_domain::coded_errors;

/// A folder's disk, and how much of it must stay free.
#[derive(Debug, Clone)]
pub struct FreeSpace {
    folder: PathBuf,
    floor: u64,
}

coded_errors! {
    /// Less than the floor would be left.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum NoSpace {
        BelowFloor { mb: u64 } = "disk_low" => "Less than {mb} MB are free on the server's disk, so nothing new is started. Free some space on it, or ask its admin to.",
    }
}

const MEGABYTE: u64 = 1024 * 1024;

impl FreeSpace {
    /// A floor of 0 is none.
    pub fn new(folder: impl Into<PathBuf>, floor: u64) -> Self {
        Self {
            folder: folder.into(),
            floor,
        }
    }

    pub fn check(&self) -> Result<(), NoSpace> {
        self.check_with(0)
    }

    /// Whether that many bytes more may be written.
    pub fn check_with(&self, bytes: u64) -> Result<(), NoSpace> {
        let floor = self.floor;
        if floor == 0 {
            return Ok(());
        }
        // A disk that cannot be asked fails by itself if it has to.
        match rustix::fs::statvfs(&self.folder) {
            Ok(disk)
                if disk.f_bavail.saturating_mul(disk.f_frsize) < floor.saturating_add(bytes) =>
            {
                Err(NoSpace::BelowFloor {
                    mb: floor.div_ceil(MEGABYTE),
                })
            }
            _ => Ok(()),
        }
    }
}
