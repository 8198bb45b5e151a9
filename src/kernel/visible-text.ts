/**
 * Everything but tab and line feed that could steer a terminal or hide what a text says: control characters (C0, DEL, C1), marks of
 * writing direction, line and paragraph separators, and characters without a shape. Joiners stay: scripts and emoji need them.
 */
const STEERING =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A text in which such characters are shown escaped: `\x1b`, `\u202e`. */
export function visibleText(text: string): string {
  return text.replace(STEERING, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
  });
}
