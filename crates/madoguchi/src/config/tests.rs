use super::*;
use crate::{config_check, counters};

fn load_text(text: &str, environment: &[(&str, &str)]) -> Result<Config> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("madoguchi.toml");
    std::fs::write(&file, text).unwrap();
    let sources = Sources {
        data: None,
        file: Some(file),
        environment: environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
    };
    load(&sources, counters::all())
}

#[test]
fn the_default_file_says_what_the_defaults_are() {
    let counters = counters::all();
    let file = default_file(counters).unwrap();
    let from_file = load_text(&file, &[]).unwrap();
    let from_nothing = load(&Sources::default(), counters).unwrap();
    assert_eq!(from_file.settings, from_nothing.settings);
    assert_eq!(from_file.counters, from_nothing.counters);
    let lines: Vec<&str> = file.lines().collect();
    for pair in lines.windows(2) {
        let is_key = pair[1].contains(" = ") && !pair[1].starts_with('#');
        assert!(
            !is_key || pair[0].starts_with('#'),
            "no comment above: {}",
            pair[1]
        );
    }
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_name() {
    let error = load_text("[http]\nprot = 1", &[]).unwrap_err();
    assert_eq!(
        error.text(),
        "INVALID_CONFIG: There is no key `http.prot`. Did you mean `port`? All keys: madoguchi config default"
    );
    let error = load_text("[htp]\nport = 1", &[]).unwrap_err();
    assert!(error.text().contains("Did you mean `http`?"), "{error}");
    let error = load_text("[cinema]\ntime_zon = \"UTC\"", &[]).unwrap_err();
    assert!(
        error.text().contains("Did you mean `time_zone`?"),
        "{error}"
    );
    let error = load_text("", &[("MADOGUCHI_HTTP__PROT", "1")]).unwrap_err();
    assert!(error.text().contains("Did you mean `port`?"), "{error}");
}

#[test]
fn a_removed_key_is_a_warning() {
    let variable = [("MADOGUCHI_HTTP__DIRECT_PATH", "no")];
    for (text, environment, name) in [
        ("[http]\ndirect_path = false", &[][..], "`http.direct_path`"),
        ("", &variable[..], "MADOGUCHI_HTTP__DIRECT_PATH"),
    ] {
        let config = load_text(text, environment).unwrap();
        assert_eq!(config.settings, Settings::default());
        let [warning] = config.warnings.as_slice() else {
            panic!("{:?}", config.warnings);
        };
        assert!(warning.starts_with(name), "{warning}");
        assert!(warning.ends_with("Delete it: the direct path is always on."));
    }
    assert!(load_text("", &[]).unwrap().warnings.is_empty());
}

#[test]
fn wrong_values_are_refused_by_name() {
    for (text, key) in [
        ("[http]\nport = \"x\"", "http.port"),
        ("[http]\nport = 70000", "http.port"),
        ("[log]\nlevel = \"loud\"", "log.level"),
        (
            "[approval]\ntools = { \"cinema.reserve_seats\" = \"maybe\" }",
            "approval.tools",
        ),
    ] {
        let error = load_text(text, &[]).unwrap_err();
        assert!(error.text().contains(key), "{text}: {error}");
    }
    let error = load_text("[http", &[]).unwrap_err();
    assert!(error.text().contains("line 1"), "{error}");
}

#[test]
fn the_environment_wins_over_the_file_for_every_kind_of_key() {
    let config = load_text(
        "[http]\nport = 1\nrequire_key = false\n[cinema]\ntime_zone = \"UTC\"",
        &[
            ("MADOGUCHI_HTTP__PORT", "9000"),
            ("MADOGUCHI_HTTP__REQUIRE_KEY", "true"),
            ("MADOGUCHI_HTTP__ALLOWED_HOSTS", "a.example, b.example"),
            ("MADOGUCHI_DATABASE__URL", "postgres://x/y"),
            ("MADOGUCHI_LIMITS__REQUESTS_PER_MINUTE", "{ cinema = 5 }"),
            ("MADOGUCHI_CINEMA__TIME_ZONE", "America/New_York"),
            ("LOG_LEVEL", "DEBUG"),
            ("MADOGUCHI_DATA", "/nowhere"),
        ],
    )
    .unwrap();
    assert_eq!(config.settings.http.port, 9000);
    assert!(config.settings.http.require_key);
    assert_eq!(
        config.settings.http.allowed_hosts,
        ["a.example", "b.example"]
    );
    assert_eq!(config.settings.database.url, "postgres://x/y");
    assert_eq!(config.settings.limits.requests_per_minute["cinema"], 5);
    assert_eq!(config.settings.log.level, Level::Debug);
    assert_eq!(
        config.counters["cinema"]["time_zone"].as_str(),
        Some("America/New_York")
    );
}

#[test]
fn every_key_has_an_environment_variable() {
    let counters = counters::all();
    let schema = schema(counters);
    for (section, about) in schema["properties"].as_object().unwrap() {
        for (key, kind) in about["properties"].as_object().unwrap() {
            let smallest = kind["minimum"].as_u64().unwrap_or_default().max(7);
            let number = smallest.to_string();
            let value = match kind["type"].as_str() {
                Some("integer") => number.as_str(),
                Some("number") => "1",
                Some("boolean") => "true",
                Some("array") => "",
                Some("object") => "{}",
                _ => match kind["enum"].as_array() {
                    Some(values) => values[0].as_str().unwrap(),
                    None => "x",
                },
            };
            let name = format!(
                "MADOGUCHI_{}__{}",
                section.to_uppercase(),
                key.to_uppercase()
            );
            load_text("", &[(&name, value)]).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

/// What is wrong with a configuration ends up in logs.
#[test]
fn a_value_that_may_be_secret_is_not_repeated() {
    for (text, environment) in [
        ("[database]\nurl = [\"postgres://me:hunter2@h/x\"]", &[][..]),
        ("[database]\nurl = \"mysql://me:hunter2@h/x\"", &[]),
        ("[identity]\nsecret = { a = \"hunter2\" }", &[]),
        ("[identity]\nkeys = [\"hunter2\"]", &[]),
        ("[innervoice]\nsms_password = [\"hunter2\"]", &[]),
        (
            "[innervoice]\nwebhook_secret = { hunter2 = \"hunter2\" }",
            &[],
        ),
        ("[innervoice]\nsmtp_url = [\"smtp://me:hunter2@h\"]", &[]),
        ("[innervoice]\nsmtp_url = \"imap://me:hunter2@h\"", &[]),
        ("[innervoice]\nsms_password = hunter2", &[]),
        ("[innervoice]\nsms_password = \"hunter2", &[]),
        ("", &[("MADOGUCHI_IDENTITY__KEYS", "[hunter2")]),
        ("", &[("MADOGUCHI_DATABASE__URL", "mysql://me:hunter2@h/x")]),
    ] {
        let global = crate::cli::Global {
            config: None,
            data: None,
            log_level: None,
        };
        let loaded = load_text(text, environment);
        let used = loaded.and_then(|config| config_check::check(&global, &config));
        let error = used.expect_err(text);
        assert!(
            !error.text().contains("hunter2"),
            "{text}: {}",
            error.text()
        );
        let cause = error.cause.map(|cause| cause.to_string());
        assert!(!cause.unwrap_or_default().contains("hunter2"), "{text}");
    }
    let good = "[identity]\nsecret = \"hunter2\"\n[database]\nurl = \"postgres://me:hunter2@h/x\"\n\
                [innervoice]\nsms_password = \"hunter2\"";
    let shown = format!("{:?}", load_text(good, &[]).unwrap());
    assert!(!shown.contains("hunter2"), "{shown}");
}
