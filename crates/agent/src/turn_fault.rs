//! Why a turn ended before its answer was whole. What a model's server did wrong is a
//! `ModelFault`.

use tenon_domain::coded_errors;

coded_errors! {
    #[derive(Debug)]
    pub enum TurnFault {
        Timeout = "answer_timeout" => "The answer took too long and was cut off.",
        TooLong = "answer_too_long" => "The answer grew too long and was cut off.",
        TooManyCalls { max: usize } = "answer_too_many_calls" => "The model asked for more than {max} calls at once and was cut off.",
        NoReply { name, seconds: u64 } = "model_silent" => "{name} said nothing for {seconds} s. Check that it is running, or choose another model.",
        Stalled { name, seconds: u64 } = "model_stalled" => "{name} stopped in the middle of its answer and sent nothing for {seconds} s.",
        Empty { name } = "answer_empty" => "{name} returned an empty answer. Try again, or choose another model.",
        RepeatsText { name } = "answer_repeats_text" => "{name} wrote the same words over and over, and was stopped. Ask in other words, or choose another model.",
        Repeats { name } = "answer_repeats" => "{name} made the same call again and again, with the same result, and did not answer. Ask in other words, or choose another model.",
        LengthLimit = "answer_length_limit" => "The answer reached the model's length limit.",
        Filtered = "answer_withheld" => "The model's provider withheld the rest of this answer.",
        ModelBrokeOff = "model_stopped_midway" => "The model's answer broke off.",
        DiskFull = "answer_disk_full" => "The server's disk is full, so this answer could not be stored. Free some space on it and ask again.",
        NotStored = "answer_not_stored" => "Tenon could not store this answer. Its log says why.",
        DatabaseUnreachable = "database_unreachable" => "Tenon cannot reach its database.",
        Internal = "answer_internal_error" => "Tenon had an internal error during this answer. Its log has the details.",
        Restarted = "answer_restarted" => "Tenon was restarted during this answer.",
        ServerLost = "answer_server_lost" => "The server that gave this answer stopped in the middle of it.",
        CannotResume { why } = "answer_cannot_resume" => "Tenon was restarted and could not continue this answer. {why}",
        Exported = "answer_exported_early" => "The chat was exported during this answer.",
        /// For those who may not know more.
        BrokeOff = "answer_broke_off" => "The answer broke off.",
        ModelUnusable = "model_unusable" => "The model could not be used.",
    }
}

impl TurnFault {
    /// The server ended before the turn, whether it was killed or told to stop.
    pub(crate) fn server_stopped(has_others: bool) -> Self {
        if has_others {
            Self::ServerLost
        } else {
            Self::Restarted
        }
    }
}
