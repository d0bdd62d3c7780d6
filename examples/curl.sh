#!/usr/bin/env bash
set -euo pipefail

service=${PETSTORE_URL:-http://127.0.0.1:3000}
service=${service%/}
# Links have the path of the service, but no scheme and host.
origin=$(sed -E 's#^([a-z]+://[^/]+).*#\1#' <<<"$service")
headers=$(mktemp)
trap 'rm -f "$headers"' EXIT

call() {
  local url=$1
  shift
  curl --silent --show-error --max-time 30 --retry 3 --header "Authorization: Bearer $KEY" --header 'Content-Type: application/json' \
    --dump-header "$headers" --write-out '\n' "$@" "$url"
}

# The idempotency key makes repeated runs within 24 hours, and retries by --retry, add one pet only.
call "$service/v1/pets" --header 'Idempotency-Key: first-rex' --data '{"name":"Rex","categoryId":7}'

# Reads all pages. A full page names the next one in its Link header.
page="$service/v1/pets?status=available&limit=2"
while [ -n "$page" ]; do
  call "$page"
  link=$(sed -nE 's/^link: <([^>]*)>; rel="next".*/\1/Ip' "$headers")
  page=${link:+$origin$link}
done

# An error response explains the problem.
call "$service/v1/pets" --data '{"name":" ","categoryId":"7"}'
