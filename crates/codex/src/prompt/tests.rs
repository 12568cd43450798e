use sessiond_protocol::Content;

use super::picture;

#[test]
fn a_picture_is_known_by_its_first_bytes() {
    let table: [(&[u8], Option<&str>); 6] = [
        (b"\x89PNG\r\n", Some("image/png")),
        (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
        (b"GIF89a", Some("image/gif")),
        (b"RIFF\0\0\0\0WEBP", Some("image/webp")),
        (b"<svg/>", None),
        (b"", None),
    ];
    for (bytes, kind) in table {
        let seen = picture(bytes).map(|content| match content {
            Content::Image { mime_type, .. } => mime_type,
            other => format!("{other:?}"),
        });
        assert_eq!(seen.as_deref(), kind, "{bytes:?}");
    }
}
