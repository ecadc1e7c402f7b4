#!/bin/sh
# Installs Debian's Chromium for the browser tests, if there is no browser yet and this user may install packages.
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" > /dev/null 2>&1; then exit 0; fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null 2>&1; then
  echo "installing Chromium for the browser tests"
  if { apt-get -qq update && apt-get -qq -y install chromium fonts-dejavu-core; } > /dev/null 2>&1; then exit 0; fi
fi
echo "no Chromium, and it cannot be installed here: browser tests are skipped; on Debian 'apt-get install chromium'" >&2
