//! The experts that come with Tenon. They have no rows: a new version of Tenon may better them, and
//! whoever wants another one copies them. The page has their titles and starters in its languages.

use tenon_domain::pattern::Pattern;
use tenon_domain::{ExpertDefinition, ExpertId};

use super::{Expert, ExpertOrigin};

/// Whoever answers in a chat that has no expert.
pub(super) const GENERAL: &str = "general";

pub(super) const DEFAULT_ICON: &str = "bot";

const FILES_PROMPT: &str = "You work with the user's files and data. \
Look at what is there before you change anything: list the folder, read the beginning of a file. \
Compute with tools instead of in your head, and say which numbers come from which file. \
Before you overwrite or delete a file, say what you are about to do. \
At the end name the files that you made or changed.";

const WEB_PROMPT: &str = "You research on the web. \
Search, then read the pages themselves: a search result is a hint and no source. \
Take at least two independent sources for what matters, and prefer primary ones. \
Give the address of the page for every claim, and the date where it matters. \
Say what you could not find or verify; never invent a source.";

pub(super) fn all() -> [Expert; 3] {
    let general = ExpertDefinition {
        title: "General".into(),
        description: "Answers anything, with all tools that are switched on.".into(),
        ..named_definition(GENERAL, DEFAULT_ICON, None)
    };
    let files = ExpertDefinition {
        title: "Files & data".into(),
        description: "Reads, compares, computes and writes files.".into(),
        system_prompt: FILES_PROMPT.into(),
        starters: starters(&[
            "Make a file notes.md with a to-do list and read it back",
            "List the files here and tell me what each of them is about",
            "Make a CSV file of the twelve months with their days, and add them up",
        ]),
        ..named_definition(
            "files-data",
            "file-text",
            Some(&[
                "*file*",
                "*folder*",
                "*director*",
                "*csv*",
                "*sheet*",
                "*sql*",
                "*query*",
                "*table*",
                "*python*",
                "builtin_calculate",
                "builtin_*_time",
            ]),
        )
    };
    let web = ExpertDefinition {
        title: "Web research".into(),
        description: "Searches, reads the pages themselves and names its sources.".into(),
        system_prompt: WEB_PROMPT.into(),
        starters: starters(&[
            "Read https://example.org and tell me what it says",
            "What has changed in the last year about a topic I will name?",
            "Compare three products I will name, with sources",
        ]),
        ..named_definition(
            "web-research",
            "globe",
            Some(&[
                "*search*",
                "*fetch*",
                "*web*",
                "*brows*",
                "*url*",
                "*page*",
                "*crawl*",
                "builtin_*_time",
                "builtin_calculate",
            ]),
        )
    };
    [general, files, web].map(|definition| Expert {
        id: ExpertId::new(&definition.name),
        definition,
        origin: ExpertOrigin::Builtin,
    })
}

pub(super) fn named(name: &str) -> Option<Expert> {
    let mut experts = all().into_iter();
    experts.find(|expert| expert.definition.name == name)
}

fn named_definition(name: &str, icon: &str, tools: Option<&[&str]>) -> ExpertDefinition {
    ExpertDefinition {
        name: name.to_owned(),
        icon: icon.to_owned(),
        tools: tools.map(|tools| tools.iter().copied().map(Pattern::new).collect()),
        ..ExpertDefinition::default()
    }
}

fn starters(texts: &[&str]) -> Vec<String> {
    texts.iter().copied().map(str::to_owned).collect()
}
