//! Resources and their templates, and completion of arguments.

use desk::{
    methods,
    stations::authorize::{self, ReadTarget},
    views,
};
use kit::{
    page::{self, Page},
    resource::{Body, CompletionQuestion, Reference, Resource, Resources, Shows},
};
use rmcp::{
    ErrorData,
    model::{self as mcp, ResultType},
};

use super::data_reader::{DataReader, cursor};
use crate::wire::{
    apps,
    definitions::{LIST_TTL_MS, PAGE},
    errors,
};

/// A page of `resources/list` that ends with a hidden resource is followed by the
/// next, at most this often.
const MOST_HIDDEN_PAGES: usize = 40;

pub async fn list(
    reader: &DataReader<'_>,
    request: Option<&mcp::PaginatedRequestParams>,
) -> Result<mcp::ListResourcesResult, ErrorData> {
    let mut result = mcp::ListResourcesResult {
        meta: reader.stamp(),
        ttl_ms: Some(LIST_TTL_MS),
        cache_scope: Some(mcp::CacheScope::Private),
        ..Default::default()
    };
    let resources = reader.published.counter.resources.as_ref();
    let cursor = cursor(request);
    let work = async {
        match resources {
            Some(resources) => visible(reader, &**resources, cursor).await,
            None => page::slice(&[], cursor, PAGE),
        }
    };
    let page = reader
        .read(methods::RESOURCES_LIST, ReadTarget::List, work)
        .await?;
    result.next_cursor = page.next_cursor;
    if let Some(resources) = resources {
        result.ttl_ms = Some(resources.ttl_ms());
    }
    if cursor.is_none() {
        result.resources = visible_views(reader);
    }
    let items = page.items.into_iter().map(|item| {
        let mut resource = mcp::Resource::new(item.uri, item.name).with_mime_type(item.mime_type);
        resource.title = item.title;
        resource.description = item.description;
        resource
    });
    result.resources.extend(items);
    Ok(result)
}

/// They come first. Clients that show no views have no use for them.
fn visible_views(reader: &DataReader<'_>) -> Vec<mcp::Resource> {
    let capabilities = reader.context.client.capabilities();
    if !capabilities.as_object().is_some_and(apps::are_shown_with) {
        return Vec::new();
    }
    let may_see =
        |view: &&kit::View| authorize::may_see_view(reader.published, reader.who(), view).is_ok();
    let views = views::all(reader.published).into_iter();
    views.filter(may_see).map(apps::listed).collect()
}

pub async fn list_templates(
    reader: &DataReader<'_>,
    request: Option<&mcp::PaginatedRequestParams>,
) -> Result<mcp::ListResourceTemplatesResult, ErrorData> {
    let may_see = |shows: &Shows| authorize::may_see(reader.published, reader.who(), shows.listed);
    let work = async {
        let templates = reader.published.definitions.templates.iter();
        let seen = templates.filter(|(shows, _)| may_see(shows));
        let seen: Vec<_> = seen.map(|(_, template)| template.clone()).collect();
        page::slice(&seen, cursor(request), PAGE)
    };
    let page = reader
        .read(methods::TEMPLATES_LIST, ReadTarget::List, work)
        .await?;
    Ok(mcp::ListResourceTemplatesResult {
        result_type: Some(ResultType::COMPLETE),
        meta: reader.stamp(),
        next_cursor: page.next_cursor,
        ttl_ms: Some(LIST_TTL_MS),
        cache_scope: Some(mcp::CacheScope::Private),
        resource_templates: page.items,
    })
}

pub async fn read(
    reader: &DataReader<'_>,
    request: mcp::ReadResourceRequestParams,
) -> Result<mcp::ReadResourceResponse, ErrorData> {
    let uris = [request.uri];
    let [uri] = &uris;
    let resources = reader.published.counter.resources.as_ref();
    let work = async {
        if let Some(view) = views::find(reader.published, uri) {
            return Ok((apps::contents(view), LIST_TTL_MS));
        }
        let resources = resources.ok_or_else(authorize::resource_not_found)?;
        let contents = resources.read(&reader.context, uri).await?;
        let contents = contents.ok_or_else(authorize::resource_not_found)?;
        let body = match contents.body {
            Body::Text(text) => mcp::ResourceContents::text(text, uri),
            Body::Blob(blob) => mcp::ResourceContents::blob(blob, uri),
        };
        Ok((body.with_mime_type(contents.mime_type), resources.ttl_ms()))
    };
    let target = ReadTarget::Resources(&uris);
    let (contents, ttl_ms) = reader.read(methods::RESOURCES_READ, target, work).await?;
    let mut result = mcp::ReadResourceResult::new(vec![contents]);
    result.ttl_ms = Some(ttl_ms);
    result.cache_scope = Some(mcp::CacheScope::Private);
    result.meta = reader.stamp();
    Ok(result.into())
}

pub async fn complete(
    reader: &DataReader<'_>,
    request: mcp::CompleteRequestParams,
) -> Result<mcp::CompleteResult, ErrorData> {
    let mut result = mcp::CompleteResult::default();
    result.meta = reader.stamp();
    let question = CompletionQuestion {
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
    let work = values(reader, &question);
    let target = ReadTarget::Completion(&question.about);
    let mut values = match reader.read(methods::COMPLETE, target, work).await {
        Ok(values) => values,
        // Clients try what they know of other servers: there are no values.
        Err(error) if errors::is_unknown_reference(&error) => Vec::new(),
        Err(error) => return Err(error),
    };
    let total = values.len();
    values.truncate(mcp::CompletionInfo::MAX_VALUES);
    result.completion.has_more = Some(total > values.len());
    result.completion.total = u32::try_from(total).ok();
    result.completion.values = values;
    Ok(result)
}

/// The next resources that the caller may see. A cursor can name the last
/// resource of its page, so pages that end with a hidden one are passed over.
async fn visible(
    reader: &DataReader<'_>,
    resources: &dyn Resources,
    cursor: Option<&str>,
) -> kit::Result<Page<Resource>> {
    let may_see = |item: &Resource| authorize::may_list(reader.published, reader.who(), &item.uri);
    let mut next_cursor = cursor.map(str::to_owned);
    let mut items = Vec::new();
    for _ in 0..MOST_HIDDEN_PAGES {
        let page = resources
            .list(&reader.context, next_cursor.as_deref())
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
async fn values(
    reader: &DataReader<'_>,
    question: &CompletionQuestion,
) -> kit::Result<Vec<String>> {
    let counter = &reader.published.counter;
    if let Reference::Prompt(name) = &question.about {
        let prompt = counter.prompts.iter().find(|prompt| prompt.name == name);
        let (argument, typed) = (&question.argument, &question.typed);
        if let Some(values) = prompt.and_then(|it| it.fixed_values(argument, typed)) {
            return Ok(values);
        }
    }
    match &counter.resources {
        Some(resources) => resources.complete(&reader.context, question).await,
        None => Ok(Vec::new()),
    }
}
