use super::*;

/// A result with an image.
fn result(structured: &str) -> ToolResult {
    let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
    let reply = Ok(Reply::Illustrated {
        json: structured.to_owned(),
        blocks: vec![image],
    });
    let result = ToolResult::new(reply, CallId::new(), ErrorShape::Nested);
    result.ok().unwrap()
}

#[test]
fn a_field_never_replaces_a_member_of_the_result() {
    let structured = r#"{"b":1.0,"content":2,"isError":true,"_meta":{},"resultType":3,"a":[]}"#;
    let plain: Value = serde_json::from_str(&result(structured).plain()).unwrap();
    let fields: Value = serde_json::from_str(structured).unwrap();
    let expected = json!({
        "content": [
            { "type": "text", "text": structured },
            { "type": "image", "data": "AA==", "mimeType": "image/png" },
        ],
        "structuredContent": fields, "isError": false, "a": [], "b": 1.0,
    });
    assert_eq!(plain, expected);
}

#[test]
fn flat_results_are_the_same_text_on_both_paths() {
    let structured = r#"{"status":"ok","n":1,"resultType":"x"}"#;
    for stateless in [false, true] {
        let mut meta = mcp::MetaObject::new();
        meta.0.insert(CALL_META.into(), "call".into());
        let mut through_crate = result(structured).into_mcp(meta.clone(), false).unwrap();
        if !stateless {
            through_crate.result_type = None;
        }
        let meta = json!(meta).to_string();
        let direct = result(structured).members(stateless, Some(meta), true);
        assert_eq!(
            flat_response(&mcp::RequestId::Number(7), &through_crate).unwrap(),
            direct.in_response("7", true),
        );
    }
}

#[test]
fn content_without_an_object_has_no_fields() {
    let reply = Ok(Reply::Structured("[1]".to_owned()));
    let result = ToolResult::new(reply, CallId::new(), ErrorShape::Nested);
    let text = result.ok().unwrap().plain();
    let blocks = r#"[{"type":"text","text":"[1]"}]"#;
    assert_eq!(
        text,
        format!(r#"{{"content":{blocks},"structuredContent":[1],"isError":false}}"#)
    );
}
