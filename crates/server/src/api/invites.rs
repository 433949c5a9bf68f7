//! Invitations, as an admin hands them out.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;
use tenon_domain::InviteId;
use tenon_store::Invite;

use super::body::Body;
use super::error::ApiError;
use super::id::Id;
use super::users::checked_email;
use super::wire::{CreatedInvite, InviteView, NewInvite};
use crate::app::App;
use crate::auth::CurrentUser;
use crate::auth::caller::Caller;

pub(super) async fn list(State(app): State<App>) -> Result<Json<Vec<InviteView>>, ApiError> {
    let invites = app.store.invites().await?;
    Ok(Json(invites.into_iter().map(view).collect()))
}

pub(super) async fn create(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Body(new): Body<NewInvite>,
) -> Result<(StatusCode, Json<CreatedInvite>), ApiError> {
    // A key that leaks must not leave an admin behind.
    if new.role.is_admin() {
        user.in_person()?;
    }
    let email = new.email.as_deref().map(checked_email).transpose()?;
    let created = app
        .store
        .create_invite(&user.id, email.as_deref(), new.role);
    let (token, invite) = created.await?;
    let detail = json!({"email": invite.email, "role": invite.role});
    let address = caller.address.to_string();
    user.note(&app, &address, "invite.created", invite.id.as_str(), detail)
        .await;
    let created = CreatedInvite {
        token: token.0,
        view: view(invite),
    };
    Ok((StatusCode::CREATED, Json(created)))
}

pub(super) async fn delete(
    State(app): State<App>,
    user: CurrentUser,
    caller: Caller,
    Id(invite): Id<InviteId>,
) -> Result<StatusCode, ApiError> {
    app.store.delete_invite(&invite).await?;
    let address = caller.address.to_string();
    user.note(&app, &address, "invite.deleted", invite.as_str(), json!({}))
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
