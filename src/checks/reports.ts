import type { Fault, SuiteReport, Verdict, Verification } from "./verification.ts";

interface Case {
  readonly group: string;
  readonly name: string;
  readonly state: "passed" | "failed" | "skipped";
  readonly message: string;
  readonly file?: string | undefined;
}

function casesOf({ verdicts, suites, faults, notChecked }: Verification): readonly Case[] {
  return [
    ...(notChecked === undefined ? [] : [{ group: "project", name: "checks", state: "failed", message: notChecked } as const]),
    ...verdicts.map(criterionCase),
    ...suites.flatMap(suiteCases),
    ...faults.map(faultCase),
  ];
}

function criterionCase({ id, priority, outcome, evidence }: Verdict): Case {
  const isMissing = outcome === "failed" || (priority === "P0" && outcome !== "proven");
  const state = outcome === "proven" ? "passed" : isMissing ? "failed" : "skipped";
  return { group: "criteria", name: `${id} (${priority})`, state, message: `${outcome}: ${evidence}` };
}

function suiteCases({ language, kind, total, passed, skipped, failures, reason = "" }: SuiteReport): readonly Case[] {
  const group = `tests in ${language}`;
  const summary = `${kind}: ${passed} of ${total} passed, ${skipped} skipped. ${reason}`.trim();
  const each = failures.map(({ name, file, message }): Case => ({ group, name, state: "failed", message, file }));
  return [{ group, name: "all tests", state: kind === "passed" ? "passed" : "failed", message: summary }, ...each];
}

function faultCase({ kind, file, command, message }: Fault): Case {
  return {
    group: "faults",
    name: [kind, file ?? command].filter((part) => part !== undefined).join(" in "),
    state: "failed",
    message,
    file,
  };
}

/** A report in JUnit's XML, as continuous integration reads it. */
export function junitReport(verification: Verification): string {
  const groups = grouped(casesOf(verification));
  const suites = [...groups].map(([name, cases]) => {
    const count = (state: Case["state"]): number => cases.filter((one) => one.state === state).length;
    const counts = `tests="${cases.length}" failures="${count("failed")}" skipped="${count("skipped")}"`;
    return [`  <testsuite name="${xml(name)}" ${counts}>`, ...cases.map(junitCase), "  </testsuite>"].join("\n");
  });
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="troupe prove">', ...suites, "</testsuites>", ""].join("\n");
}

function junitCase({ group, name, state, message, file }: Case): string {
  const at = file === undefined ? "" : ` file="${xml(file)}"`;
  const head = `    <testcase classname="${xml(group)}" name="${xml(name)}"${at}`;
  if (state === "skipped") return `${head}><skipped message="${xml(message)}"/></testcase>`;
  return state === "failed" ? `${head}><failure>${xml(message)}</failure></testcase>` : `${head}/>`;
}

/** A report in SARIF 2.1.0, with one result for each failure. */
export function sarifReport(verification: Verification, version: string): string {
  const failed = casesOf(verification).filter(({ state }) => state === "failed");
  const rules = [...grouped(failed).keys()].map((id) => ({ id }));
  const results = failed.map(({ group, name, message, file = "." }) => ({
    ruleId: group,
    level: "error",
    message: { text: `${name}: ${message}` },
    locations: [{ physicalLocation: { artifactLocation: { uri: file.split("/").map(encodeURIComponent).join("/") } } }],
  }));
  const tool = { driver: { name: "troupe prove", version, rules } };
  const log = { $schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [{ tool, results }] };
  return `${JSON.stringify(log, undefined, 2)}\n`;
}

const GLYPH = 7;
const PADDING = 10;

/** A badge as an image in SVG, such as `proven 5 of 5`. */
export function badge({ verdicts }: Pick<Verification, "verdicts">, isDone: boolean): string {
  const [label, message] = ["proven", `${verdicts.filter(({ outcome }) => outcome === "proven").length} of ${verdicts.length}`];
  const [left, right] = [label, message].map((text) => text.length * GLYPH + PADDING) as [number, number];
  const text = (at: number, said: string): string => `<text x="${at}" y="14" text-anchor="middle">${xml(said)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${label}: ${message}">
<title>troupe prove: ${message}</title>
<rect width="${left}" height="20" fill="#555"/><rect x="${left}" width="${right}" height="20" fill="${isDone ? "#2e7d32" : "#c62828"}"/>
<g fill="#fff" font-family="Verdana,sans-serif" font-size="11">${text(left / 2, label)}${text(left + right / 2, message)}</g>
</svg>
`;
}

function grouped(cases: readonly Case[]): ReadonlyMap<string, readonly Case[]> {
  const groups = new Map<string, Case[]>();
  for (const one of cases) groups.set(one.group, [...(groups.get(one.group) ?? []), one]);
  return groups;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** XML has no form for most control characters and lone surrogates: they become replacement characters. */
function xml(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "\u{FFFD}")
    .replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? "");
}
