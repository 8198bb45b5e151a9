export type PromptPart = readonly [heading: string, text: string];

/** Parts without text are left out. Nothing depends on the machine, the time or the run, so that equal work asks equal questions. */
export function promptOf(task: string, instruction: string, parts: readonly PromptPart[]): string {
  const text = parted(parts);
  return [`# ${task}`, instruction, ...(text === "" ? [] : [text])].join("\n\n");
}

interface CompanyQuestion {
  readonly role: { readonly name: string; readonly profile: string };
  /** Parts that colleagues read too, in their order: a provider caches the beginnings of prompts. */
  readonly shared: readonly PromptPart[];
  readonly task: string;
  readonly instruction: string;
  /** Parts that no other prompt has. */
  readonly own: readonly PromptPart[];
}

/** A question to a role of a company: what is stable comes first, what changes comes last. */
export function companyPrompt({ role, shared, task, instruction, own }: CompanyQuestion): string {
  return parted([...shared, roleCard(role, `# ${task}\n\n${instruction}`), ...own]);
}

export function roleCard({ name, profile }: CompanyQuestion["role"], work: string): PromptPart {
  const article = /^[aeiou]/i.test(profile) ? "an" : "a";
  return ["Your role", `You are ${article} ${profile}, named ${name}.\n\n${work}`];
}

/** The description of a field that becomes the `speech` of a message. */
export function asSpeech(about: string): string {
  return `what you say aloud to your colleagues and the user, in two to four plain sentences as "I": ${about}`;
}

export function parted(parts: readonly PromptPart[]): string {
  return parts
    .filter(([, text]) => text.trim() !== "")
    .map(([heading, text]) => `## ${heading}\n${text}`)
    .join("\n\n");
}
