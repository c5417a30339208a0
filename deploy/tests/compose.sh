#!/bin/sh
# Starts a Docker engine of its own and runs the two services of deploy/docker/compose.yaml in it, by the
# commands of docs/operating/containers.md: start, a mail and its answer, copy, kill, restore.
#
#     apt install docker.io docker-compose debootstrap && sh deploy/tests/compose.sh
#
# It needs root, 4 GB in the temporary folder, and some minutes. No registry of images is asked: both base
# images are one Debian 13 made here by debootstrap, and the database's understands the same variables as
# the official image. The host's settings of apt and pip go into it, so that a proxy works there, too.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d "${TMPDIR:-/tmp}/pbmserv-compose.XXXXXX")
export DOCKER_HOST="unix://$work/socket" DOCKER_BUILDKIT=0
engine=
end() {
  status=$?
  [ "$status" = 0 ] || tail -40 "$work/log"
  if [ -n "$engine" ]; then
    (cd "$work/source/deploy/docker" && docker-compose down --volumes) >/dev/null 2>&1 || true
    kill "$engine" 2>/dev/null || true
  fi
  wait
  umount "$work"/exec/netns/* 2>/dev/null || true
  rm -rf --one-file-system "$work"
  exit "$status"
}
trap end EXIT
trap 'exit 1' HUP INT TERM # a shell such as dash runs no trap for EXIT when a signal ends it
step() { echo "$(date +%T) $*"; }

step "a Debian 13 as the base of both images"
debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates,postgresql trixie \
  "$work/base" http://deb.debian.org/debian >"$work/log" 2>&1
cp -n /etc/apt/apt.conf.d/* "$work/base/etc/apt/apt.conf.d/" || true
cp /etc/ssl/certs/ca-certificates.crt "$work/base/etc/ssl/certs/"
[ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$work/base/etc/"
ln -sf python3 "$work/base/usr/bin/python"
cat >"$work/base/usr/local/bin/database" <<'END'
#!/bin/sh
# Does what the official image does with these variables.
set -eu
data=/var/lib/postgresql/data
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
if [ "$(id -u)" = 0 ]; then
  install -d -o postgres -g postgres -m 700 "$data" /var/run/postgresql
  exec setpriv --reuid postgres --regid postgres --init-groups "$0"
fi
if [ ! -s "$data/PG_VERSION" ]; then
  initdb -D "$data" --encoding=UTF8 --locale=C.UTF-8 --auth-local=trust --auth-host=scram-sha-256 --username="$POSTGRES_USER" \
    --pwfile="$POSTGRES_PASSWORD_FILE"
  echo "host all all all scram-sha-256" >>"$data/pg_hba.conf"
  pg_ctl -D "$data" -w -o "-c listen_addresses=" start
  createdb -U "$POSTGRES_USER" "$POSTGRES_DB" 2>/dev/null || true
  pg_ctl -D "$data" -w stop
fi
exec postgres -D "$data" -c "listen_addresses=*"
END
chmod 755 "$work/base/usr/local/bin/database"

step "a Docker engine"
# It changes no rule of the host's firewall: containers reach each other by their bridge, and ports are
# passed on by a program.
dockerd --data-root "$work/data" --exec-root "$work/exec" --pidfile "$work/pid" --host "$DOCKER_HOST" \
  --iptables=false --ip6tables=false >"$work/engine.log" 2>&1 &
engine=$!
for _ in $(seq 60); do
  docker version >/dev/null 2>&1 && break
  sleep 0.5
done
docker version --format '{{.Server.Version}}'
tar -C "$work/base" -c . | docker import --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' - python-base >/dev/null
tar -C "$work/base" -c . | docker import --change 'ENTRYPOINT ["/usr/local/bin/database"]' \
  --change 'ENV PATH=/usr/local/bin:/usr/lib/postgresql/17/bin:/usr/bin:/bin' - postgres:17-trixie >/dev/null

step "the image, by the Dockerfile"
mkdir "$work/source"
git ls-files -co --exclude-standard -z | tar --null --create --files-from - | tar -x -C "$work/source"
cd "$work/source"
docker build --network host --build-arg PYTHON_IMAGE=python-base -f deploy/docker/Dockerfile -t docker_pbmserv . \
  >"$work/log" 2>&1

step "docs/operating/containers.md: the two services"
page() { # page HEADING: its blocks of commands, for the older program docker-compose
  awk -v heading="$1" '
    /^#/ && !inside { here = index($0, heading) > 0 }
    /^```/ { inside = !inside; next }
    inside && here' docs/operating/containers.md |
    sed -E 's/docker compose (cp) pbmserv:/docker cp "$(docker-compose ps -q pbmserv)":/
      s/docker compose/docker-compose/; s/--build --wait/--no-build/; /^docker-compose logs/d; /^cd /d'
}
page '# In containers' |
  sed 's|smtps://USER:PASSWORD@mail.example.net|maildir:/var/lib/pbmserv/letters|' >"$work/start"
cd deploy/docker
sh -ex "$work/start" >"$work/log" 2>&1
healthy() {
  for _ in $(seq 120); do
    [ "$(docker inspect --format '{{.State.Health.Status}}' "$(docker-compose ps -q pbmserv)")" != healthy ] || return 0
    sleep 1
  done
  docker-compose logs --tail 30
  exit 1
}
answers() { # answers N: writes a mail, and waits for the Nth letter
  python3 - "$1" <<'END'
import smtplib, subprocess, sys, time
with smtplib.SMTP("127.0.0.1", 25, timeout=30) as client:
    number = sys.argv[1]
    mail = f"From: a@b.example\r\nSubject: help\r\nMessage-ID: <{number}@b.example>\r\n\r\n"
    client.sendmail("a@b.example", ["pbmserv@games.example.org"], mail)
last = time.monotonic() + 60
count = ["docker-compose", "exec", "-T", "pbmserv", "python", "-c",
         "from pathlib import Path; print(len(list(Path('letters').glob('*/new/*'))))"]
while int(subprocess.run(count, check=True, capture_output=True).stdout) < int(sys.argv[1]):
    assert time.monotonic() < last, "no answer"
    time.sleep(0.5)
END
}
healthy
answers 1
docker-compose exec -T pbmserv pbmserv user list >/dev/null

step "killed, and started again by the engine"
docker kill --signal KILL "$(docker-compose ps -q db)" >/dev/null
docker-compose up --detach --no-build >>"$work/log" 2>&1
healthy
answers 2

step "docs/operating/containers.md: copy and restore"
cd "$work/source"
page '## Backup' >"$work/restore"
cd deploy/docker
sed -i 's/docker-compose exec/& -T/; s/docker-compose run/& -T/' "$work/restore"
sh -ex "$work/restore" >>"$work/log" 2>&1
healthy
answers 3
step "done: the two services answer mail under a Docker engine"
