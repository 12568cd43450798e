use sessiond_wire::queue::PATIENT_COALESCE_FROM;

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
        let frame: serde_json::Value = serde_json::from_str(&frame.text()).unwrap();
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
            assert!(frame.text().len() < 1 << 20, "{}", frame.text().len());
            client.queue().push(frame.clone());
        }
        assert_eq!(texts(&client).await.concat(), text);
    }
}

/// WIRE-6
#[tokio::test]
async fn adjacent_pieces_of_one_message_merge_when_the_reader_is_slow() {
    let client = Client::new(OutQueue::patient());
    let (agent, thought) = (
        streaming(Voice::Agent, &message(None)),
        streaming(Voice::Thought, &message(None)),
    );
    for _ in 0..PATIENT_COALESCE_FROM {
        client.say_more(&agent, "x".into());
    }
    client.say_more(&agent, "a \"quoted\" {\"text\":\"word\"}".into());
    client.say_more(&agent, String::new());
    client.say_more(&agent, "\\\n".into());
    client.say_more(&thought, "c".into());
    client.say(
        Voice::Agent,
        "d",
        &message(Some(Remark::Finish("interrupted").into())),
    );
    let texts = texts(&client).await;
    assert_eq!(
        &texts[PATIENT_COALESCE_FROM - 1..],
        ["xa \"quoted\" {\"text\":\"word\"}\\\n", "c", "d"]
    );
}

/// WIRE-4: the pieces of a streamed text are cut like those of a whole one.
#[tokio::test]
async fn a_chunk_of_a_stream_is_the_chunk_of_a_whole_text() {
    for voice in [Voice::Agent, Voice::Thought] {
        let long = "é\n".repeat(CHUNK_BYTES);
        for text in ["a \"word\"\n", long.as_str()] {
            let (whole, streamed) = (Client::new(OutQueue::new()), Client::new(OutQueue::new()));
            whole.say(voice, text, &message(None));
            streamed.say_more(&streaming(voice, &message(None)), text.to_owned());
            let (mut expected, mut frames) = (Vec::new(), Vec::new());
            whole.queue().recv_many(&mut expected, 10).await;
            streamed.queue().recv_many(&mut frames, 10).await;
            let text = |frame: &RpcFrame| frame.text().into_owned();
            let expected: Vec<_> = expected.iter().map(text).collect();
            assert_eq!(frames.iter().map(text).collect::<Vec<_>>(), expected);
        }
    }
}
