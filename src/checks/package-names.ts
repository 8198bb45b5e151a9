import { isRecord } from "../kernel/value-kind.ts";
import { parsedJson } from "../kernel/json.ts";
import { valueText } from "../kernel/value-text.ts";
import type { StackName } from "./stacks.ts";

/**
 * The packages that a project names. `files`: a folder that names the same packages and nothing else, for the command that installs them: settings of
 * package managers, lock files and scripts of the project do not reach it. `refused`: something that is no name and version of a registry.
 */
export type NamedPackages =
  | { readonly kind: "nothing" }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "named"; readonly file: string; readonly text: string };

/** The file by which a project of a stack names its packages. */
export function packagesFile(stack: StackName): string {
  return stack === "python" ? "requirements.txt" : "package.json";
}

/** Reads the packages that a file names. A model wrote it. */
export function namedPackages(stack: StackName, text: string): NamedPackages {
  return stack === "python" ? namedByRequirements(text) : namedByManifest(text);
}

const LISTS = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] as const;
/** Members that change where packages come from, or install others. */
const ELSEWHERE = ["overrides", "resolutions", "workspaces", "bundleDependencies", "bundledDependencies", "pnpm"];
const NPM_NAME = String.raw`(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*`;
/** A range of versions or a tag: without the marks of addresses, folders, archives, repositories and other names. */
const NPM_RANGE = String.raw`(?!\.)(?!.*\.(?:tgz|tar|tar\.gz)$)[\w.+^~<>=|* -]{0,200}`;
const NPM_ENTRY = new RegExp(`^${NPM_NAME}$`, "i");
const NPM_VERSION = new RegExp(`^(?:npm:${NPM_NAME}(?:@${NPM_RANGE})?|${NPM_RANGE})$`, "i");

function namedByManifest(text: string): NamedPackages {
  const manifest = parsedJson(text);
  if (!isRecord(manifest)) return { kind: "nothing" };
  const lists = LISTS.flatMap((list) => (isRecord(manifest[list]) ? [[list, manifest[list]] as const] : []));
  const entries = lists.flatMap(([, list]) => Object.entries(list));
  if (entries.length === 0) return { kind: "nothing" };
  const member = ELSEWHERE.find((name) => manifest[name] !== undefined);
  if (member !== undefined) return refused(`package.json without "${member}", which changes where packages come from`);
  const strange = entries.find(([name, version]) => !NPM_ENTRY.test(name) || typeof version !== "string" || !NPM_VERSION.test(version));
  if (strange !== undefined) return refused(`names and versions of a registry in package.json, got ${strange.map(valueText).join(": ")}`);
  const named = { name: "packages", version: "1.0.0", private: true, ...Object.fromEntries(lists) };
  return { kind: "named", file: "package.json", text: JSON.stringify(named, null, 2) };
}

const PYTHON_NAME = String.raw`[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`;
const PYTHON_VERSION = String.raw`(?:===|==|~=|!=|<=|>=|<|>)\s*[\w.*+!-]+`;
/** Name, extras, versions and a marker. Everything else is an option, a path or an address. */
const REQUIREMENT = new RegExp(
  String.raw`^${PYTHON_NAME}(?:\s*\[\s*${PYTHON_NAME}(?:\s*,\s*${PYTHON_NAME})*\s*\])?\s*(?:\(?\s*${PYTHON_VERSION}(?:\s*,\s*${PYTHON_VERSION})*\s*\)?)?\s*(?:;[\w\s.<>=!"'()]*)?$`,
);
/** A longer line is no requirement that a person would write. */
const LONGEST_LINE = 500;

function namedByRequirements(text: string): NamedPackages {
  const lines = text
    .split(/\r\n|[\n\r]/)
    .map((line) =>
      line
        .replace(/(?:^|\s)#.*$/, "")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .filter((line) => line !== "");
  if (lines.length === 0) return { kind: "nothing" };
  const strange = lines.find((line) => line.length > LONGEST_LINE || !REQUIREMENT.test(line));
  if (strange !== undefined) return refused(`names and versions of a registry in requirements.txt, got ${valueText(strange)}`);
  return { kind: "named", file: "requirements.txt", text: `${lines.join("\n")}\n` };
}

function refused(expected: string): NamedPackages {
  return { kind: "refused", reason: `Expected ${expected}. Name each package with its version, or install it yourself.` };
}
