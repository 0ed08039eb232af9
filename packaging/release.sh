#!/bin/sh
# `npm run release`: checks that the version in package.json is ready, sets its tag, and pushes the tag after a yes.
set -eu
cd "$(dirname "$0")/.."

refuse() {
  echo "not released: $1" >&2
  exit 1
}

version=$(node -p "require('./package.json').version")
tag="v$version"
[ -z "$(git status --porcelain)" ] || refuse 'the work tree has changes; commit them'
grep -qF "## [$version] - " CHANGELOG.md || refuse "CHANGELOG.md has no section $version; rename Unreleased"
ls "test/infra/upgrade/kept/$version/"*.snap >/dev/null 2>&1 ||
  refuse 'what an upgrade from it must keep is missing; run UPGRADE_BASELINE=write npx vitest run test/infra/upgrade'
[ "$(node -p "require('./package-lock.json').version")" = "$version" ] ||
  refuse 'package-lock.json has another version; run npm install --package-lock-only'
[ "$(node -p "Boolean(require('./package.json').repository)")" = true ] ||
  refuse 'package.json names no repository; run npm pkg set repository=github:OWNER/NAME and commit it'
git rev-parse -q --verify "refs/tags/$tag" >/dev/null && refuse "the tag $tag exists; raise the version"

git tag -a "$tag" -m "$tag"
printf 'Tagged %s. Push it to publish both packages? [y/N] ' "$tag"
read -r answer || answer=
case "$answer" in
  y | yes) git push origin "$tag" ;;
  *) echo "Not pushed. Later: git push origin $tag" ;;
esac
