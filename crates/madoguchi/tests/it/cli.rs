//! The commands besides `serve` and `stdio`.

use serde_json::{Value, json};

use crate::harness::{Desk, MODERN, Output, Place, mentions};

#[test]
fn tools_for_people_and_programs() {
    let place = Place::new();
    let text = place.run(&["tools"]).ok().stdout;
    assert!(text.contains("cinema get_show_schedule movie_id [movie_title] date [from_time]"));
    let tools = place.run(&["tools", "cinema", "--json"]).ok().json();
    let tools = tools.as_array().unwrap();
    assert!(tools.len() >= 5);
    for tool in tools {
        assert_eq!(tool["counter"], "cinema");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
    }
    let few = place.run(&["tools", "--json", "--read-only"]).ok().json();
    let mut few = few.as_array().unwrap().iter();
    assert!(few.all(|tool| tool["name"] != "reserve_seats"));
    // Nothing is opened, so nothing is left behind.
    assert!(!place.data().exists());
}

/// What the command shows is what clients are shown.
#[tokio::test]
async fn tools_are_those_of_the_desk() {
    let desk = Desk::start().await;
    let listed = desk.rpc("cinema", "tools/list", json!({})).await;
    let mut shown = desk.place.run(&["tools", "cinema", "--json"]).ok().json();
    let shown = shown.as_array_mut().unwrap();
    for tool in &mut *shown {
        tool.as_object_mut().unwrap().remove("counter");
    }
    // For the staff alone, so a caller without a key is not shown it.
    shown.retain(|tool| tool["name"] != "check_ticket");
    assert_eq!(json!(shown), listed["result"]["tools"]);
}

#[test]
fn call_in_process() {
    let place = Place::new();
    place.load_demo(&[]);
    let call = |arguments: &[&str]| place.run(&[&["call", "cinema"], arguments].concat());
    let movies = call(&["get_movie_list", r#"{"limit": 2}"#]).ok().json();
    assert_eq!(movies["movies"].as_array().unwrap().len(), 2);
    let whole = call(&["get_movie_list", r#"{"limit": 2}"#, "--json"])
        .ok()
        .json();
    assert_eq!(whole["structuredContent"], movies);
    assert_eq!(whole["content"][0]["type"], "text");

    let mut command = place.command();
    command.args(["call", "cinema", "get_movie_list", "-"]);
    let piped = Output::of(&mut command, r#"{"limit": 2}"#).ok().json();
    assert_eq!(piped, movies);

    let wrong = call(&["get_movie_list", r#"{"date": "soon"}"#]);
    assert_eq!(wrong.code, Some(1));
    assert_eq!(wrong.json()["error"]["code"], "INVALID_DATE");
    call(&["get_movie_lists"]).fails_with("Did you mean get_movie_list?");
    call(&["get_movie_list", "[1]"]).fails_with("INVALID_JSON");
    let read_only = call(&["reserve_seats", r#"{"seat_ids": ["A1"]}"#, "--read-only"]);
    assert_eq!(read_only.json()["error"]["code"], "TOOL_NOT_OFFERED");
}

#[tokio::test(flavor = "multi_thread")]
async fn call_at_a_running_desk() {
    let desk = Desk::start().await;
    // Without data of its own: everything comes from the desk.
    let place = Place::new();
    let call = |arguments: &[&str]| {
        let url = desk.url("");
        place.run(&[&["call", "cinema"], arguments, &["--url", &url]].concat())
    };
    let movies = call(&["get_movie_list"]).ok().json();
    assert!(movies["movies"].as_array().unwrap().len() >= 10);
    let wrong = call(&["get_movie_list", r#"{"date": "soon"}"#]);
    assert_eq!(wrong.code, Some(1));
    assert_eq!(wrong.json()["error"]["code"], "INVALID_DATE");
    let whole = call(&["get_movie_list", "--json"]).ok().json();
    assert_eq!(whole["resultType"], "complete");
    call(&["get_movie_lists"]).fails_with("Did you mean get_movie_list?");
    assert!(!place.data().exists());

    let nobody = place.run_line("call cinema get_movie_list --url http://127.0.0.1:1");
    nobody.fails_with("Is `madoguchi serve` running there?");
}

#[test]
fn demo_data_is_loaded_and_removed() {
    let place = Place::new();
    let count = || {
        let movies = place.run(&["call", "cinema", "get_movie_list"]).ok().json();
        movies["movies"].as_array().unwrap().len()
    };
    assert_eq!(count(), 0);
    let loaded = place.run(&["demo", "load", "cinema"]).ok().stdout;
    assert!(loaded.starts_with("Loaded 12 films"), "{loaded}");
    assert_eq!(count(), 12);
    let again = place.run(&["demo", "load", "cinema"]).ok().stdout;
    assert!(again.contains(" 0 screenings"), "{again}");
    place.run(&["demo", "remove", "cinema"]).ok();
    assert_eq!(count(), 0);
    place
        .run(&["demo", "load", "cinma"])
        .fails_with("Did you mean `cinema`?");
}

/// The default file says what holds anyway, and passes its own check.
#[test]
fn config_default_and_schema() {
    let place = Place::new();
    let text = place.run(&["config", "default"]).ok().stdout;
    for section in ["[http]", "[websocket]", "[database]", "[log]", "[cinema]"] {
        assert!(text.contains(section), "{section}");
    }
    let file = place.file("madoguchi.toml", &text);
    let said = place.run(&["config", "check"]).ok().stdout;
    assert!(said.contains("madoguchi.toml is fine"), "{said}");
    place.run(&["config", "check", file.to_str().unwrap()]).ok();
    let schema = place.run(&["config", "schema"]).ok().json();
    let http = &schema["properties"]["http"]["properties"];
    assert_eq!(http["port"]["default"], 8010);
    assert!(schema["properties"]["cinema"]["properties"]["time_zone"].is_object());
}

#[test]
fn config_mistakes_are_named() {
    let place = Place::new();
    for (text, said) in [
        ("[http]\nprt = 1", "Did you mean `port`?"),
        ("[htp]\nport = 1", "Did you mean `http`?"),
        ("[http]\nport = \"x\"", "http.port"),
        ("[http]\nport = 70000", "http.port"),
        ("[log]\nlevel = \"loud\"", "log.level"),
        (
            "[cinema]\ntimezone = \"Asia/Tokyo\"",
            "Did you mean `time_zone`?",
        ),
        (
            "[cinema]\nmax_seats_per_booking = 0",
            "max_seats_per_booking",
        ),
        ("[http\n", "line 1"),
        ("[http]\nport = 1\nport = 2", "line 3"),
    ] {
        let file = place.file("wrong.toml", text);
        let file = file.to_str().unwrap();
        place.run(&["config", "check", file]).fails_with(said);
        place.run(&["serve", "--config", file]).fails_with(said);
    }
    place
        .run(&["serve", "--config", "none.toml"])
        .fails_with("none.toml");
}

/// What `serve` refuses, `config check` and `doctor` do not call fine.
#[test]
fn config_check_refuses_what_serve_refuses() {
    let place = Place::new();
    let key = |more: &str| {
        let digest = "0".repeat(64);
        format!("[identity]\nkeys = [{{ name = \"phone\", sha256 = \"{digest}\"{more} }}]")
    };
    let twice = format!(
        "[identity]\nkeys = [{0}, {0}]",
        format_args!("{{ name = \"phone\", sha256 = \"{}\" }}", "0".repeat(64))
    );
    for (text, said) in [
        ("[cinema]\ntime_zone = \"Asia/Tokio\"", "`Asia/Tokyo`"),
        ("[limits]\nrequests_per_minute = { cinma = 5 }", "`cinema`"),
        (
            "[limits]\nrequests_per_minute = { cinema = 0 }",
            "requests_per_minute",
        ),
        (
            "[approval]\ntools = { \"cinma.reserve_seats\" = \"deny\" }",
            "`cinema`",
        ),
        ("[tools]\nonly = [\"get_movie_lst\"]", "`get_movie_list`"),
        ("[http]\naddress = \"localhost\"", "127.0.0.1"),
        ("[http]\naddress = \"0.0.0.0\"", "trusted_network"),
        (
            "[http]\naddress = \"192.168.1.4\"\nrequire_key = true",
            "trusted_network",
        ),
        (
            "[identity]\nkeys = [{ name = \"phone\", sha256 = \"abc\" }]",
            "64 hex digits",
        ),
        (&twice, "phone"),
        (&key(", counters = [\"cinma\"]"), "`cinema`"),
        (&key(", tools = [\"get_movie_lst\"]"), "`get_movie_list`"),
        ("[database]\nurl = \"mysql://x/y\"", "INVALID_DATABASE_URL"),
        ("[http]\npublic_url = \"desk\"", "public_url"),
        (
            "[http]\nallowed_origins = [\"app.example.com\"]",
            "allowed_origins",
        ),
    ] {
        let file = place.file("wrong.toml", text);
        let file = file.to_str().unwrap();
        let serve = ["serve", "--config", file, "--port", "1"];
        let refused = place.run(&serve).failed();
        assert!(refused.contains(said), "{text}\n{refused}");
        let checked = place.run(&["config", "check", file]).failed();
        assert_eq!(checked, refused, "{text}");
        let doctor = place.run(&["doctor", "--config", file]);
        assert_eq!(doctor.code, Some(1), "{text}\n{}", doctor.stdout);
    }
    let fine = place.file("fine.toml", &key(", tools = [\"get_movie_list\"]"));
    place.run(&["config", "check", fine.to_str().unwrap()]).ok();
}

#[test]
fn environment_wins_over_the_file() {
    let place = Place::new();
    place.file("madoguchi.toml", "[http]\nport = 1\n");
    let doctor = |name, value| place.run_with(&["doctor", "--json"], &[(name, value)]);
    let port = |output: Output| {
        let findings = output.json()["findings"].as_array().unwrap().clone();
        let port = findings.into_iter().find(|f| f["what"] == "port").unwrap();
        port["message"].as_str().unwrap().to_owned()
    };
    assert!(port(doctor("X", "")).contains("127.0.0.1:1"));
    assert!(port(doctor("MADOGUCHI_HTTP__PORT", "34567")).contains("127.0.0.1:34567"));
    let wrong = doctor("MADOGUCHI_HTTP__PROT", "1");
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.stdout.contains("Did you mean `port`?"), "{wrong:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor() {
    let desk = Desk::start().await;
    let doctor = |arguments: &[&str], variable: (&str, &str)| {
        desk.place
            .run_with(&[&["doctor"], arguments].concat(), &[variable])
    };
    let port = desk.port.to_string();
    let report = doctor(&["--json"], ("MADOGUCHI_HTTP__PORT", &port));
    let report = report.ok().json();
    assert_eq!(report["healthy"], true, "{report}");
    mentions(&report.to_string(), &["is served by a desk"]);
    let text = desk.place.run(&["doctor"]).stdout;
    assert!(text.contains("sqlite reads and writes"), "{text}");
    assert!(text.contains("the index knows 30 products"), "{text}");

    let report = doctor(&[], ("MEILISEARCH_URL", "http://127.0.0.1:1"));
    assert_eq!(report.code, Some(1), "{}", report.stdout);
    mentions(&report.stdout, &["FAIL meilisearch"]);

    let nowhere = "postgres://nobody@127.0.0.1:1/x";
    let report = doctor(&["--json"], ("MADOGUCHI_DATABASE__URL", nowhere));
    assert_eq!(report.code, Some(1));
    assert_eq!(report.json()["healthy"], false);
}

#[test]
fn doctor_looks_at_the_data_directory_and_every_port() {
    let place = Place::new();
    let findings = |output: Output| {
        let report = output.json();
        let list = report["findings"].as_array().unwrap().clone();
        move |what: &str| {
            let found = list.iter().find(|finding| finding["what"] == what);
            found.unwrap_or_else(|| panic!("{what}: {report}")).clone()
        }
    };
    let healthy = findings(place.run(&["doctor", "--json"]));
    assert_eq!(healthy("data")["ok"], true);
    assert_eq!(healthy("store")["message"], "sqlite reads and writes");

    // A file where the directory should be.
    let file = place.file("occupied", "");
    let file = file.to_str().unwrap();
    let output = place.run(&["doctor", "--json", "--data", file]);
    assert_eq!(output.code, Some(1));
    let found = findings(output);
    assert_eq!(found("data")["ok"], false);
    let message = found("data")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("--data"), "{message}");

    // One that cannot be made.
    let below = format!("{file}/below");
    let output = place.run(&["doctor", "--json", "--data", &below]);
    assert_eq!(findings(output)("data")["ok"], false);

    // Ports: switched off, taken by another program, on IPv6 where there is any.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    for (config, ok, said) in [
        ("[http]\nport = 0".to_owned(), Some(true), "switched off"),
        (format!("[http]\nport = {port}"), Some(false), "--port"),
        ("[http]\naddress = \"::1\"".to_owned(), None, "[::1]:8010"),
    ] {
        let config = place.file("ports.toml", &config);
        let output = place.run(&["doctor", "--json", "--config", config.to_str().unwrap()]);
        let found = findings(output);
        let finding = found("port");
        let message = finding["message"].as_str().unwrap();
        assert!(ok.is_none_or(|ok| finding["ok"] == ok), "{message}");
        assert!(message.contains(said), "{message}");
    }
}

#[test]
fn completions_for_every_shell() {
    let place = Place::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = place.run(&["completions", shell]).ok().stdout;
        mentions(&script, &["madoguchi", "exclude-tools"]);
    }
}

#[test]
fn mistakes_are_refused_with_the_nearest_name() {
    let place = Place::new();
    for (arguments, said) in [
        ("serv", "'serve'"),
        ("serve --prot 1", "'--port'"),
        ("serve --port 99999", "99999"),
        (
            "serve --port 0 --merchant-port 0 --innervoice-port 0",
            "--port",
        ),
        ("serve --port 1 --tools get_movie_lst", "`get_movie_list`"),
        ("serve --log-level inf", "`info`"),
        ("stdio cinma", "`cinema`"),
        (
            "stdio cinema --exclude-tools reserve_seat",
            "`reserve_seats`",
        ),
        ("tools cinma", "`cinema`"),
        ("tools --jsn", "'--json'"),
        ("tools --tools get_movie_lst", "`get_movie_list`"),
        ("call cinma get_movie_list", "`cinema`"),
        ("call cinema get_movie_list --ulr x", "'--url'"),
        ("completions fsh", "'fish'"),
        ("config chek", "'check'"),
    ] {
        let output = place.run_line(arguments);
        assert_eq!(output.stdout, "", "{arguments:?}");
        output.fails_with(said);
    }
}

#[test]
fn a_taken_port_is_named_with_its_flag() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let said = place.run(&["serve", "--port", &port]).failed();
    assert!(said.contains("--port") && said.contains(&port), "{said}");
}

/// One page for a first look, and the version.
#[tokio::test]
async fn help_and_the_front_page() {
    let place = Place::new();
    let version = place.run(&["--version"]).ok().stdout;
    assert_eq!(
        version.trim(),
        concat!("madoguchi ", env!("CARGO_PKG_VERSION"))
    );
    let help = place.run(&["--help"]).ok().stdout;
    for command in [
        "serve", "stdio", "tools", "call", "demo", "config", "doctor",
    ] {
        assert!(help.contains(command), "{command}");
    }
    let desk = Desk::start().await;
    let page = desk.get("/").await.text();
    assert!(page.contains("/mcp/cinema"), "{page}");
    let about: Value = desk.rpc("cinema", "server/discover", json!({})).await;
    assert!(about.to_string().contains(MODERN), "{about}");
}
