#!/usr/bin/env bash
# Fetches the Bitstamp level-3 capture that `rialto replay` is tested with.
#
#   scripts/fetch-bitstamp.sh [DIR]          (default: data/bitstamp)
#
# The capture lies in the PyPI wheel ob-analytics 0.1.0, which is licensed GPL-2.0-or-later. It is
# fetched when it is needed and never becomes part of this repository (data/ is ignored by git).
# Needs pip and Python 3; does nothing when the files are there already.
set -euo pipefail

package=ob-analytics
version=0.1.0
orders_sha256=880501e94fb43942b7f98cbc37bab421d72703d85898aae8de5da117bf62cdfc
trades_sha256=9fd0dd86023b71eed49026b9b8e8a45d06d2578ced69393ad696f37233e9c795
dir=${1:-"$(dirname "$0")/../data/bitstamp"}

is_whole() {
	sha256sum --check --status <<-SUMS
		$orders_sha256  $dir/orders.csv.gz
		$trades_sha256  $dir/trades.csv
	SUMS
}

if [ -e "$dir/orders.csv.gz" ] && [ -e "$dir/trades.csv" ] && is_whole; then
	echo "$dir holds the capture already"
	exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
	--dest "$work" "$package==$version"

mkdir -p "$dir"
python3 - "$work" "$dir" <<'PYTHON'
import pathlib, sys, zipfile

work, target = map(pathlib.Path, sys.argv[1:])
(wheel,) = work.glob("*.whl")
with zipfile.ZipFile(wheel) as archive:
    (about,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    text = archive.read(about).decode()
    if "GPL" not in text:
        sys.exit("the wheel's licence is not the one that was expected; look before using it")
    licence = [line for line in text.splitlines() if line.startswith("License")]
    print("\n".join(licence) or "Licence: see the wheel's METADATA")
    for name in ("orders.csv.gz", "trades.csv"):
        (target / name).write_bytes(archive.read(f"ob_analytics/_sample_data/{name}"))
PYTHON

if ! is_whole; then
	echo "the files in $dir are not those that were expected: their SHA-256 differs" >&2
	exit 1
fi
echo "the capture is in $dir; try: rialto replay $dir/orders.csv.gz"
