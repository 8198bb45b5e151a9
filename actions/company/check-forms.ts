import { CheckSchema, type Check } from "../../src/checks/acceptance.ts";
import { z } from "zod";

/** The form is shown by examples: enforced by a provider, it would cost more tokens than the check. */
export const WrittenCheckSchema: z.ZodType<Check> = z
  .unknown()
  .pipe(CheckSchema)
  .refine(expects, { error: "a page needs a step that expects something: without one, every page with these elements passes" })
  .describe("a check in one of the forms above");

function expects(check: Check): boolean {
  if (check.kind !== "page") return true;
  return check.steps.some(
    (step) =>
      /^(expect|console|requests)$/.test(step.do) ||
      (step.do === "script" && step.value !== undefined) ||
      (step.do === "storage" && step.set === undefined),
  );
}

const COMMAND = `- {"kind":"command","given":[{"path":"data.csv","content":"a,b\\n1,2\\n"}],"steps":[{"run":["node","src/cli.mjs","data.csv"],"stdin":"","exit":0,"stdout":{"contains":["2"]},"stderr":{"equals":""}},{"run":["node","src/cli.mjs","missing.csv"],"exit":"failure","stderr":{"contains":["missing.csv"]}}]}
  The steps run one after another in one fresh copy of the project, without a shell; start the product by the file that starts it, not by the name of its command. Leave out what you do not need; exit is 0 by default. A rule for a text has equals (all of it; the last line break does not count), contains, lacks or matches (a regular expression with the flag m, found anywhere). "files" of a step has rules for files afterwards: [{"path":"out.txt","contains":["x"]},{"path":"old.txt","absent":true}]. A given file that is no text has "base64" for "content". What the rules cannot say is a step of its own: ["node","-e","..."] or ["python3","-c","..."].`;

const PAGE = `- {"kind":"page","given":[{"path":"data.js","content":"..."}],"steps":[{"do":"type","at":"#title","text":"Milk"},{"do":"click","at":"#add"},{"do":"expect","at":"#list li","count":1,"contains":["Milk"]},{"do":"reload"},{"do":"expect","at":"#list li","count":1}]}
  The page index.html is opened first, with empty storage; given files, such as those that a command of the product writes, are there before. No step of a page runs a command. Steps: click, type (it replaces the field's text), press (key), select (value), drag (at, to), wait (ms), reload, open (path), expect (count, visible, value, or a rule for the text; it waits for that, and hidden elements do not count). "at" is a CSS selector, or text= and the visible text.
  Also: {"do":"upload","at":"#file","path":"a.csv","content":"a,b\\n"}, {"do":"viewport","width":375}, {"do":"storage","key":"list","set":"[]"} (then reload), or in place of "set" a rule or "absent":true for what is stored. {"do":"clock","set":"2026-03-01T09:00"} as the first step, {"do":"clock","advance":60000} (at most a day): with a clock time is UTC and stands still until such a step or a wait; all timers that are due run. {"do":"script","code":"Kanban.cards.length","value":3} runs once in the page and must give that JSON. {"do":"console","lacks":["warning"]} and {"do":"requests","count":0} have a count or a rule for all that the page printed, or asked of others than its own files ("GET https://..."): there is no network, so such a request fails.`;

const JUDGEMENT = `- {"kind":"judgement","reason":"taste cannot be run"}`;

export function checkForms(): string {
  return ["A check is one of", COMMAND, PAGE, JUDGEMENT].join("\n");
}
