import type { SummaryStatus } from "../../runtime/record/run-summary.ts";
import type { Connection } from "./run-source.ts";

const DRAWINGS = {
  troupe: "M2.5 3.5h11M5.5 3.5v4a2.5 2.5 0 0 0 5 0v-4M8 10v3M5.5 13h5",
  run: "M5 3.5v9l7.5-4.5z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  stop: "M4 4h8v8H4z",
  done: "M3 8.5l3.2 3.2L13 4.8",
  fault: "M4 4l8 8M12 4l-8 8",
  wait: "M8 4.2V8l2.6 1.8M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z",
  limit: "M3 8h10M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z",
  question: "M5.8 6a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.6M8 12v.1",
  fork: "M4.5 2.5v11M4.5 10c0-3 7-2 7-5M11.5 3.5v1M4.5 10v0",
  say: "M3 3.5h10v7H7l-3 2.5v-2.5H3z",
  close: "M4 4l8 8M12 4l-8 8",
  none: "M3.5 8h9",
  copy: "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7",
} as const;

export type IconName = keyof typeof DRAWINGS;

interface IconProps {
  readonly name: IconName;
  readonly size?: number;
  readonly class?: string | undefined;
}

/** An icon beside words. It says nothing that they do not say, so a screen reader passes over it. */
export function Icon({ name, size = 14, class: look }: IconProps) {
  return (
    <svg
      class={look}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={DRAWINGS[name]} />
    </svg>
  );
}

export type Sign = readonly [tone: "good" | "warn" | "bad" | "info" | "plain", IconName, word: string, hint?: string | undefined];

const SIGNS: Readonly<Record<SummaryStatus, Sign>> = {
  running: ["info", "run", "Running", "The server drives this run."],
  paused: ["warn", "pause", "Paused", "No role begins to act until the run proceeds."],
  waiting: ["warn", "question", "Waiting", "A question waits for a person."],
  finished: ["good", "done", "Finished", "No role has mail."],
  rounds: ["warn", "limit", "Rounds used up", "The run reached its limit of rounds."],
  budget: ["warn", "limit", "Budget used up", "The run reached its budget."],
  stopped: ["plain", "stop", "Stopped", "The run was stopped. It can be resumed."],
  failed: ["bad", "fault", "Failed", "An error ended the run."],
  open: ["info", "wait", "Open", "The record has no end: a process works on it, or its process died."],
  empty: ["plain", "none", "Empty", "The record has no events."],
  damaged: ["bad", "fault", "Damaged", "The record cannot be read."],
};

export function StatusBadge({ status }: { readonly status: SummaryStatus }) {
  return <Badge sign={SIGNS[status]} />;
}

/** A screen reader reads a change of the connection. */
export function ConnectionBadge({ connection }: { readonly connection: Connection }) {
  const [tone, icon, word, hint] = CONNECTIONS[connection.state];
  const why = "why" in connection ? connection.why : hint;
  return <Badge sign={[tone, icon, word, why]} role="status" look={connection.state === "live" ? "pulse" : ""} />;
}

export function Badge({ sign, role, look }: { readonly sign: Sign; readonly role?: "status"; readonly look?: string | undefined }) {
  const [tone, icon, word, hint] = sign;
  return (
    <span class={`badge inline tiny soft nowrap badge-${tone}`} role={role} title={hint}>
      <Icon name={icon} size={12} class={look} />
      {word}
    </span>
  );
}

const CONNECTIONS: Readonly<Record<Connection["state"], Sign>> = {
  offline: ["plain", "none", "Offline copy", "The events came with this file."],
  connecting: ["info", "wait", "Connecting", "The page asks the server for the events."],
  live: ["good", "run", "Live", "New events appear as they happen."],
  lost: ["warn", "fault", "Reconnecting"],
  refused: ["bad", "fault", "Refused"],
};
