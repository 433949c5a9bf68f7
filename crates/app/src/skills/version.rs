//! A version of a skill: as it is stored, and as files.

use std::path::Path;

use tenon_sources::skill::package::package::MANIFEST_FILE;
use tenon_sources::skill::package::requirements::PACKAGE_FILE;
use tenon_sources::skill::package::script::SkillScript;
use tenon_sources::skill::package::source::{self, SkillBundle};
use tenon_sources::skill::package::{FileTree, SkillPackage, SkillTool, SkillToolRun};
use tenon_store::{NewSkillVersion, SkillToolRow};

use super::SkillFault;
use super::input::blocking;

pub(super) async fn new_version(bundle: SkillBundle) -> Result<NewSkillVersion, SkillFault> {
    blocking(move || {
        let package = bundle.package;
        Ok(NewSkillVersion {
            archive: source::pack(&bundle.files)?,
            tools: package.tools.iter().map(tool_row).collect(),
            name: package.name,
            title: package.title,
            version: package.version,
            hash: package.hash,
        })
    })
    .await
}

fn tool_row(tool: &SkillTool) -> SkillToolRow {
    let (command, endpoint, method) = match &tool.run {
        SkillToolRun::Script(script) => (Some(script.command_line()), None, None),
        SkillToolRun::Http(mapping) => {
            let endpoint = mapping.endpoint().to_owned();
            (None, Some(endpoint), Some(mapping.method().to_string()))
        }
        SkillToolRun::Builtin { tool, .. } => (Some(tool.clone()), None, None),
    };
    SkillToolRow {
        name: tool.name.clone(),
        title: tool.title.clone(),
        description: tool.description.clone(),
        kind: tool.run.kind(),
        parameters: tool.parameters.to_string(),
        command,
        endpoint,
        method,
    }
}

/// `name` is that of the skill, for files that do not say it themselves.
pub(super) async fn unpack(archive: Vec<u8>, name: &str) -> Result<SkillBundle, SkillFault> {
    let name = name.to_owned();
    blocking(move || {
        let files = source::unpack(&archive)?;
        let package = SkillPackage::read(&files, Some(&name))?;
        Ok(SkillBundle {
            folder: String::new(),
            package,
            files,
        })
    })
    .await
}

/// Writes the files of a version into `folder/files`, unless they are there. Another process may be
/// doing the same.
pub(super) async fn write(files: FileTree, folder: &Path) -> Result<(), SkillFault> {
    let folder = folder.to_owned();
    blocking(move || {
        let there = folder.join("files");
        if there.is_dir() {
            return Ok(());
        }
        let failed = |error: std::io::Error| SkillFault::Files {
            why: error.to_string().into(),
        };
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let new = tempfile::tempdir_in(&folder).map_err(failed)?;
        let inside = new.path().join("files");
        std::fs::create_dir(&inside).map_err(failed)?;
        files.write_to(&inside)?;
        match std::fs::rename(&inside, &there) {
            Ok(()) => Ok(()),
            Err(_) if there.is_dir() => Ok(()),
            Err(error) => Err(failed(error)),
        }
    })
    .await
}

/// The module that a skill is, where it is one and nothing else.
pub(super) fn only_module(package: &SkillPackage) -> Option<(&SkillScript, &str)> {
    let mut found = None;
    for tool in &package.tools {
        let SkillToolRun::Script(script @ SkillScript::Module { file, .. }) = &tool.run else {
            return None;
        };
        match found {
            None => found = Some((script, file.as_str())),
            Some((_, other)) if other == file => {}
            Some(_) => return None,
        }
    }
    // Its packages of npm are named in the code too.
    let mut others = package.files.iter().map(|file| file.path.as_str());
    let is_alone = others.all(|path| {
        let is_module = found.is_some_and(|(_, file)| file == path);
        is_module || [MANIFEST_FILE, PACKAGE_FILE].contains(&path)
    });
    found.filter(|_| is_alone && package.body.is_empty())
}
