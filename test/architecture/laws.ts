import { posix } from "node:path";
import { machineUses } from "./globals.ts";
import { mayImport, mayLoad, roomOf } from "./rooms.ts";
import { lineAt, nameOf, nodeAt, nodesAt, parseSource, type Import, type Node, type Source } from "./source.ts";

/** A broken law. */
export interface Violation {
  readonly law: Law;
  /** `path:line`, or the path alone. */
  readonly at: string;
  readonly what: string;
}

/** The laws by name, in the order they are checked. */
export type Law =
  | "room"
  | "arrow"
  | "package"
  | "computed-import"
  | "cycle"
  | "size"
  | "median"
  | "file-name"
  | "any"
  | "default-export"
  | "enum"
  | "namespace"
  | "export-all"
  | "machine"
  | "unfinished";

/** The checked sources: the text of every file by its path from the top of the house. */
export type House = ReadonlyMap<string, string>;

const MAX_LINES = 400;
const MAX_MEDIAN = 150;
const JUNK_DRAWERS = /(^|[/.-])(utils?|helpers?|types|common|misc)\.tsx?$/;
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|long\.test|test-d))?\.tsx?$/;
/** Ways to make an id that differs on every run. */
const DICE: ReadonlySet<string> = new Set([
  "randomBytes",
  "randomUUID",
  "randomInt",
  "randomFillSync",
  "randomFill",
  "getRandomValues",
  "webcrypto",
]);
const NODES: ReadonlyMap<string, Law> = new Map([
  ["TSAnyKeyword", "any"],
  ["ExportDefaultDeclaration", "default-export"],
  ["TSEnumDeclaration", "enum"],
  ["TSModuleDeclaration", "namespace"],
  ["ExportAllDeclaration", "export-all"],
]);

/** Checks a whole house. @param ownNames the names under which examples may import it: `troupe`, `troupe/testing` ... */
export function violations(house: House, ownNames: readonly string[]): Violation[] {
  const sources = [...house].map(([path, text]) => parseSource(path, text));
  return [
    ...sources.flatMap((source) => [
      ...placeOf(source),
      ...importLaws(source, house, ownNames),
      ...sizeOf(source),
      ...fileNameOf(source),
      ...syntaxOf(source),
      ...machineOf(source),
      ...unfinishedIn(source),
    ]),
    ...medianOf(sources),
    ...cyclesIn(sources),
  ];
}

function isProduct(path: string): boolean {
  return /^(src|actions|roles)\//.test(path);
}

function at(source: Source, line: number): string {
  return `${source.path}:${line}`;
}

function placeOf({ path }: Source): Violation[] {
  const isPlaced = !isProduct(path) || roomOf(path) !== undefined;
  return isPlaced ? [] : [{ law: "room", at: path, what: "stands in no room; see test/architecture/rooms.ts" }];
}

function importLaws(source: Source, house: House, ownNames: readonly string[]): Violation[] {
  return source.imports.flatMap((one) => {
    const broken = isProduct(source.path) ? productImport(source, one, house) : exampleImport(source, one, ownNames);
    return broken === undefined ? [] : [{ law: broken[0], at: at(source, one.line), what: broken[1] }];
  });
}

function productImport(source: Source, one: Import, house: House): readonly [Law, string] | undefined {
  const from = roomOf(source.path);
  if (from === undefined) return undefined;
  const { specifier, target } = one;
  if (specifier === undefined) return from.kind === "cli" ? undefined : ["computed-import", "imports a module whose name is computed"];
  if (target === undefined) {
    const isAllowed = specifier.startsWith("node:")
      ? from.node === "any" || from.node.includes(specifier)
      : from.packages.includes(packageOf(specifier)) || (one.kind !== "static" && from.lazy?.includes(packageOf(specifier)) === true);
    return isAllowed ? undefined : ["package", `${from.name} may not import ${specifier}`];
  }
  if (!house.has(target)) return ["arrow", `${specifier} is no file of the house (write the path with .ts)`];
  const room = roomOf(target);
  if (room === undefined) return ["arrow", `${specifier} lies outside the rooms`];
  return mayImport(from, room, target) || (one.kind !== "static" && mayLoad(from, target))
    ? undefined
    : ["arrow", `${from.name} may not import ${room.name} (${specifier})`];
}

function exampleImport(source: Source, one: Import, ownNames: readonly string[]): readonly [Law, string] | undefined {
  if (!source.path.startsWith("examples/")) return undefined;
  if (one.specifier === undefined) return ["computed-import", "imports a module whose name is computed"];
  const { specifier } = one;
  // The SDK of OpenTelemetry belongs to the program: Troupe uses its API alone.
  const isAllowed = ownNames.includes(specifier) || /^(zod$|hono$|node:|@opentelemetry\/)/.test(specifier);
  return isAllowed
    ? undefined
    : ["arrow", `an example may not import ${specifier}: only ${ownNames.join(", ")}, zod, hono, @opentelemetry/* and node:*`];
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function sizeOf(source: Source): Violation[] {
  if (!isProduct(source.path) || source.lines <= MAX_LINES) return [];
  return [{ law: "size", at: source.path, what: `has ${source.lines} lines, more than ${MAX_LINES}` }];
}

function medianOf(sources: readonly Source[]): Violation[] {
  const lines = sources.filter(({ path }) => isProduct(path)).map((source) => source.lines);
  const middle = lines.sort((a, b) => a - b)[Math.floor(lines.length / 2)] ?? 0;
  return middle < MAX_MEDIAN
    ? []
    : [{ law: "median", at: "src, actions, roles", what: `the median file has ${middle} lines, not less than ${MAX_MEDIAN}` }];
}

function fileNameOf({ path }: Source): Violation[] {
  if (JUNK_DRAWERS.test(path)) return [{ law: "file-name", at: path, what: "is a drawer for anything: name the noun it holds" }];
  if (!KEBAB.test(posix.basename(path))) return [{ law: "file-name", at: path, what: "is not in kebab-case" }];
  return [];
}

function syntaxOf(source: Source): Violation[] {
  const found: Violation[] = [];
  for (const node of source.nodes) {
    if (isAugmentation(source, node)) continue;
    const law = NODES.get(node.type) ?? (isDefaultSpecifier(node) ? "default-export" : undefined);
    if (law !== undefined)
      found.push({
        law,
        at: at(source, lineAt(source.text, node.start)),
        what: source.text.slice(node.start, node.end).split("\n", 1).join(),
      });
  }
  return found;
}

/** A program adds members to an interface of the package, as examples and tests of types show. */
function isAugmentation({ path }: Source, node: Node): boolean {
  return node.type === "TSModuleDeclaration" && nodeAt(node, "id")?.type === "Literal" && /^(examples|test\/types)\//.test(path);
}

function isDefaultSpecifier(node: Node): boolean {
  return node.type === "ExportSpecifier" && nameOf(nodeAt(node, "exported")) === "default";
}

/** The file that writes the warnings of programs without a logger. */
const SCREEN_FILE = "src/kernel/default-logger.ts";

/** Clock, dice, process, screen and network are injected everywhere but in the kernel, the edges and the command line; of the kernel one file has the screen. */
function machineOf(source: Source): Violation[] {
  const room = roomOf(source.path);
  if (room === undefined || room.kind === "edge" || room.kind === "cli") return [];
  const used = machineUses(source.program).map(({ what, node }) => ({ what, line: lineAt(source.text, node.start) }));
  const isScreen = ({ what }: { readonly what: string }): boolean => what.includes("console") && source.path !== SCREEN_FILE;
  const globals = room.name === "kernel" ? used.filter(isScreen) : used;
  const dice = (room.name === "kernel" ? [] : source.imports)
    .filter((one) => one.specifier === "node:crypto" && one.kind !== "type")
    .flatMap((one) => one.names.filter((name) => DICE.has(name)).map((what) => ({ what, line: one.line })));
  return [...globals, ...dice].map(({ what, line }): Violation => ({
    law: "machine",
    at: at(source, line),
    what: `uses ${what}: take it from the context or the kernel`,
  }));
}

function unfinishedIn(source: Source): Violation[] {
  return source.comments
    .filter(({ text }) => /\b(TODO|FIXME|XXX)\b/.test(text))
    .map(({ text, line }): Violation => ({ law: "unfinished", at: at(source, line), what: text.trim() }));
}

/**
 * Every import that is not erased is an edge; a file that can reach itself is in a cycle. An `import()` is evaluated later and closes none.
 * One violation per knot, naming its files.
 */
function cyclesIn(sources: readonly Source[]): Violation[] {
  const edges = new Map(
    sources.map((source) => [
      source.path,
      source.imports.flatMap((one) => (one.kind === "static" && one.target !== undefined ? [one.target] : [])),
    ]),
  );
  const reach = new Map([...edges.keys()].map((path) => [path, reachable(path, edges)]));
  const knots = new Set<string>();
  for (const [path, reached] of reach) {
    if (!reached.has(path)) continue;
    knots.add(
      [...reached]
        .filter((other) => reach.get(other)?.has(path) === true)
        .sort()
        .join(" <-> "),
    );
  }
  return [...knots].map((what): Violation => ({ law: "cycle", at: what.split(" ", 1).join(), what }));
}

function reachable(start: string, edges: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [...(edges.get(start) ?? [])];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    open.push(...(edges.get(path) ?? []));
  }
  return reached;
}

/** Names that an entry point exports and whose declaration carries no doc comment. */
export function undocumented(house: House, entry: string): string[] {
  if (!house.has(entry)) return [`${entry} does not exist`];
  return exportedNames(house, entry).flatMap(({ name, home }) =>
    home !== undefined && isDocumented(home.source, home.declaration) ? [] : [name],
  );
}

/** A declaration, and the file it is in. */
interface Home {
  readonly source: Source;
  readonly declaration: Node;
}

/** The names that an entry point exports. `id` is the same for a name that two entries export. */
export function exportedNames(
  house: House,
  entry: string,
): readonly { readonly name: string; readonly id: string; readonly home: Home | undefined }[] {
  return exportsOf(parseSource(entry, house.get(entry) ?? "")).map(({ name, local, from }) => {
    const home = homeOf(house, from ?? entry, local);
    return { name, id: `${home?.source.path ?? entry}#${local}`, home };
  });
}

interface Exported {
  readonly name: string;
  readonly local: string;
  /** The file it is re-exported from. */
  readonly from: string | undefined;
}

function exportsOf(source: Source): Exported[] {
  return nodesAt(source.program, "body").flatMap((statement): Exported[] => {
    if (statement.type !== "ExportNamedDeclaration") return [];
    const specifier = nameOf(nodeAt(statement, "source"));
    const from = specifier === undefined ? undefined : posix.join(posix.dirname(source.path), specifier);
    const passed = nodesAt(statement, "specifiers").map((one): Exported => {
      const local = nameOf(nodeAt(one, "local")) ?? "";
      return { name: nameOf(nodeAt(one, "exported")) ?? local, local, from };
    });
    const declared = declaredNames(statement).map((name): Exported => ({ name, local: name, from: undefined }));
    return [...passed, ...declared];
  });
}

/** The first declaration of a name in a file, followed through re-exports. */
function homeOf(house: House, path: string, name: string): Home | undefined {
  const text = house.get(path);
  if (text === undefined) return undefined;
  const source = parseSource(path, text);
  const declaration = nodesAt(source.program, "body").find((statement) => declaredNames(statement).includes(name));
  if (declaration !== undefined) return { source, declaration };
  const passed = exportsOf(source).find((one) => one.name === name && one.from !== undefined);
  const taken = source.imports.find((one) => one.names.includes(name) && one.target !== undefined);
  const next = passed?.from ?? taken?.target;
  return next === undefined || next === path ? undefined : homeOf(house, next, passed?.local ?? name);
}

function declaredNames(statement: Node): readonly string[] {
  const inner = statement.type === "ExportNamedDeclaration" ? nodeAt(statement, "declaration") : statement;
  if (inner === undefined) return [];
  const ids = inner.type === "VariableDeclaration" ? nodesAt(inner, "declarations").map((one) => nodeAt(one, "id")) : [nodeAt(inner, "id")];
  return ids.flatMap((id) => nameOf(id) ?? []);
}

function isDocumented(source: Source, declaration: Node): boolean {
  return source.comments.some(
    ({ text, end }) => text.startsWith("/**") && end <= declaration.start && source.text.slice(end, declaration.start).trim() === "",
  );
}
