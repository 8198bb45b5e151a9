import { countText } from "../../kernel/count-text.ts";

/**
 * What was told last: a turn asks for its name when it begins and when it ends, and in a round very many ask for one of the same number. Kept here
 * and not with each role, where it would be one place more for a million of them.
 */
let lately = { role: "", n: 0, attempt: 1, rest: "#0~1", name: "#0~1" };

/** `role#n~attempt`: names an activation, stable when roles are added. */
export function actName(role: string, n: number, attempt: number): string {
  if (lately.n !== n || lately.attempt !== attempt) {
    const rest = `#${countText(n)}~${attempt}`;
    lately = { role, n, attempt, rest, name: role + rest };
  } else if (lately.role !== role) {
    lately.role = role;
    lately.name = role + lately.rest;
  }
  return lately.name;
}
