/** The index of words that memories use by default, by the name of its package. */
export { minisearch } from "../memory/word-index.ts";
