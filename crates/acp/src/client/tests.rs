use sessiond_wire::queue::COALESCE_FROM;

use super::*;
use crate::update::Remark;

fn message(meta: Option<Meta>) -> Message {
    let id = Some("00000000-0000-7000-8000-000000000002".parse().unwrap());
    let session = "00000000-0000-7000-8000-000000000001".parse().unwrap();
    Message { session, id, meta }
}

async fn texts(client: &Client) -> Vec<String> {
    client.queue().close();
    let mut texts = Vec::new();
    while let Some(frame) = client.queue().recv().await {
        let frame: serde_json::Value = serde_json::from_str(frame.as_str()).unwrap();
        let text = frame.pointer("/params/update/content/text").unwrap();
        texts.push(text.as_str().unwrap().to_owned());
    }
    texts
}

/// WIRE-4
#[tokio::test]
async fn a_long_text_is_cut_between_characters_into_frames_below_1_mib() {
    // The worst that escaping does, and characters of each length in UTF-8.
    for unit in ["\u{1}", "a", "é", "漢", "🦀"] {
        let text = unit.repeat(2 * CHUNK_BYTES / unit.len() + 1);
        let client = Client::new(OutQueue::new());
        client.say(Voice::Agent, &text, &message(None));
        let mut frames = Vec::new();
        client.queue().recv_many(&mut frames, 10).await;
        assert!(frames.len() >= 3);
        for frame in &frames {
            assert!(frame.as_str().len() < 1 << 20, "{}", frame.as_str().len());
            client.queue().push(frame.clone());
        }
        assert_eq!(texts(&client).await.concat(), text);
    }
}

/// WIRE-6
#[tokio::test]
async fn adjacent_pieces_of_one_message_merge_when_the_reader_is_slow() {
    let client = Client::new(OutQueue::new());
    for _ in 0..COALESCE_FROM {
        client.say(Voice::Agent, "x", &message(None));
    }
    client.say(
        Voice::Agent,
        "a \"quoted\" {\"text\":\"word\"}",
        &message(None),
    );
    client.say(Voice::Agent, "\\\n", &message(None));
    client.say(Voice::Thought, "c", &message(None));
    client.say(
        Voice::Agent,
        "d",
        &message(Some(Remark::Finish("interrupted").into())),
    );
    let texts = texts(&client).await;
    assert_eq!(
        &texts[COALESCE_FROM - 1..],
        ["xa \"quoted\" {\"text\":\"word\"}\\\n", "c", "d"]
    );
}
