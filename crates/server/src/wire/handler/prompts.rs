//! `prompts/list` and `prompts/get`.

use desk::{
    methods,
    stations::authorize::{self, ReadTarget},
};
use kit::{
    Error, page,
    prompt::{Rendered, Role},
};
use rmcp::{
    ErrorData,
    model::{self as mcp, ResultType},
};
use serde_json::{Value, json};

use super::data_reader::{DataReader, cursor};
use crate::wire::{
    definitions::{LIST_TTL_MS, PAGE},
    tool_result::{self, Recipient},
};

pub async fn list(
    reader: &DataReader<'_>,
    request: Option<&mcp::PaginatedRequestParams>,
) -> Result<mcp::ListPromptsResult, ErrorData> {
    let may_see =
        |prompt: &&mcp::Prompt| authorize::may_prompt(reader.published, reader.who(), &prompt.name);
    let work = async {
        let prompts = reader.published.definitions.prompts.iter();
        let seen: Vec<_> = prompts.filter(may_see).cloned().collect();
        page::slice(&seen, cursor(request), PAGE)
    };
    let page = reader
        .read(methods::PROMPTS_LIST, ReadTarget::List, work)
        .await?;
    Ok(mcp::ListPromptsResult {
        result_type: Some(ResultType::COMPLETE),
        meta: reader.stamp(),
        next_cursor: page.next_cursor,
        ttl_ms: Some(LIST_TTL_MS),
        cache_scope: Some(mcp::CacheScope::Private),
        prompts: page.items,
    })
}

/// `reader` can be asked for what the prompt needs.
pub async fn get(
    reader: &DataReader<'_>,
    request: mcp::GetPromptRequestParams,
) -> Result<mcp::GetPromptResponse, ErrorData> {
    let arguments = request.arguments.unwrap_or_default();
    let mut prompts = reader.published.counter.prompts.iter();
    let prompt = prompts.find(|prompt| prompt.name == request.name);
    let work = async {
        // An unknown prompt was refused before the work began.
        let prompt = prompt.ok_or_else(|| Error::internal("the prompt is gone"))?;
        prompt.check_arguments(&arguments)?;
        let rendered = (prompt.render)(reader.context.clone(), arguments).await?;
        Ok((prompt, rendered))
    };
    let target = ReadTarget::Prompt(&request.name);
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
            result.meta = reader.stamp();
            Ok(result.into())
        }
        Rendered::InputRequired { requests, state } => {
            let to = Recipient {
                counter: reader.published,
                caller: &reader.who().caller.id,
                tool: prompt.name,
                stateless: true,
            };
            Ok(tool_result::input_required(requests, state, &to)?
                .with_meta(reader.published.definitions.server_info_meta.clone())
                .into())
        }
    }
}
