//! What was left out or changed when a text was imported.

use tenon_domain::coded_errors;

coded_errors! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum ImportNote {
        // Of the text as a whole.
        NoEntries = "import_list_empty" => "The list of servers is empty.",
        FirstServers { max: usize } = "import_first_servers" => "Only the first {max} servers were read.",
        Braces = "import_braces_repaired" => "The outermost braces did not match; they were put right.",

        // Of one server.
        Renamed { written, name, max: usize } = "import_renamed" => "“{written}” is called `{name}` here: a name has up to {max} letters, digits, `-` and `_`.",
        Numbered { name, free } = "import_numbered" => "Another server is called `{name}` too; this one is `{free}`.",
        NumberedElsewhere { name, place, free } = "import_numbered_elsewhere" => "`{name}` in {place} has the same name; this one is called `{free}`.",
        TakenForOpenapi = "import_taken_for_openapi" => "It is taken for an OpenAPI server. An MCP server is written as {\"url\": \"…\"}.",
        NoServerAddress = "import_no_server_address" => "The document does not say where its server is: enter the address of the server before its tools are called.",
        NotTakenOver { fields } = "import_not_taken_over" => "Not taken over: {fields}.",
        CommandAndUrl = "import_command_and_url" => "It has a command and a url; the command is taken.",
        CommandLine = "import_command_line" => "The command was a whole line; its words are the arguments now.",
        WindowsWrapper = "import_windows_wrapper" => "What is only needed on Windows (`cmd /c`) was taken away.",
        Timeout = "import_timeout" => "Its timeout is not a time and was left out.",
        StartTimeout = "import_start_timeout" => "Its start timeout is not a time and was left out.",
        LogIn = "import_log_in" => "People log in at it for themselves.",
        AuthType { auth_type } = "import_auth_type" => "Its auth_type “{auth_type}” cannot be taken over: nothing is sent that lets Tenon in. Enter a key if it wants one.",
        Placeholders = "import_placeholders" => "What stands in {{…}} in its headers is sent as it is: only Open WebUI puts something in its place.",
        ToolFilter = "import_tool_filter" => "Its `function_name_filter_list` is not taken over: switch the tools off that nobody should use.",
        AccessControl = "import_access_control" => "Who may use it in Open WebUI is not taken over.",
        /// VS Code asks people for it.
        Input { input, description } = "import_input" => "`{input}` is: {description}",
        /// As it was before: the file cannot be read since.
        FileBroken { file, why } = "import_file_broken" => "{file} cannot be read since it was changed, so this is as it was before. {why}",
    }
}
