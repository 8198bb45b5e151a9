# The shell that stays. It reads an unguessable mark for each command from descriptor 3, takes the command from a file, and answers with the mark
# and the exit code on descriptor 4: what commands print goes elsewhere, so it cannot be taken for an end. `command` keeps an error of the
# command, such as of syntax, from ending the shell. A process of its group waits on descriptor 5 for the end of the driver, whatever that is,
# and ends the group.
troupe_state=$1 troupe_drivers=$2
set --
( (trap "" HUP INT TERM; read -r troupe_gone <&5; kill -KILL 0) </dev/null >/dev/null 2>&1 3<&- 4>&- & )
exec 5<&-
troupe_note() { /bin/rm -rf "$troupe_state/env" "$troupe_state/cwd"; /usr/bin/env -0 > "$troupe_state/env"; pwd -P > "$troupe_state/cwd"; }
trap 'troupe_code=$?; troupe_note 2>/dev/null; exit $troupe_code' EXIT
while IFS= command read -r troupe_mark <&3; do
  command eval "$(/bin/cat "$troupe_state/command")" 3<&- 4>&-
  { troupe_code=$?; troupe_note; command printf '%s %s\n' "$troupe_mark" "$troupe_code" >&4; } 2>/dev/null
done
