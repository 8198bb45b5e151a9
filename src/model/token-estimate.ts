/** Characters that take about one token each. Ranges of UTF-16 code units. */
const CJK: readonly (readonly [number, number])[] = [
  [0x1100, 0x11ff],
  [0x2e80, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7ff],
  // The high surrogates of the supplementary ideographs; their low surrogates are not counted.
  [0xd840, 0xd88c],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe4f],
  [0xff00, 0xffef],
];

/** Most strings have none of these characters, and need not be read one by one. */
const WIDE = /[\u0370-\uffff]/;
/** From here on letters take half a token, and the halves of an emoji one each. */
const OTHER_SCRIPTS = 0x0370;

/** Estimates the tokens of a string: a quarter for each Latin character, a half for other letters, one for Chinese, Japanese and Korean. */
export function estimateTokens(text: string): number {
  if (!WIDE.test(text)) return Math.ceil(text.length / 4);
  let whole = 0;
  let halves = 0;
  let quarters = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const isHalf = unit >= 0xd800 && unit <= 0xdfff;
    if (isCjk(unit)) {
      whole++;
      if (isHalf) index++;
    } else if (isHalf) whole++;
    else if (unit >= OTHER_SCRIPTS && (unit < 0x2000 || unit > 0x2bff)) halves++;
    else quarters++;
  }
  return whole + Math.ceil(halves / 2 + quarters / 4);
}

/** True when a UTF-16 code unit begins a character that takes about one token. */
export function isCjk(unit: number): boolean {
  return unit >= 0x1100 && CJK.some(([first, last]) => unit >= first && unit <= last);
}
