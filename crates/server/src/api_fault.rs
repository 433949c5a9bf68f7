//! Error codes of the HTTP API itself. Errors of lower crates have their codes there.

use tenon_domain::coded_errors;

coded_errors! {
    #[derive(Debug)]
    pub enum ApiFault {
        NotLoggedIn = "not_logged_in" => "You are not logged in. Log in, or send an API key.",
        WrongKey = "wrong_key" => "This API key is not valid. Create a new one in Tenon's settings.",
        ReadOnlyKey = "key_reads_only" => "This key is read-only. Use one with more access.",
        KeyWithoutSettings = "key_without_settings" => "This key cannot manage accounts or settings. Use one with full access.",
        AdminOnly = "admin_only" => "Only an admin may do this. Ask one of yours.",
        WrongHost { host: String } = "wrong_host" => "Tenon does not accept requests for the host name \"{host}\". Add it to allowed_hosts in the settings file.",
        WrongOrigin = "wrong_origin" => "This request came from another site and was refused. Open Tenon's own page instead.",

        NoRoute = "no_such_address" => "There is no such address in Tenon's API.",
        WrongMethod = "wrong_method" => "This address does not take that method.",
        WebSocketOnly = "websocket_only" => "This address speaks WebSocket only.",
        NotJson = "not_json" => "Send the request with the header `Content-Type: application/json`.",
        NotBytes = "not_bytes" => "Send the file as the body of the request, with the header `Content-Type: application/octet-stream`.",
        BodyBrokeOff = "body_broke_off" => "The body of the request broke off. Send it again.",
        BodyTooLong { kib: usize } = "too_long" => "The body of the request is too long: the limit here is {kib} KiB. Send less.",
        BodyTooSlow = "too_slow" => "The body of the request took too long to arrive. Send it again over a better connection.",
        BodyInvalid { why: String } = "body_invalid" => "The body of the request cannot be used: {why}.",
        QueryInvalid { why: String } = "query_invalid" => "The address of the request cannot be used: {why}.",
        FrameInvalid { why: String } = "frame_invalid" => "The frame cannot be used: {why}.",
        TooMuchWork = "too_much_work" => "Tenon is too busy with requests of this kind at the moment. Try again in a few seconds.",
        Draining = "draining" => "Tenon is stopping and accepts no new work. Ask another server, or this one after its restart.",
        NoDatabase = "database_no_answer" => "The database does not answer. The log of Tenon says why.",
        MigrationsMissing = "migrations_missing" => "The tables of the database are from an older version of Tenon. Restart this server to migrate them.",
        NotWritable = "database_not_writable" => "Nothing can be written to the database. The log of Tenon says why.",
        /// A sentence about a request that only programs make.
        BadRequest { message: String } = "bad_request" => "{message}",
        UnsupportedOption { name: String, instead: String } = "unsupported_parameter" => "`{name}` cannot be used here: {instead}.",
        InvalidOption { name: String, expected: String } = "invalid_value" => "`{name}` has to be {expected}.",
        TooLong { message: String } = "request_too_long" => "{message}",
        /// Somebody we asked did not answer as they should.
        Upstream { message: String } = "unreachable" => "{message}",

        TooManyToolChanges { max: usize } = "tools_too_many_changes" => "At most {max} tools can be changed at once. Send them in several requests.",
        ToolId { id: String } = "tool_id_invalid" => "{id} cannot be the id of a tool. GET /api/tools lists them.",
        NoTool = "tool_not_found" => "There is no such tool. GET /api/tools lists them.",
        ToolsForAll = "tools_for_all_denied" => "Only an admin can set tools for everybody. Set them for yourself instead.",
        NoExpertId = "expert_id_missing" in "expertId" => "Name the expert whose tools are to be set: `expertId`.",
        ExpertAllows = "expert_allows" => "An expert cannot allow tools for those who use it. Set `ask` or `deny`.",
        NoChatId = "chat_id_missing" in "chatId" => "Name the chat whose tools are to be set: `chatId`.",

        NoBrowser = "browser_not_found" => "There is no such browser.",
        DocumentUrl = "document_url" in "url" => "`url` is where the document was read.",
        TooManyEndpoints { max: usize } = "endpoints_too_many" => "At most {max} addresses can be stored.",
        Endpoint = "endpoint_invalid" => "An address that is kept in the account begins with http:// or https:// and has neither a name, a key nor a query in it.",
        TooManySubscriptions = "chats_too_many_followed" => "This page follows too many chats; unsubscribe from some.",

        TurnId = "turn_id_invalid" in "turnId" => "`turnId` has to be a UUID, such as 0198c6a0-5b1e-7cc3-9d2f-3e4a5b6c7d8e. Make a new one for each message.",
        Cursor = "cursor_invalid" in "before" => "`before` takes updatedAt and id of the last chat of the page before, with a dot between them.",
        EmptyTitle = "title_empty" in "title" => "A title needs at least one character.",
        NotImportable { why } = "chat_not_importable" => "This file cannot be imported. {why}",
        NothingToShare = "nothing_to_share" => "There is nothing to share before the first answer has ended.",
        FrameOnly = "page_in_chat_only" => "This page is shown in its chat only.",
        NoPage = "page_not_found" => "There is no such page.",
        NoPublicUrl = "public_url_missing" => "Tenon does not know its own address. Set public_url in the section oidc.",
    }
}

coded_errors! {
    /// Why somebody cannot log in at a tool server.
    #[derive(Debug)]
    pub enum SourceLoginFault {
        NoLogin = "no_login" => "The server has not asked for a log-in, or does not say where. Check its address.",
        NotRegistered { client: String, why } = "not_registered" => "Automatic registration with this server is not possible: {why} Have {client} registered there, and add the client id to the server's settings.",
        Unreachable { why } = "login_unreachable" => "{why} Try again in a moment.",
        Untrusted { why } = "untrusted" => "{why} Nothing was sent there.",
        Refused { why } = "login_refused" => "The log-in was refused there: {why}",
        Ended { why } = "login_ended" => "The log-in there has ended ({why}). Log in again.",
        Expired = "login_expired" => "This log-in was not begun here, is too old, or was used already. Begin it again.",
        Storage = "login_not_stored" => "The result of the log-in cannot be stored. Tenon's log says why.",
    }
}
