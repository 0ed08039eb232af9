#!/bin/sh
# Written by "autoscaler image". The build stages of the Dockerfile run it:
#
#   sh fetch.sh <platform> packed|unpacked
#
# It downloads the providers of packages/ into mirror/, both beside this file, with the Terraform of
# the image. Terraform compares each package with the signed checksums of its registry. Then this
# script compares it with the checksums of each lock file, as "terraform init" does.
set -eu
platform=$1
layout=$2
root=$(cd "$(dirname "$0")" && pwd)
umask 022
export CHECKPOINT_DISABLE=1
# for registries that need credentials: docker build --secret id=terraformrc,src=FILE
if [ -f /run/secrets/terraformrc ]; then export TF_CLI_CONFIG_FILE=/run/secrets/terraformrc; fi

fail() {
  echo "error: $*" >&2
  exit 1
}

for tool in terraform unzip sha256sum; do
  command -v "$tool" >/dev/null ||
    fail "this image has no $tool. Name one that has it: --build-arg TERRAFORM_IMAGE=ghcr.io/coder/coder:VERSION"
done

# Terraform's checksum "h1:" of an unpacked package, as hex: that of the list of its files
content_hash_of() (
  cd "$1"
  find . -type f | sed 's|^\./||' | LC_ALL=C sort |
    while IFS= read -r file; do sha256sum -- "$file"; done | sha256sum | cut -d ' ' -f 1
)

# $1: a lock file's checksums. Its first line names the templates.
check_lock() {
  templates=$(sed -n '1s/^# //p' "$1")
  if ! grep -q '^[hz]' "$1"; then
    echo "note: $name: the lock file of $templates has no checksums, so nothing is compared"
    return
  fi
  if grep -qx "h1 $content_hash" "$1"; then return; fi
  needs="Run in the template's folder, and push the template:
  terraform providers lock -platform=linux_amd64 -platform=linux_arm64 -platform=darwin_arm64"
  if [ "$layout" = unpacked ] && grep -q '^h1' "$1"; then
    fail "$name: the lock file of $templates has no h1 checksum of $platform, so Terraform would refuse the unpacked package. $needs
Or write the image again without --unpacked"
  fi
  if ! grep -qx "zh $zip_hash" "$1"; then
    if grep -q '^zh' "$1"; then
      fail "$name: the package of $platform is not the one in the lock file of $templates. Its registry may have another package under this version now. Do not use it before you know why"
    fi
    fail "$name: the lock file of $templates has checksums of other platforms than $platform only, so its builds fail with or without this image. $needs"
  fi
  echo "note: $name: the lock file of $templates has no h1 checksum of $platform. Each build unpacks the package again. $needs"
}

for package in "$root"/packages/*/; do
  { read -r address && read -r version; } <"$package/package"
  name="$address $version"
  (cd "$package" && terraform providers mirror -platform="$platform" "$root/mirror")
  zip=$root/mirror/$address/terraform-provider-${address##*/}_${version}_$platform.zip
  [ -f "$zip" ] || fail "$name: terraform providers mirror wrote no $zip"
  folder=$root/mirror/$address/$version/$platform
  mkdir -p "$folder"
  unzip -q -o "$zip" -d "$folder"
  zip_hash=$(sha256sum "$zip" | cut -d ' ' -f 1)
  content_hash=$(content_hash_of "$folder")
  for lock in "$package"/lock-*; do check_lock "$lock"; done
  if [ "$layout" = packed ]; then
    rm -r "$root/mirror/$address/$version"
  else
    rm "$zip"
    chmod a+x "$folder"/terraform-provider-*
  fi
done

# only a network mirror needs the lists that Terraform writes too
find "$root/mirror" -name '*.json' ! -path "*/$platform/*" -exec rm -f {} +
chmod -R a+rX "$root/mirror"
# the same content makes the same layer
TZ=UTC find "$root/mirror" -exec touch -t 202001010000 {} +
