import { isObject } from "../kernel/value-kind.ts";
import { aText, readable, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import type { ToolSpec } from "../model/chat-model.ts";
import type { Tool } from "./tool.ts";

/**
 * The tools of an agent by name.
 *
 * `ToolCollection.K1` two tools of one name are refused, and then nothing is added (`add`). `ToolCollection.K2` tools keep the order in
 * which they were added (`[Symbol.iterator]`). `ToolCollection.K3` a name finds a tool or nothing, also a name like `constructor` (`get`).
 */
export class ToolCollection implements Iterable<Tool> {
  readonly #tools = new Map<string, Tool>();

  constructor(tools: Iterable<Tool> = []) {
    takes("new ToolCollection", "tools", tools, readable);
    this.add(tools);
  }

  /** A subclass may show more. */
  protected get all(): ReadonlyMap<string, Tool> {
    return this.#tools;
  }

  get size(): number {
    return this.all.size;
  }

  get names(): readonly string[] {
    return [...this.all.keys()];
  }

  get specs(): readonly ToolSpec[] {
    return [...this].map((tool) => tool.spec);
  }

  get(name: string): Tool | undefined {
    takes("ToolCollection.get", "name", name, aText);
    return this.all.get(name);
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** The tool of that name, or the only one that a model can mean: in another case, in quotes, with a namespace (`functions.add`) or marks. */
  find(name: string): Tool | undefined {
    takes("ToolCollection.find", "name", name, aText);
    const exact = this.all.get(name);
    if (exact !== undefined) return exact;
    for (const meant of meantNames(name)) {
      const alike = [...this].filter((tool) => folded(tool.name) === folded(meant));
      if (alike.length > 0) return alike.length === 1 ? alike[0] : undefined;
    }
    return undefined;
  }

  /** @throws UsageError `TOOL_DUPLICATE`; `TOOL_INVALID` for a value that `defineTool` did not make */
  add(tools: Tool | Iterable<Tool>): void {
    const isList = isObject(tools) && Symbol.iterator in tools;
    const more = isList ? [...tools] : [tools];
    const taken = new Set(this.#tools.keys());
    for (const tool of more) {
      checkTool(tool);
      const { name } = tool;
      if (taken.has(name)) throw duplicate(name);
      taken.add(name);
    }
    for (const tool of more) this.#tools.set(tool.name, tool);
  }

  remove(name: string): boolean {
    takes("ToolCollection.remove", "name", name, aText);
    return this.#tools.delete(name);
  }

  [Symbol.iterator](): Iterator<Tool> {
    return [...this.all.values()][Symbol.iterator]();
  }
}

/** A name as it is, without its marks, and without its namespace. */
function meantNames(name: string): readonly string[] {
  const written = name.slice(0, MAX_NAME).normalize("NFKC");
  const bare = (/"name"\s*:\s*"([^"]+)"/.exec(written)?.[1] ?? written)
    .replace(/\p{Cf}+|^\s*<(?:function|invoke)=/gu, "")
    .replace(/(?<=.)<[|/][^]*$|>\s*$|\s(?:commentary|json)\s*$/s, "")
    .replace(/\([^]*\)\s*$/, "")
    .replace(/(?::index)?:\d+\s*$/, "")
    .replace(/^[\s"'`*[]+|[\s"'`*\]:;,.]+$/g, "");
  return [name, bare, bare.replace(/^[^]*[.:/]/, ""), bare.replace(/^(?:functions?|default_api|tools?)_+/i, "")];
}

const MAX_NAME = 200;

function folded(name: string): string {
  return name.toLowerCase().replace(/[-\s]/g, "_");
}

function checkTool(tool: Partial<Tool> | null | undefined): void {
  if (typeof tool?.check === "function" && typeof tool.execute === "function" && tool.spec !== undefined) return;
  throw new UsageError(
    "TOOL_INVALID",
    `Expected a tool as defineTool() gives it, got ${valueText(tool)}. Pass its parts to defineTool(), or an agent, a role or a team to asTool().`,
  );
}

function duplicate(name: string): UsageError {
  return new UsageError("TOOL_DUPLICATE", `Expected tools of different names, got two of the name "${name}". Rename one, or leave it out.`);
}
