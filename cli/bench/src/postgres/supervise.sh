# Runs a PostgreSQL server in a folder of its own for as long as standard input stays open, then
# stops it and removes the folder. Whoever started this holds the other end of that pipe, which the
# system closes however the holder ends. The first argument is the folder of the server's programs.
#
# Prints the folder's path. In it: `log`, what initdb and the server said; `ended`, once both have.

folder=$(mktemp -d "${TMPDIR:-/tmp}/lockstep-postgres-XXXXXX") || exit

server=
clean() {
    # To all processes of the server, until they have ended or ten seconds are over: TERM stops
    # initdb, QUIT stops the server at once. Again and again, since at first there may be none.
    tenths=0
    while [ -n "$server" ] && [ ! -e "$folder/ended" ] && [ $tenths -lt 100 ]; do
        kill -s TERM -- "-$server"
        kill -s QUIT -- "-$server"
        sleep 0.1
        tenths=$((tenths + 1))
    done
    if [ -n "$server" ]; then kill -s KILL -- "-$server"; fi
    rm -rf -- "$folder"
} 2>/dev/null
trap clean EXIT
# PIPE: whoever started this has ended before it could read the folder's path.
trap 'exit 1' HUP INT TERM PIPE

echo "$folder" || exit 1
# In a session, and so a process group, of its own. The shell stays, to say when all is over.
setsid sh -c '
    trap : TERM
    {
        "$1/initdb" -D "$2/data" -U lockstep -A trust -E UTF8 --locale=C --no-sync &&
            "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= \
                -c fsync=off -c full_page_writes=off -c synchronous_commit=off \
                -c wal_level=minimal -c max_wal_senders=0 -c checkpoint_timeout=1h \
                -c max_wal_size=4GB -c autovacuum=off -c statement_timeout=120s \
                -c dynamic_shared_memory_type=mmap
    } >"$2/log" 2>&1 </dev/null
    : >"$2/ended"
' sh "$1" "$folder" >/dev/null 2>&1 &
server=$!
read -r _
