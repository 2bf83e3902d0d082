//! Every error and warning that has a code is produced by a test of the program.
//!
//! Most tests do that on the way. Here are the rest, as scripts in `codes/`: a line is a call
//! or a command and, after `=>`, what comes back.
//!
//! ```text
//! cinema get_ticket {"reservation_id": "$booking"} => NO_TICKET    the code of an error or warning
//! cinema reserve_seats {…} => booking=/reservation/reservation_id  a part of the answer gets a name
//! $ keys rotate old => KEY_REVOKED                                 a command that fails
//! rpc cinema prompts/get {"name": "x"} => UNKNOWN_PROMPT           in the audit trail
//! until rooms send_message {…} => ROOM_ARCHIVE_FULL                again and again
//! & rooms wait_for_messages {…}                                    beside what follows
//! wait ROOM_DELETED                                                what came of it
//! forge other ticket                                               a name for a changed ticket
//! clock 24                                                         so many minutes after the start
//! file x.csv a,b                                                   a file in the working directory
//! ```
//!
//! A `-` before the counter is a caller without a key, a `!` one who may manage it.

mod commands;
mod found;
mod script;

use script::Script;

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn of_the_cinema() {
    let config = "[cinema]\nmax_seats_per_caller = 12\nmax_held_seats_per_caller = 4\n\
        max_waiting_per_show = 3\nmax_waiting_per_caller = 2\n";
    let mut script = Script::start(config).await;
    script.name_free_seats("show", "T1-4", "s").await;
    script.name_free_seats("other", "T4-5", "o").await;
    script.run_file("cinema.txt").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn of_innervoice() {
    let tools = [
        "calendar_create",
        "calendar_update",
        "reminder_create",
        "reminder_update",
    ];
    let allowed = tools.map(|tool| format!("\"innervoice.{tool}\" = \"allow\", "));
    let config = format!(
        "[approval]\ntools = {{ {} \"innervoice.message_send\" = \"allow\" }}\n\
         [innervoice]\nundo_seconds = 600\n",
        allowed.concat()
    );
    let mut script = Script::start(&config).await;
    script.run_file("innervoice.txt").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn of_merchant() {
    let mut script = Script::start("").await;
    script.run_file("merchant.txt").await;
    // Nobody listens there.
    let config = "[merchant]\nmeilisearch_url = \"http://127.0.0.1:9\"\n";
    let away = "until merchant search_products {\"keywords\": [\"むぎぼー\"]} => SEARCH_DEGRADED\n\
        $ doctor --config $config => MEILISEARCH_UNUSABLE\n";
    Script::start(config).await.run(away).await;
    let config = "[merchant]\nindex_dir = \"/dev/null\"\n";
    let broken = "merchant search_products {\"keywords\": [], \"facets\": true} => NO_FACETS\n\
        $ doctor --config $config => SEARCH_INDEX_UNUSABLE\n";
    Script::start(config).await.run(broken).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn of_rooms() {
    let config = "[rooms]\nmax_members = 3\nsends_per_minute = 2\nmax_names_per_key = 4\n\
        max_waits_per_caller = 1\n";
    let mut script = Script::start(config).await;
    script.run_file("rooms.txt").await;
    let config = "[rooms]\nsends_per_minute = 0\nmax_messages = 1\nmax_archive_mb = 1\n";
    let full = "rooms create_room {\"roomName\": \"a\"} => ok\n\
        rooms enter_room {\"roomName\": \"a\", \"agentName\": \"x\"} => ok\n\
        until rooms send_message {\"roomName\": \"a\", \"agentName\": \"x\", \
        \"message\": \"$long\"} => ROOM_ARCHIVE_FULL\n";
    Script::start(config).await.run(full).await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn of_todo() {
    let mut script = Script::start("").await;
    script.run_file("todo.txt").await;
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn of_the_fixture_and_of_commands() {
    let mut script = Script::start("").await;
    script.run_file("commands.txt").await;
}
