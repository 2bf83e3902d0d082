//! Checks that ask for tools, prompts and resources which the suite wants a
//! server to have for it. The fixture counter has them and passes these checks;
//! no other counter can.

/// Scenario and check.
pub type Check = (&'static str, &'static str);

/// In every revision.
const ALWAYS: &[Check] = &[
    (
        "prompts-get-embedded-resource",
        "prompts-get-embedded-resource",
    ),
    ("prompts-get-simple", "prompts-get-simple"),
    ("prompts-get-with-args", "prompts-get-with-args"),
    ("prompts-get-with-image", "prompts-get-with-image"),
    ("resources-read-binary", "resources-read-binary"),
    ("resources-read-text", "resources-read-text"),
    ("resources-templates-read", "resources-templates-read"),
    ("tools-call-audio", "tools-call-audio"),
    (
        "tools-call-embedded-resource",
        "tools-call-embedded-resource",
    ),
    ("tools-call-error", "tools-call-error"),
    ("tools-call-image", "tools-call-image"),
    ("tools-call-mixed-content", "tools-call-mixed-content"),
    ("tools-call-simple-text", "tools-call-simple-text"),
    ("tools-call-with-progress", "tools-call-with-progress"),
];

/// In revisions with a handshake.
const WITH_HANDSHAKE: &[Check] = &[
    ("resources-subscribe", "resources-subscribe"),
    ("resources-unsubscribe", "resources-unsubscribe"),
    ("tools-call-elicitation", "tools-call-elicitation"),
    ("tools-call-sampling", "tools-call-sampling"),
    ("tools-call-with-logging", "tools-call-with-logging"),
];

/// Only there.
const IN_2025_11_25: &[Check] = &[
    (
        "elicitation-sep1034-defaults",
        "elicitation-sep1034-general",
    ),
    ("elicitation-sep1330-enums", "elicitation-sep1330-general"),
    ("json-schema-2020-12", "json-schema-2020-12-tool-found"),
    ("server-sse-polling", "server-sse-disconnect-resume"),
];

/// Only there.
const IN_2026_07_28: &[Check] = &[
    (
        "http-custom-header-server-validation",
        "sep-2243-server-decode-base64",
    ),
    (
        "http-custom-header-server-validation",
        "sep-2243-server-no-xmcp-tool",
    ),
    (
        "http-custom-header-server-validation",
        "sep-2243-server-reject-invalid-param-chars",
    ),
    (
        "http-custom-header-server-validation",
        "sep-2243-server-reject-param-mismatch",
    ),
    (
        "http-custom-header-server-validation",
        "sep-2243-server-validate-param-match",
    ),
    (
        "input-required-result-basic-elicitation",
        "sep-2322-elicitation-incomplete",
    ),
    (
        "input-required-result-basic-list-roots",
        "sep-2322-list-roots-incomplete",
    ),
    (
        "input-required-result-basic-sampling",
        "sep-2322-sampling-incomplete",
    ),
    (
        "input-required-result-capability-check",
        "sep-2322-respect-client-capabilities",
    ),
    (
        "input-required-result-ignore-extra-params",
        "sep-2322-ignore-unexpected-params",
    ),
    (
        "input-required-result-missing-input-response",
        "sep-2322-missing-response-rerequests",
    ),
    (
        "input-required-result-multi-round",
        "sep-2322-multi-round-r1",
    ),
    (
        "input-required-result-multiple-input-requests",
        "sep-2322-multiple-inputs-incomplete",
    ),
    (
        "input-required-result-non-tool-request",
        "sep-2322-non-tool-incomplete",
    ),
    (
        "input-required-result-request-state",
        "sep-2322-request-state-incomplete",
    ),
    (
        "input-required-result-result-type",
        "sep-2322-result-type-included",
    ),
    (
        "input-required-result-tampered-state",
        "sep-2322-reject-tampered-state",
    ),
    ("json-schema-2020-12", "json-schema-2020-12-tool-found"),
    (
        "server-stateless",
        "sep-2575-http-server-no-independent-requests-on-stream",
    ),
    ("server-stateless", "sep-2575-missing-capability-http-400"),
    (
        "server-stateless",
        "sep-2575-server-no-log-without-loglevel",
    ),
    (
        "server-stateless",
        "sep-2575-server-rejects-undeclared-capability",
    ),
];

/// The shop has no resources, declares none and answers none of their methods;
/// the suite takes them for granted.
const WITHOUT_RESOURCES: &[Check] = &[
    ("caching", "sep-2549-resources-list-caching-hints"),
    ("caching", "sep-2549-resources-templates-list-caching-hints"),
    ("resources-list", "resources-list"),
    ("sep-2164-resource-not-found", "sep-2164-data-uri"),
    ("sep-2164-resource-not-found", "sep-2164-error-code"),
];

/// What a counter can't pass in a revision.
pub fn expected(counter: &str, revision: &str) -> Vec<Check> {
    let mut checks = ALWAYS.to_vec();
    checks.extend_from_slice(match revision {
        "2026-07-28" => IN_2026_07_28,
        _ => WITH_HANDSHAKE,
    });
    if revision == "2025-11-25" {
        checks.extend_from_slice(IN_2025_11_25);
    }
    if counter == "merchant" {
        checks.extend_from_slice(WITHOUT_RESOURCES);
    }
    checks
}
