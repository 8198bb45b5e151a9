import type { AnyNode, Program } from "acorn";
import { MEMBERS, MODULES, TIMER_MODULES } from "./determinism-sources.ts";
import { isNode, namesOf, nodesIn, requiredIn } from "./javascript.ts";

/** The addresses of this package. */
const OURS = /^troupe(\/|$)/;

/** The names that a file declares and imports. */
export class FileNames {
  /** Functions and values of the file, by name. */
  readonly declared: Map<string, AnyNode> = new Map();
  /** Imported names, by the member of a global object that they stand for: `randomUUID` is `crypto.randomUUID`. */
  readonly imported: Map<string, string> = new Map();
  /** The names that other modules export, by the name that the file gives them. */
  readonly exported: Map<string, string> = new Map();
  /** Names from this package, those of whole modules included. */
  readonly #ours: Set<string> = new Set();
  /** Names that the file gives to something of its own, which hide global ones. */
  readonly own: Set<string> = new Set();

  constructor(program: Program) {
    for (const node of nodesIn(program)) {
      if (node.type === "ImportDeclaration") this.#imports(node);
      else if (node.type === "VariableDeclarator") this.#variable(node);
      else if ((node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") && node.id !== null)
        this.#declare(node.id.name, node);
    }
  }

  /** Returns the name under which this package exports what an expression names; undefined for what comes from elsewhere. */
  oursIn(expression: AnyNode): string | undefined {
    const [name = "", ...rest] = namesOf(expression);
    if (!this.#ours.has(name)) return undefined;
    return expression.type === "Identifier" ? this.exported.get(name) : rest.length === 1 ? rest[0] : undefined;
  }

  #declare(name: string, node: AnyNode): void {
    this.declared.set(name, node);
    this.own.add(name);
  }

  #imports(node: Extract<AnyNode, { type: "ImportDeclaration" }>): void {
    const from = String(node.source.value);
    const object = MODULES.get(from.replace(/^node:/, ""));
    for (const one of node.specifiers) {
      const local = one.local.name;
      const name = one.type === "ImportSpecifier" && one.imported.type === "Identifier" ? one.imported.name : undefined;
      if (name !== undefined) this.exported.set(local, name);
      if (OURS.test(from)) this.#ours.add(local);
      if (TIMER_MODULES.test(from)) this.imported.set(local, name === "setTimeout" || name === "setInterval" ? name : "setTimeout");
      else if (object === undefined) this.own.add(local);
      else this.imported.set(local, name === undefined || name === object ? object : `${object}.${name}`);
    }
  }

  #variable({ id, init }: Extract<AnyNode, { type: "VariableDeclarator" }>): void {
    if (!isNode(init)) return;
    const isOurs = OURS.test(requiredIn(init) ?? "");
    if (id.type === "Identifier") {
      this.#declare(id.name, init);
      if (isOurs) this.#ours.add(id.name);
    }
    if (id.type !== "ObjectPattern") return;
    const object = namesOf(init).join(".");
    for (const property of id.properties) {
      if (property.type !== "Property" || property.key.type !== "Identifier" || property.value.type !== "Identifier") continue;
      const [name, local] = [property.key.name, property.value.name];
      if (MEMBERS.has(`${object}.${name}`)) this.imported.set(local, `${object}.${name}`);
      if (!isOurs) continue;
      this.exported.set(local, name);
      this.#ours.add(local);
    }
  }
}
