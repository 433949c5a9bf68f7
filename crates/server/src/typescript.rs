//! The TypeScript of the API, generated from the Rust types and committed.
//!
//! `make types` writes it; the test below fails when it is stale.

use ts_rs::{Config, TS};

use crate::wire;

/// Where the page expects it.
#[cfg(test)]
const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../web/src/lib/api/types.ts"
);

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
        wire::AdviceView,
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
        wire::Discover,
        wire::Discovered,
        wire::OfferedModel,
        wire::EndpointView,
        wire::TestFrame,
        wire::ErrorBody,
        wire::ErrorDetail,
        wire::DeviceView,
        wire::LocalServerView,
        wire::LocalView,
        wire::LookBehind,
        wire::Behind,
        wire::LocalEndpoint,
        wire::EndpointKind,
        browser::Registration,
        browser::DeviceInfo,
        browser::DiscoveredServer,
        browser::LocalProtocol,
        browser::DiscoveredTools,
        browser::RegistrationResult,
        browser::RegisteredServer,
        browser::RegistrationProblem,
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
        domain::Delta,
        domain::DeltaKind,
        domain::ModelWait,
        domain::CallProgress,
        domain::Form,
        domain::FormRequest,
        domain::FormAnswer,
        domain::FormOutcome,
        domain::MessageRecord,
        domain::Role,
        domain::Part,
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
        domain::BlobId,
        domain::CallId,
        domain::ChatId,
        domain::MessageId,
        domain::ModelId,
        domain::SourceId,
        domain::ToolId,
        domain::TurnId,
        domain::UserId,
        domain::SessionId,
        domain::FormId,
        domain::KeyId,
        domain::InviteId,
    );
    let shown_page = domain::SHOWN_PAGE;
    file.push_str(&format!("\nexport const SHOWN_PAGE = {shown_page:?};\n"));
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_types_are_those_of_the_code() {
        let fresh = declarations();
        if std::env::var_os("UPDATE_TYPES").is_some() {
            std::fs::write(FILE, &fresh).unwrap();
        }
        let committed = std::fs::read_to_string(FILE).unwrap();
        assert!(
            committed == fresh,
            "the API changed: run `make types` and commit {FILE}"
        );
    }
}
