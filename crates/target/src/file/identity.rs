//! Which target a folder is: a file that is linked into its place whole.

use std::fs::{self, File};
use std::io::{self, Write};

use protocol::TargetId;

use super::FileTarget;
use super::parts::{make_folder, sync_folder};
use crate::marker;
use crate::port::TargetFault;

impl FileTarget {
    pub(super) fn read_identity(&self) -> Result<Option<TargetId>, TargetFault> {
        let path = self.root.join(marker::KEY);
        match fs::read(&path) {
            Ok(bytes) => marker::read(&bytes, &path.display().to_string()).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(TargetFault::new(format!("read {}", path.display()), error)),
        }
    }

    pub(super) fn offer_identity(&self, offered: TargetId) -> Result<Option<TargetId>, TargetFault> {
        if let Some(known) = self.read_identity()? {
            return Ok(Some(known));
        }
        make_folder(&self.root)?;
        let path = self.root.join(marker::KEY);
        // A name that nobody else has: a reader never finds half a marker, and of two makers one is first.
        let draft = self.root.join(format!("{}.{offered}", marker::KEY));
        let linked = write(&draft, offered).and_then(|()| fs::hard_link(&draft, &path));
        let _ = fs::remove_file(&draft);
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(TargetFault::new(format!("make {}", path.display()), error))
            }
            _ => {
                sync_folder(&self.root)?;
                self.read_identity()
            }
        }
    }
}

fn write(draft: &std::path::Path, offered: TargetId) -> io::Result<()> {
    let mut file = File::create(draft)?;
    file.write_all(marker::text(offered).as_bytes())?;
    file.sync_all()
}
