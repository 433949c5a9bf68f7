//! A skill that is not installed, checked and tried: its tools are called with the `examples` of
//! their parameters, in the sandbox, on the path of every call.

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::{CallId, SourceId, SourceInfo, SourceKind, ToolCall, ToolId};
use tenon_sources::skill::package::source::SkillBundle;
use tenon_sources::skill::{InstalledSkill, SetupStatus, SkillRevision, SkillValues};
use tenon_store::fresh_id;
use tenon_tools::{CallContext, CallOrigin, CallTimer, NoClient, ToolSource};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::view::{RefusedSkillView, SkillInput};
use super::{SkillFault, Skills, version};
use crate::auth::CurrentUser;

/// What came of it.
#[derive(Debug, Default)]
pub struct SkillTestReport {
    pub skills: Vec<TestedSkill>,
    pub refused: Vec<RefusedSkillView>,
}

#[derive(Debug)]
pub struct TestedSkill {
    pub name: String,
    /// How many it declares.
    pub tools: usize,
    pub calls: Vec<TestedCall>,
}

#[derive(Debug)]
pub struct TestedCall {
    pub tool: String,
    pub arguments: Value,
    /// Why it gave no result.
    pub failure: Option<String>,
}

impl SkillTestReport {
    pub fn is_ok(&self) -> bool {
        let mut calls = self.skills.iter().flat_map(|skill| &skill.calls);
        self.refused.is_empty() && calls.all(|call| call.failure.is_none())
    }
}

impl Skills {
    /// Calls all tools that have examples, or one with the arguments that are given.
    pub async fn test(
        &self,
        user: &CurrentUser,
        input: SkillInput,
        tool: Option<&str>,
        arguments: Option<Value>,
    ) -> Result<SkillTestReport, SkillFault> {
        let (source, _) = self.read(user, input).await?;
        let refused = source.refused.into_iter().map(RefusedSkillView::from);
        let mut report = SkillTestReport {
            refused: refused.collect(),
            ..SkillTestReport::default()
        };
        for bundle in source.skills {
            self.check(user, &bundle.package, None)?;
            let examples = examples(&bundle, tool, arguments.as_ref());
            let (name, tools) = (bundle.package.name.clone(), bundle.package.tools.len());
            let calls = if examples.is_empty() {
                Vec::new()
            } else {
                self.call_examples(user, bundle, examples).await?
            };
            report.skills.push(TestedSkill { name, tools, calls });
        }
        Ok(report)
    }

    async fn call_examples(
        &self,
        user: &CurrentUser,
        bundle: SkillBundle,
        examples: Vec<(String, Value)>,
    ) -> Result<Vec<TestedCall>, SkillFault> {
        let folder = tempfile::tempdir().map_err(|error| SkillFault::Files {
            why: error.to_string().into(),
        })?;
        version::write(bundle.files, folder.path()).await?;
        let requirements = &bundle.package.permissions.requirements;
        let progress = String::new();
        let setup = Arc::new(watch::Sender::new(SetupStatus::Running { progress }));
        self.0
            .host
            .set_up(folder.path(), requirements, &setup)
            .await;
        let info = SourceInfo {
            id: SourceId::new(format!("trial:{}", fresh_id())),
            kind: SourceKind::Skill,
            name: bundle.package.name.clone(),
            title: bundle.package.title.clone(),
            owner: Some(user.id.clone()),
        };
        let revision = SkillRevision {
            network: bundle.package.permissions.network,
            package: Arc::new(bundle.package),
            folder: folder.path().to_owned(),
            values: SkillValues::default(),
            is_trusted: true,
            setup,
        };
        let source = InstalledSkill::new(info, self.0.host.clone(), Arc::new(revision));
        let source: Arc<dyn ToolSource> = Arc::new(source);
        let tools = self
            .0
            .registry
            .request_tools(&user.id, std::slice::from_ref(&source));
        let access = tenon_domain::ToolAccess::all(&user.id, user.caller());
        let toolset = self.0.registry.toolset(access).with_request_tools(&tools);
        let id_of = |name: &str| -> Option<ToolId> {
            let mut listed = toolset.listed().into_iter();
            let found =
                listed.find(|tool| Arc::ptr_eq(&tool.source, &source) && tool.spec.name == name);
            found.map(|tool| tool.spec.id.clone())
        };
        let mut calls = Vec::new();
        for (tool, arguments) in examples {
            let call = ToolCall {
                id: CallId(fresh_id()),
                tool_id: id_of(&tool).unwrap_or_else(|| ToolId::new(&tool)),
                input: arguments.clone(),
            };
            let context = CallContext {
                call_id: call.id.clone(),
                origin: CallOrigin::default(),
                user: user.id.clone(),
                workspace: None,
                cancel: CancellationToken::new(),
                client: Arc::new(NoClient),
                timer: CallTimer::default(),
            };
            let result = toolset.call(&call, &context).await;
            calls.push(TestedCall {
                tool,
                arguments,
                failure: result.err().map(|error| error.message),
            });
        }
        Ok(calls)
    }
}

/// What to call, by native name.
fn examples(
    bundle: &SkillBundle,
    tool: Option<&str>,
    arguments: Option<&Value>,
) -> Vec<(String, Value)> {
    if let Some(tool) = tool
        && let Some(arguments) = arguments
    {
        return vec![(tool.to_owned(), arguments.clone())];
    }
    let chosen = bundle
        .package
        .tools
        .iter()
        .filter(|declared| tool.is_none_or(|tool| declared.name == tool));
    let examples = chosen.flat_map(|declared| {
        let examples = declared
            .parameters
            .get("examples")
            .and_then(Value::as_array);
        let examples = examples.cloned().unwrap_or_default();
        let is_alone = tool.is_some() && examples.is_empty();
        let examples = if is_alone { vec![json!({})] } else { examples };
        examples
            .into_iter()
            .map(|example| (declared.name.clone(), example))
    });
    examples.collect()
}
