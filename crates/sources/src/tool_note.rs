//! Notes about a server's tools, as codes: entries of its list or document that were left out or
//! repaired.

use tenon_domain::text::line;
use tenon_domain::{ErrorDetail, ErrorParam, coded_errors};
use tenon_mcp::{HeaderParamError, SchemaRepair, ToolDefect, ToolListProblem};
use tenon_openapi::note::{
    DocumentNote, OperationError, OperationPart, ParameterError, ReferenceError,
};

/// Names are a server's own, so they are cut.
const MAX_NAME_CHARS: usize = 200;

coded_errors! {
    #[derive(Debug)]
    pub enum ToolNote {
        // Lists of MCP servers.
        NoTools = "tools_none" => "It offers no tools.",
        Unreadable { number: usize, cause } = "tool_unreadable" => "Tool {number} is left out, because it cannot be read: {cause}.",
        NoName { number: usize } = "tool_no_name" => "Tool {number} is left out, because it has no name.",
        LeftOut { tool, why } = "tool_left_out" => "`{tool}` is left out: {why}.",
        Repaired { tool, why } = "tool_repaired" => "`{tool}`: {why}, so it accepts any arguments.",
        Duplicate { tool } = "tool_duplicate" => "`{tool}` is offered twice. The first one counts.",
        TooManyTools { max: usize } = "tools_too_many" => "It offers more than {max} tools. The others are left out.",
        TooManyBytes { mb: usize } = "tools_too_long" => "Its list of tools is longer than {mb} MB. The rest is left out.",
        CursorTooLong = "tools_cursor_too_long" => "The cursor for the next page of its tools is too long. The rest is left out.",
        CursorRepeated = "tools_cursor_repeated" => "The pages of its list of tools repeat. The list may not be complete.",
        More { count: usize } = "tools_more_problems" => "There are {count} more problems like these.",

        // Why one is left out; each goes on after a colon.
        NameTooLong = "tool_name_too_long" => "its name is too long",
        ControlCharacters = "tool_name_control_characters" => "its name contains control characters",
        NoInputAllowed = "tool_no_input_allowed" => "its schema allows no input at all",
        NotAnObject { kind } = "tool_input_not_object" => "its input is not an object[ but a {kind}]",
        HeaderOnInput = "tool_header_on_input" => "x-mcp-header must mark a property, not the whole input",
        HeaderElsewhere = "tool_header_elsewhere" => "x-mcp-header must mark a property of an object, and nothing else",
        HeaderTwice { name } = "tool_header_twice" => "x-mcp-header names `{name}` twice",
        HeaderName { name } = "tool_header_name" => "x-mcp-header of `{name}` cannot be the name of a header",
        HeaderType { name } = "tool_header_type" => "x-mcp-header marks `{name}`, which is not a string, an integer or a boolean",

        // What was wrong with an input schema that was replaced.
        SchemaMissing = "tool_schema_missing" => "it has no input schema",
        SchemaTrue = "tool_schema_true" => "its input schema is empty",
        SchemaNone = "tool_schema_none" => "its input schema is not valid",
        SchemaTooLong = "tool_schema_too_long" => "its input schema is too long",
        SchemaCircular = "tool_schema_circular" => "its input schema refers to itself in a circle",

        // Documents.
        ParameterDropped { operation, why } = "document_parameter_dropped" => "{operation} has a parameter that is left out: {why}",
        ParametersDropped { count: usize, operation, why } = "document_parameters_dropped" => "{count} operations, such as {operation}, have a parameter that is left out: {why}",
        MoreParameters { count: usize } = "document_more_parameters" => "{count} more parameters could not be read.",
        UnknownLocation { location } = "parameter_location" => "it is in `{location}`, which is not a known location.",
        Unnamed = "parameter_unnamed" => "it has no `name` or no `in`.",
        OtherDocument { reference, why } = "parameter_in_other_document" => "it is in another document (`{reference}`), which is not read[: {why}].",
        ReferenceMissing { reference } = "parameter_reference_missing" => "it refers to `{reference}`, which does not exist.",
        ReferenceCycle { reference } = "parameter_reference_cycle" => "it refers to itself: `{reference}`.",
        SchemaUnread { place } = "document_schema_unread" => "The schema of a part of an input is not known: it is in another document (`{place}`), which is not read.",
        SchemasUnread { count: usize, place } = "document_schemas_unread" => "The schemas of {count} parts of inputs are not known: they are in other documents, which are not read, such as `{place}`.",
        OperationSkipped { operation, why } = "document_operation_skipped" => "{operation} is left out: {why}",
        OperationsSkipped { count: usize, max: usize } = "document_operations_skipped" => "{count} more operations are not read: only the first {max} are.",
        Capability { why } = "capability_skipped" => "{why}",
        NotAnObjectAt { place } = "operation_not_an_object" => "`{place}` is not an object.",
        PathTooLong { max: usize } = "operation_path_too_long" => "Its path is longer than {max} bytes.",
        InvalidMethod = "operation_method" => "Its method is not an HTTP method.",
        TooManyParameters { max: usize } = "operation_too_many_parameters" => "It has more than {max} parameters.",
        ParameterLocation { location } = "operation_parameter_location" => "A required parameter is in `{location}`, which is not a known location.",
        ParameterUnnamed { place } = "operation_parameter_unnamed" => "One of its parameters (in `{place}`) has no `name` or no `in`.",
        PartElsewhere { part, reference } = "operation_part_elsewhere" => "{part} is in another document (`{reference}`), which is not read.",
        PartUnread { part, reference, why } = "operation_part_unread" => "{part} is in another document (`{reference}`), which could not be read: {why}.",
        PartMissing { part, reference } = "operation_part_missing" => "{part} refers to `{reference}`, which does not exist.",
        PartCircular { part, reference } = "operation_part_circular" => "{part} refers to itself: `{reference}`.",
        PathItem = "operation_path_item" => "Its path item",
        OperationItself = "operation_itself" => "The operation",
        Parameter = "operation_parameter" => "One of its parameters",
        Body = "operation_body" => "Its request body",
        OtherOrigin { tool, served, enabled } = "document_other_origin" => "`{tool}` is left out: its document says that it is served at {served}, and only {enabled} was enabled.",
        NoOperations = "document_no_operations" => "The document describes no operations.",
        NoOperationsOrServers = "document_no_operations_or_servers" => "Its document describes no operations and names no servers.",
        NoServerAddress = "document_no_server_address" => "The document does not say where its server is: enter the base address of the server.",
        OtherHosts { hosts, from } = "document_other_hosts" => "Requests go to {hosts}, as the document says; the document is from {from}. Enter a base address if they are to go elsewhere.",
        MoreTools = "document_more_tools" => "It has more tools than are listed.",

        // The servers behind an mcpo.
        OfServer { server, why } = "document_of_server" => "{server}: {why}",
        OfServerStale { server, why } = "document_of_server_stale" => "{server}: {why} Its last known tools are listed.",
        ServerWithoutTools = "document_server_without_tools" => "It has no tools. It may not be running.",
    }
}

impl ToolNote {
    /// `server` is empty for the one there is.
    pub(crate) fn of_server(server: &str, why: ErrorDetail) -> ErrorDetail {
        if server.is_empty() {
            return why;
        }
        Self::OfServer {
            server: server.into(),
            why: why.into(),
        }
        .into()
    }

    pub(crate) fn of_list(problem: &ToolListProblem) -> Self {
        match problem {
            ToolListProblem::NoTools => Self::NoTools,
            ToolListProblem::Unreadable { number, cause } => Self::Unreadable {
                number: *number,
                cause: name(cause),
            },
            ToolListProblem::NoName { number } => Self::NoName { number: *number },
            ToolListProblem::LeftOut { tool, defect } => Self::LeftOut {
                tool: name(tool),
                why: ErrorDetail::from(Self::of_defect(defect)).into(),
            },
            ToolListProblem::Repaired { tool, repair } => Self::Repaired {
                tool: name(tool),
                why: ErrorDetail::from(Self::of_repair(*repair)).into(),
            },
            ToolListProblem::Duplicate { tool } => Self::Duplicate { tool: name(tool) },
            ToolListProblem::TooManyTools { limit } => Self::TooManyTools { max: *limit },
            ToolListProblem::TooManyBytes { megabytes } => Self::TooManyBytes { mb: *megabytes },
            ToolListProblem::CursorTooLong => Self::CursorTooLong,
            ToolListProblem::CursorRepeated => Self::CursorRepeated,
            ToolListProblem::MoreProblems { count } => Self::More { count: *count },
        }
    }

    fn of_defect(defect: &ToolDefect) -> Self {
        match defect {
            ToolDefect::NameTooLong => Self::NameTooLong,
            ToolDefect::ControlCharacters => Self::ControlCharacters,
            ToolDefect::NoInputAllowed => Self::NoInputAllowed,
            ToolDefect::NotAnObject(kind) => Self::NotAnObject { kind: name(kind) },
            ToolDefect::NeverAnObject => Self::NotAnObject { kind: "".into() },
            ToolDefect::HeaderParam(error) => match error {
                HeaderParamError::OnInput => Self::HeaderOnInput,
                HeaderParamError::Elsewhere => Self::HeaderElsewhere,
                HeaderParamError::Twice(param) => Self::HeaderTwice { name: name(param) },
                HeaderParamError::Name(param) => Self::HeaderName { name: name(param) },
                HeaderParamError::Type(param) => Self::HeaderType { name: name(param) },
            },
        }
    }

    fn of_repair(repair: SchemaRepair) -> Self {
        match repair {
            SchemaRepair::Missing => Self::SchemaMissing,
            SchemaRepair::True => Self::SchemaTrue,
            SchemaRepair::NoSchema => Self::SchemaNone,
            SchemaRepair::TooLong => Self::SchemaTooLong,
            SchemaRepair::Circular => Self::SchemaCircular,
        }
    }

    pub(crate) fn of_document(note: &DocumentNote) -> Self {
        match note {
            DocumentNote::ParameterDropped {
                first,
                operations,
                why,
            } => {
                let operation = first.into();
                let why = ErrorDetail::from(Self::of_parameter(why)).into();
                match *operations {
                    1 => Self::ParameterDropped { operation, why },
                    count => Self::ParametersDropped {
                        count,
                        operation,
                        why,
                    },
                }
            }
            DocumentNote::MoreParameters { count } => Self::MoreParameters { count: *count },
            DocumentNote::SchemasUnread { count: 1, first } => {
                Self::SchemaUnread { place: name(first) }
            }
            DocumentNote::SchemasUnread { count, first } => Self::SchemasUnread {
                count: *count,
                place: name(first),
            },
        }
    }

    /// The note for an operation that did not become a tool.
    pub fn of_operation(error: &OperationError) -> Self {
        match error {
            OperationError::Capability(why) => Self::Capability {
                why: why.as_str().into(),
            },
            OperationError::NotAnObject(place) => Self::NotAnObjectAt { place: name(place) },
            OperationError::PathTooLong { max_bytes } => Self::PathTooLong { max: *max_bytes },
            OperationError::InvalidMethod => Self::InvalidMethod,
            OperationError::TooManyParameters { max } => Self::TooManyParameters { max: *max },
            OperationError::UnknownLocation(location) => Self::ParameterLocation {
                location: name(location),
            },
            OperationError::UnnamedParameter(place) => {
                Self::ParameterUnnamed { place: name(place) }
            }
            OperationError::Reference { part, error } => Self::of_reference(*part, error),
            OperationError::TooManyOperations { count, max } => Self::OperationsSkipped {
                count: *count,
                max: *max,
            },
        }
    }

    fn of_reference(part: OperationPart, error: &ReferenceError) -> Self {
        let part = ErrorParam::from(match part {
            OperationPart::PathItem => Self::PathItem,
            OperationPart::Operation => Self::OperationItself,
            OperationPart::Parameter => Self::Parameter,
            OperationPart::Body => Self::Body,
        });
        match error {
            ReferenceError::OtherDocument {
                reference,
                why: None,
            } => Self::PartElsewhere {
                part,
                reference: name(reference),
            },
            ReferenceError::OtherDocument {
                reference,
                why: Some(why),
            } => Self::PartUnread {
                part,
                reference: name(reference),
                why: name(why),
            },
            ReferenceError::Missing(reference) => Self::PartMissing {
                part,
                reference: name(reference),
            },
            ReferenceError::Cycle(reference) => Self::PartCircular {
                part,
                reference: name(reference),
            },
        }
    }

    fn of_parameter(error: &ParameterError) -> Self {
        match error {
            ParameterError::UnknownLocation(location) => Self::UnknownLocation {
                location: name(location),
            },
            ParameterError::Unnamed => Self::Unnamed,
            ParameterError::Reference(ReferenceError::OtherDocument { reference, why }) => {
                Self::OtherDocument {
                    reference: name(reference),
                    why: why.as_deref().map(name).into(),
                }
            }
            ParameterError::Reference(ReferenceError::Missing(reference)) => {
                Self::ReferenceMissing {
                    reference: name(reference),
                }
            }
            ParameterError::Reference(ReferenceError::Cycle(reference)) => Self::ReferenceCycle {
                reference: name(reference),
            },
        }
    }
}

fn name(text: &str) -> ErrorParam {
    line(text, MAX_NAME_CHARS).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_what_the_protocol_says() {
        let tool = || "echo".to_owned();
        let left_out = |defect| ToolListProblem::LeftOut {
            tool: tool(),
            defect,
        };
        let repaired = |repair| ToolListProblem::Repaired {
            tool: tool(),
            repair,
        };
        let check = |problem: ToolListProblem| {
            assert_eq!(ToolNote::of_list(&problem).to_string(), problem.to_string());
        };
        check(ToolListProblem::NoTools);
        check(ToolListProblem::Unreadable {
            number: 2,
            cause: "it ends too soon".into(),
        });
        check(ToolListProblem::NoName { number: 3 });
        check(ToolListProblem::Duplicate { tool: tool() });
        check(ToolListProblem::TooManyTools { limit: 5 });
        check(ToolListProblem::TooManyBytes { megabytes: 6 });
        check(ToolListProblem::CursorTooLong);
        check(ToolListProblem::CursorRepeated);
        check(ToolListProblem::MoreProblems { count: 7 });
        check(left_out(ToolDefect::NameTooLong));
        check(left_out(ToolDefect::ControlCharacters));
        check(left_out(ToolDefect::NoInputAllowed));
        check(left_out(ToolDefect::NotAnObject("string".into())));
        check(left_out(ToolDefect::NeverAnObject));
        for error in [
            HeaderParamError::OnInput,
            HeaderParamError::Elsewhere,
            HeaderParamError::Twice("a".into()),
            HeaderParamError::Name("b".into()),
            HeaderParamError::Type("c".into()),
        ] {
            check(left_out(error.into()));
        }
        check(repaired(SchemaRepair::Missing));
        check(repaired(SchemaRepair::True));
        check(repaired(SchemaRepair::NoSchema));
        check(repaired(SchemaRepair::TooLong));
        check(repaired(SchemaRepair::Circular));
    }

    #[test]
    fn a_skipped_operation_has_the_reason_of_its_document() {
        let check = |error: OperationError| {
            let note = ToolNote::of_operation(&error).to_string();
            assert_eq!(note, error.to_string());
        };
        check(OperationError::NotAnObject("#/paths".into()));
        check(OperationError::PathTooLong { max_bytes: 5 });
        check(OperationError::InvalidMethod);
        check(OperationError::Capability("It is a socket.".into()));
        check(OperationError::TooManyParameters { max: 6 });
        check(OperationError::UnknownLocation("moon".into()));
        check(OperationError::UnnamedParameter("#/paths".into()));
        check(OperationError::TooManyOperations { count: 7, max: 8 });
        for part in [
            OperationPart::PathItem,
            OperationPart::Operation,
            OperationPart::Parameter,
            OperationPart::Body,
        ] {
            let reference = || "a.yml".to_owned();
            for error in [
                ReferenceError::OtherDocument {
                    reference: reference(),
                    why: None,
                },
                ReferenceError::OtherDocument {
                    reference: reference(),
                    why: Some("it answered 404".into()),
                },
                ReferenceError::Missing(reference()),
                ReferenceError::Cycle(reference()),
            ] {
                check(OperationError::Reference { part, error });
            }
        }
    }

    #[test]
    fn a_name_of_the_server_is_cut() {
        let tool = "x".repeat(5_000) + "\u{1b}";
        let note = ToolNote::of_list(&ToolListProblem::Duplicate { tool }).to_string();
        assert!(note.len() < 2 * MAX_NAME_CHARS, "{note}");
    }
}
