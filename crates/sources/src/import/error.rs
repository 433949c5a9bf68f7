//! Why a text or one of its servers cannot be imported.

use tenon_domain::{ErrorDetail, coded_errors};

coded_errors! {
    /// Why no servers can be read from a text.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum ConfigReadError {
        Empty = "import_empty" in "text" => "It is empty.",
        TooLong { kb: usize, mb: usize } = "import_too_long" in "text" => "It is too long: at most {kb} KB are read, and {mb} MB of an OpenAPI document.",
        Syntax { line: u64, column: u64, why } = "import_syntax" in "text" => "Line {line}, column {column}: {why}.",
        NoServers = "import_no_servers" in "text" => "No server was found in it. Expected is JSON such as {\"mcpServers\": {\"name\": {\"command\": \"npx -y package\"}}}, the YAML of one server, the connections of Open WebUI, an OpenAPI document, or the address of one.",
    }
    wraps {
        Document(ErrorDetail),
    }
}

coded_errors! {
    /// Why one server of a text cannot be used.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum ServerEntryError {
        NotAServer = "entry_not_a_server" => "It is not an object with a `command` or a `url`.",
        NotAConnection = "entry_not_a_connection" => "It is not an object with a `url`.",
        NoCommand = "entry_no_command" => "It has no `command`.",
        NoUrl = "entry_no_url" => "It has no `url`.",
        NoCommandOrUrl = "entry_no_command_or_url" => "It has neither a `command` nor a `url`.",
        EmptyCommand = "entry_empty_command" => "Its `command` is empty.",
        UnknownTransport { transport } = "entry_unknown_transport" => "Its transport “{transport}” is not one of stdio, http and sse.",
        UnknownType { kind } = "entry_unknown_type" => "Its type “{kind}” is not one of openapi and mcp.",
        VariableName { name } = "entry_variable_name" => "`{name}` cannot be the name of an environment variable.",
        InvalidUrl = "entry_invalid_url" => "Its `url` is not an address that begins with http:// or https://.",
        NoDocument = "entry_no_document" => "It has no document in its `spec`.",
        NotADocument = "entry_not_a_document" => "Its `spec` is not an OpenAPI document.",
        TooManyValues { field, max: usize } = "entry_too_many_values" => "Its `{field}` has more than {max} values.",
        NotAMap { field } = "entry_not_a_map" => "Its `{field}` is not an object whose values are text.",
        TooManyEntries { field, max: usize } = "entry_too_many_entries" => "Its `{field}` has more than {max} entries.",
        NotText { field } = "entry_not_text" => "Its `{field}` contains something that is not text.",
        TextTooLong { field } = "entry_text_too_long" => "Its `{field}` contains a text that is too long.",
        NulCharacter { field } = "entry_nul_character" => "Its `{field}` contains a character that is not allowed.",
        UnclosedQuote { field } = "entry_unclosed_quote" => "Its `{field}` has a quote that is not closed, or a backslash at the end. Write it as a list, one text for each argument.",
    }
    wraps {
        /// A header or a document that cannot be used, or a reason of whoever uses the import.
        Other(ErrorDetail),
    }
}
