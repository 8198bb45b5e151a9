import { excerptOf } from "./excerpt.ts";
import type { FlowEdge, FlowNode } from "./message-flow.ts";

/** Characters of a name that are drawn. */
const LONGEST = 60;
/** Causes that an edge names. */
const NAMED = 2;
/** What a terminal would obey, a reader of lines would break at, or nobody would see. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/*
 * What is written on nodes and edges, before it is escaped for a format. Names come from models: they are of bounded length, on one line, and
 * what is not seen stands as its number.
 */

/** What a node is called. That it is no role is told by its shape too, for a role may be called anything. */
export function nodeLabel({ kind, name }: FlowNode): string {
  switch (kind) {
    case "outside":
      return "(outside)";
    case "all":
      return "(all)";
    case "missing":
      return `(nobody is ${shownName(name)})`;
    case "role":
      return shownName(name);
  }
}

/** How much went along an edge, and what caused it. */
export function edgeLabel({ messages, causes }: FlowEdge): string {
  const named = causes.slice(0, NAMED).map(({ name }) => shownName(name));
  const more = causes.length - named.length;
  return `${messages} ${named.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
}

/** True when all that went along an edge was for all. */
export function isBroadcastEdge({ messages, broadcasts }: FlowEdge): boolean {
  return messages === broadcasts;
}

function shownName(name: string): string {
  return excerptOf(name, LONGEST).replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
