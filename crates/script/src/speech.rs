//! Speech that comes in pieces: echoed words and streams of an exact size.

use std::fmt::Write as _;

use sessiond_engine::TurnOver;

use crate::settings;
use crate::stage::Stage;
use crate::step::Pieces;

/// What the number of a piece takes at most, with what stands around it.
const NUMBER_BYTES: usize = 24;

/// Says a text back in chunks: word by word, or as the user chose.
pub(crate) async fn echo(stage: &mut Stage<'_>, text: &str) -> Result<(), TurnOver> {
    stage.begin_text().await?;
    for chunk in settings::echo(stage.context).cut(text) {
        if stage.is_cancelled() {
            break;
        }
        stage.say_more(chunk).await?;
    }
    Ok(())
}

/// Says the pieces of `/stream`; stops where the turn is being cancelled.
pub(crate) async fn stream(stage: &mut Stage<'_>, pieces: Pieces) -> Result<(), TurnOver> {
    stage.begin_text().await?;
    let filler = "x".repeat(pieces.bytes);
    for number in 0..pieces.count {
        if number > 0 && !pieces.delay.is_zero() {
            stage.sleep(pieces.delay).await;
        }
        if stage.is_cancelled() {
            break;
        }
        stage.say_more(piece(number, &filler)).await?;
    }
    Ok(())
}

/// Piece `number`, exactly as long as `filler`: its number, so that a lost or doubled one is seen.
fn piece(number: usize, filler: &str) -> String {
    let mut piece = String::with_capacity(filler.len().max(NUMBER_BYTES));
    // Writing to a String cannot fail.
    let _ = write!(piece, "w{number} ");
    piece.truncate(filler.len());
    piece.push_str(filler.get(piece.len()..).unwrap_or_default());
    piece
}
