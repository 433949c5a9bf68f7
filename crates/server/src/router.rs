//! All routes: Tenon's own API below `/api`, the OpenAI-compatible one below `/v1`, those of MCP
//! clients, and the page.

use axum::Router;
use axum::http::Method;
use axum::middleware::map_response;
use axum::routing::MethodRouter;
use tenon_app::app::App;
use tenon_app::files::MAX_FILE_BYTES;
use tenon_app::sources::Sources;
use tower_http::compression::CompressionLayer;

use crate::api::{
    audit, auth, blobs, calls, chats, context, devices, docs, experts, export, files, folders,
    frame, images, info, instructions, invites, keys, login, me, model_calls, models, oidc,
    prompts, search, settings, share, shell, skills, sources, stats, tools, turns, users,
};
use crate::api_fault::ApiFault;
use crate::authorize::KeyPolicy;
use crate::authorize::OwnedResource::{
    self, Blob, Call, Chat, Expert, File, Folder, ModelCall, Prompt, Session, Skill, Source, Turn,
};
use crate::authorize::RouteAccess::{Admin, Key, Open, Owner, Shell, User};
use crate::error::ApiError;
use crate::guard::GuardedRouter;
use crate::metrics::{self, HttpMetrics};
use crate::resource_metadata::MCP_PATH;
use crate::route::{Route, delete, get, patch, post, put, websocket};
use crate::state::ServerState;
use crate::{mcp_endpoint, mcpo, openai, resource_metadata, socket, ui};

/// A package of some dozen megabytes, in Base64.
const MAX_SKILL_BYTES: usize = 48 * 1024 * 1024;

/// Every route of the API, and for whom it is.
pub fn routes() -> Vec<Route> {
    vec![
        get("/info", User, info::info),
        get("/openapi.json", Open, docs::document),
        get("/docs", Open, docs::page),
        post("/chat/completions", User, openai::complete)
            .body(openai::MAX_BODY_BYTES)
            .stops_with_client(),
        // Accounts.
        get("/auth/state", Open, auth::state),
        post("/auth/setup", Open, auth::set_up),
        post("/auth/login", Open, auth::log_in),
        post("/auth/sign-up", Open, auth::sign_up),
        get("/auth/invites/{token}", Open, auth::invitation),
        get("/auth/oidc/start", Open, oidc::start),
        get("/auth/oidc/callback", Open, oidc::callback).writes(),
        post("/auth/logout", Open, auth::log_out),
        post("/auth/logout-everywhere", User, me::log_out_everywhere).keys(KeyPolicy::None),
        delete("/auth/switched-off", User, me::forget_switched_off).keys(KeyPolicy::None),
        get("/auth/me", User, me::show),
        patch("/auth/me", User, me::change).keys(KeyPolicy::Full),
        get("/auth/sessions", User, me::sessions).keys(KeyPolicy::Full),
        delete("/auth/sessions/{id}", Owner(Session), me::end_session).keys(KeyPolicy::None),
        get("/keys", User, keys::list).keys(KeyPolicy::Full),
        post("/keys", User, keys::create).keys(KeyPolicy::None),
        delete("/keys/{id}", Owner(OwnedResource::Key), keys::delete),
        get("/users", Admin, users::list),
        post("/users", Admin, users::create),
        patch("/users/{id}", Admin, users::change),
        delete("/users/{id}", Admin, users::delete),
        get("/invites", Admin, invites::list),
        post("/invites", Admin, invites::create),
        delete("/invites/{id}", Admin, invites::delete),
        get("/settings", Admin, settings::show),
        patch("/settings", Admin, settings::change),
        get("/audit", Admin, audit::list),
        get("/stats", Admin, stats::show),
        // Chats.
        get("/chats", User, chats::list),
        post("/chats", User, chats::create),
        get("/chats/{id}", Owner(Chat), chats::show),
        patch("/chats/{id}", Owner(Chat), chats::change),
        delete("/chats/{id}", Owner(Chat), chats::delete),
        get("/chats/{id}/messages", Owner(Chat), chats::messages),
        post("/chats/{id}/restore", Owner(Chat), chats::restore),
        get("/chats/{id}/export", Owner(Chat), export::export),
        post("/chats/import", User, export::import),
        get("/search", User, search::search),
        get("/chats/{id}/share", Owner(Chat), share::show),
        post("/chats/{id}/share", Owner(Chat), share::make),
        delete("/chats/{id}/share", Owner(Chat), share::take_back),
        get("/shares", User, share::list),
        get("/shared/{token}", Open, share::read),
        get("/shared/{token}/files/{id}", Open, share::file),
        post("/chats/{id}/turns", Owner(Chat), turns::start),
        post("/chats/{id}/branch", Owner(Chat), turns::choose_branch),
        post("/turns/{id}/cancel", Owner(Turn), turns::cancel),
        get("/turns/{id}/trace", Owner(Turn), turns::trace),
        get("/model-calls/{id}", Owner(ModelCall), model_calls::show),
        get("/calls", User, calls::recent),
        get("/calls/{id}", Owner(Call), calls::show),
        // A key that may only use tools must not decide which it may use.
        post("/calls/{id}/answer", Owner(Call), calls::answer).keys(KeyPolicy::Full),
        post("/calls/{id}/form", Owner(Call), calls::answer_form).keys(KeyPolicy::Full),
        get(
            "/chats/{id}/settings",
            Owner(Chat),
            instructions::show_for_chat,
        ),
        put(
            "/chats/{id}/settings",
            Owner(Chat),
            instructions::set_for_chat,
        )
        .keys(KeyPolicy::Full),
        post("/context", User, context::show).stops_with_client(),
        get("/me/instructions", User, instructions::show),
        put("/me/instructions", User, instructions::set).keys(KeyPolicy::Full),
        get("/folders", User, folders::list),
        post("/folders", User, folders::create),
        patch("/folders/{id}", Owner(Folder), folders::change),
        delete("/folders/{id}", Owner(Folder), folders::delete),
        post("/files", User, files::create).body(MAX_FILE_BYTES),
        get("/files/{id}", Owner(File), files::show),
        delete("/files/{id}", Owner(File), files::delete),
        get("/image", User, images::show),
        get("/preview", Open, frame::preview),
        get("/blobs/{id}", Owner(Blob), blobs::show),
        get("/blobs/{id}/frame", Owner(Blob), blobs::frame),
        websocket("/ws", User, socket::open),
        // Tools and models.
        get("/tools", User, tools::list),
        get("/tools/{id}", User, tools::show),
        patch("/tools", User, tools::change).keys(KeyPolicy::Full),
        post("/tools/{id}/call", User, tools::call).stops_with_client(),
        get("/shell/sources", Shell, shell::sources),
        get("/shell/tools", Shell, shell::tools),
        post("/shell/tools/{id}/call", Shell, shell::call).stops_with_client(),
        get("/shell/mcp", Shell, mcp_endpoint::streamable_http),
        post("/shell/mcp", Shell, mcp_endpoint::streamable_http).stops_with_client(),
        delete("/shell/mcp", Shell, mcp_endpoint::streamable_http),
        get("/models", User, models::list),
        post("/models", Admin, models::create),
        post("/models/discover", Admin, models::discover).stops_with_client(),
        get("/models/{id}", User, models::show),
        patch("/models/{id}", Admin, models::change),
        delete("/models/{id}", Admin, models::delete),
        post("/models/{id}/test", Admin, models::test).stops_with_client(),
        post("/models/{id}/evaluate", Admin, models::evaluate).stops_with_client(),
        get("/endpoints", User, models::endpoints),
        // Experts and prompts.
        get("/experts", User, experts::list),
        post("/experts", User, experts::create).keys(KeyPolicy::Full),
        post("/experts/file", User, experts::import).keys(KeyPolicy::Full),
        get("/experts/{id}", Owner(Expert), experts::show).keys(KeyPolicy::All),
        get("/experts/{id}/file", Owner(Expert), experts::export).keys(KeyPolicy::All),
        patch("/experts/{id}", Owner(Expert), experts::change),
        delete("/experts/{id}", Owner(Expert), experts::delete),
        post("/experts/{id}/copy", Owner(Expert), experts::copy),
        get("/prompts", User, prompts::list),
        post("/prompts", User, prompts::create).keys(KeyPolicy::Full),
        get("/prompts/servers", User, prompts::offered),
        post("/prompts/servers", User, prompts::fill).stops_with_client(),
        patch("/prompts/{id}", Owner(Prompt), prompts::change),
        delete("/prompts/{id}", Owner(Prompt), prompts::delete),
        // Skills, and tools that people write.
        get("/skills", User, skills::list),
        post("/skills", User, skills::install)
            .keys(KeyPolicy::Full)
            .body(MAX_SKILL_BYTES),
        post("/skills/preview", User, skills::preview)
            .keys(KeyPolicy::Full)
            .body(MAX_SKILL_BYTES),
        get("/skills/sandbox", User, skills::sandbox),
        get("/skills/{id}", Owner(Skill), skills::show).keys(KeyPolicy::All),
        patch("/skills/{id}", Owner(Skill), skills::change),
        delete("/skills/{id}", Owner(Skill), skills::delete),
        post("/skills/{id}/version", Owner(Skill), skills::use_version),
        get("/skills/{id}/file", Owner(Skill), skills::file).keys(KeyPolicy::All),
        post("/tools/describe", Admin, skills::describe).stops_with_client(),
        post("/tools/try", Admin, skills::try_code).stops_with_client(),
        post("/tools/create", Admin, skills::create),
        post("/tools/create/stream", Admin, skills::create_streamed),
        // Servers on people's own machines.
        get("/devices", User, devices::list),
        delete("/devices/{id}", User, devices::forget).keys(KeyPolicy::Full),
        post("/devices/behind", User, devices::behind).stops_with_client(),
        get("/devices/endpoints", User, devices::endpoints),
        put("/devices/endpoints", User, devices::set_endpoints).keys(KeyPolicy::Full),
        // Servers.
        get("/sources", User, sources::list),
        post("/sources", User, sources::create)
            .keys(KeyPolicy::Full)
            .body(Sources::MAX_BODY_BYTES),
        post("/sources/preview", User, sources::preview)
            .keys(KeyPolicy::Full)
            .body(Sources::MAX_BODY_BYTES)
            .stops_with_client(),
        post("/sources/import", User, sources::import)
            .keys(KeyPolicy::Full)
            .body(Sources::MAX_BODY_BYTES),
        get("/sources/{id}", Owner(Source), sources::show).keys(KeyPolicy::All),
        post("/sources/{id}/login", Owner(Source), login::start).keys(KeyPolicy::None),
        delete("/sources/{id}/login", Owner(Source), login::end),
        patch("/sources/{id}", Owner(Source), sources::change).body(Sources::MAX_BODY_BYTES),
        delete("/sources/{id}", Owner(Source), sources::delete),
        post("/sources/{id}/restart", Owner(Source), sources::restart),
        post("/sources/{id}/refresh", Owner(Source), sources::refresh),
        get("/sources/{id}/logs", Owner(Source), sources::logs),
        get("/sources/callback", Open, login::callback).writes(),
        get("/sources/client", Open, login::describe),
        get("/secrets", User, sources::secrets).keys(KeyPolicy::Full),
        put("/secrets/{name}", User, sources::set_secret).keys(KeyPolicy::Full),
        delete("/secrets/{name}", User, sources::remove_secret).keys(KeyPolicy::Full),
    ]
}

/// Routes below `/v1` for OpenAI clients.
fn v1_routes() -> Vec<Route> {
    vec![
        get("/models", User, openai::models),
        post("/chat/completions", User, openai::complete)
            .body(openai::MAX_BODY_BYTES)
            .stops_with_client(),
    ]
}

/// The metrics route: for keys of admins, unless the operator opens it.
fn metrics_route(app: &App) -> Route {
    let access = if app.open_metrics { Open } else { Admin };
    get("/metrics", access, metrics::show).keys(KeyPolicy::All)
}

/// `POST /mcp`. The guard has it answered without its handler: of what is said here only its access and its keys count.
fn hub_post() -> Route {
    post(MCP_PATH, Key, mcp_endpoint::streamable_http).stops_with_client()
}

/// Routes for MCP clients.
pub fn mcp_routes() -> Vec<Route> {
    vec![
        get(MCP_PATH, Key, mcp_endpoint::streamable_http),
        hub_post(),
        delete(MCP_PATH, Key, mcp_endpoint::streamable_http),
        get("/mcp/experts/{name}", Key, mcp_endpoint::expert_http),
        post("/mcp/experts/{name}", Key, mcp_endpoint::expert_http).stops_with_client(),
        delete("/mcp/experts/{name}", Key, mcp_endpoint::expert_http),
        get("/sse", Key, mcp_endpoint::sse),
        post(mcp_endpoint::MESSAGES_PATH, Key, mcp_endpoint::messages),
    ]
}

/// Routes below `/mcpo` for clients made for mcpo.
fn mcpo_routes() -> Vec<Route> {
    vec![
        get("/openapi.json", User, mcpo::hub::main_document),
        get("/docs", User, mcpo::hub::docs),
        get("/{source}/openapi.json", User, mcpo::hub::source_document),
        get("/{source}/docs", User, mcpo::hub::source_docs),
        post("/{source}/{tool}", User, mcpo::hub::call).stops_with_client(),
    ]
}

/// All of them and the page, behind the guard.
pub(crate) fn router(app: App, metrics: HttpMetrics) -> GuardedRouter {
    let describe_resource = || axum::routing::get(resource_metadata::describe);
    let compressed = |handler: MethodRouter<ServerState>| handler.layer(CompressionLayer::new());
    let v1 = v1_routes().into_iter();
    let v1 = v1
        .fold(Router::new(), |router, route| {
            router.route(route.path, route.into_handler())
        })
        .fallback(no_such_route)
        .method_not_allowed_fallback(no_such_method)
        .layer(map_response(openai::as_openai_error))
        .layer(CompressionLayer::new());
    let mcpo = mcpo_routes().into_iter();
    let mcpo = mcpo
        .fold(Router::new(), |router, route| {
            router.route(route.path, route.into_handler())
        })
        .fallback(no_such_route)
        .method_not_allowed_fallback(no_such_method)
        .layer(map_response(mcpo::hub::as_mcpo_error))
        .layer(CompressionLayer::new());
    // Full paths instead of nested routers, because nesting wraps each route in two more layers.
    let router = routes()
        .into_iter()
        .fold(Router::new(), |router, route| {
            let path = format!("/api{}", route.path);
            // Only GET responses are compressed: lists and files are long, other responses are not.
            if route.method == Method::GET {
                router.route(&path, compressed(route.into_handler()))
            } else {
                router.route(&path, route.into_handler())
            }
        })
        .merge(
            mcp_routes()
                .into_iter()
                .fold(Router::new(), |router, route| {
                    router.route(route.path, route.into_handler())
                }),
        )
        .route(resource_metadata::PATH, describe_resource())
        .route(
            &format!("{}{MCP_PATH}", resource_metadata::PATH),
            describe_resource(),
        )
        .nest("/api", Router::new().fallback(no_such_route))
        .nest("/v1", v1)
        .nest("/mcpo", mcpo)
        .route("/health", axum::routing::get(info::health))
        .route("/ready", axum::routing::get(info::ready))
        .route("/metrics", metrics_route(&app).into_handler())
        .route("/", compressed(axum::routing::get(ui::index)))
        .fallback(compressed(axum::routing::get(ui::asset)))
        .method_not_allowed_fallback(no_such_method);
    GuardedRouter::new(router, ServerState::new(app, metrics), hub_post().rule())
}

async fn no_such_route() -> ApiError {
    ApiError::not_found(ApiFault::NoRoute)
}

async fn no_such_method() -> ApiError {
    ApiError::new(
        axum::http::StatusCode::METHOD_NOT_ALLOWED,
        ApiFault::WrongMethod,
    )
}
