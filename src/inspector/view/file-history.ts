import type { ActivationFact, FileFact, SentFact } from "./run-facts.ts";
import type { RunTimeline } from "./run-timeline.ts";

/** One recorded change of a file. */
export interface FileVersion extends FileFact {
  /** From 1. */
  readonly number: number;
  readonly activation: ActivationFact;
  /** `written` and `removed`: the step has its answer. `under way`: it has none yet. */
  readonly outcome: "written" | "removed" | "failed" | "under way";
  /** The messages that the activation took when it wrote the file: the record proves no closer cause. */
  readonly took: readonly SentFact[];
  /** The messages that the activation sent when it ended. */
  readonly said: readonly SentFact[];
}

/** A file that the run wrote. Files of a fork of the project stand apart from those of the project. */
export interface FileHistory {
  readonly path: string;
  readonly fork: string | undefined;
  readonly versions: readonly FileVersion[];
  /** False when the last effective change removed it. */
  readonly isThere: boolean;
}

/** Returns the files that the recorded steps had written up to an event, sorted by path. */
export function filesAt(timeline: RunTimeline, seq: number): readonly FileHistory[] {
  const { record } = timeline;
  const files = new Map<string, FileVersion[]>();
  for (const file of record.files) {
    if (file.seq > seq) break;
    const step = record.steps[file.step];
    const activation = record.activations[step?.activation ?? -1];
    if (step === undefined || activation === undefined) continue;
    const key = JSON.stringify([file.path, file.fork ?? null]);
    const versions = files.get(key) ?? [];
    files.set(key, versions);
    const isAnswered = step.ok !== undefined && (step.seqs.at(-1) ?? Infinity) <= seq;
    const done = file.content === undefined ? "removed" : "written";
    versions.push({
      ...file,
      number: versions.length + 1,
      activation,
      outcome: !isAnswered ? "under way" : step.ok === true ? done : "failed",
      took: activation.took.flatMap((place) => record.sent[place] ?? []),
      said: activation.said.flatMap((place) => record.sent[place] ?? []).filter((sent) => sent.seq <= seq),
    });
  }
  return [...files.values()]
    .map((versions): FileHistory => {
      const [first] = versions;
      const last = versions.findLast(({ outcome }) => outcome === "written" || outcome === "removed");
      return { path: first?.path ?? "", fork: first?.fork, versions, isThere: last?.outcome === "written" };
    })
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : (a.fork ?? "") < (b.fork ?? "") ? -1 : 1));
}

/** Returns the content before a version: that of the last effective version before it, or an empty text. */
export function contentBefore({ versions }: FileHistory, number: number): string {
  const before = versions.slice(0, number - 1).findLast(({ outcome }) => outcome === "written" || outcome === "removed");
  return before?.content ?? "";
}
