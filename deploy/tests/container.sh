#!/bin/sh
# Builds deploy/docker/Dockerfile without a Docker engine, runs the image, and has it answer a mail.
#
#     apt install buildah crun debootstrap && sh deploy/tests/container.sh
#
# It needs root, 2 GB in the temporary folder, and some minutes. The base image is a Debian made here by
# debootstrap; the host's settings of apt and pip go into it, so that a proxy works there, too.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d "${TMPDIR:-/tmp}/pbmserv-container.XXXXXX")
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
build() { buildah --root "$work/images" --runroot "$work/run" "$@"; }
server=
end() {
  status=$?
  # The server is a child of buildah's children, which pass no signal on: all are in one group.
  if [ -n "$server" ] && kill -TERM -- "-$server" 2>/dev/null; then
    sleep 5
    kill -KILL -- "-$server" 2>/dev/null || true
  fi
  wait
  build rm --all >/dev/null 2>&1 || true
  rm -rf "$work"
  exit "$status"
}
trap end EXIT
trap 'exit 1' HUP INT TERM # a shell such as dash runs no trap for EXIT when a signal ends it
step() { echo "$(date +%T) $*"; }

step "a Debian 13 as the base image"
debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates trixie \
  "$work/base" http://deb.debian.org/debian >"$work/log" 2>&1
cp -n /etc/apt/apt.conf.d/* "$work/base/etc/apt/apt.conf.d/" || true
cp /etc/ssl/certs/ca-certificates.crt "$work/base/etc/ssl/certs/"
[ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$work/base/etc/"
ln -sf python3 "$work/base/usr/bin/python"
base=$(build from scratch)
build add --quiet "$base" "$work/base" / >/dev/null
build config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$base"
build commit --quiet "$base" python-base >/dev/null

step "the image, by the steps of the Dockerfile"
build bud --network host --build-arg PYTHON_IMAGE=localhost/python-base \
  -f deploy/docker/Dockerfile -t pbmserv . >"$work/log" 2>&1 || { tail -20 "$work/log"; exit 1; }

step "its programs"
image=$(build from localhost/pbmserv)
build run "$image" -- pbmserv --version
build run "$image" -- pg_dump --version
build run "$image" -- python -c 'import os; assert os.getuid() == 10001'

step "the server, and a first mail"
setsid buildah --root "$work/images" --runroot "$work/run" run \
  --env PBMSERV_SMTP=127.0.0.1:22525 --env PBMSERV_WEB=127.0.0.1:28025 \
  --env PBMSERV_ADDRESS=pbmserv@games.example --env PBMSERV_RELAY=maildir:/var/lib/pbmserv/mail \
  "$image" -- pbmserv serve >"$work/serve.log" 2>&1 &
server=$!
build run "$image" -- python -c '
import smtplib, time
from pathlib import Path
from urllib.request import urlopen
for _ in range(120):
    try:
        assert urlopen("http://127.0.0.1:28025/healthz", timeout=4).status == 200
        break
    except OSError:
        time.sleep(0.5)
with smtplib.SMTP("127.0.0.1", 22525) as client:
    mail = "From: a@b.example\r\nSubject: help\r\nMessage-ID: <1@b.example>\r\n\r\n"
    client.sendmail("a@b.example", ["pbmserv@games.example"], mail)
last = time.monotonic() + 60
while not list(Path("/var/lib/pbmserv/mail").glob("*/new/*")):
    assert time.monotonic() < last, "no answer"
    time.sleep(0.2)
'
build run --env PBMSERV_ADDRESS=pbmserv@games.example "$image" -- \
  pbmserv db backup /var/lib/pbmserv/copy --overwrite
step "done: the image answers mail"
