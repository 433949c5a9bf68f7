//! Why a skill cannot be installed, changed or read.

use tenon_domain::{ErrorDetail, ToolError, coded_errors};
use tenon_sources::skill::package::SkillError as PackageError;

coded_errors! {
    #[derive(Debug)]
    pub enum SkillFault {
        NoInput = "skill_no_input" => "Say where the skill is: a folder or an archive on the server (`path`), or a file with its name (`fileName` and `content` in Base64).",
        Content = "skill_content" in "content" => "The file is not Base64.",
        PathForAdmins = "skill_path_for_admins" in "path" => "Only an admin can install from a folder of the server. Upload the skill as a .zip file instead.",
        NoSuchPath { path } = "skill_no_such_path" in "path" => "There is nothing at {path} on this server. Write the whole path of a folder, an archive or a SKILL.md.",
        NoOrigin = "skill_no_origin" => "This skill was not installed from a folder. Install its new version as a file.",
        Package { file, line: u64, why } = "skill_package" => "{file}, line {line}: {why}",
        PackageFile { file, why } = "skill_package_file" => "{file}: {why}",
        NothingChosen = "skill_nothing_chosen" in "hashes" => "None of the chosen skills is there any more as it was shown. Look at it again.",
        ProgramsForAdmins { name } = "skill_programs_for_admins" => "{name} runs programs or built-in tools on the server. Only an admin can install such a skill.",
        TeamForAdmins = "skill_team_for_admins" in "visibility" => "Only an admin can share a skill with everybody.",
        OwnerIsNoAdmin = "skill_owner_is_no_admin" => "It runs programs, and the person who installed it is no longer an admin.",
        UpdateFailed { why } = "skill_update_failed" => "The new version cannot be set up, so the one before it goes on: {why}",
        NotYours = "skill_not_yours" => "Only whoever installed this skill, or an admin, can change it.",
        NetworkForAdmins = "skill_network_for_admins" in "networkAllowed" => "Only an admin can let the scripts of a skill use the network.",
        NoSuchBuiltin { tool, builtin } = "skill_no_such_builtin" => "The tool `{tool}` refers to the built-in tool `{builtin}`, which does not exist here.",
        NoSuchVariable { name } = "skill_no_such_variable" in "variables" => "The skill has no variable `{name}`.",
        ValueTooLong { name, max: usize } = "skill_value_too_long" in "variables" => "The value of `{name}` is longer than {max} bytes.",
        Settings { why } = "skill_settings" in "settings" => "The settings do not fit: {why}",
        NoSuchFile { file } = "skill_no_such_file" in "path" => "The skill has no file `{file}`.",
        NoSuchVersion = "skill_no_such_version" in "hash" => "This version of the skill is no longer stored.",
        Language = "skill_language" in "language" => "The code is neither Python with a class `Tools` nor JavaScript with exported functions. Say which: `python` or `node`.",
        CodeTooLong { max: usize } = "skill_code_too_long" in "code" => "The code is longer than {max} bytes.",
        Code { why } = "skill_code" in "code" => "{why}",
        Sandbox { why } = "skill_check_failed" => "{why}",
        Files { why } = "skill_files" => "The files of the skill cannot be written: {why}.",
    }
    wraps {
        Store(tenon_store::Error),
        /// What the host of skills says of its own: why packages are not installed, or code is not
        /// run.
        Host(ErrorDetail),
    }
}

impl From<tenon_store::Error> for SkillFault {
    fn from(error: tenon_store::Error) -> Self {
        Self::Store(error)
    }
}

impl From<PackageError> for SkillFault {
    fn from(error: PackageError) -> Self {
        let why = error.problem.to_string().into();
        let file = error.file.into();
        match error.line {
            Some(line) => Self::Package { file, line, why },
            None => Self::PackageFile { file, why },
        }
    }
}

impl From<ToolError> for SkillFault {
    fn from(error: ToolError) -> Self {
        let (message, params) = (error.message, error.params);
        match error.code {
            Some(code) => Self::Host(ErrorDetail {
                code,
                message,
                params,
                field: None,
            }),
            None => Self::Sandbox {
                why: message.into(),
            },
        }
    }
}
