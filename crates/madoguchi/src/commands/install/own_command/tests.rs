use std::fs;

use super::{super::paths::Platform, *};

fn surroundings() -> Surroundings {
    Surroundings {
        platform: Platform::Linux,
        home: "/home/me".into(),
        current: "/".into(),
        variable: |_| None,
    }
}

/// A program below a directory of its own.
fn program(place: &Path, path: &str) -> PathBuf {
    let path = place.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "").unwrap();
    path
}

#[test]
fn the_running_program_is_named_by_its_path() {
    let place = tempfile::tempdir().unwrap();
    let running = program(place.path(), "bin/madoguchi");
    let found = of_executable(&running, &surroundings()).unwrap();
    assert_eq!(found.words, [running.to_str().unwrap()]);
    assert_eq!(found.warning, None);
}

#[test]
fn a_program_in_a_build_directory_comes_with_a_warning() {
    let place = tempfile::tempdir().unwrap();
    let running = program(place.path(), "target/release/madoguchi");
    fs::create_dir(running.with_file_name(".fingerprint")).unwrap();
    let found = of_executable(&running, &surroundings()).unwrap();
    assert!(found.warning.unwrap().contains("cargo clean"));
}

#[test]
fn the_cache_of_npx_gives_the_command_with_its_packages() {
    let place = tempfile::tempdir().unwrap();
    let package = program(place.path(), "dist/madoguchi.tgz");
    let running = program(place.path(), "_npx/0a1b/node_modules/x/bin/madoguchi");
    let refused = of_executable(&running, &surroundings()).unwrap_err();
    assert_eq!(refused.code, "RUNS_FROM_CACHE");
    let about = r#"{"dependencies": {"madoguchi": "file:../../dist/madoguchi.tgz"}}"#;
    program(place.path(), "_npx/0a1b/package.json");
    fs::write(place.path().join("_npx/0a1b/package.json"), about).unwrap();
    let found = of_executable(&running, &surroundings()).unwrap();
    let package = package.canonicalize().unwrap();
    let expected = [
        "npx",
        "--yes",
        "--package",
        package.to_str().unwrap(),
        "madoguchi",
    ];
    assert_eq!(found.words, expected);
    assert!(found.warning.is_some());
    let about = r#"{"dependencies": {"madoguchi": "^0.1.0"}}"#;
    fs::write(place.path().join("_npx/0a1b/package.json"), about).unwrap();
    let refused = of_executable(&running, &surroundings()).unwrap_err();
    assert!(refused.next.unwrap().contains("--command"));
}

#[test]
fn the_cache_of_uvx_gives_the_command_with_its_wheel() {
    let place = tempfile::tempdir().unwrap();
    let wheel = program(place.path(), "窓 1/madoguchi-0.1.0.whl");
    program(place.path(), "uv/CACHEDIR.TAG");
    let running = program(place.path(), "uv/archive-v0/xyz/bin/madoguchi");
    let refused = of_executable(&running, &surroundings()).unwrap_err();
    assert_eq!(refused.code, "RUNS_FROM_CACHE");
    let origin =
        "uv/archive-v0/xyz/lib/python3.13/site-packages/madoguchi-0.1.0.dist-info/direct_url.json";
    let origin = program(place.path(), origin);
    let url = format!("file://{}", wheel.display());
    let url = url.replace('窓', "%E7%AA%93").replace(' ', "%20");
    let about = serde_json::json!({ "url": url });
    fs::write(origin, about.to_string()).unwrap();
    let found = of_executable(&running, &surroundings()).unwrap();
    assert_eq!(
        found.words,
        ["uvx", "--from", wheel.to_str().unwrap(), "madoguchi"]
    );
}

#[test]
fn a_given_command_is_split_into_words() {
    for (given, expected) in [
        ("madoguchi", Some(vec!["madoguchi"])),
        (
            "npx -y  '/a b/m.tgz'",
            Some(vec!["npx", "-y", "/a b/m.tgz"]),
        ),
        ("\"C:\\x y\"/m ''", Some(vec!["C:\\x y/m", ""])),
        ("'open", None),
    ] {
        let words = words(given);
        let words = words
            .as_ref()
            .map(|words| words.iter().map(String::as_str).collect());
        assert_eq!(words, expected, "{given}");
    }
    let refused = command(Some("  "), &surroundings()).unwrap_err();
    assert_eq!(refused.code, "INVALID_COMMAND");
}
