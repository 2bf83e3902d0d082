//! Every method of both protocol eras, for one counter. The protocol crate
//! decides which era a request belongs to and calls these.

mod prompts;
mod reader;
mod resources;

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use desk::{Desk, methods, pipeline::ToolCall, stations::authorize::Target};
use kit::{Error, page};
#[expect(deprecated, reason = "clients of the handshake era still use these")]
use rmcp::model::{SetLevelRequestParams, SubscribeRequestParams, UnsubscribeRequestParams};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{self as mcp, ResultType},
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::Value;

use self::reader::{Reader, admitted, cursor, language_of};
use super::{
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

    fn reader(&self, request: &RequestContext<RoleServer>) -> Result<Reader<'_>, ErrorData> {
        let log_level = &self.connection.log_level;
        Reader::new(&self.desk, &self.window, log_level, request)
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
        let about = format!("{}/{name}", self.window.counter.about.name);
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
        let info = self.window.definitions.info.clone();
        let today = self.desk.clock.now_in(&self.window.counter.time_zone);
        info.with_instructions(self.window.instructions(&today, self.own_names))
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
        let listed = self.window.listed_for(&admitted(&context)?.who, tools);
        let page = page::slice(&listed.items, cursor(request.as_ref()), PAGE);
        let page = page.map_err(unknown_cursor)?;
        Ok(mcp::ListToolsResult {
            result_type: Some(ResultType::COMPLETE),
            meta: is_stateless(&context).then(|| definitions.server_info_meta.clone()),
            next_cursor: page.next_cursor,
            ttl_ms: Some(LIST_TTL_MS),
            cache_scope: Some(match listed.is_for_all {
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
        resources::list(&self.reader(&context)?, request.as_ref()).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<mcp::PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::ListResourceTemplatesResult, ErrorData> {
        resources::list_templates(&self.reader(&context)?, request.as_ref()).await
    }

    async fn read_resource(
        &self,
        request: mcp::ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<mcp::ReadResourceResponse, ErrorData> {
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
            errors::explain(&mut error, &self.window);
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
