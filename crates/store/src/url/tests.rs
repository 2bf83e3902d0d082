use tokio_postgres::config::TargetSessionAttrs;

use super::*;

#[test]
fn sqlite_addresses() {
    for (text, path) in [
        ("sqlite:///relative.db", "relative.db"),
        ("sqlite:///data/x.db", "data/x.db"),
        ("sqlite:////srv/x.db", "/srv/x.db"),
        (
            "sqlite+aiosqlite:////app/v2/data/agent.db",
            "/app/v2/data/agent.db",
        ),
        ("SQLite+pysqlite:///x.db?check_same_thread=False", "x.db"),
        ("  sqlite:///x y%20.db\n", "x y%20.db"),
    ] {
        let url = DatabaseUrl::parse(text).unwrap();
        assert_eq!(url, DatabaseUrl::Sqlite(path.into()), "{text}");
    }
}

fn parsed(text: &str) -> PostgresAddress {
    match DatabaseUrl::parse(text) {
        Ok(DatabaseUrl::Postgres(address)) => *address,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn postgres_addresses() {
    for (text, user, password, shown) in [
        (
            "postgresql+asyncpg://me:pw@db.example:5433/shop",
            "me",
            Some("pw"),
            "postgresql://db.example:5433/shop",
        ),
        ("postgres://me@h/shop", "me", None, "postgresql://h/shop"),
        (
            "postgresql://me:p%40s%2Fs%3f@h/shop?sslmode=prefer&connect_timeout=3",
            "me",
            Some("p@s/s?"),
            "postgresql://h/shop",
        ),
        (
            "postgresql://me:a@b@h/shop",
            "me",
            Some("a@b"),
            "postgresql://h/shop",
        ),
        (
            "postgresql+asyncpg://me@h/shop?ssl=disable&statement_cache_size=0",
            "me",
            None,
            "postgresql://h/shop",
        ),
        (
            "postgresql:///shop?user=me",
            "me",
            None,
            "postgresql://localhost/shop",
        ),
        (
            "postgresql:///shop?host=/run/postgresql&user=me",
            "me",
            None,
            "postgresql:///run/postgresql/shop",
        ),
        (
            "postgresql://me@%2Frun%2Fpg/shop",
            "me",
            None,
            "postgresql:///run/pg/shop",
        ),
        (
            "postgresql://me:pw@a:6432,[::1]:5433,c/shop",
            "me",
            Some("pw"),
            "postgresql://a:6432,[::1]:5433,c/shop",
        ),
        (
            r"host=a,b port=6432 dbname=shop user = me password='it\'s \\ here'",
            "me",
            Some(r"it's \ here"),
            "postgresql://a:6432,b:6432/shop",
        ),
        (
            "dbname=shop user=me password=x://y hostaddr=10.0.0.7",
            "me",
            Some("x://y"),
            "postgresql://10.0.0.7/shop",
        ),
    ] {
        let address = parsed(text);
        assert_eq!(address.driver.get_user(), Some(user), "{text}");
        assert_eq!(address.password.as_deref(), password, "{text}");
        assert_eq!(address.to_string(), shown, "{text}");
    }
}

#[test]
fn tls_modes_are_those_of_libpq() {
    for (query, mode) in [
        ("", TlsMode::Prefer),
        ("sslmode=disable", TlsMode::Disable),
        ("sslmode=allow", TlsMode::Prefer),
        ("sslmode=require", TlsMode::Require),
        ("sslmode=require&sslrootcert=/ca.pem", TlsMode::VerifyCa),
        ("sslmode=verify-ca&sslrootcert=/ca.pem", TlsMode::VerifyCa),
        ("sslmode=verify-full", TlsMode::VerifyFull),
        ("sslrootcert=system", TlsMode::VerifyFull),
        ("ssl=true", TlsMode::Require),
        ("ssl=off", TlsMode::Disable),
        (
            "sslmode=require&channel_binding=require&sslnegotiation=direct",
            TlsMode::Require,
        ),
    ] {
        let address = parsed(&format!("postgres://h/x?{query}"));
        assert_eq!(address.tls.mode, mode, "{query}");
    }
    let address = parsed("postgres://h/x?sslcert=/me.pem&sslkey=/me.key&sslrootcert=/ca.pem");
    assert!(address.tls.client.is_some());
    assert!(matches!(address.tls.roots, Some(Roots::File(path)) if path.ends_with("ca.pem")));
}

/// A desk has to write, so of several servers it wants the one that can be written.
#[test]
fn several_hosts_mean_the_one_that_can_be_written() {
    for (text, wanted) in [
        ("postgres://a/x", TargetSessionAttrs::Any),
        ("postgres://a,b/x", TargetSessionAttrs::ReadWrite),
        (
            "postgres://a,b/x?target_session_attrs=any",
            TargetSessionAttrs::Any,
        ),
        (
            "postgres://a/x?target_session_attrs=primary",
            TargetSessionAttrs::ReadWrite,
        ),
    ] {
        let found = parsed(text).driver.get_target_session_attrs();
        assert_eq!(found, wanted, "{text}");
    }
}

#[test]
fn refused_addresses() {
    let postgres = |query: &str| format!("postgresql://me:secret@h/x?{query}");
    for (text, part) in [
        ("".into(), "neither SQLite nor PostgreSQL"),
        ("data.db".into(), "neither SQLite nor PostgreSQL"),
        (
            "mysql://me:secret@h/x".into(),
            "neither SQLite nor PostgreSQL",
        ),
        ("sqlite://".into(), "names no file"),
        ("sqlite:///".into(), "names no file"),
        ("sqlite:///:memory:".into(), "names no file"),
        (
            "sqlite+aiosqlite:///file:x?uri=true".into(),
            "names no file",
        ),
        ("sqlite://x.db".into(), "too few slashes"),
        ("sqlite:///x.db?mode=ro".into(), "unknown parameter `mode`"),
        (postgres("colour=red"), "unknown parameter `colour`"),
        (postgres("sslmod=disable"), "Did you mean `sslmode`?"),
        (postgres("sslmode=verify_full"), "verify-ca or verify-full"),
        (postgres("sslmode=require&sslrootcert=system"), "weaker"),
        (postgres("sslcert=/secret.pem"), "only one of"),
        (postgres("target_session_attrs=standby"), "`read-write`"),
        (postgres("gssencmode=require"), "not supported"),
        (postgres("connect_timeout=secret"), "a number"),
        (postgres("hostaddr=secret"), "IP addresses"),
        ("postgresql://me:sec?ret@h/x".into(), "unknown parameter"),
        ("postgresql://me:secret@h:port/x".into(), "a number"),
        (
            "postgresql://me:secret@h:1,i:2,j/x?port=1,2".into(),
            "numbers",
        ),
        ("postgresql://me:sec%ret@h/x".into(), "can't be understood"),
        (
            "postgresql://me:secret@[::1/x".into(),
            "can't be understood",
        ),
        ("host=h password='secret".into(), "can't be understood"),
    ] {
        let error = DatabaseUrl::parse(&text).unwrap_err();
        assert_eq!(error.code, refused::INVALID, "{text}");
        assert!(error.text().contains(part), "{text}: {}", error.text());
        assert!(error.next.is_some() && error.cause.is_none(), "{text}");
        assert!(!error.text().contains("ret"), "{text}: {}", error.text());
    }
}

#[test]
fn a_password_is_never_printed() {
    let url = DatabaseUrl::parse("postgresql://me:secret@h:5433/shop?password=hidden").unwrap();
    assert_eq!(
        format!("{url} {url:?}"),
        "postgresql://h:5433/shop postgresql://h:5433/shop"
    );
    let url = DatabaseUrl::parse("sqlite:////srv/x.db").unwrap();
    assert_eq!(url.to_string(), "sqlite:////srv/x.db");
}
