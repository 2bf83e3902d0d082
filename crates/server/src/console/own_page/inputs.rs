//! Draws what a person chooses or enters in a form.

use kit::console::{Choice, Input, NumberInput, TextInput, TextKind};
use maud::{Markup, html};

use super::{
    super::{fields::Fields, markdown, parts::select, words::Words},
    names::{ARGUMENT, BEFORE, LINES, PREVIEW},
    plan,
};

/// A form that is drawn.
pub struct FormInputs<'a> {
    pub words: &'a Words,
    /// Begins the ids of its fields.
    pub id: String,
    /// What was sent with it before, if it is shown again.
    pub entered: Option<&'a Fields>,
    /// Whether it sends only what the person changes.
    pub edits: bool,
}

impl FormInputs<'_> {
    pub fn drawn(&self, input: &Input) -> Markup {
        match input {
            Input::Plan(plan) => plan::drawn(self.words, plan),
            Input::Line { argument, label } => self.text(&TextInput {
                argument,
                label: label.clone(),
                is_required: true,
                ..TextInput::default()
            }),
            Input::Text(text) => self.text(text),
            Input::Choice(choice) => self.choice(choice),
            Input::Number(number) => self.number(number),
        }
    }

    fn value<'v>(&'v self, name: &str, otherwise: &'v str) -> &'v str {
        self.entered.map_or(otherwise, |fields| fields.get(name))
    }

    /// Says what the argument was when the page showed it.
    fn before(&self, argument: &str, shown: &str) -> Markup {
        let name = format!("{BEFORE}{argument}");
        html! {
            @if self.edits { input type="hidden" name=(name) value=(self.value(&name, shown)); }
        }
    }

    fn choice(&self, choice: &Choice) -> Markup {
        let id = format!("{}-{}", self.id, choice.argument);
        let name = format!("{ARGUMENT}{}", choice.argument);
        let options = choice.options.iter();
        let options: Vec<(&str, &str)> = options.map(|(value, it)| (&**value, &**it)).collect();
        let chosen = self.value(&name, &choice.chosen);
        let input = html! {
            (select(&id, &name, chosen, &options))
            (self.before(choice.argument, &choice.chosen))
        };
        single(&id, &choice.label, "", input)
    }

    fn number(&self, number: &NumberInput) -> Markup {
        let id = format!("{}-{}", self.id, number.argument);
        let name = format!("{ARGUMENT}{}", number.argument);
        let at_first = number.value.to_string();
        let input = html! {
            input id=(id) name=(name) type="number" value=(self.value(&name, &at_first))
                min=(number.least) max=(number.most) step="1" required autocomplete="off";
        };
        single(&id, &number.label, "", input)
    }

    fn text(&self, text: &TextInput) -> Markup {
        let id = format!("{}-{}", self.id, text.argument);
        let hint = (!text.hint.is_empty()).then(|| format!("{id}-hint"));
        let required = text.is_required;
        if let TextKind::Line | TextKind::Date = text.kind {
            let name = format!("{ARGUMENT}{}", text.argument);
            let kind = match text.kind {
                TextKind::Date => "date",
                _ => "text",
            };
            let input = html! {
                input id=(id) name=(name) type=(kind) value=(self.value(&name, &text.value))
                    required[required] autocomplete="off" aria-describedby=[hint];
                (self.before(text.argument, &text.value))
            };
            return single(&id, &text.label, &text.hint, input);
        }
        let name = format!("{LINES}{}", text.argument);
        let value = self.value(&name, &text.value);
        let is_markdown = text.kind == TextKind::Markdown;
        let class = if is_markdown { "code tall" } else { "" };
        let input = html! {
            // The first line break is the page's.
            textarea id=(id) name=(name) class=(class) required[required] aria-describedby=[hint] {
                "\n" (value)
            }
        };
        html! {
            (single(&id, &text.label, &text.hint, input))
            @if is_markdown { (self.preview(value)) }
        }
    }

    fn preview(&self, text: &str) -> Markup {
        let words = self.words;
        let is_asked_for = self
            .entered
            .is_some_and(|fields| !fields.get(PREVIEW).is_empty());
        html! {
            @if is_asked_for {
                div class="preview" data-preview role="region" tabindex="0"
                    aria-label=(words.pick("Preview", "プレビュー")) {
                    (markdown::drawn(text))
                }
            }
            button name=(PREVIEW) value="yes" formnovalidate { (words.pick("Preview", "プレビュー")) }
            " "
        }
    }
}

fn single(id: &str, label: &str, hint: &str, input: Markup) -> Markup {
    html! {
        div class="fields single" {
            div class="field" {
                label for=(id) { (label) }
                (input)
                @if !hint.is_empty() { p class="hint" id={ (id) "-hint" } { (hint) } }
            }
        }
    }
}
