# shellcheck shell=bash
# How ./kit speaks: to standard error, so that the output of a command stays its own.

# shellcheck disable=SC2034 # The other files use the colours.
if [[ -t 1 && -t 2 ]]; then
    bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
else
    bold='' red='' green='' plain=''
fi

say() { printf '%s\n' "$*" >&2; }

headline() { printf '\n%s==> %s%s\n' "$bold" "$*" "$plain" >&2; }

complain() { printf '%skit:%s %s\n' "$red" "$plain" "$*" >&2; }

# Something of the machine is missing or wrong.
give_up() {
    complain "$@"
    exit 2
}

# 75 -> 1:15
as_time() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }
