//! Why a call gave no result, where neither the hub nor the tool itself says so. What a server or
//! a page said is a parameter.

use tenon_domain::{CodedError, ErrorKind, ToolError, coded_errors};
use tenon_openapi::request::{BuildError, HeaderNameError, ServerUrlError, ServerUrlProblem};

coded_errors! {
    #[derive(Debug)]
    pub enum ServerCallError {
        // Servers that cannot be used.
        Failed { server, why, remedy: ServerRemedy } = "call_server_failed" => "{server} cannot be used now: {why} Do without it, or tell the user that its log and a button to {remedy} are under Settings → Tool servers.",
        LoginRequired { server } = "call_login_required" => "{server} requires a log-in. The user has to log in there under Settings → Tool servers; until then do without it.",
        Off { server } = "call_server_off" => "{server} has been switched off or removed. Do without it.",
        StillStarting { waiting } = "call_server_starting" => "{waiting}, and this call has timed out. Nothing was done; try again in a minute.",
        NotSent { server, tool, why } = "call_not_sent" => "{server} cannot be reached, so `{tool}` was not called and nothing was done. {why} Try again later, or do without it.",
        ConnectionLost { server, tool, why } = "call_connection_lost" => "{server} stopped while `{tool}` was running; it is not known whether the call took effect. {why} Check before repeating it.",
        NoServerAddress { server } = "call_no_server_address" => "{server} cannot be called: its document does not say where its server is. The user can set its address under Settings → Tool servers.",
        ToolGone { server } = "call_tool_gone" => "{server} no longer has this tool. Do without it.",
        LocalToolGone = "call_local_tool_gone" => "The server no longer has this tool. Do without it.",

        // Answers.
        Refused { said } = "call_refused_by_server" => "The server refused the call: {said}",
        Unsure { why } = "call_unsure" => "{why} It is not known whether the call took effect: check before repeating it.",
        Unreadable = "call_answer_unreadable" => "The answer could not be read.",
        NotAResult = "call_answer_no_result" => "The server's answer is not a tool result.",
        NoStatus = "call_answer_no_status" => "The answer has no status.",
        Incomplete = "call_answer_incomplete" => "The answer was not passed on completely.",
        WithoutReason = "call_failed_silently" => "The tool failed without saying why.",

        // Servers that run at another server of the cluster.
        RemoteAway { name } = "call_remote_away" => "{name} runs on another server of this Tenon, which cannot be reached at the moment. Nothing was done. Try again in a few seconds.",
        RemoteLost { name } = "call_remote_lost" => "The connection to the server of this Tenon on which {name} runs was lost before the answer came. It is not known whether the call took effect: check before repeating it.",

        // Tools on somebody's own machine.
        NoPage { device } = "call_no_page" => "This tool runs on the user's own computer, through a page of Tenon in {device}, and no such page is open now. Nothing was done. Ask the user to open Tenon there, or do without it.",
        PageLost { device } = "call_page_lost" => "The page in {device} that made this call was closed or lost its connection before the answer came. It is not known whether the call took effect: check before repeating it.",
        NothingAt { address } = "call_nothing_there" => "This tool runs on the user's own computer, and nothing usable answers at {address} there now. Ask the user to check that server, or do without it.",
        RefusedByPage { said } = "call_refused_by_page" => "{said} Nothing was done. The user sees what to do about it under Tools.",
        // A page cannot tell a server that never got it from one that died over it.
        UnreachableFromPage { said } = "call_unreachable_from_page" => "{said} Most likely nothing was done. The user sees what to do about it under Tools.",

        // Credentials of OpenAPI servers.
        KeyUnsendable = "call_key_unsendable" => "The key that is stored for this server cannot be sent: it must be one line without control characters.",
        NoClient = "call_no_client" => "No client is known for this scheme.",
        TokenHostUntrusted { scheme, host, origins } = "call_token_host_untrusted" => "No token can be obtained for `{scheme}`: the document says that {host} issues it, but the secret stored for {origins} is not sent to that host. If it should be, enter the token URL in the settings of this server.",
        TokenAddress { scheme } = "call_token_address" => "No token can be obtained for `{scheme}`: its token URL is not a valid address.",
        TokenAddressInsecure { scheme } = "call_token_address_insecure" => "No token can be obtained for `{scheme}`: its token URL is not https, although the document is.",
        TokenAddressScheme { scheme } = "call_token_address_scheme" => "No token can be obtained for `{scheme}`: its token URL is neither http nor https.",
        NoToken { scheme, host, why } = "call_no_token" => "The request was not sent, because no token could be obtained from {host} for `{scheme}`: {why}.",
        TokenUnfetched = "call_token_unfetched" => "The token could not be fetched.",

        // Why there is no token. Each text continues a sentence after a colon.
        TokenHostSilent = "token_host_silent" => "it does not answer",
        TokenSecretTooLong = "token_secret_too_long" => "its secret is too long",
        TokenAnswerTooLong = "token_answer_too_long" => "the answer is too long",
        TokenRejected { said } = "token_rejected" => "it said {said}",
        TokenStatus { status: u16 } = "token_status" => "it answered {status}",
        TokenMissing = "token_missing" => "its answer contains no token",
        TokenType = "token_type" => "it issues tokens of a type that Tenon cannot use",
        TokenInvalid = "token_invalid" => "its token is not valid",
    }
}

coded_errors! {
    /// The startup step that a call waits for. Displayed as the start of a sentence: more may
    /// follow after a comma.
    #[derive(Debug)]
    pub enum StartupWait {
        Unknown { server } = "wait_starting" => "{server} is still starting",
        Queued { server } = "wait_queued" => "{server} waits until other servers have started",
        Installing { server, seconds: u64 } = "wait_installing" => "{server} is still being installed after {seconds} s",
        Starting { server, seconds: u64 } = "wait_starting_since" => "{server} is still starting after {seconds} s",
    }
}

coded_errors! {
    /// The action that a button in the settings offers after a failure.
    #[derive(Debug, Clone, Copy)]
    pub enum ServerRemedy {
        Restart = "remedy_restart" => "restart it",
        Refresh = "remedy_refresh" => "read it again",
    }
}

coded_errors! {
    /// Why no HTTP request can be made of an input.
    #[derive(Debug)]
    pub enum RequestInputError {
        NotAnObject = "request_not_an_object" => "The input of this tool is an object with a field for each parameter.",
        Missing { field } = "request_field_missing" => "The input does not fit the tool's schema: `{field}` is missing.",
        UrlTooLong { max: usize } = "request_url_too_long" => "The input is too long: the resulting address would have more than {max} bytes.",
        CookiesTooLong = "request_cookies_too_long" => "The cookies are too long.",
        NotAForm { field } = "request_not_a_form" => "`{field}` is a form: an object with a value for each field.",
        NotAFile { field } = "request_not_a_file" => "`{field}` is a file: give its bytes as base64 text, or as `data:image/png;base64,…`.",
        HeaderValue { field, max: usize } = "request_header_value" => "`{field}` goes into a header: it must be one line without control characters, of at most {max} bytes.",
        DotSegment { path } = "request_dot_segment" => "The path {path} cannot be built: one of its segments would be `.` or `..`. Give another value.",
        EmptyPathParameter { field } = "request_path_empty" => "`{field}` is empty, but it is part of the address: give a value.",
        HeaderName { name } = "request_header_name" => "This tool cannot be called with the header `{name}`: that is not a valid header name.",
        HeaderHopByHop { name } = "request_header_hop_by_hop" => "This tool cannot be called with the header `{name}`: it belongs to the connection.",
        ServerVariable { server } = "request_server_variable" => "This tool cannot be called: its description names the server `{server}`, which contains an undefined variable.",
        ServerInvalid { server, why } = "request_server_invalid" => "This tool cannot be called: its description names the server `{server}`, which is not a valid address: {why}.",
        ServerScheme { server } = "request_server_scheme" => "This tool cannot be called: its description names the server `{server}`, which is neither http nor https.",
        PathUndeclared { parameter, path } = "request_path_undeclared" => "This tool cannot be called: its description does not define {parameter} in {path}.",
    }
}

impl From<BuildError> for RequestInputError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::NotAnObject => Self::NotAnObject,
            BuildError::Missing(field) => Self::Missing {
                field: field.into(),
            },
            BuildError::UrlTooLong { max_bytes } => Self::UrlTooLong { max: max_bytes },
            BuildError::CookiesTooLong => Self::CookiesTooLong,
            BuildError::NotAForm(field) => Self::NotAForm {
                field: field.into(),
            },
            BuildError::NotAFile(field) => Self::NotAFile {
                field: field.into(),
            },
            BuildError::InvalidHeaderValue { field, max_bytes } => Self::HeaderValue {
                field: field.into(),
                max: max_bytes,
            },
            BuildError::DotSegment(path) => Self::DotSegment { path: path.into() },
            BuildError::EmptyPathParameter(field) => Self::EmptyPathParameter {
                field: field.into(),
            },
            BuildError::HeaderName(error) => error.into(),
            BuildError::ServerUrl(error) => error.into(),
            BuildError::UndeclaredPathParameter { name, path } => Self::PathUndeclared {
                parameter: format!("{{{name}}}").into(),
                path: path.into(),
            },
        }
    }
}

impl From<HeaderNameError> for RequestInputError {
    fn from(error: HeaderNameError) -> Self {
        match error {
            HeaderNameError::Invalid(name) => Self::HeaderName { name: name.into() },
            HeaderNameError::HopByHop(name) => Self::HeaderHopByHop { name: name.into() },
        }
    }
}

impl From<ServerUrlError> for RequestInputError {
    fn from(error: ServerUrlError) -> Self {
        let server = error.server.into();
        match error.problem {
            ServerUrlProblem::UnknownVariable => Self::ServerVariable { server },
            ServerUrlProblem::Invalid(why) => Self::ServerInvalid {
                server,
                why: why.to_string().into(),
            },
            ServerUrlProblem::Scheme => Self::ServerScheme { server },
        }
    }
}

pub(crate) fn failed(error: impl CodedError) -> ToolError {
    ToolError::coded(ErrorKind::Failed, error.detail())
}

pub(crate) fn unavailable(error: impl CodedError) -> ToolError {
    ToolError::coded(ErrorKind::Unavailable, error.detail())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_the_protocol_says() {
        let field = || "field".to_owned();
        let server = |problem| ServerUrlError {
            server: field(),
            problem,
        };
        for error in [
            BuildError::NotAnObject,
            BuildError::Missing(field()),
            BuildError::UrlTooLong { max_bytes: 5 },
            BuildError::CookiesTooLong,
            BuildError::NotAForm(field()),
            BuildError::NotAFile(field()),
            BuildError::InvalidHeaderValue {
                field: field(),
                max_bytes: 5,
            },
            BuildError::DotSegment(field()),
            BuildError::EmptyPathParameter(field()),
            HeaderNameError::Invalid(field()).into(),
            HeaderNameError::HopByHop(field()).into(),
            server(ServerUrlProblem::UnknownVariable).into(),
            server(url::ParseError::EmptyHost.into()).into(),
            server(ServerUrlProblem::Scheme).into(),
            BuildError::UndeclaredPathParameter {
                name: "id".into(),
                path: "/a/{id}".into(),
            },
        ] {
            let expected = error.to_string();
            assert_eq!(RequestInputError::from(error).to_string(), expected);
        }
    }
}
