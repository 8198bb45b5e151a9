import { lazily } from "../kernel/lazily.ts";

/*
 * English function words: the list of the Snowball project (snowballstem.org/algorithms/english/stop.txt) with the pieces that its
 * contractions fall into. Only questions lose them, and only where another word is left, so that a text in another language that writes one
 * of them is still found by it. Pure.
 */

const FUNCTION_WORDS = `i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom whose this that these those am is are was were be been being have has had having do
does did doing would should could ought can will shall may might must a an the and but if or because as until while of at by for with about
against between into through during before after above below to from up down in out on off over under again further then once here there when
where why how all any both each few more most other some such no nor not only own same so than too very just s t d m ll re ve don didn doesn isn
aren wasn weren hasn haven hadn won wouldn couldn shouldn`;
const words = lazily(() => new Set(FUNCTION_WORDS.split(/\s+/)));

/** The terms of a question that say what it is about; all of them where none does. */
export function tellingTerms(terms: readonly string[]): string[] {
  const telling = terms.filter((term) => !words().has(term));
  return telling.length > 0 ? telling : [...terms];
}
