//! Why a call did not reach its source, or gave no result there: what the hub itself says of it.

use tenon_domain::{ErrorKind, ToolError, coded_errors};

use crate::quota::OverQuota;

coded_errors! {
    #[derive(Debug)]
    pub enum CallError {
        UnknownTool { id, nearest } = "call_unknown_tool" => "There is no tool `{id}`. The nearest is `{nearest}`.",
        NoTools { id } = "call_no_tools" => "There is no tool `{id}`. No tools are available now; answer without them.",

        // Sources.
        SourceFailed { name, why } = "call_source_failed" => "{name} cannot be used now: {why}. Do without it.",
        SourceOffline { name } = "call_source_offline" => "{name} cannot be reached, because its computer or server is offline. Do without it.",
        SourceOff { name } = "call_source_off" => "{name} is switched off. Do without it.",

        // Inputs.
        InvalidInput { problems } = "call_input_invalid" => "The input does not fit the tool's schema: {problems}.",
        ArgumentsNotJson { why } = "call_arguments_not_json" => "The arguments are not a JSON object: {why}. Send one JSON object that fits the tool's schema.",
        ArgumentsNotObject { value } = "call_arguments_not_object" => "The arguments must be one JSON object, not {value}.",
        InputTooComplex = "call_input_too_complex" => "This input is too complex to be checked against the tool's schema. Send a smaller or simpler one, or use another tool.",
        InputUnchecked = "call_input_unchecked" => "This input could not be checked against the tool's schema. Try other arguments or another tool.",
        TooManyChecks = "call_too_many_checks" => "Too many inputs are being checked at once. Try again in a moment, with a smaller input.",

        // Policy.
        Unapproved { name, advice } = "call_unapproved" => "{name} needs a person's approval, and nobody can be asked here.[ {advice}]",
        UnapprovedAddress { name, advice } = "call_unapproved_address" => "{name} needs a person's approval for an address that the user did not write and no result showed, and nobody can be asked here. Ask the user to write the address.[ {advice}]",
        DeniedByPolicy { name } = "call_denied_by_policy" => "{name} is switched off by policy. Do without it.",
        DeniedForAll { name } = "call_denied_for_all" => "{name} is denied for everybody. Ask an admin to allow it.",
        DeniedByYou { name } = "call_denied_by_you" => "You denied {name}. Set its policy to `ask` to call it by hand.",
        DeniedByOwner { name } = "call_denied_by_owner" => "The owner of this key denied {name}. Only they can allow it.",
        OffForAll { name } = "call_off_for_all" => "{name} is switched off for everybody. Ask an admin to switch it on.",
        Off { name } = "call_off" => "{name} is switched off. Switch it on among your tools to call it.",
        OffByServer { name } = "call_off_by_server" => "{name} is switched off, because its server marks it as deprecated. Switch it on among your tools to call it.",

        // Results.
        IdleTimeout { name, seconds } = "call_idle_timeout" => "{name} did not answer within {seconds} s and was stopped.",
        TotalTimeout { name, seconds } = "call_total_timeout" => "{name} did not finish within {seconds} s and was stopped.",
        Crashed { name } = "call_crashed" => "{name} crashed on this input. Try other arguments or another tool.",
        OutputOverQuota { bytes: u64, why: OverQuota } = "call_output_over_quota" => "The tool ran, but its output of {bytes} bytes cannot be stored. {why}",
        OutputNotKept { bytes: u64 } = "call_output_not_kept" => "The tool ran, but its output of {bytes} bytes is too long to show and could not be stored. Ask for less.",
    }
}

coded_errors! {
    /// How a call could be made that nobody can approve.
    #[derive(Debug)]
    pub enum ApprovalAdvice {
        /// `allow` is a member of a scope, in JSON.
        Key { id, allow } = "call_allow_by_key" => "Make a key that allows it (`{allow}` in its scope, `tenon user key … --allow '{id}'`), or set the policy of `{id}` to `allow`.",
        Shell { id } = "call_allow_in_shell" => "`--allow {id}` or `--yes` would allow it.",
        Page { id } = "call_allow_by_policy" => "Set the policy of `{id}` to `allow`.",
    }
}

coded_errors! {
    /// What is wrong with an input; each goes on after a colon.
    #[derive(Debug)]
    pub enum InputProblem {
        Missing { field } = "input_missing" => "{field} is missing",
        Unknown { fields } = "input_unknown" => "{fields} is not known here",
        NotAChoice { field, choices, value } = "input_not_a_choice" => "`{field}` must be one of {choices}, not {value}",
        /// In the words of the library that checks.
        Other { field, said } = "input_wrong" => "[`{field}`: ]{said}",
        More = "input_more_problems" => "and more",
        Unexplained = "input_unexplained" => "it would take too long to find out what is wrong; send a smaller input",
        Unspecified = "input_not_valid" => "it is not valid",
    }
}

impl From<CallError> for ToolError {
    fn from(error: CallError) -> Self {
        use CallError as E;
        let kind = match &error {
            E::UnknownTool { .. } | E::NoTools { .. } => ErrorKind::UnknownTool,
            E::SourceFailed { .. } | E::SourceOffline { .. } | E::SourceOff { .. } => {
                ErrorKind::Unavailable
            }
            E::InvalidInput { .. }
            | E::ArgumentsNotJson { .. }
            | E::ArgumentsNotObject { .. }
            | E::InputTooComplex => ErrorKind::InvalidInput,
            E::Unapproved { .. }
            | E::UnapprovedAddress { .. }
            | E::DeniedByPolicy { .. }
            | E::DeniedForAll { .. }
            | E::DeniedByYou { .. }
            | E::DeniedByOwner { .. }
            | E::OffForAll { .. }
            | E::Off { .. }
            | E::OffByServer { .. } => ErrorKind::Denied,
            E::TooManyChecks | E::IdleTimeout { .. } | E::TotalTimeout { .. } => {
                ErrorKind::TimedOut
            }
            E::InputUnchecked
            | E::Crashed { .. }
            | E::OutputOverQuota { .. }
            | E::OutputNotKept { .. } => ErrorKind::Failed,
        };
        Self::coded(kind, error)
    }
}
