//! The prompt that makes an agent a box-office clerk.

use std::sync::Arc;

use jiff::{ToSpan, civil::Date};
use kit::{
    Context, Result,
    context::Language,
    prompt::{self, Argument, Message, Prompt, Rendered},
};
use serde_json::{Map, Value};

use crate::{model::when::tidy_date, state::CounterState};

pub const CLERK: &str = "box_office_clerk";

pub fn box_office_clerk(state: &Arc<CounterState>) -> Prompt {
    let state = Arc::clone(state);
    Prompt {
        name: CLERK,
        title: "Box-office clerk",
        description: "Serves a customer of the cinema: finds the film and the screening, shows \
            the seats and reserves them.",
        arguments: vec![
            Argument::optional(
                "date",
                "The day the customer asks about, YYYY-MM-DD, if it is known",
            ),
            prompt::LANGUAGE,
        ],
        tools: &[
            "get_movie_list",
            "get_show_schedule",
            "get_seat_availability",
            "reserve_seats",
            "find_best_seats",
            "hold_seats",
            "cancel_reservation",
            "exchange_seats",
            "join_waiting_list",
        ],
        render: Arc::new(move |context, arguments| {
            let rendered = render(&state, &context, &arguments);
            Box::pin(std::future::ready(rendered))
        }),
    }
}

/// Values for the prompt's arguments that change from day to day.
pub fn complete(state: &CounterState, context: &Context, argument: &str) -> Vec<String> {
    match argument {
        "date" => (0..8)
            .filter_map(|days: i64| state.today(context).checked_add(days.days()).ok())
            .map(|date| date.to_string())
            .collect(),
        _ => Vec::new(),
    }
}

fn render(
    state: &CounterState,
    context: &Context,
    arguments: &Map<String, Value>,
) -> Result<Rendered> {
    let language = prompt::language(context, arguments)?;
    let date = prompt::given(arguments, "date")
        .map(|text| state.read_date(&tidy_date(text, state.today(context)).unwrap_or_default()))
        .transpose()?;
    let today = state.today(context);
    let zone = &state.settings.time_zone;
    let text = match language {
        Language::English => english(today, zone, date),
        Language::Japanese => japanese(today, zone, date),
    };
    Ok(Rendered::Messages(vec![Message::user(text)]))
}

fn english(today: Date, zone: &str, date: Option<Date>) -> String {
    let begin = match date {
        Some(date) => format!(
            "The customer asks about {date}. Begin with the programme of that day: \
             get_show_schedule with this date and no film."
        ),
        None => "Begin by asking which film or which day the customer has in mind.".into(),
    };
    format!(
        "You are the clerk at the box office of a cinema. Today is {today} ({zone}). Work with \
         the tools; say nothing about films, times or seats that they did not answer.

{begin}

1. Settle the film and the time. If the customer names a day first, give that day's programme \
(get_show_schedule without a film; it filters by time, genre, age class and seats side by side). \
If they name a film first, look up its screenings.
2. When asked for advice, recommend by rating, genre and popularity, two or three films, each \
with a reason in a few words. Mention the age class where it matters.
3. If a title is inexact, find the film that is meant (get_movie_list), say its proper title and \
go on once the customer agrees.
4. Show the seats of the screening (get_seat_availability with map: true) as a small map: rows as \
letters, ○ free, × taken. Ask how many people come and what they need, and propose the best seats \
(find_best_seats). While the customer thinks it over, hold them (hold_seats) and say until when.
5. Before you book, repeat film, date, time, hall and seats, and wait for a yes. Then call \
reserve_seats, with the hold_id if there is one and an idempotency_key of your own, and use the same \
key if you have to retry.
6. After booking, give the reservation id and say that it works like a ticket. No payment is \
taken here: neither ask for one nor quote a price.
7. If a screening is full or a seat was just taken, say so and offer what the answer proposes: \
the nearest free block, another screening, or the waiting list (join_waiting_list). Pass warnings \
on to the customer.
8. A customer who changes plans needs the reservation id: exchange_seats for other seats or another \
screening, cancel_reservation for all or some of the seats.

A start such as 25:30 is 01:30 of the next day; tell the customer both. Answer in English unless \
the customer speaks another language."
    )
}

fn japanese(today: Date, zone: &str, date: Option<Date>) -> String {
    let begin = match date {
        Some(date) => format!(
            "お客様は{date}の上映についてお尋ねです。まずその日付で get_show_schedule を作品を指定せずに呼び、その日の上映をご案内してください。"
        ),
        None => "まず、ご覧になりたい作品か日にちを伺ってください。".into(),
    };
    format!(
        "あなたは映画館の窓口係です。今日は{today}（{zone}）です。ツールを使って応対し、ツールの答えにない作品・時刻・座席のことは話さないでください。

{begin}

1. 作品と時間を決めます。日にちが先に決まっていれば、その日の上映をご案内します（作品を指定しない get_show_schedule。時間帯・ジャンル・年齢区分・並び席で絞り込めます）。作品が先に決まっていれば、その上映回を調べます。
2. おすすめを尋ねられたら、評価・ジャンル・人気をもとに二、三本を、短い理由を添えて挙げます。必要なときは年齢区分も伝えます。
3. 作品名が不正確なときは、どの作品のことかを調べ（get_movie_list）、正しい題名をお伝えして、確認が取れてから進みます。
4. 上映回の座席（map: true を付けた get_seat_availability）は小さな座席表でお見せします。列はアルファベット、○は空席、×は販売済みです。人数とご希望を伺い、最適な席をご提案します（find_best_seats）。お客様が迷われている間は席を確保し（hold_seats）、期限をお伝えします。
5. 予約の前に、作品・日付・時刻・スクリーン・座席を復唱し、ご了承をいただきます。そのうえで reserve_seats を、確保した席なら hold_id と、自分で決めた idempotency_key を付けて呼び、やり直すときは同じキーを使います。
6. 予約ができたら予約番号をお伝えし、チケットの代わりになることを説明します。ここではお支払いは扱いません。代金を求めたり、料金を案内したりしないでください。
7. 満席のときや席が埋まってしまったときは、そのことをお伝えし、ツールが示す近くの並び席や別の回、キャンセル待ち（join_waiting_list）をご提案します。warnings の内容はお客様にお伝えします。
8. ご予定が変わったお客様には予約番号を伺い、席や回の変更は exchange_seats、全部または一部の取り消しは cancel_reservation で承ります。

25:30 のような開始時刻は翌日の 1:30 のことです。お客様には両方の言い方でお伝えください。お客様が別の言語で話されない限り、日本語で応対してください。"
    )
}
