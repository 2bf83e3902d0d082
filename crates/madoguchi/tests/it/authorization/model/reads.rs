//! What the counter shows without a tool call, and whose data that is.

use std::{future::ready, sync::Arc};

use desk::{
    methods::{self, Method},
    stations::authorize::ReadTarget,
};
use kit::{
    BoxFuture, Context, Result,
    page::Page,
    prompt::{Prompt, Rendered},
    resource::{CompletionQuestion, Contents, Reference, Resource, Resources, Shows, Template},
};

/// One thing to read.
#[derive(Debug)]
pub struct Readable {
    /// An address, a prompt's name or a template.
    pub what: &'static str,
    pub kind: Kind,
    /// The tools that a reader needs the right to.
    pub tools: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Resource,
    Prompt,
    PromptCompletion,
    TemplateCompletion,
}

impl Kind {
    /// A prompt tells an agent what to do; the others show data.
    pub fn shows_data(self) -> bool {
        matches!(self, Self::Resource | Self::TemplateCompletion)
    }
}

const fn readable(what: &'static str, kind: Kind, tools: &'static [&'static str]) -> Readable {
    Readable { what, kind, tools }
}

pub const READABLE: [Readable; 8] = [
    readable("model://looks", Kind::Resource, &["look"]),
    readable("model://sent", Kind::Resource, &["send.to"]),
    readable("model://everything", Kind::Resource, &["look", "purge"]),
    readable("model://notes/1", Kind::Resource, &["note.add"]),
    readable("plan", Kind::Prompt, &["look", "act.task"]),
    readable("clean", Kind::Prompt, &["purge"]),
    readable("plan", Kind::PromptCompletion, &["look", "act.task"]),
    readable("model://notes/{n}", Kind::TemplateCompletion, &["look"]),
];

impl Readable {
    pub fn method(&self) -> Method {
        match self.kind {
            Kind::Resource => methods::RESOURCES_READ,
            Kind::Prompt => methods::PROMPTS_GET,
            Kind::PromptCompletion | Kind::TemplateCompletion => methods::COMPLETE,
        }
    }

    /// What a completion is about.
    pub fn reference(&self) -> Option<Reference> {
        match self.kind {
            Kind::PromptCompletion => Some(Reference::Prompt(self.what.into())),
            Kind::TemplateCompletion => Some(Reference::Template(self.what.into())),
            Kind::Resource | Kind::Prompt => None,
        }
    }

    /// What the desk is asked for.
    pub fn target<'a>(
        &'a self,
        uris: &'a [String],
        reference: Option<&'a Reference>,
    ) -> ReadTarget<'a> {
        match (self.kind, reference) {
            (Kind::Resource, _) => ReadTarget::Resources(uris),
            (_, Some(reference)) => ReadTarget::Completion(reference),
            (_, None) => ReadTarget::Prompt(self.what),
        }
    }
}

pub struct Shown;

impl Resources for Shown {
    fn shows(&self, uri: &str) -> Option<Shows> {
        let mut readable = READABLE.iter();
        let found = readable.find(|it| it.kind == Kind::Resource && it.what == uri)?;
        Some(Shows::data_of(found.tools))
    }

    fn list<'a>(
        &'a self,
        _: &'a Context,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Page<Resource>>> {
        Box::pin(ready(kit::page::slice(&[], None, 1)))
    }

    fn templates(&self) -> Vec<Template> {
        vec![Template {
            uri_template: "model://notes/{n}",
            name: "Notes",
            title: "Notes",
            description: "One note.",
            mime_type: "text/plain",
            shows: Shows {
                read: &["note.add"],
                listed: &["look"],
            },
        }]
    }

    // The test hands its own work to the desk, so that it sees whether it began.
    fn read<'a>(&'a self, _: &'a Context, _: &'a str) -> BoxFuture<'a, Result<Option<Contents>>> {
        Box::pin(ready(Ok(None)))
    }

    fn complete<'a>(
        &'a self,
        _: &'a Context,
        _: &'a CompletionQuestion,
    ) -> BoxFuture<'a, Result<Vec<String>>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    fn ttl_ms(&self) -> u64 {
        0
    }
}

pub fn prompts() -> Vec<Arc<Prompt>> {
    let prompts = READABLE.iter().filter(|it| it.kind == Kind::Prompt);
    let prompt = |it: &Readable| Prompt {
        name: it.what,
        title: "A prompt of a test",
        description: "A prompt of a test.",
        arguments: Vec::new(),
        tools: it.tools,
        render: Arc::new(|_, _| Box::pin(ready(Ok(Rendered::Messages(Vec::new()))))),
    };
    prompts.map(|it| Arc::new(prompt(it))).collect()
}
