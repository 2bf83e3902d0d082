//! `serve` on a terminal.

use super::FreePorts;
use crate::harness::{Output, Place, Terminal, mentions, terminal::plain};

async fn serve(place: &Place, ports: &FreePorts, terminal: Terminal, more: &[&str]) -> Output {
    let serve = ports.serve();
    let serve: Vec<&str> = serve
        .iter()
        .map(String::as_str)
        .chain(more.iter().copied())
        .collect();
    terminal.run(place, &serve).await.ok()
}

#[tokio::test]
async fn a_person_sees_what_runs_where_and_what_to_do_first() {
    let (place, ports) = (Place::new(), FreePorts::new());
    let terminal = Terminal::new().until("Ctrl+C");
    let shown = serve(&place, &ports, terminal, &[]).await.stdout;
    assert!(shown.contains("\u{1b}["), "no colours: {shown}");
    let shown = plain(&shown);
    let (main, data) = (ports.main, place.data());
    for counter in ["cinema", "innervoice", "merchant", "rooms", "todo"] {
        mentions(&shown, &[&format!("http://127.0.0.1:{main}/mcp/{counter}")]);
    }
    mentions(
        &shown,
        &[
            &format!("ws://127.0.0.1:{}", ports.innervoice),
            &format!("http://127.0.0.1:{}/mcp", ports.merchant),
            "films, seats, tickets",
            "needs a key",
            &format!("http://127.0.0.1:{main}/console/open?token="),
            "Authorization: Bearer mdg_",
            &format!(
                "madoguchi install claude-code todo rooms --data {}",
                data.display()
            ),
            &format!("claude mcp add --transport http cinema http://127.0.0.1:{main}/mcp/cinema"),
            "madoguchi demo tour\n",
            &format!("madoguchi call cinema get_movie_list --url http://127.0.0.1:{main}"),
            "alias madoguchi=/",
            "Stopping after the calls in flight are answered.",
        ],
    );
    assert!(!shown.contains("INFO") && !shown.contains("{\""), "{shown}");
    // The first key is created only once.
    let again = serve(&place, &ports, Terminal::new().until("Ctrl+C"), &[]).await;
    assert!(!again.stdout.contains("Bearer"), "{}", again.stdout);
}

#[tokio::test]
async fn log_lines_come_back_with_a_log_level() {
    let (place, ports) = (Place::new(), FreePorts::new());
    let terminal = Terminal::new().until(" ready");
    let shown = serve(&place, &ports, terminal, &["--log-level", "info"]).await;
    mentions(&plain(&shown.stdout), &["INFO", "Ctrl+C"]);
}

#[tokio::test]
async fn the_page_is_in_the_language_of_the_reader_and_without_colours_if_they_want_none() {
    let (place, ports) = (Place::new(), FreePorts::new());
    let terminal = Terminal::new()
        .env("LANG", "ja_JP.UTF-8")
        .env("NO_COLOR", "1")
        .until("Ctrl+C");
    let shown = serve(&place, &ports, terminal, &[]).await.stdout;
    mentions(
        &shown,
        &[
            "が動いています",
            "映画・座席・チケット",
            "要キー",
            "最初に試す",
        ],
    );
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[tokio::test]
async fn where_keys_are_required_the_page_says_how_to_make_one() {
    let (place, ports) = (Place::new(), FreePorts::new());
    let terminal = Terminal::new()
        .env("MADOGUCHI_HTTP__REQUIRE_KEY", "true")
        .until("Ctrl+C");
    let shown = plain(&serve(&place, &ports, terminal, &[]).await.stdout);
    mentions(
        &shown,
        &[
            "madoguchi keys create my-agent",
            "--header 'Authorization: Bearer KEY'",
        ],
    );
    assert!(!shown.contains("madoguchi call cinema"), "{shown}");
}
