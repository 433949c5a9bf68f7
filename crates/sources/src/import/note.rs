//! What was left out or changed when a text was imported.

use tenon_domain::coded_errors;

coded_errors! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum ImportNote {
        // Of the text as a whole.
        NoEntries = "import_list_empty" => "The list of servers is empty.",
        FirstServers { max: usize } = "import_first_servers" => "Only the first {max} servers were read.",
        Braces = "import_braces_repaired" => "The outermost braces did not match; they were corrected.",

        // Of one server.
        Renamed { written, name, max: usize } = "import_renamed" => "“{written}” is called `{name}` here: a name has up to {max} letters, digits, `-` and `_`.",
        Numbered { name, free } = "import_numbered" => "Another server is called `{name}` too; this one is `{free}`.",
        NumberedElsewhere { name, place, free } = "import_numbered_elsewhere" => "`{name}` in {place} has the same name; this one is called `{free}`.",
        TakenForOpenapi = "import_taken_for_openapi" => "It is treated as an OpenAPI server. An MCP server is written as {\"url\": \"…\"}.",
        NoServerAddress = "import_no_server_address" => "The document does not say where its server is: enter the address of the server before its tools are called.",
        NotTakenOver { fields } = "import_not_taken_over" => "Not imported: {fields}.",
        CommandAndUrl = "import_command_and_url" => "It has a command and a url; the command is used.",
        CommandLine = "import_command_line" => "The command was a whole line; it was split into a command and arguments.",
        WindowsWrapper = "import_windows_wrapper" => "The Windows wrapper `cmd /c` was removed.",
        Timeout = "import_timeout" => "Its timeout is not a valid time and was left out.",
        StartTimeout = "import_start_timeout" => "Its start timeout is not a valid time and was left out.",
        LogIn = "import_log_in" => "Each person logs in to it for themselves.",
        AuthType { auth_type } = "import_auth_type" => "Its auth_type “{auth_type}” is not supported, so no credentials are sent. Enter a key if it requires one.",
        Placeholders = "import_placeholders" => "Placeholders {{…}} in its headers are sent as they are: only Open WebUI replaces them.",
        ToolFilter = "import_tool_filter" => "Its `function_name_filter_list` is not imported: switch off the tools that nobody should use.",
        AccessControl = "import_access_control" => "The access control of Open WebUI is not imported.",
        /// VS Code asks people for it.
        Input { input, description } = "import_input" => "`{input}` is: {description}",
        /// As it was before: the file cannot be read since.
        FileBroken { file, why } = "import_file_broken" => "{file} cannot be read since its last change, so its previous content is used. {why}",
    }
}
