#!/bin/sh
# Builds the NATS server that `rialto bench queue` measures beside Rialto's queue, from the Go module
# proxy, into a directory of the build. Needs Go. Nothing of it is committed or installed.
#
#   scripts/fetch-nats-server.sh [DIRECTORY]     (default: target/peers)
set -eu

version=v2.15.2
target=${CARGO_TARGET_DIR:-target}
dir=${1:-$target/peers}

command -v go >/dev/null || { echo "Go is not installed: https://go.dev/dl" >&2; exit 1; }
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
GOBIN=$dir GOFLAGS=-mod=mod go install "github.com/nats-io/nats-server/v2@$version"
"$dir/nats-server" --version
