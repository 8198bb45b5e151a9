import { countText } from "../kernel/count-text.ts";

/** The ending that was asked for last: of roles that act in turn, most have acted equally often. */
let lately = { n: 0, rest: "#0.0" };

/** `role#n.place`: the id of what the role says as number `place` of its activation number `n`, both counted from 0. */
export function messageId(role: string, n: number, place: number): string {
  if (place > 0) return `${role}#${countText(n)}.${place}`;
  if (lately.n !== n) lately = { n, rest: `#${countText(n)}.0` };
  return role + lately.rest;
}
