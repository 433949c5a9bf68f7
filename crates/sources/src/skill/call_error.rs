//! Why a call of a skill gave no result, or why a skill could not be set up.

use tenon_domain::coded_errors;

coded_errors! {
    #[derive(Debug)]
    pub enum SkillCallError {
        Removed { name } = "skill_removed" => "The skill {name} was removed or switched off. Do without it.",
        ToolGone { name } = "skill_tool_gone" => "The skill {name} was updated and no longer has this tool. Do without it.",
        NotSetUp { name, why } = "skill_not_set_up" => "The skill {name} cannot be used: {why} Do without it, or tell the user that it can be repaired under Settings → Skills.",
        SettingUp { name } = "skill_setting_up" => "The packages of the skill {name} are still being installed. Try again in a minute.",
        MissingValue { name, variable } = "skill_value_missing" => "The skill {name} needs a value for `{variable}`. The user can enter it under Settings → Skills.",
        InvalidValue { name, variable } = "skill_value_invalid" => "The value of `{variable}` in the skill {name} cannot be sent in a header: it must be one line. The user can change it under Settings → Skills.",
        NoBuiltin { tool } = "skill_no_builtin" => "There is no built-in tool `{tool}` here.",
        NoFile { file, files } = "skill_no_file" => "The skill has no file `{file}`. It has: {files}",
        NotText { file } = "skill_file_not_text" => "`{file}` is not text. A script can read it.",
        NoScript { file, files } = "skill_no_script" => "`{file}` is not a script of this skill. These are: {files}",
        NoProgram { program } = "skill_no_program" => "`{program}` is not installed on this server, or not where the sandbox can see it. The user has to install it.",
        Sandbox { why } = "skill_sandbox" => "The sandbox for scripts could not be started: {why}.",
        Exited { code: i32, said } = "skill_exited" => "The script failed with exit code {code}: {said}",
        Signaled { signal: i32, said } = "skill_signaled" => "The script was killed by signal {signal}; most likely it used more memory than allowed. {said}",
        TimedOut { seconds: u64 } = "skill_timed_out" => "The script took longer than {seconds} s and was ended.",
        CpuLimit = "skill_cpu_limit" => "The script used more processor time than allowed and was ended.",
        OutputLimit = "skill_output_limit" => "The script printed more than allowed and was ended. Ask for less, or let it write to a file.",
        Raised { said } = "skill_raised" => "The tool failed: {said}",
        WorkerEnded { said } = "skill_worker_ended" => "The program of the tool ended before it answered. {said}",
    }
}

coded_errors! {
    #[derive(Debug)]
    pub enum SkillSetupError {
        NoPython = "setup_no_python" => "Python 3 with `venv` is not installed on this server. Install it (Debian: `apt install python3-venv`) or `uv`, then try again.",
        NoNode = "setup_no_node" => "`npm` is not installed on this server. Install Node.js, then try again.",
        Failed { program, said } = "setup_failed" => "{program} could not install the packages: {said}",
        NoNetwork { program, said } = "setup_no_network" => "{program} could not reach its package index. Check the network of this server, or set a mirror (`PIP_INDEX_URL`, `npm_config_registry`), then try again. It said: {said}",
        TimedOut { seconds: u64 } = "setup_timed_out" => "Installing the packages took longer than {seconds} s. Check the network of this server, then try again.",
        Sandbox { why } = "setup_sandbox" => "The sandbox for installing packages could not be started: {why}.",
        Files { why } = "setup_files" => "The files of the skill could not be written: {why}.",
    }
}
