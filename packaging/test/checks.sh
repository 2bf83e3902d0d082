#!/bin/bash
# Installs and uses every package. Runs as root inside a clean system without any network:
# the packages are in /packages, the official client in /opt/client, unpacked bundles in
# /opt/bundles. scripts/package-test makes such a system.
set -euo pipefail
cd /
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
export DEBIAN_FRONTEND=noninteractive
# The least exposed unit has 0, the most exposed one 10. systemd calls up to 2 "OK".
exposure=20
passed=0

as_user() { runuser -u user -- env HOME=/home/user "$@"; }
client() { as_user /opt/client/bin/python /test/client.py "$@"; }
ok() { passed=$((passed + 1)); echo "ok: $*"; }
fail() { echo "FAILED: $*"; exit 1; }
# The package of this machine's processor, or the one for all.
package() { ls /packages/$1 | grep -vE "$other_processor"; }
case $(uname -m) in
    aarch64) other_processor='linux-x64|x86_64|amd64' ;;
    *) other_processor='linux-arm64|aarch64|_arm64' ;;
esac
task='{"title": "Buy milk"}'

check_neither_rust_nor_sources() {
    ! command -v cargo rustc git || fail "this is no clean system"
    ok "$(. /etc/os-release; echo "$PRETTY_NAME"), $(ldd --version | sed -n '1s/.* //p; q') glibc"
}

check_sums() {
    (cd /packages && sha256sum --quiet --check SHA256SUMS)
    ok "checksums"
}

check_npx() {
    local npx
    npx=(npx --offline --yes --package "$(package 'madoguchi-linux-*.tgz')"
        --package "$(package 'madoguchi-[0-9]*.tgz')" madoguchi)
    cd /home/user
    as_user "${npx[@]}" --version
    client create_task "$task" -- "${npx[@]}" stdio todo --root /home/user/npx
    as_user test -s /home/user/npx/.todo/task.md
    # Its exit code is the program's.
    ! as_user "${npx[@]}" stdio nothing 2>/dev/null || fail "npx hides a failure"
    ok "npx, npm $(npm --version)"
}

check_uvx() {
    local uvx
    uvx=(/opt/client/bin/uvx --offline --quiet --from "$(package '*.whl')" madoguchi)
    as_user "${uvx[@]}" --version
    client create_task "$task" -- "${uvx[@]}" stdio todo --root /home/user/uvx
    ok "$(/opt/client/bin/uv --version)"
}

check_pip() {
    as_user python3 -m venv /home/user/venv
    as_user /home/user/venv/bin/pip install --quiet --no-index "$(package '*.whl')"
    client create_task "$task" -- /home/user/venv/bin/madoguchi stdio todo --root /home/user/pip
    ok "$(/home/user/venv/bin/pip --version | cut -d' ' -f1,2)"
}

check_tar() {
    as_user tar -xzf "$(package '*.tar.gz')" -C /home/user
    client create_task "$task" -- \
        "$(echo /home/user/madoguchi-*-linux-*/bin/madoguchi)" stdio todo --root /home/user/tar
    for file in share/man/man1/madoguchi.1 share/completions/_madoguchi share/doc/README.md; do
        test -s /home/user/madoguchi-*-linux-*/$file || fail "$file is missing"
    done
    ok "tar.gz"
}

check_bundles() {
    local bundle call
    for bundle in /opt/bundles/*; do
        case $bundle in
            */cinema) call=(get_movie_list '{}') ;;
            */innervoice) call=(calendar_list '{}') ;;
            */merchant) call=(search_products '{"keywords": [""]}') ;;
            */rooms) call=(agent_communication_create_room '{"roomName": "hall"}') ;;
            */todo) call=(create_task "$task") ;;
            *) fail "no check for $bundle" ;;
        esac
        client "${call[@]}" --bundle "$bundle" project=/home/user/bundle
        ok "${bundle##*/}.mcpb"
    done
}

check_deb() {
    local unit=/usr/lib/systemd/system/madoguchi.service start desk key
    apt-get install -qq -y --no-install-recommends "$(package '*.deb')" </dev/null
    [ -e $unit ] || unit=/lib/systemd/system/madoguchi.service
    systemd-analyze verify --man=no $unit
    systemd-analyze security --offline=true --no-pager --threshold=$exposure $unit |
        tee /tmp/exposure | tail -n 1
    [ "$(stat -c '%U:%G %a' /etc/madoguchi/madoguchi.toml)" = 'root:madoguchi 640' ] ||
        fail "others can read the configuration"
    dpkg-query --show --showformat='${Conffiles}' madoguchi | grep -q madoguchi.toml ||
        fail "the configuration is not a conffile"
    # There is no systemd here, so its part is done by hand.
    start=$(sed -n 's/^ExecStart=//p' $unit)
    (cd /var/lib/madoguchi && exec runuser -u madoguchi -- $start) >/tmp/desk.log 2>&1 &
    desk=$!
    for _ in $(seq 100); do
        madoguchi-service healthcheck >/dev/null 2>&1 && break
        sleep 0.2
    done
    madoguchi-service healthcheck || { cat /tmp/desk.log; fail "the service is not ready"; }
    key=$(madoguchi-service keys create test --json | sed -n 's/.*"key": "\([^"]*\)".*/\1/p')
    client get_movie_list '{}' http://127.0.0.1:8010/mcp/cinema
    client calendar_list '{}' http://127.0.0.1:8010/mcp/innervoice "$key"
    client create_task "$task" -- /usr/bin/madoguchi stdio todo --root /home/user/deb
    kill "$(pgrep -u madoguchi -x madoguchi)"
    wait $desk || fail "the service did not end well"
    test -s /usr/share/man/man1/madoguchi.1.gz
    test -s /usr/share/bash-completion/completions/madoguchi
    apt-get purge -qq -y madoguchi </dev/null
    test ! -e /etc/madoguchi/madoguchi.toml || fail "purge leaves the configuration"
    test -s /var/lib/madoguchi/madoguchi.db || fail "purge deletes the data"
    ok "deb, $(systemd-analyze --version | sed -n 1p)"
}

as_user mkdir /home/user/{npx,uvx,pip,tar,deb,bundle}
for check in neither_rust_nor_sources sums npx uvx pip tar deb; do
    "check_$check"
done
# The counters with tables answer from their sample data.
tar=$(echo /home/user/madoguchi-*-linux-*/bin/madoguchi)
for counter in cinema merchant; do as_user "$tar" demo load $counter; done
check_bundles
echo "$passed passed, 0 failed"
