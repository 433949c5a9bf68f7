//! Chooses the expert of a request, by name or from its chat, and the model that goes with it.

use tenon_agent::{TurnModel, TurnProfile};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::experts::{Expert, MODEL_PREFIX};
use tenon_domain::{ChatId, ModelId};
use tenon_llm::GenerationOptions;

use crate::error::ApiError;

/// The expert that a model's name stands for: `expert/NAME`.
pub(crate) async fn expert_by_model_name(
    app: &App,
    user: &CurrentUser,
    model: Option<&str>,
) -> Result<Option<Expert>, ApiError> {
    let Some(name) = model.and_then(|model| model.strip_prefix(MODEL_PREFIX)) else {
        return Ok(None);
    };
    let found = app.experts.named(&user.id, name).await;
    let found = found.map_err(|error| ApiError::from(error).in_field("model"))?;
    Ok(Some(found))
}

/// The model that was asked for, else that of the chat's expert, else the default one; and what the
/// chat adds to its turns.
pub(crate) async fn choose_for_chat(
    app: &App,
    user: &CurrentUser,
    chat: &ChatId,
    asked: Option<&ModelId>,
) -> Result<(TurnModel, TurnProfile), ApiError> {
    let (expert, profile) = app.instructions.of_chat(&user.id, chat).await?;
    let of_expert = expert.as_ref().and_then(Expert::model);
    let model = choose_model(app, user, asked.or(of_expert), &profile).await?;
    Ok((model, profile))
}

/// The model, else the default one. Refuses one that does not take what the profile asks of it.
pub(crate) async fn choose_model(
    app: &App,
    user: &CurrentUser,
    asked: Option<&ModelId>,
    profile: &TurnProfile,
) -> Result<TurnModel, ApiError> {
    let model = app.models.choose_for(user, asked).await?;
    check_options(&model, &profile.options, true)?;
    Ok(model)
}

pub(crate) fn check_options(
    model: &TurnModel,
    options: &GenerationOptions,
    has_tools: bool,
) -> Result<(), ApiError> {
    match model.provider.unsupported_option(options, has_tools) {
        Some(fault) => {
            let option = fault.option().to_owned();
            Err(ApiError::bad_request(fault).in_field(&option))
        }
        None => Ok(()),
    }
}
