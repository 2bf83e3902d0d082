//! Every method of both protocol eras, for one counter. The protocol crate
//! decides which era a request belongs to and calls these.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use kit::{
    Context, Error,
    context::Language,
    page::{self, Page},
    prompt::{Rendered, Role},
    resource::{Body, Question, Reference, Resource, Resources, Shows},
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
    outbound::{self, Fault},
    seal,
    subscriptions::{self, Connection},
    tool_result::{self, Recipient},
};
use crate::wire::{definitions::PublishedCounter, language};
use desk::{
    Desk,
    methods::{self, Method},
    pipeline::{Admitted, ReadRequest, ToolCall},
    stations::{
        authorize::{self, Target},
        identify::Identified,
    },
};

/// Pages of `resources/list` that end with a resource the caller may not see are
/// passed over, this many at most.
const MOST_HIDDEN_PAGES: usize = 40;

/// Serves one connection, session or stateless request. Cheap to make.
#[derive(Clone)]
pub struct Handler {
    desk: Arc<Desk>,
    window: Arc<PublishedCounter>,
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
    pub fn new(desk: Arc<Desk>, window: Arc<PublishedCounter>) -> Self {
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

    pub fn over_http(desk: Arc<Desk>, window: Arc<PublishedCounter>) -> Self {
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

    fn reader(&self, request: &RequestContext<RoleServer>) -> Result<Reader<'_>, ErrorData> {
        Ok(Reader {
            desk: &self.desk,
            window: &self.window,
            who: admitted(request)?.who,
            context: self.context(request)?,
        })
    }
}

/// Whoever asks to see data without a tool call.
struct Reader<'a> {
    desk: &'a Desk,
    window: &'a PublishedCounter,
    who: Identified,
    context: Context,
}

impl Reader<'_> {
    /// The next resources that the caller may see. A cursor can name the last
    /// resource of its page, so pages that end with a hidden one are passed over.
    async fn resources(
        &self,
        resources: &dyn Resources,
        cursor: Option<&str>,
    ) -> kit::Result<Page<Resource>> {
        let may_see = |item: &Resource| authorize::may_list(self.window, &self.who, &item.uri);
        let mut next_cursor = cursor.map(str::to_owned);
        let mut items = Vec::new();
        for _ in 0..MOST_HIDDEN_PAGES {
            let page = resources
                .list(&self.context, next_cursor.as_deref())
                .await?;
            let ends_visibly = page.items.last().is_none_or(may_see);
            items.extend(page.items.into_iter().filter(|item| may_see(item)));
            next_cursor = page.next_cursor;
            if ends_visibly || next_cursor.is_none() {
                return Ok(Page { items, next_cursor });
            }
        }
        Ok(Page {
            items,
            next_cursor: None,
        })
    }

    /// Values for an argument: those that the prompt names itself, else what the
    /// counter finds.
    async fn values(&self, question: &Question) -> kit::Result<Vec<String>> {
        let counter = &self.window.counter;
        if let Reference::Prompt(name) = &question.about {
            let prompt = counter.prompts.iter().find(|prompt| prompt.name == name);
            let (argument, typed) = (&question.argument, &question.typed);
            if let Some(values) = prompt.and_then(|it| it.fixed_values(argument, typed)) {
                return Ok(values);
            }
        }
        match &counter.resources {
            Some(resources) => resources.complete(&self.context, question).await,
            None => Ok(Vec::new()),
        }
    }

    /// The stations of the desk come before `work` begins.
    async fn read<T>(
        &self,
        method: Method,
        target: Target<'_>,
        work: impl Future<Output = kit::Result<T>>,
    ) -> Result<T, ErrorData> {
        let read = ReadRequest {
            who: &self.who,
            method,
            target,
            context: &self.context,
        };
        let result = self.desk.read(self.window, &read, work).await;
        result.map_err(|error| outbound::read_refused(error, self.context.call, &read.target))
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
        tool_result::mcp_response(
            answer,
            &Recipient {
                counter: &self.window,
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
        let reader = self.reader(&context)?;
        let may_see =
            |prompt: &&mcp::Prompt| authorize::may_prompt(&self.window, &reader.who, &prompt.name);
        let work = async {
            let prompts = self.window.definitions.prompts.iter();
            let seen: Vec<_> = prompts.filter(may_see).cloned().collect();
            page::slice(&seen, cursor(request.as_ref()), PAGE)
        };
        let page = reader
            .read(methods::PROMPTS_LIST, Target::List, work)
            .await?;
        Ok(mcp::ListPromptsResult {
            result_type: Some(ResultType::COMPLETE),
            meta: self.stamp(&context),
            next_cursor: page.next_cursor,
            ttl_ms: Some(LIST_TTL_MS),
            cache_scope: Some(mcp::CacheScope::Private),
            prompts: page.items,
        })
    }

    async fn get_prompt(
        &self,
        request: mcp::GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let mut reader = self.reader(&context)?;
        let caller = Arc::clone(&reader.who.caller.id);
        let about = format!("{}/{}", self.window.counter.about.name, request.name);
        reader.context.client = Arc::new(RemoteClient::new(
            &context,
            &self.connection.log_level,
            request.input_responses.unwrap_or_default(),
            open_state(request.request_state.as_deref(), &caller, &about)?,
        ));
        let mut prompts = self.window.counter.prompts.iter();
        let prompt = prompts.find(|prompt| prompt.name == request.name);
        let work = async {
            // An unknown prompt was refused before the work began.
            let prompt = prompt.ok_or_else(|| Error::internal("the prompt is gone"))?;
            prompt.check_arguments(&arguments)?;
            let rendered = (prompt.render)(reader.context.clone(), arguments).await?;
            Ok((prompt, rendered))
        };
        let target = Target::Prompt(&request.name);
        let (prompt, rendered) = reader.read(methods::PROMPTS_GET, target, work).await?;
        match rendered {
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
                let to = Recipient {
                    counter: &self.window,
                    caller: &caller,
                    tool: prompt.name,
                    stateless: true,
                };
                Ok(tool_result::input_required(requests, state, &to)?
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
            let reader = self.reader(&context)?;
            let work = reader.resources(&**resources, cursor(request.as_ref()));
            let page = reader
                .read(methods::RESOURCES_LIST, Target::List, work)
                .await?;
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
        let reader = self.reader(&context)?;
        let may_see = |shows: &Shows| authorize::may_see(&self.window, &reader.who, shows.listed);
        let work = async {
            let templates = self.window.definitions.templates.iter();
            let seen = templates.filter(|(shows, _)| may_see(shows));
            let seen: Vec<_> = seen.map(|(_, template)| template.clone()).collect();
            page::slice(&seen, cursor(request.as_ref()), PAGE)
        };
        let page = reader
            .read(methods::TEMPLATES_LIST, Target::List, work)
            .await?;
        Ok(mcp::ListResourceTemplatesResult {
            result_type: Some(ResultType::COMPLETE),
            meta: self.stamp(&context),
            next_cursor: page.next_cursor,
            ttl_ms: Some(LIST_TTL_MS),
            cache_scope: Some(mcp::CacheScope::Private),
            resource_templates: page.items,
        })
    }

    async fn read_resource(
        &self,
        request: mcp::ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::ReadResourceResponse, ErrorData> {
        let reader = self.reader(&context)?;
        let uris = [request.uri];
        let [uri] = &uris;
        let resources = self.window.counter.resources.as_ref();
        let work = async {
            let resources = resources.ok_or_else(authorize::resource_not_found)?;
            let contents = resources.read(&reader.context, uri).await?;
            let contents = contents.ok_or_else(authorize::resource_not_found)?;
            Ok((contents, resources.ttl_ms()))
        };
        let target = Target::Resources(&uris);
        let (contents, ttl_ms) = reader.read(methods::RESOURCES_READ, target, work).await?;
        let body = match contents.body {
            Body::Text(text) => mcp::ResourceContents::text(text, uri),
            Body::Blob(blob) => mcp::ResourceContents::blob(blob, uri),
        };
        let mut result =
            mcp::ReadResourceResult::new(vec![body.with_mime_type(contents.mime_type)]);
        result.ttl_ms = Some(ttl_ms);
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
        let reader = self.reader(&context)?;
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
        let work = reader.values(&question);
        let target = Target::Completion(&question.about);
        let mut values = match reader.read(methods::COMPLETE, target, work).await {
            Ok(values) => values,
            // Clients try what they know of other servers: there are no values.
            Err(error) if outbound::is_unknown_reference(&error) => Vec::new(),
            Err(error) => return Err(error),
        };
        let total = values.len();
        values.truncate(mcp::CompletionInfo::MAX_VALUES);
        result.completion.has_more = Some(total > values.len());
        result.completion.total = u32::try_from(total).ok();
        result.completion.values = values;
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
        let who = admitted(context.request_context())?.who;
        subscriptions::listen(&self.desk, &self.window, events, &context, &who).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let uris = [request.uri];
        let work = async { self.connection.watch(&uris) };
        let target = Target::Resources(&uris);
        self.reader(&context)?
            .read(methods::RESOURCES_SUBSCRIBE, target, work)
            .await?;
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
        let stateless = is_stateless(&context);
        Err(mistyped::explain(&request, stateless, &self.window))
    }

    #[expect(deprecated, reason = "clients of the handshake era still use it")]
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_stateless(&context) {
            let mut error = ErrorData::method_not_found::<mcp::SetLevelRequestMethod>();
            outbound::explain(&mut error, &self.window);
            return Err(error);
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
