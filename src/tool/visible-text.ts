/** Control and format characters, halves of characters, and what looks like nothing. */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}\u2800]/gu;

/** Text of a stranger in which everything that would steer a screen or hide is shown as `\uXXXX`, as JSON writes it. Lines stay lines. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => character.split("").map(escaped).join(""));
}

function escaped(half: string): string {
  return `\\u${half.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
