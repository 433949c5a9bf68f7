//! The TypeScript of the API, generated from the Rust types and committed.
//!
//! `make types` writes it; the test below fails when it is stale.

use tenon_domain::ErrorTemplate;
use ts_rs::{Config, TS};

use crate::api_fault::{ApiFault, SourceLoginFault};
use crate::wire;

/// Where the page expects it.
#[cfg(test)]
const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../web/src/lib/api/types.ts"
);

/// The English words of all codes of errors.
#[cfg(test)]
const ERROR_TEXTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../web/src/lib/i18n/errors/en.ts"
);

/// The template of every code that an error of the API may have.
pub fn error_templates() -> Vec<ErrorTemplate> {
    let tables = [
        tenon_domain::OtherError::TEMPLATES,
        tenon_domain::FormAnswerError::TEMPLATES,
        tenon_domain::CallEndError::TEMPLATES,
        tenon_tools::NoSpace::TEMPLATES,
        tenon_tools::OverQuota::TEMPLATES,
        tenon_tools::CallError::TEMPLATES,
        tenon_tools::ApprovalAdvice::TEMPLATES,
        tenon_tools::InputProblem::TEMPLATES,
        tenon_llm::ModelFault::TEMPLATES,
        tenon_llm::ExclusionReason::TEMPLATES,
        tenon_llm::OptionFault::TEMPLATES,
        tenon_llm::schema::SchemaError::TEMPLATES,
        tenon_store::AccountError::TEMPLATES,
        tenon_store::Conflict::TEMPLATES,
        tenon_store::StoreFault::TEMPLATES,
        tenon_sources::ServerFault::TEMPLATES,
        tenon_sources::Advice::TEMPLATES,
        tenon_sources::ServerCallError::TEMPLATES,
        tenon_sources::StartupWait::TEMPLATES,
        tenon_sources::ServerRemedy::TEMPLATES,
        tenon_sources::RequestInputError::TEMPLATES,
        tenon_sources::openapi::FetchError::TEMPLATES,
        tenon_sources::skill::SkillCallError::TEMPLATES,
        tenon_sources::skill::SkillSetupError::TEMPLATES,
        tenon_sources::ToolNote::TEMPLATES,
        tenon_sources::browser::RegistrationFault::TEMPLATES,
        tenon_sources::import::ConfigReadError::TEMPLATES,
        tenon_sources::import::ServerEntryError::TEMPLATES,
        tenon_sources::import::ImportNote::TEMPLATES,
        tenon_sources::variables::MisplacedVariable::TEMPLATES,
        tenon_sources::mcp::InvalidHeader::TEMPLATES,
        tenon_sources::mcp::LoginReason::TEMPLATES,
        tenon_agent::Error::TEMPLATES,
        tenon_agent::TurnFault::TEMPLATES,
        tenon_app::Error::TEMPLATES,
        tenon_app::error::AccountInputError::TEMPLATES,
        tenon_app::budget::BudgetError::TEMPLATES,
        tenon_app::experts::ExpertError::TEMPLATES,
        tenon_app::files::AttachmentError::TEMPLATES,
        tenon_app::folders::FolderError::TEMPLATES,
        tenon_app::instructions::InstructionsError::TEMPLATES,
        tenon_app::web_images::WebImageError::TEMPLATES,
        tenon_app::prompts::PromptError::TEMPLATES,
        tenon_app::skills::SkillFault::TEMPLATES,
        tenon_app::models::ModelEditError::TEMPLATES,
        tenon_app::models::ModelLookupError::TEMPLATES,
        tenon_app::models::EndpointFault::TEMPLATES,
        tenon_app::models::EvaluationError::TEMPLATES,
        tenon_app::sources::SourceInputError::TEMPLATES,
        tenon_app::sources::SourceDenied::TEMPLATES,
        tenon_app::sources::SourceIdle::TEMPLATES,
        tenon_app::sources::SourceFault::TEMPLATES,
        tenon_app::sources::FileFault::TEMPLATES,
        ApiFault::TEMPLATES,
        SourceLoginFault::TEMPLATES,
    ];
    tables.concat()
}

/// The English table of the page: what its other languages must have words for.
pub fn error_texts() -> String {
    let mut file = String::from(
        "// Generated from Rust by `make types`. Do not edit.\n\n\
         /** What the server says in English, by the code of the error. */\n\
         export const errorsEn = {\n",
    );
    for template in error_templates() {
        file.push_str(&format!("  {}: {:?},\n", template.code, template.text));
    }
    file.push_str("};\n\nexport type ErrorCode = keyof typeof errorsEn;\n");
    file
}

/// All types of the API, in reading order.
pub fn declarations() -> String {
    let config = Config::new();
    let mut file = String::from("// Generated from Rust by `make types`. Do not edit.\n");
    macro_rules! declare {
        ($($type:ty),* $(,)?) => {$(
            file.push_str(&format!("\nexport {}\n", <$type>::decl(&config)));
        )*};
    }
    use tenon_domain as domain;
    use tenon_sources::browser;
    use tenon_sources::browser::{WireBody, WireRequest};
    use tenon_sources::skill::package;
    declare!(
        wire::AppInfo,
        wire::ModelInfo,
        wire::AuthState,
        domain::HandoverNotice,
        wire::Setup,
        wire::LogIn,
        wire::SignUp,
        wire::MeChange,
        wire::LogOutEverywhere,
        wire::SessionView,
        wire::KeyView,
        wire::NewKey,
        wire::CreatedKey,
        wire::NewAccount,
        wire::UserChange,
        wire::InviteView,
        wire::NewInvite,
        wire::CreatedInvite,
        wire::Invitation,
        wire::SettingsView,
        wire::AuditView,
        wire::ChatSummary,
        wire::ChatChange,
        wire::StartTurn,
        wire::TurnStarted,
        wire::ChooseBranch,
        wire::TurnTrace,
        wire::ModelCallTrace,
        wire::ToolCallTrace,
        wire::FormWait,
        wire::ModelRequestView,
        wire::RecentCallView,
        wire::StatsRange,
        wire::StatsView,
        wire::CallStats,
        wire::UsageStats,
        wire::TimeStats,
        wire::ToolStats,
        wire::SourceStats,
        wire::PersonStats,
        wire::ModelStats,
        wire::AnswerCall,
        wire::MessageView,
        wire::SearchHit,
        wire::SnippetPiece,
        wire::SearchHitKind,
        wire::ShareView,
        wire::OwnShare,
        wire::NewShare,
        wire::SharedChat,
        wire::ExportedChat,
        wire::ExportedTurn,
        wire::ExportedMessage,
        wire::ToolView,
        wire::ToolsChange,
        wire::ToolSettingPatch,
        wire::SourceView,
        wire::SourceDetail,
        wire::SourceOrigin,
        wire::ServerAbout,
        wire::LoginState,
        wire::StartupView,
        tenon_sources::StartupStep,
        wire::CauseView,
        wire::SourceReach,
        wire::SourceLimits,
        wire::CredentialKind,
        wire::DocumentView,
        wire::DocumentChange,
        wire::SkippedView,
        wire::SchemeView,
        wire::SchemeKindView,
        wire::SourcePreview,
        wire::ToolPreview,
        wire::AddSource,
        wire::SourceChange,
        wire::LogLine,
        wire::ImportSources,
        wire::ImportedSource,
        wire::LoginStart,
        wire::SecretView,
        wire::NewSecret,
        wire::AnswerForm,
        wire::SourceUpdate,
        wire::CallTool,
        wire::CallToolAnswer,
        wire::ModelView,
        wire::ModelOrigin,
        wire::NewModel,
        wire::ModelChange,
        wire::ModelDiscoveryRequest,
        wire::ModelDiscoveryResponse,
        wire::OfferedModel,
        wire::EndpointView,
        wire::TestFrame,
        wire::EvaluationRequest,
        wire::EvaluationFrame,
        domain::EvaluationReport,
        domain::ModeScore,
        domain::KindScore,
        domain::PromptKind,
        domain::PromptResult,
        domain::PromptOutcome,
        wire::SkillView,
        wire::SkillToolView,
        wire::SkillToolKind,
        wire::SkillCodeView,
        wire::SkillDetail,
        wire::SkillVersionView,
        wire::SkillValueView,
        wire::SkillFileView,
        wire::SkillInput,
        wire::SkillInstall,
        wire::SkillPreview,
        wire::SkillPreviewItem,
        wire::RefusedSkillView,
        wire::SkillChange,
        wire::SkillVersionChoice,
        wire::SandboxView,
        wire::WallView,
        wire::ModuleCode,
        wire::ModuleView,
        wire::ModuleFunctionView,
        wire::ModuleFaultView,
        wire::NewModule,
        wire::TryModule,
        wire::TryEvent,
        package::package::SkillFile,
        package::SkillPermissions,
        package::SkillVariable,
        package::requirements::Requirements,
        package::diff::SkillDiff,
        package::diff::ChangeKind,
        package::diff::ToolChange,
        package::diff::PermissionChange,
        package::diff::PermissionKind,
        package::diff::FileChange,
        wire::ExpertView,
        wire::ExpertChange,
        domain::ModelParameters,
        domain::ReasoningEffort,
        domain::ChatSettings,
        domain::AttachedFile,
        domain::FileKind,
        wire::UserInstructions,
        wire::FolderView,
        wire::ChatFolderChange,
        wire::FileLimits,
        wire::ModelParameter,
        wire::ContextQuery,
        wire::ContextView,
        wire::ExportedFile,
        domain::Visibility,
        wire::PromptView,
        wire::NewPrompt,
        wire::PromptChange,
        wire::ServerPromptView,
        wire::PromptArgument,
        wire::FillPrompt,
        wire::FilledPrompt,
        wire::ErrorBody,
        domain::ErrorDetail,
        domain::ErrorParam,
        wire::DeviceView,
        wire::LocalServerView,
        wire::LocalView,
        wire::McpoDiscoveryRequest,
        wire::McpoServer,
        wire::LocalEndpoint,
        wire::EndpointKind,
        browser::Registration,
        browser::DeviceInfo,
        browser::DiscoveredServer,
        browser::LocalProtocol,
        browser::DiscoveredTools,
        browser::RegistrationResult,
        browser::RegisteredServer,
        browser::ExecuteTool,
        browser::LocalCallProgress,
        browser::LocalCallResult,
        browser::LocalCallOutcome,
        browser::LocalCallFailure,
        browser::LocalFailureKind,
        WireRequest,
        WireBody,
        wire::ServerFrame,
        wire::ClientFrame,
        domain::Account,
        domain::UserRole,
        domain::KeyScope,
        domain::KeyAccess,
        domain::EntryPoint,
        domain::pattern::Pattern,
        domain::Event,
        domain::EventBody,
        domain::Branch,
        domain::TitledBy,
        domain::TurnOutcome,
        domain::PageLanguage,
        domain::Delta,
        domain::DeltaKind,
        domain::ModelWait,
        domain::PromptProgress,
        domain::CallProgress,
        domain::Form,
        domain::FormRequest,
        domain::FormAnswer,
        domain::FormOutcome,
        domain::StopReason,
        domain::MessageRecord,
        domain::Role,
        domain::Part,
        domain::UserImage,
        domain::Usage,
        domain::ModelRef,
        domain::OmittedTool,
        domain::Cost,
        domain::Prices,
        domain::WireFormat,
        domain::ToolMode,
        domain::ToolUse,
        domain::ToolCall,
        domain::CallRecord,
        domain::CallStatus,
        domain::ToolOutput,
        domain::Content,
        domain::ToolError,
        domain::ErrorKind,
        domain::Annotations,
        domain::RunsOn,
        domain::Policy,
        domain::Layer,
        domain::Verdict,
        domain::SourceKind,
        domain::SourceState,
        tenon_app::storage::StorageState,
        tenon_app::user_feed::UserTopic,
        domain::BlobId,
        domain::CallId,
        domain::ChatId,
        domain::MessageId,
        domain::ModelId,
        domain::ExpertId,
        domain::PromptId,
        domain::FolderId,
        domain::FileId,
        domain::SourceId,
        domain::ToolId,
        domain::TurnId,
        domain::UserId,
        domain::SessionId,
        domain::FormId,
        domain::ModelCallId,
        domain::KeyId,
        domain::InviteId,
    );
    let shown_page = domain::SHOWN_PAGE;
    file.push_str(&format!("\nexport const SHOWN_PAGE = {shown_page:?};\n"));
    file
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn the_committed_types_are_those_of_the_code() {
        for (file, fresh) in [(FILE, declarations()), (ERROR_TEXTS, error_texts())] {
            if std::env::var_os("UPDATE_TYPES").is_some() {
                std::fs::write(file, &fresh).unwrap();
            }
            let committed = std::fs::read_to_string(file).unwrap();
            assert!(
                committed == fresh,
                "the API changed: run `make types` and commit {file}"
            );
        }
    }

    /// The names of the enums that `coded_errors!` declares in a file; those of tests are indented.
    fn declared_errors(source: &str) -> Vec<&str> {
        let declarations = source.split("\ncoded_errors! {").skip(1);
        let after_enum = declarations.map(|declaration| declaration.split_once("enum ").unwrap().1);
        after_enum
            .map(|name| name.split_whitespace().next().unwrap())
            .collect()
    }

    fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                rust_files(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_enum_of_coded_errors_is_in_the_list() {
        let own = include_str!("typescript.rs");
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut count = 0;
        for entry in std::fs::read_dir(crates).unwrap() {
            let entry = entry.unwrap();
            let package = entry.file_name().into_string().unwrap();
            let prefix = match package.as_str() {
                "server" => "        ".to_owned(),
                package => format!("tenon_{package}::"),
            };
            let mut files = Vec::new();
            rust_files(&entry.path().join("src"), &mut files);
            for file in files {
                let source = std::fs::read_to_string(&file).unwrap();
                for name in declared_errors(&source) {
                    let suffix = format!("{name}::TEMPLATES,");
                    let mut lines = own.lines();
                    let is_listed = lines.any(|line| {
                        let path = line.strip_suffix(&suffix);
                        path.is_some_and(|path| {
                            line.contains(&prefix) && (path.ends_with("::") || path.ends_with(' '))
                        })
                    });
                    assert!(
                        is_listed,
                        "{prefix}{name} of {} is not in the list",
                        file.display()
                    );
                    count += 1;
                }
            }
        }
        let tables = own.lines().filter(|line| line.ends_with("::TEMPLATES,"));
        assert_eq!(count, tables.count(), "the list has what nothing declares");
    }

    #[test]
    fn a_code_has_one_meaning_and_its_sentence_mentions_its_parameters() {
        let mut seen = std::collections::HashSet::new();
        for ErrorTemplate { code, text, params } in error_templates() {
            assert!(seen.insert(code), "{code} is declared twice");
            for param in params {
                assert!(text.contains(&format!("{{{param}}}")), "{code}: {param}");
            }
            let is_name = |name: &&str| {
                !name.is_empty() && name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_')
            };
            let mentioned = text
                .split('{')
                .skip(1)
                .filter_map(|rest| rest.split('}').next());
            for name in mentioned.filter(is_name) {
                assert!(params.contains(&name), "{code}: {{{name}}} is no parameter");
            }
        }
    }
}
