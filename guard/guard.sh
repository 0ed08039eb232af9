#!/bin/sh
# The guard: first process of the provisioner's container (docs/internals/architecture.md).
# Its phases are a table: lab/world/task/guard-table.ts. The autoscaler knows its exit codes 75 (10 min without a lease), 76 (the daemon
# exited with 0 unasked), 77 (ECS stops the task of a daemon that has died), 78 (the image lacks a tool) and 79 (a minute of AccessDenied).
#
# The main process only waits for the daemon, and answers signals with built-ins: a stop is never held up by a slow call, and a fork
# that fails can't end it under a job. All else is done by the keeper, a subshell: it sends USR1 to the main process ("drain"), and
# gets HUP from it ("stopping"). If it ends, nobody renews the lease: drain. CHLD tells; bash may crash in such a trap, so a subshell
# looks. USR2 only wakes the main process.
# Beware: no `set -e`, no `set -u` (each would end the guard, hence the build); signals go to one process, never to a group.
#
# Arguments: the daemon's command. Environment: AUTOSCALER_POOL and what ECS and coder set; AUTOSCALER_TEST_<interval>_MS for
# tests only.

look_ms=${AUTOSCALER_TEST_LOOK_MS:-30000} # jittered by a third, as are the next two
renew_ms=${AUTOSCALER_TEST_RENEW_MS:-900000}
retry_ms=${AUTOSCALER_TEST_RETRY_MS:-10000} # until there is a lease, or until it is released
told_ms=${AUTOSCALER_TEST_TOLD_MS:-3000} # by then a task that ECS has chosen to stop has been told
lease_within_ms=${AUTOSCALER_TEST_LEASE_WITHIN_MS:-600000}
denied_ms=${AUTOSCALER_TEST_DENIED_MS:-60000} # IAM may learn of a new role, or of the tags of a new task, some seconds late
blind_ms=${AUTOSCALER_TEST_BLIND_MS:-21600000}
left_ms=${AUTOSCALER_TEST_LEFT_MS:-600000}
died_ms=${AUTOSCALER_TEST_DIED_MS:-60000}
call_ms=${AUTOSCALER_TEST_CALL_MS:-8000}
settle_ms=${AUTOSCALER_TEST_SETTLE_MS:-1000} # a child that is not quite born loses signals

# A signal that comes just before a shell waits is heeded at the next one. bash heeds it at once, but one that comes just as the
# daemon ends costs it the daemon's code.
wake=USR2
[ -z "$BASH_VERSION" ] || wake=0

# In the main process "starting" comes before working, and from then on `asked` and `stopped` tell draining and stopping; after
# that it is "gone". The other phases are the keeper's.
phase=leasing asked='' stopped='' told=0 stops=0
daemon='' keeper='' nap='' offset='' name='' why='' seed=$$

# $1: state, $2: why, both without any character that JSON minds. A log that nobody reads blocks its writer: the line is lost.
# It forks: the main process doesn't log while the daemon runs. Without timeout such a log holds the guard up.
command -v timeout >/dev/null || timeout() { shift && "$@"; }
log() {
  timeout 1 printf '{"level":"info","message":"guard","state":"%s","why":"%s","daemon":"%s"}\n' "$1" "$2" "$name" >&3
} 3>&2 2>/dev/null # or the shell might log that timeout was ended

# $now: milliseconds of a clock that doesn't step.
tell_time() {
  now=''
  read -r now _ 2>/dev/null </proc/uptime
  case $now in
    *.??) now=$((${now%.*} * 1000 + 1${now#*.}0 - 1000)) ;; # the 1: 08 and 09 would be octal
    *) now=$(($(date +%s) * 1000)) ;;
  esac
}

# $jittered: $1, up to a third less or more.
jitter() {
  seed=$(((seed * 1103515245 + 12345) % 2147483648))
  jittered=$(($1 * 2 / 3 + seed / 8 % ($1 * 2 / 3 + 1)))
}

# $seconds: $1 milliseconds; whole ones from 1 s, since not every sleep takes fractions.
in_seconds() {
  seconds=$(($1 / 1000))
  [ "$seconds" -gt 0 ] || { seconds=$((1000 + $1)) && seconds=0.${seconds#1}; }
}

# Waits until the child $1 has gone, however many signals come; never for one that has: bash would wait for ever if a signal came just
# as the child ended.
reap() {
  code=127
  while kill -0 "$1" 2>/dev/null; do
    note_exit "$1"
    [ "$again" -ne 127 ] || return # this process is no child any more
  done
}

# $code: what the child $1 exited with, unless a signal comes first.
note_exit() {
  wait "$1" 2>/dev/null
  again=$?
  [ "$again" -eq 127 ] || code=$again
}

# $code may be that of a signal that came as the daemon ended. The shell knows the daemon's; if bash has lost it, a signal ends this.
note_exit_again() {
  in_seconds "$settle_ms"
  { sleep "$seconds"; kill -USR2 $$ 2>/dev/null; } &
  note_exit "$daemon"
}

# In the background: a trap waits for a foreground sleep.
sleep_ms() {
  in_seconds "$1"
  sleep "$seconds" &
  nap=$!
  reap "$nap"
  nap=''
}

# $answer: the answer to curl's arguments after $1, without white space; empty, and a code in $why, when none came or it has more than $1
# bytes. The rate limit holds an endless one to 2 MB, in which shells could search for hours.
fetch() {
  most=$1
  shift
  in_seconds "$call_ms"
  answer=$({
    curl -q -s --noproxy '*' --connect-timeout 2 --max-time "$seconds" --limit-rate 16K "$@" 2>/dev/null
    echo "curl-$?"
  } | tr -d ' \t\r\n')
  why=${answer##*curl-}
  why=${why%%[!0-9]*}
  if [ "$why" != 0 ]; then
    answer='' why=curl-$why
  elif [ ${#answer} -gt "$most" ]; then
    answer='' why=long-answer
  else
    answer=${answer%curl-*} why=unreadable-answer
  fi
}

# Calls the agent: `look`, or protects for $1 minutes; 0 releases. $saw: lease (24 h or more left), asked (less), gone,
# refused (DEPLOYMENT_BLOCKED), or blind: anything else, a code in $why. Errors come with status 200 too.
call() {
  case $1 in
    look) fetch 8192 "$ECS_AGENT_URI/task-protection/v1/state" ;;
    0) put '{"ProtectionEnabled":false}' ;;
    *) put "{\"ProtectionEnabled\":true,\"ExpiresInMinutes\":$1}" ;;
  esac
  saw=blind
  case $answer in
    *'"failure":{'* | *'"error":{'*) read_refusal ;;
    *'"protection":{'*'}'*) read_protection "$1" ;;
  esac
}

put() {
  fetch 8192 -X PUT -H 'Content-Type: application/json' -d "$1" "$ECS_AGENT_URI/task-protection/v1/state"
}

read_refusal() {
  case $answer in
    *'"Reason":"'*) why=${answer#*\"Reason\":\"} ;;
    *'"Code":"'*) why=${answer#*\"Code\":\"} ;;
    *) return ;;
  esac
  why=${why%%[!A-Za-z_]*}
  [ "$why" != DEPLOYMENT_BLOCKED ] || saw=refused
}

read_protection() {
  answer=${answer#*\"protection\":\{}
  answer=${answer%%\}*}
  is_own || return
  case $answer in
    *'"ProtectionEnabled":false'*) saw=gone ;;
    *'"ProtectionEnabled":true'*) read_expiry "$1" ;;
  esac
}

# False if the answer names another task, whose lease or drain request means nothing here.
is_own() {
  case $answer in *'"TaskArn":"'*) ;; *) return 0 ;; esac
  task=${answer#*\"TaskArn\":\"}
  task=${task%%\"*}
  [ "${task##*/}" = "$id" ] || { why=other-task && return 1; }
}

# A lease just given has 48 h left, which tells the agent's time: no clock that steps is asked after that.
read_expiry() {
  answer=${answer#*\"ExpirationDate\":\"}
  answer=${answer%%\"*}
  case $answer in
    [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]*Z) ;;
    *) return ;;
  esac
  expires=${answer#*T}
  expires=$(date -u -d "${answer%T*} ${expires%%[.Z]*}" +%s 2>/dev/null)
  [ -n "$expires" ] || return
  tell_time
  [ "$1" != 2880 ] || offset=$((expires - 172800 - now / 1000))
  if [ -n "$offset" ]; then left_s=$((expires - offset - now / 1000)); else left_s=$((expires - $(date +%s))); fi
  if [ "$left_s" -ge 86400 ]; then saw=lease; else saw=asked; fi
}

# Names the daemon; true if the task, not one of its containers, is meant to run.
read_metadata() {
  fetch 65536 "$ECS_CONTAINER_METADATA_URI_V4/task"
  [ -n "$answer" ] || { why=metadata-$why && return 1; }
  answer=${answer%%\"Containers\":*}
  id=${answer#*\"TaskARN\":\"}
  id=${id%%\"*}
  id=${id##*/}
  case $id in *[!0-9a-f]*) id='' ;; esac
  [ ${#id} -ge 7 ] || { why=metadata-unreadable && return 1; }
  case $AUTOSCALER_POOL in '' | *[!a-z0-9-]*) why=pool-not-named && return 1 ;; esac
  case $answer in *'"DesiredStatus":"RUNNING"'*) ;; *) why=not-to-run && return 1 ;; esac
  name=$AUTOSCALER_POOL-$id
  seed=$((0x${id#"${id%???????}"}))
}

take_lease() {
  tell_time
  give_up=$((now + lease_within_ms))
  trouble='' denied=''
  while :; do
    read_metadata && has_lease && read_metadata && return
    [ "$why" = "$trouble" ] || log leasing "$why"
    trouble=$why
    tell_time
    [ "$now" -lt "$give_up" ] || end 75 no-lease
    case $why in
      AccessDenied*) [ "$now" -lt "${denied:=$((now + denied_ms))}" ] || end 79 role-refused ;;
      *) denied='' ;;
    esac
    jitter "$retry_ms"
    sleep_ms "$jittered"
  done
}

# The look decides: the answer to the write may be lost.
has_lease() {
  call 2880
  case $saw in lease | asked | gone) why=lease-not-seen ;; esac
  refusal=$why
  call look
  [ "$saw" = lease ] || { why=$refusal && return 1; }
  sleep_ms "$told_ms" # a lease that comes too late holds nothing, yet may be read
}

keep() {
  trap '[ -z "$nap" ] || kill "$nap" 2>/dev/null; exit' TERM
  trap 'phase=stopping told=1; [ -z "$nap" ] || kill "$nap" 2>/dev/null' HUP # no log: it may come within one
  trap : PIPE
  [ -z "$BASH_VERSION" ] || trap 'kill -USR1 $$ 2>/dev/null' EXIT
  tell_time
  phase=working seen=$now refusals=0 sight=clear
  plan_renewal
  while :; do
    jitter "$look_ms"
    sleep_ms "$jittered"
    [ "$told" = 0 ] || { log stopping signal; told=0; }
    kill "-$wake" $$ 2>/dev/null || exit
    look
  done
}

watch_keeper() {
  while kill -0 "$keeper"; do sleep_ms "$look_ms"; done
  kill -USR1 $$
}

look() {
  call look
  tell_time
  note_sight
  case $saw in
    lease)
      if [ "$phase" = draining ]; then
        call 1380 # a guard that drains by itself is to be seen as leaving
      elif [ "$now" -ge "$renew_from" ]; then
        renew
      fi
      ;;
    asked)
      drain asked
      [ "$left_s" -ge 43200 ] || call 1380 # the lease must not lapse under a long job
      ;;
    gone)
      call 1380
      drain lease-gone
      ;;
    *) [ $((now - seen)) -lt "$blind_ms" ] || drain blind ;;
  esac
}

note_sight() {
  case $saw in
    lease | asked | gone)
      seen=$now
      [ "$sight" = clear ] || log "$phase" sees-again
      sight=clear
      ;;
    *)
      [ "$sight" = lost ] || log "$phase" "blind-$why"
      sight=lost
      ;;
  esac
}

# Only after a look that saw it whole: a renewal must not overwrite an ask.
renew() {
  call 2880
  case $saw in
    refused) refusals=$((refusals + 1)) ;;
    blind) return ;; # tries again after the next look
    *) refusals=0 ;;
  esac
  plan_renewal
  [ "$refusals" -lt 2 ] || drain refused-twice
}

plan_renewal() {
  jitter "$renew_ms"
  renew_from=$((now + jittered))
}

drain() {
  [ "$phase" = working ] || return
  phase=draining
  kill -USR1 $$
  log draining "$1"
}

# To the daemon alone: Terraform, its child, must not be interrupted. And once: a trap can run within another, but not within a word.
# It costs dash the status of the other's last command: traps ask no status.
terminate() {
  case $((told += 1)) in 1) kill -TERM "$daemon" 2>/dev/null ;; esac
}

on_drain() {
  asked=1
  case $phase in working) terminate ;; esac
}

on_child() {
  state=''
  for _ in 1 2 3; do # a signal cuts a read short
    case $state in '') read -r _ _ state _ 2>/dev/null <"/proc/$keeper/stat" ;; esac
  done
  case $state in
    '' | Z) # Z: this shell has not reaped it yet
      keeper=gone # busybox takes '' for its group
      on_drain
      ;;
  esac
}

on_stop() {
  stopped=1
  case $phase in
    working)
      terminate
      case $((stops += 1)) in 1) kill -HUP "$keeper" 2>/dev/null ;; esac
      ;;
    starting | ended) ;;
    *) end "${stop_code:-0}" signal ;;
  esac
}

# Keeps the protection released for $1 ms or a little more, then exits with $2.
stay_released() {
  tell_time
  until=$((now + $1)) exit_code=$2
  while kill "$keeper" 2>/dev/null; do sleep_ms 100; done # a renewal of its own must not come after the release
  saw=''
  while :; do
    [ "$saw" = gone ] || call 0
    tell_time
    [ "$now" -lt "$until" ] || end "$exit_code" waited
    if [ "$saw" = gone ]; then jitter "$look_ms"; else jitter "$retry_ms"; fi
    sleep_ms "$jittered"
    call look
  done
}

end() {
  phase=ended
  log ended "$2"
  exit "$1"
}

trap on_stop TERM INT QUIT HUP # all of them: as process 1 it has no default actions
trap on_drain USR1
trap : PIPE USR2 # PIPE: a log that nobody reads must not end it. Not ignored, since the daemon would inherit that

log leasing started
for tool in curl sleep tr date; do
  command -v "$tool" >/dev/null || end 78 "no-$tool"
done
take_lease
export CODER_PROVISIONER_DAEMON_NAME="$name"
log working leased
phase=starting # from here on no stop ends the guard before the daemon
in_seconds "$settle_ms"
sleep "$seconds" &
settling=$!
keep &
keeper=$!
[ -z "$BASH_VERSION" ] || { watch_keeper >/dev/null 2>&1 & }
tell_time
born=$now
"$@" & # sh has it ignore INT and QUIT; coder, a Go program, sets handlers of its own
daemon=$!
[ -n "$BASH_VERSION" ] || trap on_child CHLD
reap "$settling"
phase=working
on_child
[ -z "$asked" ] || on_drain
[ -z "$stopped" ] || on_stop
reap "$daemon"
phase=gone
trap - CHLD
trap '' USR1
[ "$code" -lt 127 ] || note_exit_again
[ -z "$stopped" ] || end "$code" daemon-exited
if [ -n "$asked" ]; then
  if kill -0 "$keeper" 2>/dev/null; then log left daemon-exited; else log left keeper-ended; fi
  stay_released "$left_ms" 0
else
  stop_code=77
  log died "exit-code-$code"
  [ "$code" -ne 0 ] || code=76 # 0 means that the guard has left
  tell_time
  [ $((now - born)) -ge "$died_ms" ] || died_ms=$((died_ms * 3))
  stay_released "$died_ms" "$code"
fi
