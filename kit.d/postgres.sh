# shellcheck shell=bash
# Debian's PostgreSQL, which the bench `postgres` and the experiment `ccslt-fig6` measure beside the
# lock table. Only its programs are needed: they start a server of their own.

readonly postgres_release=15
readonly postgres_programs=/usr/lib/postgresql/$postgres_release/bin

# wants_postgres COMMAND [ARGUMENTS]: whether it asks by name for what is measured beside PostgreSQL.
wants_postgres() {
    local command=$1 name
    shift
    for name in "$@"; do
        case $command/$name in
            */-h | */--help | */--list) return 1 ;;
        esac
    done
    for name in "$@"; do
        case $command/$name in
            bench/postgres | experiment/ccslt-fig6) return 0 ;;
        esac
    done
    return 1
}

# A server that is named in PG_CONFIG is the user's own affair.
need_postgres() {
    if [[ -n ${PG_CONFIG:-} ]]; then return; fi
    need_command gcc gcc
    if [[ ! -x $postgres_programs/postgres || ! -x $postgres_programs/psql ]]; then
        install_postgres
    fi
    [[ -f $("$postgres_programs/pg_config" --includedir-server)/postgres.h ]] ||
        install_package "postgresql-server-dev-$postgres_release" "what PostgreSQL's extensions need"
}

# Debian's package would make a database cluster and start it as a service. Nobody asked for one.
install_postgres() {
    local folder=/etc/postgresql-common/createcluster.d
    local wish=$folder/lockstep.conf result=0
    if ((EUID == 0)); then
        mkdir -p -- "$folder"
        printf 'create_main_cluster = false\n' >"$wish"
    fi
    (install_package "postgresql-$postgres_release" "PostgreSQL $postgres_release") || result=$?
    if ((EUID == 0)); then rm -f -- "$wish"; fi
    if ((result != 0)); then exit "$result"; fi
}
