const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const NOTHING = /[\u0300-\u036f\u200b-\u200d\ufe00-\ufe0f]/u;

/** Columns of a terminal that a text takes. */
export function textWidth(text) {
  let width = 0;
  for (const character of text) width += NOTHING.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** Fills a text with blanks up to a width. */
export function padText(text, width) {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}
