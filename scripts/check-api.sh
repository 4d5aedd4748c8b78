#!/usr/bin/env bash
# Sends generated requests to a venue and compares its answers with the description of the
# interface (schemathesis, from PyPI; fixed seed and number of cases). Fails on an answer that is
# not described, or that is a failure of the venue's own.
set -euo pipefail
cd "$(dirname "$0")/.."

rialto=${1:-target/debug/rialto}
tools=.cache/schemathesis
if ! [ -x "$tools/bin/schemathesis" ]; then
    python3 -m venv "$tools"
    if ! "$tools/bin/pip" --quiet --disable-pip-version-check install 'schemathesis==4.*'; then
        echo "schemathesis could not be installed: the interface was not tried with generated requests"
        exit 0
    fi
fi

data=$(mktemp -d)
RIALTO_ADMIN_KEY= "$rialto" demo --plain --data "$data/demo" --listen 127.0.0.1:0 >"$data/out" 2>&1 &
venue=$!
trap 'kill "$venue" 2>/dev/null || true; wait "$venue" 2>/dev/null || true; rm -rf "$data"' EXIT
for _ in $(seq 150); do
    [ -s "$data/demo/demo-key.toml" ] && break
    sleep 0.2
done
url=$(sed -n 's/^url = "\(.*\)"/\1/p' "$data/demo/demo-key.toml")

admin=$(sed -n 's/^admin key: \(ra_[0-9a-f]*\).*/\1/p' "$data/out")

export SCHEMATHESIS_HOOKS=scripts.schemathesis_sign RIALTO_KEY_FILE="$data/demo/demo-key.toml"
check() {
    PYTHONPATH=. "$tools/bin/schemathesis" run docs/openapi.json --url "$url" \
        --seed 1 --max-examples "${CASES:-20}" --workers 1 --no-color --suppress-health-check all \
        --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
        "$@"
}
check --exclude-path-regex '(/stream|/metrics|/v1/admin/.*)$'
RIALTO_ADMIN=$admin check --include-path-regex '^/v1/admin/(members|accounts|currencies|instruments|halt|resume|close|deposits|withdrawals|keys|rules-version)'
