import { shown } from "./screen/text.ts";

/** A word as a shell takes it: in quotes where it needs some. */
export function shellWord(word: string): string {
  return /^[\w./~+-]+$/.test(word) ? word : `'${shown(word).replaceAll("'", String.raw`'\''`)}'`;
}
