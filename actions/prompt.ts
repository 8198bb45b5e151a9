export type PromptPart = readonly [heading: string, text: string];

/** Parts without text are left out. Nothing depends on the machine, the time or the run, so that equal work asks equal questions. */
export function promptOf(task: string, instruction: string, parts: readonly PromptPart[]): string {
  const text = parted(parts);
  return [`# ${task}`, instruction, ...(text === "" ? [] : [text])].join("\n\n");
}

export function parted(parts: readonly PromptPart[]): string {
  return parts
    .filter(([, text]) => text.trim() !== "")
    .map(([heading, text]) => `## ${heading}\n${text}`)
    .join("\n\n");
}
