import { countText } from "../../kernel/count-text.ts";

/** For which activation an ending was asked for last, and that ending: of roles that act in turn, most have acted equally often. */
let latestN = 0;
let latestEnding = "#0.0";

/** `role#n.place`: the id of what the role says as number `place` of its activation number `n`, both counted from 0. */
export function messageId(role: string, n: number, place: number): string {
  if (place > 0) return `${role}#${countText(n)}.${place}`;
  if (latestN !== n) {
    latestN = n;
    latestEnding = `#${countText(n)}.0`;
  }
  return role + latestEnding;
}
