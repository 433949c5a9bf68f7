//! Why a file cannot be imported as a chat.

use tenon_domain::coded_errors;

coded_errors! {
    /// Why a file cannot be imported as a chat. Each sentence follows one that says so.
    #[derive(Debug)]
    pub enum ImportError {
        TooLarge { mib: usize } = "chat_import_too_large" => "It is larger than {mib} MiB. Export the chat without its files; a longer one cannot be imported.",
        TooManyValues = "chat_import_too_many_values" => "It has more values in it than any chat has.",
        NotExported { format: String } = "chat_import_not_exported" => "It is not a chat that Tenon exported as JSON: \"format\" is not \"{format}\".",
        Unreadable { line: usize, column: usize } = "chat_import_unreadable" => "It is not a chat that Tenon exported as JSON: line {line} cannot be read at column {column}.",
        Version { version: u64, known: u64 } = "chat_import_version" => "It is of version {version}, and this Tenon reads version {known}. Import it with the Tenon it comes from.",
        TooManyPieces { count: usize, max: usize } = "chat_import_too_many_messages" => "It has {count} messages and calls, and more than {max} cannot be imported.",
        SameFile { id: String } = "chat_import_same_file" => "Two of its files have the id \"{id}\".",
        SameTurn { id: String } = "chat_import_same_turn" => "Two of its turns have the id \"{id}\".",
        SameMessage { id: String } = "chat_import_same_message" => "Two of its messages have the id \"{id}\".",
        SameCall { id: String } = "chat_import_same_call" => "Two of its calls have the id \"{id}\".",
        UnknownTurn { id: String } = "chat_import_unknown_turn" => "It speaks of a turn \"{id}\" that it has not told of before.",
        UnknownCall { id: String } = "chat_import_unknown_call" => "It speaks of a call \"{id}\" that it has not told of before.",
        NoQuestion { turn: String } = "chat_import_no_question" => "The turn \"{turn}\" does not begin with a person.",
        PersonCallsTool { turn: String } = "chat_import_person_calls_tool" => "In the turn \"{turn}\" a person calls a tool.",
        PersonSpeaksTwice { turn: String } = "chat_import_person_speaks_twice" => "In the turn \"{turn}\" a person speaks twice.",
        ForeignCall { id: String } = "chat_import_foreign_call" => "The call \"{id}\" is of another message.",
        CallWithoutPart { id: String } = "chat_import_call_without_part" => "The call \"{id}\" is in no part of its message.",
        File { name: String } = "chat_import_file" => "The file \"{name}\" in it is not in Base64.",
        /// What it is set to would be refused here, too.
        Settings { why } = "chat_import_settings" => "Its settings cannot be used: {why}",
    }
}

impl From<serde_json::Error> for ImportError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable {
            line: error.line(),
            column: error.column(),
        }
    }
}
