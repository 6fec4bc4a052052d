#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation site from docs/ and the references of C++, C and Python from their sources. Warnings are
# errors, and so is a public name without documentation. Arguments are passed to `mkdocs build`.
#   PYTHON           the interpreter, python3 by default; 3.10 or newer
#   NEWEL_DOCS_DIR  the build folder, build/docs by default: the environment in venv/, the site in site/
#   NEWEL_SITE_URL, NEWEL_REPOSITORY  addresses: of the site, for its site map; of the repository, for its links
set -euo pipefail
# shellcheck source=scripts/setup_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_common.sh"

python=${PYTHON:-python3}
dir=${NEWEL_DOCS_DIR:-build/docs}
packages=()
command -v doxygen >/dev/null || packages+=(doxygen)
"$python" -c 'import ensurepip' 2>/dev/null || packages+=(python3-venv)
[ ${#packages[@]} -eq 0 ] || install_missing "${packages[@]}"

mkdir -p "$dir"
[ -x "$dir/venv/bin/python" ] || "$python" -m venv "$dir/venv"
if ! cmp -s scripts/docs/requirements.txt "$dir/installed.txt"; then
  say "installing MkDocs into $dir/venv"
  "$dir/venv/bin/python" -m pip install -q --disable-pip-version-check -r scripts/docs/requirements.txt
  cp scripts/docs/requirements.txt "$dir/installed.txt"
fi

say "reading the public headers"
NEWEL_HEADERS=$("$dir/venv/bin/python" scripts/docs/cpp_headers.py | tr '\n' ' ')
NEWEL_DOXYGEN_OUT=$dir
export NEWEL_HEADERS NEWEL_DOXYGEN_OUT
rm -rf "$dir/xml"
doxygen scripts/docs/Doxyfile

say "building the site"
# Not quietly, which would leave warnings out of account. Material's authors announce other software on every build.
NEWEL_DOXYGEN_XML=$dir/xml NO_MKDOCS_2_WARNING=1 "$dir/venv/bin/mkdocs" build --strict \
  --site-dir "$PWD/$dir/site" "$@" >"$dir/mkdocs.log" 2>&1 || {
  grep -v '^INFO' "$dir/mkdocs.log" >&2
  fail "the site was not built"
}
say "$(find "$dir/site" -name '*.html' | wc -l) pages in $dir/site; to read them: $python -m http.server -d $dir/site"
