//! Takes the text of a PostgreSQL address apart, into keys and values as libpq names
//! them. Both spellings are read: `postgresql://…` and `host=… dbname=…`.

use kit::Result;

use super::refused::not_understood;

pub(super) type Pairs = Vec<(String, String)>;

/// What follows `postgresql://`. A later pair wins over an earlier one.
pub(super) fn of_url(rest: &str) -> Result<Pairs> {
    let (rest, query) = split_query(rest);
    let (authority, name) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, hosts) = match authority.rsplit_once('@') {
        Some((user, hosts)) => (Some(user), hosts),
        None => (None, authority),
    };
    let mut found = Vec::new();
    let mut add = |key: &str, value: &str| -> Result<()> {
        found.push((key.to_owned(), decoded(value)?));
        Ok(())
    };
    if let Some(user) = user {
        let (user, password) = match user.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (user, None),
        };
        add("user", user)?;
        if let Some(password) = password {
            add("password", password)?;
        }
    }
    if !hosts.is_empty() {
        let (mut names, mut ports) = (Vec::new(), Vec::new());
        for host in hosts.split(',') {
            let (name, port) = host_and_port(host)?;
            names.push(name);
            ports.push(port);
        }
        add("host", &names.join(","))?;
        if ports.iter().any(|port| !port.is_empty()) {
            add("port", &ports.join(","))?;
        }
    }
    add("dbname", name)?;
    for (key, value) in pairs(query) {
        add(key, value)?;
    }
    Ok(found)
}

/// `db:5432`, `[::1]:5432`, or either without a port.
fn host_and_port(text: &str) -> Result<(&str, &str)> {
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (name, port) = rest.split_once(']').ok_or_else(not_understood)?;
            match port.strip_prefix(':') {
                Some(port) => (name, port),
                None if port.is_empty() => (name, ""),
                None => return Err(not_understood()),
            }
        }
        None => text.split_once(':').unwrap_or((text, "")),
    };
    Ok((name, port))
}

pub(super) fn split_query(text: &str) -> (&str, &str) {
    text.split_once('?').unwrap_or((text, ""))
}

pub(super) fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

fn decoded(text: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || {
            let digit = char::from(rest.next()?).to_digit(16)?;
            u8::try_from(digit).ok()
        };
        let (Some(high), Some(low)) = (digit(), digit()) else {
            return Err(not_understood());
        };
        bytes.push(high * 16 + low);
    }
    String::from_utf8(bytes).map_err(|_| not_understood())
}

/// Whether the text looks like `host=… dbname=…`.
pub(super) fn is_pairs(text: &str) -> bool {
    text.split_once('=').is_some_and(|(key, _)| {
        let key = key.trim();
        !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c == '_')
    })
}

/// `key = value` with spaces between them. A value in single quotes may hold spaces;
/// a backslash takes the next character as it is.
pub(super) fn of_pairs(text: &str) -> Result<Pairs> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=').ok_or_else(not_understood)?;
        let (value, after) = value(after.trim_start())?;
        found.push((key.trim_end().to_owned(), value));
        rest = after.trim_start();
    }
    Ok(found)
}

fn value(text: &str) -> Result<(String, &str)> {
    let quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut letters = text.char_indices().skip(usize::from(quoted));
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.push(letters.next().ok_or_else(not_understood)?.1),
            '\'' if quoted => return Ok((value, text.get(at + 1..).unwrap_or_default())),
            letter if !quoted && letter.is_whitespace() => {
                return Ok((value, text.get(at..).unwrap_or_default()));
            }
            letter => value.push(letter),
        }
    }
    match quoted {
        true => Err(not_understood()),
        false => Ok((value, "")),
    }
}
