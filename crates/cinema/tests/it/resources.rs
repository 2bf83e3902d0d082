//! Resources, completion and the clerk's prompt.

use std::collections::HashSet;

use kit::{
    context::Language,
    prompt::Rendered,
    resource::{CompletionQuestion, Reference},
};
use serde_json::{Map, Value, json};

use crate::cinema::{Cinema, both, one};

async fn read(cinema: &Cinema, uri: &str) -> Option<Value> {
    let text = cinema.read(uri).await?;
    Some(serde_json::from_str(&text).unwrap())
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_list_covers_every_screening_once() {
    for cinema in both().await {
        let resources = cinema.counter.resources.clone().unwrap();
        let mut seen = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let page = resources.list(&cinema.context, cursor.as_deref()).await;
            let page = page.unwrap();
            assert!(page.items.len() <= 50);
            seen.extend(page.items.into_iter().map(|resource| resource.uri));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen.len(), 4 + 333);
        let first = ["films", "place", "prices", "ticket-key"];
        assert_eq!(seen[..4], first.map(|name| format!("cinema://{name}")));
        assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len());
        let foreign = resources.list(&cinema.context, Some("p50")).await;
        assert_eq!(foreign.unwrap_err().code, "INVALID_CURSOR");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn seat_maps_and_films_can_be_read() {
    for cinema in both().await {
        let show = "S20261116-T4-4";
        let uri = format!("cinema://shows/{show}/seats");
        let with_map = json!({"schedule_id": show, "map": true});
        let seats = cinema.ok("get_seat_availability", with_map).await;
        assert_eq!(read(&cinema, &uri).await, Some(seats));
        let films = cinema.movies(json!({})).await;
        assert_eq!(read(&cinema, "cinema://films").await, Some(films));
        for uri in [
            "cinema://shows/S0/seats",
            "cinema://shows/",
            "cinema://halls",
            "",
        ] {
            assert_eq!(read(&cinema, uri).await, None, "{uri}");
        }
        let resources = cinema.counter.resources.clone().unwrap();
        let complete = async |about: Reference, argument: &str, typed: &str| {
            let question = CompletionQuestion {
                about,
                argument: argument.into(),
                typed: typed.into(),
                settled: Vec::new(),
            };
            let values = resources.complete(&cinema.context, &question).await;
            values.unwrap()
        };
        let template = || Reference::Template("cinema://shows/{schedule_id}/seats".into());
        let prompt = || Reference::Prompt("box_office_clerk".into());
        let found = complete(template(), "schedule_id", "s20261117-T6").await;
        assert_eq!(found.len(), 6);
        assert!(found.iter().all(|id| id.starts_with("S20261117-T6-")));
        assert_eq!(complete(template(), "schedule_id", "").await.len(), 100);
        let clerk = &cinema.counter.prompts[0];
        assert_eq!(clerk.fixed_values("language", "").unwrap(), ["ja", "en"]);
        assert_eq!(clerk.fixed_values("language", "E").unwrap(), ["en"]);
        assert_eq!(clerk.fixed_values("date", ""), None);
        assert_eq!(complete(prompt(), "date", "").await.len(), 8);
        let other = Reference::Prompt("other".into());
        assert!(complete(other, "date", "").await.is_empty());
    }
}

#[tokio::test]
async fn the_clerk_speaks_both_languages() {
    let cinema = one().await;
    let prompt = &cinema.counter.prompts[0];
    assert_eq!(prompt.name, "box_office_clerk");
    let render = async |language: Language, arguments: Value| {
        let mut context = cinema.context.clone();
        context.language = language;
        let arguments: Map<String, Value> = arguments.as_object().unwrap().clone();
        match (prompt.render)(context, arguments).await {
            Ok(Rendered::Messages(messages)) => {
                Ok(messages[0].content["text"].as_str().unwrap().to_owned())
            }
            Ok(Rendered::InputRequired { .. }) => panic!("the prompt asks back"),
            Err(error) => Err(error.code.into_owned()),
        }
    };
    let english = render(Language::English, json!({})).await.unwrap();
    assert!(english.starts_with("You are the clerk") && english.contains("2026-11-15"));
    assert!(english.contains('○') && english.contains("No payment"));
    let tomorrow = render(Language::Japanese, json!({"date": "明日"})).await;
    let japanese = tomorrow.as_ref().unwrap();
    assert!(japanese.contains("窓口係") && japanese.contains("2026-11-16"));
    for (arguments, rendered) in [
        (json!({"language": "ja", "date": "明日"}), tomorrow),
        (
            json!({"language": "fr"}),
            Err("INVALID_LANGUAGE".to_owned()),
        ),
        (
            json!({"date": "2026-02-30"}),
            Err("INVALID_DATE".to_owned()),
        ),
    ] {
        assert_eq!(render(Language::English, arguments).await, rendered);
    }
}
