#!/bin/sh
# Checks both modules with TLC within every named bound, and compares with expected.toml.
# Needs Java and TLA2TOOLS, the path of tla2tools.jar. Names of bounds may be given: `spec/check.sh a1 t1`.
set -eu
cd "$(dirname "$0")"
if [ -z "${TLA2TOOLS:-}" ]; then
    echo "TLA2TOOLS is not set: TLC was not run. Set it to the path of tla2tools.jar." >&2
    echo "The same search without TLC: cargo xtask model all" >&2
    exit 0
fi
if [ $# -eq 0 ]; then
    set -- a1 a2 b1 d1 e1 e2 t1 t2 t3
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
expected() { # the value of a key in a section of expected.toml, without underscores
    sed -n "/^\[$1\]/,/^\[/ s/^$2 = //p" models/expected.toml | tr -d _
}
failed=0
for name in "$@"; do
    case "$name" in t*) module=TwoStores ;; *) module=Remora ;; esac
    java -XX:+UseParallelGC -cp "$TLA2TOOLS" tlc2.TLC -workers auto -metadir "$work/$name" \
        -config "models/$name.cfg" "$module.tla" >"$work/$name.log" || true
    found=$(sed -n 's/^\([0-9]*\) states generated, \([0-9]*\) distinct.* 0 states left.*/\1 \2/p' "$work/$name.log")
    depth=$(sed -n 's/^The depth of the complete state graph search is \([0-9]*\)\.$/\1/p' "$work/$name.log")
    wanted="$(expected "$name" generated) $(expected "$name" distinct) $(expected "$name" depth)"
    if [ "$found $depth" = "$wanted" ] && grep -q 'No error has been found' "$work/$name.log"; then
        echo "$name: generated, distinct and depth are $wanted, as published"
    else
        echo "$name: found \"$found $depth\", published is \"$wanted\"; the end of what TLC said:" >&2
        tail -n 40 "$work/$name.log" >&2
        failed=1
    fi
done
exit $failed
