//! `/api/invites`: invitations, for admins.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use tenon_domain::InviteId;
use tenon_store::Invite;

use crate::error::ApiError;
use crate::request::HttpCaller;
use crate::request::Id;
use crate::request::JsonBody;
use crate::wire::{CreatedInvite, InviteView, NewInvite};
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_app::profile::checked_email;

pub(crate) async fn list(State(app): State<App>) -> Result<Json<Vec<InviteView>>, ApiError> {
    let invites = app.store.invites().await?;
    Ok(Json(invites.into_iter().map(view).collect()))
}

pub(crate) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    JsonBody(new): JsonBody<NewInvite>,
) -> Result<(StatusCode, Json<CreatedInvite>), ApiError> {
    // A key that leaks must not leave an admin behind.
    if new.role.is_admin() {
        user.require_person()?;
    }
    let email = new.email.as_deref().map(checked_email).transpose()?;
    let created = app
        .store
        .create_invite(&user.id, email.as_deref(), new.role);
    let (token, invite) = created.await?;
    let detail = json!({"email": invite.email, "role": invite.role});
    let address = caller.address.to_string();
    user.note(
        &app.store,
        &address,
        "invite.created",
        invite.id.as_str(),
        detail,
    )
    .await;
    let created = CreatedInvite {
        token: token.0,
        view: view(invite),
    };
    Ok((StatusCode::CREATED, Json(created)))
}

pub(crate) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    caller: HttpCaller,
    Id(invite): Id<InviteId>,
) -> Result<StatusCode, ApiError> {
    app.store.delete_invite(&invite).await?;
    let address = caller.address.to_string();
    user.note(
        &app.store,
        &address,
        "invite.deleted",
        invite.as_str(),
        json!({}),
    )
    .await;
    Ok(StatusCode::NO_CONTENT)
}

fn view(invite: Invite) -> InviteView {
    InviteView {
        id: invite.id,
        email: invite.email,
        role: invite.role,
        created_at: invite.created_at,
        expires_at: invite.expires_at,
    }
}
