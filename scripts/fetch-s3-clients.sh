#!/usr/bin/env bash
# Fetches boto3 and the command aws from PyPI, with which S3 is tested, into a virtual environment of
# the build. Nothing of it is committed or installed.
#
#   scripts/fetch-s3-clients.sh [DIRECTORY]     (default: target/s3-clients)
#
# Needs Python 3 with venv. Does nothing when the clients are there already.
set -euo pipefail

dir=${1:-${CARGO_TARGET_DIR:-"$(dirname "$0")/../target"}/s3-clients}

if [ -x "$dir/bin/aws" ] && "$dir/bin/python" -c 'import boto3' 2>/dev/null; then
	echo "$dir has the clients already"
	exit 0
fi

python3 -m venv "$dir"
"$dir/bin/pip" install --quiet --disable-pip-version-check boto3 awscli
"$dir/bin/python" -c 'import boto3; print("boto3", boto3.__version__)'
"$dir/bin/aws" --version
