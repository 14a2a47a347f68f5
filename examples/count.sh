#!/bin/sh
# COUNT(n, pause): n steps, each a line of output, a checkpoint and a pause. Right output is `seq 1 n`, however
# often it was interrupted. With TRACE set, each step that really ran is noted there, outside the output.
# remora run -- examples/count.sh 20 0.5
n=${1:-20} pause=${2:-0.5}
work() { echo "$1"; [ -z "$TRACE" ] || echo "$REMORA_ATTEMPT $1 $(date +%s%3N)" >> "$TRACE"; }

i=$(cat "$REMORA_STATE/i" 2>/dev/null || echo 0)
while [ "$i" -lt "$n" ]; do
  i=$((i+1)); work "$i" >> "$REMORA_OUTPUT/lines" || exit; echo "$i" > "$REMORA_STATE/i"
  remora attempt checkpoint --progress "$i/$n" || exit
  sleep "$pause"
done
