# What scripts/test, scripts/package and scripts/package-test share. They set `env_dir`, the
# directory for what they install.

say() { printf '\n== %s\n' "$*" >&2; }
die() { printf 'scripts/%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# apt_install PACKAGE…: as root, or with sudo.
apt_install() {
    local as_root=()
    [ $# -gt 0 ] || return 0
    command -v apt-get >/dev/null || die "install these first: $*"
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || die "as root: apt-get install $*"
        as_root=(sudo)
    fi
    say "installing $*"
    if [[ " $* " == *" postgresql "* ]]; then
        # The tests start a server of their own; the package need not.
        "${as_root[@]}" mkdir -p /etc/postgresql-common/createcluster.d
        echo 'create_main_cluster = false' |
            "${as_root[@]}" tee /etc/postgresql-common/createcluster.d/no-main-cluster.conf >/dev/null
    fi
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@"
    local service
    for service in haproxy caddy; do
        # The tests start their own; the package starts one on port 80.
        if [[ " $* " == *" $service "* && -d /run/systemd/system ]]; then
            "${as_root[@]}" systemctl disable --quiet --now "$service"
        fi
    done
}

# once NAME FILE… -- COMMAND…: runs the command when the files have changed since
# it last went well.
once() {
    local stamp=$env_dir/$1.stamp files=()
    shift
    while [ "$1" != -- ]; do
        files+=("$1")
        shift
    done
    shift
    local wanted
    wanted=$(cat "${files[@]}" | sha256sum)
    if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
        return
    fi
    rm -f "$stamp"
    "$@"
    printf '%s\n' "$wanted" >"$stamp"
}

# python_venv DIR REQUIREMENTS
python_venv() {
    say "Python: $(basename "$2")"
    rm -rf "$1"
    python3 -m venv "$1"
    "$1/bin/pip" install --quiet --disable-pip-version-check -r "$2"
}

# node_modules DIR SOURCE: what package.json and its lock file in SOURCE name.
node_modules() {
    say "Node.js: $2/package.json"
    mkdir -p "$1"
    cp "$2/package.json" "$2/package-lock.json" "$1"
    # No install scripts: nothing here needs one.
    npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel error
}
