import type { ActivationFact, FileFact, SentFact } from "./run-facts.ts";
import type { RunTimeline } from "./run-timeline.ts";

export interface FileVersion extends FileFact {
  readonly number: number;
  readonly activation: ActivationFact;
  readonly outcome: "written" | "removed" | "failed" | "under way";
  readonly took: readonly SentFact[];
  readonly said: readonly SentFact[];
}

/** A file that the run wrote, in the project or in a fork of it. `isThere` is false when the last effective change removed it. */
export type FileHistory = ReturnType<typeof filesAt>[number];

export function filesAt(timeline: RunTimeline, seq: number) {
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
      took: activation.took.flatMap((index) => record.sent[index] ?? []),
      said: activation.said.flatMap((index) => record.sent[index] ?? []).filter((sent) => sent.seq <= seq),
    });
  }
  return [...files.values()]
    .map((versions) => {
      const [first] = versions;
      const last = versions.findLast(({ outcome }) => outcome === "written" || outcome === "removed");
      return { path: first?.path ?? "", fork: first?.fork, versions, isThere: last?.outcome === "written" };
    })
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : (a.fork ?? "") < (b.fork ?? "") ? -1 : 1));
}

export function contentBefore({ versions }: FileHistory, number: number): string {
  const before = versions.slice(0, number - 1).findLast(({ outcome }) => outcome === "written" || outcome === "removed");
  return before?.content ?? "";
}

/** Types of pictures that run no code, by their first bytes. SVG is a text, and may run some. */
const TYPES: readonly (readonly [string, RegExp])[] = [
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[\s\S]{4}WEBP/],
];
const HEAD = 16;

/** Returns a recorded file as the address of a picture; undefined for a file that is none. What it is follows from its bytes, not from its name. */
export function pictureUrl(base64: string): string | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) return undefined;
  const head = atob(base64.slice(0, HEAD));
  const type = TYPES.find(([, begins]) => begins.test(head))?.[0];
  return type && `data:${type};base64,${base64}`;
}

export function bytesIn(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}
