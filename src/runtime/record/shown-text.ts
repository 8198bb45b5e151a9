/** What a terminal would obey, a reader of lines would break at, or nobody would see. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\p{Cf}]/gu;

/** A text of a model, a file or a user on one line that can be shown: at most `limit` of its characters, and none that is not seen. */
export function shownText(text: string, limit = 200): string {
  const shown = text.slice(0, limit).replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
  return text.length > limit ? `${shown}...` : shown;
}
