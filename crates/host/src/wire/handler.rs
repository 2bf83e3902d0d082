//! Every method of both protocol eras, for one counter. The protocol crate
//! decides which era a request belongs to and calls these.

use std::{borrow::Cow, collections::BTreeMap, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use kit::{
    Context, Error,
    context::Language,
    page,
    prompt::{Rendered, Role},
    resource::{Body, Question, Reference},
};
#[expect(deprecated, reason = "clients of the handshake era still use these")]
use rmcp::model::{SetLevelRequestParams, SubscribeRequestParams, UnsubscribeRequestParams};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{self as mcp, ResultType},
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};

use super::{
    client::{RemoteClient, is_stateless},
    definitions::{LIST_TTL_MS, PAGE},
    mistyped,
    outbound::{self, Destination, Fault, quoted},
    seal,
    subscriptions::{self, Connection},
};
use crate::{
    desk::{Desk, Window},
    pipeline::{Admitted, ToolCall},
    transport::language,
};

/// How long reading a resource, rendering a prompt or completing may take.
const READ_LIMIT: Duration = Duration::from_secs(30);

/// Serves one connection, session or stateless request. Cheap to make.
#[derive(Clone)]
pub struct Handler {
    desk: Arc<Desk>,
    window: Arc<Window>,
    connection: Arc<Connection>,
    revisions: &'static [mcp::ProtocolVersion],
    /// Whether tools are listed under their document's names.
    own_names: bool,
}

/// The oldest revision went over HTTP in another way, which is not spoken here.
const OVER_HTTP: [mcp::ProtocolVersion; 4] = [
    mcp::ProtocolVersion::V_2025_03_26,
    mcp::ProtocolVersion::V_2025_06_18,
    mcp::ProtocolVersion::V_2025_11_25,
    mcp::ProtocolVersion::V_2026_07_28,
];

impl Handler {
    /// For a connection that carries one message after another.
    pub fn new(desk: Arc<Desk>, window: Arc<Window>) -> Self {
        Self {
            desk,
            window,
            connection: Arc::default(),
            revisions: mcp::ProtocolVersion::KNOWN_VERSIONS,
            own_names: false,
        }
    }

    /// For a connection to the port of the counter's document.
    pub fn with_own_names(self, own_names: bool) -> Self {
        Self { own_names, ..self }
    }

    pub fn over_http(desk: Arc<Desk>, window: Arc<Window>) -> Self {
        Self {
            revisions: &OVER_HTTP,
            ..Self::new(desk, window)
        }
    }

    fn context(&self, request: &RequestContext<RoleServer>) -> Result<Context, ErrorData> {
        let client = RemoteClient::new(request, &self.connection.log_level, BTreeMap::new(), None);
        let mut context = Context::new(
            admitted(request)?.who.caller,
            self.desk.clock.clone(),
            Arc::new(client),
        );
        context.cancel = request.ct.clone();
        context.language = language_of(request).unwrap_or(Language::English);
        context.zone = self.window.counter.time_zone.clone();
        Ok(context)
    }

    /// `serverInfo` goes on every result of the stateless era.
    fn stamp(&self, request: &RequestContext<RoleServer>) -> Option<mcp::MetaObject> {
        is_stateless(request).then(|| self.window.definitions.server_info_meta.clone())
    }

    /// Runs what a counter does outside the pipeline: in time, cancellable, and
    /// answered even if it panics.
    async fn guarded<T>(
        &self,
        context: &Context,
        what: &str,
        work: impl Future<Output = kit::Result<T>>,
    ) -> Result<T, ErrorData> {
        let work = AssertUnwindSafe(work).catch_unwind();
        let result = tokio::select! {
            result = work => result.unwrap_or_else(|_| Err(Error::internal("it panicked"))),
            () = tokio::time::sleep(READ_LIMIT) => Err(Error::timeout()),
            () = context.cancel.cancelled() => Err(Error::cancelled()),
        };
        result.map_err(|error| {
            let call = context.call;
            if error.is_internal() {
                let counter = self.window.counter.about.name;
                tracing::error!(%call, counter, what, cause = ?error.cause, "request failed");
                return ErrorData::internal_error(
                    format!("Something went wrong on our side (reference {call})."),
                    None,
                );
            }
            ErrorData::invalid_params(error.text(), Some(error.structured()))
        })
    }
}

/// Transports admit a request before the protocol crate sees it.
fn admitted(request: &RequestContext<RoleServer>) -> Result<Admitted, ErrorData> {
    let over_http = request
        .extensions
        .get::<http::request::Parts>()
        .and_then(|parts| parts.extensions.get::<Admitted>());
    request
        .extensions
        .get::<Admitted>()
        .or(over_http)
        .cloned()
        .ok_or_else(|| ErrorData::internal_error("This request was not admitted.", None))
}

fn language_of(request: &RequestContext<RoleServer>) -> Option<Language> {
    let over_http = request.extensions.get::<http::request::Parts>();
    match (request.extensions.get::<Language>(), over_http) {
        (Some(language), _) => Some(*language),
        (None, Some(parts)) => language::of_headers(&parts.headers),
        (None, None) => None,
    }
}

fn unknown_cursor(error: Error) -> ErrorData {
    ErrorData::invalid_params(error.text(), None)
}

fn cursor(request: Option<&mcp::PaginatedRequestParams>) -> Option<&str> {
    request.and_then(|request| request.cursor.as_deref())
}

impl ServerHandler for Handler {
    fn get_info(&self) -> mcp::ServerConfig {
        self.window.definitions.info.clone()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [mcp::ProtocolVersion]> {
        Cow::Borrowed(self.revisions)
    }

    fn get_tool(&self, name: &str) -> Option<mcp::Tool> {
        self.window.definitions.tool(name).cloned()
    }

    async fn initialize(
        &self,
        request: mcp::InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        self.connection.admit(&admitted(&context)?.who);
        // What was agreed on, not what was asked for, decides the era from now on.
        let mut agreed = request;
        agreed.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(agreed);
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.connection.forward(&self.window, &context.peer);
    }

    async fn discover(
        &self,
        _: RequestContext<RoleServer>,
    ) -> Result<mcp::DiscoverResult, ErrorData> {
        let mut result = mcp::DiscoverResult::from_server_info(
            self.supported_protocol_versions().into_owned(),
            self.get_info(),
        );
        result.ttl_ms = LIST_TTL_MS;
        result.cache_scope = mcp::CacheScope::Public;
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<mcp::PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::ListToolsResult, ErrorData> {
        let definitions = &self.window.definitions;
        let tools = if self.own_names {
            &definitions.own_tools
        } else {
            &definitions.mcp_tools
        };
        let page = page::slice(tools, cursor(request.as_ref()), PAGE).map_err(unknown_cursor)?;
        Ok(mcp::ListToolsResult {
            result_type: Some(ResultType::COMPLETE),
            meta: self.stamp(&context),
            next_cursor: page.next_cursor,
            ttl_ms: Some(LIST_TTL_MS),
            cache_scope: Some(mcp::CacheScope::Public),
            tools: page.items,
        })
    }

    async fn call_tool(
        &self,
        request: mcp::CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::CallToolResponse, ErrorData> {
        let admitted = admitted(&context)?;
        let caller = Arc::clone(&admitted.who.caller.id);
        let about = format!("{}/{}", self.window.counter.about.name, request.name);
        let state = open_state(request.request_state.as_deref(), &caller, &about)?;
        let client = RemoteClient::new(
            &context,
            &self.connection.log_level,
            request.input_responses.unwrap_or_default(),
            state,
        );
        let call = ToolCall {
            admitted,
            name: request.name.clone().into_owned(),
            arguments: request.arguments.unwrap_or_default(),
            client: Arc::new(client),
            cancel: context.ct.clone(),
            language: language_of(&context),
        };
        let answer = self
            .desk
            .call(&self.window, call)
            .await
            .map_err(|refusal| Fault::from(&refusal))?;
        outbound::response(
            answer,
            &Destination {
                window: &self.window,
                caller: &caller,
                tool: &request.name,
                stateless: is_stateless(&context),
            },
        )
    }

    async fn list_prompts(
        &self,
        request: Option<mcp::PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::ListPromptsResult, ErrorData> {
        let prompts = &self.window.definitions.prompts;
        let page = page::slice(prompts, cursor(request.as_ref()), PAGE).map_err(unknown_cursor)?;
        Ok(mcp::ListPromptsResult {
            result_type: Some(ResultType::COMPLETE),
            meta: self.stamp(&context),
            next_cursor: page.next_cursor,
            ttl_ms: Some(LIST_TTL_MS),
            cache_scope: Some(mcp::CacheScope::Public),
            prompts: page.items,
        })
    }

    async fn get_prompt(
        &self,
        request: mcp::GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::GetPromptResponse, ErrorData> {
        let Some(prompt) = self
            .window
            .counter
            .prompts
            .iter()
            .find(|prompt| prompt.name == request.name)
        else {
            return Err(ErrorData::invalid_params(
                format!(
                    "Unknown prompt: {}. prompts/list names those there are.",
                    quoted(&request.name)
                ),
                None,
            ));
        };
        let arguments = request.arguments.unwrap_or_default();
        for argument in &prompt.arguments {
            if argument.required && !arguments.contains_key(argument.name) {
                return Err(ErrorData::invalid_params(
                    format!("The argument `{}` is missing.", argument.name),
                    None,
                ));
            }
        }
        let mut inside = self.context(&context)?;
        let caller = Arc::clone(&inside.caller.id);
        let about = format!("{}/{}", self.window.counter.about.name, prompt.name);
        inside.client = Arc::new(RemoteClient::new(
            &context,
            &self.connection.log_level,
            request.input_responses.unwrap_or_default(),
            open_state(request.request_state.as_deref(), &caller, &about)?,
        ));
        let work = (prompt.render)(inside.clone(), arguments);
        match self.guarded(&inside, prompt.name, work).await? {
            Rendered::Messages(messages) => {
                let messages: Vec<Value> = messages
                    .into_iter()
                    .map(|message| {
                        let role = match message.role {
                            Role::User => "user",
                            Role::Assistant => "assistant",
                        };
                        json!({ "role": role, "content": message.content })
                    })
                    .collect();
                let messages = serde_json::from_value(Value::Array(messages))
                    .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                let mut result = mcp::GetPromptResult::new(messages);
                result.description = Some(prompt.description.to_owned());
                result.meta = self.stamp(&context);
                Ok(result.into())
            }
            Rendered::InputRequired { requests, state } => {
                let to = Destination {
                    window: &self.window,
                    caller: &caller,
                    tool: prompt.name,
                    stateless: true,
                };
                Ok(outbound::input_required(requests, state, &to)?
                    .with_meta(self.window.definitions.server_info_meta.clone())
                    .into())
            }
        }
    }

    async fn list_resources(
        &self,
        request: Option<mcp::PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::ListResourcesResult, ErrorData> {
        let mut result = mcp::ListResourcesResult {
            meta: self.stamp(&context),
            ttl_ms: Some(LIST_TTL_MS),
            cache_scope: Some(mcp::CacheScope::Private),
            ..Default::default()
        };
        if let Some(resources) = &self.window.counter.resources {
            let inside = self.context(&context)?;
            let cursor = cursor(request.as_ref());
            let work = resources.list(&inside, cursor);
            let page = self.guarded(&inside, "resources/list", work).await?;
            result.next_cursor = page.next_cursor;
            result.ttl_ms = Some(resources.ttl_ms());
            result.resources = page
                .items
                .into_iter()
                .map(|item| {
                    let mut resource =
                        mcp::Resource::new(item.uri, item.name).with_mime_type(item.mime_type);
                    resource.title = item.title;
                    resource.description = item.description;
                    resource
                })
                .collect();
        }
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<mcp::PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::ListResourceTemplatesResult, ErrorData> {
        let templates = &self.window.definitions.templates;
        let page =
            page::slice(templates, cursor(request.as_ref()), PAGE).map_err(unknown_cursor)?;
        Ok(mcp::ListResourceTemplatesResult {
            result_type: Some(ResultType::COMPLETE),
            meta: self.stamp(&context),
            next_cursor: page.next_cursor,
            ttl_ms: Some(LIST_TTL_MS),
            cache_scope: Some(mcp::CacheScope::Public),
            resource_templates: page.items,
        })
    }

    async fn read_resource(
        &self,
        request: mcp::ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let not_found = || {
            let uri = quoted(&uri);
            ErrorData::resource_not_found(
                format!("There is no resource {uri}. resources/list names those there are."),
                Some(json!({ "uri": uri })),
            )
        };
        let Some(resources) = &self.window.counter.resources else {
            return Err(not_found());
        };
        let inside = self.context(&context)?;
        let work = resources.read(&inside, &uri);
        let contents = self
            .guarded(&inside, "resources/read", work)
            .await?
            .ok_or_else(not_found)?;
        let body = match contents.body {
            Body::Text(text) => mcp::ResourceContents::text(text, &uri),
            Body::Blob(blob) => mcp::ResourceContents::blob(blob, &uri),
        };
        let mut result =
            mcp::ReadResourceResult::new(vec![body.with_mime_type(contents.mime_type)]);
        result.ttl_ms = Some(resources.ttl_ms());
        result.cache_scope = Some(mcp::CacheScope::Private);
        result.meta = self.stamp(&context);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: mcp::CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::CompleteResult, ErrorData> {
        let mut result = mcp::CompleteResult::default();
        result.meta = self.stamp(&context);
        if let Some(resources) = &self.window.counter.resources {
            let inside = self.context(&context)?;
            let question = Question {
                about: match request.r#ref {
                    mcp::Reference::Prompt(prompt) => Reference::Prompt(prompt.name),
                    mcp::Reference::Resource(template) => Reference::Template(template.uri),
                    _ => return Ok(result),
                },
                argument: request.argument.name,
                typed: request.argument.value,
                settled: request
                    .context
                    .and_then(|context| context.arguments)
                    .into_iter()
                    .flatten()
                    .collect(),
            };
            let work = resources.complete(&inside, &question);
            let mut values = self.guarded(&inside, "completion/complete", work).await?;
            let total = values.len();
            values.truncate(mcp::CompletionInfo::MAX_VALUES);
            result.completion.has_more = Some(total > values.len());
            result.completion.total = u32::try_from(total).ok();
            result.completion.values = values;
        }
        Ok(result)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &mcp::SubscriptionFilter,
    ) -> Option<mcp::SubscriptionFilter> {
        self.connection.begin(&self.window);
        // The protocol crate cuts this down to what the counter advertises.
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let events = self.connection.begun(&self.window);
        subscriptions::check(context.requested())?;
        let revoked = admitted(context.request_context())?.who.revoked();
        subscriptions::listen(&self.desk, events, &context, &revoked).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.connection.watch(request.uri)?;
        self.connection.admit(&admitted(&context)?.who);
        self.connection.forward(&self.window, &context.peer);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.connection.unwatch(&request.uri);
        Ok(())
    }

    /// What the protocol crate could not make a method's request of.
    async fn on_custom_request(
        &self,
        request: mcp::CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::CustomResult, ErrorData> {
        Err(mistyped::explain(&request, is_stateless(&context)))
    }

    #[expect(deprecated, reason = "clients of the handshake era still use it")]
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_stateless(&context) {
            return Err(ErrorData::method_not_found::<mcp::SetLevelRequestMethod>());
        }
        self.connection.log_level.set(request.level);
        Ok(())
    }
}

fn open_state(
    sealed: Option<&str>,
    caller: &str,
    about: &str,
) -> Result<Option<String>, ErrorData> {
    sealed
        .map(|sealed| {
            seal::open(sealed, caller, about).ok_or_else(|| {
                ErrorData::invalid_params(
                    "The requestState was changed, is too old, or belongs to another call. Start the call again.",
                    None,
                )
            })
        })
        .transpose()
}
