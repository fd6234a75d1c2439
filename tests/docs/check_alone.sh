#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Compiles each block of the documents as it stands: in the program of all, one may use what another includes.
# usage: check_alone.sh COMPILER INCLUDE_DIR FOLDER     exit code 77: only ANDIRON_LONG_TESTS does it
set -euo pipefail
if [ -z "${ANDIRON_LONG_TESTS:-}" ]; then
  echo "check_alone: NOT RUN: blocks of documents by themselves"
  exit 77
fi
failed=0
for block in "$3"/*.alone; do
  "$1" -std=c++20 -I "$2" -fsyntax-only -x c++ "$block" || failed=1
done
exit $failed
