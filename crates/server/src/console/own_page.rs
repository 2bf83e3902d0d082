//! Draws the page that a counter describes (`kit::console`), and reads its forms.

mod board;
mod calendar;
mod cells;
mod inputs;
mod links;
mod messages;
mod names;
mod plan;
mod receipt;
mod search;

use std::mem;

use kit::console::{Action, Part, Section};
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use self::{
    inputs::FormInputs,
    links::{drawn_item, drawn_link, label},
    names::{ARGUMENT, BEFORE, FIXED, LINES, PLACE, PREVIEW},
};
use super::{
    fields::Fields,
    markdown,
    parts::{excerpt, form_token},
    text::shown,
    view::{View, link},
};

/// Texts of agents are cut beyond this.
const LONGEST: usize = 2000;

/// A form that was sent. Its outcome is shown beside it.
pub struct SentForm<'a> {
    pub fields: &'a Fields,
    /// What became of it.
    pub outcome: Markup,
    /// Whether the form still holds what was entered.
    pub keeps_entered: bool,
}

impl SentForm<'_> {
    fn is_at(&self, place: &str, tool: &str) -> bool {
        self.fields.get(PLACE) == place && self.fields.get("tool") == tool
    }

    pub fn shown(&self) -> Markup {
        html! { div id="outcome" data-outcome aria-live="polite" { (self.outcome) } }
    }

    /// Whether the page still has the form.
    pub fn is_on(&self, sections: &[Section]) -> bool {
        let mut sections = sections.iter().enumerate();
        sections.any(|(at, section)| {
            let mut parts = section.parts.iter().enumerate();
            parts.any(|(part, it)| {
                tool_of(it).is_some_and(|tool| self.is_at(&format!("{at}-{part}"), tool))
            })
        })
    }
}

fn tool_of(part: &Part) -> Option<&'static str> {
    match part {
        Part::Action(action) | Part::Edit(action) => Some(action.tool),
        Part::Board(board) => Some(board.tool),
        Part::CellTable(table) => table.tool,
        _ => None,
    }
}

/// Where a form is on the page.
struct FormPlace {
    section: usize,
    /// What the form sends to say which one it is.
    name: String,
    /// Stays the same when other parts come and go, so that what somebody is entering there
    /// stays too.
    id: String,
}

impl FormPlace {
    /// Of the part with this index in the section at this place.
    fn of(part: &Part, section: &Section, at: usize, index: usize) -> Self {
        let kind = match part {
            Part::Edit(_) => "edit",
            Part::Action(_) => "action",
            _ => "rows",
        };
        let tool = tool_of(part);
        let is_like = |other: &&Part| {
            mem::discriminant(part) == mem::discriminant(*other) && tool == tool_of(other)
        };
        let number = section.parts.iter().take(index).filter(is_like).count();
        let tool = tool.unwrap_or_default().replace(['/', '.'], "-");
        Self {
            section: at,
            name: format!("{at}-{index}"),
            id: format!("form-{at}-{kind}-{tool}-{number}"),
        }
    }
}

/// What a page is drawn with.
pub struct OwnPage<'a> {
    pub view: &'a View,
    pub counter: &'a str,
    pub sent: Option<&'a SentForm<'a>>,
}

impl OwnPage<'_> {
    pub fn drawn(&self, sections: &[Section]) -> Markup {
        html! {
            @for (at, section) in sections.iter().enumerate() {
                section id={ "part-" (at) } {
                    h2 { (label(&section.title)) }
                    @for (part, it) in section.parts.iter().enumerate() {
                        (self.part(section, at, part, it))
                    }
                }
            }
        }
    }

    fn part(&self, section: &Section, at: usize, index: usize, part: &Part) -> Markup {
        let words = self.view.words;
        let place = || FormPlace::of(part, section, at, index);
        match part {
            Part::Text(text) => html! { p { (excerpt(text, LONGEST)) } },
            Part::Markdown(text) => html! { div class="document" { (markdown::drawn(text)) } },
            Part::Code(text) => html! { pre tabindex="0" translate="no" { (shown(text)) } },
            Part::Links(links) => html! {
                ul class="lines" role="list" {
                    @for link in links { (drawn_link(self.counter, link)) }
                }
            },
            Part::List(items) => html! {
                ul class="lines" role="list" {
                    @for item in items { (drawn_item(words, self.counter, item)) }
                }
            },
            Part::Messages(messages) => messages::drawn(words, self.counter, messages),
            Part::Board(board) => {
                let content = board::drawn(self.counter, board);
                self.form(&place(), board.tool, content)
            }
            Part::Action(action) => self.action(&place(), action, false),
            Part::Edit(action) => self.action(&place(), action, true),
            Part::CellTable(cells) => {
                let content = cells::drawn_table(self.view, self.counter, &section.title, cells);
                match cells.tool {
                    Some(tool) => self.form(&place(), tool, content),
                    None => content,
                }
            }
            Part::Facts(facts) => cells::facts(self.view, self.counter, facts),
            Part::Search(search) => search::drawn(self.counter, search),
            Part::Pager(name, links) => search::pager(self.counter, name, links),
            Part::Calendar(calendar) => calendar::drawn(self.view, self.counter, calendar),
            Part::Receipt(receipt) => receipt::drawn(self.view, self.counter, receipt),
        }
    }

    fn action(&self, place: &FormPlace, action: &Action, edits: bool) -> Markup {
        let fixed = action.fixed.iter();
        let fixed = fixed.map(|(name, value)| ((*name).to_owned(), value.clone()));
        let fixed: Map<String, Value> = fixed.collect();
        let sent = self
            .sent
            .filter(|sent| sent.is_at(&place.name, action.tool));
        let entered = sent.filter(|sent| sent.keeps_entered);
        let entered = entered.map(|sent| sent.fields);
        // What was entered belongs to what the page showed then: an edited text replaces
        // the one that was edited, and none that somebody else wrote meanwhile.
        let fixed = match entered.map(|fields| fields.get(FIXED)) {
            Some(sent) if !sent.is_empty() => sent.to_owned(),
            _ => Value::Object(fixed).to_string(),
        };
        let inputs = FormInputs {
            words: self.view.words,
            id: place.id.clone(),
            entered,
            edits,
        };
        let content = html! {
            input type="hidden" name=(FIXED) value=(fixed);
            @for input in &action.inputs { (inputs.drawn(input)) }
            // What needs nothing to be entered is not what the page is for.
            button class=[(!action.inputs.is_empty()).then_some("primary")] { (action.label) }
        };
        self.form(place, action.tool, content)
    }

    fn form(&self, place: &FormPlace, tool: &str, content: Markup) -> Markup {
        let query: Vec<(&str, &str)> = self.view.address.all().collect();
        let here = link(&format!("/console/{}", self.counter), &query);
        let sent = self.sent.filter(|sent| sent.is_at(&place.name, tool));
        let is_edited = sent.is_some_and(|sent| sent.keeps_entered);
        html! {
            @if let Some(sent) = sent { (sent.shown()) }
            // The page shows the same afterwards, at the same place.
            form id=(place.id) method="post" action={ (here) "#part-" (place.section) }
                data-edited[is_edited] {
                (form_token(&self.view.form_token))
                input type="hidden" name="tool" value=(tool);
                input type="hidden" name=(PLACE) value=(place.name);
                (content)
            }
        }
    }
}

/// Whether a form only asks to see what was entered.
pub fn is_preview(fields: &Fields) -> bool {
    !fields.get(PREVIEW).is_empty()
}

/// The tool that a form calls, and its arguments.
pub fn sent(fields: &Fields) -> (String, Map<String, Value>) {
    let fixed: Option<Map<String, Value>> = serde_json::from_str(fields.get(FIXED)).ok();
    let mut arguments = fixed.unwrap_or_default();
    for (name, value) in fields.iter() {
        if let Some(argument) = name.strip_prefix(LINES) {
            // Browsers send each line break as two characters.
            arguments.insert(argument.to_owned(), value.replace("\r\n", "\n").into());
            continue;
        }
        let Some(argument) = name.strip_prefix(ARGUMENT) else {
            continue;
        };
        match argument.strip_suffix("[]") {
            Some(list) => {
                let list = arguments.entry(list).or_insert_with(|| json!([]));
                if let Some(list) = list.as_array_mut() {
                    list.push(value.into());
                }
            }
            None if value.trim().is_empty() => {}
            None if fields.has(&format!("{BEFORE}{argument}"), value) => {}
            None => {
                arguments.insert(argument.to_owned(), value.trim().into());
            }
        }
    }
    (fields.get("tool").to_owned(), arguments)
}
