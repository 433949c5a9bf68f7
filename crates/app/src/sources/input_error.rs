//! What is wrong with a source that somebody adds or changes, or with a secret, as codes.

use tenon_domain::coded_errors;

coded_errors! {
    #[derive(Debug)]
    pub enum SourceInputError {
        Kind = "source_kind" in "kind" => "`kind` is \"mcp\" for an MCP server or \"openapi\" for an OpenAPI server.",
        Name { max: usize } = "source_name" in "name" => "`name` is 1 to {max} letters, digits, `-` and `_`: it is part of the tools' ids.",
        Title { max: usize } = "source_title" in "title" => "`title` has {max} characters at most, on one line.",
        Transport = "source_transport" in "transport" => "`transport` is \"stdio\" for a program, \"http\" or \"sse\" for an address.",
        CommandOrUrl = "source_command_or_url" in "command" => "Give either `command`, for a program on this machine, or `url`, not both.",
        NeitherCommandNorUrl = "source_no_command_or_url" in "command" => "Give `command`, for a program on this machine, or `url`.",
        ForProgram { field } = "source_field_of_program" => "`{field}` is for a program; this server is reached by its address. Leave it out.",
        ForAddress { field } = "source_field_of_address" => "`{field}` is for an address; this server is a program. Leave it out.",
        ForOpenapi { field } = "source_field_of_openapi" => "`{field}` is for OpenAPI servers; this is an MCP server. Leave it out.",
        ForMcp { field } = "source_field_of_mcp" => "`{field}` is for MCP servers; an OpenAPI server has none. Leave it out.",
        SleepTime { min: u64, max: u64 } = "source_sleep_time" in "sleepAfterMs" => "`sleepAfterMs` is between a second and a week: {min} to {max}.",
        Time { field, min: u64, max: u64 } = "source_time" => "`{field}` is between 100 milliseconds and an hour: {min} to {max}.",
        ToolTimes = "source_tool_times" in "toolTimeoutsMs" => "`toolTimeoutsMs` names tools by their own names.",
        NoCommand = "source_no_command" in "command" => "Say which program: `command`, such as \"npx\".",
        CommandQuotes { why } = "source_command_quotes" in "command" => "The command cannot be read: {why}",
        Text { field } = "source_text" => "`{field}` is too long, or contains characters that are not allowed.",
        VariableName = "source_variable_name" in "env" => "In `env` a variable's name is not empty and has no `=` in it.",
        TooManyItems { field, max: usize } = "source_too_many_items" => "`{field}` has {max} entries at most.",
        HeaderTooLong { name } = "header_too_long" in "headers" => "The value of the header {name} is too long.",
        TooLong = "source_too_long" => "This is too long for the settings of a server.",
        Url { field, example: &'static str } = "source_url" => "`{field}` is not the address of a server. Write it like {example}, or with http:// in your own network.",

        UrlOrDocument = "source_url_or_document" in "url" => "Give either `url`, the address of the document, or `document`, the document itself, not both.",
        NeitherUrlNorDocument = "source_no_url_or_document" in "url" => "Give the address of its document in `url`, or the document itself in `document`.",
        Document = "source_document" in "document" => "`document` is an OpenAPI document: its text, or the JSON object itself.",
        DocumentTooLong { field, mb: usize } = "source_document_too_long" => "`{field}` is longer than {mb} MiB.",
        NoPreview = "source_no_preview" in "kind" => "Only OpenAPI servers can be previewed: `kind` is \"openapi\".",
        NothingToRefresh = "source_nothing_to_refresh" => "It has no document to read again. Restart it instead.",
        CredentialsElsewhere = "source_credentials_elsewhere" in "headers" => "The stored `headers` and `credentials` are for another address. Enter them again, or leave them out, when you change the address.",
        TooManyCredentials = "source_too_many_credentials" in "credentials" => "There are too many `credentials`.",
        Credentials = "source_credentials" in "credentials" => "`credentials` are named as the document's security schemes, and are one line each.",
        CredentialNotKept { name } = "source_credential_not_kept" in "credentials" => "Nothing is stored in `credentials` under `{name}`. Write it out.",

        NoClientId = "source_no_client_id" in "clientId" => "`clientId` is missing: a secret is of no use without it.",
        Client = "source_client" in "clientId" => "`clientId` and `clientSecret` are short texts of one line.",
        EnvElsewhere = "source_env_elsewhere" in "env" => "The stored `env` is for another program. Enter it again, or leave it out, when you change the command.",
        Elsewhere = "source_headers_elsewhere" in "headers" => "The stored values are for another address. Enter them again, or leave them out, when you change the address.",
        NotKept { name } = "source_value_not_kept" => "No value is stored for `{name}`. Enter it, or leave `{name}` out.",
        SharedSecretElsewhere { field, variable } = "source_shared_secret_elsewhere" => "The shared secret in `{field}` would be sent to whatever host a user sets `{variable}` to. Write the host out, or use a personal secret here as well: `${user.NAME}`.",

        InFile { file } = "source_in_file" => "This server is defined in the file {file}. Change it there.",
        InVariable { variable } = "source_in_variable" => "This server is defined in the environment variable {variable}. Change it there.",
        NoRoom { count: usize } = "source_no_room" => "There are {count} servers already, and no room for more. Remove one first.",
        NoLogin = "source_no_login" => "This server has no log-in: it is a program, or described by an OpenAPI document.",
        OtherVersion = "source_other_version" => "It was written by another version of Tenon. Remove it and add it again.",
        ImportThere = "import_there" => "It was added already.",
        ImportTaken { name } = "import_name_taken" => "Another server is called `{name}` already. Remove that one, or give this one another name.",
        ImportBusy = "source_import_busy" => "Others of your imports are still being read. Try again when they are done.",

        SecretName = "secret_name" in "name" => "A secret's name has letters, digits, `_`, `-` and `.` and begins with a letter or `_`, such as GITHUB_TOKEN.",
        SecretIsOwn { name } = "secret_is_own" in "name" => "`${user.{name}}` is everybody's own `{name}`. Set that one, as your own: leave `user.` out of the name.",
        SecretEmpty = "secret_empty" in "value" => "The secret is empty. Delete it if it is not needed any more.",
        SecretTooLong = "secret_too_long" in "value" => "This is too long for a secret, or no text.",
        TooManySecrets = "secret_too_many" => "There are too many secrets. Delete those that nothing uses.",
    }
}

coded_errors! {
    /// It is not theirs to do, and whose it is.
    #[derive(Debug)]
    pub enum SourceDenied {
        AddForAll = "source_add_for_all_denied" in "mine" => "Only an admin may add a server for everybody. Add it for yourself: `mine`.",
        ChangeShared = "source_change_denied" => "This server is shared: only an admin may do this.",
        TrustHints = "source_trust_denied" in "trustHints" => "Only an admin may decide whether the hints of a server are trusted. Leave `trustHints` out.",
        ReadLog = "source_log_denied" => "This server is shared: only an admin may read its log.",
        SharedSecrets = "secret_shared_denied" in "mine" => "Only an admin may set shared secrets. Set one of your own instead.",
        Program = "source_program_denied" in "command" => "Only an admin may add a program that runs on this machine. Add a server by its address instead.",
        SharedSecret { name } = "source_shared_secret_denied" => "`${{name}}` is not yours to send to a server of your own. Set a secret of your own and write `${user.{name}}`.",
    }
}

coded_errors! {
    /// It does not run, and what to do first.
    #[derive(Debug)]
    pub enum SourceIdle {
        Lacks = "source_lacks" => "It does not run for you: switch it on, or first enter what it needs.",
        Off = "source_off" => "It is switched off. Switch it on instead.",
    }
}

coded_errors! {
    /// Why a configured server does not run for somebody.
    #[derive(Debug)]
    pub enum SourceFault {
        ProgramDenied = "source_program_not_run" => "It is a program on this machine, and only an admin may run one.",
        SecretsMissing { names } = "source_secrets_missing" => "Set secrets of your own first: {names}.",
        LogInFirst = "source_log_in_first" => "Log in there first.",
        ShuttingDown = "source_shutting_down" => "Tenon is shutting down.",
        Moved = "source_moved" => "Its address has just changed; it is being restarted.",
        SecretsUnread = "secrets_unread" => "Tenon could not read its secrets. Its log says why.",
        SecretUnusable { name, message } = "secret_unusable" => "The secret `{name}` cannot be used: {message}.",
    }
}
