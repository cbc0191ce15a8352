/**
 * The shell around helm: `sh -c HELM_GUARD helm <memory in KiB> <folder> <program> <arguments>`. It limits helm's memory, and
 * ends helm and removes the folder as soon as its own standard input ends. That is when whoever started it is gone: a thread
 * or process that was killed at its deadline has no time to clean up.
 *
 * Helm is stopped first, so that it cannot write to the folder while it is removed; then the whole group is killed.
 *
 * The trap keeps the shell alive for the exit code when the whole group is told to stop; a wait that is cut short by it is
 * begun again.
 */
export const HELM_GUARD = `
ulimit -d "$1" 2>/dev/null
folder=$2
shift 2
exec 3<&0
trap : TERM
"$@" </dev/null 3<&- &
helm=$!
{ trap '' TERM; read -r _ <&3; kill -STOP "$helm"; rm -rf "$folder"; kill -9 0; } >/dev/null 2>&1 &
guard=$!
wait "$helm"
code=$?
while kill -0 "$helm" 2>/dev/null; do wait "$helm"; code=$?; done
kill -9 "$guard" 2>/dev/null
exit "$code"
`;
