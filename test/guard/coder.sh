#!/bin/sh
# Stands in for coder. Like it, it stops taking jobs when it gets SIGTERM, finishes the one that it holds, however long that takes,
# and exits 0. The test talks to it through files in $STAND_IN: `job` (held as long as the file is there), `crash` (the code to exit with).
# With $TERRAFORM it has a child, which says what signals reach it.
pid=$$
trap 'told=1; echo "SIGTERM"' TERM
trap 'echo "SIGHUP"' HUP
trap 'echo "SIGUSR1"' USR1
[ -z "$TERRAFORM" ] || "$TERRAFORM" -e '
  for (const signal of ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR2"]) process.on(signal, () => console.log("terraform:", signal));
  console.log("terraform: ready");
  setInterval(() => require("node:fs").existsSync(process.env.STAND_IN) || process.exit(), 100);
' &
[ -z "$ORPHANS" ] || for _ in 1 2 3; do (sleep 0.01 & echo "orphan $!"); done
echo "started $pid $CODER_PROVISIONER_DAEMON_NAME $*"
while [ -d "$STAND_IN" ]; do
  [ ! -f "$STAND_IN/crash" ] || exit "$(cat "$STAND_IN/crash")"
  [ -z "$told" ] || [ -f "$STAND_IN/job" ] || break
  sleep 0.03
done
echo "finished"
