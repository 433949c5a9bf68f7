//! Why a model could not be used, as codes. What a provider said itself is a parameter.

use tenon_domain::coded_errors;

coded_errors! {
    /// Why a model could not be used, and what to do about it.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum ModelFault {
        NoCredit { host, said } = "model_no_credit" => "The account at {host} has no credit left[ (\"{said}\")]. Top it up there, or choose another model.",
        ContextFull { name, said } = "model_context_full" => "This chat is longer than {name} can read[ (\"{said}\")]. Start a new chat, or choose a model with a larger context.",
        KeyRefused { host, name, said } = "model_key_refused" in "key" => "{host} refused the key[ (\"{said}\")]. Check the key of {name}, or enter a new one.",
        KeyNeeded { host, name, said } = "model_key_needed" in "key" => "{host} requires a key[ (\"{said}\")]. Enter one for {name}.",
        NoModel { host, model, said } = "model_not_offered" in "model" => "{host} has no model `{model}`[ (\"{said}\")]. Choose one that it offers.",
        NotPulled { host, model, said } = "model_not_pulled" in "model" => "{host} has no model `{model}`[ (\"{said}\")]. `ollama pull {model}` fetches it. Choose one that it offers.",
        NoServer { address, said } = "model_server_not_found" in "baseUrl" => "There is no model server at {address}[ (\"{said}\")]. Check the address; it often ends in /v1.",
        Redirected { address } = "model_server_redirects" in "baseUrl" => "{address} redirects to another address. Enter that one instead.",
        RateLimited { host, said } = "model_rate_limited" => "{host} is limiting requests[ (\"{said}\")]. Wait a moment and try again.",
        RateLimitedFor { host, said, wait } = "model_rate_limited_for" => "{host} is limiting requests[ (\"{said}\")]. Wait {wait} and try again.",
        Loading { name } = "model_loading" => "The server of {name} is still loading it. Try again in a moment.",
        ServerError { host, said } = "model_server_error" => "{host} reported an internal error[ (\"{said}\")]. Try again, or choose another model.",
        Rejected { host, said } = "model_request_rejected" => "{host} rejected the request[ (\"{said}\")].",
        /// The address or the key cannot be written into a request.
        Unsendable { address } = "model_request_unsendable" in "baseUrl" => "No request can be sent to `{address}`: the address or the key contains characters that are not allowed.",
        Unreachable { address, why } = "model_unreachable" in "baseUrl" => "Nothing answers at {address}[ ({why})]. Check that the server runs and the address is right.",
        ConnectionBroke { host, why } = "model_connection_broke" => "The connection to {host} broke[ ({why})]. Try again.",
        NotAModel { host, said } = "model_response_unexpected" in "baseUrl" => "{host} answered with something that is not a model's answer ({said}). Check the address and the kind of server.",
        ReplyTooLarge { host, mb } = "model_reply_too_large" => "{host} sent more than {mb} MB as one answer and was cut off. Ask for less, or choose another model.",
        EmptyReply { host } = "model_reply_empty" => "{host} ended its answer before it began. Try again, or choose another model.",
        BrokeOff { host } = "model_broke_off" => "{host} broke off this answer. Try again.",
        /// A bug of ours: `why` is for the bug report.
        InvalidChat { why } = "model_chat_invalid" => "This chat cannot be sent to a model: {why}. Start a new one.",

        InvalidAddress { address } = "model_address_invalid" in "baseUrl" => "`{address}` is not an address. It has to look like http://localhost:11434/v1 or https://api.example.com/v1.",
        AddressWithPassword = "model_address_with_password" in "baseUrl" => "Leave the user name and password out of the address; the key has a field of its own.",
        ListTimeout { address, seconds } = "model_list_timeout" in "baseUrl" => "{address} did not list its models within {seconds} s. Check that the server runs and the address is right.",
        ListEmpty { address } = "model_list_empty" in "baseUrl" => "{address} offers no models.",
        ProbeSilent { name } = "model_test_silent" => "{name} returned an empty answer. Choose another model of this server.",
        ProbeTimeout { name, seconds } = "model_test_timeout" => "{name} did not finish within {seconds} s. It may still be loading: try again, or choose a smaller one.",
        NoImages { name } = "model_without_images" in "messages" => "{name} accepts no images. Leave them out, or choose a model that does.",
        ToolsRefused { host } = "model_tools_refused" => "{host} accepts no tools in a request for this model.",
        EvaluationTooSlow { seconds } = "evaluation_too_slow" => "Several prompts in a row took longer than {seconds} s. Allow more time for each, or choose a smaller model.",
        AssistantFailed = "assistant_failed" => "The assistant did not understand this.",
    }
}

coded_errors! {
    /// Why a model is not told of a tool, as the second half of "… was left out: ".
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum ExclusionReason {
        NoToolUse = "tool_model_without_tools" => "this model is set to use no tools",
        TooMany { max } = "tool_too_many" => "at most {max} tools can be sent to a model; switch some off",
        TooManyFailed { max } = "tool_too_many_failed" => "{max} other tools cannot be sent to this model; switch those off",
        Refused { said } = "tool_description_refused" => "its description was refused: {said}",
    }
}
