//! The English words of all codes of errors, for the page.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use tenon_domain::ErrorTemplate;

use crate::check_committed;

/// Where the page expects them.
const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../web/src/lib/i18n/errors/en.ts"
);

/// The template of every code that an error of the API may have.
fn error_templates() -> Vec<ErrorTemplate> {
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
        tenon_app::chats::ImportError::TEMPLATES,
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
        tenon_server::api_fault::ApiFault::TEMPLATES,
        tenon_server::api_fault::SourceLoginFault::TEMPLATES,
    ];
    tables.concat()
}

/// The English table of the page: what its other languages must have words for.
fn error_texts() -> String {
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

#[test]
fn the_committed_words_are_those_of_the_code() {
    check_committed(FILE, &error_texts());
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
    let own = include_str!("error_texts.rs");
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut count = 0;
    for entry in std::fs::read_dir(crates).unwrap() {
        let entry = entry.unwrap();
        let package = entry.file_name().into_string().unwrap();
        let prefix = format!("tenon_{package}::");
        let mut files = Vec::new();
        rust_files(&entry.path().join("src"), &mut files);
        for file in files {
            let source = std::fs::read_to_string(&file).unwrap();
            for name in declared_errors(&source) {
                let suffix = format!("{name}::TEMPLATES,");
                let mut lines = own.lines();
                let is_listed = lines.any(|line| {
                    let path = line.strip_suffix(&suffix);
                    path.is_some_and(|path| line.contains(&prefix) && path.ends_with("::"))
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
    let mut seen = HashSet::new();
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
