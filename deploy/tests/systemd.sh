#!/bin/sh
# Boots a Debian 12 whose first process is systemd, without a container engine or a virtual machine,
# and follows the pages there to the letter: deploy/README.md, backup, alerts, reverse proxy, upgrade,
# going back and uninstall.
#
#     apt install debootstrap && sh deploy/tests/systemd.sh
#
# It needs root, a checkout with its tools (make check), 3 GB in the temporary folder, and ten minutes.
# The machine that it boots has no network: a program takes its letters, and a certificate made here
# stands for that of Let's Encrypt. A wheel of the same source with a higher number is the new version.
set -eu
cd "$(dirname "$0")/../.."
source=$PWD
work=$(mktemp -d "${TMPDIR:-/tmp}/pbmserv-systemd.XXXXXX")
root=$work/root
machine=
end() {
  status=$?
  # Its end ends the machine (--kill-child); a gentler signal is not passed on.
  [ -z "$machine" ] || kill -KILL "$machine" 2>/dev/null || true
  wait
  [ "$status" = 0 ] || tail -40 "$work/log"
  rm -rf --one-file-system "$work"
  exit "$status"
}
trap end EXIT
trap 'exit 1' HUP INT TERM # a shell such as dash runs no trap for EXIT when a signal ends it
step() { echo "$(date +%T) $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }

# commands PAGE HEADING [NUMBER]: the blocks of commands below a heading, or one of them.
commands() {
  awk -v heading="$2" -v wanted="${3:-0}" '
    /^#/ && !inside { here = index($0, heading) > 0 }
    /^ *```/ { inside = !inside; if (inside) { plain = /```$/; number += here && plain }; next }
    inside && plain && here && (!wanted || wanted == number)' "$source/$1"
}

PBM=$(commands deploy/README.md '## 3. Settings')
case $PBM in "pbm() {"*) ;; *) fail "deploy/README.md does not define pbm" ;; esac
# In the machine, as its operator: reads commands, and shows them if one fails.
operator() { { echo "$PBM"; echo "set -ex; cd /root"; cat; } >"$work/typed"; inside sh -s <"$work/typed" >>"$work/log" 2>&1; }
inside() {
  nsenter --target "$init" --all env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"
}
before() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -ec "cd /root; $1" >>"$work/log" 2>&1; }
# A mail to the server; waits for its answer.
asks_for_help() {
  had=$(ls "$root/srv/letters" | wc -l)
  inside swaks --silent 2 --server 127.0.0.1 --from alice@players.example \
    --to pbmserv@games.example.org --h-Subject help || fail "the mail was refused"
  awaits_letter
}
awaits_letter() {
  for _ in $(seq 120); do
    [ "$(ls "$root/srv/letters" | wc -l)" -le "$had" ] || return 0
    sleep 0.5
  done
  fail "no letter came"
}

step "wheels of two versions"
.venv/bin/python -m build --wheel --outdir "$work/wheels" . >"$work/log" 2>&1
version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
[ "$version" = 0.1.0 ] || fail "the pages name version 0.1.0, this is $version"
mkdir "$work/newer"
git ls-files -co --exclude-standard -z | tar --null --create --files-from - | tar -x -C "$work/newer"
sed -i 's/0\.1\.0/0.2.0/' "$work/newer/pyproject.toml" "$work/newer/pbmserv/__init__.py"
.venv/bin/python -m build --wheel --outdir "$work/wheels" "$work/newer" >>"$work/log" 2>&1

step "a Debian 12"
debootstrap --include=ca-certificates,dbus bookworm "$root" http://deb.debian.org/debian >>"$work/log" 2>&1
cp -n /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/" || true
echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/99yes"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
[ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/"
echo games >"$root/etc/hostname"
printf '127.0.0.1 localhost games games.example.org\n' >"$root/etc/hosts"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
cp "$work"/wheels/* constraints.txt "$root/root/"

step "deploy/README.md, 2. Install"
export DEBIAN_FRONTEND=noninteractive
before "$(commands deploy/README.md '## 2. Install')"
printf '%s\n' 'postfix postfix/main_mailer_type select Internet Site' \
  'postfix postfix/mailname string games.example.org' | chroot "$root" debconf-set-selections
before "DEBIAN_FRONTEND=noninteractive apt-get install --no-install-recommends postfix swaks nginx certbot caddy"
chroot "$root" postconf -e inet_protocols=all # its installer found no network in the chroot
before "$(commands docs/operating/upgrade.md 'Upgrade' 1)"
rm "$root/usr/sbin/policy-rc.d"
install -d -m 777 "$root/srv/letters"
cat >"$root/etc/systemd/system/letters.service" <<'END'
[Service]
ExecStart=/usr/sbin/smtp-sink -u nobody -d /srv/letters/%%M. 127.0.0.1:2525 10
[Install]
WantedBy=multi-user.target
END
chroot "$root" systemctl disable caddy nginx >>"$work/log" 2>&1
chroot "$root" systemctl enable letters >>"$work/log" 2>&1

step "boot"
unshare --pid --fork --kill-child --mount --uts --ipc --cgroup --net --propagation private \
  sh -ec '
    cd "$0"
    mount --bind . .
    cd "$0"
    mount -t proc proc proc
    mount -t sysfs sysfs sys
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    for folder in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs $folder; done
    chmod 1777 tmp
    mkdir dev/pts dev/shm
    mknod -m 666 dev/null c 1 3
    mknod -m 666 dev/zero c 1 5
    mknod -m 666 dev/full c 1 7
    mknod -m 666 dev/random c 1 8
    mknod -m 666 dev/urandom c 1 9
    mknod -m 666 dev/tty c 5 0
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
    mount -t tmpfs -o mode=1777 tmpfs dev/shm
    ln -s pts/ptmx dev/ptmx
    ln -s /proc/self/fd dev/fd
    hostname games
    ip link set lo up
    mkdir -p mnt/host
    pivot_root . mnt/host
    umount --lazy /mnt/host
    exec env -i container=other /lib/systemd/systemd --log-target=console
  ' "$root" </dev/null >"$work/console" 2>&1 &
machine=$!
for _ in $(seq 120); do
  init=$(pgrep -P "$machine" || true)
  [ -z "$init" ] || [ "$(cat "/proc/$init/comm")" != systemd ] ||
    case $(inside systemctl is-system-running 2>&1 || true) in running | degraded) break ;; esac
  sleep 0.5
done
inside systemctl is-system-running >/dev/null || fail "systemd: $(inside systemctl --failed --plain --no-legend)"

step "3. Settings, 4. Start it with systemd"
awk '/^## 3/ { here = 1 } /^## 4/ { exit } /^```/ { inside = here && /toml/; next } inside' \
  deploy/README.md >"$root/etc/pbmserv.toml"
echo 'metrics = "127.0.0.1:8026"' >>"$root/etc/pbmserv.toml"
commands deploy/README.md '## 4. Start' | operator
inside systemd-analyze security --no-pager pbmserv | tail -1

step "5. Postfix on Debian, 6. a first mail"
operator <<'END'
sed -i '/^mydestination = /d; /^recipient_delimiter = /d' /etc/postfix/main.cf
cat deploy/postfix/main.cf >>/etc/postfix/main.cf
echo 'virtual_alias_maps = inline:{ { root@games.example.org = you@example.net } }' >>/etc/postfix/main.cf
echo 'default_transport = smtp:[127.0.0.1]:2525' >>/etc/postfix/main.cf
postfix check && systemctl restart postfix
END
asks_for_help
{ echo "set +e"; commands deploy/README.md '## 5. Postfix'; } | operator
inside journalctl -u 'postfix*' | grep -q 'relay=127.0.0.1.*:2424.*status=sent' || fail "no line of the last check"

step "killed, and started again"
inside sh -c 'kill -9 $(systemctl show -p MainPID --value pbmserv)'
for _ in $(seq 60); do inside curl -sf http://127.0.0.1:8025/healthz >/dev/null && break; sleep 1; done
asks_for_help
inside systemctl reload pbmserv
inside curl -sf http://127.0.0.1:8026/metrics | grep -q 'stage="play"' || fail "no metrics by stage"

step "a wrong setting: no second try, and a mail to root"
commands docs/operating/monitoring.md '## A mail when a unit fails' | operator
had=$(ls "$root/srv/letters" | wc -l)
inside sh -c 'cp -p /etc/pbmserv.toml /root/kept && echo "nonsense = 3" >>/etc/pbmserv.toml'
! inside systemctl restart pbmserv 2>/dev/null || fail "it started"
awaits_letter
grep -q '^Subject: pbmserv.service failed' "$root"/srv/letters/* || fail "no mail about the failure"
[ "$(inside systemctl show -p NRestarts --value pbmserv)" = 0 ] || fail "it was started again"
inside sh -c 'mv /root/kept /etc/pbmserv.toml; systemctl start pbmserv'

step "docs/operating/backup.md, Every night"
commands docs/operating/backup.md '## Every night' | operator
ls "$root"/var/lib/pbmserv-backup/pbmserv-*Z >/dev/null
inside systemd-analyze security --no-pager pbmserv-backup | tail -1

step "docs/operating/reverse-proxy.md"
inside sh -c '
  systemctl start nginx
  install -d /etc/letsencrypt/live/games.example.org /etc/letsencrypt/renewal-hooks/deploy
  cd /etc/letsencrypt/live/games.example.org
  openssl req -x509 -newkey rsa:2048 -nodes -days 60 -subj /CN=games.example.org \
    -addext subjectAltName=DNS:games.example.org -keyout privkey.pem -out fullchain.pem' 2>>"$work/log"
certificate=/etc/letsencrypt/live/games.example.org/fullchain.pem
commands docs/operating/reverse-proxy.md '# Pages behind' 1 |
  sed '/^apt install/d; /^certbot/d; s/YOUR.NAME/games.example.org/' | sed "s|curl|curl -fsS --retry 5 --retry-all-errors --cacert $certificate|" | operator
[ "$(inside curl -s --cacert $certificate -o /dev/null -w '%{http_code}' https://games.example.org/healthz)" = 404 ] ||
  fail "strangers see /healthz"
commands docs/operating/reverse-proxy.md '## The certificate for mail' | operator
inside sudo -u pbmserv cat /etc/pbmserv-tls/privkey.pem >/dev/null
inside systemctl disable --now nginx 2>>"$work/log"
commands docs/operating/reverse-proxy.md '# Pages behind' 2 |
  sed '/^apt install/d; /^curl/d; s/YOUR.NAME/games.example.org/' | operator
inside sed -i 's/^games.example.org {/&\n\ttls internal/' /etc/caddy/Caddyfile # no Let's Encrypt here
inside systemctl restart caddy
inside curl -kfsSI --retry 5 --retry-all-errors https://games.example.org/ >>"$work/log" 2>&1 || fail "no page by Caddy"
inside sh -c 'systemctl disable --now caddy; systemctl start nginx' 2>>"$work/log"

step "docs/operating/upgrade.md"
commands docs/operating/upgrade.md '# Upgrade' | sed '/unzip -p/d; /python3 -m venv/d; /bin\/pip install/d; s/^ *diff .*/& || true/' | operator
asks_for_help
[ "$(inside /opt/pbmserv/bin/pbmserv --version)" = "pbmserv 0.2.0" ] || fail "another version"

step "Go back"
operator <<'END'
systemctl stop pbmserv
ln -sfn /opt/pbmserv-0.1.0 /opt/pbmserv
pbm db check
pbm db restore /var/backups/pbmserv/before-0.2.0 --overwrite
systemctl start pbmserv
END
asks_for_help

step "docs/operating/uninstall.md"
commands docs/operating/uninstall.md '# Uninstall' | operator
inside sh -c 'systemctl stop nginx; nginx -t' >>"$work/log" 2>&1
left=$(inside find / -xdev \( -name '*pbmserv*' -o -nouser -o -nogroup \) -not -path '/root/*' -not -path '/proc/*' \
  -not -path '/var/backups/pbmserv')
[ -z "$left" ] || fail "left behind: $left"
step "done: installed, answered, restarted, upgraded and removed"
