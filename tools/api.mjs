// Reads the entry points of package.json as the compiler sees them: each exported name with its declaration, its doc comment and its members.
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import * as is from "typescript/unstable/ast/is";
import { API } from "typescript/unstable/sync";
import { root } from "./root.mjs";

const manifest = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

/** The entry points: the name a user imports, the name of its page, and the source file. */
export const entries = Object.entries(manifest.exports).flatMap(([path, target]) =>
  typeof target === "string"
    ? []
    : [
        {
          name: `${manifest.name}${path.slice(1)}`,
          page: `${path === "." ? manifest.name : path.slice(2)}.md`,
          source: posix.normalize(target.default).replace(/^dist\/(.*)\.js$/, "$1.ts"),
        },
      ],
);

/** The folder of files that exist for the compiler alone. */
const VIRTUAL = `${root}.doc-examples`;

/**
 * Opens a program of all entry points, and of files that exist only in memory. In both `troupe` stands for the source.
 *
 * @param files names and texts of the files in memory
 * @returns `exportsOf` an entry point, `faults` of the files in memory, and `close`, which ends the compiler
 */
export function openProgram(files = {}) {
  const paths = Object.fromEntries(entries.map(({ name, source }) => [name, [`../${source}`]]));
  const config = {
    extends: "../tsconfig.test.json",
    compilerOptions: { rootDir: "..", noUnusedLocals: false, noUnusedParameters: false, paths },
    files: [...entries.map(({ source }) => `../${source}`), ...Object.keys(files)],
    include: [],
  };
  const texts = { "tsconfig.json": JSON.stringify(config), ...files };
  const inMemory = new Map(Object.entries(texts).map(([name, text]) => [`${VIRTUAL}/${name}`, text]));
  const api = new API({
    cwd: root,
    fs: {
      readFile: (path) => inMemory.get(path),
      fileExists: (path) => inMemory.has(path) || undefined,
      directoryExists: (path) => path === VIRTUAL || undefined,
    },
  });
  const project = api.updateSnapshot({ openProjects: [`${VIRTUAL}/tsconfig.json`] }).getProject(`${VIRTUAL}/tsconfig.json`);
  if (project === undefined) throw new Error("Expected the compiler to open the program of the entry points, but it did not.");
  const symbols = new Map(entries.map((entry) => [entry, symbolsOf(project, entry)]));
  const known = new Set([...symbols.values()].flatMap((all) => all.map(({ name }) => name)));
  return {
    exportsOf: (entry) => symbols.get(entry).map((symbol) => exported(project.checker, symbol, known)),
    faults: () => Object.keys(files).flatMap((name) => faultsIn(project.program, name)),
    close: () => api.close(),
  };
}

/** The errors of a file in memory, each with its line. */
function faultsIn(program, name) {
  const path = `${VIRTUAL}/${name}`;
  const text = program.getSourceFile(path)?.getFullText() ?? "";
  return [...program.getSyntacticDiagnostics(path), ...program.getSemanticDiagnostics(path)].map(
    (fault) => `${name}:${text.slice(0, fault.pos).split("\n").length}: ${fault.text}`,
  );
}

function symbolsOf({ program, checker }, { source }) {
  const symbol = checker.getSymbolAtLocation(program.getSourceFile(`${root}${source}`));
  if (symbol === undefined) throw new Error(`Expected ${source} to export something, but it does not.`);
  return checker.getExportsOfModule(symbol);
}

/** An exported name. `id` is the same for one declaration that two entry points export; `known` are the names that any of them exports. */
function exported(checker, symbol, known) {
  const target = is.isExportSpecifier(symbol.declarations[0].resolve()) ? checker.getAliasedSymbol(symbol) : symbol;
  const nodes = target.declarations.map((one) => one.resolve());
  const [node] = nodes;
  const renamed = (text) => text.replace(new RegExp(`\\b${target.name}\\b`), symbol.name);
  const shared = { name: symbol.name, id: `${node.getSourceFile().fileName}#${target.name}`, doc: docOf(nodes.findLast(hasDoc) ?? node) };
  if (is.isClassDeclaration(node)) return { ...shared, kind: "class", declaration: headOf(node), members: membersOf(checker, node, known) };
  if (is.isFunctionDeclaration(node))
    return { ...shared, kind: "function", declaration: renamed(signatures(nodes).join("\n")), members: [] };
  if (is.isVariableDeclaration(node)) {
    const type = node.type?.getText() ?? checker.typeToString(checker.getTypeOfSymbol(target));
    return { ...shared, kind: "constant", declaration: `const ${target.name}: ${type}`, members: [], doc: docOf(node.parent.parent) };
  }
  return { ...shared, kind: "type", declaration: nodes.map((one) => typeText(checker, one, known)).join("\n\n"), members: [] };
}

/** Signatures without bodies; of an overloaded function those that callers see. */
function signatures(nodes) {
  const open = nodes.filter((node) => node.body === undefined);
  return (open.length > 0 ? open : nodes).map(signature);
}

function signature(node) {
  const text = node.getSourceFile().text;
  const end = node.body?.pos ?? node.initializer?.pos ?? node.end;
  return text
    .slice(node.getStart(), end)
    .replace(/^(export )?(declare )?(async )?/, "")
    .replace(/\basync (?=[\w[])/, "")
    .replace(/\boverride /, "")
    .replace(/\s*[=;]?\s*$/, "");
}

/** A class without its members. */
function headOf(node) {
  const text = node.getText().replace(/^export /, "");
  return text.slice(0, text.indexOf("{")).trim();
}

/**
 * The public members of a class, in the order of the source, and then those of bases that no entry point exports. Each has its own doc comment or
 * that of the class or interface it implements.
 */
function membersOf(checker, node, known) {
  const own = node.members.filter((one) => !isHidden(one));
  const ownNames = new Set(own.map(memberName));
  const bases = basesOf(checker, node).filter((base) => is.isClassDeclaration(base) && isOwn(base) && !known.has(base.name.getText()));
  const more = bases.flatMap((base) => base.members.filter((one) => !isHidden(one) && !ownNames.has(memberName(one))));
  const shown = [...own, ...more];
  const names = [...new Set(shown.map(memberName))];
  return names.map((name) => {
    const nodes = shown.filter((one) => memberName(one) === name);
    const doc = docOf(nodes.find(hasDoc) ?? nodes[0]);
    const inherited =
      doc.text === ""
        ? basesOf(checker, node)
            .flatMap((base) => memberOf(checker, base, name))
            .find(hasDoc)
        : undefined;
    return {
      name,
      declaration: signatures(nodes).join("\n"),
      doc: inherited === undefined ? doc : { ...docOf(inherited), throws: doc.throws },
    };
  });
}

function memberName(node) {
  return is.isConstructorDeclaration(node) ? "constructor" : node.name.getText();
}

function isHidden(node) {
  if (is.isConstructorDeclaration(node)) return commentOf(node).includes("@internal");
  const isPrivate = node.name === undefined || node.name.getText().startsWith("#") || /^(private|static \{)/.test(node.getText());
  return isPrivate || commentOf(node).includes("@internal");
}

/** The members of a name in a base and in what that extends. */
function memberOf(checker, base, name) {
  const own = [...(base.members ?? [])].filter((member) => member.name?.getText() === name);
  return [...own, ...basesOf(checker, base).flatMap((next) => memberOf(checker, next, name))];
}

/** The declarations that a class or an interface extends or implements. */
function basesOf(checker, node) {
  return (node.heritageClauses ?? []).flatMap((clause) =>
    clause.types.flatMap(({ expression }) => {
      const symbol = checker.getSymbolAtLocation(expression);
      const declared = symbol?.declarations[0]?.resolve();
      const target = declared !== undefined && is.isImportSpecifier(declared) ? checker.getAliasedSymbol(symbol) : symbol;
      return target?.declarations.map((one) => one.resolve()).filter((one) => one !== undefined) ?? [];
    }),
  );
}

/** A type as it stands, without members that are not for callers, and with those of bases that no entry point exports. */
function typeText(checker, node, known) {
  const text = node.getText().replace(/^export /, "");
  if (!is.isInterfaceDeclaration(node)) return text.replace(/;$/, "");
  const hidden = basesOf(checker, node).filter((base) => is.isInterfaceDeclaration(base) && isOwn(base) && !known.has(base.name.getText()));
  const members = [...hidden, node].flatMap((one) => [...one.members]).filter((one) => !commentOf(one).includes("@internal"));
  const head = text.slice(0, text.indexOf("{")).trim();
  return members.length === 0 ? `${head} {}` : `${head} {\n${members.map(memberText).join("\n")}\n}`;
}

function isOwn(node) {
  const { fileName } = node.getSourceFile();
  return fileName.startsWith(root) && !fileName.includes("/node_modules/");
}

function memberText(node) {
  const text = node.getText();
  const own = text.startsWith("/**") ? text : [commentOf(node), text].filter(Boolean).join("\n  ");
  return `  ${own.replace(/;$/, "")};`;
}

function hasDoc(node) {
  return commentOf(node) !== "";
}

/** The doc comment before a node, as it stands, outdented by what the node is indented. */
function commentOf(node) {
  const text = node.getSourceFile().text.slice(node.getFullStart(), node.getStart());
  return /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(text)?.[0].trim() ?? "";
}

/** A doc comment in its parts. */
function docOf(node) {
  const lines = commentOf(node)
    .replace(/^\/\*\*|\*\/$/g, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .trim();
  const [text = "", ...tags] = lines.split(/(?:^|\s)@(?=(?:param|returns|throws|example|internal|typeParam)\b)/);
  const of = (tag) => tags.filter((one) => one.startsWith(tag)).map((one) => one.slice(tag.length).trim());
  return {
    text: text.trim(),
    params: of("param"),
    returns: of("returns"),
    throws: of("throws"),
    examples: of("example").map((code) => code.replace(/^```\w*\n|\n```$/g, "")),
  };
}
