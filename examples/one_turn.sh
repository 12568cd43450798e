#!/bin/sh
# One headless turn with the built-in agent. Every line on stdout is one event frame, so a script
# can follow the turn; the last one says how it ended.
#
#   usage: one_turn.sh [PROMPT]        (sessiond on PATH, or named by SESSIOND_BIN)
set -eu

events=$("${SESSIOND_BIN:-sessiond}" exec --json "${1:-hello world}")
printf '%s\n' "$events"
printf '%s\n' "$events" | grep -q '"type":"turn.ended","outcome":"completed"'
