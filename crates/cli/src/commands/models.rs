//! `tenon models`: which there are, and whether they work.

mod eval;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Subcommand;
use futures::StreamExt;
use tenon_domain::{ModelId, ToolUse};

use super::say;
use crate::flags::CommonFlags;
use tenon_app::app::App;
use tenon_server::wire::{ModelOrigin, ModelView, TestFrame};

#[derive(Debug, Subcommand)]
pub(super) enum ModelsCommand {
    /// All models that can be chosen, one a line
    List {
        #[arg(long)]
        json: bool,
    },
    /// Ask a model for a short answer and for a tool call
    Test {
        #[arg(value_name = "NAME")]
        model: String,
        #[arg(long)]
        json: bool,
    },
    /// Measure how well a model calls tools in each way it can, and recommend one
    Eval(eval::EvalCommand),
}

impl ModelsCommand {
    pub(super) async fn run(self, common: &CommonFlags) -> Result<ExitCode> {
        let app = App::open(&common.data, &common.load_config()?).await?;
        match self {
            Self::List { json } => list(&app, json).await,
            Self::Test { model, json } => {
                let model = app.models.named(&model).await?;
                test(&app, &model, json).await
            }
            Self::Eval(command) => command.run(&app).await,
        }
    }
}

async fn list(app: &App, json: bool) -> Result<ExitCode> {
    // In a shell there is no second look.
    app.models.endpoints().refresh(Duration::ZERO).await;
    let models = app.models.list().await?;
    if json {
        say(serde_json::to_string_pretty(&models)?);
        return Ok(ExitCode::SUCCESS);
    }
    let width = models
        .iter()
        .map(|model| model.id.as_str().len())
        .max()
        .unwrap_or_default();
    for model in &models {
        say(format_args!("{:width$}  {}", model.id, describe(model)));
    }
    for endpoint in app.models.endpoints().views() {
        if let Some(error) = endpoint.error {
            eprintln!("{}: {error}", endpoint.name);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(model: &ModelView) -> String {
    let place = model.endpoint.as_ref().or(model.base_url.as_ref());
    let facts = [
        Some(model.name.clone()),
        place.map(|place| format!("at {place}")),
        model.is_default.then(|| "(default)".to_owned()),
        (model.origin != ModelOrigin::Builtin).then(|| format!("[{}]", tools(model))),
        model
            .compact_tools
            .then(|| "(small: up to 12 tools, short descriptions)".to_owned()),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// How it is offered tools.
fn tools(model: &ModelView) -> &'static str {
    match model.tool_mode.tool_use(model.tools_seen) {
        ToolUse::Native if model.tools_seen == Some(ToolUse::None) => {
            "native tools, none called in the test"
        }
        ToolUse::Native => "native tools",
        ToolUse::Constrained => "tools by constrained answers",
        ToolUse::Text => "tools by calls in the text",
        ToolUse::None => "no tools",
    }
}

async fn test(app: &App, model: &ModelId, json: bool) -> Result<ExitCode> {
    let mut frames = app.models.test(model).await?;
    let mut code = ExitCode::FAILURE;
    while let Some(frame) = frames.next().await {
        if let TestFrame::Finished { ok: true, .. } = &frame {
            code = ExitCode::SUCCESS;
        }
        if json {
            say(serde_json::to_string(&frame)?);
        } else {
            tell(&frame);
        }
    }
    Ok(code)
}

fn tell(frame: &TestFrame) {
    match frame {
        TestFrame::Text { text } => {
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
        TestFrame::TryingTools { mode } => match mode {
            ToolUse::Native => eprintln!("\nTrying a tool call …"),
            ToolUse::Constrained => eprintln!("Trying it as a constrained answer …"),
            ToolUse::Text => eprintln!("Trying it as text …"),
            ToolUse::None => {}
        },
        TestFrame::Finished {
            error,
            tools,
            is_in_text,
            first_word_ms,
            ..
        } => {
            if let Some(error) = error {
                eprintln!("{error}");
            }
            match tools {
                Some(ToolUse::Native) if *is_in_text => {
                    eprintln!(
                        "Tools work: its server leaves the calls in the text, where they are read."
                    );
                }
                Some(ToolUse::Native) => eprintln!("Tools work."),
                Some(ToolUse::Constrained) => eprintln!("Tools work by constrained answers."),
                Some(ToolUse::Text) => eprintln!("Tools work by calls in the text."),
                Some(ToolUse::None) => eprintln!(
                    "It answers, but called no tool. Tools are offered to it all the same, natively."
                ),
                None => {}
            }
            if let Some(time) = first_word_ms {
                eprintln!("First word after {time} ms.");
            }
        }
    }
}
