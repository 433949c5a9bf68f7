//! Calculating.

use serde_json::json;
use tenon_domain::ErrorKind;

use crate::harness::BuiltinHarness;

#[tokio::test]
async fn a_result_is_the_number_and_nothing_else() {
    let harness = BuiltinHarness::new().await;
    for (expression, expected) in [("6*7", "42"), ("（17+4）×23", "483"), ("0.1+0.2", "0.3")] {
        assert_eq!(
            harness
                .text("calculate", json!({"expression": expression}))
                .await,
            expected
        );
    }
}

#[tokio::test]
async fn what_cannot_be_worked_out_says_why() {
    let harness = BuiltinHarness::new().await;
    let check = async |expression: String, expected: &str| {
        let error = harness
            .error("calculate", json!({"expression": expression}))
            .await;
        assert_eq!(error, (ErrorKind::InvalidInput, expected.to_owned()));
    };
    let zero = "The expression cannot be worked out: division by zero.";
    check("1/0".into(), zero).await;
    let long = "The expression is 1001 characters long; 1000 is the most. Work it out in parts.";
    check("1".repeat(1001), long).await;
}
