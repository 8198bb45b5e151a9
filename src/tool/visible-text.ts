/** Control and format characters, halves of characters, and letters that look like nothing. */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u034f\u115f\u1160\u2800\u3164\ufe00-\ufe0f\uffa0]/gu;

/** Text of a stranger in which everything that would steer a screen or hide is shown as `\uXXXX`, as JSON writes it. Lines stay lines. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => character.split("").map(escaped).join(""));
}

function escaped(half: string): string {
  return `\\u${half.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
