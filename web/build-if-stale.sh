# Builds the console unless its build is newer than every source. npm runs it before each start, so it starts Node only if
# something has changed.
cd "$(dirname "$0")/.." || exit
newer=$(find package-lock.json tsconfig.json sources.ts client db engine server web \
  ! -path web ! -path 'web/dist*' ! -path 'engine/*/test/*' -newer web/dist/index.html 2>&1)
[ -z "$newer" ] || { node server/node-version.mjs && node web/build.ts "$@"; }
