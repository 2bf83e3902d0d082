//! The resources of the counter.

use kit::{
    BoxFuture, Context, Result,
    page::Page,
    resource::{CompletionQuestion, Contents, Resource, Resources, Shows, Template},
};

/// Notes are what `look` shows. The address of a message is data of `look`; what it
/// contains is data of `send`.
const NOTES: Shows = Shows::data_of(&["look"]);
const MESSAGES: Shows = Shows {
    read: &["send"],
    listed: &["look"],
};

pub struct Shelves;

impl Resources for Shelves {
    fn shows(&self, uri: &str) -> Option<Shows> {
        match uri.strip_prefix("office://")?.split('/').next()? {
            "notes" => Some(NOTES),
            "messages" => Some(MESSAGES),
            _ => None,
        }
    }

    fn list<'a>(
        &'a self,
        _: &'a Context,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Page<Resource>>> {
        Box::pin(std::future::ready(Ok(Page::whole(Vec::new()))))
    }

    fn templates(&self) -> Vec<Template> {
        let template = |uri_template, shows| Template {
            uri_template,
            name: "shelf",
            title: "Shelf",
            description: "A shelf of a test.",
            mime_type: "text/plain",
            shows,
        };
        vec![
            template("office://notes/{id}", NOTES),
            template("office://messages/{id}", MESSAGES),
        ]
    }

    fn read<'a>(&'a self, _: &'a Context, _: &'a str) -> BoxFuture<'a, Result<Option<Contents>>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn complete<'a>(
        &'a self,
        _: &'a Context,
        _: &'a CompletionQuestion,
    ) -> BoxFuture<'a, Result<Vec<String>>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn ttl_ms(&self) -> u64 {
        0
    }
}
