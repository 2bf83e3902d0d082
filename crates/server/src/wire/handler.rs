//! Every method of both protocol eras, for one counter. The protocol crate
//! decides which era a request belongs to and calls these.

mod data_reader;
mod prompts;
mod resources;

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use desk::{Desk, methods, pipeline::ToolCall, stations::authorize::ReadTarget, views};
use kit::{Error, page};
#[expect(deprecated, reason = "clients of the handshake era still use these")]
use rmcp::model::{SetLevelRequestParams, SubscribeRequestParams, UnsubscribeRequestParams};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{self as mcp, ResultType},
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::Value;

use self::data_reader::{DataReader, admitted, cursor, language_of};
use super::{
    apps,
    client::{RemoteClient, is_stateless},
    definitions::{LIST_TTL_MS, PAGE, PublishedCounter},
    errors::{self, Fault},
    mistyped, seal,
    subscriptions::{self, Connection},
    tool_result::{self, Recipient},
};

/// Serves one connection, session or stateless request. Cheap to make.
#[derive(Clone)]
pub struct Handler {
    desk: Arc<Desk>,
    published: Arc<PublishedCounter>,
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
    pub fn new(desk: Arc<Desk>, published: Arc<PublishedCounter>) -> Self {
        Self {
            desk,
            published,
            connection: Arc::default(),
            revisions: mcp::ProtocolVersion::KNOWN_VERSIONS,
            own_names: false,
        }
    }

    /// For a connection to the port of the counter's document.
    pub fn with_own_names(self, own_names: bool) -> Self {
        Self { own_names, ..self }
    }

    pub fn over_http(desk: Arc<Desk>, published: Arc<PublishedCounter>) -> Self {
        Self {
            revisions: &OVER_HTTP,
            ..Self::new(desk, published)
        }
    }

    fn reader(&self, request: &RequestContext<RoleServer>) -> Result<DataReader<'_>, ErrorData> {
        let log_level = &self.connection.log_level;
        DataReader::new(&self.desk, &self.published, log_level, request)
    }

    fn has_views(&self) -> bool {
        !views::all(&self.published).is_empty()
    }

    /// Views are all that some counters let clients read. Clients that show none get the
    /// answer of a counter without resources.
    fn check_offered<M: mcp::ConstString>(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let counter = &self.published.counter;
        if methods::offers(counter, M::VALUE) || apps::are_shown_by(context.client_capabilities()) {
            return Ok(());
        }
        let mut error = ErrorData::method_not_found::<M>();
        errors::explain(&mut error, &self.published);
        Err(error)
    }

    /// The client, with what it sent for the round of a call or prompt before.
    fn client(
        &self,
        context: &RequestContext<RoleServer>,
        inputs: BTreeMap<String, Value>,
        sealed: Option<&str>,
        name: &str,
    ) -> Result<RemoteClient, ErrorData> {
        let caller = admitted(context)?.who.caller.id;
        let about = format!("{}/{name}", self.published.counter.about.name);
        let state = open_state(sealed, &caller, &about)?;
        let log_level = &self.connection.log_level;
        Ok(RemoteClient::new(context, log_level, inputs, state))
    }
}

fn unknown_cursor(error: Error) -> ErrorData {
    ErrorData::invalid_params(error.text(), None)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> mcp::ServerConfig {
        let info = self.published.definitions.info.clone();
        let today = self.desk.clock.now_in(&self.published.counter.time_zone);
        info.with_instructions(self.published.instructions(&today, self.own_names))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [mcp::ProtocolVersion]> {
        Cow::Borrowed(self.revisions)
    }

    fn get_tool(&self, name: &str) -> Option<mcp::Tool> {
        self.published.definitions.tool(name).cloned()
    }

    async fn initialize(
        &self,
        request: mcp::InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::InitializeResult, ErrorData> {
        let mut result = self.negotiate_initialize(&request)?;
        if self.has_views() && apps::are_shown_by(Some(request.capabilities.clone())) {
            apps::declare(&mut result.capabilities);
        }
        self.connection.admit(&admitted(&context)?.who);
        // What was agreed on, not what was asked for, decides the era from now on.
        let mut agreed = request;
        agreed.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(agreed);
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.connection.forward(&self.published, &context.peer);
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::DiscoverResult, ErrorData> {
        let mut result = mcp::DiscoverResult::from_server_info(
            self.supported_protocol_versions().into_owned(),
            self.get_info(),
        );
        result.ttl_ms = LIST_TTL_MS;
        result.cache_scope = mcp::CacheScope::Public;
        if self.has_views() && apps::are_shown_by(context.client_capabilities()) {
            apps::declare(&mut result.capabilities);
            result.cache_scope = mcp::CacheScope::Private;
        }
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<mcp::PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::ListToolsResult, ErrorData> {
        let definitions = &self.published.definitions;
        let shows_views = apps::are_shown_by(context.client_capabilities());
        let lists = definitions.tools_for(shows_views);
        let tools = if self.own_names {
            &lists.own
        } else {
            &lists.mcp
        };
        let listed = self.published.listed_for(&admitted(&context)?.who, tools);
        let page = page::slice(&listed.items, cursor(request.as_ref()), PAGE);
        let page = page.map_err(unknown_cursor)?;
        Ok(mcp::ListToolsResult {
            result_type: Some(ResultType::COMPLETE),
            meta: is_stateless(&context).then(|| definitions.server_info_meta.clone()),
            next_cursor: page.next_cursor,
            ttl_ms: Some(LIST_TTL_MS),
            cache_scope: Some(match listed.is_for_all && !shows_views {
                true => mcp::CacheScope::Public,
                false => mcp::CacheScope::Private,
            }),
            tools: page.items,
        })
    }

    async fn call_tool(
        &self,
        request: mcp::CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::CallToolResponse, ErrorData> {
        let admitted = admitted(&context)?;
        if let Some(name) = client_name(&context) {
            self.desk.clients.note(&name);
        }
        let caller = Arc::clone(&admitted.who.caller.id);
        let inputs = request.input_responses.unwrap_or_default();
        let sealed = request.request_state.as_deref();
        let client = self.client(&context, inputs, sealed, &request.name)?;
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
            .call(&self.published, call)
            .await
            .map_err(|refusal| Fault::from(&refusal))?;
        tool_result::mcp_response(
            answer,
            &Recipient {
                counter: &self.published,
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
        prompts::list(&self.reader(&context)?, request.as_ref()).await
    }

    async fn get_prompt(
        &self,
        mut request: mcp::GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::GetPromptResponse, ErrorData> {
        let mut reader = self.reader(&context)?;
        let (inputs, sealed) = (request.input_responses.take(), &request.request_state);
        let inputs = inputs.unwrap_or_default();
        let client = self.client(&context, inputs, sealed.as_deref(), &request.name)?;
        reader.context.client = Arc::new(client);
        prompts::get(&reader, request).await
    }

    async fn list_resources(
        &self,
        request: Option<mcp::PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::ListResourcesResult, ErrorData> {
        self.check_offered::<mcp::ListResourcesRequestMethod>(&context)?;
        resources::list(&self.reader(&context)?, request.as_ref()).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<mcp::PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::ListResourceTemplatesResult, ErrorData> {
        self.check_offered::<mcp::ListResourceTemplatesRequestMethod>(&context)?;
        resources::list_templates(&self.reader(&context)?, request.as_ref()).await
    }

    async fn read_resource(
        &self,
        request: mcp::ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::ReadResourceResponse, ErrorData> {
        self.check_offered::<mcp::ReadResourceRequestMethod>(&context)?;
        resources::read(&self.reader(&context)?, request).await
    }

    async fn complete(
        &self,
        request: mcp::CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::CompleteResult, ErrorData> {
        resources::complete(&self.reader(&context)?, request).await
    }

    fn accepted_subscription_filter(
        &self,
        requested: &mcp::SubscriptionFilter,
    ) -> Option<mcp::SubscriptionFilter> {
        self.connection.begin(&self.published);
        // The protocol crate cuts this down to what the counter advertises.
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let events = self.connection.begun(&self.published);
        let who = admitted(context.request_context())?.who;
        subscriptions::listen(&self.desk, &self.published, events, &context, &who).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let uris = [request.uri];
        let work = async { self.connection.watch(&uris) };
        let target = ReadTarget::Resources(&uris);
        self.reader(&context)?
            .read(methods::RESOURCES_SUBSCRIBE, target, work)
            .await?;
        self.connection.admit(&admitted(&context)?.who);
        self.connection.forward(&self.published, &context.peer);
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
        Err(mistyped::explain(&request, stateless, &self.published))
    }

    #[expect(deprecated, reason = "clients of the handshake era still use it")]
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_stateless(&context) {
            let mut error = ErrorData::method_not_found::<mcp::SetLevelRequestMethod>();
            errors::explain(&mut error, &self.published);
            return Err(error);
        }
        self.connection.log_level.set(request.level);
        Ok(())
    }
}

/// The name that a client gives itself: with each request, or in its handshake.
fn client_name(context: &RequestContext<RoleServer>) -> Option<String> {
    let given = context.meta.client_info().map(|client| client.name);
    given.or_else(|| {
        let peer = context.peer.peer_info();
        peer.map(|peer| peer.client_info.name.clone())
    })
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
