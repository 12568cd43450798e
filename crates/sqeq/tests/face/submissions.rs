//! Each submission is taken once (SQEQ-1).

use serde_json::json;
use sessiond_protocol::{ErrorCode, ServerFrame};

use crate::stage::{Stage, list};

async fn refused(stage: &Stage) {
    let told = stage.told().await;
    let ServerFrame::Error {
        error,
        fatal: false,
    } = told
    else {
        panic!("{told:?}")
    };
    assert_eq!(
        (error.code, error.pointer.as_deref()),
        (ErrorCode::Invalid, Some("/id"))
    );
}

/// SQEQ-1
#[tokio::test]
async fn an_id_is_good_for_one_submission_before_and_after_its_receipt() {
    let mut stage = Stage::greeted().await;
    stage.submit("once", &list()).await;
    let once = stage.submitted().await;
    stage.submit("once", &list()).await;
    refused(&stage).await;
    stage.accept(&once.id);
    assert!(matches!(stage.told().await, ServerFrame::Receipt(_)));
    stage.submit("once", &list()).await;
    refused(&stage).await;
    // One that was refused for itself has had its receipt too.
    stage.submit("bad", &json!({})).await;
    assert!(matches!(stage.told().await, ServerFrame::Receipt(_)));
    for op in [list(), json!({})] {
        stage.submit("bad", &op).await;
        refused(&stage).await;
    }
    stage.submit("other", &list()).await;
    assert_eq!(stage.submitted().await.id.as_str(), "other");
}
