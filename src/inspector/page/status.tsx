import { Icon, type IconName } from "./icon.tsx";
import type { SummaryStatus } from "../../runtime/record/run-summary.ts";
import type { Connection } from "./run-source.ts";

type Tone = "good" | "warn" | "bad" | "info" | "plain";

interface Sign {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: IconName;
  readonly hint: string;
}

const SIGNS: Readonly<Record<SummaryStatus, Sign>> = {
  running: { word: "Running", tone: "info", icon: "run", hint: "The server drives this run." },
  paused: { word: "Paused", tone: "warn", icon: "pause", hint: "No role begins to act until the run proceeds." },
  waiting: { word: "Waiting", tone: "warn", icon: "question", hint: "A question waits for a person." },
  finished: { word: "Finished", tone: "good", icon: "done", hint: "No role has mail." },
  rounds: { word: "Rounds used up", tone: "warn", icon: "limit", hint: "The run reached its limit of rounds." },
  budget: { word: "Budget used up", tone: "warn", icon: "limit", hint: "The run reached its budget." },
  stopped: { word: "Stopped", tone: "plain", icon: "stop", hint: "Somebody stopped the run. It can be resumed." },
  failed: { word: "Failed", tone: "bad", icon: "fault", hint: "An error ended the run." },
  open: { word: "Open", tone: "info", icon: "wait", hint: "The record has no end: a process works on it, or its process died." },
  empty: { word: "Empty", tone: "plain", icon: "none", hint: "The record has no events." },
  damaged: { word: "Damaged", tone: "bad", icon: "fault", hint: "The record cannot be read." },
};

/** The state of a run, as a sign with a word. */
export function StatusBadge({ status }: { readonly status: SummaryStatus }) {
  const { word, tone, icon, hint } = SIGNS[status];
  return (
    <span class={`badge badge-${tone}`} title={hint}>
      <Icon name={icon} size={12} />
      {word}
    </span>
  );
}

/** The state of the connection, as a sign with words. A change is told to a screen reader. */
export function ConnectionBadge({ connection }: { readonly connection: Connection }) {
  const [tone, icon, word, hint] = connectionSign(connection);
  return (
    <span class={`badge badge-${tone}`} role="status" title={hint}>
      <Icon name={icon} size={12} class={connection.state === "live" ? "pulse" : ""} />
      {word}
    </span>
  );
}

function connectionSign(connection: Connection): readonly [Tone, IconName, string, string] {
  switch (connection.state) {
    case "offline":
      return ["plain", "none", "Offline copy", "The events came with this file."];
    case "connecting":
      return ["info", "wait", "Connecting", "The page asks the server for the events."];
    case "live":
      return ["good", "run", "Live", "New events appear as they happen."];
    case "lost":
      return ["warn", "fault", "Reconnecting", connection.why];
    case "refused":
      return ["bad", "fault", "Refused", connection.why];
  }
}
