#!/bin/sh
# Stands for Coder's binary where tasks are real processes. One request to the lab, POST /daemons/<name>, is the daemon's life: it
# is answered with the code to exit with. SIGTERM becomes DELETE /daemons/<name>; what the daemon does until it exits is the
# lab's. If its processes are killed, the request breaks off, which tells the lab.

session=$CODER_URL/daemons/$CODER_PROVISIONER_DAEMON_NAME

lab() {
  curl -q -s --noproxy '*' -H "Coder-Provisioner-Daemon-Key: $CODER_PROVISIONER_DAEMON_KEY" \
    -H "Coder-Provisioner-Daemon-Psk: $CODER_PROVISIONER_DAEMON_PSK" -H "Coder-Session-Token: $CODER_SESSION_TOKEN" \
    -H "Coder-Organization: $CODER_ORGANIZATION" -H "Coder-Provisionerd-Tags: $CODER_PROVISIONERD_TAGS" "$@"
}

trap 'woken=1; lab -X DELETE "$session"' TERM
lab -X POST "$session" | {
  read -r code
  exit "${code:-1}"
} &
daemon=$!
while :; do
  woken=''
  wait "$daemon"
  answer=$?
  [ "$answer" -eq 127 ] || code=$answer # 127: it has been waited for already, as a signal came
  [ -n "$woken" ] || exit "$code"
done
