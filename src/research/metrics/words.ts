/** Returns the words of a text in lower case, without signs between them. A text without letters and digits is one word. */
export function wordsIn(text: string, most: number): readonly string[] {
  const words: string[] = [];
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    words.push(word);
    if (words.length >= most) break;
  }
  return words.length > 0 ? words : [text.trim().slice(0, most)];
}
