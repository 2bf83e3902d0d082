//! The files as resources that clients can read and watch.

use std::sync::Arc;

use kit::{
    BoxFuture, Context, Result,
    page::Page,
    resource::{
        self, Body, CompletionQuestion, Contents, Reference, Resource, Resources, Shows, Template,
    },
};

use crate::{
    files::{self, Folder},
    state::CounterState,
    uris::{name_of, names, uri_of},
};

const ADR_TEMPLATE: &str = "file://.todo/adr/{adr_id}.md";
const CONTEXT_TEMPLATE: &str = "file://.todo/context/{task_id}.md";
const MARKDOWN: &str = "text/markdown";
/// The index page shows tasks and ADRs.
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

pub struct FileResources {
    state: Arc<CounterState>,
}

impl FileResources {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
        }
    }

    async fn with_folder<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Folder) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let state = &self.state;
        state
            .run_blocking(move |state| job(&state.files.folder()?))
            .await
    }
}

impl Resources for FileResources {
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
            let names = self.with_folder(names).await?;
            resource::list_page(&names, cursor, |name| resource(&name))
        })
    }

    fn templates(&self) -> Vec<Template> {
        vec![
            Template {
                uri_template: ADR_TEMPLATE,
                name: "adr",
                title: "ADR",
                description: "One decision. 個別ADRファイル",
                mime_type: MARKDOWN,
                shows: ADR_DATA,
            },
            Template {
                uri_template: CONTEXT_TEMPLATE,
                name: "context",
                title: "Context of a task",
                description: "Notes about a task. 個別タスクコンテキスト",
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
            let loaded = self.with_folder(move |folder| folder.read(&name)).await?;
            Ok(loaded.map(|loaded| Contents {
                mime_type: MARKDOWN,
                body: Body::Text(loaded.text.to_string()),
            }))
        })
    }

    fn complete<'a>(
        &'a self,
        _: &'a Context,
        question: &'a CompletionQuestion,
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
            let stems = self.with_folder(move |todo| todo.stems(folder)).await?;
            Ok(resource::completions(&stems, &question.typed))
        })
    }

    fn ttl_ms(&self) -> u64 {
        1_000
    }
}

fn resource(name: &str) -> Resource {
    let (title, description) = match name {
        files::INDEX => (
            "Index".to_owned(),
            "Overview of the project. プロジェクト全体のナビゲーション",
        ),
        files::TASKS => ("Tasks".to_owned(), "All tasks. 全タスク管理ファイル"),
        _ => {
            let stem = name
                .rsplit('/')
                .next()
                .unwrap_or(name)
                .trim_end_matches(".md");
            let what = if name.starts_with(files::ADRS) {
                "One decision. 個別ADRファイル"
            } else {
                "Notes about a task. 個別タスクコンテキスト"
            };
            (stem.to_owned(), what)
        }
    };
    Resource {
        uri: uri_of(name),
        name: name.to_owned(),
        title: Some(title),
        description: Some(description.to_owned()),
        mime_type: MARKDOWN,
    }
}
