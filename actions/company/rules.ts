import type { WorkOrder } from "./work-order.ts";

type OrderedWords = Pick<WorkOrder, "requirement" | "feedback">;

const ITEM = /^\s*(?:\d{1,3}[.)]|[-*•])\s+(?=\S)/;
/** Other sentences may tell why, or of whom: none of them is called uncovered. */
const DEMANDS =
  /\b(?:must|shall|should|have to|has to|needs? to|never|always|only|cannot|can't|at (?:most|least)|no (?:more|fewer|less) than|errors?|refused?|rejected|invalid|wrong)\b/i;
const SHOWN = 100;

interface Rule {
  readonly number: number;
  readonly text: string;
  readonly isDemand: boolean;
}

/** The user's rules with their numbers: items of lists and numbered lines, in words without such a list their sentences. */
function rulesIn({ requirement, feedback }: OrderedWords): readonly Rule[] {
  return [requirement, ...feedback].flatMap(rulesOf).map((rule, index) => {
    const [, begin = ""] = /^([^]{1,100})(?!\S)/.exec(rule.text) ?? [undefined, rule.text.slice(0, SHOWN)];
    const shown = rule.text.length <= SHOWN ? rule.text : `${begin.trimEnd()} …`;
    return { number: index + 1, isDemand: rule.isDemand, text: `${index + 1}: ${shown}` };
  });
}

/** For a prompt: the words themselves are shown elsewhere. */
export function numberedRules(words: OrderedWords): string {
  const rules = rulesIn(words);
  const isNumbered =
    words.feedback.length === 0 && rules.every(({ number }) => new RegExp(`^\\s*${number}[.)]\\s`, "m").test(words.requirement));
  return rules.length < 2 || isNumbered ? "" : rules.map(({ text }) => text).join("\n");
}

function rulesOf(words: string): readonly Pick<Rule, "text" | "isDemand">[] {
  const items: string[] = [];
  let isItem = false;
  for (const line of words.replace(/```[^]*?(?:```|$)/g, "").split("\n")) {
    const isContinued: boolean = isItem && /^\s+\S/.test(line);
    if (ITEM.test(line)) items.push(line.replace(ITEM, "").trim());
    else if (isContinued) items.push(`${items.pop() ?? ""} ${line.trim()}`);
    isItem = ITEM.test(line) || isContinued;
  }
  if (items.length > 1) return items.map((text) => ({ text, isDemand: true }));
  const sentences = words.replace(/```[^]*?(?:```|$)/g, "").split(/(?<=[.!?][)"'`*]{0,2})\s+|\n{2,}/);
  return sentences
    .map((sentence) => sentence.trim().replace(/\s+/g, " "))
    .filter((sentence) => sentence !== "")
    .map((text) => ({ text, isDemand: DEMANDS.test(text) }));
}

/**
 * The rules that no criterion covers, by the numbers that the criteria name. Where none names any, a rule is one if it has no word of weight in
 * common with any criterion, while most rules have: a doubt is no finding, short rules say little, and criteria may be in another language.
 */
export function uncoveredRules(order: OrderedWords & Pick<WorkOrder, "criteria" | "covers">): readonly string[] {
  const { criteria, covers = {} } = order;
  const rules = rulesIn(order);
  const named = new Set(criteria.flatMap(({ id }) => covers[id] ?? []));
  const demands = rules.filter(({ isDemand }) => isDemand);
  const textsOf = (some: readonly Rule[]): readonly string[] => some.map(({ text }) => text);
  if (named.size > 0) return textsOf(demands.filter(({ number }) => !named.has(number)));
  const said = weightyWords(JSON.stringify(criteria));
  const strange = demands.filter(({ text }) => {
    const words = [...weightyWords(text)];
    return words.length > 2 && !words.some((word) => said.has(word));
  });
  return strange.length * 2 > demands.length ? [] : textsOf(strange);
}

/** Beginnings of words, so that forms of one word are equal. */
function weightyWords(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [];
  return new Set(words.map((word) => word.slice(0, 5)).filter((word) => !COMMON.test(word)));
}

/** Beginnings of words that any rule may have, and of the names in a criterion. */
const COMMON =
  /^(?:must|shoul|shall|have|that|this|with|when|then|than|they|them|there|only|never|alway|from|into|each|every|some|more|most|least|also|given|check|kind|steps|prior)$/;
