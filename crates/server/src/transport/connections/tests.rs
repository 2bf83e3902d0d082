use super::*;

fn v4(number: u32) -> IpAddr {
    IpAddr::V4(number.into())
}

fn connections(most: usize, most_unidentified: usize) -> Arc<Connections> {
    let mut settings = Settings::default();
    settings.http.max_connections = most;
    settings.http.max_unidentified_connections = most_unidentified;
    settings.http.max_connections_per_address = 4;
    Connections::new(&settings, &Metrics::new())
}

fn is_open(connection: &OpenConnection) -> bool {
    !connection.evicted.is_cancelled()
}

#[test]
fn a_newcomer_displaces_the_oldest_of_the_address_with_the_most() {
    let connections = connections(100, 4);
    let enter = |address| connections.enter(v4(address), true, None);
    let (first, second) = (enter(1), enter(1));
    let (third, fourth) = (enter(2), enter(3));
    let fifth = enter(2);
    assert!(
        !is_open(&first),
        "address 1 has two, and this is its oldest"
    );
    let sixth = enter(4);
    assert!(!is_open(&third), "address 2 has two now");
    let seventh = enter(5);
    assert!(!is_open(&second), "each has one, and this is the oldest");
    for one in [&fourth, &fifth, &sixth, &seventh] {
        assert!(is_open(one));
    }
    assert_eq!(connections.book().unidentified.len(), 4);
    assert_eq!(first.settle(Standing::Identified), Err(Full::Desk));
    assert_eq!(fourth.settle(Standing::Identified), Ok(()));
    assert_eq!(connections.book().unidentified.len(), 3);
}

#[test]
fn half_is_kept_for_key_holders() {
    let connections = connections(4, 4);
    let mut open: Vec<_> = (0..2)
        .map(|n| connections.enter(v4(n), false, None))
        .collect();
    assert!(open.iter().all(|one| one.is(Standing::Anonymous)));
    let late = connections.enter(v4(20), false, None);
    assert!(late.is(Standing::Unidentified));
    assert_eq!(late.settle(Standing::Anonymous), Err(Full::Desk));
    assert_eq!(late.settle(Standing::Identified), Ok(()));
    let last = connections.enter(v4(21), false, None);
    assert_eq!(last.settle(Standing::Identified), Ok(()));
    let more = connections.enter(v4(22), false, None);
    assert_eq!(more.settle(Standing::Identified), Err(Full::Desk));
    open.pop();
    assert_eq!(more.settle(Standing::Identified), Ok(()));
}

#[test]
fn one_address_has_its_limit_with_and_without_keys() {
    let connections = connections(100, 100);
    let keyless: Vec<_> = (0..4)
        .map(|_| connections.enter(v4(1), false, None))
        .collect();
    let one_more = connections.enter(v4(1), false, None);
    assert_eq!(one_more.settle(Standing::Anonymous), Err(Full::Address));
    assert_eq!(one_more.settle(Standing::Identified), Ok(()));
    // Who shows a key later leaves its place to others without.
    assert_eq!(keyless[0].settle(Standing::Identified), Ok(()));
    assert!(
        connections
            .enter(v4(1), false, None)
            .is(Standing::Anonymous)
    );
    assert!(
        connections
            .enter(v4(2), false, None)
            .is(Standing::Anonymous)
    );
}

#[test]
fn one_key_has_half_of_all_places() {
    let connections = connections(6, 6);
    let open: Vec<_> = (0..4)
        .map(|n| connections.enter(v4(n), true, None))
        .collect();
    let show = |number: usize, key: &str| open[number].count_for(&key.into());
    for number in 0..3 {
        assert_eq!(show(number, "a"), Ok(()));
        // It counts once, whatever is shown on it.
        assert_eq!(show(number, "a"), Ok(()));
        assert_eq!(show(number, "b"), Ok(()));
    }
    assert_eq!(show(3, "a"), Err(Full::Key));
    assert_eq!(show(3, "b"), Ok(()));
    drop(open);
    assert!(connections.book().of_key.is_empty());
}

#[test]
fn nothing_is_left_of_connections_that_are_gone() {
    let connections = connections(100, 2);
    let open: Vec<_> = (0..6)
        .map(|n| connections.enter(v4(n), n % 2 == 0, None))
        .collect();
    for one in &open {
        let _ = one.settle(Standing::Identified);
    }
    drop(open);
    let book = connections.book();
    assert_eq!((book.anonymous, book.identified), (0, 0));
    assert!(book.unidentified.is_empty());
    assert!(book.of_address.is_empty() && book.of_key.is_empty());
    assert_eq!(connections.open.get(), 0);
}

fn behind_proxy(connections: &Arc<Connections>) -> OpenConnection {
    let listener = desk::settings::Listener {
        trusted_proxies: vec!["0.0.0.0/0".to_owned()],
        ..Default::default()
    };
    let proxies = Proxies::new(&listener, "http").unwrap();
    connections.enter(v4(1), true, Some(Arc::new(proxies)))
}

#[test]
fn clients_of_a_proxy_take_turns_on_its_connections() {
    let connections = connections(8, 2);
    let open: Vec<_> = (0..8).map(|_| behind_proxy(&connections)).collect();
    assert!(
        open.iter().all(|one| one.is(Standing::Proxy)),
        "more than an address may have"
    );
    let mut head = HeaderMap::new();
    head.insert("x-forwarded-for", "192.0.2.7".parse().unwrap());
    let one = &open[0];
    assert_eq!(one.visit(&head).address.to_string(), "192.0.2.7");
    assert_eq!(one.settle(Standing::Identified), Ok(()));
    assert!(one.is(Standing::Proxy) && !one.has_key());
    // A WebSocket belongs to one client. All that have no key have half of the places.
    one.dedicate();
    assert_eq!(one.settle(Standing::Anonymous), Ok(()));
    assert!(one.is(Standing::Anonymous));
    for other in &open[1..4] {
        other.dedicate();
        assert_eq!(other.settle(Standing::Anonymous), Ok(()));
    }
    open[4].dedicate();
    assert_eq!(open[4].settle(Standing::Anonymous), Err(Full::Desk));
    assert_eq!(open[4].settle(Standing::Identified), Ok(()));
    drop(open);
    let book = connections.book();
    assert_eq!((book.anonymous, book.identified), (0, 0));
    assert!(book.of_address.is_empty());
}
