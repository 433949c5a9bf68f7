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
//!
//! A tool that only wraps another one ([`ToolSource::wraps`]) obeys the settings of both.
//!
//! [`ToolSource::wraps`]: crate::ToolSource::wraps

use std::sync::Arc;

use serde_json::Value;
use tenon_domain::{
    Caller, EffectiveSetting, EntryPoint, ErrorParam, Layer, Policy, SourceKind, ToolError, ToolId,
};
use url::Url;

use super::prepared_call::ApprovalReason;
use crate::call_error::{ApprovalAdvice, CallError};
use crate::catalog::Tool;
use crate::toolset::Toolset;

/// What becomes of a call.
pub(super) enum Decision {
    Run,
    Ask(ApprovalReason),
    Refuse(ToolError),
}

/// The policy for a call that settings and defaults give, regardless of the caller.
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

    /// How a tool is set, itself or with its source.
    fn setting(&self, tool: &Tool) -> EffectiveSetting {
        let source = &tool.source.info().id;
        self.access.setting(source, &tool.spec.id)
    }

    /// Whether a tool is switched on.
    pub fn is_enabled(&self, tool: &Tool) -> bool {
        let source = &tool.source.info().id;
        let access = &self.access;
        access.enabled(source, &tool.spec.id, tool.spec.annotations)
            && self.wrapped_if(tool, EffectiveSetting::is_off).is_none()
    }

    /// Where a tool is switched on or off. None: nobody has.
    pub fn enabled_by(&self, tool: &Tool) -> Option<Layer> {
        let own = self.setting(tool);
        let wrapped = || self.wrapped_if(tool, EffectiveSetting::is_off);
        let decisive = match own.is_off() {
            true => own,
            false => wrapped().map_or(own, |wrapped| self.setting(wrapped)),
        };
        decisive.enabled.map(|(_, by)| by)
    }

    /// The policy of a tool: that of the nearest layer, or the default.
    pub fn policy(&self, tool: &Tool) -> Policy {
        match self
            .set_policy(tool)
            .map_or_else(|| default_policy(tool), |(policy, _)| policy)
        {
            // Whoever sends a server with a request approves its tools.
            Policy::Ask if self.request_tools.allows(tool) => Policy::Allow,
            policy => policy,
        }
    }

    /// What is set about calls, there and of the tool that it wraps. A denial stays; what is asked
    /// there is not asked where a layer as near allows this very tool.
    pub fn set_policy(&self, tool: &Tool) -> Option<(Policy, Layer)> {
        let own = self.setting(tool).policy;
        let wrapped = self.wrapped(tool).map(|wrapped| self.setting(wrapped));
        match (own, wrapped.and_then(|setting| setting.policy)) {
            (Some((Policy::Deny, _)), _) | (_, None | Some((Policy::Allow, _))) => own,
            (Some((Policy::Allow, near)), Some((Policy::Ask, far))) if near >= far => own,
            (_, wrapped) => wrapped,
        }
    }

    /// The built-in tool that calls of this one become.
    fn wrapped(&self, tool: &Tool) -> Option<&Tool> {
        let name = tool.source.wraps(&tool.spec.name)?;
        let connected = self.catalog.connected.values();
        let mut builtin =
            connected.filter(|connected| connected.source.info().kind == SourceKind::Builtin);
        let found = builtin.find_map(|connected| {
            let mut tools = connected.tools.iter();
            tools.find(|tool| tool.spec.name == name)
        });
        found.map(|tool| &**tool)
    }

    /// The same, where its setting is such.
    fn wrapped_if(&self, tool: &Tool, is_such: fn(&EffectiveSetting) -> bool) -> Option<&Tool> {
        self.wrapped(tool)
            .filter(|wrapped| is_such(&self.setting(wrapped)))
    }

    /// Whether a call runs without anybody's approval, whatever its input.
    pub(super) fn runs_unasked(&self, tool: &Tool) -> bool {
        match (self.policy(tool), &self.access.caller) {
            (Policy::Deny, _) => false,
            (Policy::Allow, _) | (Policy::Ask, Caller::Person) => true,
            (Policy::Ask, caller) => caller.allows(&tool.spec.id),
        }
    }

    /// Where a call would go, if it is the default that decides about it.
    pub(crate) fn default_address(&self, tool: &Tool, input: &Value) -> Option<Url> {
        let id = &tool.spec.id;
        let is_decided = self.setting(tool).policy.is_some() || self.access.caller.allows(id);
        if is_decided {
            return None;
        }
        tool.source.address(&tool.spec.name, input)
    }

    /// The error of a call that needs an approval which nobody here can give.
    pub(super) fn unapproved(&self, tool: &Tool, reason: ApprovalReason) -> ToolError {
        let id = || ErrorParam::from(tool.spec.id.as_str());
        let key = || ApprovalAdvice::Key {
            id: id(),
            allow: format!("\"allow\": [\"{}\"]", tool.spec.id).into(),
        };
        let advice = match &self.access.caller {
            Caller::Key { .. } => Some(key()),
            Caller::UnattendedModel { entry, .. } => Some(match entry {
                EntryPoint::Key(_) => key(),
                EntryPoint::Shell => ApprovalAdvice::Shell { id: id() },
                EntryPoint::Page => ApprovalAdvice::Page { id: id() },
            }),
            Caller::Person | Caller::ChatModel { .. } => None,
        };
        let (name, advice) = (display_name(tool), advice.into());
        ToolError::from(match reason {
            ApprovalReason::Policy => CallError::Unapproved { name, advice },
            ApprovalReason::NewAddress => CallError::UnapprovedAddress { name, advice },
        })
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
        let tool = if self.setting(tool).is_denied() {
            tool
        } else {
            self.wrapped_if(tool, EffectiveSetting::is_denied)
                .unwrap_or(tool)
        };
        let name = display_name(tool);
        let set = self.setting(tool).policy;
        let is_for_everybody = set.is_some_and(|(_, layer)| layer == Layer::Organisation);
        ToolError::from(match &self.access.caller {
            Caller::ChatModel { .. } | Caller::UnattendedModel { .. } => {
                CallError::DeniedByPolicy { name }
            }
            Caller::Person | Caller::Key { .. } if is_for_everybody => {
                CallError::DeniedForAll { name }
            }
            Caller::Person => CallError::DeniedByYou { name },
            Caller::Key { .. } => CallError::DeniedByOwner { name },
        })
    }

    fn switched_off(&self, tool: &Tool) -> ToolError {
        let tool = if self.setting(tool).is_off() {
            tool
        } else {
            self.wrapped_if(tool, EffectiveSetting::is_off)
                .unwrap_or(tool)
        };
        let name = display_name(tool);
        ToolError::from(match self.setting(tool).enabled {
            Some((_, Layer::Organisation)) => CallError::OffForAll { name },
            Some((_, Layer::User | Layer::Expert | Layer::Chat)) => CallError::Off { name },
            None => CallError::OffByServer { name },
        })
    }
}

fn display_name(tool: &Tool) -> ErrorParam {
    tool.spec.display_name.as_str().into()
}

/// The policy where no layer has one. That a tool only reads is its server's own word, and counts
/// where an admin trusts the server.
fn default_policy(tool: &Tool) -> Policy {
    let only_reads = tool.spec.annotations.read_only && tool.source.has_trusted_hints();
    match tool.source.info().kind {
        SourceKind::Builtin => Policy::Allow,
        // It runs in the sandbox and can only reach the folder of its chat.
        SourceKind::Skill if is_contained(tool) => Policy::Allow,
        SourceKind::Skill | SourceKind::Mcp | SourceKind::Openapi | SourceKind::Browser => {
            if only_reads {
                Policy::Allow
            } else {
                Policy::Ask
            }
        }
    }
}

fn is_contained(tool: &Tool) -> bool {
    let hints = tool.spec.annotations;
    !hints.open_world && !hints.destructive && tool.source.has_trusted_hints()
}
