#!/usr/bin/env bash
set -euo pipefail

service=${PETSTORE_URL:-http://127.0.0.1:3000}
headers=$(mktemp)
trap 'rm -f "$headers"' EXIT

call() {
  local path=$1
  shift
  curl --silent --show-error --max-time 30 --retry 3 --header "Authorization: Bearer $KEY" --header 'Content-Type: application/json' \
    --dump-header "$headers" --write-out '\n' "$@" "$service$path"
}

# The idempotency key makes repeated runs within 24 hours, and retries by --retry, add one pet only.
call /v1/pets --header 'Idempotency-Key: first-rex' --data '{"name":"Rex","categoryId":7}'

# Reads all pages. A full page names the next one in its Link header.
page='/v1/pets?status=available&limit=2'
while [ -n "$page" ]; do
  call "$page"
  page=$(sed -nE 's/^link: <([^>]*)>; rel="next".*/\1/Ip' "$headers")
done

# An error response explains the problem.
call /v1/pets --data '{"name":" ","categoryId":"7"}'
