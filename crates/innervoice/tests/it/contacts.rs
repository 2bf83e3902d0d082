//! The address book, and how recipients are found.

use serde_json::{Value, json};

use crate::assistant::{Assistant, both, one};

/// A message to somebody goes to this address.
async fn is_sent_to(assistant: &Assistant, to: &str, address: &str) {
    let message = json!({"to": to, "text": "hi"});
    let answer = assistant.ok("message.send", message).await;
    let recipient = answer["recipient"].as_str().unwrap();
    assert!(recipient.contains(address), "{to}: {recipient}");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn names_in_every_spelling() {
    for assistant in both().await {
        assistant.know_people().await;
        for (to, platform, address) in [
            ("田中 太郎", None, "taro@example.com"),
            ("田中太郎", None, "taro@example.com"),
            ("田中太郎さん", None, "taro@example.com"),
            ("太郎くん", None, "taro@example.com"),
            ("たなか たろう", None, "taro@example.com"),
            ("ﾀﾅｶﾀﾛｳ", None, "taro@example.com"),
            ("田中太郎", Some("sms"), "+819011112222"),
            ("太郎", Some("ショートメッセージ"), "+819011112222"),
            ("ann lee", None, "+15550100222"),
            ("ＡＮＮＩＥ", None, "+15550100222"),
            ("ぎゃらりー青空", None, "info@aozora.example.com"),
            ("someone@example.org", None, "someone@example.org"),
            ("090-3333-4444", None, "+819033334444"),
            ("０９０－３３３３－４４４４", None, "+819033334444"),
        ] {
            let mut arguments = json!({"to": to, "text": "hi"});
            if let Some(platform) = platform {
                arguments["platform"] = platform.into();
            }
            let answer = assistant.ok("message.send", arguments).await;
            let recipient = answer["recipient"].as_str().unwrap();
            assert!(recipient.contains(address), "{to}: {recipient}");
        }
        let found = assistant
            .ok("contacts.search", json!({"query": "花子"}))
            .await;
        let id = &found["contacts"][0]["contact_id"];
        let answer = assistant
            .ok("message.send", json!({"to": id, "text": "hi"}))
            .await;
        assert_eq!(answer["recipient"], "田中 花子 <hanako@example.com>");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_unclear_recipient_is_never_guessed() {
    for assistant in both().await {
        assistant.know_people().await;
        let refused = async |to: &str| {
            let error = assistant
                .refused("message.send", json!({"to": to, "text": "hi"}))
                .await;
            let details = error.details.clone().unwrap();
            let names: Vec<String> = details["candidates"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["name"].as_str().unwrap().to_owned())
                .collect();
            (error.code.into_owned(), names)
        };
        let (code, names) = refused("田中さん").await;
        assert_eq!(code, "RECIPIENT_AMBIGUOUS");
        assert_eq!(names, ["田中 太郎", "田中 花子"]);
        // A partial match is only proposed, even if there is just one.
        let (code, names) = refused("青空").await;
        assert_eq!(code, "RECIPIENT_NOT_FOUND");
        assert_eq!(names, ["ギャラリー・青空"]);
        let (code, names) = refused("Anne Lee").await;
        assert_eq!(
            (code.as_str(), names[0].as_str()),
            ("RECIPIENT_NOT_FOUND", "Ann Lee")
        );
        let (code, names) = refused("徳川家康").await;
        assert_eq!((code.as_str(), names.len()), ("RECIPIENT_NOT_FOUND", 0));
        let code = async |arguments: Value| assistant.code("message.send", arguments).await;
        let no_number = json!({"to": "花子", "text": "hi", "platform": "sms"});
        assert_eq!(code(no_number).await, "NO_ADDRESS");
        let wrong = json!({"to": "a@example.com", "text": "hi", "platform": "sms"});
        assert_eq!(code(wrong).await, "WRONG_PLATFORM");
        let fax = json!({"to": "花子", "text": "hi", "platform": "fax"});
        assert_eq!(code(fax).await, "UNKNOWN_PLATFORM");
        assert_eq!(assistant.count("innervoice_outbox").await, 0);
        // The card refuses an unknown recipient too.
        let card = assistant
            .card("message.send", json!({"to": "田中", "text": "hi"}))
            .await;
        assert_eq!(card.unwrap_err().code, "RECIPIENT_AMBIGUOUS");
    }
}

/// Readings in Latin letters find kana and kanji, also of contacts without a reading.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn names_in_latin_letters() {
    for assistant in both().await {
        assistant.know_people().await;
        let ken = r#"[{"name": "Ken Tanaka", "email": "ken@example.com"},
            {"name": "大野 次郎", "reading": "おおの じろう", "email": "jiro@example.com"}]"#;
        assistant.import("more.json", ken).await.unwrap();
        let refused = assistant
            .refused("message.send", json!({"to": "Tanaka", "text": "hi"}))
            .await;
        assert_eq!(refused.code, "RECIPIENT_AMBIGUOUS");
        let names: Vec<Value> = refused.details.unwrap()["candidates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].clone())
            .collect();
        assert_eq!(names, ["Ken Tanaka", "田中 太郎", "田中 花子"]);
        for (to, address) in [
            ("Tanaka Tarō", "taro@example.com"),
            ("taro", "taro@example.com"),
            ("Ohno", "jiro@example.com"),
            ("Ono Jiro", "jiro@example.com"),
            ("Ken", "ken@example.com"),
        ] {
            is_sent_to(&assistant, to, address).await;
        }
        let found = assistant
            .ok("contacts.search", json!({"query": "tanaka"}))
            .await;
        assert_eq!(found["contacts"].as_array().unwrap().len(), 3);
        assert_eq!(found["contacts"][1]["reading"], "タナカタロウ");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_known_address_is_named_and_others_are_mentioned() {
    for assistant in both().await {
        assistant.know_people().await;
        let number = json!({"to": "090-1111-2222", "text": "hi"});
        let card = assistant
            .card("message.send", number.clone())
            .await
            .unwrap();
        assert_eq!(card.recipient.as_deref(), Some("田中 太郎 <+819011112222>"));
        let others = card.lines.iter().find(|line| line.label.contains("Other"));
        assert_eq!(others.unwrap().text, "taro@example.com");
        let answer = assistant.ok("message.send", number).await;
        assert_eq!(answer["other_addresses"], json!(["taro@example.com"]));
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn importing_again_updates_contacts_without_duplicates() {
    for assistant in both().await {
        assistant.know_people().await;
        assistant.know_people().await;
        assert_eq!(assistant.count("innervoice_contacts").await, 4);
        let moved = crate::assistant::CONTACTS.replace("taro@example.com", "taro@new.example.com");
        assistant.import("contacts.vcf", &moved).await.unwrap();
        let answer = assistant
            .ok("message.send", json!({"to": "太郎", "text": "hi"}))
            .await;
        assert_eq!(answer["recipient"], "田中 太郎 <taro@new.example.com>");
    }
}

#[tokio::test]
async fn csv_and_json_are_imported() {
    let assistant = one().await;
    let csv = "name,reading,email,phone\n山田 一郎,やまだ いちろう,ichiro@example.com;i@example.org,080-1111-2222\n\
        Nobody,,,\n,,x@example.com,\n";
    let imported = assistant.import("contacts.csv", csv).await.unwrap();
    assert_eq!((imported.imported, imported.skipped), (1, 2));
    assert_eq!(imported.problems[0].line, 3);
    let json = r#"[{"id": "7", "name": "Bob Ray", "email": ["bob@example.com"], "phone": "+15550100333"}]"#;
    assistant.import("contacts.json", json).await.unwrap();
    for (to, address) in [("一郎", "ichiro@example.com"), ("bob", "bob@example.com")] {
        let answer = assistant
            .ok("message.send", json!({"to": to, "text": "hi"}))
            .await;
        assert!(answer["recipient"].as_str().unwrap().contains(address));
    }
    for (name, text) in [("x.vcf", ""), ("x.csv", "a,b\n1,2\n"), ("x.json", "{}")] {
        let error = assistant.import(name, text).await.unwrap_err();
        assert_eq!(error.code, "FILE_UNREADABLE", "{name}");
    }
}

/// Speech recognition writes the common form of a character, whatever form the
/// address book has.
#[tokio::test]
async fn old_character_forms_match_in_names() {
    let assistant = one().await;
    let cards = "BEGIN:VCARD\nVERSION:4.0\nFN:髙橋 一郎\nEMAIL:ichiro@example.com\nEND:VCARD\n\
        BEGIN:VCARD\nVERSION:3.0\nFN:渡邉 恵\nN:渡邉;恵;;;\nEMAIL:megumi@example.com\nEND:VCARD\n";
    assistant.import("contacts.vcf", cards).await.unwrap();
    for (to, address) in [
        ("高橋さん", "ichiro@example.com"),
        ("高橋一郎", "ichiro@example.com"),
        ("髙橋", "ichiro@example.com"),
        ("渡辺", "megumi@example.com"),
        ("渡邊 恵", "megumi@example.com"),
    ] {
        is_sent_to(&assistant, to, address).await;
    }
    let found = assistant
        .ok("contacts.search", json!({"query": "高"}))
        .await;
    assert_eq!(found["contacts"][0]["name"], "髙橋 一郎");
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn names_and_addresses_of_a_contact_are_limited() {
    for assistant in both().await {
        let many = |what: &str| {
            let all: Vec<String> = (0..20_000).map(|at| format!("{what}{at}")).collect();
            all.join(",")
        };
        let emails: String = (0..60)
            .map(|at| format!("EMAIL:n{at}@example.com\n"))
            .collect();
        let file = format!(
            "BEGIN:VCARD\nUID:1\nFN:Ann\nNICKNAME:{}\n{emails}END:VCARD\n\
             BEGIN:VCARD\nUID:2\nFN:{}\nEMAIL:long@example.com\nEND:VCARD\n",
            many("n"),
            "x".repeat(201)
        );
        let imported = assistant.import("many.vcf", &file).await.unwrap();
        assert_eq!((imported.imported, imported.skipped), (1, 1));
        let problem = &imported.problems[0].problem;
        assert!(problem.contains("longer than 200"), "{problem}");
        assert_eq!(assistant.count("innervoice_contact_names").await, 51);
        assert_eq!(assistant.count("innervoice_contact_addresses").await, 50);
    }
}

/// Comparing takes the product of both lengths, for every contact.
#[tokio::test]
async fn similar_names_are_searched_up_to_a_length() {
    let assistant = one().await;
    let name = |letters: usize| "abcdefghij".repeat(7)[..letters].to_owned();
    let people = json!([
        {"name": name(60), "email": "sixty@example.com"},
        {"name": name(70), "email": "seventy@example.com"},
    ]);
    let people = people.to_string();
    assistant.import("people.json", &people).await.unwrap();
    let search = async |letters: usize| {
        let query = format!("z{}", &name(letters)[1..]);
        let found = assistant
            .ok("contacts.search", json!({"query": query}))
            .await;
        found["contacts"].as_array().unwrap().len()
    };
    assert_eq!(search(60).await, 2);
    assert_eq!(search(70).await, 0);
}
