//! A context or an ADR: as its readers see it, or to be edited.

use kit::{
    Context,
    console::{Action, Input, PageLink, Part, Query, TextInput, TextKind, pick},
};
use serde_json::{Value, json};

use crate::tools::edit_document::{LONGEST, fingerprint};

pub struct DocumentView<'a> {
    /// `None` if there is no file yet.
    pub text: Option<&'a str>,
    /// What `edit_document` calls it.
    pub target: (&'static str, Value),
    /// The page without the form.
    pub query: Query,
    pub is_edited: bool,
}

impl DocumentView<'_> {
    pub fn parts(self, context: &Context) -> Vec<Part> {
        if self.is_edited {
            return self.form(context);
        }
        let shown = match self.text {
            Some(text) => Part::Markdown(text.to_owned()),
            None => {
                Part::Text(pick(context, "There is no text yet.", "まだ内容はありません。").into())
            }
        };
        let mut query = self.query;
        query.push(("edit", "1".into()));
        let edit = PageLink::new(pick(context, "Edit", "編集"), query);
        vec![shown, Part::Links(vec![edit])]
    }

    fn form(self, context: &Context) -> Vec<Part> {
        let text = self.text.unwrap_or_default();
        let back = PageLink::new(
            pick(context, "Back without saving", "保存せずに戻る"),
            self.query.clone(),
        );
        if text.chars().count() > LONGEST {
            let text = pick(
                context,
                "This text is too long to be edited here. Edit the file itself.",
                "長すぎるため、ここでは編集できません。ファイルを直接編集してください。",
            );
            return vec![Part::Text(text.into()), Part::Links(vec![back])];
        }
        let content = TextInput {
            argument: "content",
            label: "Markdown".into(),
            value: text.trim_start_matches('\u{feff}').to_owned(),
            kind: TextKind::Markdown,
            ..TextInput::default()
        };
        let save = Action {
            tool: "edit_document",
            label: pick(context, "Save", "保存").into(),
            fixed: vec![self.target, ("base", json!(fingerprint(self.text)))],
            inputs: vec![Input::Text(content)],
        };
        let mut query = self.query;
        query.push(("edit", "1".into()));
        // Whoever else changed it meanwhile, this is how their change is taken up.
        let again = PageLink::new(
            pick(
                context,
                "Start again from the text as it is now",
                "現在の内容から編集し直す",
            ),
            query,
        );
        vec![Part::Action(save), Part::Links(vec![back, again])]
    }
}
