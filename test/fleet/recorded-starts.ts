import type { RunEvent } from "../../src/index.ts";

/** The calls that runs recorded, by question. */
export function recordedStarts(all: Iterable<readonly RunEvent[]>): ReadonlyMap<string, number> {
  const starts = new Map<string, number>();
  for (const events of all) {
    for (const event of events) {
      if (event.type !== "step.started" || event.kind !== "model") continue;
      const { messages } = event.request as { readonly messages: readonly { readonly content: string }[] };
      const question = messages.map(({ content }) => content).join("\n");
      starts.set(question, (starts.get(question) ?? 0) + 1);
    }
  }
  return starts;
}
