use http::HeaderValue;

use super::*;

fn proxies(networks: &[&str]) -> Proxies {
    let listener = Listener {
        trusted_proxies: networks.iter().map(|it| (*it).to_owned()).collect(),
        ..Listener::default()
    };
    Proxies::new(&listener, "http").unwrap()
}

/// Who called, when the peer 10.0.0.1 is a proxy, as are 10.0.0.0/8 and fd00::/8.
#[track_caller]
fn client(headers: &[(&'static str, &'static str)]) -> String {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, HeaderValue::from_static(value));
    }
    let proxies = proxies(&["10.0.0.0/8", "fd00::/8"]);
    let peer = "10.0.0.1".parse().unwrap();
    proxies.client(peer, &map).to_string()
}

#[test]
fn the_last_address_that_is_no_proxy_is_the_client() {
    for (list, expected) in [
        ("192.0.2.7", "192.0.2.7"),
        ("192.0.2.7:4711", "192.0.2.7"),
        ("  192.0.2.7  ", "192.0.2.7"),
        ("2001:db8::7", "2001:db8::7"),
        ("[2001:db8::7]", "2001:db8::7"),
        ("[2001:db8::7]:4711", "2001:db8::7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        // What the client wrote itself stands before the address it really has.
        ("203.0.113.9, 192.0.2.7", "192.0.2.7"),
        ("203.0.113.9, 192.0.2.7, 10.1.1.1, fd00::2", "192.0.2.7"),
        // All of them are proxies: the first of them called.
        ("10.1.1.1, 10.2.2.2", "10.1.1.1"),
        // Nothing is known of those before an address that can't be read.
        ("192.0.2.7, unknown", "10.0.0.1"),
        ("192.0.2.7, unknown, 10.2.2.2", "10.2.2.2"),
        ("192.0.2.7, _hidden", "10.0.0.1"),
        ("192.0.2.7,", "10.0.0.1"),
        ("", "10.0.0.1"),
        ("192.0.2.7:x", "10.0.0.1"),
        ("192.0.2.7:99999", "10.0.0.1"),
        ("[192.0.2.7]", "10.0.0.1"),
        ("[2001:db8::7", "10.0.0.1"),
        ("[2001:db8::7]x", "10.0.0.1"),
        ("fe80::1%eth0", "10.0.0.1"),
        ("192.0.2.007", "10.0.0.1"),
        ("example.com", "10.0.0.1"),
    ] {
        assert_eq!(client(&[("x-forwarded-for", list)]), expected, "{list:?}");
    }
}

#[test]
fn the_standard_header_says_the_same() {
    for (list, expected) in [
        ("for=192.0.2.7", "192.0.2.7"),
        ("For=\"192.0.2.7:4711\"", "192.0.2.7"),
        ("for=\"[2001:db8::7]:4711\";proto=https", "2001:db8::7"),
        ("for=\"[::ffff:192.0.2.7]\"", "192.0.2.7"),
        ("proto=https; for=192.0.2.7 ;by=10.0.0.1", "192.0.2.7"),
        ("for=203.0.113.9, for=192.0.2.7, for=10.1.1.1", "192.0.2.7"),
        ("for=\"192.0.2.7:_port\"", "192.0.2.7"),
        ("for=\"192.0.2.\\7\"", "192.0.2.7"),
        // Commas and semicolons in quotes separate nothing.
        ("for=192.0.2.7;host=\"a,for=203.0.113.9;\"", "192.0.2.7"),
        ("for=192.0.2.7, for=unknown", "10.0.0.1"),
        ("for=192.0.2.7, for=\"_hidden\"", "10.0.0.1"),
        ("for=192.0.2.7, proto=https", "10.0.0.1"),
        ("for=192.0.2.7;for=203.0.113.9", "10.0.0.1"),
        ("for=192.0.2.7, for=\"10.1.1.1", "10.0.0.1"),
        ("for=192.0.2.7 junk=", "10.0.0.1"),
        ("for=\"192.0.2.7\"x", "10.0.0.1"),
        ("192.0.2.7", "10.0.0.1"),
        ("", "10.0.0.1"),
    ] {
        assert_eq!(client(&[("forwarded", list)]), expected, "{list:?}");
    }
}

#[test]
fn several_headers_are_one_list() {
    let lists = [
        ("x-forwarded-for", "203.0.113.9"),
        ("x-forwarded-for", "192.0.2.7, 10.1.1.1"),
    ];
    assert_eq!(client(&lists), "192.0.2.7");
    let lists = [
        ("forwarded", "for=192.0.2.7"),
        ("forwarded", "for=10.1.1.1"),
    ];
    assert_eq!(client(&lists), "192.0.2.7");
}

/// A proxy that writes one header may pass on the other from the client.
#[test]
fn headers_that_contradict_each_other_are_ignored() {
    let [list, same, other] = [
        ("x-forwarded-for", "192.0.2.7"),
        ("forwarded", "for=192.0.2.7"),
        ("forwarded", "for=203.0.113.9"),
    ];
    assert_eq!(client(&[list, same]), "192.0.2.7");
    assert_eq!(client(&[list, other]), "10.0.0.1");
    assert_eq!(client(&[list, ("forwarded", "junk")]), "10.0.0.1");
}

#[test]
fn only_named_proxies_are_believed() {
    let mut headers = HeaderMap::new();
    headers.insert("x-forwarded-for", HeaderValue::from_static("192.0.2.7"));
    let named = proxies(&[
        "10.0.0.7",
        " 172.16.0.0/12 ",
        "fd00::/8",
        "::1",
        "::ffff:192.168.0.0/112",
    ]);
    for (peer, is_proxy) in [
        ("10.0.0.7", true),
        ("::ffff:10.0.0.7", true),
        ("10.0.0.8", false),
        ("192.168.255.1", true),
        ("::ffff:192.168.0.1", true),
        ("192.169.0.1", false),
        ("172.31.255.255", true),
        ("172.32.0.0", false),
        ("fdff::1", true),
        ("fe00::1", false),
        ("::1", true),
        ("::2", false),
        ("127.0.0.1", false),
    ] {
        let peer: IpAddr = peer.parse().unwrap();
        let expected = if is_proxy { "192.0.2.7" } else { "" };
        let client = named.client(peer, &headers).to_string();
        let peer = peer.to_string();
        assert_eq!(client, if is_proxy { expected } else { peer.as_str() });
    }
    let peer = "10.0.0.7".parse().unwrap();
    assert_eq!(Proxies::default().client(peer, &headers), peer);
    let everybody = proxies(&["0.0.0.0/0", "::/0"]);
    assert!(everybody.trust("192.0.2.1".parse().unwrap()));
    assert!(everybody.trust("2001:db8::1".parse().unwrap()));
}

#[test]
fn a_network_that_is_none_is_refused() {
    for text in [
        "",
        "10.0.0.0/33",
        "10.0.0.0/",
        "10.0.0.0/+8",
        "10.0.0/8",
        "::/129",
        "proxy",
        "*",
    ] {
        let listener = Listener {
            trusted_proxies: vec![text.to_owned()],
            ..Listener::default()
        };
        let error = Proxies::new(&listener, "http").unwrap_err();
        assert_eq!(error.code, "INVALID_CONFIG", "{text:?}");
    }
}
