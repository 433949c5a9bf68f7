//! Why a server cannot be used, as codes.
//!
//! The protocol crates know nothing of Tenon: what went wrong in them gets its code here. What a
//! server said or wrote itself is a parameter, `said` or `wrote`, and not for everybody.

use tenon_domain::{CodedError, ErrorDetail, ErrorParam, coded_errors};
use tenon_net::{RequestError, UrlError};
use tenon_openapi::DocumentError;

use crate::cause::Cause;

coded_errors! {
    #[derive(Debug)]
    pub enum ServerFault {
        // Programs.
        Exited { command, code, advice, wrote } = "program_exited" => "`{command}` exited with code {code}.[ {advice}][ It wrote: {wrote}]",
        Killed { command, signal, advice, wrote } = "program_killed" => "`{command}` was killed by signal {signal}.[ {advice}][ It wrote: {wrote}]",
        Ended { command, advice, wrote } = "program_ended" => "`{command}` ended.[ {advice}][ It wrote: {wrote}]",
        OutputClosed { command, advice, wrote } = "program_output_closed" => "`{command}` closed its output.[ {advice}][ It wrote: {wrote}]",
        InputClosed = "program_input_closed" => "The program no longer reads its input.",
        NoFolder { folder } = "program_no_folder" => "The working folder {folder} does not exist.",
        ProgramNotFound { command } = "program_not_found" => "`{command}` was not found. Install it on the machine Tenon runs on, or give its full path; it is looked for in PATH.",
        NotExecutable { command } = "program_not_executable" => "`{command}` cannot be run: it is not an executable file.",
        NotSpawned { command, cause } = "program_not_started" => "`{command}` could not be started[: {cause}].",

        // Connections.
        ConnectTimeout { seconds, advice, wrote } = "server_connect_timeout" => "It did not answer within {seconds} s.[ {advice}][ It wrote: {wrote}]",
        Timeout = "server_timeout" => "The server did not answer in time.",
        ListTimeout = "server_list_timeout" => "It did not list its tools in time.",
        NotListed { why } = "server_tools_not_listed" => "Its tools could not be listed: {why}",
        Closed = "server_connection_closed" => "The connection was closed.",
        ClosedByServer = "server_closed_connection" => "The server closed the connection.",
        Truncated = "server_truncated" => "The server ended its answer before it was complete.",
        SessionForgotten = "server_session_forgotten" => "The server has forgotten the session.",
        LoginRequired = "server_login_required" => "It requires a log-in.",
        Refused { said } = "server_refused" => "The server refused.[ It said: {said}]",
        Internal = "server_internal_error" => "Tenon had an internal error while talking to this server. Its log has the details.",
        HttpClient { why } = "server_http_client" => "The HTTP client could not be created: {why}.",

        // Addresses and hosts.
        HostTimeout { host } = "host_timeout" => "{host} did not answer in time.",
        ConnectionRefused { host, port } = "host_refuses_connections" => "{host} refuses connections at port {port}.",
        NotTls { host } = "host_without_tls" => "No secure connection to {host} could be made: it does not speak https there. Should the address begin with http://?",
        Tls { host, cause } = "host_tls_failed" => "No secure connection to {host} could be made: {cause}.",
        Connection { host, cause } = "host_connection_failed" => "The connection to {host} failed: {cause}.",
        HostProtocol { host, cause } = "host_no_usable_answer" => "{host} gave no usable answer: {cause}.",
        NotAUrl { why } = "address_not_a_url" => "The address is not a URL: {why}. Write the whole address, such as https://example.com/.",
        Scheme { scheme } = "address_scheme" => "{scheme}: addresses are refused. Only http:// and https:// are fetched.",
        Credentials = "address_with_password" => "A URL with a user name or password in it is refused. Leave them out.",
        Private { host } = "address_private" => "{host} is on a private network or on this machine. Only an administrator can add a server there.",
        PrivateFetch { host } = "address_private_fetch" => "{host} is on a private network or on this machine. An administrator can allow that with allow_private_networks.",
        UnknownHost { host } = "host_unknown" => "There is no host named {host}, or it has no address.",
        TooManyRedirects { max } = "address_redirects" => "The address redirects more than {max} times.",

        // HTTP statuses of MCP servers.
        Forbidden { said } = "server_forbidden" => "The server denied access (HTTP 403). Check the credentials in its headers.[ It said: {said}]",
        NotFound { said } = "server_not_found" => "There is no MCP server at this address (HTTP 404). Check the path: many are at /mcp or /sse.[ It said: {said}]",
        RateLimited { said } = "server_rate_limited" => "The server is limiting requests (HTTP 429). Try again later.[ It said: {said}]",
        ServerError { status: u16, said } = "server_error" => "The server failed (HTTP {status}). Its own log says why.[ It said: {said}]",
        HttpStatus { status: u16, said } = "server_http_status" => "The server answered with HTTP {status}, which is not MCP.[ It said: {said}]",

        // Responses that are not MCP.
        WebPage = "server_web_page" => "There is a web page at this address, not an MCP server.",
        ContentType { media_type } = "server_content_type" => "The server answered with `{media_type}`, which is not MCP.",
        NoEventStream = "server_no_event_stream" => "There is no MCP server at this address: it does not answer with an event stream.",
        NoEndpoint = "server_no_endpoint" => "There is no MCP server at this address: its event stream names no endpoint.",
        UnsupportedVersions { versions } = "server_versions" => "It only speaks versions of MCP that Tenon does not support: {versions}.",
        UnsupportedInputRequest { method } = "server_needs_unsupported" => "The tool needs {method}, which Tenon does not support.",
        /// Any other protocol violation, described for whoever can fix the server.
        Protocol { message } = "server_protocol" => "{message}",

        // Documents of OpenAPI servers.
        AddressInvalid { why } = "document_address_invalid" in "url" => "The address is not valid ({why}). Write the full address, such as https://example.com/openapi.json.",
        AddressScheme = "document_address_scheme" in "url" => "The address has to begin with http:// or https://.",
        NoAddress = "document_no_address" in "url" => "No address was given.",
        AnswerTooLarge { mb: usize } = "answer_too_large" => "The answer is larger than {mb} MB, which is the limit.",
        AnswerTimeout { host, seconds } = "answer_late" => "{host} did not answer within {seconds} s.",
        RedirectElsewhere { from, to } = "redirect_elsewhere" => "{from} redirects to {to}, which is another site, so the redirect is not followed. If that is the server, enter its address instead.",
        NotRepeatable = "request_not_repeatable" => "The request cannot be sent twice.",
        NotSent = "document_not_sent" => "It was not sent.",
        DocumentTooLarge { mb } = "document_too_large" => "The document is too big: {mb} MB.",
        DocumentTooManyValues = "document_too_many_values" => "The document contains more values than Tenon can process. Leave out some of it.",
        DocumentEmpty = "document_empty" => "The document is empty.",
        DocumentMarkup = "document_markup" => "The document is a web page or XML, not JSON or YAML.",
        DocumentSyntax { format, why } = "document_syntax" => "The document is not valid {format}: {why}.",
        DocumentNotAnObject = "document_not_an_object" => "The document is not an OpenAPI description: `#` is not an object.",
        DocumentPathsNotAnObject = "document_paths_not_an_object" => "The document is not an OpenAPI description: `#/paths` is not an object.",
        DocumentNotOpenapi = "document_not_openapi" => "The document is not an OpenAPI description: `#` has neither `openapi` nor `swagger` nor `paths`.",
        DocumentVersion { version } = "document_version" => "The document is Swagger {version}: only 2.0 and OpenAPI 3 are read.",
        NoSubDocument { count, problems } = "documents_all_unread" => "None of the {count} servers behind it could be read. {problems}",
        StoreUnread { why } = "documents_unread" => "Its documents cannot be read. {why}",
        NotStored = "document_not_stored" => "The document is no longer stored: provide it again.",
        StoreTimeout = "document_store_timeout" => "The stored document could not be read in time.",
        Stopped = "server_stopped" => "It has been stopped.",

        // Variables.
        Unset { shared, personal, escaped } = "variables_unset" => "[Nobody has set {shared}: an admin does that under Secrets, or in the environment of Tenon. ][Set your own {personal} under Secrets first. ][To leave it to the program itself, write {escaped}.]",
        VariablesTimeout = "variables_timeout" => "The values of its variables could not be read in time.",

        // Local servers, found by a browser.
        LocalMissing { address } = "local_not_found" => "Nothing was found at {address} when it was last looked for.",
    }
}

/// The reason why a server cannot be used, without the output of its program: output is only for
/// those who may read the server's log.
pub fn public_part(why: &ErrorDetail) -> ErrorDetail {
    why.without(&["said", "wrote"], ServerFault::TEMPLATES)
}

/// How a program ended, without what it wrote and what helps.
pub fn how_it_ended(why: &ErrorDetail) -> ErrorDetail {
    why.without(&["said", "wrote", "advice"], ServerFault::TEMPLATES)
}

/// The advice and the program's output as parameters of an error.
pub(crate) fn advice_and_output(cause: &Cause) -> (ErrorParam, ErrorParam) {
    let advice = cause.advice.as_ref().map(CodedError::detail);
    (advice.into(), cause.lines.join(" | ").into())
}

pub(crate) fn request_fault(error: &RequestError) -> ServerFault {
    match error {
        RequestError::Refused(refused) => url_fault(refused),
        RequestError::TimedOut { host } => ServerFault::HostTimeout { host: host.into() },
        RequestError::ConnectionRefused { host, port } => ServerFault::ConnectionRefused {
            host: host.into(),
            port: (*port).into(),
        },
        RequestError::NotTls { host } => ServerFault::NotTls { host: host.into() },
        RequestError::Certificate { host, cause } => ServerFault::Tls {
            host: host.into(),
            cause: format!("invalid peer certificate: {cause}").into(),
        },
        RequestError::Tls { host, cause } => ServerFault::Tls {
            host: host.into(),
            cause: cause.into(),
        },
        RequestError::Connection { host, cause } => ServerFault::Connection {
            host: host.into(),
            cause: cause.into(),
        },
        RequestError::Protocol { host, cause } => ServerFault::HostProtocol {
            host: host.into(),
            cause: cause.into(),
        },
    }
}

pub(crate) fn url_fault(error: &UrlError) -> ServerFault {
    match error {
        UrlError::NotAUrl(why) => ServerFault::NotAUrl { why: why.into() },
        UrlError::Scheme(scheme) => ServerFault::Scheme {
            scheme: scheme.into(),
        },
        UrlError::Credentials => ServerFault::Credentials,
        UrlError::Private(host) => ServerFault::Private { host: host.into() },
        UrlError::UnknownHost(host) => ServerFault::UnknownHost { host: host.into() },
        UrlError::TooManyRedirects(max) => ServerFault::TooManyRedirects { max: (*max).into() },
    }
}

pub(crate) fn document_fault(error: &DocumentError) -> ServerFault {
    match error {
        DocumentError::TooLarge { megabytes } => ServerFault::DocumentTooLarge {
            mb: (*megabytes).into(),
        },
        DocumentError::TooManyValues => ServerFault::DocumentTooManyValues,
        DocumentError::Empty => ServerFault::DocumentEmpty,
        DocumentError::Markup => ServerFault::DocumentMarkup,
        DocumentError::Syntax { format, error } => ServerFault::DocumentSyntax {
            format: (*format).into(),
            why: error.to_string().into(),
        },
        DocumentError::NotAnObject => ServerFault::DocumentNotAnObject,
        DocumentError::PathsNotAnObject => ServerFault::DocumentPathsNotAnObject,
        DocumentError::NotOpenapi => ServerFault::DocumentNotOpenapi,
        DocumentError::UnsupportedVersion { version } => ServerFault::DocumentVersion {
            version: version.into(),
        },
    }
}
