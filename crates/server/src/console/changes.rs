//! What a call changed, as far as it is known, and why not where it isn't.

use desk::{
    DESK, Desk, FoundTool,
    audit::{FoundRecord, acts},
    events, ledger,
    methods::{FILE, METHODS},
};
use kit::{Result, context::Change, sql::Budget};
use maud::{Markup, html};

use super::{
    parts::excerpt,
    records::{place, text},
    view::View,
    words::Words,
};

/// What is known about the changes of a call.
pub enum Changes {
    /// It was refused, or asked a person first.
    NotDone,
    /// It can't change anything.
    ReadsOnly,
    /// An act at the desk itself.
    Act,
    /// The resources that it changed. `more`: also something without an address.
    Resources { addresses: Vec<String>, more: bool },
    /// It ended without committing anything.
    NothingCommitted,
    /// Rows about changes are deleted after a day.
    TooOld,
    /// The counter keeps no rows about changes.
    NotKept,
}

/// `None`: the record is not about one call.
pub async fn of(desk: &Desk, record: &FoundRecord) -> Result<Option<Changes>> {
    let field = |name| text(record, name).unwrap_or_default();
    if field("kind") != "call" {
        return Ok(None);
    }
    let may_have_changed = match field("outcome") {
        "done" | "failed" | "abandoned" => true,
        _ => kit::error::may_have_changed_something(field("code")),
    };
    if !may_have_changed {
        return Ok(Some(Changes::NotDone));
    }
    if field("counter") == DESK || field("tool") == acts::POLICY_SET {
        return Ok(Some(Changes::Act));
    }
    let Some(served) = desk.counter(field("counter")) else {
        return Ok(Some(Changes::NotKept));
    };
    let caller = kit::Caller::new(field("caller"), field("caller_name"));
    let found = served.find_for(&caller, field("tool"));
    if matches!(found, FoundTool::Tool(_)) && !found.writes() {
        return Ok(Some(Changes::ReadsOnly));
    }
    Ok(Some(match (&served.counter.store, &found) {
        // Requests that show data without a tool are recorded by their method.
        (_, FoundTool::Unknown) if is_method(field("tool")) => Changes::ReadsOnly,
        (Some(store), _) => {
            let call = field("call").to_owned();
            let kept = store.query(Budget::default(), move |sql| {
                let row = sql.query_one(
                    "SELECT changes FROM desk_writes WHERE call_id = $1",
                    &[(&call).into()],
                )?;
                row.map(|row| row.text(0)).transpose()
            });
            let is_old = record.at < desk.clock.now().as_millisecond() - ledger::KEPT_MS;
            match kept.await? {
                Some(kept) => resources(&kept),
                None if is_old => Changes::TooOld,
                None if found.has_ledger_row() => Changes::NothingCommitted,
                None => Changes::NotKept,
            }
        }
        (None, _) => Changes::NotKept,
    }))
}

fn is_method(name: &str) -> bool {
    let mut methods = METHODS.iter().chain([&FILE]);
    methods.any(|method| method.name == name)
}

fn resources(kept: &str) -> Changes {
    let (mut addresses, mut more) = (Vec::new(), false);
    for change in events::decode(kept) {
        match change {
            Change::Resource(uri) => addresses.push(uri),
            Change::ResourceList | Change::ToolList | Change::PromptList | Change::Page => {
                more = true;
            }
        }
    }
    addresses.dedup();
    Changes::Resources { addresses, more }
}

impl Changes {
    fn in_words(&self, words: &Words) -> &'static str {
        match self {
            Self::NotDone => words.pick(
                "Nothing: the call was not carried out.",
                "何も変更していません。この呼び出しは実行されませんでした。",
            ),
            Self::ReadsOnly => words.pick(
                "Nothing: it only reads.",
                "何も変更していません。読み取りだけを行う呼び出しです。",
            ),
            Self::Act => words.pick(
                "What the arguments say.",
                "引数に書かれているとおりです。",
            ),
            Self::Resources { addresses, .. } if addresses.is_empty() => words.pick(
                "This kind of change has no address of its own. The arguments say what was changed, and the page of the counter shows how it is now.",
                "この種類の変更には、個別のアドレスがありません。変更の内容は引数のとおりで、現在の状態は窓口のページにあります。",
            ),
            Self::Resources { more: true, .. } => words.pick(
                "And something that has no address of its own.",
                "ほかに、個別のアドレスがないものも変更しました。",
            ),
            Self::Resources { more: false, .. } => "",
            Self::NothingCommitted => words.pick(
                "Nothing: it ended before anything was stored, or repeated an earlier answer.",
                "何も変更していません。保存する前に終わったか、前の回答を繰り返しました。",
            ),
            Self::TooOld => words.pick(
                "No longer known: what a call changed is kept for a day. The arguments say what it was to do.",
                "すでに分かりません。変更されたものの記録は1日だけ保存されます。何をする呼び出しだったかは引数にあります。",
            ),
            Self::NotKept => words.pick(
                "This counter keeps no list of what each call changed. The arguments say what it was to do, and the page of the counter shows how it is now.",
                "この窓口は、呼び出しごとの変更の一覧を保存していません。何をする呼び出しだったかは引数に、現在の状態は窓口のページにあります。",
            ),
        }
    }

    pub fn shown(&self, view: &View, record: &FoundRecord) -> Markup {
        let words = view.words;
        let what = self.in_words(words);
        let has_page = match self {
            Self::Resources { addresses, more } => *more || addresses.is_empty(),
            Self::NotKept => true,
            _ => false,
        };
        let counter = text(record, "counter").filter(|name| view.desk.counter(name).is_some());
        html! {
            @if let Self::Resources { addresses, .. } = self {
                ul class="lines" role="list" {
                    @for change in addresses { li { code { (excerpt(change, 300)) } } }
                }
            }
            @if !what.is_empty() { p { (what) } }
            @if let Some(page) = self.act_page(record) {
                p { a href=(page.0) { (words.pick(page.1, page.2)) } }
            }
            @if let (true, Some(counter)) = (has_page, counter) {
                p { a href={ "/console/" (counter) } { (place(view, record)) } }
            }
        }
    }

    /// The page where people do the same: address, English and Japanese name.
    fn act_page(&self, record: &FoundRecord) -> Option<(&str, &str, &str)> {
        match (self, text(record, "tool")?) {
            (Self::Act, acts::POLICY_SET) => Some(("/console/policies", "Policies", "ポリシー")),
            (Self::Act, _) => Some(("/console/keys", "Keys", "キー")),
            _ => None,
        }
    }
}
