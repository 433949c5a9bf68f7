//! What a worker is told of a call.

use serde_json::{Map, Value, json};
use tenon_domain::{Account, UserId};
use tenon_tools::CallOrigin;

/// What a call gives the function.
pub(super) struct WorkerRequest<'a> {
    pub(super) function: &'a str,
    pub(super) arguments: Value,
    pub(super) settings: &'a Map<String, Value>,
    /// Of [`person`].
    pub(super) user: Value,
    /// Of [`context`].
    pub(super) context: Value,
}

impl WorkerRequest<'_> {
    /// As the runner reads it, with the number of the call.
    pub(super) fn message(&self, id: u64) -> Value {
        json!({
            "id": id,
            "tool": self.function,
            "arguments": self.arguments,
            "settings": self.settings,
            "user": self.user,
            "context": self.context,
        })
    }
}

/// `__user__`, as tools of Open WebUI know it.
pub(super) fn person(account: Option<Account>, id: &UserId, valves: Map<String, Value>) -> Value {
    match account {
        Some(account) => json!({
            "id": id,
            "name": account.name,
            "email": account.email,
            "role": account.role,
            "valves": valves,
        }),
        None => json!({ "id": id, "valves": valves }),
    }
}

/// `__chat_id__`, `__message_id__` and `__metadata__`, as tools of Open WebUI know them. A call that
/// comes from no chat has the ids of none.
pub(super) fn context(origin: &CallOrigin, user: &UserId, function: &str) -> Value {
    let (chat, message) = (&origin.chat_id, &origin.message_id);
    json!({
        "chat_id": chat,
        "message_id": message,
        "metadata": {
            "chat_id": chat,
            "message_id": message,
            "user_id": user,
            "tool_name": function,
        },
    })
}
