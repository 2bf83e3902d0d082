//! Where the password of a PostgreSQL user comes from: the address, the file in the
//! configuration, `PGPASSWORD`, or a file of passwords as libpq reads it. Files are
//! read for every connection, so a new password needs no restart.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use kit::Result;

use crate::{
    failure::storage,
    url::{HostAddress, PostgresAddress},
};

/// The password for one of the hosts; `None` if there is none. `file` is the one in
/// the configuration, which holds a password and nothing else.
pub(super) fn password(
    address: &PostgresAddress,
    host: &HostAddress,
    file: Option<&Path>,
) -> Result<Option<String>> {
    find(address, host, file, |name| env::var_os(name))
}

fn find(
    address: &PostgresAddress,
    host: &HostAddress,
    file: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Option<String>> {
    if let Some(password) = &address.password {
        return Ok(Some(password.clone()));
    }
    if let Some(file) = file {
        let text = fs::read_to_string(file).map_err(|error| {
            storage(
                "The file with the password of the database can't be read.",
                "Check `password_file` in [database], and that the user who runs Madoguchi can \
                 read it.",
                format!("{}: {error}", file.display()),
            )
        })?;
        return Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()));
    }
    let text = |name: &str| variable(name).and_then(|value| value.into_string().ok());
    if let Some(password) = text("PGPASSWORD").filter(|password| !password.is_empty()) {
        return Ok(Some(password));
    }
    let user = address.driver.get_user().map(str::to_owned);
    let user = user.or_else(|| text("USER")).unwrap_or_default();
    let wanted = Wanted {
        host,
        database: address.driver.get_dbname().unwrap_or(&user),
        user: &user,
    };
    let passfile = passfile(address, variable);
    Ok(passfile.and_then(|path| in_passfile(&path, &wanted)))
}

/// `passfile` in the address, else `PGPASSFILE`, else `~/.pgpass`.
fn passfile(
    address: &PostgresAddress,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    let named = |name: &str| variable(name).filter(|value| !value.is_empty());
    address
        .passfile
        .clone()
        .or_else(|| named("PGPASSFILE").map(PathBuf::from))
        .or_else(|| Some(PathBuf::from(named("HOME")?).join(".pgpass")))
}

struct Wanted<'a> {
    host: &'a HostAddress,
    database: &'a str,
    user: &'a str,
}

/// The password in the first line that fits. A file that others can read is ignored,
/// as libpq does.
fn in_passfile(path: &Path, wanted: &Wanted<'_>) -> Option<String> {
    let about = fs::metadata(path).ok()?;
    if !about.is_file() {
        tracing::warn!("the password file {} is not a file", path.display());
        return None;
    }
    if others_can_read(&about) {
        tracing::warn!(
            "the password file {path} is ignored, because other users can read it; run: chmod 600 \
             {path}",
            path = path.display()
        );
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| in_line(line, wanted))
}

#[cfg(unix)]
fn others_can_read(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    about.mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn others_can_read(_: &fs::Metadata) -> bool {
    false
}

/// `host:port:database:user:password`, where `*` fits anything and a backslash takes
/// the next character as it is.
fn in_line(line: &str, wanted: &Wanted<'_>) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let [host, port, database, user, password] = fields(line)?;
    let is = |field: &Field, text: &str| field.is_any || field.text == text;
    let is_local = wanted.host.is_socket() && is(&host, "localhost");
    let fits = (is_local || is(&host, &wanted.host.name))
        && is(&port, &wanted.host.port.to_string())
        && is(&database, wanted.database)
        && is(&user, wanted.user);
    fits.then_some(password.text)
}

#[derive(Default)]
struct Field {
    text: String,
    /// A bare `*`.
    is_any: bool,
}

fn fields(line: &str) -> Option<[Field; 5]> {
    let mut fields: [Field; 5] = Default::default();
    let mut rest = line.chars();
    for (index, field) in fields.iter_mut().enumerate() {
        let is_last = index == 4;
        let mut ended = false;
        let mut escaped = false;
        while let Some(letter) = rest.next() {
            match letter {
                '\\' => {
                    escaped = true;
                    field.text.extend(rest.next());
                }
                ':' if !is_last => {
                    ended = true;
                    break;
                }
                letter => field.text.push(letter),
            }
        }
        if !ended && !is_last {
            return None;
        }
        field.is_any = !escaped && field.text == "*";
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::DatabaseUrl;

    fn found(url: &str, file: Option<&Path>, environment: &[(&str, &str)]) -> Option<String> {
        let DatabaseUrl::Postgres(address) = DatabaseUrl::parse(url).unwrap() else {
            panic!("{url}");
        };
        let variable = |name: &str| {
            let mut all = environment.iter();
            all.find(|(key, _)| *key == name)
                .map(|(_, value)| OsString::from(value))
        };
        find(&address, &address.hosts[0], file, variable).unwrap()
    }

    #[cfg(unix)]
    fn set_mode(path: &Path, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_nearest_source_wins() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("password");
        fs::write(&file, "from file\n").unwrap();
        let set = [("PGPASSWORD", "from variable")];
        let cases = [
            ("postgres://me:own@h/x", Some(&file), &set[..], Some("own")),
            ("postgres://me@h/x", Some(&file), &set, Some("from file")),
            ("postgres://me@h/x", None, &set, Some("from variable")),
            ("postgres://me@h/x", None, &[], None),
        ];
        for (url, file, environment, expected) in cases {
            let found = found(url, file.map(PathBuf::as_path), environment);
            assert_eq!(found.as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn a_missing_password_file_is_named_without_its_path() {
        let DatabaseUrl::Postgres(address) = DatabaseUrl::parse("postgres://h/x").unwrap() else {
            panic!();
        };
        let missing = Some(Path::new("/nowhere/password"));
        let error = find(&address, &address.hosts[0], missing, |_| None).unwrap_err();
        assert!(error.text().contains("`password_file`"), "{error}");
        assert!(!error.text().contains("/nowhere"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_password_file_of_libpq_is_searched_line_by_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(".pgpass");
        let text = r"# comment
h:5432:other:me:wrong database
h:5432
h:5433:x:me:port
h:*:x:me:p\:a\\ss:word
localhost:*:*:*:socket
\*:*:*:*:a host called star
*:*:*:admin:for admin
";
        fs::write(&path, text).unwrap();
        let home = directory.path().to_str().unwrap();
        let ask = |url: &str| found(url, None, &[("HOME", home)]);
        set_mode(&path, 0o600);
        for (url, expected) in [
            ("postgres://me@h:5433/x", Some("port")),
            ("postgres://me@h/x", Some(r"p:a\ss:word")),
            ("postgres://me@i/x", None),
            ("postgres://admin@i/y", Some("for admin")),
            ("postgres://me@/y?host=/run/postgresql", Some("socket")),
        ] {
            assert_eq!(ask(url).as_deref(), expected, "{url}");
        }
        set_mode(&path, 0o640);
        assert_eq!(ask("postgres://me@h/x"), None, "others can read it");
    }

    #[cfg(unix)]
    #[test]
    fn the_address_and_the_environment_name_another_password_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["one", "two"] {
            fs::write(path(name), format!("*:*:*:*:{name}")).unwrap();
            set_mode(&path(name), 0o600);
        }
        let two = path("two");
        let environment = [("PGPASSFILE", two.to_str().unwrap())];
        let one = format!("postgres://h/x?passfile={}", path("one").display());
        assert_eq!(found(&one, None, &environment).as_deref(), Some("one"));
        let url = "postgres://h/x";
        assert_eq!(found(url, None, &environment).as_deref(), Some("two"));
    }
}
