import type { RoleCard } from "./context.ts";

/**
 * The system prompt that introduces a role: its description as it is, else who it is and what it is for (MetaGPT's prefix).
 * Nothing in it changes from call to call, so providers can cache it and forks do not pay for it again.
 */
export function introduction(card: RoleCard, company: { readonly description: string; readonly colleagues: readonly string[] }): string {
  const self = card.description === "" ? describe(card) : card.description;
  if (company.description === "") return self;
  const others = company.colleagues.length === 0 ? "" : ` with the roles ${company.colleagues.join(", ")}`;
  return `${self} You are in ${company.description}${others}.`;
}

function describe(card: RoleCard): string {
  const trade = card.profile === "" ? `You are ${card.name}` : `You are ${article(card.profile)} ${card.profile}, named ${card.name}`;
  const goal = card.goal === "" ? "." : `, and your goal is: ${card.goal}.`;
  const constraints = card.constraints === "" ? "" : ` Keep to these constraints: ${card.constraints}.`;
  return `${trade}${goal}${constraints}`;
}

function article(noun: string): string {
  return /^[aeiou]/i.test(noun) ? "an" : "a";
}
