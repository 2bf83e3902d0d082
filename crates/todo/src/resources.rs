//! What clients can read and watch: the files, under the seed's addresses.

use std::sync::Arc;

use kit::{
    BoxFuture, Context, Result,
    page::{self, Page},
    resource::{
        Body, Contents, Question, Reference, Resource, Resources, Shows, Template, escape, unescape,
    },
};

use crate::{
    files::{self, Folder},
    model::TaskId,
    state::{CounterState, adr_file, context_file},
    tools::on_a_thread,
};

const BASE: &str = "file://.todo/";
const ADR_TEMPLATE: &str = "file://.todo/adr/{adr_id}.md";
const CONTEXT_TEMPLATE: &str = "file://.todo/context/{task_id}.md";
const MARKDOWN: &str = "text/markdown";
/// The page names tasks and ADRs.
const INDEX_DATA: Shows = Shows::data_of(&["list_tasks", "list_adrs"]);
const TASK_DATA: Shows = Shows::data_of(&["list_tasks"]);
const ADR_DATA: Shows = Shows {
    read: &["get_adr"],
    listed: &["list_adrs"],
};
const CONTEXT_DATA: Shows = Shows {
    read: &["get_context"],
    listed: &["list_tasks"],
};
const PAGE: usize = 50;
const COMPLETIONS: usize = 100;

/// The addresses of a file: as an address should be written, and as the seed's
/// pattern gives it, where the two differ. None for files that are no resource.
pub fn uris_of(name: &str) -> Vec<String> {
    if !is_resource(name) {
        return Vec::new();
    }
    let plain = format!("{BASE}{name}");
    let encoded = encode(&plain);
    if encoded == plain {
        vec![plain]
    } else {
        vec![encoded, plain]
    }
}

pub fn is_resource(name: &str) -> bool {
    let stem = |folder: &str| {
        name.strip_prefix(folder)?
            .strip_prefix('/')?
            .strip_suffix(".md")
    };
    name == files::TASKS
        || name == files::INDEX
        || stem(files::CONTEXTS).and_then(TaskId::parse).is_some()
        || stem(files::ADRS).is_some_and(is_stem)
}

/// A file's name that stays in its folder.
fn is_stem(stem: &str) -> bool {
    !stem.is_empty() && !stem.starts_with('.') && !stem.contains(['/', '\\', '\0'])
}

/// The file an address means.
fn name_of(uri: &str) -> Option<String> {
    let name = unescape(uri.strip_prefix(BASE)?)?;
    is_resource(&name).then_some(name)
}

pub struct Shelf {
    state: Arc<CounterState>,
}

impl Shelf {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
        }
    }

    async fn with<T: Send + 'static>(
        &self,
        job: impl FnOnce(&CounterState, &Folder) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let state = Arc::clone(&self.state);
        on_a_thread(state, move |state| job(state, &state.folder()?)).await
    }
}

impl Resources for Shelf {
    fn shows(&self, uri: &str) -> Option<Shows> {
        let name = name_of(uri)?;
        Some(match name.as_str() {
            files::INDEX => INDEX_DATA,
            files::TASKS => TASK_DATA,
            _ if name.starts_with(files::ADRS) => ADR_DATA,
            _ => CONTEXT_DATA,
        })
    }

    fn list<'a>(
        &'a self,
        _: &'a Context,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Page<Resource>>> {
        Box::pin(async move {
            let names = self.with(|_, folder| names(folder)).await?;
            let page = page::slice(&names, cursor, PAGE)?;
            Ok(Page {
                items: page.items.iter().map(|name| resource(name)).collect(),
                next_cursor: page.next_cursor,
            })
        })
    }

    fn templates(&self) -> Vec<Template> {
        vec![
            Template {
                uri_template: ADR_TEMPLATE,
                name: "adr",
                title: "ADR",
                description: "個別ADRファイル",
                mime_type: MARKDOWN,
                shows: ADR_DATA,
            },
            Template {
                uri_template: CONTEXT_TEMPLATE,
                name: "context",
                title: "Context of a task",
                description: "個別タスクコンテキスト",
                mime_type: MARKDOWN,
                shows: CONTEXT_DATA,
            },
        ]
    }

    fn read<'a>(&'a self, _: &'a Context, uri: &'a str) -> BoxFuture<'a, Result<Option<Contents>>> {
        Box::pin(async move {
            let Some(name) = name_of(uri) else {
                return Ok(None);
            };
            let loaded = self.with(move |_, folder| folder.read(&name)).await?;
            Ok(loaded.map(|loaded| Contents {
                mime_type: MARKDOWN,
                body: Body::Text(loaded.text.to_string()),
            }))
        })
    }

    fn complete<'a>(
        &'a self,
        _: &'a Context,
        question: &'a Question,
    ) -> BoxFuture<'a, Result<Vec<String>>> {
        Box::pin(async move {
            let folder = match (&question.about, question.argument.as_str()) {
                (Reference::Template(template), "adr_id") if template == ADR_TEMPLATE => {
                    files::ADRS
                }
                (Reference::Template(template), "task_id") if template == CONTEXT_TEMPLATE => {
                    files::CONTEXTS
                }
                _ => return Ok(Vec::new()),
            };
            let stems = self.with(move |_, todo| todo.stems(folder)).await?;
            let typed = kit::text::fold(&question.typed);
            let matching = |starts: bool| {
                let typed = &typed;
                stems.iter().filter(move |stem| {
                    let folded = kit::text::fold(stem);
                    folded.starts_with(typed.as_str()) == starts && folded.contains(typed.as_str())
                })
            };
            // What begins with it first, then what has it somewhere.
            let values = matching(true).chain(matching(false)).take(COMPLETIONS);
            Ok(values.cloned().collect())
        })
    }

    fn ttl_ms(&self) -> u64 {
        1_000
    }
}

pub fn names(folder: &Folder) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for name in [files::INDEX, files::TASKS] {
        if folder.stamp(name)?.is_some() {
            names.push(name.to_owned());
        }
    }
    names.extend(folder.stems(files::ADRS)?.iter().map(|stem| adr_file(stem)));
    let contexts = folder.stems(files::CONTEXTS)?;
    names.extend(
        contexts
            .iter()
            .filter_map(|stem| TaskId::parse(stem))
            .map(context_file),
    );
    Ok(names)
}

fn resource(name: &str) -> Resource {
    let (title, description) = match name {
        files::INDEX => ("Index".to_owned(), "プロジェクト全体のナビゲーション"),
        files::TASKS => ("Tasks".to_owned(), "全タスク管理ファイル"),
        _ => {
            let stem = name
                .rsplit('/')
                .next()
                .unwrap_or(name)
                .trim_end_matches(".md");
            let what = if name.starts_with(files::ADRS) {
                "個別ADRファイル"
            } else {
                "個別タスクコンテキスト"
            };
            (stem.to_owned(), what)
        }
    };
    Resource {
        uri: encode(&format!("{BASE}{name}")),
        name: name.to_owned(),
        title: Some(title),
        description: Some(description.to_owned()),
        mime_type: MARKDOWN,
    }
}

fn encode(uri: &str) -> String {
    escape(uri, ":/!$&'()*+,;=@")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_go_there_and_back() {
        for name in ["task.md", "index.md", "adr/adr-001-x.md", "context/T001.md"] {
            assert_eq!(uris_of(name), [format!("file://.todo/{name}")]);
            assert_eq!(
                name_of(&format!("file://.todo/{name}")).as_deref(),
                Some(name)
            );
        }
        let japanese = "adr/adr-001-認証.md";
        let uris = uris_of(japanese);
        assert_eq!(uris.len(), 2);
        assert!(
            uris.iter()
                .all(|uri| name_of(uri).as_deref() == Some(japanese))
        );
    }

    #[test]
    fn nothing_else_can_be_read() {
        for uri in [
            "file://.todo/../secret.md",
            "file://.todo/adr/../../secret.md",
            "file://.todo/adr/..%2F..%2Fsecret.md",
            "file://.todo/context/T1.md",
            "file://.todo/notes.md",
            "file:///etc/passwd",
            "file://.todo/adr/.md",
            "file://.todo/adr/%4.md",
        ] {
            assert_eq!(name_of(uri), None, "{uri}");
        }
    }
}
