//! `/api/model-calls`: what was sent to models.

use axum::Json;
use axum::extract::State;
use tenon_domain::ModelCallId;

use crate::error::ApiError;
use crate::request::Id;
use crate::wire::ModelRequestView;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::traces;

pub(crate) async fn show(
    State(app): State<App>,
    user: CurrentUser,
    Id(id): Id<ModelCallId>,
) -> Result<Json<ModelRequestView>, ApiError> {
    let request = traces::model_request(&app.store, &user.id, &id).await?;
    Ok(Json(request))
}
