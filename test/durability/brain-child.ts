import { createMessage } from "../../src/message/message.ts";
import { fileCache } from "../../src/adapters/file-cache.ts";
import { BrainMemory } from "../../src/memory/brain-memory.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";

/** Messages from one number to another. */
export type Span = readonly [number, number];

/** A memory in a folder, with a model whose summaries say which messages they cover. */
export function memoryIn(dir: string): BrainMemory {
  const model = scriptedModel(({ messages }) => spanText(messages.map((message) => message.content).join("\n")));
  return new BrainMemory({ model, cache: fileCache({ dir }), key: "the one", ttl: 1e9 });
}

/** The contents of a memory: the spans of its summaries, the oldest first, and then the messages, each a span of its own. */
export function spansOf(brain: BrainMemory): Span[] {
  const { oldest, older, recent } = brain.toJSON().levels;
  return [oldest, ...older, ...recent, ...brain.history.map((message) => message.content)]
    .filter((text) => text !== "")
    .map((text) => spanIn(text));
}

/** Goes on where the memory ends, says each message that is stored, and never stops by itself. */
export async function main({ dir }: { readonly dir: string }): Promise<void> {
  const brain = memoryIn(dir);
  await brain.load();
  for (let n = (spansOf(brain).at(-1)?.[1] ?? 0) + 1; ; n++) {
    brain.addTalk(createMessage(`words ${n} to ${n}.`, { id: `m${n}` }));
    await brain.save();
    process.stdout.write(`${n}\n`);
    await brain.compress();
  }
}

/** A summary that replaces the oldest covers that one too; all others cover their material alone. */
function spanText(prompt: string): string {
  const material = prompt.slice(prompt.indexOf("Material:"));
  const [first, last] = spanIn(material);
  // Six messages a summary, ten summaries a level.
  const isOldest = last - first >= 6 * 10 * 10 - 1;
  const [from, to] = isOldest ? spanIn(prompt) : [first, last];
  return `words ${from} to ${to}.`;
}

function spanIn(text: string): Span {
  const numbers = Array.from(text.matchAll(/words (\d+) to (\d+)\./g), ([, from, to]) => [Number(from), Number(to)]).flat();
  return [Math.min(...numbers), Math.max(...numbers)];
}
