export type PromptPart = readonly [heading: string, text: string];

/** Parts without text are left out. Nothing depends on the machine, the time or the run, so that equal work asks equal questions. */
export function promptOf(task: string, instruction: string, parts: readonly PromptPart[]): string {
  const filled = parts.filter(([, text]) => text.trim() !== "");
  return [`# ${task}`, instruction, ...filled.map(([heading, text]) => `## ${heading}\n${text}`)].join("\n\n");
}
