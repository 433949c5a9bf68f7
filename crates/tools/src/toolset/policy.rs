//! Who may call what: the one place where a caller and the settings of a tool meet.
//!
//! | caller | allow | ask | deny | off |
//! |---|---|---|---|---|
//! | [`Caller::Person`] | runs | runs | refused | refused |
//! | [`Caller::Key`] | runs | refused, unless the key allows it | refused | refused |
//! | [`Caller::ChatModel`] | runs | asks, unless it is allowed | refused | not there |
//! | [`Caller::UnattendedModel`] | runs | refused, unless it is allowed | refused | not there |
//!
//! A person who calls a tool by hand approves the call and nothing more: what was denied or
//! switched off, even by themself, stays so. Every refusal says what would allow the call.

use std::sync::Arc;

use serde_json::Value;
use tenon_domain::{Caller, EntryPoint, Layer, Policy, SourceKind, ToolError, ToolId};
use url::Url;

use super::prepared_call::ApprovalReason;
use crate::catalog::Tool;
use crate::toolset::Toolset;

/// What becomes of a call.
pub(super) enum Decision {
    Run,
    Ask(ApprovalReason),
    Refuse(ToolError),
}

/// What the settings and defaults say of one call, whoever makes it.
enum CallRule {
    Allow,
    Ask(ApprovalReason),
    Deny,
}

impl Toolset {
    /// The tool of a call, if it is there for this caller.
    pub(super) fn look_up(&self, id: &ToolId) -> Result<&Arc<Tool>, ToolError> {
        let tool = self.find(id).filter(|tool| self.includes(tool));
        let tool = tool.ok_or_else(|| self.unknown(id))?;
        if self.is_enabled(tool) {
            return Ok(tool);
        }
        Err(match &self.access.caller {
            Caller::Person | Caller::Key { .. } => self.switched_off(tool),
            // It was not offered to them either.
            Caller::ChatModel { .. } | Caller::UnattendedModel { .. } => self.unknown(id),
        })
    }

    pub(super) fn decide(&self, tool: &Tool, input: &Value) -> Decision {
        match (self.rule(tool, input), &self.access.caller) {
            (CallRule::Allow, _) | (CallRule::Ask(_), Caller::Person) => Decision::Run,
            // A program writes the address itself, as a person does.
            (CallRule::Ask(ApprovalReason::NewAddress), Caller::Key { .. }) => Decision::Run,
            (CallRule::Ask(reason), Caller::ChatModel { .. }) => Decision::Ask(reason),
            (CallRule::Ask(reason), Caller::Key { .. } | Caller::UnattendedModel { .. }) => {
                Decision::Refuse(self.unapproved(tool, reason))
            }
            (CallRule::Deny, _) => Decision::Refuse(self.denied(tool)),
        }
    }

    /// The policy of a tool: that of the nearest layer, or the default.
    pub fn policy(&self, tool: &Tool) -> Policy {
        let set = self.access.setting(&tool.spec.id).policy;
        match set.map_or_else(|| default_policy(tool), |(policy, _)| policy) {
            // Whoever sent a server along has chosen it.
            Policy::Ask if self.request_tools.has(tool) => Policy::Allow,
            policy => policy,
        }
    }

    /// Where a call would go, if it is the default that decides about it.
    pub(crate) fn default_address(&self, tool: &Tool, input: &Value) -> Option<Url> {
        let id = &tool.spec.id;
        let is_decided = self.access.setting(id).policy.is_some() || self.access.caller.allows(id);
        if is_decided {
            return None;
        }
        tool.source.address(&tool.spec.name, input)
    }

    /// The error of a call that needs an approval which nobody here can give.
    pub(super) fn unapproved(&self, tool: &Tool, reason: ApprovalReason) -> ToolError {
        let (name, id) = (&tool.spec.display_name, &tool.spec.id);
        let (why, instead) = match reason {
            ApprovalReason::Policy => ("", ""),
            ApprovalReason::NewAddress => (
                " for an address that the user did not write and no result showed",
                "Ask the user to write the address. ",
            ),
        };
        let key = format!(
            "Make a key that allows it (`\"allow\": [\"{id}\"]` in its scope, `tenon user key … --allow '{id}'`), or set the policy of `{id}` to `allow`."
        );
        let advice = match &self.access.caller {
            Caller::Key { .. } => key,
            Caller::UnattendedModel { entry, .. } => match entry {
                EntryPoint::Key(_) => key,
                EntryPoint::Shell => format!("`--allow {id}` or `--yes` would allow it."),
                EntryPoint::Page => format!("Set the policy of `{id}` to `allow`."),
            },
            Caller::Person | Caller::ChatModel { .. } => String::new(),
        };
        let refusal = format!(
            "{name} needs a person's approval{why}, and nobody can be asked here. {instead}{advice}"
        );
        ToolError::denied(refusal.trim_end())
    }

    fn rule(&self, tool: &Tool, input: &Value) -> CallRule {
        let id = &tool.spec.id;
        match self.policy(tool) {
            Policy::Deny => CallRule::Deny,
            Policy::Ask if self.access.caller.allows(id) => CallRule::Allow,
            Policy::Ask => CallRule::Ask(ApprovalReason::Policy),
            Policy::Allow => match self.default_address(tool, input) {
                Some(address) if !self.known.contains(&address) => {
                    CallRule::Ask(ApprovalReason::NewAddress)
                }
                Some(_) | None => CallRule::Allow,
            },
        }
    }

    fn denied(&self, tool: &Tool) -> ToolError {
        let name = &tool.spec.display_name;
        let set = self.access.setting(&tool.spec.id).policy;
        let is_for_everybody = set.is_some_and(|(_, layer)| layer == Layer::Organisation);
        ToolError::denied(match &self.access.caller {
            Caller::ChatModel { .. } | Caller::UnattendedModel { .. } => {
                format!("{name} is switched off by policy. Do without it.")
            }
            Caller::Person | Caller::Key { .. } if is_for_everybody => {
                format!("{name} is denied for everybody. Ask an admin to allow it.")
            }
            Caller::Person => {
                format!("You denied {name}. Set its policy to `ask` to call it by hand.")
            }
            Caller::Key { .. } => {
                format!("The owner of this key denied {name}. Only they can allow it.")
            }
        })
    }

    fn switched_off(&self, tool: &Tool) -> ToolError {
        let name = &tool.spec.display_name;
        let set = self.access.setting(&tool.spec.id).enabled;
        let how = match set {
            Some((_, Layer::Organisation)) => " for everybody. Ask an admin to switch it on.",
            Some((_, Layer::User | Layer::Expert | Layer::Chat)) => {
                ". Switch it on among your tools to call it."
            }
            None => ", as its server advises against it. Switch it on among your tools to call it.",
        };
        ToolError::denied(format!("{name} is switched off{how}"))
    }
}

/// The policy where no layer has one. That a tool only reads is its server's own word, and counts
/// where an admin trusts the server.
fn default_policy(tool: &Tool) -> Policy {
    let only_reads = tool.spec.annotations.read_only && tool.source.has_trusted_hints();
    match tool.source.info().kind {
        SourceKind::Builtin => Policy::Allow,
        SourceKind::Skill | SourceKind::Mcp | SourceKind::Openapi | SourceKind::Browser => {
            if only_reads {
                Policy::Allow
            } else {
                Policy::Ask
            }
        }
    }
}
